//! Announced pauses: an end that will neither send nor receive for a while tells the other one, so that the link stays up. A board's
//! processor stalls while its flash is erased.
//!
//! During a pause neither end sends, so that nothing is lost in a full buffer, and no timeout runs. The pause is over when the end
//! that announced it sends anything, or when it lasts too long. Both ends may pause at the same time.
//!
//! An end that announces needless pauses would keep packets waiting forever, so its pauses are [limited](Leave).

use super::{End, coarse};
use crate::capacities::LinkCapacities;
use crate::link::{Micros, millis};
use crate::wire::PAUSE_UNIT;

/// The pause of this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::link) enum Pause {
    None,
    /// The other end is to be told, in units of [`PAUSE_UNIT`].
    Due(u8),
    Told,
    /// It is over, and the other end, which pauses itself, is to know when it returns: otherwise each would wait for the other.
    Over,
}

/// Maximum duration of a pause of the other end, in milliseconds: more than it takes to erase the flash of any supported board.
const LONGEST_LEAVE: u32 = 30_000;
/// Minimum charge of an announcement in milliseconds, however short the pause.
const ANNOUNCEMENT: u32 = 1_000;
/// In the long run pauses may take at most one part in this many of the time.
const TIMES_AS_LONG_HERE: u32 = 10;
/// Time in milliseconds after which the longest pause is made up for.
const LONGEST_DEBT: u32 = LONGEST_LEAVE * TIMES_AS_LONG_HERE;

/// The allowance for pauses of the other end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leave {
    /// When it will have been present for ten times as long as it paused, in wrapping milliseconds.
    even_at: u32,
}

impl Leave {
    pub(super) fn debt(self, now: Micros) -> u32 {
        let debt = self.even_at.wrapping_sub(millis(now));
        // Otherwise it is in the past.
        if debt <= LONGEST_DEBT { debt } else { 0 }
    }

    /// Grants a pause of the wanted duration, or the part of it that is allowed.
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

    fn give_back(&mut self, unused: Micros, now: Micros) {
        let unused = millis(unused) * TIMES_AS_LONG_HERE;
        self.even_at = millis(now).wrapping_add(self.debt(now).saturating_sub(unused));
    }
}

impl<L: LinkCapacities> End<L> {
    /// Announces a pause of up to this many [`PAUSE_UNIT`](crate::wire::PAUSE_UNIT)s, in which this end neither sends nor receives, with the
    /// next frame. The link stays up, and neither end sends anything until [`end_pause`](Self::end_pause).
    pub fn pause(&mut self, units: u8) {
        if self.is_up() {
            self.pause = Pause::Due(units);
        }
    }

    /// Ends the pause of this end.
    pub fn end_pause(&mut self, now: Micros) {
        if core::mem::replace(&mut self.pause, Pause::None) != Pause::None {
            self.wait_anew(now);
            if now < self.away_until {
                self.pause = Pause::Over;
            }
        }
    }

    pub(super) fn allow_pause(&mut self, units: u8, now: Micros) {
        let granted = self.leave.grant(u64::from(units) * PAUSE_UNIT, now);
        if granted > 0 {
            self.sooner = true;
            self.away_until = now.saturating_add(granted);
            self.state.wait_until(self.heard_until(self.away_until));
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

    pub(super) fn wait_anew(&mut self, now: Micros) {
        self.sooner = true;
        self.intact_at = coarse(now);
        if self.is_up() {
            self.state.wait_until(self.heard_until(now.max(self.away_until)));
        }
        self.sender.restamp(coarse(now));
        self.ack_timeout.begin_anew(self.first_timeout.into(), now);
        if self.timeout_at != Micros::MAX {
            self.timeout_at = now.saturating_add(self.timeout());
        }
        self.ack_due |= self.is_up();
    }

    /// Whether one of the ends has announced a pause that is not over.
    pub fn is_paused(&self, now: Micros) -> bool {
        self.pause == Pause::Told || now < self.away_until
    }

    /// Whether nothing may be sent. An end that pauses itself is still told of pauses, and reads that when it returns.
    pub(super) fn is_silent(&self, now: Micros) -> bool {
        self.is_paused(now) && self.pause_due().is_none()
    }

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
            // After five minutes the debt is forgotten, and after a year too.
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
