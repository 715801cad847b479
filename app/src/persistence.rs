//! SendMode long to wait for an answer before asking again, and when to give up.

use hopwise_node::link::Micros;

/// How long an answer may take at least and at most.
const SHORTEST_WAIT: Micros = 300_000;
const LONGEST_WAIT: Micros = 8_000_000;
/// Between a failure and the next attempt, the first time and at most.
const FIRST_PAUSE: Micros = 5_000;
const LONGEST_PAUSE: Micros = 500_000;

/// Pauses between attempts that fail, each twice as long as the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pauses(Micros);

impl Pauses {
    pub(crate) const fn new() -> Self {
        Pauses(FIRST_PAUSE)
    }

    /// The next.
    pub(crate) fn next(&mut self) -> Micros {
        let pause = self.0;
        self.0 = pause.saturating_mul(2).min(LONGEST_PAUSE);
        pause
    }
}

/// Of one who asks again and again, until something comes of it.
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

    /// For how long to wait for an answer.
    pub(crate) fn wait(&self) -> Micros {
        self.wait
    }

    /// An answer came after a time, and there is reason to go on.
    pub(crate) fn encourage(&mut self, took: Micros) {
        self.wait = took.saturating_mul(2).clamp(SHORTEST_WAIT, LONGEST_WAIT);
        self.pauses = Pauses::new();
    }

    /// No answer came in time. Where answers take longer than one waits none would ever count.
    pub(crate) fn lengthen(&mut self) {
        self.wait = self.wait.saturating_mul(2).min(LONGEST_WAIT);
    }

    /// It did not work. Returns how long to pause.
    pub(crate) fn pause(&mut self) -> Micros {
        self.pauses.next()
    }
}
