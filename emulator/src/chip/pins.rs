//! Which pins the cables of the serial ports are plugged into.

use super::{Model, UARTS};

/// A pin: its port, numbered from A, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pin {
    pub(super) port: usize,
    pub(super) number: u32,
}

impl std::fmt::Display for Pin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "P{}{}", char::from(b'A' + self.port as u8), self.number)
    }
}

/// The pins of a serial port, and the alternate function that connects both to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct UartPins {
    pub(super) tx: Pin,
    pub(super) rx: Pin,
    pub(super) function: u32,
}

const fn pins(tx: (u8, u32), rx: (u8, u32), function: u32) -> UartPins {
    UartPins {
        tx: Pin {
            port: (tx.0 - b'A') as usize,
            number: tx.1,
        },
        rx: Pin {
            port: (rx.0 - b'A') as usize,
            number: rx.1,
        },
        function,
    }
}

/// As a Nucleo-F446RE is wired: USART2 goes to the ST-LINK, the others are at the headers.
const F446: [UartPins; UARTS] = [
    pins((b'A', 9), (b'A', 10), 7),
    pins((b'A', 2), (b'A', 3), 7),
    pins((b'B', 10), (b'C', 5), 7),
    pins((b'A', 0), (b'A', 1), 8),
    pins((b'C', 12), (b'D', 2), 8),
    pins((b'C', 6), (b'C', 7), 8),
];

/// The same, but for the RX of USART3, which the F405 does not have at PC5.
const F405: [UartPins; UARTS] = {
    let mut wiring = F446;
    wiring[2] = pins((b'B', 10), (b'B', 11), 7);
    wiring
};

/// Where the cable of a serial port is plugged in.
pub(super) fn of(model: Model, uart: usize) -> UartPins {
    match model {
        Model::F446 => F446[uart],
        Model::F405 => F405[uart],
    }
}
