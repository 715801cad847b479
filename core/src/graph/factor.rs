//! Graphs of one dimension: the ring, the path and the complete graph. Alone they are base graphs; along the axes of a
//! [product](super::product) they make torus, mesh and generalized hypercube.

use crate::arith::{Number, Vertex, sub_mod, wide, wrap};

/// How the nodes `0..n` along one axis are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factor {
    /// Each with the next, and the last with the first. Port 0 leads to +1, port 1 to -1; a ring of two has one link.
    Ring,
    /// Each with the next. Port 0 leads to +1 where there is one, the other port to -1.
    Path,
    /// Every node with every other. Ports in ascending order of the neighbors.
    Complete,
}

impl Factor {
    pub(crate) fn degree(self, n: Number, node: Vertex) -> Number {
        match self {
            Factor::Ring => n.min(3) - 1,
            Factor::Path => Number::from(node > 0) + Number::from(node + 1 < n),
            Factor::Complete => n - 1,
        }
    }

    pub(crate) fn neighbor(self, n: Number, node: Vertex, port: Number) -> Option<Vertex> {
        if port >= self.degree(n, node) {
            return None;
        }
        Some(match self {
            Factor::Ring if port == 0 => wrap(node + 1, n),
            Factor::Ring => sub_mod(node, 1, n),
            Factor::Path if port == 0 && node + 1 < n => node + 1,
            Factor::Path => node.saturating_sub(1),
            Factor::Complete => port + Number::from(port >= node),
        })
    }

    pub(crate) fn port_to(self, n: Number, node: Vertex, neighbor: Vertex) -> Option<Number> {
        match self {
            Factor::Complete if node == neighbor || neighbor >= n => None,
            Factor::Complete => Some(neighbor - Number::from(neighbor > node)),
            _ => (0..self.degree(n, node)).find(|&port| self.neighbor(n, node, port) == Some(neighbor)),
        }
    }

    /// The number of neighbors of `node` below `other`.
    pub(crate) fn rank(self, n: Number, node: Vertex, other: Vertex) -> Number {
        match self {
            Factor::Complete => other - Number::from(other > node),
            Factor::Ring | Factor::Path => {
                let ports = 0..self.degree(n, node);
                let is_below = |&port: &Number| self.neighbor(n, node, port).is_some_and(|neighbor| neighbor < other);
                ports.filter(is_below).count() as Number
            }
        }
    }

    /// The neighbor with this rank in ascending order.
    pub(crate) fn ranked(self, n: Number, node: Vertex, rank: Number) -> Option<Vertex> {
        match self {
            Factor::Complete => self.neighbor(n, node, rank),
            Factor::Ring | Factor::Path => (0..self.degree(n, node))
                .filter_map(|port| self.neighbor(n, node, port))
                .find(|&neighbor| self.rank(n, node, neighbor) == rank),
        }
    }

    #[inline]
    pub(crate) fn next(self, n: Number, here: Vertex, dest: Vertex) -> Vertex {
        if here == dest {
            return here;
        }
        match self {
            Factor::Ring => {
                // Ties go +1.
                let ahead = sub_mod(dest, here, n);
                if ahead <= n - ahead {
                    wrap(here + 1, n)
                } else {
                    sub_mod(here, 1, n)
                }
            }
            Factor::Path if dest > here => here + 1,
            Factor::Path => here - 1,
            Factor::Complete => dest,
        }
    }

    #[inline]
    pub(crate) fn distance(self, n: Number, from: Vertex, to: Vertex) -> Number {
        match self {
            Factor::Ring => {
                let ahead = sub_mod(to, from, n);
                ahead.min(n - ahead)
            }
            Factor::Path => from.abs_diff(to),
            Factor::Complete => Number::from(from != to),
        }
    }

    /// The first of four nodes with the least sum of distances to all of them. No other node has less: from a point the
    /// distance grows, and then levels off or shrinks, so between neighboring points the sum has no valley.
    pub(crate) fn median(self, n: Number, points: [Vertex; 4]) -> Vertex {
        let sum = |place: &Vertex| {
            points
                .iter()
                .map(|&point| self.distance(n, *place, point))
                .sum::<Number>()
        };
        points.into_iter().min_by_key(sum).unwrap_or(0)
    }

    pub(crate) fn diameter(self, n: Number) -> Number {
        match self {
            Factor::Ring => n / 2,
            Factor::Path => n - 1,
            Factor::Complete => 1,
        }
    }

    /// The nodes that a broadcast of `source` still has to reach behind this port, if it runs along the axis.
    pub(crate) fn arm(self, n: Number, source: Vertex, here: Vertex, port: Number) -> Number {
        let up = port == 0 && !(self == Factor::Path && here + 1 == n);
        match self {
            // The node opposite the source sends +1, so the arm at -1 has it.
            Factor::Ring if up => ((n - 1) / 2).saturating_sub(sub_mod(here, source, n)),
            Factor::Ring => (n / 2).saturating_sub(sub_mod(source, here, n)),
            Factor::Path if up => n - 1 - here,
            Factor::Path => here,
            Factor::Complete => 1,
        }
    }

    /// The send priority of a port in the broadcast tree of fewest steps; `None` if it is not a branch of it. In a complete graph the
    /// source sends to +1, then both send to +2, then all four to +4: ceil(log2 n) steps.
    pub(crate) fn quickest(self, n: Number, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
        let child = self.neighbor(n, here, port).filter(|&child| child != source)?;
        if self == Factor::Complete {
            let (told, teller) = (sub_mod(child, source, n), sub_mod(here, source, n));
            let step = told.checked_ilog2()?;
            return (told - (1 << step) == teller).then_some(u64::from(u64::BITS - step));
        }
        (self.next(n, child, source) == here).then(|| wide(self.arm(n, source, here, port)))
    }

    /// Steps of a broadcast if a node sends one copy per step.
    pub(crate) fn broadcast_steps(self, n: Number) -> Number {
        match self {
            Factor::Ring => n.div_ceil(2),
            Factor::Path | Factor::Complete => n - 1,
        }
    }
}
