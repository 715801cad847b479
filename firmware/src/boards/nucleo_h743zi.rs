//! Nucleo-H743ZI: six links. 400 MHz from the 8 MHz that the ST-LINK feeds into the HSE pin. Any DMA stream serves any port.

use embassy_stm32::exti::{self, ExtiInput};
use embassy_stm32::flash::Flash;
use embassy_stm32::gpio::{Level, Output, Pull, Speed};
use embassy_stm32::time::Hertz;
use embassy_stm32::wdg::IndependentWatchdog;
use embassy_stm32::{Peripherals, bind_interrupts, dma, interrupt, peripherals};

use super::{Board, WATCHDOG_MICROS, lines, wire};
use crate::wire::LineIdle;

pub(crate) const NAME: &str = "nucleo-h743zi";
pub(crate) const LINKS: usize = 6;
pub(crate) type Watchdog = peripherals::IWDG1;

bind_interrupts!(struct Interrupts {
    USART2 => LineIdle<peripherals::USART2>;
    UART4 => LineIdle<peripherals::UART4>;
    UART5 => LineIdle<peripherals::UART5>;
    UART7 => LineIdle<peripherals::UART7>;
    USART6 => LineIdle<peripherals::USART6>;
    USART1 => LineIdle<peripherals::USART1>;
    USART3 => LineIdle<peripherals::USART3>;
    DMA1_STREAM0 => dma::InterruptHandler<peripherals::DMA1_CH0>;
    DMA1_STREAM1 => dma::InterruptHandler<peripherals::DMA1_CH1>;
    DMA1_STREAM2 => dma::InterruptHandler<peripherals::DMA1_CH2>;
    DMA1_STREAM3 => dma::InterruptHandler<peripherals::DMA1_CH3>;
    DMA1_STREAM4 => dma::InterruptHandler<peripherals::DMA1_CH4>;
    DMA1_STREAM5 => dma::InterruptHandler<peripherals::DMA1_CH5>;
    DMA1_STREAM6 => dma::InterruptHandler<peripherals::DMA1_CH6>;
    DMA1_STREAM7 => dma::InterruptHandler<peripherals::DMA1_CH7>;
    DMA2_STREAM0 => dma::InterruptHandler<peripherals::DMA2_CH0>;
    DMA2_STREAM1 => dma::InterruptHandler<peripherals::DMA2_CH1>;
    DMA2_STREAM2 => dma::InterruptHandler<peripherals::DMA2_CH2>;
    DMA2_STREAM3 => dma::InterruptHandler<peripherals::DMA2_CH3>;
    DMA2_STREAM4 => dma::InterruptHandler<peripherals::DMA2_CH4>;
    DMA2_STREAM5 => dma::InterruptHandler<peripherals::DMA2_CH5>;
    EXTI15_10 => exti::InterruptHandler<interrupt::typelevel::EXTI15_10>;
});

lines!(USART2, UART4, UART5, UART7, USART6, USART1, USART3);

pub(crate) fn clocks() -> embassy_stm32::Config {
    use embassy_stm32::rcc::*;
    let mut config = embassy_stm32::Config::default();
    config.rcc.hse = Some(Hse {
        freq: Hertz(8_000_000),
        mode: HseMode::Bypass,
    });
    config.rcc.pll1 = Some(Pll {
        source: PllSource::HSE,
        prediv: PllPreDiv::DIV1,
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

pub(crate) fn open(p: Peripherals, baud: u32) -> Board {
    Board {
        wires: [
            wire!(p, baud, USART2, tx PD5 DMA1_CH0, rx PD6 DMA1_CH1),
            wire!(p, baud, UART4, tx PC10 DMA1_CH2, rx PC11 DMA1_CH3),
            wire!(p, baud, UART5, tx PC12 DMA1_CH4, rx PD2 DMA1_CH5),
            wire!(p, baud, UART7, tx PE8 DMA1_CH6, rx PE7 DMA1_CH7),
            wire!(p, baud, USART6, tx PG14 DMA2_CH0, rx PG9 DMA2_CH1),
            wire!(p, baud, USART1, tx PB6 DMA2_CH2, rx PB15 DMA2_CH3),
            wire!(p, baud, USART3, tx PD8 DMA2_CH4, rx PD9 DMA2_CH5),
        ],
        led: Output::new(p.PB0, Level::Low, Speed::Low),
        button: ExtiInput::new(p.PC13, p.EXTI13, Pull::None, Interrupts),
        pressed_high: true,
        watchdog: IndependentWatchdog::new(p.IWDG1, WATCHDOG_MICROS),
        flash: Flash::new_blocking(p.FLASH),
    }
}
