//! The HSE: what is at its pins, and from when on it runs. Every RCC has it at the same bits of CR.

use super::clocks::Hse;
use crate::cpu::{Cycles, NEVER};

pub(super) const HSE_ON: u32 = 1 << 16;
pub(super) const HSE_READY: u32 = 1 << 17;
pub(super) const HSE_BYPASS: u32 = 1 << 18;

#[derive(Clone, Copy, Hash)]
pub(super) struct HseOscillator {
    hse: Hse,
    /// Microseconds from when it is switched on until it runs.
    starts_in: u32,
    /// While it is on: from when on it runs.
    runs_from: Option<Cycles>,
}

impl HseOscillator {
    pub(super) fn new(hse: Hse, starts_in: u32) -> Self {
        HseOscillator {
            hse,
            starts_in,
            runs_from: None,
        }
    }

    pub(super) fn reset(&mut self) {
        self.runs_from = None;
    }

    /// Its frequency; 0 if there is none.
    pub(super) fn hertz(&self) -> u64 {
        self.hse.hertz()
    }

    /// CR becomes `value`, on a core with a clock of `hclk` Hz. In the wrong mode the HSE never runs. Returns how a rule is broken.
    pub(super) fn control(&mut self, before: u32, value: u32, now: Cycles, hclk: u64) -> Option<&'static str> {
        if value & HSE_ON == 0 {
            self.runs_from = None;
            return None;
        }
        if self.runs_from.is_some() {
            if (before ^ value) & HSE_BYPASS == 0 {
                return None;
            }
            self.runs_from = Some(NEVER);
            return Some("HSEBYP is changed while the HSE is on");
        }
        let start = now.saturating_add(hclk.saturating_mul(self.starts_in.into()) / 1_000_000);
        let (runs_from, broken) = match (self.hse, value & HSE_BYPASS != 0) {
            (Hse::Fed(_), true) | (Hse::Crystal(_), false) => (start, None),
            (Hse::Absent, _) => (NEVER, None),
            (Hse::Fed(_), false) => (
                NEVER,
                Some("the HSE is on for a crystal (HSEBYP is 0), but the board feeds a clock"),
            ),
            (Hse::Crystal(_), true) => (
                NEVER,
                Some("the HSE is on for a clock that is fed (HSEBYP is 1), but the board has a crystal"),
            ),
        };
        self.runs_from = Some(runs_from);
        broken
    }

    /// HSERDY, as it is in CR.
    pub(super) fn ready(&self, now: Cycles) -> u32 {
        match self.runs_from {
            Some(from) if from <= now => HSE_READY,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MHZ: u64 = 1_000_000;

    #[test]
    fn a_crystal_takes_its_time_every_time() {
        let mut crystal = HseOscillator::new(Hse::Crystal(8_000_000), 2_000);
        for begin in [0, 1_000_000] {
            assert_eq!(crystal.control(0, HSE_ON, begin, 16 * MHZ), None);
            assert_eq!(crystal.ready(begin + 31_999), 0);
            // Another write to CR does not begin anew.
            assert_eq!(crystal.control(HSE_ON, HSE_ON | 1 << 24, begin + 100, 16 * MHZ), None);
            assert_eq!(crystal.ready(begin + 32_000), HSE_READY);
            assert_eq!(crystal.control(HSE_ON, 0, begin + 40_000, 16 * MHZ), None);
            assert_eq!(crystal.ready(begin + 40_000), 0);
        }
    }
}
