//! STM32H743xI: RM0433.

use super::super::dma::Controllers;
use super::super::dma::dmamux::{DmaMux, Requests};
use super::super::dma::layout::STREAMS_H7;
use super::super::exti;
use super::super::flash::h7::FlashH7;
use super::super::i2c::I2cPins;
use super::super::map::{Kind, MapEntry};
use super::super::parts::Parts;
use super::super::pins::{UartPins, pins};
use super::super::pwr::l4_g4_h7::PwrH7;
use super::super::rcc::layout::h7::{AHB1, AHB2, AHB4, APB1, APB2, APB4};
use super::super::rcc::{Family, Rcc};
use super::super::rtc;
use super::kinds::*;
use super::{Description, SystemMemory};
use crate::cpu::FlashReading;
use crate::memory::MemorySizes;

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
    },
    flash_reading: FlashReading::H7,
    map: MAP,
    functions: &[
        UartPins::new(0, 7, &pins(["PA9", "PB6"]), &pins(["PA10", "PB7"])),
        UartPins::new(0, 4, &pins(["PB14"]), &pins(["PB15"])),
        UartPins::new(1, 7, &pins(["PA2", "PD5"]), &pins(["PA3", "PD6"])),
        UartPins::new(2, 7, &pins(["PB10", "PC10", "PD8"]), &pins(["PB11", "PC11", "PD9"])),
        UartPins::new(
            3,
            8,
            &pins(["PA0", "PB9", "PC10", "PD1"]),
            &pins(["PA1", "PB8", "PC11", "PD0"]),
        ),
        UartPins::new(3, 6, &pins(["PA12"]), &pins(["PA11"])),
        UartPins::new(4, 14, &pins(["PB6", "PB13"]), &pins(["PB5", "PB12"])),
        UartPins::new(4, 8, &pins(["PC12"]), &pins(["PD2"])),
        UartPins::new(5, 7, &pins(["PC6", "PG14"]), &pins(["PC7", "PG9"])),
        UartPins::new(6, 11, &pins(["PA15", "PB4"]), &pins(["PA8", "PB3"])),
        UartPins::new(6, 7, &pins(["PE8", "PF7"]), &pins(["PE7", "PF6"])),
        UartPins::new(7, 8, &pins(["PE1"]), &pins(["PE0"])),
        UartPins::new(8, 3, &pins(["PA9"]), &pins(["PA10"])),
        UartPins::new(8, 8, &pins(["PB6"]), &pins(["PB7"])),
    ],
    requests: &[],
    system: SystemMemory {
        constants: &[],
        unique_id: 0x1ff1_e800,
        flash_size: 0x1ff1_e880,
    },
    parts: |individual| {
        let Ports { uarts, data_registers } = ports(MAP, Some(16));
        Parts {
            rcc: Rcc::new(Family::H7, individual.oscillator(), individual.lse),
            power: Box::new(PwrH7::new()),
            flash: Box::new(FlashH7::new(individual.flash_wear)),
            dma: Controllers::behind(DmaMux::new(REQUESTS), &STREAMS_H7, data_registers),
            uarts,
        }
    },
};

// One line a peripheral.
#[rustfmt::skip]
const MAP: &[MapEntry] = &[
    at(0x4000_0000, "TIM2", WIDE, on(APB1, 0), &[28]),
    at(0x4000_0400, "TIM3", NARROW, on(APB1, 1), &[29]),
    at(0x4000_0800, "TIM4", NARROW, on(APB1, 2), &[30]),
    at(0x4000_0c00, "TIM5", WIDE, on(APB1, 3), &[50]),
    at(0x4000_1000, "TIM6", NARROW, on(APB1, 4), &[54]),
    at(0x4000_1400, "TIM7", NARROW, on(APB1, 5), &[55]),
    none(0x4000_1800, 0x400, "TIM12"),
    none(0x4000_1c00, 0x400, "TIM13"),
    none(0x4000_2000, 0x400, "TIM14"),
    none(0x4000_2400, 0x400, "LPTIM1"),
    at(0x4000_3800, "SPI2", SPI_V3, on(APB1, 14), &[36]),
    at(0x4000_3c00, "SPI3", SPI_V3, on(APB1, 15), &[51]),
    none(0x4000_4000, 0x400, "SPDIFRX1"),
    at(0x4000_4400, "USART2", Kind::Uart(1), on(APB1, 17), &[38]),
    at(0x4000_4800, "USART3", Kind::Uart(2), on(APB1, 18), &[39]),
    at(0x4000_4c00, "UART4", Kind::Uart(3), on(APB1, 19), &[52]),
    at(0x4000_5000, "UART5", Kind::Uart(4), on(APB1, 20), &[53]),
    at(0x4000_5400, "I2C1",
        i2c(&[I2cPins::new(4, &pins(["PB6", "PB8"]), &pins(["PB7", "PB9"]))]), on(APB1, 21), &[31, 32]),
    at(0x4000_5800, "I2C2",
        i2c(&[I2cPins::new(4, &pins(["PB10", "PF1"]), &pins(["PB11", "PF0"]))]), on(APB1, 22), &[33, 34]),
    at(0x4000_5c00, "I2C3", i2c(&[I2cPins::new(4, &pins(["PA8"]), &pins(["PC9"]))]), on(APB1, 23), &[72, 73]),
    none(0x4000_6c00, 0x400, "CEC"),
    none(0x4000_7400, 0x400, "DAC1"),
    at(0x4000_7800, "UART7", Kind::Uart(6), on(APB1, 30), &[82]),
    at(0x4000_7c00, "UART8", Kind::Uart(7), on(APB1, 31), &[83]),
    none(0x4000_8400, 0x400, "CRS"),
    none(0x4000_8800, 0x400, "SWPMI1"),
    none(0x4000_9000, 0x400, "OPAMP1"),
    none(0x4000_9400, 0x400, "MDIOS"),
    none(0x4000_a000, 0x400, "FDCAN1"),
    none(0x4000_a400, 0x400, "FDCAN2"),
    none(0x4000_ac00, 0x2800, "FDCANRAM"),
    at(0x4001_0000, "TIM1", ADVANCED, on(APB2, 0), &[25, 27]),
    at(0x4001_0400, "TIM8", ADVANCED, on(APB2, 1), &[44, 46]),
    at(0x4001_1000, "USART1", Kind::Uart(0), on(APB2, 4), &[37]),
    at(0x4001_1400, "USART6", Kind::Uart(5), on(APB2, 5), &[71]),
    at(0x4001_3000, "SPI1", SPI_V3, on(APB2, 12), &[35]),
    at(0x4001_3400, "SPI4", SPI_V3, on(APB2, 13), &[84]),
    none(0x4001_4000, 0x400, "TIM15"),
    none(0x4001_4400, 0x400, "TIM16"),
    none(0x4001_4800, 0x400, "TIM17"),
    at(0x4001_5000, "SPI5", SPI_V3, on(APB2, 20), &[85]),
    none(0x4001_5800, 0x400, "SAI1"),
    none(0x4001_5c00, 0x400, "SAI2"),
    none(0x4001_6000, 0x400, "SAI3"),
    none(0x4001_7000, 0x400, "DFSDM1"),
    none(0x4001_7400, 0x400, "HRTIM1"),
    at(0x4002_0000, "DMA1", Kind::Dma(0), on(AHB1, 0), &[11, 12, 13, 14, 15, 16, 17, 47]),
    at(0x4002_0400, "DMA2", Kind::Dma(1), on(AHB1, 1), &[56, 57, 58, 59, 60, 68, 69, 70]),
    at(0x4002_0800, "DMAMUX1", Kind::Dma(2), None, &[]),
    at(0x4002_2000, "ADC1 and ADC2", ADC_V3, on(AHB1, 5), &[18]),
    none(0x4002_8000, 0x1400, "ETH"),
    none(0x4004_0000, 0x4_0000, "USB_OTG_HS"),
    none(0x4008_0000, 0x4_0000, "USB_OTG_FS"),
    none(0x4802_0000, 0x400, "DCMI"),
    at(0x4802_1800, "RNG", RNG, on(AHB2, 6), &[80]),
    none(0x4802_2400, 0x400, "SDMMC2"),
    none(0x4802_2800, 0x400, "DLYB_SDMMC2"),
    none(0x5000_1000, 0x1000, "LTDC"),
    none(0x5000_3000, 0x400, "WWDG1"),
    none(0x5200_0000, 0x1000, "MDMA"),
    none(0x5200_1000, 0x1000, "DMA2D"),
    at(0x5200_2000, "FLASH", Kind::Flash, None, &[4]),
    none(0x5200_3000, 0x1000, "JPEG"),
    none(0x5200_4000, 0x1000, "FMC"),
    none(0x5200_5000, 0x1000, "QUADSPI"),
    none(0x5200_6000, 0x1000, "DLYB_QUADSPI"),
    none(0x5200_7000, 0x1000, "SDMMC1"),
    none(0x5200_8000, 0x1000, "DLYB_SDMMC1"),
    at(0x5800_0000, "EXTI", Kind::Exti(exti::Layout::EdgesFirst), None, EXTI_LINES),
    at(0x5800_0400, "SYSCFG", Kind::Syscfg, on(APB4, 1), &[]),
    at(0x5800_0c00, "LPUART1", Kind::Uart(8), on(APB4, 3), &[]),
    at(0x5800_1400, "SPI6", SPI_V3, on(APB4, 5), &[86]),
    at(
        0x5800_1c00,
        "I2C4",
        i2c(&[
            I2cPins::new(6, &pins(["PB6", "PB8"]), &pins(["PB7", "PB9"])),
            I2cPins::new(4, &pins(["PD12", "PF14"]), &pins(["PD13", "PF15"])),
        ]),
        on(APB4, 7),
        &[95, 96],
    ),
    none(0x5800_2400, 0x400, "LPTIM2"),
    none(0x5800_2800, 0x400, "LPTIM3"),
    none(0x5800_2c00, 0x400, "LPTIM4"),
    none(0x5800_3000, 0x400, "LPTIM5"),
    none(0x5800_3800, 0x400, "COMP1"),
    at(0x5800_4000, "RTC", Kind::Rtc(rtc::Layout::V2), on(APB4, 16), &[]),
    at(0x5800_4800, "IWDG1", Kind::Iwdg, None, &[]),
    none(0x5800_5400, 0x400, "SAI4"),
    at(0x5802_0000, "GPIOA", Kind::Gpio(0), on(AHB4, 0), &[]),
    at(0x5802_0400, "GPIOB", Kind::Gpio(1), on(AHB4, 1), &[]),
    at(0x5802_0800, "GPIOC", Kind::Gpio(2), on(AHB4, 2), &[]),
    at(0x5802_0c00, "GPIOD", Kind::Gpio(3), on(AHB4, 3), &[]),
    at(0x5802_1000, "GPIOE", Kind::Gpio(4), on(AHB4, 4), &[]),
    at(0x5802_1400, "GPIOF", Kind::Gpio(5), on(AHB4, 5), &[]),
    at(0x5802_1800, "GPIOG", Kind::Gpio(6), on(AHB4, 6), &[]),
    at(0x5802_1c00, "GPIOH", Kind::Gpio(7), on(AHB4, 7), &[]),
    at(0x5802_2000, "GPIOI", Kind::Gpio(8), on(AHB4, 8), &[]),
    none(0x5802_2400, 0x400, "GPIOJ"),
    none(0x5802_2800, 0x400, "GPIOK"),
    at(0x5802_4400, "RCC", Kind::Rcc, None, &[5]),
    at(0x5802_4800, "PWR", Kind::Pwr, None, &[]),
    none(0x5802_4c00, 0x400, "CRC"),
    none(0x5802_5400, 0x400, "BDMA"),
    none(0x5802_5800, 0x400, "DMAMUX2"),
    at(0x5802_6000, "ADC3", ADC_V3, on(AHB4, 24), &[127]),
    none(0x5802_6400, 0x400, "HSEM"),
    at(0x5c00_1000, "DBGMCU", Kind::Dbgmcu, None, &[]),
];

/// RM0433 table 121. LPUART1 has another mux, in the domain D3.
const REQUESTS: Requests = &[
    (41, 42),
    (43, 44),
    (45, 46),
    (63, 64),
    (65, 66),
    (71, 72),
    (79, 80),
    (81, 82),
];
