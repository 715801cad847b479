//! Graphs of one dimension: the ring, the path and the complete graph. Alone they are base graphs; along the axes of a
//! [product](super::product) they make torus, mesh and generalized hypercube.

use super::{Factor, Graph};
use crate::arith::{Number, Vertex, sub_mod, wide, wrap};

/// A graph of one dimension: `ring(n)`, `path(n)` and `complete(n)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Line {
    pub(crate) factor: Factor,
    pub(crate) nodes: Number,
}

impl Line {
    pub(crate) fn ring(nodes: Number) -> Self {
        let factor = Factor::Ring;
        Line { factor, nodes }
    }

    /// The nodes that a broadcast of `source` still has to reach behind this port.
    fn arm(&self, source: Vertex, here: Vertex, port: Number) -> Number {
        let n = self.nodes;
        let up = port == 0 && !(self.factor == Factor::Path && here + 1 == n);
        match self.factor {
            // The node opposite the source sends +1, so the arm at -1 has it.
            Factor::Ring if up => ((n - 1) / 2).saturating_sub(sub_mod(here, source, n)),
            Factor::Ring => (n / 2).saturating_sub(sub_mod(source, here, n)),
            Factor::Path if up => n - 1 - here,
            Factor::Path => here,
            Factor::Complete => 1,
        }
    }
}

impl Graph for Line {
    #[inline]
    fn nodes(&self) -> Number {
        self.nodes
    }

    fn degree(&self, node: Vertex) -> Number {
        match self.factor {
            Factor::Ring => self.nodes.min(3) - 1,
            Factor::Path => Number::from(node > 0) + Number::from(node + 1 < self.nodes),
            Factor::Complete => self.nodes - 1,
        }
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        if port >= self.degree(node) {
            return None;
        }
        Some(match self.factor {
            Factor::Ring if port == 0 => wrap(node + 1, self.nodes),
            Factor::Ring => sub_mod(node, 1, self.nodes),
            Factor::Path if port == 0 && node + 1 < self.nodes => node + 1,
            Factor::Path => node.saturating_sub(1),
            Factor::Complete => port + Number::from(port >= node),
        })
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        match self.factor {
            Factor::Complete if node == neighbor || neighbor >= self.nodes => None,
            Factor::Complete => Some(neighbor - Number::from(neighbor > node)),
            _ => (0..self.degree(node)).find(|&port| self.neighbor(node, port) == Some(neighbor)),
        }
    }

    fn rank(&self, node: Vertex, neighbor: Vertex) -> Number {
        match self.factor {
            Factor::Complete => neighbor - Number::from(neighbor > node),
            _ => self.neighbors(node).filter(|&other| other < neighbor).count() as Number,
        }
    }

    fn ranked(&self, node: Vertex, rank: Number) -> Option<Vertex> {
        match self.factor {
            Factor::Complete => self.neighbor(node, rank),
            _ => self.neighbors(node).find(|&neighbor| self.rank(node, neighbor) == rank),
        }
    }

    #[inline]
    fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
        if here == dest {
            return here;
        }
        match self.factor {
            Factor::Ring => {
                // Ties go +1.
                let ahead = sub_mod(dest, here, self.nodes);
                if ahead <= self.nodes - ahead {
                    wrap(here + 1, self.nodes)
                } else {
                    sub_mod(here, 1, self.nodes)
                }
            }
            Factor::Path if dest > here => here + 1,
            Factor::Path => here - 1,
            Factor::Complete => dest,
        }
    }

    #[inline]
    fn hops(&self, from: Vertex, to: Vertex) -> Number {
        match self.factor {
            Factor::Ring => {
                let ahead = sub_mod(to, from, self.nodes);
                ahead.min(self.nodes - ahead)
            }
            Factor::Path => from.abs_diff(to),
            Factor::Complete => Number::from(from != to),
        }
    }

    /// The first of four nodes with the least sum of distances to all of them. No other node has less: from a point the
    /// distance grows, and then levels off or shrinks, so between neighboring points the sum has no valley.
    fn median(&self, points: [Vertex; 4]) -> Option<Vertex> {
        let sum = |place: &Vertex| points.iter().map(|&point| self.hops(*place, point)).sum::<Number>();
        points.into_iter().min_by_key(sum)
    }

    fn diameter(&self) -> Number {
        match self.factor {
            Factor::Ring => self.nodes / 2,
            Factor::Path => self.nodes - 1,
            Factor::Complete => 1,
        }
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

    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        wide(self.arm(source, here, port))
    }

    /// In a complete graph the source sends to +1, then both send to +2, then all four to +4: ceil(log2 n) steps.
    fn fewest_steps_send_priority(&self, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
        let child = self.neighbor(here, port).filter(|&child| child != source)?;
        if self.factor == Factor::Complete {
            let (told, teller) = (sub_mod(child, source, self.nodes), sub_mod(here, source, self.nodes));
            let step = told.checked_ilog2()?;
            return (told - (1 << step) == teller).then_some(u64::from(u64::BITS - step));
        }
        (self.step(child, source) == here).then(|| self.send_priority(here, port, source))
    }

    fn broadcast_steps(&self) -> Number {
        match self.factor {
            Factor::Ring => self.nodes.div_ceil(2),
            Factor::Path | Factor::Complete => self.nodes - 1,
        }
    }
}
