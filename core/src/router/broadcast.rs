//! Broadcasts: a node passes one on to its children in the [tree](super::tree), through the links that lead to them.
//!
//! A child behind a dead link is cut off: once the other copies have left, the broadcast goes to it by a detour, as a packet of its
//! own, and is passed on from there. A child that no detour reaches is dead; its children are then reached instead, from where that
//! was found out.

use super::event::Observer;
use super::pool::Place;
use super::seen::Judgement;
use super::tree::Branches;
use super::{Router, add};
use crate::Node;
use crate::link::Micros;
use crate::wire::DropReason;

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
        for &port in &branches.cut_off {
            if !slot.cut_off.add(here, port) {
                self.counters.drop(DropReason::Busy);
            }
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
        match slot.cut_off.take_next(&self.network) {
            Some(child) => {
                slot.packet.header.dest = child;
                self.pool.route_soon(place);
            }
            None => self.pool.release_if_unused(place),
        }
    }

    /// A node that is cut off cannot be reached: its children in the tree are reached from here, before anyone else.
    ///
    /// They are copies only if the packet is one: whoever lost a frame to the dead node on the way has marked it.
    pub(super) fn adopt(&mut self, place: Place, dead: Node, source: Node) {
        let Some(slot) = self.pool.get_mut(place) else { return };
        let (count, room) = slot.cut_off.add_children_of(&self.network, dead, source);
        add(&mut self.counters.copied, count);
        if !room {
            (0..count).for_each(|_| self.counters.drop(DropReason::Busy));
        }
        self.copy_done(place);
    }
}
