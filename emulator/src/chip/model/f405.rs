//! STM32F405xG: RM0090.

use super::super::pins::Function;
use super::Description;
use super::f4::*;
use super::f446;
use crate::cpu::FlashReading;
use crate::memory::{CCM, MemorySizes, SRAM};

const KIB: u32 = 1024;

pub(super) static CHIP: Description = Description {
    name: "STM32F405",
    id_code: 0x100f_6413,
    memory: MemorySizes {
        sectors: &[
            16 * KIB,
            16 * KIB,
            16 * KIB,
            16 * KIB,
            64 * KIB,
            128 * KIB,
            128 * KIB,
            128 * KIB,
            128 * KIB,
            128 * KIB,
            128 * KIB,
            128 * KIB,
        ],
        sram_base: SRAM,
        sram: 128 * 1024,
        ccm_base: CCM,
        ccm: 64 * 1024,
        dma_reaches_ccm: false,
    },
    flash_reading: FlashReading::F4,
    places: &[
        TIM2, TIM3, TIM4, TIM5, TIM6, TIM7, TIM12, TIM13, TIM14, RTC, WWDG, IWDG, I2S2EXT, SPI2, SPI3, I2S3EXT, USART2,
        USART3, UART4, UART5, I2C1, I2C2, I2C3, CAN1, CAN2, PWR, DAC, TIM1, TIM8, USART1, USART6, ADC, SDIO, SPI1,
        SYSCFG, EXTI, TIM9, TIM10, TIM11, GPIOA, GPIOB, GPIOC, GPIOD, GPIOE, GPIOF, GPIOG, GPIOH, GPIOI, CRC, RCC,
        FLASH, BKPSRAM, DMA1, DMA2, USB_HS, USB_FS, RNG, FMC, DBGMCU,
    ],
    functions: &[
        Function::tx(0, "PA9", 7),
        Function::tx(0, "PB6", 7),
        Function::rx(0, "PA10", 7),
        Function::rx(0, "PB7", 7),
        Function::tx(1, "PA2", 7),
        Function::tx(1, "PD5", 7),
        Function::rx(1, "PA3", 7),
        Function::rx(1, "PD6", 7),
        Function::tx(2, "PB10", 7),
        Function::tx(2, "PC10", 7),
        Function::tx(2, "PD8", 7),
        Function::rx(2, "PB11", 7),
        Function::rx(2, "PC11", 7),
        Function::rx(2, "PD9", 7),
        Function::tx(3, "PA0", 8),
        Function::tx(3, "PC10", 8),
        Function::rx(3, "PA1", 8),
        Function::rx(3, "PC11", 8),
        Function::tx(4, "PC12", 8),
        Function::rx(4, "PD2", 8),
        Function::tx(5, "PC6", 8),
        Function::tx(5, "PG14", 8),
        Function::rx(5, "PC7", 8),
        Function::rx(5, "PG9", 8),
    ],
    constants: CONSTANTS,
    unique_id: UNIQUE_ID,
    flash_size: FLASH_SIZE,
    parts: |individual| parts(&CHIP, &FACTS, individual),
};

pub(super) static FACTS: F4 = F4 {
    power_control: 0x4000,
    has_overdrive: false,
    // One bit.
    limits: |scale, _| match scale & 1 {
        1 => limits(168, 42, 84),
        _ => limits(144, 42, 84),
    },
    // RM0090, tables 42 and 43: the same.
    requests: &f446::REQUESTS,
};
