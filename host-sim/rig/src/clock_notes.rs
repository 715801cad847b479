//! What is noted of boards' clocks while their lines come.

use std::collections::BTreeMap;

use hopwise_trace::line::Nanos;

/// A node and its starts before: each start is a clock of its own.
pub(crate) type ClockKey = (u64, u32);

/// So many arrivals are kept of each clock, to place it if no packet does.
const MAX_ARRIVALS: usize = 1024;

/// Numbers that are thinned out evenly when they become too many.
#[derive(Clone, Debug)]
struct Thinned {
    every: u64,
    seen: u64,
    kept: Vec<(f64, f64)>,
}

impl Thinned {
    fn add(&mut self, value: (f64, f64)) {
        if self.seen.is_multiple_of(self.every) {
            self.kept.push(value);
        }
        self.seen += 1;
        if self.kept.len() > MAX_ARRIVALS {
            let mut place = 0;
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.every *= 2;
        }
    }
}

/// What is noted of a clock while its lines come.
#[derive(Clone, Debug)]
pub(crate) struct ClockNotes {
    pub(crate) first: f64,
    /// What it showed when lines arrived, and when they did.
    arrivals: Thinned,
}

impl ClockNotes {
    pub(crate) fn new(first: f64) -> Self {
        ClockNotes {
            first,
            arrivals: Thinned {
                every: 1,
                seen: 0,
                kept: Vec::new(),
            },
        }
    }

    /// A line came, with what the clock showed and when it arrived.
    pub(crate) fn arrived(&mut self, shown: f64, at: f64) {
        self.arrivals.add((shown, at));
    }

    pub(crate) fn arrivals(&self) -> &[(f64, f64)] {
        &self.arrivals.kept
    }
}

/// Tells starts of boards apart: a clock that goes back has been started anew.
#[derive(Debug, Default)]
pub(crate) struct Boots(BTreeMap<u64, (u32, Nanos)>);

impl Boots {
    pub(crate) fn key(&mut self, node: u64, at: Nanos) -> ClockKey {
        let (boot, last) = self.0.entry(node).or_insert((0, at));
        *boot += u32::from(at < *last);
        *last = at;
        (node, *boot)
    }
}
