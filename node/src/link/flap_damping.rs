//! Flap damping: holds a link down that keeps restarting, or on which packets do not get through.

use super::Micros;
use super::canonical::left;

/// A session shorter than this is too short: a board that keeps restarting, or a loose plug.
const SHORT: Micros = 1_000_000;
/// Number of consecutive short sessions that are tolerated.
const SHORT_SESSIONS: u8 = 3;
/// Duration of the first pause, after too many short sessions or whenever packets did not get through; it doubles each time.
const FIRST_PAUSE: Micros = 500_000;
const LONGEST_PAUSE: Micros = 30_000_000;
const DOUBLINGS: u8 = 6;
/// A link that has worked for this long is trusted again.
pub(super) const TRUSTED: Micros = 30_000_000;
/// Number of packets in a session from which on a failed link counts as slow, not dead. It is not paused, but has to show that long frames
/// get through.
const USEFUL: u8 = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FlapDamping {
    /// When the pause ends; never if there is none.
    pub(super) until: Micros,
    /// Number of consecutive short sessions.
    short: u8,
    /// Number of sessions in which packets did not get through, or that the other end refused, since the link was last trusted.
    failed: u8,
    /// Number of packets that got through in this session, saturating.
    taken: u8,
    /// Whether the link has failed and not been trusted since: it has to show that long frames get through before packets are sent.
    pub(super) on_probation: bool,
}

impl FlapDamping {
    pub(super) fn new() -> Self {
        FlapDamping {
            until: Micros::MAX,
            ..FlapDamping::default()
        }
    }

    /// The same with times relative to now.
    pub(super) fn canonical(&self, now: Micros) -> Self {
        FlapDamping {
            until: left(self.until, now),
            ..*self
        }
    }

    /// Whether the link is paused.
    pub(super) fn is_on(&self) -> bool {
        self.until != Micros::MAX
    }

    /// Whether the last session was not too short, and the link has not failed recently.
    pub(super) fn is_clean(&self) -> bool {
        self.short == 0 && !self.on_probation
    }

    /// A session of this duration is over, through no fault of the wire.
    pub(super) fn session_over(&mut self, lasted: Micros, now: Micros) {
        self.trust(lasted);
        self.taken = 0;
        if lasted >= SHORT {
            self.short = 0;
        } else if !self.is_on() {
            self.short = self.short.saturating_add(1);
            if let Some(before) = self.short.checked_sub(SHORT_SESSIONS + 1) {
                self.pause(before, now);
            }
        }
    }

    /// Packets did not get through, or the other end refused them, after the link had worked for this long.
    pub(super) fn failed(&mut self, worked: Micros, now: Micros) {
        self.trust(worked);
        self.on_probation = true;
        if core::mem::take(&mut self.taken) >= USEFUL {
            self.failed = 0;
        } else {
            self.pause(self.failed, now);
            self.failed = self.failed.saturating_add(1);
        }
    }

    pub(super) fn packets_taken(&mut self, count: usize) {
        self.taken = USEFUL.min(self.taken.saturating_add(count as u8));
    }

    /// Whether no packet got through in this session.
    pub(super) fn nothing_taken(&self) -> bool {
        self.taken == 0
    }

    fn trust(&mut self, worked: Micros) {
        if worked >= TRUSTED {
            self.failed = 0;
            self.on_probation = false;
        }
    }

    fn pause(&mut self, before: u8, now: Micros) {
        let pause = (FIRST_PAUSE << before.min(DOUBLINGS)).min(LONGEST_PAUSE);
        self.until = now.saturating_add(pause);
    }

    /// Returns whether the pause has just ended.
    pub(super) fn tick(&mut self, now: Micros) -> bool {
        let ends = now >= self.until;
        if ends {
            self.until = Micros::MAX;
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const SECOND: Micros = 1_000_000;

    /// The duration of each pause after sessions of these lengths.
    fn pauses(lengths: &[Micros], end: impl Fn(&mut FlapDamping, Micros, Micros)) -> Vec<Micros> {
        let (mut hold, mut now) = (FlapDamping::new(), 0);
        let mut pauses = Vec::new();
        for &length in lengths {
            now += length;
            end(&mut hold, length, now);
            let until = if hold.is_on() { hold.until } else { now };
            pauses.push(until - now);
            assert!(until == now || !hold.tick(until - 1));
            assert_eq!(hold.tick(until), until > now);
            now = until;
        }
        pauses
    }

    #[test]
    fn a_few_short_sessions_cost_nothing_more_cost_twice_as_much_each() {
        let short = SECOND / 50;
        let halves: Vec<_> = pauses(&[short; 12], FlapDamping::session_over)
            .iter()
            .map(|pause| pause / (SECOND / 2))
            .collect();
        assert_eq!(halves, [0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
        let steady = [short, short, short, SECOND, short, short, short, 2 * SECOND, short];
        assert_eq!(pauses(&steady, FlapDamping::session_over), [0; 9]);
    }

    #[test]
    fn failures_cost_twice_as_much_each_until_the_link_has_worked_for_long() {
        let lengths = [5 * SECOND, SECOND, SECOND, 29 * SECOND, 30 * SECOND, SECOND];
        let halves: Vec<_> = pauses(&lengths, FlapDamping::failed)
            .iter()
            .map(|pause| pause / (SECOND / 2))
            .collect();
        assert_eq!(halves, [1, 2, 4, 8, 1, 2]);
    }

    #[test]
    fn a_link_that_is_only_slow_is_not_left_alone() {
        let useful = pauses(&[SECOND; 5], |hold, worked, now| {
            hold.packets_taken(6);
            hold.failed(worked, now);
            assert!(hold.on_probation);
        });
        assert_eq!(useful, [0; 5]);
        let useless = pauses(&[SECOND; 3], |hold, worked, now| {
            hold.packets_taken(3);
            hold.failed(worked, now);
        });
        assert_eq!(useless, [1, 2, 4].map(|halves| halves * SECOND / 2));
    }

    #[test]
    fn what_happens_in_a_pause_does_not_make_it_longer() {
        let mut hold = FlapDamping::new();
        hold.failed(0, 0);
        let until = hold.until;
        for _ in 0..100 {
            hold.session_over(20_000, 100_000);
        }
        assert_eq!(hold.until, until);
        assert!(hold.on_probation);
    }
}
