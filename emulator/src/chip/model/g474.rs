//! STM32G474xE: RM0440.

use super::super::dma::dmamux::DmaMux;
use super::super::dma::layout::CHANNELS_G4;
use super::super::flash::l4_g4::FlashL4G4;
use super::super::pwr::l4_g4_h7::PwrL4G4;
use super::kinds::*;
use super::l4_g4;

pub(super) static CHIP: Description = Description {
    name: "STM32G474",
    id_code: 0x2003_6469,
    memory: MemorySizes {
        // Two banks of 128 pages.
        sectors: &[2048; 256],
        sram_base: SRAM,
        // SRAM1, SRAM2 and the core-coupled memory, which is also here.
        sram: 128 * 1024,
        ccm_base: CCM,
        ccm: 0,
        dma_reaches_ccm: true,
        corrects_ram: false,
    },
    flash_reading: FlashReading::L4_G4,
    pins: Pins::Analog,
    system: l4_g4::SYSTEM,
    parts: |individual| {
        let flash = FlashL4G4::new(0x0004_0600, individual.flash_wear, individual.dual_bank);
        let dma = |registers| Controllers::behind(DmaMux::new(CHIP.mux()), &CHANNELS_G4, registers);
        parts(
            Family::G4,
            (CHIP.map(), Some(8)),
            individual,
            PwrL4G4::new(Family::G4),
            flash,
            dma,
        )
    },
};
