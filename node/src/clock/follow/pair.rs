//! Measurement of other clocks' rates by the local clock.

/// Minimum duration of a measurement, half of 31 bits of clock ticks: four seconds.
pub(super) const HALF: u32 = 1 << 30;

/// Simultaneous readings of the local clock, the neighbor's local clock and mesh time, in wrapping clock ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pair {
    first: Option<[u32; 3]>,
    /// Replaces the first when that is too old.
    second: [u32; 3],
}

/// The rates of other clocks relative to the local one, in 2^-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    /// The duration of the measurement, in clock ticks.
    pub(super) window: u32,
    pub(super) theirs: i32,
    pub(super) mesh: i32,
}

impl Pair {
    /// Adds simultaneous readings of the clocks.
    pub(super) fn add(&mut self, mine: u32, theirs: u32, mesh: u32) -> Option<Measured> {
        let shown = [mine, theirs, mesh];
        let Some([first_mine, first_theirs, first_mesh]) = self.first else {
            self.first = Some(shown);
            self.second = shown;
            return None;
        };
        let window = mine.wrapping_sub(first_mine);
        let [second_mine, ..] = self.second;
        if mine.wrapping_sub(second_mine) >= HALF {
            self.first = Some(self.second);
            self.second = shown;
        }
        let faster = |by: u32| {
            let more = by.wrapping_sub(window) as i32;
            let rate = (i64::from(more) << 32).checked_div(i64::from(window))?;
            Some(rate.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32)
        };
        Some(Measured {
            window,
            theirs: faster(theirs.wrapping_sub(first_theirs))?,
            mesh: faster(mesh.wrapping_sub(first_mesh))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let mut pair = Pair::default();
        let (mut mine, mut theirs, mut mesh) = (u32::MAX - 5, 77_u32, 12);
        assert_eq!(pair.add(mine, theirs, mesh), None);
        let tenth = 25_600_000_u32;
        for (ppm, count) in [(100, 300), (-60, 300)] {
            let mut last = None;
            for _ in 0..count {
                mine = mine.wrapping_add(tenth);
                theirs = theirs.wrapping_add_signed(tenth as i32 / 100_000 * ppm / 10 + tenth as i32);
                mesh = mesh.wrapping_add_signed(tenth as i32 / 100_000 * -ppm / 10 + tenth as i32);
                last = pair.add(mine, theirs, mesh);
                assert!(last.is_some_and(|last| last.window <= 2 * HALF + tenth));
            }
            let last = last.unwrap();
            let expected = i64::from(ppm) * (1 << 32) / 1_000_000;
            assert!((i64::from(last.theirs) - expected).abs() < 2_000, "{last:?} {expected}");
            assert!((i64::from(last.mesh) + expected).abs() < 2_000, "{last:?} {expected}");
        }
        let mut still = Pair::default();
        still.add(9, 9, 9);
        assert_eq!(still.add(9, 10, 9), None, "no time has passed");
    }
}
