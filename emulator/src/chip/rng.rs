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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_ready_some_time_after_it_is_switched_on_and_each_once() {
        let mut rng = Rng::default();
        rng.advance(1000);
        assert_eq!((rng.read(0x04, 1000), rng.read(0x08, 1000)), (0, 0), "off");
        rng.write(0x00, RNGEN | IE, 1000);
        rng.advance(1039);
        assert_eq!((rng.read(0x04, 1039), rng.interrupts(), rng.next_event()), (0, 0, 1040));
        rng.advance(1040);
        assert_eq!((rng.read(0x04, 1040), rng.interrupts()), (DRDY, 1));
        let first = rng.read(0x08, 1040);
        assert_eq!((rng.read(0x04, 1040), rng.read(0x08, 1040)), (0, 0), "it was taken");
        rng.advance(1080);
        let second = rng.read(0x08, 1080);
        assert!(first != 0 && second != 0 && first != second);
        rng.write(0x00, 0, 1080);
        rng.advance(9999);
        assert_eq!(rng.read(0x04, 9999), 0, "off again");
    }
}
