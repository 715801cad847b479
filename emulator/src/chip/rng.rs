//! The random number generator: RM0090 chapter 24 (F4), RM0351 chapter 27 (L4), RM0440 chapter 26 (G4), RM0433 chapter 34 (H7). What it gives is
//! the same in every run, and differs from word to word.

use super::peripheral::Peripheral;
use crate::cpu::{Cycles, NEVER};
use crate::hash::mix;

const RNGEN: u32 = 1 << 2;
const IE: u32 = 1 << 3;
const DRDY: u32 = 1;

/// Cycles of its clock from one number to the next.
const PERIOD: u64 = 40;

/// `Default` is the state after reset.
#[derive(Default, Hash)]
pub(super) struct Rng {
    control: u32,
    taken: u64,
    /// When the next one is there, while it is on.
    ready_at: Option<Cycles>,
    is_ready: bool,
    clock: u64,
}

impl Rng {
    fn begin(&mut self, now: Cycles) {
        self.is_ready = false;
        self.ready_at = (self.control & RNGEN != 0).then_some(now + PERIOD * self.clock.max(1));
    }
}

impl Peripheral for Rng {
    fn read(&mut self, offset: u32, now: Cycles) -> u32 {
        match offset {
            0x00 => self.control,
            0x04 => u32::from(self.is_ready) * DRDY,
            0x08 if self.is_ready => {
                self.taken += 1;
                self.begin(now);
                mix(self.taken) as u32
            }
            _ => 0,
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        if offset == 0x00 {
            let before = std::mem::replace(&mut self.control, value);
            if (before ^ value) & RNGEN != 0 {
                self.begin(now);
            }
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        if offset == 0 { self.control } else { 0 }
    }

    fn advance(&mut self, now: Cycles) {
        if self.ready_at.is_some_and(|at| at <= now) {
            (self.is_ready, self.ready_at) = (true, None);
        }
    }

    fn next_event(&self) -> Cycles {
        self.ready_at.unwrap_or(NEVER)
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.control & IE != 0 && self.is_ready)
    }

    /// The same numbers do not come again.
    fn reset(&mut self, _now: Cycles) {
        *self = Rng {
            taken: self.taken,
            clock: self.clock,
            ..Rng::default()
        };
    }

    fn set_clock(&mut self, cycles: u64, _now: Cycles) {
        self.clock = cycles;
    }
}
