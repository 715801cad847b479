//! Figures and texts as every report shows them: percentiles, and text that is harmless on a page and on a terminal.
//!
//! - [`Spread`]: mean, percentiles and extremes of a list of values; [`percentile`]: one of them;
//! - [`Histogram`]: percentiles of whole numbers that are counted while they come, without keeping them;
//! - [`Agreement`]: how well clocks agree;
//! - [`escape`]: text for HTML, XML and SVG; [`printable`]: for a terminal; [`markdown_cell`]; [`printable_json`];
//! - [`decimal`]: a number without idle zeros.
//!
//! A percentile is that of the nearest rank, everywhere: the least of the values that so many percent of them do not exceed.
//!
//! ```
//! use hopwise_figures::{Spread, escape};
//!
//! let latencies = vec![30.0, 10.0, 20.0, 90.0];
//! let spread = Spread::of(latencies).unwrap();
//! assert_eq!((spread.mean, spread.p50, spread.p99), (37.5, 20.0, 90.0));
//!
//! assert_eq!(escape("torus(4,4) <fast>"), "torus(4,4) &lt;fast&gt;");
//! ```

/// Its examples are tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod agreement;
mod histogram;
mod text;

pub use agreement::Agreement;
pub use histogram::Histogram;
pub use text::{LONGEST_TEXT, decimal, escape, markdown_cell, printable, printable_json, printable_line};

/// Which of `count` values in rising order, from 1, is their percentile: the nearest rank. 0 if there are none.
pub fn nearest_rank(count: u64, percent: u32) -> u64 {
    let rank = (u128::from(count) * u128::from(percent)).div_ceil(100);
    u64::try_from(rank).unwrap_or(count).clamp(count.min(1), count)
}

/// A percentile of values in rising order; `None` if there are none.
pub fn percentile<T: Copy>(rising: &[T], percent: u32) -> Option<T> {
    let rank = nearest_rank(rising.len() as u64, percent);
    rising.get(rank.checked_sub(1)? as usize).copied()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub count: usize,
    pub mean: f64,
    pub min: f64,
    /// Half of them are no greater.
    pub p50: f64,
    /// 90 of 100 are no greater.
    pub p90: f64,
    /// 99 of 100 are no greater.
    pub p99: f64,
    pub max: f64,
}

impl Spread {
    /// Of values in any order; `None` if there are none.
    pub fn of(mut values: Vec<f64>) -> Option<Spread> {
        values.sort_unstable_by(f64::total_cmp);
        let at = |percent| percentile(&values, percent);
        Some(Spread {
            count: values.len(),
            mean: values.iter().sum::<f64>() / values.len() as f64,
            min: *values.first()?,
            p50: at(50)?,
            p90: at(90)?,
            p99: at(99)?,
            max: *values.last()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        for (count, percent, rank) in [
            (0, 50, 0),
            (1, 0, 1),
            (1, 99, 1),
            (4, 50, 2),
            (5, 50, 3),
            (100, 99, 99),
            (101, 99, 100),
            (100, 100, 100),
            (u64::MAX, 100, u64::MAX),
        ] {
            assert_eq!(nearest_rank(count, percent), rank, "{percent}% of {count}");
        }
        let hundred: Vec<u32> = (1..=100).collect();
        for percent in 1..=100 {
            assert_eq!(percentile(&hundred, percent), Some(percent));
        }
        assert_eq!(percentile::<u8>(&[], 50), None);
    }

    #[test]
    fn a_spread_takes_values_in_any_order() {
        let spread = Spread::of((1..=200).rev().map(f64::from).collect());
        let expected = Spread {
            count: 200,
            mean: 100.5,
            min: 1.0,
            p50: 100.0,
            p90: 180.0,
            p99: 198.0,
            max: 200.0,
        };
        assert_eq!(spread, Some(expected));
        assert_eq!(Spread::of(Vec::new()), None);
    }
}
