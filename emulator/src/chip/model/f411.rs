//! STM32F411xE: RM0383.

use super::f4::*;

pub(super) static CHIP: Description = Description {
    name: "STM32F411",
    id_code: 0x1000_6431,
    memory: MEMORY,
    flash_reading: FlashReading::F4,
    pins: Pins::Inputs,
    map: &[
        TIM2, TIM3, TIM4, TIM5, RTC, WWDG, IWDG, I2S2EXT, SPI2, SPI3, I2S3EXT, USART2, I2C1, I2C2, I2C3, PWR, TIM1,
        USART1, USART6, ADC, SDIO, SPI1, SPI4, SYSCFG, EXTI, TIM9, TIM10, TIM11, SPI5, GPIOA, GPIOB, GPIOC, GPIOD,
        GPIOE, GPIOH, CRC, RCC, FLASH, DMA1, DMA2, USB_FS, DBGMCU,
    ],
    functions: &[
        UartPins::new(0, 7, &pins(["PA9", "PA15", "PB6"]), &pins(["PA10", "PB3", "PB7"])),
        UartPins::new(1, 7, &pins(["PA2", "PD5"]), &pins(["PA3", "PD6"])),
        UartPins::new(5, 8, &pins(["PA11", "PC6"]), &pins(["PA12", "PC7"])),
    ],
    requests: REQUESTS,
    system: SYSTEM,
    parts: |individual| parts(&CHIP, &FACTS, individual),
};

const I2C2: MapEntry = i2c2(&[
    I2cPins::new(4, &pins(["PB10"]), &pins([])),
    I2cPins::new(9, &pins([]), &pins(["PB3", "PB9"])),
]);
const I2C3: MapEntry = i2c3(&[
    I2cPins::new(4, &pins(["PA8"]), &pins(["PC9"])),
    I2cPins::new(9, &pins([]), &pins(["PB4", "PB8"])),
]);

static FACTS: PwrFacts = PwrFacts {
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
};

/// RM0383, tables 27 and 28.
const REQUESTS: &[Request] = &[
    Request::rx(0, 1, 2, 4),
    Request::rx(0, 1, 5, 4),
    Request::tx(0, 1, 7, 4),
    Request::rx(1, 0, 5, 4),
    Request::rx(1, 0, 7, 6),
    Request::tx(1, 0, 6, 4),
    Request::rx(5, 1, 1, 5),
    Request::rx(5, 1, 2, 5),
    Request::tx(5, 1, 6, 5),
    Request::tx(5, 1, 7, 5),
];
