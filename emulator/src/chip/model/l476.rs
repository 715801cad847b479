//! STM32L476xG: RM0351.

use super::super::dma::layout::CHANNELS_L4;
use super::super::flash::l4_g4::FlashL4G4;
use super::super::pwr::l4_g4_h7::PwrL4G4;
use super::super::rcc::layout::l4_g4::{AHB1, AHB2, APB1, APB1_2};
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
    map: MAP,
    functions: &[
        UartPins::new(0, 7, &pins(["PA9", "PB6"]), &pins(["PA10", "PB7"])),
        UartPins::new(1, 7, &pins(["PA2"]), &pins(["PA3"])),
        UartPins::new(2, 7, &pins(["PB10", "PC4", "PC10"]), &pins(["PB11", "PC5", "PC11"])),
        UartPins::new(3, 8, &pins(["PA0", "PC10"]), &pins(["PA1", "PC11"])),
        UartPins::new(4, 8, &pins(["PC12"]), &pins(["PD2"])),
        UartPins::new(8, 8, &pins(["PB11", "PC1"]), &pins(["PB10", "PC0"])),
    ],
    requests: REQUESTS,
    system: l4_g4::SYSTEM,
    parts: |individual| {
        let flash = FlashL4G4::new(0x600, individual.flash_wear, true);
        let dma = |registers| Controllers::new(&CHANNELS_L4, REQUESTS, registers);
        parts(Family::L4, (MAP, Some(0)), individual, PwrL4G4::l4(), flash, dma)
    },
};

// One line a peripheral.
#[rustfmt::skip]
const MAP: &[MapEntry] = &l4_g4::map::<21, 59>([
    none(0x4000_2400, 0x400, "LCD"),
    at(0x4000_2800, "RTC", Kind::Rtc(rtc::Layout::V2), None, &[]),
    at(0x4000_5400, "I2C1",
        i2c(&[I2cPins::new(4, &pins(["PB6", "PB8", "PG14"]), &pins(["PB7", "PB9", "PG13"]))]), on(APB1, 21), &[31, 32]),
    at(0x4000_5800, "I2C2",
        i2c(&[I2cPins::new(4, &pins(["PB10", "PB13", "PF1"]), &pins(["PB11", "PB14", "PF0"]))]), on(APB1, 22), &[33, 34]),
    at(0x4000_5c00, "I2C3",
        i2c(&[I2cPins::new(4, &pins(["PC0", "PG7"]), &pins(["PC1", "PG8"]))]), on(APB1, 23), &[72, 73]),
    none(0x4000_6400, 0x400, "CAN1"),
    none(0x4000_7400, 0x400, "DAC1"),
    none(0x4000_7800, 0x400, "OPAMP1"),
    at(0x4000_8000, "LPUART1", Kind::Uart(8), on(APB1_2, 0), &[70]),
    none(0x4000_8800, 0x400, "SWPMI1"),
    none(0x4000_9400, 0x400, "LPTIM2"),
    none(0x4001_2800, 0x400, "SDMMC1"),
    none(0x4001_5800, 0x400, "SAI2"),
    none(0x4001_6000, 0x400, "DFSDM1"),
    at(0x4002_0000, "DMA1", Kind::Dma(0), on(AHB1, 0), &[11, 12, 13, 14, 15, 16, 17]),
    at(0x4002_0400, "DMA2", Kind::Dma(1), on(AHB1, 1), &[56, 57, 58, 59, 60, 68, 69]),
    none(0x4002_4000, 0x400, "TSC"),
    at(0x4800_1c00, "GPIOH", Kind::Gpio(7), on(AHB2, 7), &[]),
    none(0x5000_0000, 0x4_0000, "USB_OTG_FS"),
    at(0x5004_0000, "ADC1 and ADC2", ADC_V3, on(AHB2, 13), &[18]),
    at(0x5006_0800, "RNG", RNG, on(AHB2, 18), &[80]),
]);

/// RM0351 tables 44 and 45: port, controller, channel from 0, number in CSELR.
const REQUESTS: &[Request] = &[
    Request::tx(2, 0, 1, 2),
    Request::rx(2, 0, 2, 2),
    Request::tx(0, 0, 3, 2),
    Request::rx(0, 0, 4, 2),
    Request::rx(1, 0, 5, 2),
    Request::tx(1, 0, 6, 2),
    Request::tx(4, 1, 0, 2),
    Request::rx(4, 1, 1, 2),
    Request::tx(3, 1, 2, 2),
    Request::rx(3, 1, 4, 2),
    Request::tx(0, 1, 5, 2),
    Request::tx(8, 1, 5, 4),
    Request::rx(0, 1, 6, 2),
    Request::rx(8, 1, 6, 4),
];
