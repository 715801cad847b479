//! Baud rates: which ones a serial port makes of its clock.

/// The default baud rate.
pub const DEFAULT_BAUD: u32 = 1_000_000;

/// The baud rates of configs. What a serial port can do depends on its [clock](UartClock).
pub const BAUD_RATES: core::ops::RangeInclusive<u32> = 38_400..=12_500_000;

/// The fastest rate of the links at which the port to the host has the same, if none is set for it: the ST-LINKs on boards are not faster.
const MAX_SHARED_BAUD: u32 = 2_000_000;

/// Maximum difference of the rates of two serial ports, in thousandths: receivers tolerate it in addition to the errors of two crystals,
/// also those that take eight samples of a bit.
const MAX_DIFFERENCE: u32 = 15;

/// The clock of a serial port, which it divides to its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UartClock {
    /// Its frequency in Hz.
    pub hertz: u32,
    /// Whether it is that of an LPUART, which divides by 256ths.
    pub low_power: bool,
}

impl UartClock {
    /// The rate that is closest to this one.
    pub fn nearest(self, baud: u32) -> u32 {
        self.divided(self.divisor(baud))
    }

    /// The fastest rate, as far as [configs](BAUD_RATES) have it: a bit takes at least eight cycles, and that of an LPUART three.
    pub const fn fastest(self) -> u32 {
        let rate = self.hertz / if self.low_power { 3 } else { 8 };
        if rate < *BAUD_RATES.end() {
            rate
        } else {
            *BAUD_RATES.end()
        }
    }

    /// The divisor for the rate closest to this one.
    pub fn divisor(self, baud: u32) -> u32 {
        let (parts, range) = if self.low_power {
            (256, 0x300..=0xf_ffff)
        } else {
            (1, 8..=0xffff)
        };
        let (clock, baud) = (u64::from(self.hertz).saturating_mul(parts), u64::from(baud.max(1)));
        let divisor = clock.saturating_add(baud / 2) / baud;
        divisor.clamp(*range.start(), *range.end()) as u32
    }

    /// The rate with this divisor.
    pub fn divided(self, divisor: u32) -> u32 {
        let parts = if self.low_power { 256 } else { 1 };
        let clock = u64::from(self.hertz).saturating_mul(parts);
        clock.checked_div(divisor.into()).unwrap_or(0).min(u32::MAX.into()) as u32
    }
}

/// Whether serial ports with these clocks agree on a baud rate.
pub fn rates_agree(clocks: impl IntoIterator<Item = UartClock>, baud: u32) -> bool {
    let (mut slowest, mut fastest) = (baud, baud);
    for clock in clocks {
        let rate = clock.nearest(baud);
        (slowest, fastest) = (slowest.min(rate), fastest.max(rate));
    }
    fastest.abs_diff(slowest) <= (baud / 1000).saturating_mul(MAX_DIFFERENCE)
}

/// The rate of the port to the host, if only that of the links is set.
pub fn default_host_baud(baud: u32) -> u32 {
    if baud <= MAX_SHARED_BAUD { baud } else { DEFAULT_BAUD }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(hertz: u32) -> UartClock {
        let low_power = false;
        UartClock { hertz, low_power }
    }

    #[test]
    fn ports_agree_on_rates_that_their_clocks_divide_to() {
        let f446 = [90_000_000, 45_000_000].map(clock);
        for baud in [
            38_400, 115_200, 1_000_000, 1_500_000, 1_800_000, 3_000_000, 4_500_000, 5_625_000,
        ] {
            assert!(rates_agree(f446, baud), "{baud}");
        }
        for baud in [1_900_000, 2_000_000, 5_800_000, 11_250_000, 0, u32::MAX] {
            assert!(!rates_agree(f446, baud), "{baud}");
        }
        assert!(rates_agree([clock(90_000_000)], 11_250_000));
        assert!(rates_agree([84_000_000, 42_000_000].map(clock), 2_000_000));
    }

    #[test]
    fn the_nearest_rate_is_one_that_the_port_has() {
        assert_eq!(clock(45_000_000).nearest(6_000_000), 5_625_000);
        assert_eq!(clock(45_000_000).nearest(2_000_000), 1_956_521);
        assert_eq!(clock(45_000_000).nearest(0), 686);
        let low_power = UartClock {
            hertz: 80_000_000,
            low_power: true,
        };
        assert_eq!(
            [1_000_000, 26_000_000, 50_000_000].map(|baud| low_power.nearest(baud)),
            [1_000_000, 25_989_847, 26_666_666]
        );
    }
}
