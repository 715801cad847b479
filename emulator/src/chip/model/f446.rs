//! STM32F446xE: RM0390.

use super::super::pins::Function;
use super::Description;
use super::f4::*;
use crate::cpu::FlashReading;
use crate::memory::{CCM, MemorySizes, SRAM};

pub(super) static CHIP: Description = Description {
    name: "STM32F446",
    id_code: 0x1000_6421,
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
        TIM2, TIM3, TIM4, TIM5, TIM6, TIM7, TIM12, TIM13, TIM14, RTC, WWDG, IWDG, SPI2, SPI3, SPDIF, USART2, USART3,
        UART4, UART5, I2C1, I2C2, I2C3, FMPI2C1, CAN1, CAN2, CEC, PWR, DAC, TIM1, TIM8, USART1, USART6, ADC, SDIO,
        SPI1, SPI4, SYSCFG, EXTI, TIM9, TIM10, TIM11, SAI1, SAI2, GPIOA, GPIOB, GPIOC, GPIOD, GPIOE, GPIOF, GPIOG,
        GPIOH, CRC, RCC, FLASH, BKPSRAM, DMA1, DMA2, USB_HS, USB_FS, DCMI, FMC, QUADSPI, DBGMCU,
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
        Function::rx(2, "PC5", 7),
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
    power_control: 0xc000,
    has_overdrive: true,
    limits: |scale, over_drive| match (scale, over_drive) {
        (3, true) => limits(180, 45, 90),
        (3, false) => limits(168, 42, 84),
        (2, true) => limits(168, 45, 90),
        (2, false) => limits(144, 42, 84),
        (_, true) => limits(120, 45, 90),
        (_, false) => limits(120, 42, 84),
    },
    requests: &REQUESTS,
};

/// RM0390, tables 28 and 29.
pub(super) const REQUESTS: [Request; 16] = [
    rx(0, 1, 2, 4),
    rx(0, 1, 5, 4),
    tx(0, 1, 7, 4),
    rx(1, 0, 5, 4),
    tx(1, 0, 6, 4),
    rx(2, 0, 1, 4),
    tx(2, 0, 3, 4),
    tx(2, 0, 4, 7),
    rx(3, 0, 2, 4),
    tx(3, 0, 4, 4),
    rx(4, 0, 0, 4),
    tx(4, 0, 7, 4),
    rx(5, 1, 1, 5),
    rx(5, 1, 2, 5),
    tx(5, 1, 6, 5),
    tx(5, 1, 7, 5),
];
