//! How long a link is waited for on which nothing comes through, though both ends hear each other.

use super::canonical::left;
use super::{Micros, millis};

/// If nothing is acknowledged for this long, or for so many timeouts on a slow wire, frames are stuck and the link is given up.
const STUCK_AFTER: Micros = 1_500_000;
const STUCK_TIMEOUTS: Micros = 8;
/// And if one frame is not for twice as long, so that packets do not grow old on the wire.
const ONE_FRAME: Micros = 2;
/// And if the sender has gone back so many times in vain.
const STUCK_ROUNDS: u8 = 96;
/// The other end has this long to accept us.
const ACCEPT_WITHIN: Micros = 2_000_000;
/// An end that has taken nothing for this long, in milliseconds, though packets wait for it all the time, takes nothing any more. In
/// a storm of broadcasts, where nearly all boards are full, honest ones take nothing for up to 5 seconds.
const STARVED_AFTER: u32 = 5_500;
/// One that did so before is not given as long.
const STARVED_AGAIN_AFTER: u32 = 1_000;
/// Packets that waited this long ago, in milliseconds, are another matter.
const STARVING_GAP: u32 = 500;

/// What the link waits for, and since when.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AckTimeout {
    /// When it is given up if nothing has changed by then: the other end has not accepted us, or not acknowledged the oldest frame on
    /// the way.
    until: Micros,
    /// How often what is on the way has been sent again.
    rounds: u8,
    /// Since when packets wait that find no room there, if they do, and when they last did: in milliseconds.
    starving_since: Option<u32>,
    starved_at: u32,
}

impl AckTimeout {
    pub(super) const fn new() -> Self {
        AckTimeout {
            until: Micros::MAX,
            rounds: 0,
            starving_since: None,
            starved_at: 0,
        }
    }

    /// The same with times that are counted from now: for how long packets have found no room, and how long ago they last did not.
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

    pub(super) fn deadline(&self) -> Micros {
        self.until
    }

    /// Nothing is waited for any more: the session is over, or this end does not want it.
    pub(super) fn end(&mut self) {
        self.until = Micros::MAX;
        self.rounds = 0;
    }

    /// Packets may be sent.
    pub(super) fn open(&mut self) {
        self.until = Micros::MAX;
        self.starving_since = None;
    }

    /// The other end has to accept us.
    pub(super) fn await_acceptance(&mut self, now: Micros) {
        self.until = now.saturating_add(ACCEPT_WITHIN);
    }

    /// The sender goes back.
    pub(super) fn went_back(&mut self, now: Micros) {
        self.rounds = self.rounds.saturating_add(1);
        if self.rounds >= STUCK_ROUNDS {
            self.until = now;
        }
    }

    /// A frame is sent. If none was waited for, the oldest is from now on; it has been on the way for so long.
    pub(super) fn sent(&mut self, waited: Option<Micros>, timeout: Micros, now: Micros) {
        if self.until == Micros::MAX {
            self.await_oldest(waited, timeout, now);
        }
    }

    /// Frames were acknowledged, of which the other end took some or none. `waited` is for how long the oldest of the rest has been
    /// on the way, if there is one.
    pub(super) fn acknowledged(&mut self, took_some: bool, waited: Option<Micros>, timeout: Micros, now: Micros) {
        self.rounds = 0;
        self.await_oldest(waited, timeout, now);
        if took_some {
            self.starving_since = None;
        } else {
            self.starves(now);
        }
    }

    /// What was waited for is waited for anew: the link was silent, as announced.
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

    /// Packets wait, and there is no room for them.
    pub(super) fn starves(&mut self, now: Micros) {
        let now = millis(now);
        if self.starving_since.is_none() || now.wrapping_sub(self.starved_at) > STARVING_GAP {
            self.starving_since = Some(now);
        }
        self.starved_at = now;
    }

    /// Whether it has waited in vain for acceptance or acknowledgements.
    pub(super) fn is_over(&self, now: Micros) -> bool {
        now >= self.until
    }

    /// Whether the other end takes nothing any more. One that is on probation is given less time.
    pub(super) fn is_starved(&self, on_probation: bool, now: Micros) -> bool {
        let lately = millis(now).wrapping_sub(self.starved_at) <= STARVING_GAP;
        let most = if on_probation {
            STARVED_AGAIN_AFTER
        } else {
            STARVED_AFTER
        };
        let starved = |since: u32| self.starved_at.wrapping_sub(since) >= most;
        lately && self.starving_since.is_some_and(starved)
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
        assert_eq!(timeout.deadline(), SECOND + STUCK_AFTER);
        assert!(!timeout.is_over(SECOND + STUCK_AFTER - 1) && timeout.is_over(SECOND + STUCK_AFTER));
        // On a slow wire it takes longer.
        let mut timeout = AckTimeout::new();
        timeout.sent(Some(0), SECOND, SECOND);
        assert_eq!(timeout.deadline(), 9 * SECOND);
    }

    #[test]
    fn progress_gives_time_but_no_frame_waits_for_ever() {
        let mut timeout = AckTimeout::new();
        timeout.sent(Some(0), TIMEOUT, SECOND);
        timeout.acknowledged(true, Some(STUCK_AFTER), TIMEOUT, 2 * SECOND);
        assert_eq!(timeout.deadline(), 2 * SECOND + STUCK_AFTER);
        timeout.acknowledged(true, Some(2 * STUCK_AFTER - 7), TIMEOUT, 3 * SECOND);
        assert_eq!(timeout.deadline(), 3 * SECOND + 7);
        timeout.acknowledged(true, None, TIMEOUT, 3 * SECOND);
        assert_eq!(timeout.deadline(), Micros::MAX);
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
        for (on_probation, most) in [(false, STARVED_AFTER), (true, STARVED_AGAIN_AFTER)] {
            let mut timeout = AckTimeout::new();
            let wait = |timeout: &mut AckTimeout, from: u32, to: u32| {
                for at in (from..=to).step_by(100) {
                    timeout.starves(Micros::from(at) * 1_000);
                }
                timeout.is_starved(on_probation, Micros::from(to) * 1_000)
            };
            assert!(!wait(&mut timeout, 1_000, 1_000 + most - 100));
            assert!(wait(&mut timeout, 1_000 + most - 100, 1_000 + most));
            assert!(!timeout.is_starved(on_probation, Micros::from(1_000 + most + STARVING_GAP + 1) * 1_000));
            // They did not wait for a while, or one was taken.
            let later = 1_000 + most + STARVING_GAP + 1;
            assert!(!wait(&mut timeout, later, later + most / 2));
            timeout.acknowledged(true, None, TIMEOUT, Micros::from(later + most / 2) * 1_000);
            assert!(!wait(&mut timeout, later + most / 2, later + most));
        }
    }
}
