//! The frequencies that the clock tree results in, and their limits.

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
    /// Nothing: the HSE never starts.
    Absent,
    /// A clock of so many Hz, as from the ST-LINK of a Nucleo: bypass mode.
    Fed(u32),
    /// A crystal of so many Hz.
    Crystal(u32),
}

impl Hse {
    /// How long a crystal takes to start, in microseconds: what the data sheets call typical, and five times that, which crystals with
    /// a high resistance or large capacitors take. The data sheets give no maximum.
    pub const CRYSTAL_STARTS: std::ops::RangeInclusive<u32> = 2_000..=10_000;

    /// How long it typically takes to start, in microseconds.
    pub(crate) const fn typical_start(self) -> u32 {
        match self {
            Hse::Crystal(_) => *Self::CRYSTAL_STARTS.start(),
            Hse::Absent | Hse::Fed(_) => 0,
        }
    }

    /// Its frequency; 0 if there is none.
    pub(crate) fn hertz(self) -> u64 {
        match self {
            Hse::Absent => 0,
            Hse::Fed(hertz) | Hse::Crystal(hertz) => hertz.into(),
        }
    }
}

/// The frequencies of the PLL in Hz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pll {
    /// What it is fed, divided.
    pub input: u64,
    /// Its oscillator, the VCO.
    pub vco: u64,
    /// What the system clock can take.
    pub output: u64,
}

/// What a chip bears in its present state of power, in Hz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The highest frequency of the core.
    pub hclk: u64,
    /// The highest of bus matrix and flash, the same as the core's but on the H7.
    pub ahb: u64,
    /// The highest of the slow peripheral bus.
    pub apb1: u64,
    /// The highest of the fast peripheral bus.
    pub apb2: u64,
    /// The lowest and the highest that the PLL takes.
    pub pll_input: (u64, u64),
    /// The lowest and the highest of its oscillator.
    pub pll_vco: (u64, u64),
    /// The highest HCLK with each number of wait states, from none.
    pub wait_states: &'static [u64],
}

/// Frequencies in Hz, from MHz.
pub(super) const fn megahertz<const N: usize>(mut frequencies: [u64; N]) -> [u64; N] {
    let mut place = 0;
    while place < N {
        frequencies[place] *= 1_000_000;
        place += 1;
    }
    frequencies
}

impl Limits {
    /// Those of core, bus matrix and both peripheral buses in MHz, the others in Hz.
    pub(super) const fn new(
        clocks: [u64; 4],
        (pll_input, pll_vco): ((u64, u64), (u64, u64)),
        wait_states: &'static [u64],
    ) -> Self {
        let [hclk, ahb, apb1, apb2] = megahertz(clocks);
        Limits {
            hclk,
            ahb,
            apb1,
            apb2,
            pll_input,
            pll_vco,
            wait_states,
        }
    }

    /// Wait states that the flash needs.
    pub fn wait_states(&self, hclk: u64) -> u32 {
        self.wait_states.partition_point(|highest| *highest < hclk) as u32
    }
}

/// Nominal frequencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Clocks {
    /// Where they come from.
    pub source: Source,
    /// The core, in Hz.
    pub hclk: u64,
    /// Core cycles for one cycle of bus matrix and flash: 1 but on the H7.
    pub ahb: u64,
    /// Core cycles for one cycle of the slow peripheral bus.
    pub apb1: u64,
    /// Core cycles for one cycle of the fast peripheral bus.
    pub apb2: u64,
}

impl Clocks {
    /// Core cycles for one cycle of the timers on a bus: twice as fast as the bus unless that is undivided.
    pub fn timer(apb: u64) -> u64 {
        (apb / 2).max(1)
    }

    pub(super) fn cycles_in(&self, microseconds: u64) -> u64 {
        self.hclk * microseconds / 1_000_000
    }

    pub(super) fn beyond(&self, limits: Limits, pll: Option<Pll>) -> Vec<String> {
        let buses = [
            ("HCLK", self.hclk / self.ahb, limits.ahb),
            ("APB1", self.hclk / self.apb1, limits.apb1),
            ("APB2", self.hclk / self.apb2, limits.apb2),
        ];
        // Elsewhere the core is as fast as HCLK.
        let core = (self.ahb > 1).then_some(("the core", self.hclk, limits.hclk));
        let too_fast = buses.into_iter().chain(core).filter(|(_, hertz, most)| hertz > most);
        let too_fast =
            too_fast.map(|(name, hertz, most)| format!("{name} at {hertz} Hz, at most {most} as it is powered"));
        let parts = pll.into_iter().flat_map(|pll| {
            [
                ("the PLL's input", pll.input, limits.pll_input),
                ("the PLL's oscillator", pll.vco, limits.pll_vco),
            ]
        });
        let outside = parts.filter(|(_, hertz, (least, most))| !(least..=most).contains(&hertz));
        let outside =
            outside.map(|(name, hertz, (least, most))| format!("{name} at {hertz} Hz, not in {least}..={most}"));
        too_fast.chain(outside).collect()
    }
}
