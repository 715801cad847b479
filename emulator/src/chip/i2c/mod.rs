//! I2C masters, and what can be at their wires. DMA, own addresses, ten bits and SMBus are not modelled.

mod newer;
mod older;
#[cfg(test)]
mod tests;

use std::hash::{Hash, Hasher};

use super::Chip;
use super::peripheral::Peripheral;
use super::pins::Pin;
use super::rules::Rule;

/// Something at an I2C bus that answers to an address.
///
/// It must do the same whenever it is given the same: it asks the host for nothing.
pub trait I2cTarget: Send {
    /// The master has called its address, to read from it or to write. Says whether it acknowledges.
    fn begin(&mut self, _reads: bool) -> bool {
        true
    }

    /// The master has written a byte. Says whether it acknowledges.
    fn write(&mut self, byte: u8) -> bool;

    /// The master reads a byte.
    fn read(&mut self) -> u8;

    /// The transfer has ended with a stop.
    fn end(&mut self) {}

    /// Feeds its state to a hash, as [`Peripheral::digest`] does.
    fn digest(&self, hasher: &mut dyn Hasher);
}

/// A memory of up to 256 bytes: what is written first is a place, what follows goes there, and reading goes on from there.
///
/// ```
/// use hopwise_emulator::chip::i2c::{I2cMemory, I2cTarget};
///
/// let mut memory = I2cMemory::new(256);
/// for byte in [0x10, 1, 2] {
///     assert!(memory.write(byte));
/// }
/// memory.end();
/// memory.begin(false);
/// memory.write(0x11);
/// memory.begin(true);
/// assert_eq!(memory.read(), 2);
/// ```
#[derive(Clone, Debug, Hash)]
pub struct I2cMemory {
    bytes: Vec<u8>,
    place: usize,
    /// Whether the place has been written in this transfer.
    has_place: bool,
}

impl I2cMemory {
    /// A memory of so many bytes, at least 1 and at most 256, all zero.
    pub fn new(size: usize) -> Self {
        I2cMemory {
            bytes: vec![0; size.clamp(1, 256)],
            place: 0,
            has_place: false,
        }
    }

    /// The same with other contents, from the first byte on.
    pub fn with(mut self, contents: &[u8]) -> Self {
        for (byte, content) in self.bytes.iter_mut().zip(contents) {
            *byte = *content;
        }
        self
    }

    /// What it holds.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn step(&mut self) {
        self.place = (self.place + 1) % self.bytes.len();
    }
}

impl I2cTarget for I2cMemory {
    fn begin(&mut self, _reads: bool) -> bool {
        self.has_place = false;
        true
    }

    /// A place beyond its end is not acknowledged.
    fn write(&mut self, byte: u8) -> bool {
        if self.has_place {
            self.bytes[self.place] = byte;
            self.step();
            return true;
        }
        self.has_place = usize::from(byte) < self.bytes.len();
        if self.has_place {
            self.place = byte.into();
        }
        self.has_place
    }

    fn read(&mut self) -> u8 {
        let byte = self.bytes[self.place];
        self.step();
        byte
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

/// Which of the two wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// The clock.
    Scl,
    /// The data.
    Sda,
}

/// A pin that can be a wire of a port, in an alternate function.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// Which wire.
    pub line: Line,
    /// The pin.
    pub pin: Pin,
    /// The alternate function.
    pub function: u32,
}

impl Wire {
    /// A clock.
    pub const fn scl(pin: &str, function: u32) -> Self {
        Wire {
            line: Line::Scl,
            pin: Pin::named(pin),
            function,
        }
    }

    /// Data.
    pub const fn sda(pin: &str, function: u32) -> Self {
        Wire {
            line: Line::Sda,
            ..Wire::scl(pin, function)
        }
    }
}

/// Which registers a port has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Registers {
    /// Those of the F4: SR1, SR2, CCR.
    Older,
    /// Those with ISR and TIMINGR.
    Newer,
}

impl Registers {
    pub(super) fn port(self) -> Box<dyn Port> {
        match self {
            Registers::Older => Box::new(older::I2c::new()),
            Registers::Newer => Box::new(newer::I2c::new()),
        }
    }
}

/// An I2C port.
pub(super) trait Port: Peripheral {
    /// What is at its wires.
    fn bus(&mut self) -> &mut Bus;
}

/// The wires of a port. They are pulled up outside.
#[derive(Default)]
pub(super) struct Bus {
    targets: Vec<(u8, Box<dyn I2cTarget>)>,
    /// The target that has acknowledged its address.
    addressed: Option<usize>,
    /// Whether the wires are at pins.
    is_connected: bool,
    /// Whether the master wanted to begin while they are not.
    is_missed: bool,
}

impl Bus {
    fn attach(&mut self, address: u8, target: Box<dyn I2cTarget>) {
        self.targets.retain(|(taken, _)| *taken != address);
        self.targets.push((address, target));
    }

    /// Whether a transfer can begin.
    fn can_begin(&mut self) -> bool {
        self.is_missed |= !self.is_connected;
        self.is_connected
    }

    /// An address with the direction in its lowest bit. Says whether it was acknowledged.
    fn address(&mut self, byte: u8) -> bool {
        let found = self.targets.iter().position(|(address, _)| *address == byte >> 1);
        self.addressed = found.filter(|target| self.targets[*target].1.begin(byte & 1 != 0));
        self.addressed.is_some()
    }

    fn target(&mut self) -> Option<&mut dyn I2cTarget> {
        let (_, target) = self.targets.get_mut(self.addressed?)?;
        Some(&mut **target)
    }

    fn write(&mut self, byte: u8) -> bool {
        self.target().is_some_and(|target| target.write(byte))
    }

    fn read(&mut self) -> u8 {
        self.target().map_or(0xff, |target| target.read())
    }

    fn stop(&mut self) {
        if let Some(target) = self.target() {
            target.end();
        }
        self.addressed = None;
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        (self.addressed, self.is_connected, self.targets.len()).hash(&mut hasher);
        for (address, target) in &self.targets {
            hasher.write_u8(*address);
            target.digest(hasher);
        }
    }
}

impl Chip {
    /// Puts something at the wires of an I2C port, with an address of 7 bits. Says whether the chip has the port.
    pub fn attach_i2c(&mut self, port: &str, address: u8, target: Box<dyn I2cTarget>) -> bool {
        let ports = self.description.places.iter().filter(|place| place.i2c().is_some());
        let Some(number) = ports.clone().position(|place| place.name == port) else {
            return false;
        };
        self.i2c[number].bus().attach(address, target);
        true
    }

    /// A port has its wires if a pin for each is in its alternate function, and open drain. Before it is written.
    pub(super) fn connect_i2c(&mut self, at: usize, number: usize) {
        let Some((_, wires)) = self.slots.place(at).i2c() else {
            return;
        };
        let has = |line: Line| {
            wires.iter().any(|wire| {
                let gpio = self.gpio.get(wire.pin.port);
                wire.line == line
                    && gpio.is_some_and(|gpio| {
                        gpio.alternate_function(wire.pin.number) == Some(wire.function)
                            && gpio.is_open_drain(wire.pin.number)
                    })
            })
        };
        self.i2c[number].bus().is_connected = has(Line::Scl) && has(Line::Sda);
    }

    /// Whether it was used without them.
    pub(super) fn judge_i2c(&mut self, at: usize, number: usize) {
        if std::mem::take(&mut self.i2c[number].bus().is_missed) {
            let name = self.slots.place(at).name;
            self.violate(
                Rule::Pins,
                format!("{name} begins a transfer, but no two pins are its clock and its data, open drain"),
            );
        }
    }
}
