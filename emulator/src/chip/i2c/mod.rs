//! I2C masters, and what can be at their wires. DMA, own addresses, ten bits and SMBus are not modeled.

mod v1;
mod v2;

use std::hash::{Hash, Hasher};

use super::peripheral::{Digest, Peripheral};
use super::pins::Pin;
use super::rules::{Rule, Violation};

/// Something at an I2C bus that answers to an address.
///
/// It must do the same whenever it is given the same: it asks the host for nothing.
pub trait I2cTarget: Digest + Send {
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
}

/// Pins that can be the wires of a port, in one alternate function.
#[derive(Clone, Copy, Debug)]
pub struct I2cPins {
    /// The alternate function.
    pub function: u32,
    /// Where the clock can be.
    pub scl: &'static [Pin],
    /// Where the data can be.
    pub sda: &'static [Pin],
}

/// Which registers a port has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Registers {
    /// Those of the F4: SR1, SR2, CCR.
    V1,
    /// Those with ISR and TIMINGR.
    V2,
}

impl Registers {
    pub(super) fn port(self) -> Box<dyn Port> {
        match self {
            Registers::V1 => Box::new(v1::I2c::new()),
            Registers::V2 => Box::new(v2::I2c::new()),
        }
    }
}

pub(super) trait Port: Peripheral {
    fn bus(&mut self) -> &mut Bus;
}

/// The wires of a port, which are pulled up outside, and what else outlives a reset of it.
#[derive(Default)]
pub(super) struct Bus {
    targets: Vec<(u8, Box<dyn I2cTarget>)>,
    addressed: Option<usize>,
    /// Whether the wires are at pins.
    pub(super) is_connected: bool,
    /// Whether the master wanted to begin while they are not.
    pub(super) is_missed: bool,
    /// Cycles of the core for one of the port.
    clock: u64,
    broken: Vec<Violation>,
}

impl Bus {
    pub(super) fn attach(&mut self, address: u8, target: Box<dyn I2cTarget>) {
        self.targets.retain(|(taken, _)| *taken != address);
        self.targets.push((address, target));
    }

    fn breaks(&mut self, how: &str) {
        self.broken.push(Violation::new(Rule::I2c, how));
    }

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
}

impl Hash for Bus {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.addressed, self.is_connected, self.targets.len()).hash(hasher);
        (self.clock, &self.broken).hash(hasher);
        for (address, target) in &self.targets {
            hasher.write_u8(*address);
            target.digest(hasher);
        }
    }
}
