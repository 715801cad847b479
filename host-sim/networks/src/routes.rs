//! All routes to one destination, followed hop by hop.

use hopwise_core::{Network, Node, Rule};

use super::graph::Graph;

/// What is wrong with a routing rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteFault {
    /// A hop along no link.
    #[error("{expression}: on the way to {dest} node {here} sends to {next}, which is no neighbour")]
    NoLink {
        /// The network.
        expression: String,
        /// The sender.
        here: Node,
        /// Where it sends to.
        next: Node,
        /// The destination.
        dest: Node,
    },
    /// A route that comes back to itself.
    #[error("{expression}: on the way to {dest} a packet comes back to node {here}")]
    Loop {
        /// The network.
        expression: String,
        /// A node on the circle.
        here: Node,
        /// The destination.
        dest: Node,
    },
}

/// The routes from every node to one destination.
pub struct RoutesTo {
    /// The destination.
    pub dest: usize,
    /// The next hop of every node.
    pub next: Vec<u32>,
    /// The hops that every node's route takes.
    pub hops: Vec<u32>,
}

impl RoutesTo {
    /// Asks the network for the next hop of every node, and checks that each is a neighbour and all routes arrive.
    pub fn follow(network: &Network, graph: &Graph, dest: usize, rule: Rule) -> Result<RoutesTo, RouteFault> {
        let topology = network.topology();
        let next: Vec<u32> = (0..graph.nodes())
            .map(|node| topology.next(node as Node, dest as Node, rule) as u32)
            .collect();
        let expression = || network.to_string();
        for (here, &next) in next.iter().enumerate() {
            if here != dest && graph.neighbors(here).binary_search(&next).is_err() {
                let (here, next, dest) = (here as Node, Node::from(next), dest as Node);
                return Err(RouteFault::NoLink {
                    expression: expression(),
                    here,
                    next,
                    dest,
                });
            }
        }
        let hops = count_hops(&next, dest).map_err(|here| RouteFault::Loop {
            expression: expression(),
            here,
            dest: dest as Node,
        })?;
        Ok(RoutesTo { dest, next, hops })
    }

    /// The valleys ahead of each node's route: nodes numbered lower than the one before and the one after.
    pub fn valleys(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.next.len() as u32).collect();
        order.sort_unstable_by_key(|&node| self.hops[node as usize]);
        let mut valleys = vec![0; self.next.len()];
        for node in order {
            let next = self.next[node as usize];
            let after = self.next[next as usize];
            let valley = next as usize != self.dest && next < node && after > next;
            if node as usize != self.dest {
                valleys[node as usize] = valleys[next as usize] + u32::from(valley);
            }
        }
        valleys
    }
}

/// The length of every route, or a node on a circle.
fn count_hops(next: &[u32], dest: usize) -> Result<Vec<u32>, Node> {
    const UNKNOWN: u32 = u32::MAX;
    let mut hops = vec![UNKNOWN; next.len()];
    hops[dest] = 0;
    let mut path = Vec::new();
    for start in 0..next.len() {
        let mut here = start;
        while hops[here] == UNKNOWN {
            if path.len() > next.len() {
                return Err(here as Node);
            }
            path.push(here);
            here = next[here] as usize;
        }
        let mut count = hops[here];
        for node in path.drain(..).rev() {
            count += 1;
            hops[node] = count;
        }
    }
    Ok(hops)
}
