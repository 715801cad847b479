//! The schedule of links where a node can send, and receive, one message per round.

use crate::arith::{Number, Vertex, wide};
use crate::network::Network;
use crate::topology::{Node, Port, Topology};

/// Turns for the links of a network such that no node sends twice or receives twice in a turn.
///
/// If no two neighbors of a node reach it through ports of the same number, as where ports are directions or generators, a
/// link's turn is the number of its outgoing port. Otherwise both port numbers determine it, and there are as many turns as the largest
/// degree squared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    degree: Number,
    by_both_ends: bool,
}

impl Turns {
    /// Examines the neighbors of every node: O(nodes degree^2) time, no memory.
    pub fn new(network: &Network) -> Self {
        let family = network.family();
        let nodes = family.nodes();
        let arrives_by = |node: Vertex, port: Number| {
            let neighbor = family.neighbor(node, port)?;
            family.port_to(neighbor, node)
        };
        let meets_twice = |node: Vertex| {
            let degree = family.degree(node);
            (0..degree).any(|port| {
                let by = arrives_by(node, port);
                (port + 1..degree).any(|other| arrives_by(node, other) == by)
            })
        };
        Turns {
            degree: (0..nodes).map(|node| family.degree(node)).max().unwrap_or(0),
            by_both_ends: (0..nodes).any(meets_twice),
        }
    }

    /// The number of turns.
    pub fn count(&self) -> u64 {
        let degree = wide(self.degree).max(1);
        if self.by_both_ends { degree * degree } else { degree }
    }

    /// The turn of the link at a port of a node. Where one end is enough to determine it, it is the port, even without a neighbor there;
    /// elsewhere it is `None` without one.
    pub fn of(&self, network: &Network, node: Node, port: Port) -> Option<u64> {
        if !self.by_both_ends {
            return Some(port);
        }
        let neighbor = network.neighbor(node, port).ok()??;
        let back = network.port_to(neighbor, node).ok()??;
        Some(port * wide(self.degree) + back)
    }
}
