//! Changes of the rate, during which nothing else is sent and all timeouts wait.

use super::speaking::next_seal;
use super::{End, coarse};
use crate::capacities::LinkCapacities;
use crate::link::{Micros, Received};
use crate::wire::{RateMessage, StepSet, write_rate};

impl<L: LinkCapacities> End<L> {
    /// Allows both ends to change the rate: the serial port here has these steps. Must be called before anything is sent.
    pub fn allow_steps(&mut self, steps: StepSet) {
        self.rates.allow(steps);
    }

    /// The rate of the wire.
    pub fn baud(&self) -> u32 {
        self.rates.baud()
    }

    pub(in crate::link) fn fastest_baud(&self) -> u32 {
        self.rates.fastest()
    }

    pub(in crate::link) fn take_baud(&mut self, wire: usize) -> Option<u32> {
        let baud = self.rates.take_baud()?;
        self.set_byte_time(baud, wire);
        Some(baud)
    }

    pub(super) fn begin_rates(&mut self, now: Micros) {
        let Some(peer) = self.state.peer() else { return };
        let (here, there) = (&self.identity, &peer.identity);
        let leads = (here.address, here.port) < (there.address, there.port);
        self.rates.begin(leads, peer.steps, now);
    }

    #[inline(never)]
    pub(super) fn hear_rate(&mut self, message: RateMessage, now: Micros) -> Received {
        let was_quiet = self.rates.is_quiet();
        self.rates.heard(message, now);
        self.rate_changed(was_quiet, now);
        Received::Frame
    }

    /// The last frame of a trial was heard.
    pub(super) fn end_trial(&mut self, now: Micros) {
        self.rates.settle(now);
        self.rate_changed(true, now);
    }

    pub(super) fn tick_rates(&mut self, now: Micros) {
        if now < self.rates.deadline {
            return;
        }
        let was_quiet = self.rates.is_quiet();
        self.rates.tick(now);
        self.rate_changed(was_quiet, now);
    }

    /// After a change all goes on, and the other end hears of it at once.
    #[inline(never)]
    fn rate_changed(&mut self, was_quiet: bool, now: Micros) {
        self.sooner = true;
        if was_quiet && !self.rates.is_quiet() {
            self.wait_anew(now);
        }
    }

    /// Bytes came that are no frame. They may be sent at another rate.
    pub(super) fn hear_noise(&mut self, now: Micros) {
        if self.rates.is_raised() && !self.rates.is_quiet() && self.since_intact(now) >= super::DEAF {
            self.rates.is_deaf(now);
            self.intact_at = coarse(now);
            self.sooner = true;
        }
    }

    #[inline(never)]
    pub(super) fn write_rate(&mut self, now: Micros, out: &mut [u8]) -> Option<usize> {
        let message = self.rates.take_message(now)?;
        // An answer that declines ends the silence.
        self.rate_changed(true, now);
        let seal = next_seal(&mut self.security)?;
        let length = write_rate(self.state.peer()?.tag, message, seal, out)?;
        self.sent(length, now);
        Some(length)
    }
}
