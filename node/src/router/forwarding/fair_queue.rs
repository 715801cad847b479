//! Fair queueing when there is too little room: of the links that were refused, the one whose packet has the first [priority](Priority)
//! is served. Otherwise the link that first learns of a free slot would get it every time.

use super::source_share::Share;
use crate::capacities::{Capacities, List};
use crate::link::Micros;
use crate::wire::AGE_UNIT;

/// The virtual channel of a presumed packet.
const ANY_CHANNEL: u8 = u8::MAX;

/// Time for which a link is presumed to have more, in units of 1024 microseconds: an offer and its use take less on a wire of 1 Mbaud.
const PRESUMED_FOR: u16 = 4;

/// A link was refused a packet of a virtual channel.
#[derive(Clone, Copy, Debug)]
pub(in crate::router) struct Waiting {
    pub(in crate::router) link: u8,
    pub(in crate::router) channel: u8,
    pub(in crate::router) priority: Priority,
}

/// The order of service: packets of sources that have had less service at this node, and among those the ones that began earlier. A
/// packet's claimed age counts only among sources with equal service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) struct Priority {
    share: Share,
    /// When the packet began, in units of 1024 microseconds that wrap after a minute.
    born: u16,
}

impl Priority {
    /// The priority of a packet of this age, from a source with this share.
    pub(in crate::router) fn new(share: Share, age: u16, now: Micros) -> Self {
        Priority {
            share,
            born: units(now.wrapping_sub(u64::from(age) * AGE_UNIT)),
        }
    }

    fn is_before(self, other: Priority) -> bool {
        let earlier = (self.born.wrapping_sub(other.born) as i16) < 0;
        self.share < other.share || self.share == other.share && earlier
    }

    fn first(self, other: Priority) -> Priority {
        if other.is_before(self) { other } else { self }
    }
}

fn units(time: Micros) -> u16 {
    (time >> 10) as u16
}

/// The links that wait, in no order.
#[derive(Clone, Debug)]
pub(in crate::router) struct FairQueue<C: Capacities>(C::Channels<Waiting>);

impl<C: Capacities> FairQueue<C> {
    pub(in crate::router) fn new() -> Self {
        FairQueue(C::Channels::default())
    }

    pub(in crate::router) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The waiting packets of other links before a priority of a link; all others, if it has none.
    pub(in crate::router) fn ahead_of(&self, link: u8, priority: Option<Priority>) -> impl Iterator<Item = &Waiting> {
        let others = self.0.iter().filter(move |waiting| waiting.link != link);
        others.filter(move |waiting| priority.is_none_or(|priority| waiting.priority.is_before(priority)))
    }

    /// The first priority of a link, optionally for a virtual channel.
    pub(in crate::router) fn first_of(&self, link: u8, channel: Option<u8>) -> Option<Priority> {
        let waiting = self.0.iter().filter(|waiting| waiting.link == link);
        let waiting = waiting.filter(|waiting| channel.is_none_or(|channel| waiting.channel == channel));
        waiting.map(|waiting| waiting.priority).reduce(Priority::first)
    }

    /// A link has sent a packet of a virtual channel, and no longer waits for that.
    pub(in crate::router) fn served(&mut self, link: u8, channel: u8) {
        if let Some(place) = self.place(link, channel) {
            self.0.swap_remove(place);
        }
    }

    /// Forgets links that were presumed to have more and have not sent it.
    pub(in crate::router) fn forget_presumed(&mut self, now: Micros) {
        let lately = |priority: Priority| units(now).wrapping_sub(priority.born) <= PRESUMED_FOR;
        self.0
            .retain(|waiting| waiting.channel != ANY_CHANNEL || lately(waiting.priority));
    }

    /// A link of which a packet was taken while others wait is likely to have more, though it was not offered room for them.
    pub(in crate::router) fn presume(&mut self, link: u8, share: Share, now: Micros) {
        self.served(link, ANY_CHANNEL);
        let mut others = self.0.iter().filter(|waiting| waiting.link != link);
        if others.any(|waiting| waiting.channel != ANY_CHANNEL) {
            let priority = Priority::new(share, 0, now);
            let channel = ANY_CHANNEL;
            self.refused(Waiting {
                link,
                channel,
                priority,
            });
        }
    }

    /// Records a refused packet. If too many wait, the first priorities are kept.
    pub(in crate::router) fn refused(&mut self, new: Waiting) {
        if self.place(new.link, new.channel).is_some() || self.0.push(new).is_ok() {
            return;
        }
        let last = self.0.iter_mut().reduce(|one, other| {
            if one.priority.is_before(other.priority) {
                other
            } else {
                one
            }
        });
        if let Some(place) = last.filter(|waiting| new.priority.is_before(waiting.priority)) {
            *place = new;
        }
    }

    fn place(&self, link: u8, channel: u8) -> Option<usize> {
        self.0
            .iter()
            .position(|waiting| waiting.link == link && waiting.channel == channel)
    }

    pub(in crate::router) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::source_share::Served;
    use super::*;
    use crate::capacities::Board;

    fn waiting(link: u8, channel: u8, age: u16) -> Waiting {
        Waiting {
            link,
            channel,
            priority: priority(age),
        }
    }

    fn priority(age: u16) -> Priority {
        Priority::new(share(9), age, 90_000_000)
    }

    /// The share of a source that was served this often.
    fn share(times: usize) -> Share {
        let mut served = Served::new();
        (0..times).for_each(|_| served.count(0));
        served.by(0)
    }

    fn since(age: u16) -> Option<Priority> {
        Some(priority(age))
    }

    #[test]
    fn claims_are_compared_over_the_turn_of_the_clock() {
        let turn = u64::from(u16::MAX) << 10;
        for now in [10_000_000, turn, turn + 1_500, 5 * turn - 2_000_000] {
            let (old, young) = (Priority::new(share(99), 20_000, now), Priority::new(share(99), 10, now));
            assert!(
                Priority::new(share(9), 0, now).is_before(old),
                "who has had less goes first"
            );
            assert!(old.is_before(young) && !young.is_before(old), "{now}");
            assert_eq!((old.first(young), young.first(old)), (old, old));
        }
    }

    #[test]
    fn only_earlier_claims_of_other_links_go_first() {
        let mut queue: FairQueue<Board> = FairQueue::new();
        queue.refused(waiting(1, 0, 500));
        queue.refused(waiting(2, 3, 900));
        assert_eq!(queue.ahead_of(3, since(100)).count(), 2);
        assert_eq!(queue.ahead_of(3, since(700)).count(), 1);
        assert_eq!(queue.ahead_of(2, since(100)).count(), 1, "not the link's own");
        assert_eq!(queue.ahead_of(1, None).count(), 1);
        assert_eq!(queue.first_of(2, None), since(900));
        assert_eq!(queue.first_of(2, Some(0)), None);
        queue.served(2, 3);
        assert_eq!(queue.ahead_of(3, since(100)).count(), 1);
    }

    #[test]
    fn the_first_are_remembered_when_more_wait_than_can_be() {
        let mut queue: FairQueue<Board> = FairQueue::new();
        for link in 0..2 * Board::SIZES.virtual_channels as u8 {
            queue.refused(waiting(link, 0, 100 + 10 * u16::from(link)));
        }
        assert_eq!(queue.0.len(), Board::SIZES.virtual_channels);
        for link in Board::SIZES.virtual_channels as u8..2 * Board::SIZES.virtual_channels as u8 {
            assert!(queue.first_of(link, None).is_some(), "{link}");
        }
    }

    #[test]
    fn a_link_that_is_refused_again_keeps_its_turn() {
        let mut queue: FairQueue<Board> = FairQueue::new();
        queue.refused(waiting(1, 0, 900));
        queue.refused(waiting(1, 0, 100));
        assert_eq!(queue.first_of(1, Some(0)), since(900));
    }
}
