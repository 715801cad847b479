//! Percentiles of times that are not kept.

use std::collections::BTreeMap;

use hopwise_figures::nearest_rank;
use serde::Serialize;

use crate::line::Nanos;

/// So many times are kept as they are.
const EXACT: usize = 1 << 16;
/// Beyond that they are rounded to so many bits, which is to one part in 2048.
const BITS: u32 = 11;

/// Percentiles (nearest rank) of times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimeSpread {
    pub count: usize,
    pub mean_us: f64,
    pub min_us: f64,
    pub p50_us: f64,
    pub p90_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
}

/// Times, of which percentiles are wanted. 65,536 different ones are exact, more are within 1/2048; count, mean and extremes always
/// are exact. The memory has a bound.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    times: BTreeMap<Nanos, u64>,
    rounded: bool,
    count: u64,
    sum: i128,
    extremes: Option<(Nanos, Nanos)>,
}

impl Samples {
    pub fn add(&mut self, time: Nanos) {
        self.count += 1;
        self.sum += i128::from(time);
        let (min, max) = self.extremes.unwrap_or((time, time));
        self.extremes = Some((min.min(time), max.max(time)));
        let time = if self.rounded { round(time) } else { time };
        *self.times.entry(time).or_default() += 1;
        if !self.rounded && self.times.len() > EXACT {
            self.rounded = true;
            for (time, count) in std::mem::take(&mut self.times) {
                *self.times.entry(round(time)).or_default() += count;
            }
        }
    }

    /// The percentiles; `None` without times.
    pub fn spread(&self) -> Option<TimeSpread> {
        let (min, max) = self.extremes?;
        let micros = |nanos: Nanos| nanos as f64 / 1e3;
        let percentile = |percent: u32| {
            let rank = nearest_rank(self.count, percent);
            let mut seen = 0;
            let at_rank = self.times.iter().find(|(_, count)| {
                seen += **count;
                seen >= rank
            });
            micros(at_rank.map_or(max, |(time, _)| *time).clamp(min, max))
        };
        Some(TimeSpread {
            count: self.count as usize,
            mean_us: self.sum as f64 / 1e3 / self.count as f64,
            min_us: micros(min),
            p50_us: percentile(50),
            p90_us: percentile(90),
            p99_us: percentile(99),
            max_us: micros(max),
        })
    }
}

/// The middle of all times that begin with the same bits.
fn round(time: Nanos) -> Nanos {
    let bits = Nanos::BITS - time.unsigned_abs().leading_zeros();
    let Some(dropped) = bits.checked_sub(BITS).filter(|dropped| *dropped > 0) else {
        return time;
    };
    let middle = (time.abs() >> dropped << dropped) + (1 << (dropped - 1));
    middle * time.signum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread_of(times: &[Nanos]) -> Option<TimeSpread> {
        let mut samples = Samples::default();
        times.iter().for_each(|&time| samples.add(time));
        samples.spread()
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let micros: Vec<Nanos> = (1..=200).rev().map(|micros| micros * 1000).collect();
        let spread = spread_of(&micros).unwrap();
        assert_eq!([spread.p50_us, spread.p90_us, spread.p99_us], [100.0, 180.0, 198.0]);
        assert_eq!([spread.min_us, spread.max_us, spread.mean_us], [1.0, 200.0, 100.5]);

        let one = spread_of(&[5000]).unwrap();
        assert_eq!((one.p50_us, one.p99_us, one.count), (5.0, 5.0, 1));
        assert_eq!(spread_of(&[]), None);
    }

    #[test]
    fn many_times_take_little_memory_and_lose_little() {
        let mut samples = Samples::default();
        let times = |place: Nanos| (place * 7_919) % 1_000_003 * 1_009 - 5_000_000;
        let mut all: Vec<Nanos> = (0..1_000_003).map(times).collect();
        all.iter().for_each(|&time| samples.add(time));
        assert!(samples.times.len() < 40_000, "{}", samples.times.len());
        all.sort_unstable();
        let spread = samples.spread().unwrap();
        for (percent, told) in [(50, spread.p50_us), (90, spread.p90_us), (99, spread.p99_us)] {
            let exact = all[nearest_rank(all.len() as u64, percent) as usize - 1] as f64 / 1e3;
            let is_near = (told - exact).abs() <= exact.abs() / 2048.0;
            assert!(is_near, "{percent}%: {told} for {exact}");
        }
        let found = (spread.min_us, spread.max_us);
        assert_eq!(found, (all[0] as f64 / 1e3, all[1_000_002] as f64 / 1e3));
    }
}
