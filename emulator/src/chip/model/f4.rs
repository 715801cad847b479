//! STM32F4 chips: RM0390 (F446), RM0090 (F405), RM0368 (F401), RM0383 (F411).

use super::super::clocks::{Limits, megahertz};
use super::super::dma::layout::STREAMS_F4;
use super::super::flash::f4::FlashF4;
use super::super::pwr::f4::{PwrF4, PwrFacts};
use super::kinds::{self, *};

const KIB: u32 = 1024;

const fn sectors<const N: usize>() -> [u32; N] {
    let mut sectors = [128 * KIB; N];
    (sectors[0], sectors[1], sectors[2], sectors[3]) = (16 * KIB, 16 * KIB, 16 * KIB, 16 * KIB);
    sectors[4] = 64 * KIB;
    sectors
}
const SECTORS_512K: [u32; 8] = sectors();
const SECTORS_1M: [u32; 12] = sectors();

const MEMORY: MemorySizes = MemorySizes {
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
const fn limits(hclk: u64, apb1: u64, apb2: u64) -> Limits {
    Limits::new([hclk, hclk, apb1, apb2], PLL, WAIT_STATES)
}

/// System memory that reads as erased, and the option bytes as they are delivered.
const SYSTEM: SystemMemory = SystemMemory {
    constants: &[
        (0x1fff_0000, 0x1fff_7a0f, 0xffff_ffff),
        (0x1fff_c000, 0x1fff_c003, 0x5500_aaff),
        (0x1fff_c008, 0x1fff_c00b, 0x0000_ffff),
    ],
    unique_id: 0x1fff_7a10,
    flash_size: 0x1fff_7a22,
};

fn parts(chip: &Description, facts: PwrFacts, individual: &Individual) -> Parts {
    let (power, flash) = (PwrF4::new(facts), FlashF4::new(individual.flash_wear));
    let dma = |registers| Controllers::new(&STREAMS_F4, chip.requests(), registers);
    kinds::parts(Family::F4, (chip.map(), None), individual, power, flash, dma)
}

const fn chip(name: &'static str, id_code: u32, memory: MemorySizes, parts: fn(&Individual) -> Parts) -> Description {
    Description {
        name,
        id_code,
        memory,
        flash_reading: FlashReading::F4,
        pins: Pins::Inputs,
        system: SYSTEM,
        parts,
    }
}

const F401_MEMORY: MemorySizes = MemorySizes {
    sram: 96 * 1024,
    ..MEMORY
};

pub(super) static F401: Description = chip("STM32F401", 0x1000_6433, F401_MEMORY, |individual| {
    let limits: fn(u32, bool) -> Limits = |scale, _| Limits {
        // Its PLL runs no slower.
        pll_vco: (192_000_000, 432_000_000),
        ..limits(if scale >= 2 { 84 } else { 60 }, 42, 84)
    };
    parts(&F401, PwrFacts::new(0x8000, limits), individual)
});

const F405_MEMORY: MemorySizes = MemorySizes {
    sectors: &SECTORS_1M,
    ccm: 64 * 1024,
    ..MEMORY
};

pub(super) static F405: Description = chip("STM32F405", 0x100f_6413, F405_MEMORY, |individual| {
    // One bit.
    let limits: fn(u32, bool) -> Limits = |scale, _| limits([144, 168][scale as usize & 1], 42, 84);
    parts(&F405, PwrFacts::new(0x4000, limits), individual)
});

pub(super) static F411: Description = chip("STM32F411", 0x1000_6431, MEMORY, |individual| {
    let limits: fn(u32, bool) -> Limits = |scale, _| Limits {
        // Its flash needs fewer.
        wait_states: &[30_000_000, 64_000_000, 90_000_000, 100_000_000],
        ..limits([64, 64, 84, 100][scale as usize], 50, 100)
    };
    parts(&F411, PwrFacts::new(0x8000, limits), individual)
});

pub(super) static F446: Description = chip("STM32F446", 0x1000_6421, MEMORY, |individual| {
    let facts = PwrFacts {
        has_overdrive: true,
        ..PwrFacts::new(0xc000, |scale, over_drive| match (scale, over_drive) {
            (3, true) => limits(180, 45, 90),
            (3, false) => limits(168, 42, 84),
            (2, true) => limits(168, 45, 90),
            (2, false) => limits(144, 42, 84),
            (_, true) => limits(120, 45, 90),
            (_, false) => limits(120, 42, 84),
        })
    };
    parts(&F446, facts, individual)
});
