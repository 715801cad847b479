//! Confirmed packets, at their [source] and at their [destination].
//!
//! The source keeps the packet and sends it again until the destination confirms it. It names the destination's epoch as it
//! knows it, so that a destination that has restarted says so instead of delivering again what it may have delivered before.

mod destination;
mod peers;
mod source;

pub(super) use destination::Destination;
pub(super) use source::Source;
use source::{AfterConfirmation, Due, Settled};

use super::event::{Event, Observer};
use super::pool::{Origin, Place};
use super::{Router, add};
use crate::limits::OUTSTANDING;
use crate::link::Micros;
use crate::wire::{Confirmed, Content, DropReason};

impl<const PORTS: usize, const BUFFERS: usize, const BODY: usize, const WIRE: usize, const PEERS: usize>
    Router<PORTS, BUFFERS, BODY, WIRE, PEERS>
{
    /// A confirmed packet for this node.
    pub(super) fn confirmed_here(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get_mut(place) else { return };
        slot.packet.remove_trail();
        let (header, age) = (slot.packet.header, slot.age_in_micros(now));
        let Some(Content::Confirmed(Confirmed { known_epoch, .. })) = slot.packet.content() else {
            return self.discard(place, DropReason::Malformed, observer);
        };
        let room = self.pool.inbox_has_room();
        match self.destination.judge(&header, known_epoch, age, room, now) {
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
            if let Some(packet) = self.packet(&content, reply.dest, reply.to_host) {
                self.originate(packet, Origin::Service, now, observer);
            }
        }
    }

    /// The destination of a confirmed packet of this node has answered.
    pub(super) fn confirmation_here(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get(place) else { return };
        let header = slot.packet.header;
        let under_way = Micros::from(slot.age_in_micros(now));
        let Some(Content::Confirmation(confirmation)) = slot.packet.content() else {
            return self.discard(place, DropReason::Malformed, observer);
        };
        if confirmation.epoch != self.epoch as u16 {
            return self.discard(place, DropReason::Stale, observer);
        }
        self.destination.peers.note_epoch(header.source, header.epoch, now);
        match self.source.answered(&confirmation, under_way, now) {
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
        for index in 0..OUTSTANDING {
            match self.source.due(index, now) {
                Due::Nothing => {}
                Due::Again(place) => self.send_again(place, now, observer),
                Due::Ended(settled) => self.settle_confirmed(settled, observer),
            }
        }
    }

    fn send_again(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
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
        slot.arrived = now as u32;
        add(&mut self.counters.retried, 1);
        add(&mut self.counters.originated, 1);
        self.go(place, now, observer);
    }
}
