//! What a chip makes of its supply: one that falls, and a power cut.

use super::rules::Rule;
use super::{Chip, Cycles, ResetCause};
use crate::cpu::NEVER;

/// The supply: 3.3 V, until it falls to nothing.
#[derive(Clone, Copy, Hash)]
pub(super) struct Voltage {
    falls_from: Cycles,
    within: Cycles,
}

impl Voltage {
    pub(super) const STEADY: Voltage = Voltage {
        falls_from: NEVER,
        within: 1,
    };

    fn millivolts(self, now: Cycles) -> u64 {
        let fallen = now.saturating_sub(self.falls_from).min(self.within);
        3_300 - 3_300 * fallen / self.within
    }
}

impl Chip {
    /// The supply begins to fall, to nothing within a time. Whoever lets it fall cuts the power when the chip stops, at 1.7 V.
    pub(crate) fn let_supply_fall(&mut self, now: Cycles, within: Cycles) {
        self.voltage = Voltage {
            falls_from: now,
            within: within.max(1),
        };
    }

    /// PVDO, in a register of the PWR, if that is where it stands and the PVD is on.
    pub(super) fn pvdo(&self, offset: u32, now: Cycles) -> u32 {
        match self.power.pvd() {
            Some(pvd) if pvd.offset == offset && self.voltage.millivolts(now) < pvd.millivolts => pvd.bit,
            _ => 0,
        }
    }

    /// Whether the supply is too low for the flash to be changed at the width that is set, which breaks a rule.
    pub(super) fn lacks_supply(&mut self, now: Cycles) -> bool {
        let (found, lowest) = (self.voltage.millivolts(now), self.flash.lowest_millivolts());
        if found < lowest {
            let how = format!("the flash is changed at {found} mV, and at this width that takes {lowest}");
            self.violate(Rule::Supply, how);
        }
        found < lowest
    }

    /// Everything is as after power-on. A pin without power holds its line low.
    pub(crate) fn lose_power(&mut self, now: Cycles) {
        self.reset(ResetCause::PowerOn, now);
        self.hold_lines(false, now);
    }

    /// The lines are pulled up at their other ends.
    pub(crate) fn regain_power(&mut self, now: Cycles) {
        self.voltage = Voltage::STEADY;
        self.hold_lines(true, now);
    }

    fn hold_lines(&mut self, level: bool, now: Cycles) {
        for uart in self.uarts.iter_mut().flatten() {
            uart.hold_line(level, now);
        }
    }
}
