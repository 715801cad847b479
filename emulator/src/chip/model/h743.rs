//! STM32H743xI: RM0433.

use super::super::dma::dmamux::DmaMux;
use super::super::dma::layout::STREAMS_H7;
use super::super::flash::h7::FlashH7;
use super::super::pwr::l4_g4_h7::PwrH7;
use super::kinds::*;

pub(super) static CHIP: Description = Description {
    name: "STM32H743",
    id_code: 0x2003_6450,
    memory: MemorySizes {
        // Two banks of eight.
        sectors: &[128 * 1024; 16],
        // The AXI SRAM.
        sram_base: 0x2400_0000,
        sram: 512 * 1024,
        // The DTCM.
        ccm_base: 0x2000_0000,
        ccm: 128 * 1024,
        dma_reaches_ccm: false,
        corrects_ram: true,
    },
    flash_reading: FlashReading::H7,
    pins: Pins::Analog,
    system: SystemMemory {
        constants: &[],
        unique_id: 0x1ff1_e800,
        flash_size: 0x1ff1_e880,
    },
    parts: |individual| {
        let flash = FlashH7::new(individual.flash_wear);
        let dma = |registers| Controllers::behind(DmaMux::new(CHIP.mux()), &STREAMS_H7, registers);
        parts(Family::H7, (CHIP.map(), Some(16)), individual, PwrH7::new(), flash, dma)
    },
};
