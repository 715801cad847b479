//! Sending: which packet a link takes next, the bytes of it, and what became of those on the way.

use super::event::{Event, Observer};
use super::passage::is_too_old;
use super::pool::{Place, Slot};
use super::served::Share;
use super::{Router, add, age};
use crate::capacities::{Capacities, List};
use crate::link::{Fate, LinkOf, Micros, Turn};
use crate::wire::{MAX_HEADER, Offer};
use hopwise_core::Node;
use hopwise_core::network::lanes;

impl<C: Capacities> Router<C> {
    /// Whether it is worth the while to [`transmit`](Self::transmit) on a link.
    pub fn wants_to_transmit(&self, link: u8, now: Micros) -> bool {
        let end = self.links.get(usize::from(link));
        self.has_waiting(link) || end.is_some_and(|end| end.is_due(now))
    }

    /// The bytes to send on a link that is free, and their number; 0 if there is nothing to send. `out` has room for the [longest frame](crate::capacities::Sizes::wire).
    pub fn transmit(&mut self, link: u8, now: Micros, out: &mut [u8], observer: &mut impl Observer) -> usize {
        if !self.wants_to_transmit(link, now) {
            return 0;
        }
        let Some(end) = self.links.get_mut(usize::from(link)) else {
            return 0;
        };
        let place = match end.turn(now) {
            Turn::Nothing => return 0,
            Turn::Time => return self.write_time(link, now, out).unwrap_or(0),
            Turn::Control => None,
            Turn::Again(place) => Some((place, true)),
            Turn::New(room) => self.pick(link, room, now).map(|place| (place, false)),
        };
        let sent = match place {
            Some((place, again)) => self.write_packet(link, place, again, now, out, observer),
            None => self.write_control(link, now, out),
        };
        sent.unwrap_or(0)
    }

    fn write_control(&mut self, link: u8, now: Micros, out: &mut [u8]) -> Option<usize> {
        let waiting = self.has_waiting(link);
        let end = self.links.get_mut(usize::from(link))?;
        if waiting && end.is_open() {
            end.starves(now);
        }
        end.write_control(now, out)
    }

    /// Whether packets wait for a link.
    fn has_waiting(&self, link: u8) -> bool {
        let queue = self.queues.get(usize::from(link));
        queue.is_some_and(|queue| !queue.is_empty())
    }

    fn write_packet(
        &mut self,
        link: u8,
        place: Place,
        again: bool,
        now: Micros,
        out: &mut [u8],
        observer: &mut impl Observer,
    ) -> Option<usize> {
        let lane = self.lane_on(link, place)?;
        if !again {
            self.sign(place, now);
        }
        let slot = self.pool.get(place)?;
        let end = self.links.get_mut(usize::from(link))?;
        let mut header = slot.packet.header;
        let on_the_wire = end.wire_time(slot.packet.body.len() + MAX_HEADER);
        header.age = age(&header, slot.arrived, now.saturating_add(on_the_wire));
        header.hops_left = header.hops_left.saturating_sub(1);
        let mut bytes = [0; MAX_HEADER];
        let length = header.write(&mut bytes)?;
        // What has grown too old on the wire has to be sent again, for the numbers to have no gap, but not all of it: the neighbour drops it.
        let expired = again && self.host != Some(link) && is_too_old(slot, now);
        let body = if expired { &[] } else { &slot.packet.body[..] };
        let parts = [bytes.get(..length)?, body];
        let sent = end.write_packet(place, lane, parts, now, out)?;
        observer.note(Event::Sent {
            link,
            packet: header.id(),
            dest: header.dest,
            again,
        });
        Some(sent)
    }

    /// The lane in which a packet waits at the other end of a link.
    fn lane_on(&self, link: u8, place: Place) -> Option<u8> {
        if self.host == Some(link) {
            return Some(0);
        }
        let slot = self.pool.get(place)?;
        let rises = self.wiring.neighbor_at(link)? > self.here;
        Some(lanes::next(slot.lane(), slot.begins_here(), rises, self.pool.lanes()))
    }

    /// The next packet for a link: of those whose lane has room, the first of a source that has had least and then has the oldest. So
    /// far sources have as much of a busy mesh as near ones, and as those that send all they can; and packets of one source keep
    /// their order: ages are rounded at every hop, so that they do not tell which of two came first.
    fn pick(&mut self, link: u8, room: Offer, now: Micros) -> Option<Place> {
        let queue = self.queues.get(usize::from(link))?;
        let most = self.most_at(link);
        let takes = |place: Place| self.lane_on(link, place).is_some_and(|lane| room.takes(lane));
        let open = |place: Place| takes(place) && self.fits(place, most);
        let mut first: Option<(Share, u32, Node)> = None;
        for &place in queue.iter() {
            let Some(slot) = self.pool.get(place).filter(|_| open(place)) else {
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
        let place = queue.iter().copied().find(|&place| of_source(place) && open(place))?;
        self.pool.serve(place);
        take_out(self.queues.get_mut(usize::from(link))?, place).then_some(place)
    }

    /// The longest packet that the other end of a link takes.
    pub(super) fn most_at(&self, link: u8) -> usize {
        let peer = self.links.get(usize::from(link)).and_then(LinkOf::peer);
        peer.map_or(0, |peer| peer.largest.into())
    }

    /// Whether a packet is not longer than that.
    pub(super) fn fits(&self, place: Place, most: usize) -> bool {
        let fits = |slot: &Slot<C::Body>| slot.packet.length() <= most;
        most >= C::SIZES.max_packet() || self.pool.get(place).is_some_and(fits)
    }

    /// Learns what became of packets that were on the way.
    pub(super) fn settle(&mut self, link: u8, now: Micros, observer: &mut impl Observer) {
        while let Some((place, fate)) = self.links.get_mut(usize::from(link)).and_then(LinkOf::settled) {
            if fate == Fate::Refused {
                self.put_back(link, place);
                if self.stalls.avoided() >> link & 1 == 1 {
                    self.go_round_stall(place, link, observer);
                }
                continue;
            }
            if let Some(slot) = self.pool.get_mut(place) {
                slot.pending &= !(1 << link);
                self.stalls.moves(link, now);
                add(&mut self.counters.forwarded, 1);
                observer.note(Event::Forwarded {
                    link,
                    packet: slot.packet.header.id(),
                });
            }
            self.pool.release_if_unused(place);
        }
    }

    /// A packet waits again: before those that came later.
    pub(super) fn put_back(&mut self, link: u8, place: Place) {
        if let Some(slot) = self.pool.get_mut(place) {
            slot.pending |= 1 << link;
        }
        let arrived = |place: Place| self.pool.get(place).map_or(0, |slot| slot.arrived);
        let came = arrived(place);
        let Some(queue) = self.queues.get_mut(usize::from(link)) else {
            return;
        };
        let is_later = |other: Place| arrived(other).wrapping_sub(came) as i32 > 0;
        let before = queue.iter().take_while(|&&other| !is_later(other)).count();
        let mut next = place;
        for waiting in queue.iter_mut().skip(before) {
            core::mem::swap(waiting, &mut next);
        }
        // There is room: a place is in a queue once.
        let _ = queue.push(next);
    }

    /// Takes a packet out of the queue of a link, where it is not to go any more; `false` if it is not there.
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
