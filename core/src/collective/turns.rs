//! Whose turn it is where a node can send, and receive, one message a round.

use crate::arith::{Number, Vertex, wide};
use crate::network::Network;
use crate::topology::{Node, Port, Topology};

/// Turns for the links of a network, such that in no turn a node sends twice or receives twice.
///
/// If no two neighbors of a node reach it through ports of the same number, as where ports are directions or generators, a
/// link's turn is the number of the port it leaves by. Else it is both its port numbers together: as many turns as the largest degree
/// squared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    degree: Number,
    by_both_ends: bool,
}

impl Turns {
    /// Asks every node for its neighbors: O(nodes degree^2) time, no memory.
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

    /// How many turns there are.
    pub fn count(&self) -> u64 {
        let degree = wide(self.degree).max(1);
        if self.by_both_ends { degree * degree } else { degree }
    }

    /// The turn of the link from a port of a node to the neighbor there. Where one end is enough to tell, it is the port, even if there
    /// is no neighbor; elsewhere it is `None` without one.
    pub fn of(&self, network: &Network, node: Node, port: Port) -> Option<u64> {
        if !self.by_both_ends {
            return Some(port);
        }
        let neighbor = network.neighbor(node, port).ok()??;
        let back = network.port_to(neighbor, node).ok()??;
        Some(port * wide(self.degree) + back)
    }
}
