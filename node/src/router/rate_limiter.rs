//! Limits the rate of reports, so that a noisy link does not fill the log, and undeliverable packets do not fill the
//! mesh with reports.

use crate::link::Micros;

/// Number of reports allowed in a burst.
const AT_ONCE: u8 = 4;

/// The interval of reports: two to this power of microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Every(u32);

/// About once a second.
pub(super) const SECOND: Every = Every(20);

/// About 61 times a second: reports of that kind take a fiftieth of a wire of 1 Mbaud.
pub(super) const PER_16_MS: Every = Every(14);

/// A token bucket: a burst of a few reports, and one more for each interval since.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateLimiter {
    left: u8,
    /// In wrapping intervals.
    since: u16,
}

impl Default for RateLimiter {
    fn default() -> Self {
        RateLimiter {
            left: AT_ONCE,
            since: 0,
        }
    }
}

impl RateLimiter {
    /// Whether a report is allowed now. If so, it is counted.
    pub(super) fn take(&mut self, every: Every, now: Micros) -> bool {
        let now = (now >> every.0) as u16;
        let earned = now.wrapping_sub(self.since).min(AT_ONCE.into()) as u8;
        self.left = self.left.saturating_add(earned).min(AT_ONCE);
        self.since = now;
        let some = self.left > 0;
        self.left = self.left.saturating_sub(1);
        some
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_at_once_and_then_one_a_second() {
        // At first, and while the intervals wrap.
        for begin in [0, (1 << 36) - (30 << 20)] {
            let mut limiter = RateLimiter::default();
            let mut said = |from: Micros, to: Micros| {
                (begin + from..begin + to)
                    .step_by(1_000)
                    .filter(|&now| limiter.take(SECOND, now))
                    .count()
            };
            assert_eq!(said(0, 1_000_000), usize::from(AT_ONCE));
            assert_eq!(said(1_000_000, 61_000_000), 58, "intervals of 2^20 us");
            assert_eq!(said(90_000_000, 90_100_000), AT_ONCE.into(), "no more is saved up");
        }
    }
}
