//! What crosses from one partition to another.
//!
//! Districts share nothing: what a flit or a credit on its way to another partition needs goes into a letter box, which is carried over
//! when all partitions have had their turn. Letters are read in the order of the partitions that wrote them, so that it does not matter
//! which of them worked when, or on which core.

use std::ops::Range;

use super::packets::Packet;
use crate::wiring::Wiring;

/// The other end of a link is in the same partition.
pub(super) const HERE: u16 = u16::MAX;

#[derive(Clone, Copy)]
pub(super) enum BoundaryEvent {
    Flit {
        at: u32,
        channel: u32,
        packet: Packet,
        /// Which flit of its packet.
        part: u32,
    },
    Credit {
        at: u32,
        channel: u32,
    },
}

#[derive(Clone, Copy)]
struct Neighbor {
    partition: usize,
    first_port: u32,
}

/// The neighbors of a partition, in the order of their numbers.
pub(super) struct Border {
    pub(super) nodes: Range<u32>,
    partition: usize,
    size: u32,
    first_port: u32,
    neighbors: Vec<Neighbor>,
    /// For each neighbor, what goes there and what came from there.
    pub(super) outgoing: Vec<Vec<BoundaryEvent>>,
    pub(super) incoming: Vec<Vec<BoundaryEvent>>,
}

impl Border {
    /// Of a partition of `size` nodes, as all have but the last.
    pub(super) fn new(wiring: &Wiring, partition: usize, size: u32) -> Self {
        let nodes = wiring.nodes() as u32;
        let first = |partition: usize| wiring.first[(partition as u32 * size) as usize];
        let end = nodes.min((partition as u32 + 1).saturating_mul(size));
        let ports = first(partition) as usize..wiring.first[end as usize] as usize;
        let partition_of = |&port: &u32| (wiring.node[port as usize] / size) as usize;
        let beyond = wiring.peer[ports].iter().map(partition_of);

        let mut others: Vec<usize> = beyond.filter(|&other| other != partition).collect();
        others.sort_unstable();
        others.dedup();
        let neighbor = |&partition: &usize| Neighbor {
            partition,
            first_port: first(partition),
        };
        Self {
            nodes: partition as u32 * size..end,
            partition,
            size,
            first_port: first(partition),
            neighbors: others.iter().map(neighbor).collect(),
            outgoing: others.iter().map(|_| Vec::new()).collect(),
            incoming: others.iter().map(|_| Vec::new()).collect(),
        }
    }

    /// Where a node is: which neighbor, or [`HERE`], and the first port of its partition.
    pub(super) fn place(&self, node: u32) -> (u16, u32) {
        let partition = (node / self.size) as usize;
        if partition == self.partition {
            return (HERE, self.first_port);
        }
        let place = self.index(partition);
        (place as u16, self.neighbors[place].first_port)
    }

    /// The number of the partition that is the neighbor of a place.
    pub(super) fn partition(&self, place: u16) -> usize {
        self.neighbors[usize::from(place)].partition
    }

    pub(super) fn has_neighbors(&self) -> bool {
        !self.neighbors.is_empty()
    }

    pub(super) fn index(&self, partition: usize) -> usize {
        self.neighbors
            .partition_point(|neighbor| neighbor.partition < partition)
    }

    pub(super) fn bytes(&self) -> usize {
        let boxes = self.outgoing.iter().chain(&self.incoming);
        let letters: usize = boxes.map(Vec::capacity).sum();
        letters * size_of::<BoundaryEvent>()
    }
}
