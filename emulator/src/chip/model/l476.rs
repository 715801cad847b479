//! STM32L476xG: RM0351.

use super::super::dma::layout::CHANNELS_L4;
use super::super::flash::l4_g4::FlashL4G4;
use super::super::pwr::l4_g4_h7::PwrL4G4;
use super::kinds::*;
use super::l4_g4;

pub(super) static CHIP: Description = Description {
    name: "STM32L476",
    id_code: 0x1007_6415,
    memory: MemorySizes {
        // Two banks of 256 pages.
        sectors: &[2048; 512],
        sram_base: SRAM,
        sram: 96 * 1024,
        // SRAM2.
        ccm_base: CCM,
        ccm: 32 * 1024,
        dma_reaches_ccm: true,
        corrects_ram: false,
    },
    flash_reading: FlashReading::L4_G4,
    pins: Pins::Analog,
    system: l4_g4::SYSTEM,
    parts: |individual| {
        let flash = FlashL4G4::new(0x600, individual.flash_wear, true);
        let dma = |registers| Controllers::new(&CHANNELS_L4, CHIP.requests(), registers);
        parts(
            Family::L4,
            (CHIP.map(), Some(0)),
            individual,
            PwrL4G4::new(Family::L4),
            flash,
            dma,
        )
    },
};
