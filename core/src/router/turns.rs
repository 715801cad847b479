//! Who goes first when there is too little room: the links that were refused, that with the oldest packet first.
//!
//! Without it the link that hears first of a free slot would have it every time.

use heapless::Vec;

use crate::limits::LANES;
use crate::link::Micros;

/// So many are known to wait at once.
const TURNS: usize = LANES;

const ANY_LANE: u8 = u8::MAX;

/// A link was refused a packet of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) link: u8,
    pub(super) lane: u8,
    pub(super) claim: Claim,
}

/// What goes before what: packets of sources that have had less of this node, then those that have waited longer. Nothing of it is
/// taken from the packet's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    served: u8,
    /// In units of 1024 microseconds that go round after a minute.
    since: u16,
}

impl Claim {
    /// Of a source that has been served so often, made now.
    pub(super) fn new(served: u8, now: Micros) -> Self {
        Claim {
            served,
            since: (now >> 10) as u16,
        }
    }

    fn is_before(self, other: Claim) -> bool {
        let longer = (self.since.wrapping_sub(other.since) as i16) < 0;
        self.served < other.served || self.served == other.served && longer
    }

    fn first(self, other: Claim) -> Claim {
        if other.is_before(self) { other } else { self }
    }
}

/// The links that wait, in no order.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Vec<Waiting, TURNS, u8>);

impl Turns {
    pub(super) const fn new() -> Self {
        Turns(Vec::new())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of other links that go before a packet of a link that began then; all others, if that is not known.
    pub(super) fn ahead_of(&self, link: u8, claim: Option<Claim>) -> impl Iterator<Item = &Waiting> {
        let others = self.0.iter().filter(move |waiting| waiting.link != link);
        others.filter(move |waiting| claim.is_none_or(|claim| waiting.claim.is_before(claim)))
    }

    /// When the oldest packet began that waits at a link, perhaps for a certain lane.
    pub(super) fn oldest_of(&self, link: u8, lane: Option<u8>) -> Option<Claim> {
        let waiting = self.0.iter().filter(|waiting| waiting.link == link);
        let waiting = waiting.filter(|waiting| lane.is_none_or(|lane| waiting.lane == lane));
        waiting.map(|waiting| waiting.claim).reduce(Claim::first)
    }

    /// A link has sent a packet of a lane, and does not wait for that any more.
    pub(super) fn served(&mut self, link: u8, lane: u8) {
        if let Some(place) = self.place(link, lane) {
            self.0.swap_remove(place);
        }
    }

    /// A link has sent a packet while others wait: it is likely to have more, of a source that has now had one more.
    pub(super) fn presume(&mut self, link: u8, claim: Claim) {
        self.served(link, ANY_LANE);
        if self
            .0
            .iter()
            .any(|waiting| waiting.link != link && waiting.lane != ANY_LANE)
        {
            let claim = Claim {
                served: claim.served.saturating_add(1),
                ..claim
            };
            self.refused(Waiting {
                link,
                lane: ANY_LANE,
                claim,
            });
        }
    }

    /// A packet was refused. Where too many wait the oldest are remembered.
    pub(super) fn refused(&mut self, new: Waiting) {
        if self.place(new.link, new.lane).is_some() || self.0.push(new).is_ok() {
            return;
        }
        let youngest = self
            .0
            .iter_mut()
            .reduce(|one, other| if one.claim.is_before(other.claim) { other } else { one });
        if let Some(place) = youngest.filter(|waiting| new.claim.is_before(waiting.claim)) {
            *place = new;
        }
    }

    fn place(&self, link: u8, lane: u8) -> Option<usize> {
        self.0
            .iter()
            .position(|waiting| waiting.link == link && waiting.lane == lane)
    }

    /// Nobody waits any more.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(link: u8, lane: u8, age: u16) -> Waiting {
        Waiting {
            link,
            lane,
            born: Birth::new(age, 90_000_000),
        }
    }

    fn born(age: u16) -> Option<Birth> {
        Some(Birth::new(age, 90_000_000))
    }

    #[test]
    fn births_are_compared_over_the_turn_of_the_clock() {
        let turn = u64::from(u16::MAX) << 10;
        for now in [10_000_000, turn, turn + 1_500, 5 * turn - 2_000_000] {
            let (old, young) = (Birth::new(20_000, now), Birth::new(10, now));
            assert!(old.is_before(young) && !young.is_before(old), "{now}");
            assert_eq!((old.older(young), young.older(old)), (old, old));
        }
    }

    #[test]
    fn only_older_packets_of_other_links_go_first() {
        let mut turns = Turns::new();
        turns.refused(waiting(1, 0, 500));
        turns.refused(waiting(2, 3, 900));
        assert_eq!(turns.ahead_of(3, born(100)).count(), 2);
        assert_eq!(turns.ahead_of(3, born(700)).count(), 1);
        assert_eq!(turns.ahead_of(2, born(100)).count(), 1, "not the link's own");
        assert_eq!(turns.ahead_of(1, None).count(), 1);
        assert_eq!(turns.oldest_of(2, None), born(900));
        assert_eq!(turns.oldest_of(2, Some(0)), None);
        turns.served(2, 3);
        assert_eq!(turns.ahead_of(3, born(100)).count(), 1);
    }

    #[test]
    fn the_oldest_are_remembered_when_more_wait_than_can_be() {
        let mut turns = Turns::new();
        for link in 0..2 * TURNS as u8 {
            turns.refused(waiting(link, 0, 100 + 10 * u16::from(link)));
        }
        assert_eq!(turns.0.len(), TURNS);
        for link in TURNS as u8..2 * TURNS as u8 {
            assert!(turns.oldest_of(link, None).is_some(), "{link}");
        }
    }

    #[test]
    fn a_link_that_is_refused_again_keeps_its_turn() {
        let mut turns = Turns::new();
        turns.refused(waiting(1, 0, 900));
        turns.refused(waiting(1, 0, 100));
        assert_eq!(turns.oldest_of(1, Some(0)), born(900));
    }
}
