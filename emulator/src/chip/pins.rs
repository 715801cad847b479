//! Pins, what they can be to the serial ports, and where the cables are plugged in.

/// A pin: its port, numbered from A, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pin {
    /// The port, from 0 for A.
    pub port: usize,
    /// Which of its sixteen.
    pub number: u32,
}

impl Pin {
    /// The pin with a name such as `"PA10"`.
    ///
    /// # Panics
    ///
    /// If it is no such name; in a constant the compiler then says so.
    pub const fn named(name: &str) -> Self {
        let (port, number) = match *name.as_bytes() {
            [b'P', port @ b'A'..=b'K', ones @ b'0'..=b'9'] => (port, ones - b'0'),
            [b'P', port @ b'A'..=b'K', b'1', ones @ b'0'..=b'5'] => (port, 10 + ones - b'0'),
            _ => panic!("no pin has this name"),
        };
        Pin {
            port: (port - b'A') as usize,
            number: number as u32,
        }
    }
}

impl std::fmt::Display for Pin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "P{}{}", char::from(b'A' + self.port as u8), self.number)
    }
}

/// A side of a serial port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// It sends.
    Tx,
    /// It receives.
    Rx,
}

/// Pins that can be those of a serial port, in one alternate function.
#[derive(Clone, Copy, Debug)]
pub struct UartPins {
    /// The serial port, by its number in [`UART_NAMES`](super::UART_NAMES).
    pub uart: usize,
    /// The alternate function that connects them.
    pub function: u32,
    /// Where it can send.
    pub tx: &'static [Pin],
    /// Where it can receive.
    pub rx: &'static [Pin],
}

impl UartPins {
    /// Those of one side.
    pub fn side(&self, side: Side) -> &'static [Pin] {
        match side {
            Side::Tx => self.tx,
            Side::Rx => self.rx,
        }
    }
}

/// The pins at which a board has a serial port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// The serial port, by its number in [`UART_NAMES`](super::UART_NAMES).
    pub uart: usize,
    /// Where it sends.
    pub tx: Pin,
    /// Where it receives.
    pub rx: Pin,
}

impl Wiring {
    /// A serial port at two pins.
    pub const fn new(uart: usize, tx: &str, rx: &str) -> Self {
        Wiring {
            uart,
            tx: Pin::named(tx),
            rx: Pin::named(rx),
        }
    }
}

/// One side of a cable: the pin, and the alternate function that connects it to its serial port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Socket {
    pub(super) pin: Pin,
    pub(super) function: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sockets {
    pub(super) tx: Socket,
    pub(super) rx: Socket,
}

impl Sockets {
    /// Where the cable of a serial port is plugged in. `None` if there is none, or if the chip does not have the port there.
    pub(super) fn of(uart: usize, wiring: &[Wiring], functions: &[UartPins]) -> Option<Self> {
        let wiring = wiring.iter().find(|wiring| wiring.uart == uart)?;
        let socket = |side: Side, pin: Pin| {
            let mut own = functions.iter().filter(|function| function.uart == uart);
            let function = own.find(|function| function.side(side).contains(&pin))?.function;
            Some(Socket { pin, function })
        };
        Some(Sockets {
            tx: socket(Side::Tx, wiring.tx)?,
            rx: socket(Side::Rx, wiring.rx)?,
        })
    }
}
