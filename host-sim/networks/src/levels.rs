//! Breadth-first search straight on the addresses: the network is asked for neighbors as they are needed and never built
//! out, so tens of millions of nodes fit a small machine.

use std::sync::atomic::{AtomicU64, Ordering};

use hopwise_core::Node;
use hopwise_core::network::Unchecked;
use rayon::prelude::*;

use crate::CannotExamine;

/// Networks with more nodes are not searched.
pub const MAX_NODES: u64 = 1 << 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// By distance; the source itself is the first entry, 1.
    pub counts: Vec<u64>,
}

impl Levels {
    /// Searches from `source`. `progress` is called with the number of nodes reached so far.
    ///
    /// One bit a node, and four bytes for each node of the two fronts. O(links) queries, on all cores.
    pub fn search(topology: Unchecked<'_>, source: Node, progress: impl Fn(u64)) -> Result<Levels, CannotExamine> {
        let nodes = topology.nodes();
        if nodes > MAX_NODES {
            let why = format!("a network of {nodes} nodes is too large to search (at most {MAX_NODES})");
            return Err(CannotExamine(why));
        }
        let seen: Vec<AtomicU64> = (0..nodes.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let first_time = |node: Node| {
            let (word, bit) = (&seen[(node / 64) as usize], 1 << (node % 64));
            // Most neighbors were seen before: reading is cheaper than writing.
            word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
        };
        first_time(source);
        let mut found = Levels { counts: vec![1] };
        let mut front = vec![source as u32];
        let mut reached = 1;
        loop {
            let parts: Vec<Vec<u32>> = front
                .par_chunks(1 << 13)
                .map(|nodes| {
                    let neighbors = nodes.iter().flat_map(|&node| {
                        let node = Node::from(node);
                        (0..topology.degree(node)).filter_map(move |port| topology.neighbor(node, port))
                    });
                    let new = neighbors.filter(|&node| first_time(node));
                    new.map(|node| node as u32).collect()
                })
                .collect();
            front = parts.concat();
            if front.is_empty() {
                return Ok(found);
            }
            reached += front.len() as u64;
            found.counts.push(front.len() as u64);
            progress(reached);
        }
    }

    /// How many nodes were reached, the source among them.
    pub fn reached(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub fn farthest(&self) -> u64 {
        self.counts.len() as u64 - 1
    }

    pub fn sum(&self) -> u128 {
        let weighted = self.counts.iter().zip(0u128..);
        weighted.map(|(&count, hops)| u128::from(count) * hops).sum()
    }
}

#[cfg(test)]
mod tests {
    use hopwise_core::Network;

    use super::*;
    use crate::distances::hops_from;
    use crate::graph::Graph;

    #[test]
    fn levels_are_those_of_the_graph_built_out() {
        for expression in ["rdn(ring(3),2)", "re(ring(4),ring(4),2,sd)", "rcr(2,3,2)", "path(9)"] {
            let network: Network = expression.parse().unwrap();
            let hops = hops_from(&Graph::build(&network).unwrap(), 3);
            let levels = Levels::search(network.unchecked(), 3, |_| ()).unwrap();
            for (distance, &count) in levels.counts.iter().enumerate() {
                let expected = hops.iter().filter(|&&hops| hops as usize == distance).count();
                assert_eq!(count, expected as u64, "{expression}, distance {distance}");
            }
            assert_eq!(levels.reached(), network.nodes(), "{expression}");
        }
    }
}
