//! How much each source has had of this node of late, so that all have the same.
//!
//! A packet says itself how old it is, and near sources fill a queue before far ones; what the node counts itself is neither
//! forged nor a matter of distance. Sources share a counter where there are more of them than counters.

use crate::Node;

/// So many counters; a power of 2.
const COUNTERS: usize = 64;

/// Packets sent on from here, by source. All are halved when one is full, so the past is forgotten by and by.
#[derive(Clone, Debug)]
pub(super) struct Served([u8; COUNTERS]);

impl Served {
    pub(super) const fn new() -> Self {
        Served([0; COUNTERS])
    }

    /// What a source has had.
    pub(super) fn by(&self, source: Node) -> u8 {
        self.0.get(place(source)).copied().unwrap_or(0)
    }

    /// A packet of a source has its turn.
    pub(super) fn count(&mut self, source: Node) {
        if self.by(source) == u8::MAX {
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
