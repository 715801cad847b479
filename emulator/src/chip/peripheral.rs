//! What a chip is made of: the traits that its parts implement.
//!
//! Most parts are a [`Peripheral`] and no more: registers, a time at which something happens next, interrupt lines. A few
//! act on others, and have a trait of their own that says how: [`ClockControl`], [`PowerControl`], [`FlashControl`],
//! [`DmaControl`]; serial ports are [`Usart`]s. A family of chips gives one of each ([`Parts`]); [`Chip`](super::Chip) joins them.

use std::hash::Hasher;
use std::ops::Range;

use super::UARTS;
use super::backup::BackupDomain;
use super::clocks::{Clocks, Limits, Pll};
use super::map::{Gate, Place};
use super::rules::Violation;
use super::usart::Usart;
use crate::cpu::{Cycles, NEVER};
use crate::memory::Memory;

/// Registers on a bus. Offsets are those of the reference manual, from the beginning of the peripheral; accesses are whole
/// words. Time is counted in cycles of the core.
///
/// A peripheral that only answers needs `read` and `write`. One that does something by itself also says when
/// (`next_event`), is called then (`advance`), and requests its interrupts (`interrupts`).
///
/// It must do the same whenever it is given the same: it asks the host for nothing.
pub trait Peripheral: Send {
    /// Reads a register, with what reading does to it. `advance` has been called with this time.
    fn read(&mut self, offset: u32, now: Cycles) -> u32;

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

    /// The interrupts that it requests, one bit for each in the order in which its [`Place`] lists them.
    fn interrupts(&self) -> u32 {
        0
    }

    /// Registers go back to what they are after a reset of the chip, or of this peripheral by the RCC.
    fn reset(&mut self, _now: Cycles) {}

    /// Its clock has changed: from `now` on one cycle of it takes so many of the core.
    fn set_clock(&mut self, _cycles: u64, _now: Cycles) {}

    /// A mode in use that the model does not have: it is told once, as something that is not modelled.
    fn beyond_model(&self) -> Option<&'static str> {
        None
    }

    /// The rules that software has broken since the last call.
    fn take_broken(&mut self) -> Vec<Violation> {
        Vec::new()
    }

    /// Feeds all state that decides what it will do to a hash: boards that do the same have the same hash. With
    /// `#[derive(Hash)]`, `self.hash(&mut hasher)` is all there is to it.
    fn digest(&self, hasher: &mut dyn Hasher);
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

/// Reset and clock control, the RCC.
pub trait ClockControl: Peripheral {
    /// The chip is reset; flags that survive it stay.
    fn reset_by(&mut self, cause: ResetCause);

    /// The frequencies that the registers come to.
    fn clocks(&self) -> Clocks;

    /// Cycles of the core for one cycle of the clock that a peripheral runs with.
    fn cycles_of(&self, place: &Place) -> u64;

    /// Whether a clock is on.
    fn is_on(&self, gate: Gate) -> bool;

    /// The gates whose peripherals software has reset since the last call.
    fn take_resets(&mut self) -> Vec<Gate>;

    /// The state of the backup domain.
    fn backup_domain(&self) -> BackupDomain;

    /// The offset of BDCR, which belongs to it.
    fn backup_register(&self) -> u32;

    /// The PLL, if it is on.
    fn running_pll(&self) -> Option<Pll>;
}

/// Power control, the PWR.
pub trait PowerControl: Peripheral {
    /// DBP: whether software may write to the backup domain.
    fn opens_backup_domain(&self) -> bool;

    /// What the chip bears as it is powered.
    fn limits(&self) -> Limits;
}

/// The controller of the flash.
pub trait FlashControl: Peripheral {
    /// A store into the flash. Returns for how many microseconds the core stands still.
    fn program(&mut self, address: u32, bytes: u32, value: u32, now: Cycles, memory: &mut Memory) -> u64;

    /// Does the erase that the last write has started, if it has. Returns for how many microseconds the core stands still.
    fn start_erase(&mut self, now: Cycles, memory: &mut Memory) -> u64;

    /// The core's clock has changed, in Hz: an operation that goes on while the core runs takes its time.
    fn set_core_clock(&mut self, _hertz: u64) {}

    /// Whether an operation goes on while the core runs.
    fn is_busy(&self, _now: Cycles) -> bool {
        false
    }

    /// What the last reset has cut off: reading it is an error.
    fn take_torn(&mut self) -> Option<Range<u32>> {
        None
    }

    /// The core has read what was cut off. Returns whether that is a bus fault; else it is an NMI.
    fn meet_torn(&mut self, _address: u32) -> bool {
        false
    }

    /// The highest HCLK in Hz at which the flash may be written as it is set up.
    fn highest_writing(&self) -> u64 {
        u64::MAX
    }

    /// How the flash is read, as FLASH_ACR of an F4 says it: wait states in the lowest four bits, prefetch, instruction cache
    /// and data cache in bits 8 to 10, their resets in 11 and 12.
    fn access(&self) -> u32;

    /// The addresses that were programmed or erased since the last call.
    fn take_change(&mut self) -> Option<Range<u32>>;
}

/// All that moves data by itself: controllers, and where there is one, the multiplexer of their requests.
pub trait DmaControl: Send {
    /// The registers of one part, by the number that the map gives it.
    fn part(&mut self, part: usize) -> &mut dyn Peripheral;

    /// How many parts there are.
    fn parts(&self) -> usize;

    /// Serves the requests of a serial port. Returns whether an interrupt may have been requested, or a rule broken.
    fn serve(&mut self, uart: usize, port: &mut Usart, now: Cycles, memory: &mut Memory) -> bool;

    /// Does what software has enabled and needs no request: copies of memory to memory.
    fn copy_memory(&mut self, memory: &mut Memory);

    /// The rules that were broken since the last call.
    fn take_broken(&mut self) -> Vec<Violation>;

    /// Feeds its state to a hash.
    fn digest(&self, hasher: &mut dyn Hasher);
}

/// The parts that a family of chips makes its own way.
pub struct Parts {
    /// The RCC.
    pub clock: Box<dyn ClockControl>,
    /// The PWR.
    pub power: Box<dyn PowerControl>,
    /// The controller of the flash.
    pub flash: Box<dyn FlashControl>,
    /// DMA.
    pub dma: Box<dyn DmaControl>,
    /// The serial ports that the chip has, by their numbers in [`UART_NAMES`](super::UART_NAMES).
    pub uarts: [Option<Box<Usart>>; UARTS],
}
