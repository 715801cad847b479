//! Disturbances of the mesh and their times, which explain packets that did not arrive.

use hopwise_core::named;
use hopwise_node::router::times::LIFETIME;

use crate::wire::Nanos;

named! {
    /// The exception by which a packet that did not arrive violates no guarantee.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Exception {
        /// An end restarted, or a board died with it, while it was under way.
        Restarted = "restarted",
        /// No path led from its source to its destination when it was sent.
        CutOff = "cut-off",
        /// A board or a cable changed shortly before it was sent, or while it was under way.
        Changing = "changing",
        /// Every path led over a wire that damages more than every other of the longest frames.
        Noisy = "noisy",
        /// There were such wires, and its destination had more to answer than it has buffers for.
        Busy = "busy",
        /// Its receiver's inbox was full: the application there reads late.
        Unread = "unread",
        /// Senders were refused: more was sent than the mesh carries.
        Overload = "overload",
        /// A board of the mesh is faulty, and nothing is guaranteed for such a packet beside such a board.
        FaultyNode = "rogue",
    }
}

/// A link is silent for so long before it is taken for dead, and some time more until the mesh has settled.
const SILENCE: Nanos = 450_000_000;
/// The same in bytes, for slow wires.
const SILENT_BYTES: Nanos = 300;
/// An overload lasts in the mesh as long as packets do.
const CROWDED: Nanos = LIFETIME * 1_000;

/// Spans of time, in order. Those close to each other are one.
#[derive(Default)]
pub(super) struct Spans(Vec<(Nanos, Nanos)>);

/// So close.
const GAP: Nanos = 50_000_000;

impl Spans {
    pub(super) fn add(&mut self, at: Nanos) {
        match self.0.last_mut() {
            Some((_, end)) if at <= end.saturating_add(GAP) => *end = at.max(*end),
            _ => self.0.push((at, at)),
        }
    }

    /// Whether any time from `from` to `until` is in them.
    fn touch(&self, from: Nanos, until: Nanos) -> bool {
        let first = self.0.partition_point(|&(_, end)| end < from);
        self.0.get(first).is_some_and(|&(start, _)| start <= until)
    }
}

#[derive(Default)]
pub(super) struct History {
    pub(super) changes: Spans,
    pub(super) refusals: Spans,
    /// Packets refused by neighbors, which then go in another order.
    pub(super) crowds: Spans,
    /// Links that came up or went down, by the script or by themselves, so that routes changed.
    pub(super) reroutes: Spans,
    settles_within: Nanos,
}

impl History {
    /// Nothing yet, on wires on which a byte takes so long.
    pub(super) fn new(byte_nanos: Nanos) -> Self {
        History {
            settles_within: SILENCE + SILENT_BYTES * byte_nanos,
            ..History::default()
        }
    }

    /// The disturbance that may explain the loss of a packet in flight from `sent` to `until`, between ends that were connected.
    pub(super) fn exception(&self, sent: Nanos, until: Nanos) -> Option<Exception> {
        let settling = sent.saturating_sub(self.settles_within);
        if self.changes.touch(settling, until) {
            Some(Exception::Changing)
        } else if self.refusals.touch(sent.saturating_sub(CROWDED), until) {
            Some(Exception::Overload)
        } else {
            None
        }
    }

    /// Whether neighbors had to refuse packets, routes changed, or something else was amiss, so that packets may have overtaken one that was in
    /// flight from `sent` to `until`.
    pub(super) fn may_overtake(&self, sent: Nanos, until: Nanos) -> bool {
        let spans = [&self.crowds, &self.reroutes];
        self.exception(sent, until).is_some() || spans.iter().any(|spans| spans.touch(sent, until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    #[test]
    fn what_a_disturbance_excuses_and_what_it_does_not() {
        let mut history = History::new(10_000);
        history.changes.add(10 * SECOND);
        history.changes.add(20 * SECOND);
        history.refusals.add(40 * SECOND);
        // A link that noise or a board that is held down brings down or up: it excuses what is overtaken, but no loss.
        history.reroutes.add(60 * SECOND);
        for (sent, until, exception, may_overtake) in [
            (8, 9, None, false),
            (8, 11, Some(Exception::Changing), true),
            (10, 10, Some(Exception::Changing), true),
            (11, 19, None, false),
            (19, 25, Some(Exception::Changing), true),
            (21, 25, None, false),
            // As long as a packet lives.
            (45, 46, Some(Exception::Overload), true),
            (47, 48, None, false),
            (58, 59, None, false),
            (59, 61, None, true),
            (61, 62, None, false),
        ] {
            let (from, to) = (sent * SECOND, until * SECOND);
            let found = (history.exception(from, to), history.may_overtake(from, to));
            assert_eq!(found, (exception, may_overtake), "sent at {sent}, until {until}");
        }
        let settling = history.exception(20 * SECOND + SILENCE, 25 * SECOND);
        assert_eq!(settling, Some(Exception::Changing));
    }
}
