//! The boards, one file each: clocks, pins, DMA, LED and button. `docs/firmware.md` tells how to add one.

#[cfg(chip_f4)]
mod family_f4;
#[cfg(not(chip_f4))]
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
#[cfg(chip_f4)]
pub(crate) use family_f4::reset_cause;
#[cfg(not(chip_f4))]
pub(crate) use family_newer::reset_cause;

use embassy_stm32::flash::{Blocking, Flash};
use embassy_stm32::gpio::{AfType, Flex, Input, Output, Pull};
use embassy_stm32::usart;
use embassy_stm32::wdg::IndependentWatchdog;

use crate::uart::SerialPort;

/// The serial ports: the links to neighbours, and the one to the computer.
pub(crate) const PORTS: usize = LINKS + 1;

/// What the rest of the firmware uses of a board.
pub(crate) struct Board {
    /// The links in the order of their numbers, then the ST-LINK's port.
    pub(crate) ports: [SerialPort; PORTS],
    pub(crate) led: Output<'static>,
    pub(crate) button: Input<'static>,
    /// The level of the button's pin when pressed.
    pub(crate) pressed_high: bool,
    pub(crate) watchdog: IndependentWatchdog<'static, chosen::Watchdog>,
    pub(crate) flash: Flash<'static, Blocking>,
}

/// A board that hangs for this long is reset. Erasing the largest sector of the slowest flash takes up to two seconds.
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
fn receive_at(mut pin: Flex<'static>, function: u8) {
    // Pulled up, so that an unplugged cable is quiet.
    pin.set_as_af_unchecked(function, AfType::input(Pull::Up));
    // Dropping it would disconnect the pin.
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
///     ports: {
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
        ports: {$(
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
                $uart => crate::uart::IdleHandler<embassy_stm32::peripherals::$uart>;
                $tx_interrupt => embassy_stm32::dma::InterruptHandler<embassy_stm32::peripherals::$tx_dma>;
                $rx_interrupt => embassy_stm32::dma::InterruptHandler<embassy_stm32::peripherals::$rx_dma>;
            )*
        });

        $(super::receives!($uart);)*

        pub(crate) fn open(p: embassy_stm32::Peripherals, baud: u32) -> super::Board {
            use embassy_stm32::gpio::{Input, Level, Output, Pull, Speed};
            super::Board {
                ports: [$(super::serial_port!(p, baud, $uart, tx $tx $tx_dma, rx $rx $rx_dma)),*],
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
macro_rules! serial_port {
    ($p:ident, $baud:expr, $uart:ident, tx $tx:ident $tx_dma:ident, rx $rx:ident $rx_dma:ident) => {{
        static RING: static_cell::ConstStaticCell<[u8; crate::uart::RING]> =
            static_cell::ConstStaticCell::new([0; crate::uart::RING]);
        let request = embassy_stm32::usart::RxDma::<embassy_stm32::peripherals::$uart>::request(&*$p.$rx_dma);
        let channel = embassy_stm32::dma::Channel::new($p.$rx_dma, Interrupts);
        let rx_function = embassy_stm32::usart::RxPin::<embassy_stm32::peripherals::$uart>::af_num(&*$p.$rx);
        super::receive_at(embassy_stm32::gpio::Flex::new($p.$rx), rx_function);
        let uart =
            embassy_stm32::usart::UartTx::new($p.$uart, $p.$tx, $p.$tx_dma, Interrupts, super::uart_config($baud));
        let tx = uart.expect("the configuration page allows only rates that every port can run at");
        // SAFETY: its handler is bound, and is ready to be called.
        unsafe {
            <embassy_stm32::interrupt::typelevel::$uart as embassy_stm32::interrupt::typelevel::Interrupt>::enable()
        };
        let parts = <embassy_stm32::peripherals::$uart as crate::uart::Receives>::parts();
        crate::uart::SerialPort {
            tx,
            rx: crate::uart::Receiver::start(parts, channel, request, RING.take()),
        }
    }};
}
use serial_port;

/// Says where the registers and the waker of a serial port are.
macro_rules! receives {
    ($uart:ident) => {
        impl crate::uart::Receives for embassy_stm32::peripherals::$uart {
            fn parts() -> crate::uart::ReceiverParts {
                static WAKER: embassy_sync::waitqueue::AtomicWaker = embassy_sync::waitqueue::AtomicWaker::new();
                // SAFETY: the registers used are the same in all kinds of serial ports.
                let registers =
                    unsafe { embassy_stm32::pac::usart::Usart::from_ptr(embassy_stm32::pac::$uart.as_ptr() as *mut _) };
                crate::uart::ReceiverParts {
                    registers,
                    waker: &WAKER,
                }
            }
        }
    };
}
use receives;
