//! STM32F405xG: RM0090.

use super::f4::*;
use super::f446;

pub(super) static CHIP: Description = Description {
    name: "STM32F405",
    id_code: 0x100f_6413,
    memory: MemorySizes {
        sectors: &SECTORS_1M,
        ccm: 64 * 1024,
        ..MEMORY
    },
    flash_reading: FlashReading::F4,
    pins: Pins::Inputs,
    map: &[
        TIM2, TIM3, TIM4, TIM5, TIM6, TIM7, TIM12, TIM13, TIM14, RTC, WWDG, IWDG, I2S2EXT, SPI2, SPI3, I2S3EXT, USART2,
        USART3, UART4, UART5, I2C1, I2C2, I2C3, CAN1, CAN2, PWR, DAC, TIM1, TIM8, USART1, USART6, ADC, SDIO, SPI1,
        SYSCFG, EXTI, TIM9, TIM10, TIM11, GPIOA, GPIOB, GPIOC, GPIOD, GPIOE, GPIOF, GPIOG, GPIOH, GPIOI, CRC, RCC,
        FLASH, BKPSRAM, DMA1, DMA2, USB_HS, USB_FS, RNG, FMC, DBGMCU,
    ],
    functions: &[
        UartPins::new(0, 7, &pins(["PA9", "PB6"]), &pins(["PA10", "PB7"])),
        UartPins::new(1, 7, &pins(["PA2", "PD5"]), &pins(["PA3", "PD6"])),
        UartPins::new(2, 7, &pins(["PB10", "PC10", "PD8"]), &pins(["PB11", "PC11", "PD9"])),
        UartPins::new(3, 8, &pins(["PA0", "PC10"]), &pins(["PA1", "PC11"])),
        UartPins::new(4, 8, &pins(["PC12"]), &pins(["PD2"])),
        UartPins::new(5, 8, &pins(["PC6", "PG14"]), &pins(["PC7", "PG9"])),
    ],
    // RM0090, tables 42 and 43: the same.
    requests: f446::REQUESTS,
    system: SYSTEM,
    parts: |individual| parts(&CHIP, &FACTS, individual),
};

const I2C2: MapEntry = i2c2(&[I2cPins::new(4, &pins(["PB10", "PF1"]), &pins(["PB11", "PF0"]))]);
const I2C3: MapEntry = i2c3(&[I2cPins::new(4, &pins(["PA8"]), &pins(["PC9"]))]);

static FACTS: PwrFacts = PwrFacts {
    power_control: 0x4000,
    has_overdrive: false,
    // One bit.
    limits: |scale, _| match scale & 1 {
        1 => limits(168, 42, 84),
        _ => limits(144, 42, 84),
    },
};
