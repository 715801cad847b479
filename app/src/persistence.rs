//! Timeouts of responses, and when to give up.

use hopwise_node::link::Micros;

/// Minimum and maximum timeout of a response.
const SHORTEST_WAIT: Micros = 300_000;
const LONGEST_WAIT: Micros = 8_000_000;
/// Pause between a failure and the next attempt, initial and maximum.
const FIRST_PAUSE: Micros = 5_000;
const LONGEST_PAUSE: Micros = 500_000;

/// Exponential backoff between failed attempts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pauses(Micros);

impl Pauses {
    pub(crate) const fn new() -> Self {
        Pauses(FIRST_PAUSE)
    }

    pub(crate) fn next(&mut self) -> Micros {
        let pause = self.0;
        self.0 = pause.saturating_mul(2).min(LONGEST_PAUSE);
        pause
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Persistence {
    wait: Micros,
    pauses: Pauses,
}

impl Persistence {
    pub(crate) const fn new() -> Self {
        Persistence {
            wait: 2 * SHORTEST_WAIT,
            pauses: Pauses::new(),
        }
    }

    pub(crate) fn wait(&self) -> Micros {
        self.wait
    }

    /// Records a response that took this long and made progress.
    pub(crate) fn encourage(&mut self, took: Micros) {
        self.wait = took.saturating_mul(2).clamp(SHORTEST_WAIT, LONGEST_WAIT);
        self.pauses = Pauses::new();
    }

    /// Doubles the timeout after a missing response: if responses take longer than the timeout, none would ever count.
    pub(crate) fn lengthen(&mut self) {
        self.wait = self.wait.saturating_mul(2).min(LONGEST_WAIT);
    }

    /// Records a failure. Returns the pause.
    pub(crate) fn pause(&mut self) -> Micros {
        self.pauses.next()
    }
}
