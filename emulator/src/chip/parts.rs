//! The parts of a chip that differ by family: a family gives one of each ([`Parts`]), and [`Chip`](super::Chip) joins them. Where families have different code
//! for one, a trait says what all of it does.

use super::clocks::{Hse, Limits};
use super::dma::Controllers;
use super::flash::Account;
use super::hse::HseOscillator;
use super::map::UARTS;
use super::peripheral::Peripheral;
use super::rcc::Rcc;
use super::usart::Usart;
use crate::cpu::Cycles;
use crate::memory::Memory;

/// What differs between chips of one model.
#[derive(Clone, Copy, Debug)]
pub struct Individual {
    /// The number that is unique to the chip.
    pub unique_id: [u32; 3],
    /// What is at its HSE pins.
    pub hse: Hse,
    /// Microseconds from when that is switched on until it runs.
    pub hse_start: u32,
    /// Whether it has a crystal of 32 kHz.
    pub lse: bool,
    /// The clock of its watchdog in Hz: 17,000 to 47,000 on the F4.
    pub lsi: u32,
    /// How far the times of its flash are from typical to longest, in percent.
    pub flash_wear: u32,
    /// The option DBANK of the G4: whether its flash is two banks, as it is delivered.
    pub dual_bank: bool,
}

impl Individual {
    pub(super) fn oscillator(&self) -> HseOscillator {
        HseOscillator::new(self.hse, self.hse_start)
    }
}

pub(super) trait PowerControl: Peripheral {
    fn opens_backup_domain(&self) -> bool;

    /// What the chip bears as it is powered.
    fn limits(&self) -> Limits;

    /// The PVD, if it is on.
    fn pvd(&self) -> Option<Pvd>;
}

/// What the PVD watches for, and the bit in a register of the PWR that tells.
pub(super) struct Pvd {
    pub(super) millivolts: u64,
    pub(super) offset: u32,
    pub(super) bit: u32,
}

pub(super) trait FlashControl: Peripheral {
    /// A store into the flash. Returns for how many microseconds the core stands still.
    fn program(&mut self, address: u32, bytes: u32, value: u32, now: Cycles, memory: &mut Memory) -> u64;

    /// Does the erase that the last write has started, if it has. Returns for how many microseconds the core stands still.
    fn start_erase(&mut self, now: Cycles, memory: &mut Memory) -> u64;

    /// What it keeps besides its registers.
    fn account(&mut self) -> &mut Account;

    fn is_busy(&self, _now: Cycles) -> bool {
        false
    }

    /// The core has read what was cut off. Returns whether that is a bus fault; else it is an NMI.
    fn meet_torn(&mut self, _address: u32) -> bool {
        false
    }

    /// The lowest supply with which the flash may be written as it is set up.
    fn lowest_millivolts(&self) -> u64 {
        0
    }

    /// The highest HCLK in Hz at which the flash may be written as it is set up.
    fn highest_writing(&self) -> u64 {
        u64::MAX
    }

    /// How the flash is read, as FLASH_ACR of an F4 says it: wait states in the lowest four bits, prefetch, instruction cache
    /// and data cache in bits 8 to 10, their resets in 11 and 12.
    fn access(&self) -> u32;
}

/// The parts that a family of chips makes its own way.
pub(super) struct Parts {
    pub(super) rcc: Rcc,
    pub(super) power: Box<dyn PowerControl>,
    pub(super) flash: Box<dyn FlashControl>,
    pub(super) dma: Controllers,
    /// The serial ports that the chip has, by their numbers in [`UART_NAMES`](super::map::UART_NAMES).
    pub(super) uarts: [Option<Box<Usart>>; UARTS],
}
