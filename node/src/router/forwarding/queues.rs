//! The queues of links: the next packet of a link, and the completion of those in flight.

use super::super::event::{Event, Observer};
use super::source_share::Share;
use super::{Forwarding, Place, Slot, add};
use crate::capacities::{Capacities, List};
use crate::link::{FrameResult, Micros};
use crate::wire::{Offer, TraceRecord};
use hopwise_core::Node;
use hopwise_core::network::virtual_channels;

impl<C: Capacities> Forwarding<C> {
    pub(super) fn enqueue(&mut self, place: Place, link: u8) {
        if let (Some(slot), Some(queue)) = (self.pool.get_mut(place), self.queues.get_mut(usize::from(link))) {
            slot.pending |= 1 << link;
            self.enqueued |= 1 << link;
            // Cannot fail: a place is in a queue once.
            let _ = queue.push(place);
        }
    }

    /// The links that have got a packet since the last call: bit 0 is link 0.
    pub(in crate::router) fn take_enqueued(&mut self) -> u32 {
        core::mem::take(&mut self.enqueued)
    }

    pub(in crate::router) fn waiting(&self, link: u8) -> usize {
        self.queues.get(usize::from(link)).map_or(0, |queue| queue.len())
    }

    /// Removes what waits for a dead link, in order.
    pub(in crate::router) fn take_queue(&mut self, link: u8) -> C::Buffers<Place> {
        let queue = self.queues.get_mut(usize::from(link));
        queue.map(core::mem::take).unwrap_or_default()
    }

    /// Adds the record of this node to a traced packet.
    pub(in crate::router) fn sign(&mut self, place: Place, now: Micros) {
        let node = self.here();
        let Some(slot) = self.pool.get_mut(place) else { return };
        if !slot.packet.header.traced || slot.signed {
            return;
        }
        slot.signed = true;
        slot.packet.add_record(&TraceRecord {
            node,
            waited: u64::from((now as u32).wrapping_sub(slot.arrived)),
        });
    }

    /// The virtual channel in which a packet waits at the other end of a link.
    pub(in crate::router) fn channel_on(&self, link: u8, place: Place) -> Option<u8> {
        if self.host == Some(link) {
            return Some(0);
        }
        let slot = self.pool.get(place)?;
        let rises = self.wiring.neighbor_at(link)? > self.here();
        Some(virtual_channels::next(
            slot.channel(),
            slot.begins_here(),
            rises,
            self.pool.used_channels,
        ))
    }

    /// The next packet for a link, and its virtual channel there: among those whose virtual channel has room, the oldest of the source with the
    /// smallest share. So far sources get as much of a busy mesh as near ones, and as those that send all they can; and packets of one source
    /// keep their order, since ages, which are rounded at every hop, are not compared within it.
    pub(in crate::router) fn pick(&mut self, link: u8, room: Offer, mtu: usize, now: Micros) -> Option<(Place, u8)> {
        let queue = self.queues.get(usize::from(link))?;
        let open = |place: Place| {
            let channel = self.channel_on(link, place).filter(|channel| room.takes(*channel));
            channel.filter(|_| self.fits(place, mtu))
        };
        if let [only] = **queue {
            let channel = open(only)?;
            self.pool.serve(only);
            self.queues.get_mut(usize::from(link))?.pop();
            return Some((only, channel));
        }
        let mut first: Option<(Share, u32, Node)> = None;
        for &place in queue.iter() {
            let Some(slot) = self.pool.get(place).filter(|_| open(place).is_some()) else {
                continue;
            };
            let (served, age) = (self.pool.served(slot), slot.age_in_micros(now));
            if first.is_none_or(|(least, most, _)| served < least || served == least && age > most) {
                first = Some((served, age, slot.packet.header.source));
            }
        }
        let (_, _, source) = first?;
        let of_source = |place: Place| {
            self.pool
                .get(place)
                .is_some_and(|slot| slot.packet.header.source == source)
        };
        let mut all = queue.iter().copied();
        let (place, channel) = all.find_map(|place| Some((place, open(place).filter(|_| of_source(place))?)))?;
        self.pool.serve(place);
        take_out(self.queues.get_mut(usize::from(link))?, place).then_some((place, channel))
    }

    /// Whether a packet is not longer than the longest that the other end of a link takes.
    pub(super) fn fits(&self, place: Place, mtu: usize) -> bool {
        let fits = |slot: &Slot<C::Body>| slot.packet.length() <= mtu;
        mtu >= C::SIZES.max_packet() || self.pool.get(place).is_some_and(fits)
    }

    pub(in crate::router) fn completed(
        &mut self,
        link: u8,
        place: Place,
        result: FrameResult,
        now: Micros,
        observer: &mut impl Observer,
    ) {
        if result == FrameResult::Refused {
            self.put_back(link, place);
            if self.stalled.avoided >> link & 1 == 1 {
                self.go_round_stall(place, link, observer);
            }
            return;
        }
        if let Some(slot) = self.pool.get_mut(place) {
            slot.pending &= !(1 << link);
            self.stalled.moves(link, now);
            add(&mut self.counters.forwarded, 1);
            observer.note(Event::Forwarded {
                link,
                packet: slot.packet.header.id(),
            });
        }
        self.pool.release_if_unused(place);
    }

    /// Requeues a packet before those that came later.
    pub(super) fn put_back(&mut self, link: u8, place: Place) {
        if let Some(slot) = self.pool.get_mut(place) {
            slot.pending |= 1 << link;
        }
        let arrived = |place: Place| self.pool.get(place).map_or(0, |slot| slot.arrived);
        let came = arrived(place);
        self.enqueued |= 1 << link;
        let Some(queue) = self.queues.get_mut(usize::from(link)) else {
            return;
        };
        let is_later = |other: Place| arrived(other).wrapping_sub(came) as i32 > 0;
        let before = queue.iter().take_while(|&&other| !is_later(other)).count();
        let mut next = place;
        for waiting in queue.iter_mut().skip(before) {
            core::mem::swap(waiting, &mut next);
        }
        // Cannot fail: a place is in a queue once.
        let _ = queue.push(next);
    }

    /// Removes a packet from the queue of a link; `false` if it is not there.
    pub(super) fn unqueue(&mut self, place: Place, link: u8) -> bool {
        let queue = self.queues.get_mut(usize::from(link));
        let was_there = queue.is_some_and(|queue| take_out(queue, place));
        if let Some(slot) = self.pool.get_mut(place).filter(|_| was_there) {
            slot.pending &= !(1 << link);
        }
        was_there
    }
}

/// Takes a packet out of a queue; `false` if it is not there.
fn take_out(queue: &mut impl List<Place>, place: Place) -> bool {
    let mut waiting = queue.iter_mut();
    let Some(mut hole) = waiting.find(|waiting| **waiting == place) else {
        return false;
    };
    for next in waiting {
        *hole = *next;
        hole = next;
    }
    queue.pop();
    true
}
