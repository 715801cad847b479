//! The timeout of a link on which nothing gets through, though both ends hear each other.

use super::canonical::left;
use super::{Micros, millis};

/// If nothing is acknowledged for this long, or for this many timeouts on a slow wire, the link is stuck and given up.
const STUCK_AFTER: Micros = 1_500_000;
const STUCK_TIMEOUTS: Micros = 8;
/// A single frame may take twice as long, so that packets do not expire on the wire.
const ONE_FRAME: Micros = 2;
/// Maximum number of unsuccessful retransmissions of the window.
const STUCK_ROUNDS: u8 = 96;
/// Timeout for the other end to accept this one.
const ACCEPT_WITHIN: Micros = 2_000_000;
/// Time in milliseconds after which an end that has taken nothing, though packets always wait for it, counts as starving us. In
/// a broadcast storm, where nearly all boards are full, correct ones take nothing for up to 5 seconds.
const STARVED_AFTER: u32 = 5_500;
/// The same for an end that did so before.
const STARVED_AGAIN_AFTER: u32 = 1_000;
/// Gap in milliseconds after which waiting packets count as a new case.
const STARVING_GAP: u32 = 500;

/// What the link waits for, and since when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct AckTimeout {
    /// When the link is given up if nothing has changed: the other end has not accepted us, or not acknowledged the oldest frame in
    /// flight.
    pub(super) until: Micros,
    /// How often the frames in flight have been retransmitted.
    rounds: u8,
    /// Since when packets find no room at the other end, and when they last did not: in milliseconds.
    starving_since: Option<u32>,
    starved_at: u32,
}

impl AckTimeout {
    pub(super) fn new() -> Self {
        AckTimeout {
            until: Micros::MAX,
            ..AckTimeout::default()
        }
    }

    /// The same with times relative to now.
    pub(super) fn canonical(&self, now: Micros) -> Self {
        let ago = millis(now).wrapping_sub(self.starved_at);
        let lately = ago <= STARVING_GAP;
        let starved_for = |since: u32| self.starved_at.wrapping_sub(since).min(STARVED_AFTER);
        let starving_since = self.starving_since.filter(|_| lately).map(starved_for);
        AckTimeout {
            until: left(self.until, now),
            rounds: self.rounds,
            starved_at: starving_since.map_or(0, |_| ago),
            starving_since,
        }
    }

    /// Stops all timeouts: the session is over, or this end does not want it.
    pub(super) fn end(&mut self) {
        self.until = Micros::MAX;
        self.rounds = 0;
    }

    /// Packets may be sent.
    pub(super) fn open(&mut self) {
        self.until = Micros::MAX;
        self.starving_since = None;
    }

    pub(super) fn await_acceptance(&mut self, now: Micros) {
        self.until = now.saturating_add(ACCEPT_WITHIN);
    }

    /// The sender retransmits.
    pub(super) fn went_back(&mut self, now: Micros) {
        self.rounds = self.rounds.saturating_add(1);
        if self.rounds >= STUCK_ROUNDS {
            self.until = now;
        }
    }

    /// A frame is sent. If no timeout was running, one starts for the oldest frame, which has been in flight for `waited`.
    pub(super) fn sent(&mut self, waited: Option<Micros>, timeout: Micros, now: Micros) {
        if self.until == Micros::MAX {
            self.await_oldest(waited, timeout, now);
        }
    }

    /// Frames were acknowledged, of which the other end took some or none. `waited` is how long the oldest remaining frame has been
    /// in flight, if there is one.
    pub(super) fn acknowledged(&mut self, took_some: bool, waited: Option<Micros>, timeout: Micros, now: Micros) {
        self.rounds = 0;
        self.await_oldest(waited, timeout, now);
        if took_some {
            self.starving_since = None;
        } else {
            self.starves(now);
        }
    }

    /// Restarts the timeouts after an announced pause.
    pub(super) fn begin_anew(&mut self, timeout: Micros, now: Micros) {
        self.rounds = 0;
        self.starving_since = None;
        if self.until != Micros::MAX {
            self.await_oldest(Some(0), timeout, now);
        }
    }

    fn await_oldest(&mut self, waited: Option<Micros>, timeout: Micros, now: Micros) {
        let Some(waited) = waited else {
            self.until = Micros::MAX;
            return;
        };
        let progress = STUCK_AFTER.max(timeout.saturating_mul(STUCK_TIMEOUTS));
        let left = progress.saturating_mul(ONE_FRAME).saturating_sub(waited);
        self.until = now.saturating_add(left.min(progress));
    }

    /// Packets wait that find no room.
    pub(super) fn starves(&mut self, now: Micros) {
        let now = millis(now);
        if self.starving_since.is_none() || now.wrapping_sub(self.starved_at) > STARVING_GAP {
            self.starving_since = Some(now);
        }
        self.starved_at = now;
    }

    /// Whether the timeout for acceptance or acknowledgment has expired.
    pub(super) fn is_over(&self, now: Micros) -> bool {
        now >= self.until
    }

    /// Whether packets found no room since one was taken.
    pub(super) fn is_starving(&self) -> bool {
        self.starving_since.is_some()
    }

    /// Whether the other end no longer takes anything. One on probation gets less time.
    pub(super) fn is_starved(&self, on_probation: bool, now: Micros) -> bool {
        let most = if on_probation {
            STARVED_AGAIN_AFTER
        } else {
            STARVED_AFTER
        };
        let starved = |since: u32| {
            let lately = millis(now).wrapping_sub(self.starved_at) <= STARVING_GAP;
            lately && self.starved_at.wrapping_sub(since) >= most
        };
        self.starving_since.is_some_and(starved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Micros = 1_000_000;
    const TIMEOUT: Micros = 10_000;

    #[test]
    fn a_frame_that_is_not_acknowledged_is_waited_for_once() {
        let mut timeout = AckTimeout::new();
        timeout.sent(Some(0), TIMEOUT, SECOND);
        timeout.sent(Some(0), TIMEOUT, 2 * SECOND);
        assert_eq!(timeout.until, SECOND + STUCK_AFTER);
        assert!(!timeout.is_over(SECOND + STUCK_AFTER - 1) && timeout.is_over(SECOND + STUCK_AFTER));
        // It takes longer on a slow wire.
        let mut timeout = AckTimeout::new();
        timeout.sent(Some(0), SECOND, SECOND);
        assert_eq!(timeout.until, 9 * SECOND);
    }

    #[test]
    fn progress_gives_time_but_no_frame_waits_for_ever() {
        let mut timeout = AckTimeout::new();
        timeout.sent(Some(0), TIMEOUT, SECOND);
        timeout.acknowledged(true, Some(STUCK_AFTER), TIMEOUT, 2 * SECOND);
        assert_eq!(timeout.until, 2 * SECOND + STUCK_AFTER);
        timeout.acknowledged(true, Some(2 * STUCK_AFTER - 7), TIMEOUT, 3 * SECOND);
        assert_eq!(timeout.until, 3 * SECOND + 7);
        timeout.acknowledged(true, None, TIMEOUT, 3 * SECOND);
        assert_eq!(timeout.until, Micros::MAX);
    }

    #[test]
    fn going_back_in_vain_ends_it_and_an_acknowledgement_begins_anew() {
        let mut timeout = AckTimeout::new();
        timeout.sent(Some(0), TIMEOUT, 0);
        (1..STUCK_ROUNDS).for_each(|_| timeout.went_back(SECOND));
        assert!(!timeout.is_over(SECOND));
        timeout.acknowledged(true, Some(0), TIMEOUT, SECOND);
        (1..STUCK_ROUNDS).for_each(|_| timeout.went_back(SECOND));
        assert!(!timeout.is_over(SECOND));
        timeout.went_back(SECOND);
        assert!(timeout.is_over(SECOND));
    }

    #[test]
    fn an_end_is_starved_if_packets_wait_all_the_time() {
        // Milliseconds wrap in between.
        let at = |millis: u32| (1_000 << 32) - 2 * SECOND + Micros::from(millis) * 1_000;
        for (on_probation, most) in [(false, STARVED_AFTER), (true, STARVED_AGAIN_AFTER)] {
            let mut timeout = AckTimeout::new();
            let wait = |timeout: &mut AckTimeout, from: u32, to: u32| {
                for millis in (from..=to).step_by(100) {
                    timeout.starves(at(millis));
                }
                timeout.is_starved(on_probation, at(to))
            };
            assert!(!wait(&mut timeout, 1_000, 1_000 + most - 100));
            assert!(wait(&mut timeout, 1_000 + most - 100, 1_000 + most));
            assert!(!timeout.is_starved(on_probation, at(1_000 + most + STARVING_GAP + 1)));
            // No packets waited for a while, or one was taken.
            let later = 1_000 + most + STARVING_GAP + 1;
            assert!(!wait(&mut timeout, later, later + most / 2));
            timeout.acknowledged(true, None, TIMEOUT, at(later + most / 2));
            assert!(!wait(&mut timeout, later + most / 2, later + most));
        }
    }
}
