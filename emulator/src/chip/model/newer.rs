//! What the descriptions of chips newer than the F4 have in common.

use super::super::adc::{self, Adc};
use super::super::i2c::{self, Wire};
use super::super::map::{Gate, Kind, Place};
use super::super::peripheral::Peripheral;
use super::super::rng::Rng;
use super::super::spi::{self, Spi};
use super::super::spi_h7::SpiH7;
use super::super::timer::Timer;
use super::super::usart::{Registers, Usart};
use super::super::{UART_NAMES, UARTS};

/// The serial ports of a chip, with their first addresses.
pub(super) struct Ports {
    pub(super) uarts: [Option<Box<Usart>>; UARTS],
    pub(super) addresses: [u32; UARTS],
}

/// The serial ports at some places, with FIFOs of so many bytes.
pub(super) fn ports(places: &[Place], fifo: u8) -> Ports {
    let mut ports = Ports {
        uarts: Default::default(),
        addresses: [0; UARTS],
    };
    for place in places {
        if let Kind::Uart(uart) = place.kind {
            let registers = if UART_NAMES[uart].starts_with("LP") {
                Registers::LowPower { fifo }
            } else {
                Registers::Newer { fifo }
            };
            ports.uarts[uart] = Some(Box::new(Usart::new(registers)));
            ports.addresses[uart] = place.base;
        }
    }
    ports
}

pub(super) const fn at(
    base: u32,
    name: &'static str,
    kind: Kind,
    gate: Option<Gate>,
    interrupts: &'static [usize],
) -> Place {
    Place::new(base, name, kind, gate, interrupts)
}

pub(super) const fn none(base: u32, size: u32, name: &'static str) -> Place {
    Place::unmodelled(base, size, name)
}

/// A bit of an enable register.
pub(super) const fn on(register: u32, bit: u32) -> Option<Gate> {
    Some(Gate { register, bit })
}

/// An I2C port.
pub(super) const fn i2c(wires: &'static [Wire]) -> Kind {
    Kind::I2c(i2c::Registers::Newer, wires)
}

fn wide_timer() -> Box<dyn Peripheral> {
    Box::new(Timer::new(true))
}

fn narrow_timer() -> Box<dyn Peripheral> {
    Box::new(Timer::new(false))
}

fn advanced_timer() -> Box<dyn Peripheral> {
    Box::new(Timer::advanced())
}

fn spi() -> Box<dyn Peripheral> {
    Box::new(Spi::new(spi::Kind::Newer))
}

fn spi_h7() -> Box<dyn Peripheral> {
    Box::new(SpiH7::new())
}

fn adc() -> Box<dyn Peripheral> {
    Box::new(Adc::new(adc::Kind::Newer))
}

fn rng() -> Box<dyn Peripheral> {
    Box::new(Rng::default())
}

/// Masters of the L4 and G4, and those of the H7.
pub(super) const SPI: Kind = Kind::Own(spi);
pub(super) const SPI_H7: Kind = Kind::Own(spi_h7);
pub(super) const ADC: Kind = Kind::Own(adc);
pub(super) const RNG: Kind = Kind::Own(rng);
/// Timers of 32 bits, those with two interrupts, and others of 16 bits.
pub(super) const WIDE: Kind = Kind::Timer(wide_timer);
pub(super) const ADVANCED: Kind = Kind::Timer(advanced_timer);
pub(super) const NARROW: Kind = Kind::Timer(narrow_timer);
