//! The frequencies that the clock tree results in.

/// Where the system clock comes from, which decides how exact it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The internal oscillator, good to about one percent.
    Internal,
    /// The crystal or the clock of the ST-LINK.
    External,
}

/// Nominal frequencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Clocks {
    /// Where they come from.
    pub source: Source,
    /// Core, memory and DMA, in Hz.
    pub hclk: u64,
    /// Core cycles for one cycle of the slow peripheral bus.
    pub apb1: u64,
    /// Core cycles for one cycle of the fast peripheral bus.
    pub apb2: u64,
}

impl Clocks {
    /// Core cycles for one cycle of the timers on the slow bus: twice as fast as the bus unless that is undivided.
    pub fn timer1(&self) -> u64 {
        (self.apb1 / 2).max(1)
    }

    /// Core cycles in a number of microseconds.
    pub(super) fn cycles_in(&self, microseconds: u64) -> u64 {
        self.hclk * microseconds / 1_000_000
    }

    /// Wait states that the flash needs at 2.7 V and more: one for each 30 MHz.
    pub(super) fn flash_wait_states(&self) -> u32 {
        (self.hclk.saturating_sub(1) / 30_000_000) as u32
    }
}
