//! Nucleo-F446RE: five links. 180 MHz from the 8 MHz that the ST-LINK feeds into the HSE pin.

use embassy_stm32::rcc::{APBPrescaler, HseMode, PllMul, PllPDiv};

super::board! {
    name: "nucleo-f446re",
    ports: {
        USART1: tx PA9 DMA2_CH7 DMA2_STREAM7, rx PA10 DMA2_CH5 DMA2_STREAM5;
        USART3: tx PB10 DMA1_CH3 DMA1_STREAM3, rx PC5 DMA1_CH1 DMA1_STREAM1;
        UART4: tx PA0 DMA1_CH4 DMA1_STREAM4, rx PA1 DMA1_CH2 DMA1_STREAM2;
        UART5: tx PC12 DMA1_CH7 DMA1_STREAM7, rx PD2 DMA1_CH0 DMA1_STREAM0;
        USART6: tx PC6 DMA2_CH6 DMA2_STREAM6, rx PC7 DMA2_CH1 DMA2_STREAM1;
        USART2: tx PA2 DMA1_CH6 DMA1_STREAM6, rx PA3 DMA1_CH5 DMA1_STREAM5;
    },
    led: PA5,
    pressed_high: false,
    watchdog: IWDG,
    buses: [90_000_000, 45_000_000],
}

pub(super) fn clocks() -> embassy_stm32::Config {
    super::family_f4::clocks(
        HseMode::Bypass,
        PllMul::MUL180,
        PllPDiv::DIV2,
        APBPrescaler::DIV4,
        APBPrescaler::DIV2,
    )
}
