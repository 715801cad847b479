//! STM32F446xE: RM0390.

use super::f4::*;

pub(super) static CHIP: Description = Description {
    name: "STM32F446",
    id_code: 0x1000_6421,
    memory: MEMORY,
    flash_reading: FlashReading::F4,
    pins: Pins::Inputs,
    map: &[
        TIM2, TIM3, TIM4, TIM5, TIM6, TIM7, TIM12, TIM13, TIM14, RTC, WWDG, IWDG, SPI2, SPI3, SPDIF, USART2, USART3,
        UART4, UART5, I2C1, I2C2, I2C3, FMPI2C1, CAN1, CAN2, CEC, PWR, DAC, TIM1, TIM8, USART1, USART6, ADC, SDIO,
        SPI1, SPI4, SYSCFG, EXTI, TIM9, TIM10, TIM11, SAI1, SAI2, GPIOA, GPIOB, GPIOC, GPIOD, GPIOE, GPIOF, GPIOG,
        GPIOH, CRC, RCC, FLASH, BKPSRAM, DMA1, DMA2, USB_HS, USB_FS, DCMI, FMC, QUADSPI, DBGMCU,
    ],
    functions: &[
        UartPins::new(0, 7, &pins(["PA9", "PB6"]), &pins(["PA10", "PB7"])),
        UartPins::new(1, 7, &pins(["PA2", "PD5"]), &pins(["PA3", "PD6"])),
        UartPins::new(2, 7, &pins(["PB10", "PC10", "PD8"]), &pins(["PC5", "PC11", "PD9"])),
        UartPins::new(3, 8, &pins(["PA0", "PC10"]), &pins(["PA1", "PC11"])),
        UartPins::new(4, 8, &pins(["PC12"]), &pins(["PD2"])),
        UartPins::new(5, 8, &pins(["PC6", "PG14"]), &pins(["PC7", "PG9"])),
    ],
    requests: REQUESTS,
    system: SYSTEM,
    parts: |individual| parts(&CHIP, &FACTS, individual),
};

const I2C2: MapEntry = i2c2(&[I2cPins::new(
    4,
    &pins(["PB10", "PF1"]),
    &pins(["PB11", "PB3", "PC12", "PF0"]),
)]);
const I2C3: MapEntry = i2c3(&[I2cPins::new(4, &pins(["PA8"]), &pins(["PB4", "PC9"]))]);

static FACTS: PwrFacts = PwrFacts {
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
};

/// RM0390, tables 28 and 29.
pub(super) const REQUESTS: &[Request] = &[
    Request::rx(0, 1, 2, 4),
    Request::rx(0, 1, 5, 4),
    Request::tx(0, 1, 7, 4),
    Request::rx(1, 0, 5, 4),
    Request::tx(1, 0, 6, 4),
    Request::rx(2, 0, 1, 4),
    Request::tx(2, 0, 3, 4),
    Request::tx(2, 0, 4, 7),
    Request::rx(3, 0, 2, 4),
    Request::tx(3, 0, 4, 4),
    Request::rx(4, 0, 0, 4),
    Request::tx(4, 0, 7, 4),
    Request::rx(5, 1, 1, 5),
    Request::rx(5, 1, 2, 5),
    Request::tx(5, 1, 6, 5),
    Request::tx(5, 1, 7, 5),
];
