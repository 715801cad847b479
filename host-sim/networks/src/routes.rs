//! Routes followed hop by hop: one between two nodes with its figures, or all to one destination.

use hopwise_core::{Method, Network, Node, Rule};
use serde::Serialize;

use super::distances::hops_from;
use super::graph::Graph;
use crate::CannotExamine;

/// Longer routes are not listed.
pub const MAX_HOPS: u64 = 1 << 20;

/// Networks up to this size are searched for a distance that the addresses do not tell.
const MAX_SEARCHED: u64 = 1 << 22;

/// A route between two nodes. The names are those of the JSON keys of `hopwise route`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Route {
    /// The nodes on it, both ends included.
    pub path: Vec<Node>,
    pub hops: u64,
    /// The hops of a shortest path; unknown if neither address nor search tells.
    pub distance: Option<u64>,
    pub method: &'static str,
    /// The port taken at each node but the last.
    pub ports: Vec<u64>,
}

impl Route {
    pub fn follow(network: &Network, from: Node, to: Node, rule: Rule) -> Result<Route, CannotExamine> {
        for node in [from, to] {
            let checked = network.check(node);
            checked.map_err(|error| CannotExamine(format!("{network}: {error}")))?;
        }
        let topology = network.unchecked();
        let (mut path, mut here) = (vec![from], from);
        while here != to {
            if path.len() as u64 > MAX_HOPS {
                let why =
                    format!("{network}: the route from {from} to {to} has more than {MAX_HOPS} hops, too many to list");
                return Err(CannotExamine(why));
            }
            here = topology.next(here, to, rule);
            path.push(here);
        }
        let ports = path.windows(2).filter_map(|hop| topology.port_to(hop[0], hop[1]));
        Ok(Route {
            hops: path.len() as u64 - 1,
            distance: distance(network, from, to)?,
            method: method_name(topology.method(from, to, rule)),
            ports: ports.collect(),

            path,
        })
    }
}

/// By address, or by search where no exact rule is known.
fn distance(network: &Network, from: Node, to: Node) -> Result<Option<u64>, CannotExamine> {
    let known = network.unchecked().distance(from, to);
    if known.is_some() || network.nodes() > MAX_SEARCHED {
        return Ok(known);
    }
    let hops = hops_from(&Graph::build(network)?, from as usize)[to as usize];
    Ok(Some(hops.into()))
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Shortest => "shortest path",
        Method::DigitSearch => "search over the differing digits",
        Method::NearestPivot => "nearest pivot first",
        Method::BestTried => "shortest of the paths tried",
        Method::Paper => "the paper's order",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteFault {
    #[error("{expression}: on the way to {dest} node {here} sends to {next}, which is not a neighbor")]
    NoLink {
        expression: String,
        here: Node,
        next: Node,
        dest: Node,
    },
    #[error("{expression}: on the way to {dest} a packet comes back to node {here}")]
    Loop { expression: String, here: Node, dest: Node },
}

pub struct RoutesTo {
    pub dest: usize,
    pub next: Vec<u32>,
    /// The hops that every node's route takes.
    pub hops: Vec<u32>,
}

impl RoutesTo {
    /// Asks the network for the next hop of every node, and checks that each is a neighbor and all routes arrive.
    pub fn follow(network: &Network, graph: &Graph, dest: usize, rule: Rule) -> Result<RoutesTo, RouteFault> {
        let topology = network.unchecked();
        let next = |node| topology.next(node as Node, dest as Node, rule) as u32;
        let next: Vec<u32> = (0..graph.nodes()).map(next).collect();
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
        let hops = count_along(&next, dest, |_, _| 1).map_err(|here| RouteFault::Loop {
            expression: expression(),
            here,
            dest: dest as Node,
        })?;
        Ok(RoutesTo { dest, next, hops })
    }

    /// The valleys ahead of each node's route: nodes numbered lower than the one before and the one after.
    pub fn valleys(&self) -> Vec<u32> {
        valleys(&self.next, self.dest)
    }
}

/// The valleys ahead of every node on its route to `dest`, if `next` leads there; a node that is its own next has no route.
pub fn valleys(next: &[u32], dest: usize) -> Vec<u32> {
    let valley = |before: usize, here: usize| u32::from(here < before && next[here] as usize > here && here != dest);
    count_along(next, dest, valley).expect("routes without a cycle")
}

/// For every node the sum of what its hops count, each from a node to another; or a node on a cycle. O(nodes): every node asks the next.
fn count_along(next: &[u32], dest: usize, hop: impl Fn(usize, usize) -> u32) -> Result<Vec<u32>, Node> {
    const UNKNOWN: u32 = u32::MAX;
    let ends_here = |(node, &next): (usize, &u32)| if next as usize == node { 0 } else { UNKNOWN };
    let mut counts: Vec<u32> = next.iter().enumerate().map(ends_here).collect();
    counts[dest] = 0;
    let mut path = Vec::new();
    for start in 0..next.len() {
        let mut here = start;
        while counts[here] == UNKNOWN {
            if path.len() > next.len() {
                return Err(here as Node);
            }
            path.push(here);
            here = next[here] as usize;
        }
        while let Some(before) = path.pop() {
            counts[before] = counts[here] + hop(before, here);
            here = before;
        }
    }
    Ok(counts)
}
