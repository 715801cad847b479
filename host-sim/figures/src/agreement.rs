//! How well clocks agree that should all show the same.

use serde::Serialize;

/// Deviations are counted by microseconds up to this.
const BINS: usize = 16;

/// What was found of clocks that were read at the same moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Agreement {
    /// How often all of them were read.
    pub looks: u64,
    /// The most that any two of them differed by, in microseconds.
    pub worst_us: f64,
    /// How much two of them differed by in the mean, over all pairs and looks.
    pub mean_us: f64,
    /// How often a clock differed from the median of all by less than 1, 2, 3 ... microseconds, and not by less than the number before;
    /// the last is all that differed by more.
    pub histogram: Vec<u64>,
    #[serde(skip)]
    pairs: f64,
}

impl Agreement {
    /// All clocks were read, in microseconds from any beginning.
    pub fn add(&mut self, mut shown: Vec<f64>) {
        shown.sort_by(f64::total_cmp);
        let (Some(first), Some(last)) = (shown.first(), shown.last()) else {
            return;
        };
        self.looks += 1;
        self.worst_us = self.worst_us.max(last - first);
        // Of n sorted numbers, number i is the greater of i pairs and the lesser of n - 1 - i.
        let count = shown.len() as f64;
        let signs = (0..shown.len()).map(|place| 2.0 * place as f64 + 1.0 - count);
        let sum: f64 = signs.zip(&shown).map(|(sign, shown)| sign * (shown - first)).sum();
        let pairs = count * (count - 1.0) / 2.0;
        if pairs > 0.0 {
            self.pairs += pairs;
            self.mean_us += (sum / pairs - self.mean_us) * pairs / self.pairs;
        }
        self.histogram.resize(BINS + 1, 0);
        let median = shown[shown.len() / 2];
        for off in shown.iter().map(|shown| (shown - median).abs()) {
            self.histogram[(off as usize).min(BINS)] += 1;
        }
    }

    pub fn merge(&mut self, other: &Agreement) {
        self.looks += other.looks;
        self.worst_us = self.worst_us.max(other.worst_us);
        let pairs = self.pairs + other.pairs;
        if pairs > 0.0 {
            self.mean_us = (self.mean_us * self.pairs + other.mean_us * other.pairs) / pairs;
        }
        self.pairs = pairs;
        self.histogram.resize(BINS + 1, 0);
        for (sum, more) in self.histogram.iter_mut().zip(&other.histogram) {
            *sum += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_all_looked_at() {
        let mut agreement = Agreement::default();
        agreement.add(vec![3.0, 1.0, 2.0]);
        assert_eq!((agreement.worst_us, agreement.looks), (2.0, 1));
        assert!((agreement.mean_us - 4.0 / 3.0).abs() < 1e-9, "1, 1 and 2");
        assert_eq!(agreement.histogram[..3], [1, 2, 0]);
        let mut other = Agreement::default();
        other.add(vec![0.0, 100.0]);
        other.add(vec![0.0, 100.0]);
        agreement.merge(&other);
        assert_eq!((agreement.worst_us, agreement.looks), (100.0, 3));
        assert!((agreement.mean_us - 204.0 / 5.0).abs() < 1e-9);
        assert_eq!(agreement.histogram[BINS], 2);
        agreement.add(Vec::new());
        agreement.add(vec![7.0]);
        assert_eq!((agreement.worst_us, agreement.looks), (100.0, 4));
    }
}
