//! The hypercube and the folded hypercube: bit `i` of a node's number is its place in dimension `i`.

use core::cmp::Ordering;
use core::fmt;

use super::Graph;
use crate::arith::{Number, Vertex, bits, ones, wide};

/// `hypercube(n)`. Port `i` flips bit `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Hypercube {
    pub(crate) bits: u8,
}

/// `folded-hypercube(n)`: with one more link, at port `n`, from every node to its complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FoldedHypercube {
    pub(crate) bits: u8,
}

/// The lowest differing bit first.
#[inline]
pub(crate) fn next(here: Vertex, dest: Vertex) -> Vertex {
    let changed = here ^ dest;
    here ^ (changed & changed.wrapping_neg())
}

/// A node with the least sum of distances to four nodes: every bit as in most of them.
fn majority([a, b, c, d]: [Vertex; 4]) -> Vertex {
    a & b & (c | d) | c & d & (a | b)
}

fn write_bits(bits: u8, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(out, "{node:0>0$b}", usize::from(bits))
}

impl Graph for Hypercube {
    #[inline]
    fn nodes(&self) -> Number {
        1 << self.bits
    }

    fn degree(&self, _node: Vertex) -> Number {
        Number::from(self.bits)
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        (port < Number::from(self.bits)).then(|| node ^ (1 << port))
    }

    #[inline]
    fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
        next(here, dest)
    }

    #[inline]
    fn hops(&self, from: Vertex, to: Vertex) -> Number {
        Number::from((from ^ to).count_ones())
    }

    fn diameter(&self) -> Number {
        Number::from(self.bits)
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bits(self.bits, node, out)
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        let changed = node ^ neighbor;
        let port = changed.trailing_zeros();
        (changed.is_power_of_two() && port < u32::from(self.bits)).then_some(Number::from(port))
    }

    /// The neighbors that lack a bit of the node's come first, from its highest; then those that have one more, from the lowest.
    fn rank(&self, node: Vertex, neighbor: Vertex) -> Number {
        let changed = node ^ neighbor;
        let before = if neighbor < node {
            (node & !(changed | changed.wrapping_sub(1))).count_ones()
        } else {
            node.count_ones() + (!node & changed.wrapping_sub(1)).count_ones()
        };
        Number::from(before)
    }

    fn ranked(&self, node: Vertex, rank: Number) -> Option<Vertex> {
        let lower = Number::from(node.count_ones());
        let (places, place) = if rank < lower {
            (node, lower - 1 - rank)
        } else {
            (!node & ones(Number::from(self.bits)), rank - lower)
        };
        let bit = bits(wide(places)).nth(usize::try_from(place).ok()?)?;
        Some(node ^ 1 << bit)
    }

    fn median(&self, points: [Vertex; 4]) -> Option<Vertex> {
        Some(majority(points))
    }

    /// The highest dimension leads to the largest subcube.
    fn send_priority(&self, _here: Vertex, port: Number, _source: Vertex) -> u64 {
        wide(port)
    }

    fn broadcast_steps(&self) -> Number {
        Number::from(self.bits)
    }
}

impl FoldedHypercube {
    fn plain(self) -> Hypercube {
        Hypercube { bits: self.bits }
    }

    fn complement(self, node: Vertex) -> Vertex {
        node ^ ones(Number::from(self.bits))
    }

    /// Hops by way of the complement link, for nodes that differ in this many bits.
    fn through_complement(self, differing: Number) -> Number {
        Number::from(self.bits) - differing + 1
    }
}

impl Graph for FoldedHypercube {
    fn nodes(&self) -> Number {
        1 << self.bits
    }

    fn degree(&self, _node: Vertex) -> Number {
        Number::from(self.bits) + 1
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        if port == Number::from(self.bits) {
            Some(self.complement(node))
        } else {
            self.plain().neighbor(node, port)
        }
    }

    /// Through the complement first, and only if that is strictly shorter.
    fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
        let differing = self.plain().hops(here, dest);
        if self.through_complement(differing) < differing {
            self.complement(here)
        } else {
            next(here, dest)
        }
    }

    fn hops(&self, from: Vertex, to: Vertex) -> Number {
        let differing = self.plain().hops(from, to);
        differing.min(self.through_complement(differing))
    }

    fn diameter(&self) -> Number {
        Number::from(self.bits.div_ceil(2))
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bits(self.bits, node, out)
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        if neighbor == self.complement(node) {
            Some(Number::from(self.bits))
        } else {
            self.plain().port_to(node, neighbor)
        }
    }

    fn rank(&self, node: Vertex, neighbor: Vertex) -> Number {
        let complement = self.complement(node);
        if neighbor == complement {
            let plain = self.plain();
            plain.neighbors(node).filter(|&other| other < complement).count() as Number
        } else {
            self.plain().rank(node, neighbor) + Number::from(complement < neighbor)
        }
    }

    fn ranked(&self, node: Vertex, rank: Number) -> Option<Vertex> {
        let complement = self.complement(node);
        match rank.cmp(&self.rank(node, complement)) {
            Ordering::Less => self.plain().ranked(node, rank),
            Ordering::Equal => Some(complement),
            Ordering::Greater => self.plain().ranked(node, rank - 1),
        }
    }

    /// Each of the four is reached either directly or through its complement, and for every choice the sum is that of a
    /// hypercube, so one of the 16 medians is the best.
    fn median(&self, points: [Vertex; 4]) -> Option<Vertex> {
        let sum = |node: &Vertex| points.iter().map(|&point| self.hops(*node, point)).sum::<Number>();
        let choices = (0..16u32).map(|choice| {
            let mut sides = points;
            for (place, side) in sides.iter_mut().enumerate() {
                if choice >> place & 1 == 1 {
                    *side = self.complement(*side);
                }
            }
            majority(sides)
        });
        choices.min_by_key(sum)
    }

    /// The complement link is only ever the first hop to the source, so its subtree is a single node.
    fn send_priority(&self, _here: Vertex, port: Number, _source: Vertex) -> u64 {
        wide((port + 1) % (Number::from(self.bits) + 1))
    }

    fn broadcast_steps(&self) -> Number {
        Number::from(self.bits) + 1
    }
}
