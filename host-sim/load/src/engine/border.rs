//! What crosses from one district to another.
//!
//! Districts share nothing: what a flit or a credit on its way to another district needs goes into a letter box, which is carried over
//! when all districts have had their turn. Letters are read in the order of the districts that wrote them, so that it does not matter
//! which of them worked when, or on which core.

use std::ops::Range;

use super::district::District;
use super::packets::Packet;
use super::routers::HERE;
use crate::wiring::Wiring;

/// What arrives at a district from another.
#[derive(Clone, Copy)]
pub(super) enum Letter {
    /// A flit reaches an input channel.
    Flit {
        at: u32,
        channel: u32,
        packet: Packet,
        /// Which flit of its packet.
        part: u32,
    },
    /// A credit comes back to an output channel.
    Credit { at: u32, channel: u32 },
}

/// A district seen from another.
#[derive(Clone, Copy)]
struct Neighbor {
    district: usize,
    /// Its first port.
    first_port: u32,
}

/// The neighbours of a district, in the order of their numbers.
pub(super) struct Border {
    /// Its nodes.
    pub(super) nodes: Range<u32>,
    district: usize,
    size: u32,
    first_port: u32,
    neighbors: Vec<Neighbor>,
    /// For each neighbour, what goes there and what came from there.
    pub(super) outgoing: Vec<Vec<Letter>>,
    pub(super) incoming: Vec<Vec<Letter>>,
}

impl Border {
    /// Of a district of `size` nodes, as all have but the last.
    pub(super) fn new(wiring: &Wiring, district: usize, size: u32) -> Self {
        let nodes = wiring.nodes() as u32;
        let first = |district: usize| wiring.first[(district as u32 * size) as usize];
        let end = nodes.min((district as u32 + 1).saturating_mul(size));
        let ports = first(district) as usize..wiring.first[end as usize] as usize;
        let beyond = wiring.peer[ports]
            .iter()
            .map(|&peer| (wiring.node[peer as usize] / size) as usize);
        let mut others: Vec<usize> = beyond.filter(|&other| other != district).collect();
        others.sort_unstable();
        others.dedup();
        let neighbor = |&district: &usize| Neighbor {
            district,
            first_port: first(district),
        };
        Self {
            nodes: district as u32 * size..end,
            district,
            size,
            first_port: first(district),
            neighbors: others.iter().map(neighbor).collect(),
            outgoing: others.iter().map(|_| Vec::new()).collect(),
            incoming: others.iter().map(|_| Vec::new()).collect(),
        }
    }

    /// Where a node is: which neighbour, or [`HERE`], and the first port of its district.
    pub(super) fn place(&self, node: u32) -> (u16, u32) {
        let district = (node / self.size) as usize;
        if district == self.district {
            return (HERE, self.first_port);
        }
        let place = self.index(district);
        (place as u16, self.neighbors[place].first_port)
    }

    /// The number of the district that is the neighbour of a place.
    pub(super) fn district(&self, place: u16) -> usize {
        self.neighbors[usize::from(place)].district
    }

    /// Whether there are other districts.
    pub(super) fn has_neighbors(&self) -> bool {
        !self.neighbors.is_empty()
    }

    fn index(&self, district: usize) -> usize {
        self.neighbors.partition_point(|neighbor| neighbor.district < district)
    }

    /// Bytes of the letter boxes.
    pub(super) fn bytes(&self) -> usize {
        let boxes = self.outgoing.iter().chain(&self.incoming);
        boxes.map(|letters| letters.capacity() * size_of::<Letter>()).sum()
    }
}

/// Carries all letters to where they go. Letter boxes keep their memory.
pub(super) fn exchange(districts: &mut [District]) {
    for from in 0..districts.len() {
        for place in 0..districts[from].border.neighbors.len() {
            let letters = std::mem::take(&mut districts[from].border.outgoing[place]);
            let number = districts[from].border.neighbors[place].district;
            let to = &mut districts[number].border;
            let back = to.index(from);
            let empty = std::mem::replace(&mut to.incoming[back], letters);
            districts[from].border.outgoing[place] = empty;
        }
    }
}
