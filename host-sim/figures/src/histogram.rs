//! Whole numbers counted while they come.

use crate::nearest_rank;

/// Counts how often each number came, up to a limit; greater ones are counted together.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    bins: Vec<u32>,
    /// Numbers from here on share the last bin.
    limit: usize,
    count: u64,
    greatest: u64,
}

impl Histogram {
    /// Tells numbers below `limit` apart. The memory grows with the greatest number that comes.
    pub fn new(limit: usize) -> Self {
        Histogram {
            limit,
            ..Histogram::default()
        }
    }

    #[inline]
    pub fn add(&mut self, number: u64) {
        self.count += 1;
        self.greatest = self.greatest.max(number);
        let bin = usize::try_from(number).unwrap_or(usize::MAX).min(self.limit);
        if bin >= self.bins.len() {
            self.bins.resize((bin + 1).next_power_of_two(), 0);
        }
        self.bins[bin] += 1;
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The greatest of them, 0 before the first.
    pub fn greatest(&self) -> u64 {
        self.greatest
    }

    /// The least number that so many percent of those that came do not exceed; 0 before the first. From the limit on it is
    /// the greatest number of all.
    pub fn percentile(&self, percent: u32) -> u64 {
        let rank = nearest_rank(self.count, percent);
        let mut seen = 0;
        let bin = self.bins.iter().position(|&count| {
            seen += u64::from(count);
            seen >= rank && seen > 0
        });
        match bin {
            Some(bin) if bin < self.limit => bin as u64,
            _ => self.greatest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percentile;

    #[test]
    fn percentiles_are_those_of_the_list() {
        let mut values: Vec<u64> = (0..997_u64).map(|place| place * place % 1_009).collect();
        let mut histogram = Histogram::new(2_000);
        values.iter().for_each(|&value| histogram.add(value));
        values.sort_unstable();
        assert_eq!((histogram.count(), Some(&histogram.greatest())), (997, values.last()));
        for percent in 1..=100 {
            let found = Some(histogram.percentile(percent));
            assert_eq!(found, percentile(&values, percent), "{percent}%");
        }
    }

    #[test]
    fn from_the_limit_on_it_is_the_greatest() {
        let mut histogram = Histogram::new(10);
        assert_eq!(histogram.percentile(99), 0);
        for number in [1, 2, 9, 10, 500] {
            histogram.add(number);
        }
        let found = [20, 60, 80, 100].map(|percent| histogram.percentile(percent));
        assert_eq!(found, [1, 9, 500, 500]);
    }
}
