//! What a power cut does to a chip.

use super::{Chip, Cycles, ResetCause};

impl Chip {
    /// Everything is as after power-on. A pin without power holds its line low.
    pub(crate) fn lose_power(&mut self, now: Cycles) {
        self.reset(ResetCause::PowerOn, now);
        self.hold_lines(false, now);
    }

    /// The lines are pulled up at their other ends.
    pub(crate) fn regain_power(&mut self, now: Cycles) {
        self.hold_lines(true, now);
    }

    fn hold_lines(&mut self, level: bool, now: Cycles) {
        for uart in self.uarts.iter_mut().flatten() {
            uart.hold_line(level, now);
        }
    }
}
