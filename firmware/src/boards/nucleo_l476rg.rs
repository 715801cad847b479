//! Nucleo-L476RG: five links. 80 MHz from the 8 MHz that the ST-LINK feeds into the HSE pin.

use embassy_stm32::exti::{self, ExtiInput};
use embassy_stm32::flash::Flash;
use embassy_stm32::gpio::{Level, Output, Pull, Speed};
use embassy_stm32::time::Hertz;
use embassy_stm32::wdg::IndependentWatchdog;
use embassy_stm32::{Peripherals, bind_interrupts, dma, interrupt, peripherals};

use super::{Board, WATCHDOG_MICROS, lines, wire};
use crate::wire::LineIdle;

pub(crate) const NAME: &str = "nucleo-l476rg";
pub(crate) const LINKS: usize = 5;
pub(crate) type Watchdog = peripherals::IWDG;

bind_interrupts!(struct Interrupts {
    USART1 => LineIdle<peripherals::USART1>;
    USART3 => LineIdle<peripherals::USART3>;
    UART4 => LineIdle<peripherals::UART4>;
    UART5 => LineIdle<peripherals::UART5>;
    LPUART1 => LineIdle<peripherals::LPUART1>;
    USART2 => LineIdle<peripherals::USART2>;
    DMA1_CHANNEL2 => dma::InterruptHandler<peripherals::DMA1_CH2>;
    DMA1_CHANNEL3 => dma::InterruptHandler<peripherals::DMA1_CH3>;
    DMA1_CHANNEL4 => dma::InterruptHandler<peripherals::DMA1_CH4>;
    DMA1_CHANNEL5 => dma::InterruptHandler<peripherals::DMA1_CH5>;
    DMA1_CHANNEL6 => dma::InterruptHandler<peripherals::DMA1_CH6>;
    DMA1_CHANNEL7 => dma::InterruptHandler<peripherals::DMA1_CH7>;
    DMA2_CHANNEL1 => dma::InterruptHandler<peripherals::DMA2_CH1>;
    DMA2_CHANNEL2 => dma::InterruptHandler<peripherals::DMA2_CH2>;
    DMA2_CHANNEL3 => dma::InterruptHandler<peripherals::DMA2_CH3>;
    DMA2_CHANNEL5 => dma::InterruptHandler<peripherals::DMA2_CH5>;
    DMA2_CHANNEL6 => dma::InterruptHandler<peripherals::DMA2_CH6>;
    DMA2_CHANNEL7 => dma::InterruptHandler<peripherals::DMA2_CH7>;
    EXTI15_10 => exti::InterruptHandler<interrupt::typelevel::EXTI15_10>;
});

lines!(USART1, USART3, UART4, UART5, LPUART1, USART2);

pub(crate) fn clocks() -> embassy_stm32::Config {
    use embassy_stm32::rcc::*;
    let mut config = embassy_stm32::Config::default();
    config.rcc.hse = Some(Hse {
        freq: Hertz(8_000_000),
        mode: HseMode::Bypass,
    });
    config.rcc.pll = Some(Pll {
        source: PllSource::HSE,
        prediv: PllPreDiv::DIV1,
        mul: PllMul::MUL20,
        divp: None,
        divq: None,
        divr: Some(PllRDiv::DIV2),
    });
    config.rcc.sys = Sysclk::PLL1_R;
    config
}

pub(crate) fn open(p: Peripherals, baud: u32) -> Board {
    Board {
        wires: [
            wire!(p, baud, USART1, tx PA9 DMA1_CH4, rx PA10 DMA1_CH5),
            wire!(p, baud, USART3, tx PC4 DMA1_CH2, rx PC5 DMA1_CH3),
            wire!(p, baud, UART4, tx PA0 DMA2_CH3, rx PA1 DMA2_CH5),
            wire!(p, baud, UART5, tx PC12 DMA2_CH1, rx PD2 DMA2_CH2),
            wire!(p, baud, LPUART1, tx PC1 DMA2_CH6, rx PC0 DMA2_CH7),
            wire!(p, baud, USART2, tx PA2 DMA1_CH7, rx PA3 DMA1_CH6),
        ],
        led: Output::new(p.PA5, Level::Low, Speed::Low),
        button: ExtiInput::new(p.PC13, p.EXTI13, Pull::None, Interrupts),
        pressed_high: false,
        watchdog: IndependentWatchdog::new(p.IWDG, WATCHDOG_MICROS),
        flash: Flash::new_blocking(p.FLASH),
    }
}
