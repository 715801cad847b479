//! The tree of a broadcast, seen from one node: to whom copies go, who is cut off, and who is reached in place of a dead node.
//!
//! A node passes a broadcast on to its children in the tree, through the links that lead to them. A child behind a dead link is
//! cut off: once the other copies have left, the broadcast goes to it by a detour, as a packet of its own, and is passed on from
//! there. A child that no detour reaches is dead; its children are then reached instead, from where that was found out.

use heapless::Vec;

use super::event::Observer;
use super::pool::{Origin, Place};
use super::seen::Judgement;
use super::wiring::Wiring;
use super::{Router, add, age};
use crate::link::Micros;
use crate::wire::{DropReason, Header};
use crate::{Network, Node, Port};

/// Children of a node in the tree of a broadcast that are still to be reached by detours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CutOff {
    /// Whose children they are: of the node that holds the broadcast, or of one that is dead.
    parent: Node,
    /// By which ports of the parent: bit 0 is port 0.
    ports: u32,
}

impl CutOff {
    pub(super) const NONE: CutOff = CutOff { parent: 0, ports: 0 };

    /// All children of a node.
    fn children_of(network: &Network, parent: Node, source: Node) -> Self {
        let fanout = network.fanout(parent, source);
        let ports = fanout.map_or(0, |fanout| fanout.fold(0, |ports, (port, _)| ports | bit(port)));
        CutOff { parent, ports }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ports == 0
    }

    pub(super) fn len(&self) -> u32 {
        self.ports.count_ones()
    }

    /// The child at a port of the parent is cut off.
    pub(super) fn add(&mut self, port: u8) {
        self.ports |= bit(port.into());
    }

    /// Takes the child of the lowest port out; `None` if there is none.
    fn take_first(&mut self, network: &Network) -> Option<Node> {
        let port = self.ports.trailing_zeros();
        self.ports &= self.ports.checked_sub(1)?;
        self.child(network, port)
    }

    /// Takes the next child out; `None` if there is none. Should `here` be among them, it comes last: the slot is then free for
    /// its own children.
    fn take_next(&mut self, network: &Network, here: Node) -> Option<Node> {
        let lowest = self.ports.trailing_zeros();
        let others = self.ports & self.ports.checked_sub(1)?;
        let port = if others != 0 && self.child(network, lowest) == Some(here) {
            others.trailing_zeros()
        } else {
            lowest
        };
        self.ports &= !(1_u32.checked_shl(port)?);
        self.child(network, port)
    }

    /// One of them is given up; `false` if there is none.
    pub(super) fn drop_one(&mut self) -> bool {
        let Some(before) = self.ports.checked_sub(1) else {
            return false;
        };
        self.ports &= before;
        true
    }

    fn child(&self, network: &Network, port: u32) -> Option<Node> {
        network.neighbor(self.parent, Port::from(port)).ok().flatten()
    }
}

/// The set of one port.
fn bit(port: Port) -> u32 {
    u32::try_from(port)
        .ok()
        .and_then(|port| 1_u32.checked_shl(port))
        .unwrap_or(0)
}

/// Where a broadcast goes from a node.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Branches<const PORTS: usize> {
    /// Links to children, in the order in which to send.
    links: Vec<u8, PORTS>,
    /// Children whose link is dead.
    cut_off: Vec<u8, PORTS>,
}

impl<const PORTS: usize> Branches<PORTS> {
    pub(super) fn of(network: &Network, here: Node, source: Node, wiring: &Wiring<PORTS>) -> Self {
        let mut branches = Branches {
            links: Vec::new(),
            cut_off: Vec::new(),
        };
        let Ok(fanout) = network.fanout(here, source) else {
            return branches;
        };
        for (port, child) in fanout {
            // There is room: a node has no more neighbours than links.
            let _ = match wiring.link_to(child) {
                Some(link) => branches.links.push(link),
                None => branches.cut_off.push(port as u8),
            };
        }
        branches
    }

    /// How many children there are.
    fn len(&self) -> u32 {
        (self.links.len() + self.cut_off.len()) as u32
    }
}

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
        // Should this node be a child of a dead one, whose other children are still to be reached, they are taken for its own: the
        // set has one parent.
        slot.cut_off.parent = here;
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

#[cfg(test)]
mod tests {
    use super::super::wiring::tests::wired;
    use super::*;
    use std::vec::Vec as List;

    #[test]
    fn children_behind_dead_links_are_cut_off() {
        let network: Network = "hypercube(3)".parse().unwrap();
        let all = Branches::of(&network, 0, 0, &wired::<6>(&network, 0, &[]));
        assert_eq!((all.links.len(), all.cut_off.len(), all.len()), (3, 0, 3));
        let some = Branches::of(&network, 0, 0, &wired::<6>(&network, 0, &[2]));
        assert_eq!((some.links.len(), &some.cut_off[..]), (2, &[1][..]));
        assert!(some.links.iter().all(|link| all.links.contains(link)));
    }

    /// Every node is passed a broadcast by exactly one parent, whose child it is.
    #[test]
    fn the_children_of_all_nodes_are_all_other_nodes() {
        for expression in ["hypercube(3)", "torus(3,4)", "rdn(ring(3),1)", "heawood"] {
            let network: Network = expression.parse().unwrap();
            let mut children: List<Node> = List::new();
            for node in 0..network.nodes() {
                let mut set = CutOff::children_of(&network, node, 5);
                for left in (0..set.len()).rev() {
                    children.push(set.take_first(&network).unwrap());
                    assert_eq!(set.len(), left);
                }
                assert!(set.is_empty() && set.take_first(&network).is_none());
            }
            children.sort_unstable();
            let others: List<Node> = (0..network.nodes()).filter(|&node| node != 5).collect();
            assert_eq!(children, others, "{expression}");
        }
    }

    #[test]
    fn this_node_comes_last_among_the_children_of_a_dead_one() {
        let network: Network = "star(5)".parse().unwrap();
        let all = CutOff::children_of(&network, 0, 0);
        assert_eq!(all.len(), 4);
        for here in 1..5 {
            let mut left = all;
            let order: List<Node> = core::iter::from_fn(|| left.take_next(&network, here)).collect();
            assert_eq!(order.len(), 4);
            assert_eq!(order.last(), Some(&here));
        }
    }

    #[test]
    fn one_after_the_other_can_be_given_up() {
        let mut set = CutOff::NONE;
        set.add(0);
        set.add(4);
        assert!(set.drop_one() && set.len() == 1 && set.drop_one() && !set.drop_one());
    }
}
