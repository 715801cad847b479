//! What the core asks of what is around it.

use super::art::FlashReading;
use super::cycles::Cycles;
use super::nvic::InterruptLines;
use crate::memory::Memory;

/// Why [`Cpu::run_until`](super::Cpu::run_until) came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The time is reached.
    Time,
    /// A reset is due.
    Reset,
    /// The chip has changed the clock: cycles last differently from here on.
    Clock,
}

/// What the core notices of what software does to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The data cache gave what was in the flash at an address before that was changed.
    StaleData(u32),
    /// It sleeps with SLEEPDEEP set.
    DeepSleep,
    /// VTOR was set to an address that is no multiple of what the table needs.
    Vectors {
        /// What was written.
        address: u32,
        /// What it must be a multiple of.
        multiple: u32,
    },
    /// Bits of a register of its own that there is no model of were changed.
    Unmodeled {
        /// The name of the register.
        register: &'static str,
        /// Which bits.
        bits: u32,
    },
}

/// What is around the core: all addresses that are neither memory nor the core's own registers.
pub trait Bus {
    /// Reads 1, 2 or 4 bytes at an address that is a multiple of that; `None` if nothing answers.
    fn read(&mut self, address: u32, bytes: u32, now: Cycles, memory: &mut Memory) -> Option<u32>;
    /// Writes 1, 2 or 4 bytes; `None` if nothing answers.
    fn write(&mut self, address: u32, bytes: u32, value: u32, now: Cycles, memory: &mut Memory) -> Option<()>;
    /// Does all that is due up to `now` and returns when something is due next.
    fn poll(&mut self, now: Cycles, memory: &mut Memory) -> Cycles;
    /// Whether what was read or written since the last poll may have changed what it would find.
    fn wants_poll(&self) -> bool {
        true
    }
    /// The interrupt requests as of the last poll.
    fn interrupt_lines(&self) -> InterruptLines;
    /// Cycles for which the core stands still after a write, asked for once.
    fn take_stall(&mut self) -> Cycles {
        0
    }
    /// How the flash is read: FLASH_ACR of an STM32F4, with its wait states and its accelerator.
    fn flash_access(&self) -> u32 {
        0
    }
    /// How much of it at a time, and with which caches.
    fn flash_reading(&self) -> FlashReading {
        FlashReading::F4
    }
    /// A load has met a place of the flash whose programming or erase was cut off. Returns whether that is a bus fault; if not,
    /// it is an NMI.
    fn meets_torn_flash(&mut self, _address: u32) -> bool {
        false
    }
    /// The addresses of the flash that the last write has changed, asked for once.
    fn take_flash_change(&mut self) -> Option<std::ops::Range<u32>> {
        None
    }
    /// The core has noticed something.
    fn notice(&mut self, _notice: Notice) {}
    /// Where the instruction is that did what was last read, written or noticed.
    fn done_at(&mut self, _pc: u32) {}
    /// Whether an event for WFE has come since the last call.
    fn take_event(&mut self) -> bool {
        false
    }
    /// Whether the chip needs its owner before the core goes on.
    fn wants_stop(&self) -> Option<Stop> {
        None
    }
}
