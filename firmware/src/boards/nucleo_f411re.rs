//! Nucleo-F411RE: two links. 100 MHz from the 8 MHz that the ST-LINK feeds into the HSE pin.

use embassy_stm32::rcc::{APBPrescaler, HseMode, PllMul, PllPDiv};

super::board! {
    name: "nucleo-f411re",
    ports: {
        USART1: tx PA9 DMA2_CH7 DMA2_STREAM7, rx PA10 DMA2_CH5 DMA2_STREAM5;
        USART6: tx PC6 DMA2_CH6 DMA2_STREAM6, rx PC7 DMA2_CH1 DMA2_STREAM1;
        USART2: tx PA2 DMA1_CH6 DMA1_STREAM6, rx PA3 DMA1_CH5 DMA1_STREAM5;
    },
    led: PA5,
    pressed_high: false,
    watchdog: IWDG,
    buses: [100_000_000, 50_000_000],
}

pub(super) fn clocks() -> embassy_stm32::Config {
    super::family_f4::clocks(
        HseMode::Bypass,
        PllMul::MUL100,
        PllPDiv::DIV2,
        APBPrescaler::DIV2,
        APBPrescaler::DIV1,
    )
}
