//! STM32L476xG: RM0351.

use super::super::i2c::Wire;
use super::super::map::{Kind, Place};
use super::super::newer::Route;
use super::super::newer::channel_dma::{ChannelControllers, Selections};
use super::super::newer::flash_l4_g4::FlashL4G4;
use super::super::newer::power::{self, PowerL4G4};
use super::super::newer::rcc_l4_g4::{self, RccL4G4};
use super::super::peripheral::Parts;
use super::super::pins::Function;
use super::super::{calendar, exti};
use super::Description;
use super::newer::*;
use crate::cpu::FlashReading;
use crate::memory::{CCM, MemorySizes, SRAM};

// Enable registers of the RCC.
const AHB1: u32 = 0x48;
const AHB2: u32 = 0x4c;
const APB1: u32 = 0x58;
const APB1_2: u32 = 0x5c;
const APB2: u32 = 0x60;

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
    },
    flash_reading: FlashReading::L4_G4,
    places: PLACES,
    functions: &[
        Function::tx(0, "PA9", 7),
        Function::tx(0, "PB6", 7),
        Function::rx(0, "PA10", 7),
        Function::rx(0, "PB7", 7),
        Function::tx(1, "PA2", 7),
        Function::rx(1, "PA3", 7),
        Function::tx(2, "PB10", 7),
        Function::tx(2, "PC4", 7),
        Function::tx(2, "PC10", 7),
        Function::rx(2, "PB11", 7),
        Function::rx(2, "PC5", 7),
        Function::rx(2, "PC11", 7),
        Function::tx(3, "PA0", 8),
        Function::tx(3, "PC10", 8),
        Function::rx(3, "PA1", 8),
        Function::rx(3, "PC11", 8),
        Function::tx(4, "PC12", 8),
        Function::rx(4, "PD2", 8),
        Function::tx(8, "PB11", 8),
        Function::tx(8, "PC1", 8),
        Function::rx(8, "PB10", 8),
        Function::rx(8, "PC0", 8),
    ],
    constants: &[(0x1fff_0000, 0x1fff_6fff, 0xffff_ffff)],
    unique_id: 0x1fff_7590,
    flash_size: 0x1fff_75e0,
    parts: |individual| {
        let Ports { uarts, addresses } = ports(PLACES, 0);
        Parts {
            clock: Box::new(RccL4G4::new(
                rcc_l4_g4::Kind::L4,
                individual.external_clock(),
                individual.lse,
            )),
            power: Box::new(PowerL4G4::new(power::Kind::L4)),
            flash: Box::new(FlashL4G4::new(0x600, individual.flash_wear, true)),
            dma: Box::new(ChannelControllers::choosing([DMA1_REQUESTS, DMA2_REQUESTS], addresses)),
            uarts,
        }
    },
};

const PLACES: &[Place] = &[
    at(0x4000_0000, "TIM2", WIDE, on(APB1, 0), &[28]),
    at(0x4000_0400, "TIM3", NARROW, on(APB1, 1), &[29]),
    at(0x4000_0800, "TIM4", NARROW, on(APB1, 2), &[30]),
    at(0x4000_0c00, "TIM5", WIDE, on(APB1, 3), &[50]),
    at(0x4000_1000, "TIM6", NARROW, on(APB1, 4), &[54]),
    at(0x4000_1400, "TIM7", NARROW, on(APB1, 5), &[55]),
    none(0x4000_2400, 0x400, "LCD"),
    at(0x4000_2800, "RTC", Kind::Calendar(calendar::Layout::Older), None, &[]),
    none(0x4000_2c00, 0x400, "WWDG"),
    at(0x4000_3000, "IWDG", Kind::Watchdog, None, &[]),
    at(0x4000_3800, "SPI2", SPI, on(APB1, 14), &[36]),
    at(0x4000_3c00, "SPI3", SPI, on(APB1, 15), &[51]),
    at(0x4000_4400, "USART2", Kind::Uart(1), on(APB1, 17), &[38]),
    at(0x4000_4800, "USART3", Kind::Uart(2), on(APB1, 18), &[39]),
    at(0x4000_4c00, "UART4", Kind::Uart(3), on(APB1, 19), &[52]),
    at(0x4000_5000, "UART5", Kind::Uart(4), on(APB1, 20), &[53]),
    at(
        0x4000_5400,
        "I2C1",
        i2c(&[
            Wire::scl("PB6", 4),
            Wire::scl("PB8", 4),
            Wire::scl("PG14", 4),
            Wire::sda("PB7", 4),
            Wire::sda("PB9", 4),
            Wire::sda("PG13", 4),
        ]),
        on(APB1, 21),
        &[31, 32],
    ),
    at(
        0x4000_5800,
        "I2C2",
        i2c(&[
            Wire::scl("PB10", 4),
            Wire::scl("PB13", 4),
            Wire::scl("PF1", 4),
            Wire::sda("PB11", 4),
            Wire::sda("PB14", 4),
            Wire::sda("PF0", 4),
        ]),
        on(APB1, 22),
        &[33, 34],
    ),
    at(
        0x4000_5c00,
        "I2C3",
        i2c(&[
            Wire::scl("PC0", 4),
            Wire::scl("PG7", 4),
            Wire::sda("PC1", 4),
            Wire::sda("PG8", 4),
        ]),
        on(APB1, 23),
        &[72, 73],
    ),
    none(0x4000_6400, 0x400, "CAN1"),
    at(0x4000_7000, "PWR", Kind::Power, on(APB1, 28), &[]),
    none(0x4000_7400, 0x400, "DAC1"),
    none(0x4000_7800, 0x400, "OPAMP1"),
    none(0x4000_7c00, 0x400, "LPTIM1"),
    at(0x4000_8000, "LPUART1", Kind::Uart(8), on(APB1_2, 0), &[70]),
    none(0x4000_8800, 0x400, "SWPMI1"),
    none(0x4000_9400, 0x400, "LPTIM2"),
    at(0x4001_0000, "SYSCFG", Kind::Syscfg, on(APB2, 0), &[]),
    at(
        0x4001_0400,
        "EXTI",
        Kind::Exti(exti::Layout::MaskFirst),
        None,
        &[6, 7, 8, 9, 10, 23, 40],
    ),
    none(0x4001_2800, 0x400, "SDMMC1"),
    at(0x4001_2c00, "TIM1", ADVANCED, on(APB2, 11), &[25, 27]),
    at(0x4001_3000, "SPI1", SPI, on(APB2, 12), &[35]),
    at(0x4001_3400, "TIM8", ADVANCED, on(APB2, 13), &[44, 46]),
    at(0x4001_3800, "USART1", Kind::Uart(0), on(APB2, 14), &[37]),
    at(0x4001_4000, "TIM15", NARROW, on(APB2, 16), &[24]),
    at(0x4001_4400, "TIM16", NARROW, on(APB2, 17), &[25]),
    at(0x4001_4800, "TIM17", NARROW, on(APB2, 18), &[26]),
    none(0x4001_5400, 0x400, "SAI1"),
    none(0x4001_5800, 0x400, "SAI2"),
    none(0x4001_6000, 0x400, "DFSDM1"),
    at(
        0x4002_0000,
        "DMA1",
        Kind::Dma(0),
        on(AHB1, 0),
        &[11, 12, 13, 14, 15, 16, 17],
    ),
    at(
        0x4002_0400,
        "DMA2",
        Kind::Dma(1),
        on(AHB1, 1),
        &[56, 57, 58, 59, 60, 68, 69],
    ),
    at(0x4002_1000, "RCC", Kind::Clock, None, &[5]),
    at(0x4002_2000, "FLASH", Kind::Flash, on(AHB1, 8), &[4]),
    none(0x4002_3000, 0x400, "CRC"),
    none(0x4002_4000, 0x400, "TSC"),
    at(0x4800_0000, "GPIOA", Kind::Gpio(0), on(AHB2, 0), &[]),
    at(0x4800_0400, "GPIOB", Kind::Gpio(1), on(AHB2, 1), &[]),
    at(0x4800_0800, "GPIOC", Kind::Gpio(2), on(AHB2, 2), &[]),
    at(0x4800_0c00, "GPIOD", Kind::Gpio(3), on(AHB2, 3), &[]),
    at(0x4800_1000, "GPIOE", Kind::Gpio(4), on(AHB2, 4), &[]),
    at(0x4800_1400, "GPIOF", Kind::Gpio(5), on(AHB2, 5), &[]),
    at(0x4800_1800, "GPIOG", Kind::Gpio(6), on(AHB2, 6), &[]),
    at(0x4800_1c00, "GPIOH", Kind::Gpio(7), on(AHB2, 7), &[]),
    none(0x5000_0000, 0x4_0000, "USB_OTG_FS"),
    at(0x5004_0000, "ADC1 and ADC2", ADC, on(AHB2, 13), &[18]),
    at(0x5006_0800, "RNG", RNG, on(AHB2, 18), &[80]),
    none(0xa000_1000, 0x1000, "QUADSPI"),
    at(0xe004_2000, "DBGMCU", Kind::DebugControl, None, &[]),
];

/// RM0351 table 44: channel from 0, number in CSELR, port.
const DMA1_REQUESTS: Selections = &[
    (1, 2, Route::to(2)),
    (2, 2, Route::from(2)),
    (3, 2, Route::to(0)),
    (4, 2, Route::from(0)),
    (5, 2, Route::from(1)),
    (6, 2, Route::to(1)),
];

/// RM0351 table 45.
const DMA2_REQUESTS: Selections = &[
    (0, 2, Route::to(4)),
    (1, 2, Route::from(4)),
    (2, 2, Route::to(3)),
    (4, 2, Route::from(3)),
    (5, 2, Route::to(0)),
    (5, 4, Route::to(8)),
    (6, 2, Route::from(0)),
    (6, 4, Route::from(8)),
];
