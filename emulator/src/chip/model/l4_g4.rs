//! STM32L476xG (RM0351) and STM32G474xE (RM0440).

use super::super::dma::dmamux::DmaMux;
use super::super::dma::layout::{CHANNELS_G4, CHANNELS_L4};
use super::super::flash::l4_g4::FlashL4G4;
use super::super::pwr::l4_g4_h7::PwrL4G4;
use super::kinds::{self, *};

const fn chip(name: &'static str, id_code: u32, memory: MemorySizes, parts: fn(&Individual) -> Parts) -> Description {
    Description {
        name,
        id_code,
        memory,
        flash_reading: FlashReading::L4_G4,
        pins: Pins::Analog,
        system: SystemMemory {
            constants: &[(0x1fff_0000, 0x1fff_6fff, 0xffff_ffff)],
            unique_id: 0x1fff_7590,
            flash_size: 0x1fff_75e0,
        },
        parts,
    }
}

const L476_MEMORY: MemorySizes = MemorySizes {
    // Two banks of 256 pages.
    sectors: &[2048; 512],
    sram_base: SRAM,
    sram: 96 * 1024,
    // SRAM2.
    ccm_base: CCM,
    ccm: 32 * 1024,
    dma_reaches_ccm: true,
    corrects_ram: false,
};

pub(super) static L476: Description = chip("STM32L476", 0x1007_6415, L476_MEMORY, |individual| {
    let flash = FlashL4G4::new(0x600, individual.flash_wear, true);
    let dma = |registers| Controllers::new(&CHANNELS_L4, L476.requests(), registers);
    let (map, power) = ((L476.map(), Some(0)), PwrL4G4::new(Family::L4));
    kinds::parts(Family::L4, map, individual, power, flash, dma)
});

const G474_MEMORY: MemorySizes = MemorySizes {
    // Two banks of 128 pages.
    sectors: &[2048; 256],
    // SRAM1, SRAM2 and the core-coupled memory, which is also here.
    sram: 128 * 1024,
    ccm: 0,
    ..L476_MEMORY
};

pub(super) static G474: Description = chip("STM32G474", 0x2003_6469, G474_MEMORY, |individual| {
    let flash = FlashL4G4::new(0x0004_0600, individual.flash_wear, individual.dual_bank);
    let dma = |registers| Controllers::behind(DmaMux::new(G474.mux()), &CHANNELS_G4, registers);
    let (map, power) = ((G474.map(), Some(8)), PwrL4G4::new(Family::G4));
    kinds::parts(Family::G4, map, individual, power, flash, dma)
});
