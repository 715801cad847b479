//! STM32F401xE: RM0368.

use super::f4::*;
use super::f446;

pub(super) static CHIP: Description = Description {
    name: "STM32F401",
    id_code: 0x1000_6433,
    memory: MemorySizes {
        sram: 96 * 1024,
        ..MEMORY
    },
    flash_reading: FlashReading::F4,
    pins: Pins::Inputs,
    map: &[
        TIM2, TIM3, TIM4, TIM5, RTC, WWDG, IWDG, I2S2EXT, SPI2, SPI3, I2S3EXT, USART2, I2C1, I2C2, I2C3, PWR, TIM1,
        USART1, USART6, ADC, SDIO, SPI1, SPI4, SYSCFG, EXTI, TIM9, TIM10, TIM11, GPIOA, GPIOB, GPIOC, GPIOD, GPIOE,
        GPIOH, CRC, RCC, FLASH, DMA1, DMA2, USB_FS, DBGMCU,
    ],
    functions: &[
        UartPins::new(0, 7, &pins(["PA9", "PB6"]), &pins(["PA10", "PB7"])),
        UartPins::new(1, 7, &pins(["PA2", "PD5"]), &pins(["PA3", "PD6"])),
        UartPins::new(5, 8, &pins(["PA11", "PC6"]), &pins(["PA12", "PC7"])),
    ],
    // RM0368, tables 28 and 29: the same, for the ports that it has.
    requests: f446::REQUESTS,
    system: SYSTEM,
    parts: |individual| parts(&CHIP, &FACTS, individual),
};

const I2C2: MapEntry = i2c2(&[
    I2cPins::new(4, &pins(["PB10"]), &pins([])),
    I2cPins::new(9, &pins([]), &pins(["PB3"])),
]);
const I2C3: MapEntry = i2c3(&[
    I2cPins::new(4, &pins(["PA8"]), &pins(["PC9"])),
    I2cPins::new(9, &pins([]), &pins(["PB4"])),
]);

static FACTS: PwrFacts = PwrFacts {
    power_control: 0x8000,
    has_overdrive: false,
    limits: |scale, _| Limits {
        // Its PLL runs no slower.
        pll_vco: (192_000_000, 432_000_000),
        ..limits(if scale >= 2 { 84 } else { 60 }, 42, 84)
    },
};
