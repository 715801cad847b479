//! What STM32F4 chips have in common: RM0390 (F446), RM0090 (F405), RM0368 (F401), RM0383 (F411).

// What the descriptions of single chips are written with, besides what is below.
pub(super) use super::super::clocks::Limits;
pub(super) use super::super::pwr::f4::PwrFacts;
pub(super) use super::kinds::{Description, FlashReading, MemorySizes, Pins};

use super::super::clocks::megahertz;
use super::super::dma::layout::STREAMS_F4;
use super::super::flash::f4::FlashF4;
use super::super::pwr::f4::PwrF4;
use super::kinds::{self, *};

pub(super) const KIB: u32 = 1024;

const fn sectors<const N: usize>() -> [u32; N] {
    let mut sectors = [128 * KIB; N];
    (sectors[0], sectors[1], sectors[2], sectors[3]) = (16 * KIB, 16 * KIB, 16 * KIB, 16 * KIB);
    sectors[4] = 64 * KIB;
    sectors
}
pub(super) const SECTORS_512K: [u32; 8] = sectors();
pub(super) const SECTORS_1M: [u32; 12] = sectors();

pub(super) const MEMORY: MemorySizes = MemorySizes {
    sectors: &SECTORS_512K,
    sram_base: SRAM,
    sram: 128 * 1024,
    ccm_base: CCM,
    ccm: 0,
    dma_reaches_ccm: false,
    corrects_ram: false,
};

/// What the PLLs of most take and what their oscillators can do, in Hz.
const PLL: ((u64, u64), (u64, u64)) = ((950_000, 2_100_000), (100_000_000, 432_000_000));
/// The highest HCLK in Hz with each number of wait states, at 2.7 V and more: one for each 30 MHz.
const WAIT_STATES: &[u64] = &megahertz([30, 60, 90, 120, 150, 180]);

/// Limits in MHz, with what most chips have for the rest.
pub(super) const fn limits(hclk: u64, apb1: u64, apb2: u64) -> Limits {
    Limits::new([hclk, hclk, apb1, apb2], PLL, WAIT_STATES)
}

/// System memory that reads as erased, and the option bytes as they are delivered.
pub(super) const SYSTEM: SystemMemory = SystemMemory {
    constants: &[
        (0x1fff_0000, 0x1fff_7a0f, 0xffff_ffff),
        (0x1fff_c000, 0x1fff_c003, 0x5500_aaff),
        (0x1fff_c008, 0x1fff_c00b, 0x0000_ffff),
    ],
    unique_id: 0x1fff_7a10,
    flash_size: 0x1fff_7a22,
};

pub(super) fn parts(chip: &Description, facts: &'static PwrFacts, individual: &Individual) -> Parts {
    let (power, flash) = (PwrF4::new(facts), FlashF4::new(individual.flash_wear));
    let dma = |registers| Controllers::new(&STREAMS_F4, chip.requests(), registers);
    kinds::parts(Family::F4, (chip.map(), None), individual, power, flash, dma)
}
