//! The time of the mesh as a function of a board's own clock.

use super::{ClockTicks, MAX_RATE, TICKS_PER_MICRO, clock_ticks};
use crate::link::Micros;

/// Corrections smaller than this are applied gradually, in either direction.
const STEP: i64 = 1_000 * TICKS_PER_MICRO as i64;
/// The rate of a gradual correction: one part in two to this power.
const GENTLE: u32 = 10;
/// Time that is ahead by more runs at half speed, so that it never goes back.
const HALF_SPEED: u32 = 1;
/// Maximum time difference that is computed: five hours.
const FARTHEST: i64 = 1 << 42;

/// The mesh time as a function of the local clock. It is monotonic, whatever is learned.
///
/// Its layout in memory is fixed, since debuggers read it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct MeshTime {
    /// The start of validity, by the local clock.
    pub(super) since: ClockTicks,
    /// The mesh time shown then.
    shown: ClockTicks,
    /// The correction that is still to be applied.
    correction: i64,
    /// The rate of mesh time relative to the local clock, in 2^-32.
    rate: i32,
    /// The rate of correction: one part in two to this power. 0 means that the time is unknown.
    gentle: u32,
}

impl MeshTime {
    /// The state before any time is known.
    pub const UNKNOWN: MeshTime = MeshTime {
        since: 0,
        shown: 0,
        correction: 0,
        rate: 0,
        gentle: 0,
    };

    /// The size in 32-bit words.
    pub const WORDS: usize = size_of::<MeshTime>() / 4;

    /// Converts the words of a board's memory.
    pub fn from_words(words: [u32; Self::WORDS]) -> Self {
        let [s0, s1, t0, t1, c0, c1, rate, gentle] = words;
        let wide = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        MeshTime {
            since: wide(s0, s1),
            shown: wide(t0, t1),
            correction: wide(c0, c1) as i64,
            rate: (rate as i32).clamp(-MAX_RATE, MAX_RATE),
            gentle: gentle.min(GENTLE),
        }
    }

    /// The mesh time at a local time; `None` if it is unknown.
    pub fn at(&self, local: Micros) -> Option<Micros> {
        self.at_tick(clock_ticks(local)).map(|shown| shown / TICKS_PER_MICRO)
    }

    /// [`at`](Self::at) in clock ticks.
    pub fn at_tick(&self, local: ClockTicks) -> Option<ClockTicks> {
        self.is_known().then(|| self.shown_at(local))
    }

    /// Whether the time is known.
    pub fn is_known(&self) -> bool {
        self.gentle != 0
    }

    /// The rate of mesh time relative to the local clock, in 2^-32.
    pub fn rate(&self) -> i32 {
        self.rate
    }

    /// The time elapsed since `since`; negative before it.
    fn passed(&self, local: ClockTicks) -> i64 {
        let passed = (local.wrapping_sub(self.since) as i64).clamp(-FARTHEST, FARTHEST);
        passed + ((passed * i64::from(self.rate)) >> 32)
    }

    fn shown_at(&self, local: ClockTicks) -> ClockTicks {
        let passed = self.passed(local).max(0);
        let most = passed >> self.gentle;
        let corrected = self.correction.min(most).max(-most);
        self.shown.wrapping_add_signed(passed.wrapping_add(corrected))
    }

    /// The best estimate of the time, which the shown time approaches.
    #[inline(never)]
    pub(super) fn target_at(&self, local: ClockTicks) -> ClockTicks {
        let whole = self.correction.wrapping_add(self.passed(local));
        self.shown.wrapping_add_signed(whole)
    }

    /// Assumes a time that has not been shown yet.
    pub(super) fn suppose(&mut self, local: ClockTicks, mesh: ClockTicks) {
        if !self.is_known() {
            (self.since, self.shown, self.correction) = (local, mesh, 0);
        }
    }

    /// Sets the estimate to `target` at `now`, running at this rate.
    pub(super) fn aim(&mut self, now: ClockTicks, target: ClockTicks, rate: i32) {
        let shown = if self.is_known() { self.shown_at(now) } else { target };
        let correction = target.wrapping_sub(shown) as i64;
        self.since = now;
        self.rate = rate.clamp(-MAX_RATE, MAX_RATE);
        self.gentle = if correction < -STEP { HALF_SPEED } else { GENTLE };
        (self.shown, self.correction) = if correction > STEP {
            (target, 0)
        } else {
            (shown, correction)
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: ClockTicks = 1_000_000 * TICKS_PER_MICRO;

    fn known(target: ClockTicks) -> MeshTime {
        let mut time = MeshTime::UNKNOWN;
        time.aim(SECOND, target, 0);
        time
    }

    #[test]
    fn nothing_is_shown_before_there_is_a_time() {
        let mut time = MeshTime::UNKNOWN;
        assert_eq!(time.at(5), None);
        time.suppose(0, 7 * SECOND);
        assert_eq!((time.at(5), time.target_at(SECOND)), (None, 8 * SECOND));
        time.aim(SECOND, 8 * SECOND, 0);
        assert_eq!(time.at(1_000_000), Some(8_000_000));
    }

    #[test]
    fn small_corrections_are_made_little_by_little() {
        for correction in [-500 * TICKS_PER_MICRO as i64, 500 * TICKS_PER_MICRO as i64] {
            let mut time = known(9 * SECOND);
            let now = 2 * SECOND;
            let target = (10 * SECOND).wrapping_add_signed(correction);
            time.aim(now, target, 0);
            assert_eq!(time.shown_at(now), 10 * SECOND, "no step");
            let soon = time.shown_at(now + SECOND / 10) as i64 - (10 * SECOND + SECOND / 10) as i64;
            assert_eq!(soon, correction.signum() * (SECOND / 10) as i64 / 1024);
            assert_eq!(time.shown_at(now + SECOND), target + SECOND);
        }
    }

    #[test]
    fn large_ones_are_steps_forward_and_never_back() {
        let mut time = known(9 * SECOND);
        time.aim(2 * SECOND, 30 * SECOND, 0);
        assert_eq!(time.shown_at(2 * SECOND), 30 * SECOND);
        time.aim(2 * SECOND, 28 * SECOND, 0);
        assert_eq!(time.shown_at(2 * SECOND), 30 * SECOND);
        assert_eq!(time.shown_at(4 * SECOND), 31 * SECOND, "at half speed");
        assert_eq!(time.shown_at(6 * SECOND), 32 * SECOND, "that is the time");
        assert_eq!(time.shown_at(7 * SECOND), 33 * SECOND);
    }

    #[test]
    fn what_lies_in_memory_is_read_from_there() {
        let time = MeshTime {
            since: 0x0102_0304_0506_0708,
            shown: 0x1112_1314_1516_1718,
            correction: -2,
            rate: -3,
            gentle: 1,
        };
        let words = [0x0506_0708, 0x0102_0304, 0x1516_1718, 0x1112_1314, !1, !0, !2, 1];
        assert_eq!(MeshTime::from_words(words), time);
        assert_eq!(MeshTime::from_words([0; 8]), MeshTime::UNKNOWN);
        for word in [u32::MAX, 1 << 31, i32::MAX as u32] {
            let any = MeshTime::from_words([word; 8]);
            assert!(any.at(0).is_some() && any.at(Micros::MAX).is_some());
        }
    }

    proptest! {
        /// Whatever a board is told, the time it shows is monotonic, and runs at most a thousandth fast without a step.
        #[test]
        fn it_never_goes_back(steps in prop::collection::vec((0..SECOND, -3_i64..3, any::<i32>(), -4_000_000..4_000_000_i64), 1..60)) {
            let mut time = known(100 * SECOND);
            let (mut now, mut before) = (SECOND, 0);
            for (wait, seconds, rate, grain) in steps {
                for part in 0..4 {
                    let shown = time.shown_at(now + wait * part / 4);
                    prop_assert!(shown >= before, "{shown} after {before}");
                    before = shown;
                }
                now += wait;
                let off = seconds * SECOND as i64 + grain;
                time.aim(now, time.target_at(now).saturating_add_signed(off), rate);
            }
        }
    }
}
