//! An end that will hear and say nothing for a while tells the other one, and neither takes that for the end of the link: a board whose
//! processor stands still while its flash is erased.
//!
//! From then on nothing is sent by either end, so that nothing is lost in a full buffer, and no timeout counts. The pause is over when the end
//! that was away says anything, or when it has been away for too long. Both ends may be away at a time.
//!
//! An end that announces pauses and does not need them would keep packets waiting for ever, so it is given only so much [leave](Leave).

use super::{End, coarse};
use crate::capacities::LinkCapacities;
use crate::link::{Micros, millis};
use crate::wire::PAUSE_UNIT;

/// Of this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::link) enum Pause {
    None,
    /// The other end is to be told, in units of [`PAUSE_UNIT`].
    Due(u8),
    /// It has been told.
    Told,
    /// It is over, and the other end, which is away itself, is to know when it comes back: else each would wait for the other to speak.
    Over,
}

/// The other end may be away for so long at a time, in milliseconds: more than it takes to erase the flash of any board we know.
const LONGEST_LEAVE: u32 = 30_000;
/// Each announcement counts for so much, however short the pause.
const ANNOUNCEMENT: u32 = 1_000;
/// And in the long run for a tenth of the time.
const TIMES_AS_LONG_HERE: u32 = 10;
/// Until all is made up for.
const LONGEST_DEBT: u32 = LONGEST_LEAVE * TIMES_AS_LONG_HERE;

/// How long the other end may still be away.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leave {
    /// When it will have been here for ten times as long as it was away, in milliseconds, which go round.
    even_at: u32,
}

impl Leave {
    pub(super) fn debt(self, now: Micros) -> u32 {
        let debt = self.even_at.wrapping_sub(millis(now));
        // Otherwise it is in the past.
        if debt <= LONGEST_DEBT { debt } else { 0 }
    }

    /// It wants to be away for so long; it may, for as long as the result says.
    fn grant(&mut self, wanted: Micros, now: Micros) -> Micros {
        let debt = self.debt(now);
        let left = ((LONGEST_DEBT - debt) / TIMES_AS_LONG_HERE).saturating_sub(ANNOUNCEMENT);
        if left == 0 {
            return 0;
        }
        let granted = millis(wanted).min(left);
        let costs = (granted + ANNOUNCEMENT) * TIMES_AS_LONG_HERE;
        self.even_at = millis(now).wrapping_add(debt).wrapping_add(costs);
        Micros::from(granted) * 1_000
    }

    /// It is back, so much earlier.
    fn give_back(&mut self, unused: Micros, now: Micros) {
        let unused = millis(unused) * TIMES_AS_LONG_HERE;
        self.even_at = millis(now).wrapping_add(self.debt(now).saturating_sub(unused));
    }
}

impl<L: LinkCapacities> End<L> {
    pub(in crate::link) fn pause(&mut self, units: u8) {
        if self.is_up() {
            self.pause = Pause::Due(units);
        }
    }

    pub(in crate::link) fn end_pause(&mut self, now: Micros) {
        if core::mem::replace(&mut self.pause, Pause::None) != Pause::None {
            self.wait_anew(now);
            if now < self.away_until {
                self.pause = Pause::Over;
            }
        }
    }

    /// The other end will be away.
    pub(super) fn excuse(&mut self, units: u8, now: Micros) {
        let granted = self.leave.grant(u64::from(units) * PAUSE_UNIT, now);
        if granted > 0 {
            self.away_until = now.saturating_add(granted);
            self.state.excuse(self.heard_until(self.away_until));
        }
    }

    /// The other end is heard, or should have been.
    pub(super) fn is_back(&mut self, now: Micros) {
        let until = core::mem::take(&mut self.away_until);
        if until > 0 {
            self.leave.give_back(until.saturating_sub(now), now);
            self.wait_anew(now);
        }
    }

    /// All that was waited for is waited for from now on.
    fn wait_anew(&mut self, now: Micros) {
        self.state.excuse(self.heard_until(now.max(self.away_until)));
        self.sender.restamp(coarse(now));
        self.ack_timeout.begin_anew(self.first_timeout(), now);
        if self.timeout_at != Micros::MAX {
            self.timeout_at = now.saturating_add(self.timeout());
        }
        self.ack_due |= self.is_up();
    }

    /// Whether nothing is waited for, and no packet is sent.
    pub(in crate::link) fn is_paused(&self, now: Micros) -> bool {
        self.pause == Pause::Told || now < self.away_until
    }

    /// Whether the wire is to be left alone. Who is away itself is told of pauses nevertheless, and reads that when it is back.
    pub(super) fn is_silent(&self, now: Micros) -> bool {
        self.is_paused(now) && self.pause_due().is_none()
    }

    /// What the other end is to be told first.
    pub(super) fn pause_due(&self) -> Option<u8> {
        match self.pause {
            Pause::Due(units) => Some(units),
            Pause::Over => Some(0),
            Pause::None | Pause::Told => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Micros = 1_000_000;

    #[test]
    fn leave_is_used_up_and_comes_back_slowly() {
        for start in [0, 40 * 24 * 3_600 * SECOND] {
            let mut leave = Leave::default();
            let granted: Micros = (0..20).map(|_| leave.grant(4 * SECOND, start)).sum();
            // Six announcements, of which the last was cut short.
            assert_eq!(granted, 24 * SECOND);
            assert_eq!(leave.grant(4 * SECOND, start + 9 * SECOND), 0);
            assert_eq!(leave.grant(4 * SECOND, start + 30 * SECOND), 2 * SECOND);
            // After five minutes all is forgotten, and after a year too.
            for later in [330, 365 * 24 * 3_600] {
                let mut leave = leave;
                assert_eq!(leave.grant(4 * SECOND, start + later * SECOND), 4 * SECOND);
            }
        }
    }

    #[test]
    fn who_comes_back_early_has_used_less_but_each_announcement_counts() {
        let mut leave = Leave::default();
        let short = (0..100).map(|_| {
            let granted = leave.grant(4 * SECOND, SECOND);
            leave.give_back(granted, SECOND);
            granted
        });
        assert_eq!(short.filter(|granted| *granted > 0).count(), 29);
    }
}
