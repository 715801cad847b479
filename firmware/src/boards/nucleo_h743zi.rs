//! Nucleo-H743ZI: six links. 400 MHz from the 8 MHz that the ST-LINK feeds into the HSE pin. Any DMA stream serves any port.

use embassy_stm32::rcc::*;
use embassy_stm32::time::Hertz;

super::board! {
    name: "nucleo-h743zi",
    ports: {
        USART2: tx PD5 DMA1_CH0 DMA1_STREAM0, rx PD6 DMA1_CH1 DMA1_STREAM1;
        UART4: tx PC10 DMA1_CH2 DMA1_STREAM2, rx PC11 DMA1_CH3 DMA1_STREAM3;
        UART5: tx PC12 DMA1_CH4 DMA1_STREAM4, rx PD2 DMA1_CH5 DMA1_STREAM5;
        UART7: tx PE8 DMA1_CH6 DMA1_STREAM6, rx PE7 DMA1_CH7 DMA1_STREAM7;
        USART6: tx PG14 DMA2_CH0 DMA2_STREAM0, rx PG9 DMA2_CH1 DMA2_STREAM1;
        USART1: tx PB6 DMA2_CH2 DMA2_STREAM2, rx PB15 DMA2_CH3 DMA2_STREAM3;
        USART3: tx PD8 DMA2_CH4 DMA2_STREAM4, rx PD9 DMA2_CH5 DMA2_STREAM5;
    },
    led: PB0,
    pressed_high: true,
    watchdog: IWDG1,
    buses: [100_000_000],
}

pub(super) fn clocks() -> embassy_stm32::Config {
    let mut config = embassy_stm32::Config::default();
    let external = super::hse_runs(true);
    config.rcc.hse = external.then_some(Hse {
        freq: Hertz(8_000_000),
        mode: HseMode::Bypass,
    });
    config.rcc.pll1 = Some(Pll {
        source: if external { PllSource::HSE } else { PllSource::HSI },
        // 8 or 64 MHz to 8.
        prediv: if external { PllPreDiv::DIV1 } else { PllPreDiv::DIV8 },
        mul: PllMul::MUL100,
        fracn: None,
        divp: Some(PllDiv::DIV2),
        divq: None,
        divr: None,
    });
    config.rcc.sys = Sysclk::PLL1_P;
    config.rcc.ahb_pre = AHBPrescaler::DIV2;
    config.rcc.apb1_pre = APBPrescaler::DIV2;
    config.rcc.apb2_pre = APBPrescaler::DIV2;
    config.rcc.apb3_pre = APBPrescaler::DIV2;
    config.rcc.apb4_pre = APBPrescaler::DIV2;
    config.rcc.voltage_scale = VoltageScale::Scale1;
    config
}
