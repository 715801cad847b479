//! Links that are up and take nothing: what waits for one takes another path, so that it does not fill the buffers.
//!
//! A neighbour that is full takes something now and then. One that has taken nothing for longer is avoided for a while, and then tried
//! again.

use crate::link::{Micros, millis};

/// A neighbour that takes nothing for so many milliseconds, though packets wait for it, is stalled.
const STALLED_AFTER: u32 = 250;

/// It is avoided for so many milliseconds.
const AVOIDED_FOR: u32 = 2_000;

/// The links that are up and take nothing.
#[derive(Clone, Debug)]
pub(super) struct Stalls<const PORTS: usize> {
    /// Links for which packets wait and that have taken none since: bit 0 is link 0.
    waited_for: u32,
    /// Those of them that are avoided.
    avoided: u32,
    /// Since when each of them is so, in milliseconds, which go round after 49 days.
    since: [u32; PORTS],
}

impl<const PORTS: usize> Stalls<PORTS> {
    pub(super) const fn new() -> Self {
        Stalls {
            waited_for: 0,
            avoided: 0,
            since: [0; PORTS],
        }
    }

    /// The links that are avoided: bit 0 is link 0.
    pub(super) fn avoided(&self) -> u32 {
        self.avoided
    }

    /// A link has taken a packet, or is not what it was.
    pub(super) fn moves(&mut self, link: u8) {
        self.waited_for &= !(1 << link);
        self.avoided &= !(1 << link);
    }

    /// Looks at the clock: whether a link is to be avoided. `waits` is whether packets wait for it.
    pub(super) fn look(&mut self, link: u8, waits: bool, now: Micros) -> bool {
        let this = 1 << link;
        let Some(since) = self.since.get_mut(usize::from(link)) else {
            return false;
        };
        let passed = millis(now).wrapping_sub(*since);
        if self.avoided & this != 0 {
            if passed >= AVOIDED_FOR {
                self.moves(link);
            }
        } else if !waits {
            self.waited_for &= !this;
        } else if self.waited_for & this == 0 {
            self.waited_for |= this;
            *since = millis(now);
        } else if passed >= STALLED_AFTER {
            self.avoided |= this;
            *since = millis(now);
        }
        self.avoided & this != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_takes_nothing_is_avoided_for_a_while_and_tried_again() {
        let mut stalls: Stalls<4> = Stalls::new();
        let mut look = |waits, at: Micros| stalls.look(2, waits, at * 1_000);
        assert!(!look(true, 1_000) && !look(true, 1_249) && look(true, 1_250));
        assert!(look(true, 3_249) && !look(true, 3_250), "it is tried again");
        assert!(!look(true, 3_251) && !look(true, 3_500), "it is given time");
        assert!(look(true, 3_501));
        assert_eq!(stalls.avoided(), 1 << 2);
        stalls.moves(2);
        assert_eq!(stalls.avoided(), 0);
    }

    #[test]
    fn a_link_is_not_avoided_for_what_has_just_begun_to_wait() {
        let mut stalls: Stalls<4> = Stalls::new();
        assert!(!stalls.look(2, true, 1_000_000));
        assert!(!stalls.look(2, false, 1_100_000));
        assert!(!stalls.look(2, true, 9_000_000), "nothing waited in between");
        stalls.moves(2);
        assert!(!stalls.look(2, true, 9_300_000), "one was taken in between");
        assert!(stalls.look(2, true, 9_550_000));
    }
}
