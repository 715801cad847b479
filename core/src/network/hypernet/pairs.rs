//! Distances in `hypernet(2,l)`, where a level is a pair of clusters and the one link between them, from the node 101..1 of
//! the first to the node 001..1 of the second.
//!
//! A path between the clusters takes that link. So it is enough to know, within a cluster of each level, the distances
//! between six nodes: the two endpoints, and those at the ends of the links of the levels above. A node of a level is a
//! bit, the cluster, before a node of the level below; so the six of one level are found among the six of the level below.

use super::{Number, Vertex};

/// The nodes between which distances are stored, without the bits of higher levels.
#[derive(Clone, Copy)]
enum Place {
    Here,
    There,
    /// 101..1, where the link of the next level leaves the first cluster.
    FirstEnd,
    /// 001..1, where it enters the second.
    SecondEnd,
    /// 01..1, what both ends of the link one level higher are within a cluster.
    ZeroThenOnes,
    /// 1..1, the same for all links above.
    Ones,
}

const PLACES: [Place; 6] = [
    Place::Here,
    Place::There,
    Place::FirstEnd,
    Place::SecondEnd,
    Place::ZeroThenOnes,
    Place::Ones,
];

impl Place {
    /// The place on the level below: this one without its first bit.
    fn below(self) -> Self {
        match self {
            Place::Here | Place::There => self,
            Place::FirstEnd | Place::SecondEnd => Place::ZeroThenOnes,
            Place::ZeroThenOnes | Place::Ones => Place::Ones,
        }
    }
}

struct Distances([[Number; 6]; 6]);

impl Distances {
    fn between(&self, a: Place, b: Place) -> Number {
        let row = self.0.get(a as usize);
        row.and_then(|row| row.get(b as usize)).copied().unwrap_or(0)
    }

    /// Hops from a place of the first cluster to one of the second, over the link between them.
    fn across(&self, first: Place, second: Place) -> Number {
        self.between(first, Place::FirstEnd) + 1 + self.between(Place::SecondEnd, second)
    }
}

pub(super) fn hops(levels: u8, from: Vertex, to: Vertex) -> Number {
    let square = [from & 3, to & 3, 0b10, 0b00, 0b01, 0b11];
    let mut hops = Distances(square.map(|a| square.map(|b| Number::from((a ^ b).count_ones()))));
    for level in 2..=levels {
        let is_in_second = |place: Place| match place {
            Place::Here => from >> level & 1 == 1,
            Place::There => to >> level & 1 == 1,
            Place::FirstEnd | Place::Ones => true,
            Place::SecondEnd | Place::ZeroThenOnes => false,
        };
        let above = |a: Place, b: Place| match (is_in_second(a), is_in_second(b)) {
            (false, true) => hops.across(a.below(), b.below()),
            (true, false) => hops.across(b.below(), a.below()),
            _ => hops.between(a.below(), b.below()),
        };
        hops = Distances(PLACES.map(|a| PLACES.map(|b| above(a, b))));
    }
    hops.between(Place::Here, Place::There)
}
