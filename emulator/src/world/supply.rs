//! What keeps a board from running: a power cut, and a debug probe that halts it.

use super::board::Board;
use crate::chip::ResetCause;
use crate::hash::mix;

/// Whether there is power, and what the probe does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Supply {
    pub(super) is_on: bool,
    /// VC_CORERESET of DEMCR: the core halts before its first instruction. No reset clears it.
    pub(super) catches_resets: bool,
}

impl Default for Supply {
    fn default() -> Self {
        Supply {
            is_on: true,
            catches_resets: false,
        }
    }
}

impl Board {
    /// The power fails. A word that is being programmed or a sector that is being erased is torn, and RAM holds anything when the power
    /// comes back, both by the seed. The lines that the board drives fall.
    pub fn cut_power(&mut self, seed: u64) {
        if !self.supply.is_on {
            return;
        }
        self.cpu.tear_flash(seed);
        self.cpu.memory.scramble(mix(seed));
        self.stop(ResetCause::PowerOn);
        self.cpu.bus.lose_power(self.cpu.now);
        self.supply = Supply {
            is_on: false,
            catches_resets: false,
        };
    }

    /// The power comes back.
    pub fn restore_power(&mut self) {
        if self.supply.is_on {
            return;
        }
        self.supply.is_on = true;
        self.cpu.bus.regain_power(self.cpu.now);
        self.cpu.resume();
    }

    /// A byte of the flash keeps what it has, whatever is written there.
    pub fn wear_out_flash(&mut self, address: u32) {
        self.cpu.memory.wear_out(address);
    }

    /// Whether the flash erases or programs something, and the core stands still.
    pub fn is_flash_busy(&self) -> bool {
        self.cpu.is_stalled()
    }

    /// Whether it has power.
    pub fn is_powered(&self) -> bool {
        self.supply.is_on
    }

    /// A debug probe halts the core at its next reset, or no longer does. A probe that goes without saying so leaves the core to halt
    /// at every reset until its power is cut.
    pub fn catch_resets(&mut self, catch: bool) {
        self.supply.catches_resets = catch;
    }

    /// A debug probe halts the core. The rest of the chip goes on.
    pub fn halt(&mut self) {
        self.cpu.halt();
    }

    /// And lets it go on.
    pub fn resume(&mut self) {
        if self.supply.is_on {
            self.cpu.resume();
        }
    }

    /// Whether the core does not run because of a debug probe or for lack of power.
    pub fn is_halted(&self) -> bool {
        self.cpu.is_halted()
    }
}
