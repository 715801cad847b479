//! What a power cut does to a chip.

use super::backup::Backup;
use super::{Chip, Cycles, ResetCause};

impl Chip {
    /// Nothing is left, not even what a reset leaves alone. A pin without power holds its line low.
    pub(crate) fn lose_power(&mut self, now: Cycles) {
        self.reset(ResetCause::PowerOn, now);
        self.rcc = self.rcc.after_power_on();
        self.backup = Backup::default();
        for uart in &mut self.uarts {
            uart.hold_line(false, now);
        }
    }

    /// The lines are pulled up at their other ends.
    pub(crate) fn regain_power(&mut self, now: Cycles) {
        for uart in &mut self.uarts {
            uart.hold_line(true, now);
        }
    }
}
