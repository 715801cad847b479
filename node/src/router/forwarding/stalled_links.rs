//! Links that are up and take nothing: what waits for one is rerouted, so that it does not fill the buffers.
//!
//! A neighbor that is full still takes something now and then. One that has taken nothing for longer is avoided for a while, and then
//! tried again.

use crate::capacities::Capacities;
use crate::link::{Micros, millis};

/// Time in milliseconds after which a neighbor that takes nothing, though packets wait for it, is stalled.
const STALLED_AFTER: u32 = 250;

/// Time in milliseconds for which it is avoided.
const AVOIDED_FOR: u32 = 2_000;

#[derive(Clone, Debug)]
pub(in crate::router) struct StalledLinks<C: Capacities> {
    /// When each link last took a packet, in milliseconds, which wrap after 49 days; while it is avoided, since when.
    since: C::PerLink<u32>,
    /// Those that are avoided: bit 0 is link 0.
    pub(in crate::router) avoided: u32,
}

impl<C: Capacities> StalledLinks<C> {
    pub(in crate::router) fn new() -> Self {
        StalledLinks {
            since: C::PerLink::default(),
            avoided: 0,
        }
    }

    /// Records that a link has taken a packet, or has changed.
    pub(in crate::router) fn moves(&mut self, link: u8, now: Micros) {
        self.avoided &= !(1 << link);
        if let Some(since) = self.since.get_mut(usize::from(link)) {
            *since = millis(now);
        }
    }

    /// Whether to avoid a link for which a packet has waited this many microseconds.
    pub(in crate::router) fn look(&mut self, link: u8, waited: u32, now: Micros) -> bool {
        let Some(since) = self.since.get_mut(usize::from(link)) else {
            return false;
        };
        let passed = millis(now).wrapping_sub(*since);
        let was_avoided = self.avoided >> link & 1 == 1;
        let avoided = if was_avoided {
            passed < AVOIDED_FOR
        } else {
            passed.min(waited / 1_000) >= STALLED_AFTER
        };
        if avoided != was_avoided {
            *since = millis(now);
            self.avoided ^= 1 << link;
        }
        avoided
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacities::Board;

    #[test]
    fn a_link_that_takes_nothing_is_avoided_for_a_while_and_tried_again() {
        let second = 1_000_000;
        // At first, and while milliseconds wrap.
        for begin in [0, (1_000 << 32) - 9 * second - 100_000] {
            let mut stalls: StalledLinks<Board> = StalledLinks::new();
            let at = |seconds: Micros| begin + seconds * second;
            stalls.moves(2, at(1));
            assert!(!stalls.look(2, 200_000, at(1) + 200_000));
            assert!(!stalls.look(2, 0, at(9)), "nothing waits for it");
            assert!(stalls.look(2, 300_000, at(9)) && stalls.avoided == 1 << 2);
            assert!(stalls.look(2, 0, at(10)));
            assert!(!stalls.look(2, 300_000, at(11)) && stalls.avoided == 0);
            assert!(!stalls.look(2, 9_000_000, at(11) + 200_000), "it is given time");
            assert!(stalls.look(2, 9_000_000, at(11) + 250_000));
            stalls.moves(2, at(12));
            assert_eq!(stalls.avoided, 0);
        }
    }
}
