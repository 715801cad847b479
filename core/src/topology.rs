//! The one shape of everything that can be routed on: small graphs and networks alike.

use core::fmt;

use crate::arith::{Number, Vertex};

/// The number of a node, from 0.
pub type Node = u64;

/// The number of a link at its node, from 0. The ports of a node have no gaps: they are `0..degree`.
pub type Port = u64;

/// Which routing rule to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A shortest path, wherever a rule for it is known and fits the memory; [`Method`] says what it came to.
    #[default]
    Exact,
    /// The order of the paper that defined the network, its misprints corrected.
    Paper,
}

/// What a rule came to for one pair of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// The next hop lies on a shortest path.
    Shortest,
    /// Only the digits that differ may change, and none is left once it is right: shortest under that restriction.
    /// For RE networks with pivot sets (`sd`), where nothing exact is known.
    DigitSearch,
    /// The nearest unserved pivot first: the exact search would need more memory than is set aside.
    NearestPivot,
    /// The shortest of the ways that were tried: there are more than [`limits`](crate::limits) allows. For swapped networks
    /// with very many leaders or digits.
    BestTried,
    /// The order of the paper.
    Paper,
}

/// Which spanning tree a broadcast takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tree {
    /// Everyone is told along a route of the exact rule, so no later than need be if a node can send through all its
    /// ports at once.
    #[default]
    LeastDepth,
    /// The fewest steps known if a node can send one copy a step. The tree can be deeper.
    FewestSteps,
}

/// A node that the network does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoSuchNode {
    /// The node asked for.
    pub node: Node,
    /// How many nodes there are.
    pub nodes: u64,
}

impl fmt::Display for NoSuchNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there is no node {}: the network has nodes 0 to {}",
            self.node,
            self.nodes - 1
        )
    }
}

impl core::error::Error for NoSuchNode {}

/// What a graph or network answers, from addresses alone: no tables, no search through the network, no heap.
///
/// A new family of networks is one implementation of this trait. The methods trust that nodes are below
/// [`nodes`](Self::nodes): [`Network`](crate::Network) checks them first.
pub(crate) trait Topology {
    /// How many nodes there are.
    fn nodes(&self) -> Number;

    /// How many links `node` has.
    fn degree(&self, node: Vertex) -> Number;

    /// The node at the other end of a link; `None` if `node` has no such port.
    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex>;

    /// The neighbor of `here` that `rule` chooses on the way to `dest`; `here` itself if it is the destination.
    ///
    /// Following it from any node reaches `dest` in at most [`longest_route`](Self::longest_route) hops.
    fn next(&self, here: Vertex, dest: Vertex, rule: Rule) -> Vertex;

    /// The number of hops of a shortest path, where it can be computed exactly in the memory set aside.
    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number>;

    /// No route of the rule is longer than this.
    fn longest_route(&self, rule: Rule) -> Number;

    /// The largest distance, where a closed form is proven.
    fn known_diameter(&self) -> Option<Number> {
        None
    }

    /// Whether every node sees the same network: some relabeling of the nodes carries any one to any other.
    /// `false` where that is not proven.
    fn vertex_transitive(&self) -> bool;

    /// The address of `node` as the literature writes it.
    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{node}")
    }

    /// What `rule` comes to between two nodes.
    fn method(&self, _here: Vertex, _dest: Vertex, _rule: Rule) -> Method {
        Method::Shortest
    }

    /// The port of `node` that leads to `neighbor`; `None` if they are not linked. This one asks all neighbors, which is for
    /// families whose nodes have at most as many links as an address has bits.
    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        (0..self.degree(node)).find(|&port| self.neighbor(node, port) == Some(neighbor))
    }

    /// Whether `here` passes a broadcast of `source` on through `port`.
    ///
    /// A node passes it on to those who would send to the source through it. For any loop-free rule that makes a
    /// spanning tree: everyone receives exactly once.
    fn passes_on(&self, here: Vertex, port: Number, source: Vertex) -> bool {
        match self.neighbor(here, port) {
            Some(child) => child != source && self.next(child, source, Rule::Exact) == here,
            None => false,
        }
    }

    /// How urgent it is for `here` to serve `port` in a broadcast of `source`, if it can send only one copy at a time. The
    /// child whose part of the tree takes longest should come first: higher is served first, and of equals the lower port.
    fn send_priority(&self, _here: Vertex, _port: Number, _source: Vertex) -> u64 {
        0
    }

    /// The same two questions for the tree of [fewest steps](Tree::FewestSteps): how urgent it is for `here` to serve `port`,
    /// `None` if it does not pass the broadcast on there. The tree of least depth unless the network knows a faster one.
    fn fewest_steps_send_priority(&self, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
        self.passes_on(here, port, source)
            .then(|| self.send_priority(here, port, source))
    }

    /// Whether [`fewest_steps_send_priority`](Self::fewest_steps_send_priority) is something, which is less to ask where it is the tree of least
    /// depth.
    fn serves_in_fewest_steps(&self, here: Vertex, port: Number, source: Vertex) -> bool {
        self.passes_on(here, port, source)
    }
}

/// Routing by distance alone: the lowest-numbered neighbor with a smaller distance to the destination; the vertex itself if it
/// has none, as at the destination. One distance a neighbor.
pub(crate) fn lowest_closer<T: Topology>(network: &T, here: Vertex, distance: impl Fn(Vertex) -> Number) -> Vertex {
    let now = distance(here);
    let neighbors = (0..network.degree(here)).filter_map(|port| network.neighbor(here, port));
    neighbors.filter(|&next| distance(next) < now).min().unwrap_or(here)
}
