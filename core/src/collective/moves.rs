//! Exchanges of what nodes hold, over one link each.

use crate::arith::{Number, div_rem, narrow, wide};
use crate::topology::Node;

/// One link per node, over which both ends exchange what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swap(pub(super) Exchange);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// (a,b) and (b,a), in blocks of `size` clusters of `size` nodes.
    Clusters { size: Number },
    /// (0,a,b) and (1,b,a), in blocks of two types of `size` clusters of `size` nodes.
    Types { size: Number },
    /// The lowest digit and the one of this weight.
    Digits { size: Number, weight: Number },
}

impl Swap {
    /// The other end; the node itself if it keeps what it holds.
    pub fn partner(&self, node: Node) -> Node {
        let Some(node) = narrow(node) else { return node };
        wide(match self.0 {
            Exchange::Clusters { size } | Exchange::Types { size } => {
                let whole = size.wrapping_mul(size);
                let (block, within) = div_rem(node, whole);
                let (cluster, inner) = div_rem(within, size);
                let other = block ^ Number::from(matches!(self.0, Exchange::Types { .. }));
                (other.wrapping_mul(whole))
                    .wrapping_add(inner.wrapping_mul(size))
                    .wrapping_add(cluster)
            }
            Exchange::Digits { size, weight } => {
                let low = div_rem(node, size).1;
                let high = div_rem(div_rem(node, weight).0, size).1;
                node.wrapping_sub(low)
                    .wrapping_sub(high.wrapping_mul(weight))
                    .wrapping_add(high)
                    .wrapping_add(low.wrapping_mul(weight))
            }
        })
    }

    /// The type that a node has in a dual-net: 0 or 1; 0 in other networks.
    pub fn kind(&self, node: Node) -> u64 {
        match (self.0, narrow(node)) {
            (Exchange::Types { size }, Some(node)) => wide(div_rem(node, size.wrapping_mul(size)).0 & 1),
            _ => 0,
        }
    }
}

/// The nodes of a dual-net that also work for their partners: those of one type at each of the outer levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hosts {
    /// The nodes of the base graph.
    base: Number,
    /// The levels of the whole network.
    levels: u8,
    /// The number of levels, from the outermost, at which a type is chosen.
    chosen: u8,
    /// The types, the innermost in the lowest bit.
    types: u32,
}

impl Hosts {
    pub(super) fn all(base: Number, levels: u64) -> Self {
        Hosts {
            base,
            // A dual-net of more levels would have too many nodes.
            levels: levels.min(u64::from(u8::MAX)) as u8,
            chosen: 0,
            types: 0,
        }
    }

    /// Restricts the set to the nodes of a type at the next level.
    pub(super) fn of_type(self, kind: u32) -> Self {
        Hosts {
            chosen: self.chosen.saturating_add(1),
            types: (self.types << 1) | kind,
            ..self
        }
    }

    pub(super) fn contain(&self, node: Number) -> bool {
        let mut within = node;
        for done in 0..self.chosen {
            let size = dual_size(self.base, u64::from(self.levels.saturating_sub(done).saturating_sub(1)));
            let (outer, inner) = div_rem(within, size);
            let kind = div_rem(outer, size).0;
            let wanted = self.types.checked_shr(u32::from(self.chosen - 1 - done)).unwrap_or(0) & 1;
            if kind != Number::from(wanted) {
                return false;
            }
            within = inner;
        }
        true
    }
}

pub(super) fn dual_size(base: Number, levels: u64) -> Number {
    (0..levels).fold(base, |size, _| size.wrapping_mul(size).wrapping_mul(2))
}

/// A crossing of a dual-net after which the nodes of one type also hold, and work on, what their partners hold.
///
/// In the numbering in which a crossing is a digit of its own, as the authors of dual-cubes number them, type 1 has the links of
/// the upper half of the other digits and type 0 those of the lower half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lend {
    pub(super) crossing: Swap,
    pub(super) hosts: Hosts,
    pub(super) part: Lent,
}

/// What goes over the crossing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lent {
    /// Nodes of type 0 send all they have to their partners, which put it before their own.
    Join,
    /// Nodes of type 1 send all they have, their own and the others', to their partners, which work on it next.
    Cross,
    /// Nodes of type 1 get back what is theirs, the second half.
    Part,
}

impl Lend {
    /// What is sent over the crossing.
    pub fn lent(&self) -> Lent {
        self.part
    }

    /// The node that a node sends to, if any.
    pub fn send(&self, node: Node) -> Option<Node> {
        let sender = u64::from(self.part == Lent::Cross);
        let sends = self.hosts.contain(narrow(node)?) && self.crossing.kind(node) == sender;
        sends.then(|| self.crossing.partner(node))
    }
}
