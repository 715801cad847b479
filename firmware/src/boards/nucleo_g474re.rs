//! Nucleo-G474RE: five links. 170 MHz from the board's own crystal of 24 MHz. Any DMA channel serves any port.

use embassy_stm32::pac;
use embassy_stm32::rcc::*;
use embassy_stm32::time::Hertz;

/// PWR_CR5: voltage range 1 without the boost.
const R1MODE: u32 = 1 << 8;

super::board! {
    name: "nucleo-g474re",
    ports: {
        USART1: tx PC4 DMA1_CH1 DMA1_CHANNEL1, rx PC5 DMA1_CH2 DMA1_CHANNEL2;
        USART2: tx PB3 DMA1_CH3 DMA1_CHANNEL3, rx PB4 DMA1_CH4 DMA1_CHANNEL4;
        USART3: tx PB10 DMA1_CH5 DMA1_CHANNEL5, rx PB11 DMA1_CH6 DMA1_CHANNEL6;
        UART4: tx PC10 DMA2_CH1 DMA2_CHANNEL1, rx PC11 DMA2_CH2 DMA2_CHANNEL2;
        UART5: tx PC12 DMA2_CH3 DMA2_CHANNEL3, rx PD2 DMA2_CH4 DMA2_CHANNEL4;
        LPUART1: tx PA2 DMA2_CH5 DMA2_CHANNEL5, rx PA3 DMA2_CH6 DMA2_CHANNEL6;
    },
    led: PA5,
    pressed_high: true,
    watchdog: IWDG,
    buses: [170_000_000],
}

/// 170 MHz needs the boost mode. embassy divides and waits as it should, but does not get it: stm32-metapac 21 has R1MODE at bit 0 of PWR_CR5,
/// RM0440 at 8. And it resets the PWR when it begins, so it begins with its own 16 MHz.
pub(super) fn start() -> embassy_stm32::Peripherals {
    let mut config = clocks();
    let clocks = core::mem::take(&mut config.rcc);
    let mut peripherals = embassy_stm32::init(config);
    pac::PWR.cr5().modify(|w| w.0 &= !R1MODE);
    reinit(clocks, &mut peripherals.RCC);
    peripherals
}

fn clocks() -> embassy_stm32::Config {
    let mut config = embassy_stm32::Config::default();
    let external = super::hse_runs(false);
    config.rcc.hsi = !external;
    config.rcc.hse = external.then_some(Hse {
        freq: Hertz(24_000_000),
        mode: HseMode::Oscillator,
    });
    config.rcc.pll = Some(Pll {
        source: if external { PllSource::HSE } else { PllSource::HSI },
        // 24 or 16 MHz to 4.
        prediv: if external { PllPreDiv::DIV6 } else { PllPreDiv::DIV4 },
        mul: PllMul::MUL85,
        divp: None,
        divq: None,
        divr: Some(PllRDiv::DIV2),
    });
    config.rcc.sys = Sysclk::PLL1_R;
    config.rcc.boost = true;
    config
}
