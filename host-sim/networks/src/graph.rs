//! A network built out as an explicit graph, to check what addresses alone claim.

use hopwise_core::{Network, Node};
use rayon::prelude::*;

use crate::CannotExamine;

/// Networks with more nodes are not built out.
pub const MAX_NODES: u64 = 1 << 26;

/// Networks with more links are not built out; each is listed at both ends, by 32-bit numbers.
pub const MAX_LINKS: u64 = 1 << 30;

/// Adjacency lists in one array, each in ascending order.
#[derive(Clone)]
pub struct Graph {
    starts: Vec<u32>,
    neighbors: Vec<u32>,
}

impl Graph {
    pub fn build(network: &Network) -> Result<Graph, CannotExamine> {
        let nodes = network.nodes();
        if nodes > MAX_NODES {
            let why = format!("{network} has {nodes} nodes, too many to build out (at most {MAX_NODES})");
            return Err(CannotExamine(why));
        }
        let topology = network.unchecked();
        let mut starts = Vec::with_capacity(nodes as usize + 1);
        let mut links = 0u64;
        starts.push(0);
        for node in 0..nodes {
            links += topology.degree(node);
            if links > 2 * MAX_LINKS {
                let why = format!("{network} has too many links to build out (at most {MAX_LINKS})");
                return Err(CannotExamine(why));
            }
            starts.push(links as u32);
        }
        let mut neighbors = vec![0u32; links as usize];
        let mut lists = Vec::with_capacity(nodes as usize);
        let mut rest = neighbors.as_mut_slice();
        for pair in starts.windows(2) {
            let (list, behind) = rest.split_at_mut((pair[1] - pair[0]) as usize);
            lists.push(list);
            rest = behind;
        }
        lists.into_par_iter().enumerate().for_each(|(node, list)| {
            for (port, slot) in list.iter_mut().enumerate() {
                let neighbor = topology.neighbor(node as Node, port as u64);
                *slot = neighbor.expect("a port below the degree leads somewhere") as u32;
            }
            list.sort_unstable();
        });
        Ok(Graph { starts, neighbors })
    }

    /// A graph with the given edges, each in any order and as often as one likes.
    pub fn from_edges(nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Graph {
        let mut links: Vec<(usize, usize)> = edges.into_iter().flat_map(|(u, v)| [(u, v), (v, u)]).collect();
        links.sort_unstable();
        links.dedup();
        let mut starts = vec![0u32; nodes + 1];
        links.iter().for_each(|link| starts[link.0 + 1] += 1);
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let neighbors = links.into_iter().map(|link| link.1 as u32).collect();
        Graph { starts, neighbors }
    }

    /// Into how many parts without a link between them the graph falls.
    pub fn parts(&self) -> usize {
        self.each_part().count()
    }

    /// The nodes of the largest part, ascending; of several that large, of the one with the lowest node.
    pub fn largest_part(&self) -> Vec<usize> {
        let larger = |largest: Vec<usize>, part: Vec<usize>| if part.len() > largest.len() { part } else { largest };
        let mut largest = self.each_part().fold(Vec::new(), larger);
        largest.sort_unstable();
        largest
    }

    fn each_part(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let mut seen = vec![false; self.nodes()];
        (0..self.nodes()).filter_map(move |root| {
            let mut part = Vec::new();
            let mut waiting = vec![root];
            while let Some(node) = waiting.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    part.push(node);
                    waiting.extend(self.neighbors(node).iter().map(|&next| next as usize));
                }
            }
            (!part.is_empty()).then_some(part)
        })
    }

    pub fn linked(&self, a: usize, b: usize) -> bool {
        self.neighbors(a).binary_search(&(b as u32)).is_ok()
    }

    /// The place of a node's first link in a list of all links, node by node: one entry for each link and direction.
    pub fn first_link(&self, node: usize) -> usize {
        self.starts[node] as usize
    }

    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn edges(&self) -> usize {
        self.neighbors.len() / 2
    }

    /// The neighbors of a node, ascending.
    #[inline]
    pub fn neighbors(&self, node: usize) -> &[u32] {
        &self.neighbors[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    pub fn degree_range(&self) -> (usize, usize) {
        let degrees = || self.starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
        (degrees().min().unwrap_or(0), degrees().max().unwrap_or(0))
    }

    /// Every edge once as (u, v) with u < v, sorted.
    pub fn edge_list(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.nodes()).flat_map(move |node| {
            let above = self.neighbors(node).iter().map(|&neighbor| neighbor as usize);
            above
                .filter(move |&neighbor| neighbor > node)
                .map(move |neighbor| (node, neighbor))
        })
    }
}
