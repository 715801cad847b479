//! Lines of a capture as they are shown: by the time of the mesh, a moment after they came.

use super::capture::LogLine;
use super::clock_notes::{ClockKey, Clocks};
use hopwise_trace::line::Record;

/// Lines are held back so long, in seconds: one that comes later than another and is older than it is still shown before it.
pub const HELD_BACK: f64 = 0.5;
/// Lines are shown this often at most, in seconds, so that those that are held are not sorted for each that comes.
const STEP: f64 = 0.05;

/// Lines that came and are not shown yet.
#[derive(Default)]
pub(crate) struct Live {
    held: Vec<(ClockKey, LogLine, Record)>,
    next: f64,
}

impl Live {
    pub(crate) fn hold(&mut self, clock: ClockKey, line: LogLine, record: Record) {
        self.held.push((clock, line, record));
    }

    /// The lines that are shown now, each with its time: all of those that came up to `until`, in seconds since the capture began, and of the
    /// others those that are as old.
    pub(crate) fn due(&mut self, until: f64, clocks: &Clocks) -> Vec<(f64, LogLine, Record)> {
        if until < self.next {
            return Vec::new();
        }
        self.next = until + STEP;
        let (mut due, mut later) = (Vec::new(), Vec::new());
        for (clock, line, record) in self.held.drain(..) {
            let arrived = line.arrived.unwrap_or(0.0);
            // No line comes before it was written, whatever a board says of the time.
            let time = clocks.since_begin(clock, line.stamp).min(arrived);
            match time <= until || arrived <= until {
                true => due.push((time, line, record)),
                false => later.push((clock, line, record)),
            }
        }
        self.held = later;
        due.sort_by(|one, other| one.0.total_cmp(&other.0));
        due
    }
}
