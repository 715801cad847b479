//! A [factor](super::Factor) by itself: `ring(n)`, `path(n)` and `complete(n)`.

use super::{Factor, Graph};
use crate::arith::{Number, Vertex, wide};

/// A one-dimensional graph of `n` nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Line {
    pub(crate) factor: Factor,
    pub(crate) nodes: Number,
}

impl Graph for Line {
    #[inline]
    fn nodes(&self) -> Number {
        self.nodes
    }

    fn degree(&self, node: Vertex) -> Number {
        self.factor.degree(self.nodes, node)
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        self.factor.neighbor(self.nodes, node, port)
    }

    #[inline]
    fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
        self.factor.next(self.nodes, here, dest)
    }

    #[inline]
    fn hops(&self, from: Vertex, to: Vertex) -> Number {
        self.factor.distance(self.nodes, from, to)
    }

    fn diameter(&self) -> Number {
        self.factor.diameter(self.nodes)
    }

    fn vertex_transitive(&self) -> bool {
        self.factor != Factor::Path || self.nodes == 2
    }

    fn largest_degree(&self) -> Number {
        match self.factor {
            Factor::Path => 2.min(self.nodes - 1),
            Factor::Ring | Factor::Complete => self.degree(0),
        }
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        self.factor.port_to(self.nodes, node, neighbor)
    }

    fn median(&self, points: [Vertex; 4]) -> Option<Vertex> {
        Some(self.factor.median(self.nodes, points))
    }

    fn rank(&self, node: Vertex, neighbor: Vertex) -> Number {
        self.factor.rank(self.nodes, node, neighbor)
    }

    fn ranked(&self, node: Vertex, rank: Number) -> Option<Vertex> {
        self.factor.ranked(self.nodes, node, rank)
    }

    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        wide(self.factor.arm(self.nodes, source, here, port))
    }

    fn fewest_steps_send_priority(&self, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
        self.factor.quickest(self.nodes, here, port, source)
    }

    fn broadcast_steps(&self) -> Number {
        self.factor.broadcast_steps(self.nodes)
    }
}
