//! Nucleo-G474RE: five links. 170 MHz from the board's own crystal of 24 MHz. Any DMA channel serves any port.

use embassy_stm32::exti::{self, ExtiInput};
use embassy_stm32::flash::Flash;
use embassy_stm32::gpio::{Level, Output, Pull, Speed};
use embassy_stm32::time::Hertz;
use embassy_stm32::wdg::IndependentWatchdog;
use embassy_stm32::{Peripherals, bind_interrupts, dma, interrupt, peripherals};

use super::{Board, WATCHDOG_MICROS, lines, wire};
use crate::wire::LineIdle;

pub(crate) const NAME: &str = "nucleo-g474re";
pub(crate) const LINKS: usize = 5;
pub(crate) type Watchdog = peripherals::IWDG;

bind_interrupts!(struct Interrupts {
    USART1 => LineIdle<peripherals::USART1>;
    USART2 => LineIdle<peripherals::USART2>;
    USART3 => LineIdle<peripherals::USART3>;
    UART4 => LineIdle<peripherals::UART4>;
    UART5 => LineIdle<peripherals::UART5>;
    LPUART1 => LineIdle<peripherals::LPUART1>;
    DMA1_CHANNEL1 => dma::InterruptHandler<peripherals::DMA1_CH1>;
    DMA1_CHANNEL2 => dma::InterruptHandler<peripherals::DMA1_CH2>;
    DMA1_CHANNEL3 => dma::InterruptHandler<peripherals::DMA1_CH3>;
    DMA1_CHANNEL4 => dma::InterruptHandler<peripherals::DMA1_CH4>;
    DMA1_CHANNEL5 => dma::InterruptHandler<peripherals::DMA1_CH5>;
    DMA1_CHANNEL6 => dma::InterruptHandler<peripherals::DMA1_CH6>;
    DMA2_CHANNEL1 => dma::InterruptHandler<peripherals::DMA2_CH1>;
    DMA2_CHANNEL2 => dma::InterruptHandler<peripherals::DMA2_CH2>;
    DMA2_CHANNEL3 => dma::InterruptHandler<peripherals::DMA2_CH3>;
    DMA2_CHANNEL4 => dma::InterruptHandler<peripherals::DMA2_CH4>;
    DMA2_CHANNEL5 => dma::InterruptHandler<peripherals::DMA2_CH5>;
    DMA2_CHANNEL6 => dma::InterruptHandler<peripherals::DMA2_CH6>;
    EXTI15_10 => exti::InterruptHandler<interrupt::typelevel::EXTI15_10>;
});

lines!(USART1, USART2, USART3, UART4, UART5, LPUART1);

pub(crate) fn clocks() -> embassy_stm32::Config {
    use embassy_stm32::rcc::*;
    let mut config = embassy_stm32::Config::default();
    config.rcc.hse = Some(Hse {
        freq: Hertz(24_000_000),
        mode: HseMode::Oscillator,
    });
    config.rcc.pll = Some(Pll {
        source: PllSource::HSE,
        prediv: PllPreDiv::DIV6,
        mul: PllMul::MUL85,
        divp: None,
        divq: None,
        divr: Some(PllRDiv::DIV2),
    });
    config.rcc.sys = Sysclk::PLL1_R;
    config.rcc.boost = true;
    config
}

pub(crate) fn open(p: Peripherals, baud: u32) -> Board {
    Board {
        wires: [
            wire!(p, baud, USART1, tx PC4 DMA1_CH1, rx PC5 DMA1_CH2),
            wire!(p, baud, USART2, tx PB3 DMA1_CH3, rx PB4 DMA1_CH4),
            wire!(p, baud, USART3, tx PB10 DMA1_CH5, rx PB11 DMA1_CH6),
            wire!(p, baud, UART4, tx PC10 DMA2_CH1, rx PC11 DMA2_CH2),
            wire!(p, baud, UART5, tx PC12 DMA2_CH3, rx PD2 DMA2_CH4),
            wire!(p, baud, LPUART1, tx PA2 DMA2_CH5, rx PA3 DMA2_CH6),
        ],
        led: Output::new(p.PA5, Level::Low, Speed::Low),
        button: ExtiInput::new(p.PC13, p.EXTI13, Pull::None, Interrupts),
        pressed_high: true,
        watchdog: IndependentWatchdog::new(p.IWDG, WATCHDOG_MICROS),
        flash: Flash::new_blocking(p.FLASH),
    }
}
