//! An end that will hear and say nothing for a while tells the other one, and neither takes that for the end of the link: a board whose
//! processor stands still while its flash is erased.
//!
//! From then on nothing is sent by either end, so that nothing is lost in a full buffer, and no timeout counts. The pause is over when the end
//! that was away says anything, or when it has been away for too long. Both ends may be away at a time.

use super::{End, coarse};
use crate::link::Micros;
use crate::wire::PAUSE_UNIT;

/// Of this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    None,
    /// The other end is to be told, in units of [`PAUSE_UNIT`].
    Due(u8),
    /// It has been told.
    Told,
    /// It is over, and the other end, which is away itself, is to know when it comes back: else each would wait for the other to speak.
    Over,
}

impl End {
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
        self.away_until = now.saturating_add(u64::from(units) * PAUSE_UNIT);
        self.state.excuse(self.heard_until(self.away_until));
    }

    /// The other end is heard, or should have been.
    pub(super) fn is_back(&mut self, now: Micros) {
        if core::mem::take(&mut self.away_until) > 0 {
            self.wait_anew(now);
        }
    }

    /// All that was waited for is waited for from now on.
    fn wait_anew(&mut self, now: Micros) {
        self.state.excuse(self.heard_until(now.max(self.away_until)));
        self.sender.restamp(coarse(now));
        self.patience.begin_anew(self.first_timeout(), now);
        if self.timeout_at != Micros::MAX {
            self.timeout_at = now.saturating_add(self.timeout());
        }
        self.ack_due |= self.is_up();
    }

    /// Whether nothing is waited for, and no packet is sent.
    pub(in crate::link) fn is_paused(&self, now: Micros) -> bool {
        self.pause == Pause::Told || now < self.away_until
    }

    /// Whether the wire is to be left alone.
    pub(super) fn is_silent(&self, now: Micros) -> bool {
        self.is_paused(now) && self.pause != Pause::Over
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
