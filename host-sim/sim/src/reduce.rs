//! Minimizes a run that violates a guarantee: whatever can be left out while it is still violated is left out.

use hopwise_language::Time;

use super::oracle::Violation;
use super::settings::Settings;
use super::simulate;

const TRIES: usize = 300;

/// The violation of a run, if there is one; a run that cannot be is none.
pub fn violation(settings: &Settings) -> Option<Violation> {
    let run = settings.run().ok()?;
    simulate(&run, None, &mut |_| ()).ok()?.violation
}

struct Reducer {
    least: Settings,
    broken: Violation,
    tries: usize,
}

/// A shorter run that violates the same kind of guarantee, and its violation.
pub fn reduce(settings: &Settings, broken: Violation) -> (Settings, Violation) {
    let mut reducer = Reducer {
        least: settings.clone(),
        broken,
        tries: 0,
    };
    loop {
        let before = reducer.least.clone();
        reducer.lists();
        reducer.options();
        reducer.lengths();
        if reducer.least == before || reducer.tries >= TRIES {
            return (reducer.least, reducer.broken);
        }
    }
}

impl Reducer {
    /// Whether a run still violates the same guarantee; then it is taken.
    fn try_this(&mut self, settings: Settings) -> bool {
        if settings == self.least || self.tries >= TRIES {
            return false;
        }
        self.tries += 1;
        let broken = violation(&settings).filter(|broken| broken.kind == self.broken.kind);
        let Some(broken) = broken else { return false };
        (self.least, self.broken) = (settings, broken);
        true
    }

    /// Leaves out events, faulty nodes and hosts.
    fn lists(&mut self) {
        self.list("; ", |run| &mut run.events);
        self.list(",", |run| &mut run.rogue);
        self.list(",", |run| &mut run.host);
    }

    /// Leaves parts of a list out: halves of it, quarters, and so on to one by one.
    fn list(&mut self, separator: &str, list: fn(&mut Settings) -> &mut Option<String>) {
        let text = list(&mut self.least.clone()).clone().unwrap_or_default();
        let mut parts: Vec<&str> = text.split(separator).filter(|part| !part.is_empty()).collect();
        let mut size = parts.len();
        while size > 0 {
            let mut from = 0;
            while from < parts.len() {
                let mut fewer = parts.clone();
                fewer.drain(from..(from + size).min(parts.len()));
                let mut settings = self.least.clone();
                *list(&mut settings) = Some(fewer.join(separator)).filter(|list| !list.is_empty());
                // Who is not there cannot leave.
                settings.detach_host_every = settings.detach_host_every.filter(|_| settings.host.is_some());
                if self.try_this(settings) {
                    parts = fewer;
                } else {
                    from += size;
                }
            }
            size /= 2;
        }
    }

    /// Leaves options out, one by one.
    fn options(&mut self) {
        let without: [fn(&mut Settings); 21] = [
            |run| run.restore = false,
            |run| run.read_late = None,
            |run| run.baud = None,
            |run| run.tap = None,
            |run| (run.key, run.rogue_has_key) = (None, false),
            |run| run.pull_every = None,
            |run| run.reset_every = None,
            |run| run.detach_host_every = None,
            |run| run.ber = None,
            |run| run.bursts = None,
            |run| run.lost_bytes = None,
            |run| run.inserted_bytes = None,
            |run| run.doubled_bytes = None,
            |run| run.drift = None,
            |run| run.jitter = None,
            |run| run.processing = None,
            |run| run.traffic = None,
            |run| run.mixed = false,
            |run| (run.mixed, run.confirmed) = (false, run.mixed || run.confirmed),
            |run| run.payload = None,
            |run| run.rate = run.rate.map(|rate| rate.ceil()),
        ];
        for leave_out in without {
            let mut settings = self.least.clone();
            leave_out(&mut settings);
            self.try_this(settings);
        }
    }

    /// Sends for a shorter time.
    fn lengths(&mut self) {
        while let Some(duration) = self.least.duration {
            let shorter = duration.nanos() * 2 / 3 / 1_000_000 * 1_000_000;
            let settings = Settings {
                duration: Some(Time::from_nanos(shorter)),
                ..self.least.clone()
            };
            if shorter == 0 || !self.try_this(settings) {
                return;
            }
        }
    }
}
