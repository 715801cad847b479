//! Virtual time, and the clocks of the boards that run slightly differently in it.

use crate::cpu::Cycles;

/// Virtual time in picoseconds; 2^64 of them are 213 days.
pub type Time = u64;
/// One second.
pub const SECOND: Time = 1_000_000_000_000;
/// One millisecond.
pub const MILLISECOND: Time = SECOND / 1000;
/// One microsecond.
pub const MICROSECOND: Time = SECOND / 1_000_000;

/// Bits behind the point of a picosecond. With them a clock is right to a picosecond in a quarter of an hour.
const FRACTION: u32 = 20;

/// The relation between a board's cycles and virtual time, from the last change of its clock on.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct BoardClock {
    since_cycles: Cycles,
    /// In 2^-20 picoseconds.
    since: u128,
    /// Length of a cycle in 2^-20 picoseconds.
    period: u64,
}

impl BoardClock {
    pub(crate) fn new(start: Time, hertz: u64, ppm: f64) -> Self {
        BoardClock {
            since_cycles: 0,
            since: u128::from(start) << FRACTION,
            period: period(hertz, ppm),
        }
    }

    /// From cycle `now` on cycles last differently.
    pub(crate) fn change(&mut self, now: Cycles, hertz: u64, ppm: f64) {
        self.since = self.fine(now);
        self.since_cycles = now;
        self.period = period(hertz, ppm);
    }

    fn fine(&self, cycles: Cycles) -> u128 {
        self.since + u128::from(cycles.saturating_sub(self.since_cycles)) * u128::from(self.period)
    }

    /// When a cycle begins, rounded down.
    pub(crate) fn time_of(&self, cycles: Cycles) -> Time {
        u64::try_from(self.fine(cycles) >> FRACTION).unwrap_or(Time::MAX)
    }

    pub(crate) fn cycles_at(&self, time: Time) -> Cycles {
        let elapsed = (u128::from(time) << FRACTION).saturating_sub(self.since);
        self.since_cycles + (elapsed / u128::from(self.period)) as u64
    }

    /// A time, not a moment, in cycles.
    pub(crate) fn length_of(&self, time: Time) -> Cycles {
        ((u128::from(time) << FRACTION) / u128::from(self.period)) as u64
    }

    pub(crate) fn duration(&self, cycles: Cycles) -> Time {
        u64::try_from((u128::from(cycles) * u128::from(self.period)) >> FRACTION).unwrap_or(Time::MAX)
    }
}

/// A clock that is `ppm` parts in a million too fast has shorter cycles.
fn period(hertz: u64, ppm: f64) -> u64 {
    let actual = hertz.max(1) as f64 * (1.0 + ppm / 1e6);
    ((SECOND as f64 * f64::from(1 << FRACTION) / actual).round() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_as_many_cycles_as_the_clock_has_hertz() {
        for (ppm, cycles) in [(0.0, 180_000_000u64), (50.0, 180_009_000), (-50.0, 179_991_000)] {
            let clock = BoardClock::new(7 * SECOND, 180_000_000, ppm);
            assert!(clock.cycles_at(8 * SECOND).abs_diff(cycles) <= 1);
            assert!(clock.time_of(cycles).abs_diff(8 * SECOND) <= 10_000);
        }
    }

    #[test]
    fn back_and_forth_never_runs_ahead() {
        let mut clock = BoardClock::new(123, 16_000_000, 3.7);
        clock.change(1000, 180_000_000, -12.5);
        for cycles in (1000..100_000).step_by(777) {
            let time = clock.time_of(cycles);
            assert!(clock.cycles_at(time) <= cycles && clock.cycles_at(time + 1) >= cycles);
        }
    }
}
