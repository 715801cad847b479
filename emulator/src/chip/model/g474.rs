//! STM32G474xE: RM0440.

use super::super::dma::dmamux::{DmaMux, Requests};
use super::super::dma::layout::CHANNELS_G4;
use super::super::flash::l4_g4::FlashL4G4;
use super::super::pwr::l4_g4_h7::PwrL4G4;
use super::super::rcc::layout::l4_g4::{AHB1, AHB2, APB1, APB1_2};
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
    map: MAP,
    functions: &[
        UartPins::new(0, 7, &pins(["PA9", "PB6", "PC4"]), &pins(["PA10", "PB7", "PC5"])),
        UartPins::new(1, 7, &pins(["PA2", "PA14", "PB3"]), &pins(["PA3", "PA15", "PB4"])),
        UartPins::new(2, 7, &pins(["PB9", "PB10", "PC10"]), &pins(["PB8", "PB11", "PC11"])),
        UartPins::new(3, 5, &pins(["PC10"]), &pins(["PC11"])),
        UartPins::new(4, 5, &pins(["PC12"]), &pins(["PD2"])),
        UartPins::new(8, 12, &pins(["PA2"]), &pins(["PA3"])),
        UartPins::new(8, 8, &pins(["PB11", "PC1"]), &pins(["PB10", "PC0"])),
    ],
    requests: &[],
    system: l4_g4::SYSTEM,
    parts: |individual| {
        let flash = FlashL4G4::new(0x0004_0600, individual.flash_wear, individual.dual_bank);
        let dma = |registers| Controllers::behind(DmaMux::new(REQUESTS), &CHANNELS_G4, registers);
        parts(Family::G4, (MAP, Some(8)), individual, PwrL4G4::g4(), flash, dma)
    },
};

// One line a peripheral.
#[rustfmt::skip]
const MAP: &[MapEntry] = &l4_g4::map::<29, 67>([
    none(0x4000_2000, 0x400, "CRS"),
    none(0x4000_2400, 0x400, "TAMP"),
    at(0x4000_2800, "RTC", Kind::Rtc(rtc::Layout::V3), on(APB1, 10), &[]),
    at(0x4000_5400, "I2C1",
        i2c(&[I2cPins::new(4, &pins(["PA13", "PA15", "PB8"]), &pins(["PA14", "PB7", "PB9"]))]), on(APB1, 21), &[31, 32]),
    at(0x4000_5800, "I2C2",
        i2c(&[I2cPins::new(4, &pins(["PA9", "PC4"]), &pins(["PA8", "PF0"]))]), on(APB1, 22), &[33, 34]),
    none(0x4000_5c00, 0x400, "USB"),
    none(0x4000_6000, 0x400, "USBRAM"),
    none(0x4000_6400, 0x400, "FDCAN1"),
    none(0x4000_6800, 0x400, "FDCAN2"),
    none(0x4000_6c00, 0x400, "FDCAN3"),
    at(0x4000_7800, "I2C3",
        i2c(&[I2cPins::new(2, &pins(["PA8"]), &pins([])), I2cPins::new(8, &pins(["PC8"]), &pins(["PB5", "PC9", "PC11"]))]), on(APB1, 30), &[92, 93]),
    at(0x4000_8000, "LPUART1", Kind::Uart(8), on(APB1_2, 0), &[91]),
    at(0x4000_8400, "I2C4",
        i2c(&[I2cPins::new(3, &pins(["PA13"]), &pins(["PB7"])), I2cPins::new(8, &pins(["PC6"]), &pins(["PC7"]))]), on(APB1_2, 1), &[82, 83]),
    none(0x4000_a000, 0x400, "UCPD1"),
    none(0x4000_a400, 0xc00, "FDCANRAM1"),
    none(0x4001_5000, 0x400, "TIM20"),
    none(0x4001_6800, 0x400, "HRTIM1"),
    at(0x4002_0000, "DMA1", Kind::Dma(0), on(AHB1, 0), &[11, 12, 13, 14, 15, 16, 17, 96]),
    at(0x4002_0400, "DMA2", Kind::Dma(1), on(AHB1, 1), &[56, 57, 58, 59, 60, 97, 98, 99]),
    at(0x4002_0800, "DMAMUX1", Kind::Dma(2), on(AHB1, 2), &[]),
    none(0x4002_0c00, 0x400, "CORDIC"),
    none(0x4002_1400, 0x400, "FMAC"),
    at(0x5000_0000, "ADC1 and ADC2", ADC_V3, on(AHB2, 13), &[18]),
    none(0x5000_0400, 0x400, "ADC3 to ADC5"),
    none(0x5000_0800, 0x400, "DAC1"),
    none(0x5000_0c00, 0x400, "DAC2"),
    none(0x5000_1000, 0x400, "DAC3"),
    none(0x5000_1400, 0x400, "DAC4"),
    at(0x5006_0800, "RNG", RNG, on(AHB2, 26), &[90]),
]);

/// RM0440 table 91; 0 stands for a port that the chip does not have.
const REQUESTS: Requests = &[
    (24, 25),
    (26, 27),
    (28, 29),
    (30, 31),
    (32, 33),
    (0, 0),
    (0, 0),
    (0, 0),
    (34, 35),
];
