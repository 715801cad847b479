//! What is noted of boards' clocks while their lines come.

use std::collections::BTreeMap;

use hopwise_node::router::Event;
use hopwise_trace::line::{Nanos, Record, TraceLine};

use super::time_line::RATE_UNIT;

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

#[derive(Clone, Debug)]
pub(crate) struct ClockNotes {
    pub(crate) first: f64,
    /// What it showed when lines arrived, and when they did.
    arrivals: Thinned,
    /// Between what it showed and arrivals.
    behind: Behind,
    /// What the board has last said of the time of the mesh.
    told: Option<Told>,
}

/// The least time between what a clock shows and an arrival. It is let grow a little, since crystals are not alike.
#[derive(Clone, Copy, Debug, Default)]
struct Behind(Option<(f64, f64)>);

impl Behind {
    const DRIFT: f64 = 1e-4;

    fn note(&mut self, late: f64, now: f64) {
        let grown = self.0.map_or(late, |(least, then)| least + (now - then) * Self::DRIFT);
        self.0 = Some((late.min(grown), now));
    }

    fn least(self) -> f64 {
        self.0.map_or(0.0, |(least, _)| least)
    }
}

/// What a clock shows, and the time of the mesh then, in seconds; and how much faster that passes.
#[derive(Clone, Copy, Debug)]
struct Told {
    local: f64,
    mesh: f64,
    rate: f64,
}

impl Told {
    fn mesh(self, shown: f64) -> f64 {
        self.mesh + (shown - self.local) * self.rate
    }
}

impl ClockNotes {
    fn new(first: f64) -> Self {
        ClockNotes {
            first,
            behind: Behind::default(),
            told: None,
            arrivals: Thinned {
                every: 1,
                seen: 0,
                kept: Vec::new(),
            },
        }
    }

    fn arrived(&mut self, shown: f64, at: f64) {
        self.arrivals.add((shown, at));
        self.behind.note(at - shown, at);
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

/// No line takes as long to come, in seconds: a board that is off by more errs in the time of the mesh, or it was set anew.
const TOO_FAR: f64 = 2.0;

#[derive(Debug, Default)]
pub(crate) struct Clocks {
    pub(crate) notes: BTreeMap<ClockKey, ClockNotes>,
    boots: Boots,
    /// Between the time of the mesh and arrivals.
    mesh_behind: Behind,
    /// Boards that have told the time of the mesh, and whether what they told last is that of the others.
    agree: BTreeMap<u64, bool>,
}

impl Clocks {
    /// A line came, perhaps at a known time in seconds since the capture began. Returns the clock that its stamp is from.
    pub(crate) fn note(&mut self, line: &TraceLine, arrived: Option<f64>) -> ClockKey {
        let shown = line.at as f64 / 1e9;
        let key = self.boots.key(line.node, line.at);
        let notes = self.notes.entry(key).or_insert_with(|| ClockNotes::new(shown));
        if let Record::Event(Event::Clock { local, mesh, rate, .. }) = line.record {
            let [local, mesh] = [local, mesh].map(|micros| micros as f64 / 1e6);
            let rate = 1.0 + f64::from(rate) / RATE_UNIT;
            notes.told = Some(Told { local, mesh, rate });
        }
        if let Some(arrived) = arrived {
            notes.arrived(shown, arrived);
            if let Some(told) = notes.told {
                self.note_mesh(line.node, arrived - told.mesh(shown), arrived);
            }
        }
        key
    }

    fn note_mesh(&mut self, node: u64, late: f64, arrived: f64) {
        let agrees = (self.mesh_behind.0).is_none_or(|(least, _)| (late - least).abs() <= TOO_FAR);
        self.agree.insert(node, agrees);
        let others = self.agree.values().filter(|agrees| !**agrees).count();
        if 2 * others > self.agree.len() {
            // Most are right.
            self.agree.values_mut().for_each(|agrees| *agrees = !*agrees);
            self.mesh_behind = Behind::default();
        }
        if self.agree[&node] {
            self.mesh_behind.note(late, arrived);
        }
    }

    /// When a clock showed a time, in seconds since the capture began: by the time of the mesh if its board has told it and others agree, and
    /// else by when its lines came.
    pub(crate) fn since_begin(&self, key: ClockKey, shown: f64) -> f64 {
        let Some(notes) = self.notes.get(&key) else {
            return shown;
        };
        let by_arrival = shown + notes.behind.least();
        let by_mesh = notes.told.map(|told| told.mesh(shown) + self.mesh_behind.least());
        let agrees = |time: &f64| (time - by_arrival).abs() <= TOO_FAR;
        by_mesh.filter(agrees).unwrap_or(by_arrival)
    }
}
