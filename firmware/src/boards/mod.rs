//! The boards, one file each: clocks, pins, DMA, LED and button. `docs/firmware.md` tells how to add one.

#[cfg(any(feature = "nucleo-f401re", feature = "nucleo-f411re", feature = "nucleo-f446re"))]
mod family_f4;
#[cfg(not(any(feature = "nucleo-f401re", feature = "nucleo-f411re", feature = "nucleo-f446re")))]
mod family_newer;

#[cfg(feature = "nucleo-f401re")]
#[path = "nucleo_f401re.rs"]
mod chosen;
#[cfg(feature = "nucleo-f411re")]
#[path = "nucleo_f411re.rs"]
mod chosen;
#[cfg(feature = "nucleo-f446re")]
#[path = "nucleo_f446re.rs"]
mod chosen;
#[cfg(feature = "nucleo-g474re")]
#[path = "nucleo_g474re.rs"]
mod chosen;
#[cfg(feature = "nucleo-h743zi")]
#[path = "nucleo_h743zi.rs"]
mod chosen;
#[cfg(feature = "nucleo-l476rg")]
#[path = "nucleo_l476rg.rs"]
mod chosen;

pub(crate) use chosen::{LINKS, NAME, clocks, open};
use embassy_stm32::flash::{Blocking, Flash};
use embassy_stm32::gpio::{AfType, Flex, Input, Output, Pull};
use embassy_stm32::mode::Async;
use embassy_stm32::usart::{self, UartTx};
use embassy_stm32::wdg::IndependentWatchdog;
#[cfg(any(feature = "nucleo-f401re", feature = "nucleo-f411re", feature = "nucleo-f446re"))]
pub(crate) use family_f4::{data_register, reset_cause, take_line_idle};
#[cfg(not(any(feature = "nucleo-f401re", feature = "nucleo-f411re", feature = "nucleo-f446re")))]
pub(crate) use family_newer::{data_register, reset_cause, take_line_idle};

use crate::wire::Receiver;

/// The links to neighbours, and the one to the computer.
pub(crate) const WIRES: usize = LINKS + 1;

/// What the rest of the firmware uses of a board.
pub(crate) struct Board {
    /// The serial ports: the links in the order of their numbers, then the ST-LINK's.
    pub(crate) wires: [Wire; WIRES],
    pub(crate) led: Output<'static>,
    pub(crate) button: Input<'static>,
    /// The level of the button's pin when pressed.
    pub(crate) pressed_high: bool,
    pub(crate) watchdog: IndependentWatchdog<'static, chosen::Watchdog>,
    pub(crate) flash: Flash<'static, Blocking>,
}

/// Both directions of a serial port.
pub(crate) struct Wire {
    pub(crate) tx: UartTx<'static, Async>,
    pub(crate) rx: Receiver,
}

/// So long nothing may hang. Erasing the largest sector of the slowest flash takes up to two seconds.
pub(crate) const WATCHDOG_MICROS: u32 = 4_000_000;

/// Why a board started, by the numbers of [`Card::reset_cause`](hopwise_core::wire::Card::reset_cause).
#[derive(Clone, Copy, defmt::Format)]
#[repr(u8)]
pub(crate) enum ResetCause {
    Unknown,
    Power,
    ResetPin,
    Software,
    Watchdog,
    LowPower,
}

/// Makes a pin the input of a serial port, for good.
#[inline(never)]
fn receive_at(mut pin: Flex<'static>, function: u8) {
    // An open end shall be quiet.
    pin.set_as_af_unchecked(function, AfType::input(Pull::Up));
    core::mem::forget(pin);
}

fn uart_config(baud: u32) -> usart::Config {
    let mut config = usart::Config::default();
    config.baudrate = baud;
    config
}

/// Writes a board: its constants, its interrupts, and `open`.
///
/// ```text
/// board! {
///     name: "nucleo-f446re",
///     wires: {
///         USART1: tx PA9 DMA2_CH7 DMA2_STREAM7, rx PA10 DMA2_CH5 DMA2_STREAM5;
///         ..                                               each pin with its DMA channel and the channel's interrupt
///         USART2: tx PA2 DMA1_CH6 DMA1_STREAM6, rx PA3 DMA1_CH5 DMA1_STREAM5;      the last is the ST-LINK's
///     },
///     led: PA5,
///     pressed_high: false,
///     watchdog: IWDG,
/// }
/// ```
///
/// The button of every Nucleo board is at PC13.
macro_rules! board {
    (
        name: $name:literal,
        wires: {$(
            $uart:ident: tx $tx:ident $tx_dma:ident $tx_interrupt:ident, rx $rx:ident $rx_dma:ident $rx_interrupt:ident;
        )*},
        led: $led:ident,
        pressed_high: $pressed_high:literal,
        watchdog: $watchdog:ident,
    ) => {
        pub(crate) const NAME: &str = $name;
        pub(crate) const LINKS: usize = [$(stringify!($uart)),*].len() - 1;
        pub(crate) type Watchdog = embassy_stm32::peripherals::$watchdog;

        embassy_stm32::bind_interrupts!(struct Interrupts {
            $(
                $uart => crate::wire::LineIdle<embassy_stm32::peripherals::$uart>;
                $tx_interrupt => embassy_stm32::dma::InterruptHandler<embassy_stm32::peripherals::$tx_dma>;
                $rx_interrupt => embassy_stm32::dma::InterruptHandler<embassy_stm32::peripherals::$rx_dma>;
            )*
        });

        $(super::line!($uart);)*

        pub(crate) fn open(p: embassy_stm32::Peripherals, baud: u32) -> super::Board {
            use embassy_stm32::gpio::{Input, Level, Output, Pull, Speed};
            super::Board {
                wires: [$(super::wire!(p, baud, $uart, tx $tx $tx_dma, rx $rx $rx_dma)),*],
                led: Output::new(p.$led, Level::Low, Speed::Low),
                button: Input::new(p.PC13, Pull::None),
                pressed_high: $pressed_high,
                watchdog: embassy_stm32::wdg::IndependentWatchdog::new(p.$watchdog, super::WATCHDOG_MICROS),
                flash: embassy_stm32::flash::Flash::new_blocking(p.FLASH),
            }
        }
    };
}
use board;

/// Opens a serial port, with the board's `Interrupts`.
macro_rules! wire {
    ($p:ident, $baud:expr, $uart:ident, tx $tx:ident $tx_dma:ident, rx $rx:ident $rx_dma:ident) => {{
        static RING: static_cell::ConstStaticCell<[u8; crate::wire::RING]> =
            static_cell::ConstStaticCell::new([0; crate::wire::RING]);
        let request = embassy_stm32::usart::RxDma::<embassy_stm32::peripherals::$uart>::request(&*$p.$rx_dma);
        let channel = embassy_stm32::dma::Channel::new($p.$rx_dma, Interrupts);
        let rx_function = embassy_stm32::usart::RxPin::<embassy_stm32::peripherals::$uart>::af_num(&*$p.$rx);
        super::receive_at(embassy_stm32::gpio::Flex::new($p.$rx), rx_function);
        let uart =
            embassy_stm32::usart::UartTx::new($p.$uart, $p.$tx, $p.$tx_dma, Interrupts, super::uart_config($baud));
        // The configuration page allows only rates that every port can run at.
        let tx = defmt::unwrap!(uart.ok());
        // SAFETY: the handler is there.
        unsafe {
            <embassy_stm32::interrupt::typelevel::$uart as embassy_stm32::interrupt::typelevel::Interrupt>::enable()
        };
        let line = <embassy_stm32::peripherals::$uart as crate::wire::Line>::line();
        super::Wire {
            tx,
            rx: crate::wire::Receiver::start(line, channel, request, RING.take()),
        }
    }};
}
use wire;

/// Makes a serial port known to [`Receiver`].
macro_rules! line {
    ($uart:ident) => {
        impl crate::wire::Line for embassy_stm32::peripherals::$uart {
            fn line() -> crate::wire::LineRef {
                static WAKER: embassy_sync::waitqueue::AtomicWaker = embassy_sync::waitqueue::AtomicWaker::new();
                // SAFETY: the registers used are the same in all kinds of serial ports.
                let registers =
                    unsafe { embassy_stm32::pac::usart::Usart::from_ptr(embassy_stm32::pac::$uart.as_ptr() as *mut _) };
                crate::wire::LineRef {
                    registers,
                    waker: &WAKER,
                }
            }
        }
    };
}
use line;
