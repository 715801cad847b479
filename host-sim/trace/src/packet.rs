//! A packet as the nodes of a mesh saw it.

use std::collections::HashMap;

use hopwise_core::Node;
use hopwise_node::wire::{DropReason, PacketId};

use crate::line::Nanos;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    pub from: Node,
    pub to: Node,
    /// When it was sent, for the first time.
    pub sent: Option<Nanos>,
    pub received: Option<Nanos>,
    pub retransmit: u32,
}

/// So many hops are looked through one by one. Of more, such as those of a broadcast, an index is made.
const FEW: usize = 32;

/// The hops over one cable in one direction, by their place in [`Packet::hops`].
#[derive(Clone, Debug, Default)]
struct Crossings {
    last: usize,
    /// Those that have not come in, the latest last.
    open: Vec<usize>,
}

/// A packet and all its copies.
#[derive(Clone, Debug)]
pub struct Packet {
    pub id: PacketId,
    /// Where it goes; of a broadcast, its source.
    pub dest: Node,
    /// When it was accepted by its source.
    pub accepted: Option<Nanos>,
    /// Where it went, in the order of the trace.
    pub hops: Vec<Hop>,
    /// When and where it arrived.
    pub delivered: Vec<(Nanos, Node)>,
    /// When, where and why copies went no further.
    pub dropped: Vec<(Nanos, Node, DropReason)>,
    /// When and where it went round a dead link.
    pub detoured: Vec<(Nanos, Node)>,
    /// Empty while there are few hops.
    crossings: HashMap<(Node, Node), Crossings>,
}

impl Packet {
    pub(crate) fn new(id: PacketId, dest: Node) -> Self {
        Packet {
            id,
            dest,
            accepted: None,
            hops: Vec::new(),
            delivered: Vec::new(),
            dropped: Vec::new(),
            detoured: Vec::new(),
            crossings: HashMap::new(),
        }
    }

    /// A node sends it: a hop begins, or is tried again.
    pub(crate) fn sent(&mut self, at: Nanos, from: Node, to: Node, retransmit: bool) {
        let before = self.last_hop(from, to);
        match before.map(|place| &mut self.hops[place]) {
            Some(hop) if retransmit => hop.retransmit += 1,
            // Clocks differ a little: its arrival may be listed before.
            Some(hop) if hop.sent.is_none() => hop.sent = Some(at),
            _ => self.add(Hop {
                from,
                to,
                sent: Some(at),
                received: None,
                retransmit: u32::from(retransmit),
            }),
        }
    }

    pub(crate) fn received(&mut self, at: Nanos, from: Node, to: Node) {
        match self.take_open_hop(from, to) {
            Some(place) => self.hops[place].received = Some(at),
            None => self.add(Hop {
                from,
                to,
                sent: None,
                received: Some(at),
                retransmit: 0,
            }),
        }
    }

    fn last_hop(&self, from: Node, to: Node) -> Option<usize> {
        match self.hops.len() {
            0..=FEW => self.hops.iter().rposition(|hop| (hop.from, hop.to) == (from, to)),
            _ => Some(self.crossings.get(&(from, to))?.last),
        }
    }

    /// The last hop that has not come in, which now does.
    fn take_open_hop(&mut self, from: Node, to: Node) -> Option<usize> {
        let open = |hop: &Hop| (hop.from, hop.to) == (from, to) && hop.received.is_none();
        match self.hops.len() {
            0..=FEW => self.hops.iter().rposition(open),
            _ => self.crossings.get_mut(&(from, to))?.open.pop(),
        }
    }

    fn add(&mut self, hop: Hop) {
        self.hops.push(hop);
        let is_indexed = !self.crossings.is_empty();
        let indexed = if is_indexed { self.hops.len() - 1 } else { 0 };
        if self.hops.len() > FEW {
            for (place, hop) in self.hops.iter().enumerate().skip(indexed) {
                let crossings = self.crossings.entry((hop.from, hop.to)).or_default();
                crossings.last = place;
                if hop.received.is_none() {
                    crossings.open.push(place);
                }
            }
        }
    }

    /// When it came in at each node. O(n log n) for n hops.
    pub fn arrivals(&self) -> Arrivals<'_> {
        let arrival = |(place, hop): (usize, &Hop)| Some((hop.to, hop.received?, place));
        let mut sorted: Vec<_> = self.hops.iter().enumerate().filter_map(arrival).collect();
        sorted.sort_unstable();
        Arrivals { packet: self, sorted }
    }
}

/// When a packet came in at each node.
pub struct Arrivals<'a> {
    packet: &'a Packet,
    /// Node, time, and place among the packet's hops.
    sorted: Vec<(Node, Nanos, usize)>,
}

impl Arrivals<'_> {
    /// The last hop that came in at a node until a time. O(log n).
    pub fn last(&self, node: Node, until: Nanos) -> Option<&Hop> {
        let after = self.sorted.partition_point(|&(to, at, _)| (to, at) <= (node, until));
        let &(to, _, place) = self.sorted.get(after.checked_sub(1)?)?;
        self.packet.hops.get(place).filter(|_| to == node)
    }

    /// The hops by which the packet came from its source to a node at a time, found backwards: at each node the last arrival
    /// before it was sent on, which compares times of one clock only. `None` if the trace does not show them all. O(log n) a
    /// hop.
    pub fn path_to(&self, node: Node, at: Nanos) -> Option<Vec<Hop>> {
        let mut path = Vec::new();
        let (mut here, mut before) = (node, at);
        while path.len() <= self.packet.hops.len() {
            match self.last(here, before) {
                Some(last) => {
                    path.push(*last);
                    (here, before) = (last.from, last.sent?);
                }
                None if here == self.packet.id.source => {
                    path.reverse();
                    return Some(path);
                }
                None => return None,
            }
        }
        None
    }

    /// How long the packet was in a node that sent it on: since it last came in, or was accepted.
    pub fn wait(&self, hop: &Hop) -> Option<Nanos> {
        let sent = hop.sent?;
        let begun = self.packet.accepted.filter(|_| hop.from == self.packet.id.source);
        let came = self.last(hop.from, sent).and_then(|last| last.received);
        Some(sent - came.or(begun)?)
    }
}
