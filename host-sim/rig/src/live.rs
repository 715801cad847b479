//! Lines of a capture as they are shown: by the time of the mesh, a moment after they came.

use super::capture::LogLine;
use super::clock_notes::{ClockKey, Clocks};
use hopwise_trace::line::Record;

/// Lines are held back so long, in seconds: one that comes later than another and is older than it is still shown before it.
pub const HELD_BACK: f64 = 0.5;
/// Lines are shown this often at most, in seconds, so that those that are held are not sorted for each that comes.
const STEP: f64 = 0.05;

struct Held {
    line: LogLine,
    record: Record,
    clock: ClockKey,
    arrived: f64,
}

/// Lines that came and are not shown yet.
#[derive(Default)]
pub(crate) struct Live {
    held: Vec<Held>,
    next: f64,
}

impl Live {
    pub(crate) fn hold(&mut self, line: LogLine, record: Record, clock: ClockKey, arrived: f64) {
        self.held.push(Held {
            line,
            record,
            clock,
            arrived,
        });
    }

    /// The lines that are shown now, each with its time: all of those that came up to `until`, in seconds since the capture began, and of the
    /// others those that are as old.
    pub(crate) fn due(&mut self, until: f64, clocks: &Clocks) -> Vec<(f64, LogLine, Record)> {
        if until < self.next {
            return Vec::new();
        }
        self.next = until + STEP;
        let mut due = Vec::new();
        let mut later = Vec::new();
        for held in self.held.drain(..) {
            // No line comes before it was written, whatever a board says of the time.
            let time = clocks.since_begin(held.clock, held.line.stamp).min(held.arrived);
            match time <= until || held.arrived <= until {
                true => due.push((time, held.line, held.record)),
                false => later.push(held),
            }
        }
        self.held = later;
        due.sort_by(|one, other| one.0.total_cmp(&other.0));
        due
    }
}
