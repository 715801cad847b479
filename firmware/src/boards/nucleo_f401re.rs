//! Nucleo-F401RE: two links. 84 MHz from the 8 MHz that the ST-LINK feeds into the HSE pin.

use embassy_stm32::exti::{self, ExtiInput};
use embassy_stm32::flash::Flash;
use embassy_stm32::gpio::{Level, Output, Pull, Speed};
use embassy_stm32::time::Hertz;
use embassy_stm32::wdg::IndependentWatchdog;
use embassy_stm32::{Peripherals, bind_interrupts, dma, interrupt, peripherals};

use super::{Board, WATCHDOG_MICROS, lines, wire};
use crate::wire::LineIdle;

pub(crate) const NAME: &str = "nucleo-f401re";
pub(crate) const LINKS: usize = 2;
pub(crate) type Watchdog = peripherals::IWDG;

bind_interrupts!(struct Interrupts {
    USART1 => LineIdle<peripherals::USART1>;
    USART6 => LineIdle<peripherals::USART6>;
    USART2 => LineIdle<peripherals::USART2>;
    DMA1_STREAM5 => dma::InterruptHandler<peripherals::DMA1_CH5>;
    DMA1_STREAM6 => dma::InterruptHandler<peripherals::DMA1_CH6>;
    DMA2_STREAM1 => dma::InterruptHandler<peripherals::DMA2_CH1>;
    DMA2_STREAM5 => dma::InterruptHandler<peripherals::DMA2_CH5>;
    DMA2_STREAM6 => dma::InterruptHandler<peripherals::DMA2_CH6>;
    DMA2_STREAM7 => dma::InterruptHandler<peripherals::DMA2_CH7>;
    EXTI15_10 => exti::InterruptHandler<interrupt::typelevel::EXTI15_10>;
});

lines!(USART1, USART6, USART2);

pub(crate) fn clocks() -> embassy_stm32::Config {
    use embassy_stm32::rcc::*;
    let mut config = embassy_stm32::Config::default();
    config.rcc.hse = Some(Hse {
        freq: Hertz(8_000_000),
        mode: HseMode::Bypass,
    });
    config.rcc.pll_src = PllSource::HSE;
    config.rcc.pll = Some(Pll {
        prediv: PllPreDiv::DIV4,
        mul: PllMul::MUL168,
        divp: Some(PllPDiv::DIV4),
        divq: None,
        divr: None,
    });
    config.rcc.ahb_pre = AHBPrescaler::DIV1;
    config.rcc.apb1_pre = APBPrescaler::DIV2;
    config.rcc.apb2_pre = APBPrescaler::DIV1;
    config.rcc.sys = Sysclk::PLL1_P;
    config
}

pub(crate) fn open(p: Peripherals, baud: u32) -> Board {
    Board {
        wires: [
            wire!(p, baud, USART1, tx PA9 DMA2_CH7, rx PA10 DMA2_CH5),
            wire!(p, baud, USART6, tx PC6 DMA2_CH6, rx PC7 DMA2_CH1),
            wire!(p, baud, USART2, tx PA2 DMA1_CH6, rx PA3 DMA1_CH5),
        ],
        led: Output::new(p.PA5, Level::Low, Speed::Low),
        button: ExtiInput::new(p.PC13, p.EXTI13, Pull::None, Interrupts),
        pressed_high: false,
        watchdog: IndependentWatchdog::new(p.IWDG, WATCHDOG_MICROS),
        flash: Flash::new_blocking(p.FLASH),
    }
}
