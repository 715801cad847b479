//! Confirmed packets, at their [source] and at their [destination].
//!
//! The source keeps the packet and sends it again until the destination confirms it. It names the destination's epoch as it
//! knows it, so that a destination that has restarted says so instead of delivering again what it may have delivered before.

mod destination;
mod peers;
mod source;

pub(super) use destination::Destination;
pub(super) use source::Mesh;
pub(super) use source::Source;
use source::{AfterConfirmation, Due, Settled};

use super::event::{Event, Observer};
use super::pool::{Origin, Place};
use super::{Router, add};
use crate::capacities::Capacities;
use crate::link::Micros;
use crate::wire::{Confirmed, Content, DropReason, Flooded, PacketOf};

impl<C: Capacities> Router<C> {
    /// A confirmed packet for this node.
    pub(super) fn confirmed_here(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get_mut(place) else { return };
        slot.packet.remove_trail();
        let (header, age, flooded) = (slot.packet.header, slot.age_in_micros(now), slot.flooded);
        let Some(Content::Confirmed(Confirmed { known_epoch, port, .. })) = slot.packet.content() else {
            return self.discard(place, DropReason::Malformed, observer);
        };
        let welcome = self.welcome(port);
        match self.destination.judge(&header, known_epoch, age, flooded, welcome, now) {
            Ok(()) => {
                self.hand_over(place, observer);
                self.pool.release_if_unused(place);
            }
            Err(reason) => self.discard(place, reason, observer),
        }
    }

    /// Sends confirmations for which there is room.
    pub(super) fn send_confirmations(&mut self, now: Micros, observer: &mut impl Observer) {
        while self.pool.service_has_room() {
            let Some(reply) = self.destination.next_reply(now) else {
                return;
            };
            let content = Content::Confirmation(reply.confirmation);
            let packet = self.packet(&content, reply.dest, reply.to_host);
            let packet = packet.and_then(|packet| {
                if reply.flooded {
                    self.flooded(&packet)
                } else {
                    Some(packet)
                }
            });
            let Some(packet) = packet else { continue };
            // The confirmation before may have been lost on its route: each one of a packet that comes again takes another.
            let rank = if reply.again { packet.header.number as u8 } else { 0 };
            let place = self.originate(packet, Origin::Service, now, observer);
            if let Some(slot) = place.and_then(|place| self.pool.get_mut(place)) {
                slot.other_path = rank;
            }
        }
    }

    /// The destination of a confirmed packet of this node has answered.
    pub(super) fn confirmation_here(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get(place) else { return };
        let header = slot.packet.header;
        let (under_way, flooded) = (Micros::from(slot.age_in_micros(now)), slot.flooded);
        let Some(Content::Confirmation(confirmation)) = slot.packet.content() else {
            return self.discard(place, DropReason::Malformed, observer);
        };
        if confirmation.epoch != self.epoch as u16 {
            return self.discard(place, DropReason::Stale, observer);
        }
        if self.source.dest_of(confirmation.number) != Some(header.source) {
            return self.discard(place, DropReason::Unasked, observer);
        }
        self.destination.peers.note_epoch(header.source, header.epoch, now);
        match self
            .source
            .answered(header.source, &confirmation, under_way, flooded, now)
        {
            AfterConfirmation::Unasked => self.discard(place, DropReason::Unasked, observer),
            AfterConfirmation::GoesOn { place: kept, same_life } => {
                if same_life {
                    self.name_epoch(kept, header.epoch);
                }
                self.consume(place, observer);
            }
            AfterConfirmation::Ended(settled) => {
                self.consume(place, observer);
                self.settle_confirmed(settled, observer);
            }
        }
    }

    /// Writes the destination's epoch into a packet.
    fn name_epoch(&mut self, kept: Place, epoch: u16) {
        if let Some(slot) = self.pool.get_mut(kept).filter(|slot| slot.kept) {
            Confirmed::set_known_epoch(&mut slot.packet.body, epoch);
        }
    }

    fn settle_confirmed(&mut self, settled: Settled, observer: &mut impl Observer) {
        let Settled { number, outcome, place } = settled;
        observer.note(Event::Settled { number, outcome });
        if let Some(slot) = self.pool.get_mut(place) {
            slot.kept = false;
        }
        self.pool.release_if_unused(place);
    }

    /// Sends again what has not been confirmed in time, and ends what has not for too long.
    pub(super) fn retry(&mut self, now: Micros, observer: &mut impl Observer) {
        for index in 0..C::SIZES.outstanding {
            match self.source.due(index, now) {
                Due::Nothing => {}
                Due::Again { place, rank } => self.send_again(place, rank, now, observer),
                Due::Flood(place) => self.send_as_flood(place, now, observer),
                Due::Ended(settled) => self.settle_confirmed(settled, observer),
            }
        }
    }

    /// Sends a packet that is kept as a flood, besides; as before if there is no room for that.
    fn send_as_flood(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let kept = self.pool.get(place).filter(|slot| slot.kept);
        // What has not even left is not flooded either.
        let gone = kept.filter(|slot| slot.pending == 0);
        let Some(mut packet) = gone.map(|slot| slot.packet.clone()) else {
            return;
        };
        packet.remove_trail();
        match self.flooded(&packet).filter(|_| self.pool.service_has_room()) {
            Some(flood) => {
                add(&mut self.counters.retried, 1);
                self.originate(flood, Origin::Service, now, observer);
            }
            None => self.send_again(place, 0, now, observer),
        }
    }

    /// A packet within one that goes through everyone; `None` if it is too long for that.
    fn flooded(&mut self, packet: &PacketOf<C::Body>) -> Option<PacketOf<C::Body>> {
        let PacketOf { header, body } = packet;
        let content = Content::Flooded(Flooded {
            kind: header.kind,
            number: header.number,
            body,
        });
        let mut flood = self.packet(&content, header.dest, header.to_host)?;
        flood.header.from_host = header.from_host;
        flood.header.copied = true;
        Some(flood)
    }

    fn send_again(&mut self, place: Place, rank: u8, now: Micros, observer: &mut impl Observer) {
        let unrouted = self.pool.is_unrouted(place);
        let Some(slot) = self.pool.get_mut(place).filter(|slot| slot.kept) else {
            return;
        };
        if slot.pending != 0 || unrouted {
            // It has not even left.
            return;
        }
        slot.packet.remove_trail();
        slot.packet.header.hops_left = self.hops;
        slot.packet.header.copied = true;
        slot.other_path = rank;
        slot.arrived = now as u32;
        add(&mut self.counters.retried, 1);
        add(&mut self.counters.originated, 1);
        self.go(place, now, observer);
    }
}
