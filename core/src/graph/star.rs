//! `star(n)`: node 0 in the middle, linked with all others. Port `i` of the middle leads to node `i + 1`.

use super::Graph;
use crate::arith::{Number, Vertex};

/// A center and its leaves, `n` nodes in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Star {
    pub(crate) nodes: Number,
}

impl Graph for Star {
    fn nodes(&self) -> Number {
        self.nodes
    }

    fn degree(&self, node: Vertex) -> Number {
        if node == 0 { self.nodes - 1 } else { 1 }
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        (port < self.degree(node)).then(|| if node == 0 { port + 1 } else { 0 })
    }

    fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
        if here == 0 || here == dest { dest } else { 0 }
    }

    fn hops(&self, from: Vertex, to: Vertex) -> Number {
        if from == to {
            0
        } else {
            1 + Number::from(from != 0 && to != 0)
        }
    }

    fn diameter(&self) -> Number {
        2.min(self.nodes - 1)
    }

    fn farthest_from_zero(&self) -> Number {
        1
    }

    fn vertex_transitive(&self) -> bool {
        self.nodes == 2
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        if node == 0 {
            (neighbor > 0 && neighbor < self.nodes).then(|| neighbor - 1)
        } else {
            (neighbor == 0).then_some(0)
        }
    }

    fn rank(&self, _node: Vertex, neighbor: Vertex) -> Number {
        neighbor.saturating_sub(1)
    }

    fn ranked(&self, node: Vertex, rank: Number) -> Option<Vertex> {
        self.neighbor(node, rank)
    }

    fn broadcast_steps(&self) -> Number {
        self.nodes - 1
    }
}
