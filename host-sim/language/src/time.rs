//! Times as people write them.

use std::fmt;
use std::str::FromStr;

/// A point in time or a duration, written `1.5s`, `20ms` or `300us`, to the nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    nanos: u64,
}

/// The units, and their nanoseconds. A unit stands before those whose names it ends in.
const UNITS: [(&str, u64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// Times reach up to here, some eleven days: in picoseconds, as emulated boards count, they still fit 64 bits.
const END: f64 = 1e15;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a time such as 1.5s, 20ms or 300us")]
pub struct BadTime {
    pub text: String,
}

impl Time {
    pub const fn from_nanos(nanos: u64) -> Self {
        Time { nanos }
    }

    pub const fn from_millis(millis: u64) -> Self {
        Time::from_nanos(millis.saturating_mul(1_000_000))
    }

    pub const fn nanos(self) -> u64 {
        self.nanos
    }

    /// In picoseconds, as emulated boards count.
    pub const fn picos(self) -> u64 {
        self.nanos.saturating_mul(1_000)
    }

    #[must_use]
    pub const fn after(self, delay: Time) -> Self {
        Time::from_nanos(self.nanos.saturating_add(delay.nanos))
    }
}

impl From<Time> for std::time::Duration {
    fn from(time: Time) -> Self {
        Self::from_nanos(time.nanos)
    }
}

impl FromStr for Time {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        let fits = |&(name, nanos)| Some((text.strip_suffix(name)?, nanos));
        let unit = UNITS.iter().find_map(fits);
        let time = unit.and_then(|(number, unit)| Some(number.parse::<f64>().ok()? * unit as f64));
        match time {
            Some(nanos) if (0.0..END).contains(&nanos) && !text.starts_with(['-', '+']) => {
                Ok(Time::from_nanos(nanos.round() as u64))
            }
            _ => Err(BadTime { text: text.into() }),
        }
    }
}

as_text!(Time);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nanos {
            nanos if nanos.is_multiple_of(1_000_000_000) => write!(f, "{}s", nanos / 1_000_000_000),
            nanos if nanos.is_multiple_of(1_000_000) => write!(f, "{}ms", nanos / 1_000_000),
            nanos if nanos.is_multiple_of(1_000) => write!(f, "{}us", nanos / 1_000),
            nanos => write!(f, "{nanos}ns"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_time_is_written_as_it_is_read(nanos in 0..1_000_000_000_000_000_u64) {
            let time = Time::from_nanos(nanos);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }

        #[test]
        fn no_text_makes_it_panic(text: String, number: f64, unit in "[munsp]{0,3}") {
            let _ = text.parse::<Time>();
            let written = format!("{number}{unit}");
            if let Ok(time) = written.parse::<Time>() {
                prop_assert!((time.nanos() as f64) <= END, "{}", written);
            }
        }
    }

    #[test]
    fn times_have_units() {
        for (text, nanos) in [
            ("1.5s", 1_500_000_000),
            ("20ms", 20_000_000),
            ("300us", 300_000),
            ("7ns", 7),
            ("0s", 0),
            ("1e-3s", 1_000_000),
            ("0.0006us", 1),
            ("999999s", 999_999_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Time::from_nanos(nanos)), "{text}");
        }
        for text in [
            "", "s", "1", "1 s", "-1s", "-0s", "infs", "nans", "1000000s", "1m", "1.5", "1ps", "often",
        ] {
            let sentence = format!("'{text}' is not a time such as 1.5s, 20ms or 300us");
            assert_eq!(text.parse::<Time>().map_err(|error| error.to_string()), Err(sentence));
        }
    }

    #[test]
    fn a_time_is_a_string_in_files() {
        let time: Time = serde_json::from_str("\"1.5s\"").unwrap();
        assert_eq!(time, Time::from_millis(1_500));
        assert_eq!(serde_json::to_string(&time).unwrap(), "\"1500ms\"");
        let error = serde_json::from_str::<Time>("\"soon\"").unwrap_err().to_string();
        assert!(error.starts_with("'soon' is not a time such as"), "{error}");
    }
}
