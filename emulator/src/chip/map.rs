//! Where the peripherals of a chip are, and how they hang together with the rest of it.

use super::exti;
use super::i2c::{I2cPins, Registers};
use super::peripheral::Peripheral;
use super::rtc;

/// Serial ports of all chips together; each has some of them.
pub const UARTS: usize = 9;
/// Their names, in the order in which they are numbered here.
pub const UART_NAMES: [&str; UARTS] = [
    "USART1", "USART2", "USART3", "UART4", "UART5", "USART6", "UART7", "UART8", "LPUART1",
];

/// Everything that DMA serves: serial ports, and from there on what comes after them.
pub(super) const PORTS: usize = UARTS + 5;
/// The names of the others.
const OTHER_PORTS: [&str; PORTS - UARTS] = ["SPI1", "SPI2", "SPI3", "SPI4", "CORDIC"];

/// The number of what DMA serves.
pub(super) fn port_named(name: &str) -> Option<usize> {
    UART_NAMES.iter().chain(&OTHER_PORTS).position(|port| *port == name)
}

/// What is at a place.
#[expect(missing_docs, reason = "the names say what they are")]
#[derive(Clone, Copy)]
pub enum Kind {
    Rcc,
    Pwr,
    Flash,
    /// A port of pins, numbered from A.
    Gpio(usize),
    Exti(exti::Layout),
    Syscfg,
    /// A serial port, by its number in [`UART_NAMES`].
    Uart(usize),
    /// A DMA controller, from 0, or the multiplexer after them.
    Dma(usize),
    Rtc(rtc::Layout),
    /// An I2C port: its registers, and the pins that can be its wires.
    I2c(Registers, &'static [I2cPins]),
    Iwdg,
    Dbgmcu,
    /// A timer: what makes one. Many run faster than the other peripherals on their bus.
    Timer(fn() -> Box<dyn Peripheral>),
    /// Anything else: what makes one.
    Own(fn() -> Box<dyn Peripheral>),
    /// Something that there is no model of: it reads as zero, and its use is told.
    Unmodeled,
}

/// The bit that lets the clock of a peripheral run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gate {
    /// Offset of the enable register in the RCC.
    pub register: u32,
    /// The bit in it. The one in the register for resets is the same.
    pub bit: u32,
}

/// A peripheral with its addresses, its clock and its interrupts.
#[expect(missing_docs, reason = "the names say what they are")]
#[derive(Clone, Copy)]
pub struct MapEntry {
    pub base: u32,
    pub size: u32,
    pub name: &'static str,
    pub kind: Kind,
    /// `None` if its clock is always on.
    pub gate: Option<Gate>,
    pub interrupts: &'static [usize],
}

impl MapEntry {
    /// A place of 1 KiB, as most are.
    pub const fn new(
        base: u32,
        name: &'static str,
        kind: Kind,
        gate: Option<Gate>,
        interrupts: &'static [usize],
    ) -> Self {
        MapEntry {
            base,
            size: 0x400,
            name,
            kind,
            gate,
            interrupts,
        }
    }

    /// Its registers and pins, if it is an I2C port.
    pub(super) fn i2c(&self) -> Option<(Registers, &'static [I2cPins])> {
        match self.kind {
            Kind::I2c(registers, pins) => Some((registers, pins)),
            _ => None,
        }
    }

    /// Something that there is no model of.
    pub const fn unmodeled(base: u32, size: u32, name: &'static str) -> Self {
        MapEntry {
            base,
            size,
            name,
            kind: Kind::Unmodeled,
            gate: None,
            interrupts: &[],
        }
    }
}
