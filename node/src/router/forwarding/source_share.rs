//! The recent share of each source in this node's forwarding, so that all get the same.
//!
//! A packet's age is its own claim, and near sources fill a queue before far ones; what the node counts itself can neither be
//! forged nor depends on distance. If there are more sources than counters, some share one.

use hopwise_core::Node;

/// Number of counters; a power of 2.
const COUNTERS: usize = 64;

/// Granularity of shares: within this many packets all count as equal.
const SAME: u8 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::router) struct Share(u8);

/// Packets forwarded here, by source. All counters are halved when one is full, so the past is gradually forgotten.
#[derive(Clone, Debug)]
pub(in crate::router) struct Served([u8; COUNTERS]);

impl Served {
    pub(in crate::router) const fn new() -> Self {
        Served([0; COUNTERS])
    }

    pub(in crate::router) fn by(&self, source: Node) -> Share {
        Share(self.times(source) / SAME)
    }

    fn times(&self, source: Node) -> u8 {
        self.0.get(place(source)).copied().unwrap_or(0)
    }

    pub(in crate::router) fn count(&mut self, source: Node) {
        if self.times(source) == u8::MAX {
            self.0.iter_mut().for_each(|count| *count /= 2);
        }
        if let Some(count) = self.0.get_mut(place(source)) {
            *count = count.saturating_add(1);
        }
    }
}

fn place(source: Node) -> usize {
    source as usize % COUNTERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_is_forgotten_by_and_by() {
        let mut served = Served::new();
        (0..200).for_each(|_| served.count(1));
        (0..3_000).for_each(|_| served.count(2));
        assert_eq!(served.by(1), served.by(3), "as if it had had nothing");
        assert!(served.times(2) > 100 && served.by(2) > served.by(3));
        assert_eq!(served.by(2 + COUNTERS as Node), served.by(2));
    }
}
