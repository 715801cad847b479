//! The frequencies that the clock tree results in, and their limits.

use std::ops::RangeInclusive;

/// Where the system clock comes from, which decides how exact it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The internal oscillator, good to about one percent.
    Internal,
    /// The crystal or the clock of the ST-LINK.
    External,
}

/// What is at the HSE pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hse {
    /// Nothing.
    Absent,
    /// A clock of so many Hz, as from the ST-LINK of a Nucleo: bypass mode.
    Fed(u32),
    /// A crystal of so many Hz.
    Crystal(u32),
}

impl Hse {
    /// Its frequency; 0 if there is none.
    pub(super) fn hertz(self) -> u64 {
        match self {
            Hse::Absent => 0,
            Hse::Fed(hertz) | Hse::Crystal(hertz) => hertz.into(),
        }
    }
}

/// The frequencies of the PLL in Hz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pll {
    pub(super) input: u64,
    pub(super) vco: u64,
    pub(super) output: u64,
}

/// The highest frequencies in Hz that a chip bears in its present state of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) hclk: u64,
    pub(super) apb1: u64,
    pub(super) apb2: u64,
}

/// What the PLL takes and what its oscillator can do, in Hz: the data sheets of F405 and F446.
const PLL_INPUT: RangeInclusive<u64> = 950_000..=2_100_000;
const PLL_VCO: RangeInclusive<u64> = 100_000_000..=432_000_000;

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

    /// What is beyond the limits, in words.
    pub(super) fn beyond(&self, limits: Limits, pll: Option<Pll>) -> Vec<String> {
        let buses = [
            ("HCLK", self.hclk, limits.hclk),
            ("APB1", self.hclk / self.apb1, limits.apb1),
            ("APB2", self.hclk / self.apb2, limits.apb2),
        ];
        let too_fast = buses.into_iter().filter(|(_, hertz, most)| hertz > most);
        let too_fast =
            too_fast.map(|(name, hertz, most)| format!("{name} at {hertz} Hz, at most {most} as it is powered"));
        let parts = pll.into_iter().flat_map(|pll| {
            [
                ("the PLL's input", pll.input, PLL_INPUT),
                ("the PLL's oscillator", pll.vco, PLL_VCO),
            ]
        });
        let outside = parts.filter(|(_, hertz, range)| !range.contains(hertz));
        let outside = outside.map(|(name, hertz, range)| format!("{name} at {hertz} Hz, not in {range:?}"));
        too_fast.chain(outside).collect()
    }

    /// Wait states that the flash needs at 2.7 V and more: one for each 30 MHz.
    pub(super) fn flash_wait_states(&self) -> u32 {
        (self.hclk.saturating_sub(1) / 30_000_000) as u32
    }
}
