//! The time of the mesh as a function of a board's own clock.

use super::{ClockTicks, MAX_RATE, TICKS_PER_MICRO, clock_ticks};
use crate::link::Micros;

/// Corrections of less than this are made little by little, in either direction.
const STEP: i64 = 1_000 * TICKS_PER_MICRO as i64;
/// Then time is faster or slower by one part in so many, as a power of two.
const GENTLE: u32 = 10;
/// Time that is ahead by more runs at half speed: it never goes back.
const HALF_SPEED: u32 = 1;
/// What is further away than this is not computed: five hours.
const FARTHEST: i64 = 1 << 42;

/// What time it is in the mesh, as long as a board learns nothing new. It never goes back, whatever is learned.
///
/// Its form in memory is fixed: who watches a board from outside reads it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct MeshTime {
    /// Where this begins, by the board's own clock.
    since: ClockTicks,
    /// What is shown then.
    shown: ClockTicks,
    /// What is still to be added, for what is shown to be the time.
    correction: i64,
    /// By how much the time of the mesh is faster than the board's own clock, in 2^-32.
    rate: i32,
    /// How fast the correction is made: one part in so many, as a power of two. 0 means that the time is not known.
    gentle: u32,
}

impl MeshTime {
    /// Nothing is known.
    pub const UNKNOWN: MeshTime = MeshTime {
        since: 0,
        shown: 0,
        correction: 0,
        rate: 0,
        gentle: 0,
    };

    /// Words of 32 bits that it takes in memory.
    pub const WORDS: usize = size_of::<MeshTime>() / 4;

    /// As it lies in the memory of a board.
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

    /// What time it is when the board's own clock shows `local`; `None` if that is not known.
    pub fn at(&self, local: Micros) -> Option<Micros> {
        self.at_tick(clock_ticks(local)).map(|shown| shown / TICKS_PER_MICRO)
    }

    /// The same in finer units.
    pub fn at_tick(&self, local: ClockTicks) -> Option<ClockTicks> {
        self.is_known().then(|| self.shown_at(local))
    }

    /// Whether there is a time.
    pub fn is_known(&self) -> bool {
        self.gentle != 0
    }

    /// By how much the time of the mesh is faster than the board's own clock, in 2^-32.
    pub fn rate(&self) -> i32 {
        self.rate
    }

    /// Since when nothing new was learned.
    pub(super) fn since(&self) -> ClockTicks {
        self.since
    }

    /// From `since` on, by how much time has passed; before it, how long ago that was.
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

    /// The time as far as it is known: what is shown comes to be this.
    pub(super) fn target_at(&self, local: ClockTicks) -> ClockTicks {
        let whole = self.correction.wrapping_add(self.passed(local));
        self.shown.wrapping_add_signed(whole)
    }

    /// Supposes a time of which nothing is shown yet.
    pub(super) fn suppose(&mut self, local: ClockTicks, mesh: ClockTicks) {
        if !self.is_known() {
            (self.since, self.shown, self.correction) = (local, mesh, 0);
        }
    }

    /// From now on it is `target`, and runs at that rate.
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
        /// Whatever a board is told, what it shows does not go back, nor does it run faster than a thousandth without a step.
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
