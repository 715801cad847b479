//! STM32F411xE: RM0383.

use super::super::clocks::Limits;
use super::super::i2c::Wire;
use super::super::pins::Function;
use super::Description;
use super::f4::*;
use crate::cpu::FlashReading;
use crate::memory::{CCM, MemorySizes, SRAM};

pub(super) static CHIP: Description = Description {
    name: "STM32F411",
    id_code: 0x1000_6431,
    memory: MemorySizes {
        sectors: &SECTORS,
        sram_base: SRAM,
        sram: 128 * 1024,
        ccm_base: CCM,
        ccm: 0,
        dma_reaches_ccm: false,
    },
    flash_reading: FlashReading::F4,
    places: &[
        TIM2,
        TIM3,
        TIM4,
        TIM5,
        RTC,
        WWDG,
        IWDG,
        I2S2EXT,
        SPI2,
        SPI3,
        I2S3EXT,
        USART2,
        I2C1,
        i2c2(&[Wire::scl("PB10", 4), Wire::sda("PB3", 9), Wire::sda("PB9", 9)]),
        i2c3(&[
            Wire::scl("PA8", 4),
            Wire::sda("PB4", 9),
            Wire::sda("PB8", 9),
            Wire::sda("PC9", 4),
        ]),
        PWR,
        TIM1,
        USART1,
        USART6,
        ADC,
        SDIO,
        SPI1,
        SPI4,
        SYSCFG,
        EXTI,
        TIM9,
        TIM10,
        TIM11,
        SPI5,
        GPIOA,
        GPIOB,
        GPIOC,
        GPIOD,
        GPIOE,
        GPIOH,
        CRC,
        RCC,
        FLASH,
        DMA1,
        DMA2,
        USB_FS,
        DBGMCU,
    ],
    functions: &[
        Function::tx(0, "PA9", 7),
        Function::tx(0, "PA15", 7),
        Function::tx(0, "PB6", 7),
        Function::rx(0, "PA10", 7),
        Function::rx(0, "PB3", 7),
        Function::rx(0, "PB7", 7),
        Function::tx(1, "PA2", 7),
        Function::tx(1, "PD5", 7),
        Function::rx(1, "PA3", 7),
        Function::rx(1, "PD6", 7),
        Function::tx(5, "PA11", 8),
        Function::tx(5, "PC6", 8),
        Function::rx(5, "PA12", 8),
        Function::rx(5, "PC7", 8),
    ],
    constants: CONSTANTS,
    unique_id: UNIQUE_ID,
    flash_size: FLASH_SIZE,
    parts: |individual| parts(&CHIP, &FACTS, individual),
};

pub(super) static FACTS: F4 = F4 {
    power_control: 0x8000,
    has_overdrive: false,
    limits: |scale, _| {
        let hclk = match scale {
            3 => 100,
            2 => 84,
            _ => 64,
        };
        Limits {
            // Its flash needs fewer.
            wait_states: &[30_000_000, 64_000_000, 90_000_000, 100_000_000],
            ..limits(hclk, 50, 100)
        }
    },
    requests: &REQUESTS,
};

/// RM0383, tables 27 and 28.
const REQUESTS: [Request; 10] = [
    rx(0, 1, 2, 4),
    rx(0, 1, 5, 4),
    tx(0, 1, 7, 4),
    rx(1, 0, 5, 4),
    rx(1, 0, 7, 6),
    tx(1, 0, 6, 4),
    rx(5, 1, 1, 5),
    rx(5, 1, 2, 5),
    tx(5, 1, 6, 5),
    tx(5, 1, 7, 5),
];
