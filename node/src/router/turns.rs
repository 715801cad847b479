//! Who goes first when there is too little room: of the links that were refused, that whose packet has the first [claim](Claim).
//!
//! Without it the link that hears first of a free slot would have it every time.

use super::served::Share;
use crate::capacities::{Capacities, List};
use crate::link::Micros;
use crate::wire::AGE_UNIT;

/// Of a packet that is not known but presumed.
const ANY_LANE: u8 = u8::MAX;

/// So long a link is presumed to have more, in units of 1024 microseconds: an offer and its answer take less on a wire of 1 Mbaud.
const PRESUMED_FOR: u16 = 4;

/// A link was refused a packet of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) link: u8,
    pub(super) lane: u8,
    pub(super) claim: Claim,
}

/// What goes before what: packets of sources that have had less of this node, and of those the ones that began earlier. A packet's
/// word for its age counts only among those that have had as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    share: Share,
    /// When the packet began, in units of 1024 microseconds that go round after a minute.
    born: u16,
}

impl Claim {
    /// Of a source that has had so much, for a packet of this age.
    pub(super) fn new(share: Share, age: u16, now: Micros) -> Self {
        Claim {
            share,
            born: units(now.wrapping_sub(u64::from(age) * AGE_UNIT)),
        }
    }

    fn is_before(self, other: Claim) -> bool {
        let earlier = (self.born.wrapping_sub(other.born) as i16) < 0;
        self.share < other.share || self.share == other.share && earlier
    }

    fn first(self, other: Claim) -> Claim {
        if other.is_before(self) { other } else { self }
    }
}

fn units(time: Micros) -> u16 {
    (time >> 10) as u16
}

/// The links that wait, in no order.
#[derive(Clone, Debug)]
pub(super) struct Turns<C: Capacities>(C::Channels<Waiting>);

impl<C: Capacities> Turns<C> {
    pub(super) fn new() -> Self {
        Turns(C::Channels::default())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of other links that go before a claim of a link; all others, if it has none.
    pub(super) fn ahead_of(&self, link: u8, claim: Option<Claim>) -> impl Iterator<Item = &Waiting> {
        let others = self.0.iter().filter(move |waiting| waiting.link != link);
        others.filter(move |waiting| claim.is_none_or(|claim| waiting.claim.is_before(claim)))
    }

    /// The first claim of a link, perhaps for a certain lane.
    pub(super) fn first_of(&self, link: u8, lane: Option<u8>) -> Option<Claim> {
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

    /// Those who were presumed to have more have not sent it.
    pub(super) fn forget_presumed(&mut self, now: Micros) {
        let lately = |claim: Claim| units(now).wrapping_sub(claim.born) <= PRESUMED_FOR;
        self.0
            .retain(|waiting| waiting.lane != ANY_LANE || lately(waiting.claim));
    }

    /// A link of which a packet was taken while others wait is likely to have more like it, though it was not offered room for them.
    pub(super) fn presume(&mut self, link: u8, share: Share, now: Micros) {
        self.served(link, ANY_LANE);
        let mut others = self.0.iter().filter(|waiting| waiting.link != link);
        if others.any(|waiting| waiting.lane != ANY_LANE) {
            let claim = Claim::new(share, 0, now);
            let lane = ANY_LANE;
            self.refused(Waiting { link, lane, claim });
        }
    }

    /// A packet was refused. Where too many wait the first claims are remembered.
    pub(super) fn refused(&mut self, new: Waiting) {
        if self.place(new.link, new.lane).is_some() || self.0.push(new).is_ok() {
            return;
        }
        let last = self
            .0
            .iter_mut()
            .reduce(|one, other| if one.claim.is_before(other.claim) { other } else { one });
        if let Some(place) = last.filter(|waiting| new.claim.is_before(waiting.claim)) {
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
    use super::super::served::Served;
    use super::*;
    use crate::capacities::Board;

    fn waiting(link: u8, lane: u8, age: u16) -> Waiting {
        Waiting {
            link,
            lane,
            claim: claim(age),
        }
    }

    fn claim(age: u16) -> Claim {
        Claim::new(share(9), age, 90_000_000)
    }

    /// Of a source that was served so often.
    fn share(times: usize) -> Share {
        let mut served = Served::new();
        (0..times).for_each(|_| served.count(0));
        served.by(0)
    }

    fn since(age: u16) -> Option<Claim> {
        Some(claim(age))
    }

    #[test]
    fn claims_are_compared_over_the_turn_of_the_clock() {
        let turn = u64::from(u16::MAX) << 10;
        for now in [10_000_000, turn, turn + 1_500, 5 * turn - 2_000_000] {
            let (old, young) = (Claim::new(share(99), 20_000, now), Claim::new(share(99), 10, now));
            assert!(
                Claim::new(share(9), 0, now).is_before(old),
                "who has had less goes first"
            );
            assert!(old.is_before(young) && !young.is_before(old), "{now}");
            assert_eq!((old.first(young), young.first(old)), (old, old));
        }
    }

    #[test]
    fn only_earlier_claims_of_other_links_go_first() {
        let mut turns: Turns<Board> = Turns::new();
        turns.refused(waiting(1, 0, 500));
        turns.refused(waiting(2, 3, 900));
        assert_eq!(turns.ahead_of(3, since(100)).count(), 2);
        assert_eq!(turns.ahead_of(3, since(700)).count(), 1);
        assert_eq!(turns.ahead_of(2, since(100)).count(), 1, "not the link's own");
        assert_eq!(turns.ahead_of(1, None).count(), 1);
        assert_eq!(turns.first_of(2, None), since(900));
        assert_eq!(turns.first_of(2, Some(0)), None);
        turns.served(2, 3);
        assert_eq!(turns.ahead_of(3, since(100)).count(), 1);
    }

    #[test]
    fn the_first_are_remembered_when_more_wait_than_can_be() {
        let mut turns: Turns<Board> = Turns::new();
        for link in 0..2 * Board::SIZES.virtual_channels as u8 {
            turns.refused(waiting(link, 0, 100 + 10 * u16::from(link)));
        }
        assert_eq!(turns.0.len(), Board::SIZES.virtual_channels);
        for link in Board::SIZES.virtual_channels as u8..2 * Board::SIZES.virtual_channels as u8 {
            assert!(turns.first_of(link, None).is_some(), "{link}");
        }
    }

    #[test]
    fn a_link_that_is_refused_again_keeps_its_turn() {
        let mut turns: Turns<Board> = Turns::new();
        turns.refused(waiting(1, 0, 900));
        turns.refused(waiting(1, 0, 100));
        assert_eq!(turns.first_of(1, Some(0)), since(900));
    }
}
