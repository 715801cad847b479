//! Walks on the lowest level of a hypernet, where only the last bits of a node decide which ports it touches: at most 32
//! nodes, so a set of them is a word.

use super::{Levels, Number, Vertex, Walks, only, subsets};

/// A set of nodes: bit i is node i.
type Nodes = u32;

/// The nodes that have a 0 in bit 0, 1, ..
const WITHOUT_BIT: [Nodes; 5] = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff, 0x0000_ffff];

/// The ports of level 2, 3, ..: those that end in 0, 01, 011, .. No node is a port of two levels.
const PORTS: [Nodes; 5] = [0x5555_5555, 0x2222_2222, 0x0808_0808, 0x0080_0080, 0x0000_8000];

/// A graph of the last bits.
pub(super) struct LastBits {
    /// The bits that every node can flip.
    cube: usize,
    /// Whether there are the links of level 2 over hypercube(3) as well.
    linked: bool,
}

impl LastBits {
    /// hypernet(3,2): hypercubes of 3 bits, with the links between them.
    pub(super) const LINKED_CUBE: Self = LastBits { cube: 3, linked: true };

    pub(super) fn cube(bits: usize) -> Self {
        LastBits {
            cube: bits,
            linked: false,
        }
    }

    /// By set of levels, the shortest walk that touches a port of each: all walks at once, a hop further in every round.
    pub(super) fn walks(&self, from: Vertex, to: Vertex, touching: Levels) -> Walks {
        // More than all bits and links for every port and the end.
        const LONGEST: Number = 64;
        const UNKNOWN: u16 = u16::MAX;
        let mut walks = Walks([UNKNOWN; 32]);
        let mut unknown = subsets(touching).count();
        let mut reached = Reached::only(from);
        for hops in 0..=LONGEST {
            if hops > 0 {
                reached.hop(self, touching);
            }
            reached.touch(touching);
            for set in subsets(touching) {
                if reached.has(to, set) && walks.hops(set) == Number::from(UNKNOWN) {
                    walks.set(set, hops);
                    unknown -= 1;
                }
            }
            if unknown == 0 {
                break;
            }
        }
        walks
    }

    /// The neighbors of any of these nodes.
    fn neighbors(&self, nodes: Nodes) -> Nodes {
        let mut neighbors = 0;
        for (&without, bit) in WITHOUT_BIT.iter().zip(0..).take(self.cube) {
            let distance = 1 << bit;
            neighbors |= (nodes & without) << distance | nodes >> distance & without;
        }
        if self.linked {
            neighbors |= linked_to(nodes);
        }
        neighbors
    }
}

/// The other ends of the links of level 2 over hypercube(3), from b0 of cluster a to a0 of cluster b. Where a is b there is
/// none, and the node stands for itself.
fn linked_to(nodes: Nodes) -> Nodes {
    let clusters = (0..4).flat_map(|a| (0..4).map(move |b| (a, b)));
    clusters.fold(0, |linked, (a, b)| {
        let (node, other) = (a << 3 | b << 1, b << 3 | a << 1);
        linked | (nodes >> node & 1) << other
    })
}

/// By set of levels, the nodes where a walk can be that has touched a port of each.
struct Reached([Nodes; 32]);

impl Reached {
    fn only(node: Vertex) -> Self {
        let mut reached = [0; 32];
        reached[0] = 1 << (node & 31);
        Reached(reached)
    }

    fn by(&self, touched: Levels) -> Nodes {
        self.0.get(usize::from(touched)).copied().unwrap_or(0)
    }

    fn has(&self, node: Vertex, touched: Levels) -> bool {
        self.by(touched) >> (node & 31) & 1 == 1
    }

    fn add(&mut self, touched: Levels, nodes: Nodes) {
        if let Some(slot) = self.0.get_mut(usize::from(touched)) {
            *slot |= nodes;
        }
    }

    /// Every walk goes one hop further or stays.
    fn hop(&mut self, graph: &LastBits, touching: Levels) {
        for set in subsets(touching) {
            self.add(set, graph.neighbors(self.by(set)));
        }
    }

    /// A walk that is at a port of a level has touched that level.
    fn touch(&mut self, touching: Levels) {
        for set in subsets(touching) {
            for (&ports, level) in PORTS.iter().zip(2..) {
                if set & only(level) != 0 {
                    self.add(set, self.by(set & !only(level)) & ports);
                }
            }
        }
    }
}
