//! Broadcasts: a node passes one on to its children in the [tree](super::tree), through the links that lead to them.
//!
//! A child behind a dead link is cut off: once the other copies have left, the broadcast goes to it by a detour, as a packet of its
//! own, and is passed on from there. A child that no detour reaches is dead; its children are then reached instead, from where that
//! was found out.

use super::event::Observer;
use super::pool::{Origin, Place};
use super::seen::Judgement;
use super::tree::{Branches, CutOff};
use super::{Router, add, age};
use crate::link::Micros;
use crate::wire::{DropReason, Header};

impl<const PORTS: usize, const BUFFERS: usize, const BODY: usize, const WIRE: usize, const PEERS: usize>
    Router<PORTS, BUFFERS, BODY, WIRE, PEERS>
{
    /// A broadcast is here: for the application, and for those to whom this node passes it on.
    pub(super) fn spread(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let here = self.here;
        let Some(slot) = self.pool.get_mut(place) else { return };
        let header = slot.packet.header;
        match self.seen.judge(&header, now) {
            Judgement::New => {}
            Judgement::Duplicate => return self.discard(place, DropReason::Duplicate, observer),
            Judgement::Uncertain => return self.discard(place, DropReason::Uncertain, observer),
        }
        slot.packet.remove_trail();
        slot.packet.header.dest = header.source;
        let branches = Branches::of(&self.network, here, header.source, &self.wiring);
        slot.cut_off.make_own(here);
        for &port in &branches.cut_off {
            slot.cut_off.add(port);
        }
        for &link in &branches.links {
            self.enqueue(place, link);
        }
        let mut copies = branches.len();
        if here != header.source {
            copies += 1;
            self.hand_over(place, observer);
        }
        match copies.checked_sub(1) {
            // The first copy is the packet itself.
            Some(more) => add(&mut self.counters.copied, more),
            // In a network of one node everyone has it.
            None => add(&mut self.counters.delivered, 1),
        }
        self.copy_done(place);
    }

    /// A copy of a packet is done with. If it was the last, the broadcast goes on to those who are cut off, one after the
    /// other: each as a packet of its own to that child, which passes it on from there. They use the slot and the lane that the
    /// broadcast has, so they wait for nothing that could wait for them.
    pub(super) fn copy_done(&mut self, place: Place) {
        let Some(slot) = self.pool.get_mut(place) else { return };
        if slot.pending != 0 || slot.cut_off.is_empty() {
            return self.pool.release_if_unused(place);
        }
        slot.packet.remove_trail();
        slot.packet.header.hops_left = self.hops;
        match slot.cut_off.take_next(&self.network, self.here) {
            Some(child) => {
                slot.packet.header.dest = child;
                self.pool.route_soon(place);
            }
            None => self.pool.release_if_unused(place),
        }
    }

    /// A child in the tree of a broadcast cannot be reached: its children are reached from here. The first of them has the
    /// packet's slot if nobody else is cut off who still needs it, and a slot of its own otherwise.
    pub(super) fn adopt(&mut self, place: Place, header: &Header, now: Micros) {
        let mut orphans = CutOff::children_of(&self.network, header.dest, header.source);
        let count = orphans.len();
        let Some(slot) = self.pool.get_mut(place) else { return };
        slot.packet.remove_trail();
        // The child may have passed it on before it died.
        slot.packet.header.copied = true;
        let Some(first) = orphans.take_first(&self.network) else {
            return self.copy_done(place);
        };
        let holder = if slot.cut_off.is_empty() {
            slot.packet.header.dest = first;
            Some(place)
        } else {
            let mut packet = slot.packet.clone();
            packet.header.dest = first;
            packet.header.age = age(&packet.header, slot.arrived, now);
            self.copy_done(place);
            self.pool.admit(packet, Origin::Service, 0, now)
        };
        add(&mut self.counters.copied, count);
        match holder {
            Some(holder) => {
                if let Some(slot) = self.pool.get_mut(holder) {
                    slot.cut_off = orphans;
                }
                self.pool.route_soon(holder);
            }
            None => (0..count).for_each(|_| self.counters.drop(DropReason::Busy)),
        }
    }
}
