//! What every peripheral is: registers, a time at which something happens next, interrupt lines.

use std::hash::{Hash, Hasher};

use super::rules::Violation;
use crate::cpu::{Cycles, NEVER};

/// What can be part of a hash of all state that decides what a board will do: boards that do the same have the same hash. Whatever is [`Hash`] has it.
pub trait Digest {
    /// Feeds the state to a hash.
    fn digest(&self, hasher: &mut dyn Hasher);
}

impl<T: Hash> Digest for T {
    fn digest(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

/// Registers on a bus. Offsets are those of the reference manual, from the beginning of the peripheral; accesses are whole
/// words. Time is counted in cycles of the core.
///
/// A peripheral that only answers needs `write`, and `rest`, or `read` where that is more. One that does something by itself also says when
/// (`next_event`), is called then (`advance`), and requests its interrupts (`interrupts`).
///
/// It must do the same whenever it is given the same: it asks the host for nothing. With `#[derive(Hash)]` it is part of the hash of its board.
pub trait Peripheral: Digest + Send {
    /// Reads a register, with what reading does to it. `advance` has been called with this time.
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        self.rest(offset)
    }

    /// Writes a register. `advance` has been called with this time.
    fn write(&mut self, offset: u32, value: u32, now: Cycles);

    /// What a register holds besides the bytes that are written, when a store is narrower than the register.
    fn rest(&self, _offset: u32) -> u32 {
        0
    }

    /// Does all that is due up to `now`.
    fn advance(&mut self, _now: Cycles) {}

    /// When something is due next. It is asked again after every access and every `advance`.
    fn next_event(&self) -> Cycles {
        NEVER
    }

    /// The interrupts that it requests, one bit for each in the order in which its [`MapEntry`](super::map::MapEntry) lists them.
    fn interrupts(&self) -> u32 {
        0
    }

    /// Whether DMA is asked to read its data, and to write it.
    fn dma_requests(&self) -> [bool; 2] {
        [false; 2]
    }

    /// The offsets at which DMA reads its data, and writes it.
    fn dma_registers(&self) -> [u32; 2] {
        [0; 2]
    }

    /// What is at the pin at which it receives, if it is an SPI port.
    fn set_input(&mut self, _input: Input) {}

    /// The levels that it puts out at PA4 and PA5, of 4096, if it is a DAC.
    fn analog_outputs(&self) -> Option<[Option<u32>; 2]> {
        None
    }

    /// The level at an input, if it is an ADC: that of a pin which a DAC drives.
    fn set_analog(&mut self, _channel: usize, _level: Option<u32>) {}

    /// Registers go back to what they are after a reset of the chip, or of this peripheral by the RCC.
    fn reset(&mut self, _now: Cycles) {}

    /// Its clock has changed: from `now` on one cycle of it takes so many of the core.
    fn set_clock(&mut self, _cycles: u64, _now: Cycles) {}

    /// A mode in use that the model does not have: it is told once, as something that is not modeled.
    fn beyond_model(&self) -> Option<&'static str> {
        None
    }

    /// The rules that software has broken since the last call.
    fn take_broken(&mut self) -> Vec<Violation> {
        Vec::new()
    }
}

/// What an SPI port receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The same level all the time.
    Level(bool),
    /// What it sends itself.
    Own,
}

impl Input {
    /// The frame that is received while another is sent, of so many bits.
    pub(super) fn frame(self, sent: u32, bits: u32) -> u32 {
        let ones = u32::MAX >> (32 - bits);
        match self {
            Input::Level(true) => ones,
            Input::Level(false) => 0,
            Input::Own => sent & ones,
        }
    }
}

/// A register by its offset, of a peripheral that only keeps it; 0 if there is none.
pub(super) fn load(registers: &[u32], offset: u32) -> u32 {
    registers.get(offset as usize / 4).copied().unwrap_or(0)
}

/// Writes a register by its offset, if there is one.
pub(super) fn store(registers: &mut [u32], offset: u32, value: u32) {
    if let Some(register) = registers.get_mut(offset as usize / 4) {
        *register = value;
    }
}

/// Why the chip was reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetCause {
    /// It was powered.
    PowerOn,
    /// The reset pin was pulled.
    Pin,
    /// Software has asked for it.
    Software,
    /// The watchdog has run out.
    Watchdog,
}
