//! How often something is said, so that a link that is full of noise does not fill a log.

use crate::link::Micros;

/// So much is said at once.
const AT_ONCE: u8 = 4;

/// Leave to say something a few times at once, and once more for each second since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quota {
    left: u8,
    /// In units of about a second, which go round after 19 hours.
    since: u16,
}

impl Quota {
    pub(super) const fn new() -> Self {
        Quota {
            left: AT_ONCE,
            since: 0,
        }
    }

    /// Whether it may be said now. If so, that is counted.
    pub(super) fn take(&mut self, now: Micros) -> bool {
        let now = (now >> 20) as u16;
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
        let mut quota = Quota::new();
        let said = |quota: &mut Quota, from: Micros, to: Micros| {
            (from..to).step_by(1_000).filter(|&now| quota.take(now)).count()
        };
        assert_eq!(said(&mut quota, 0, 1_000_000), usize::from(AT_ONCE));
        let more = said(&mut quota, 1_000_000, 61_000_000);
        assert!((56..=60).contains(&more), "{more}");
        assert_eq!(
            said(&mut quota, 90_000_000, 90_100_000),
            usize::from(AT_ONCE),
            "no more is saved up"
        );
    }
}
