//! How much each source has had of this node of late, so that all have the same.
//!
//! A packet says itself how old it is, and near sources fill a queue before far ones; what the node counts itself is neither
//! forged nor a matter of distance. Sources share a counter where there are more of them than counters.

use hopwise_core::Node;

/// So many counters; a power of 2.
const COUNTERS: usize = 64;

/// What a source has had, roughly: within so many packets all have the same.
const SAME: u8 = 4;

/// What a source has had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::router) struct Share(u8);

/// Packets sent on from here, by source. All are halved when one is full, so the past is forgotten by and by.
#[derive(Clone, Debug)]
pub(in crate::router) struct Served([u8; COUNTERS]);

impl Served {
    pub(in crate::router) const fn new() -> Self {
        Served([0; COUNTERS])
    }

    /// What a source has had.
    pub(in crate::router) fn by(&self, source: Node) -> Share {
        Share(self.times(source) / SAME)
    }

    fn times(&self, source: Node) -> u8 {
        self.0.get(place(source)).copied().unwrap_or(0)
    }

    /// A packet of a source has its turn.
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
