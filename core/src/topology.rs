//! The trait of everything that can be routed on: small graphs and networks alike.

use core::fmt;

use crate::arith::{Number, Vertex};
use crate::named;

/// The number of a node, from 0.
pub type Node = u64;

/// The number of a link at its node, from 0. The ports of a node have no gaps: they are `0..degree`.
pub type Port = u64;

named! {
    /// A routing function.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Rule {
        /// A shortest path, wherever one is known and fits the memory; [`Method`] says whether it did.
        #[default]
        Exact = "exact",
        /// The order of the paper that defined the network, its misprints corrected.
        Paper = "paper",
    }
}

/// How a routing function chose the next hop between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// The next hop lies on a shortest path.
    Shortest,
    /// Only differing digits may change, each until it is right: shortest under that restriction.
    /// For RE networks with pivot sets (`sd`), where no exact method is known.
    DigitSearch,
    /// The nearest unserved pivot first: the exact search would need more memory than is available.
    NearestPivot,
    /// The shortest of the paths that were tried: there are more than [`limits`](crate::limits) allows. For swapped networks
    /// with very many leaders or digits.
    BestTried,
    /// The order that the paper defines.
    Paper,
}

named! {
    /// The spanning tree of a broadcast.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Tree {
        /// Every node is reached along an exact route, hence as early as possible if a node can send through all its ports at once.
        #[default]
        LeastDepth = "least-depth",
        /// The fewest steps known if a node can send one copy per step. The tree can be deeper.
        FewestSteps = "fewest-steps",
    }
}

/// The error for a node that the network does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoSuchNode {
    /// The requested node.
    pub node: Node,
    /// The number of nodes in the network.
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

/// A graph or network, computed from addresses alone: no tables, no search through the network, no heap.
///
/// A new family of networks is one implementation of this trait. The methods rely on nodes being below
/// [`nodes`](Self::nodes): [`Network`](crate::Network) checks them first.
pub(crate) trait Topology {
    fn nodes(&self) -> Number;

    fn degree(&self, node: Vertex) -> Number;

    /// The node at the other end of a link; `None` if `node` has no such port.
    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex>;

    /// The neighbor of `here` that `rule` chooses on the way to `dest`; `here` itself if it is the destination.
    ///
    /// Following it from any node reaches `dest` in at most [`longest_route`](Self::longest_route) hops.
    fn next(&self, here: Vertex, dest: Vertex, rule: Rule) -> Vertex;

    /// The number of hops of a shortest path, where it can be computed exactly in the memory set aside.
    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number>;

    /// No route of the routing function is longer than this: by default, where all routes are shortest, than the diameter.
    fn longest_route(&self, _rule: Rule) -> Number {
        self.known_diameter().unwrap_or(Number::MAX)
    }

    /// The largest distance, where a closed form is proven.
    fn known_diameter(&self) -> Option<Number> {
        None
    }

    /// Whether the network is known to be vertex-transitive: an automorphism maps any node to any other.
    fn vertex_transitive(&self) -> bool {
        false
    }

    /// The address of `node` as the literature writes it.
    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{node}")
    }

    /// Whether the paper's routing function is another one than the exact.
    const HAS_PAPER_RULE: bool = false;

    /// How `rule` chooses the next hop between two nodes.
    fn method(&self, _here: Vertex, _dest: Vertex, rule: Rule) -> Method {
        match rule {
            Rule::Paper if Self::HAS_PAPER_RULE => Method::Paper,
            _ => Method::Shortest,
        }
    }

    /// The port of `node` toward `neighbor`; `None` if they are not linked. This default tries all neighbors, which suits families with at
    /// most as many links per node as an address has bits.
    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        (0..self.degree(node)).find(|&port| self.neighbor(node, port) == Some(neighbor))
    }

    /// Whether `here` forwards a broadcast of `source` through `port`.
    ///
    /// A node forwards to the neighbors whose route to the source goes through it. For any loop-free routing function that is a
    /// spanning tree: every node receives the broadcast exactly once.
    fn passes_on(&self, here: Vertex, port: Number, source: Vertex) -> bool {
        let by_routes = || {
            let child = self.neighbor(here, port);
            child.is_some_and(|child| child != source && self.next(child, source, Rule::Exact) == here)
        };
        self.passes_on_directly(here, port, source).unwrap_or_else(by_routes)
    }

    /// The same in families that need no routes for it.
    fn passes_on_directly(&self, _here: Vertex, _port: Number, _source: Vertex) -> Option<bool> {
        None
    }

    /// The priority of `port` at `here` in a broadcast of `source`, if only one copy can be sent at a time. The child whose subtree takes
    /// longest should come first: the highest priority is served first, and on a tie the lower port.
    fn send_priority(&self, _here: Vertex, _port: Number, _source: Vertex) -> u64 {
        0
    }

    /// The same for the tree of [fewest steps](Tree::FewestSteps): `None` if `here` does not forward through `port`. The default is the
    /// tree of least depth.
    fn fewest_steps_send_priority(&self, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
        self.passes_on(here, port, source)
            .then(|| self.send_priority(here, port, source))
    }

    /// Whether [`fewest_steps_send_priority`](Self::fewest_steps_send_priority) is `Some`, which is cheaper to compute where it is the tree
    /// of least depth.
    fn serves_in_fewest_steps(&self, here: Vertex, port: Number, source: Vertex) -> bool {
        self.passes_on(here, port, source)
    }
}

/// Methods that do what the graph or network in an enumeration does, which the macro `$of` finds.
macro_rules! dispatched {
    ($visibility:vis $of:ident: $($(#[$meta:meta])* $name:ident($($argument:ident: $Type:ty),*) -> $Result:ty;)+) => {
        $(
            $(#[$meta])*
            $visibility fn $name(&self, $($argument: $Type),*) -> $Result {
                $of!(self, inner => inner.$name($($argument),*))
            }
        )+
    };
}
pub(crate) use dispatched;

/// Routing by distance alone: the lowest-numbered neighbor closer to the destination, or the vertex itself at the destination. Computes one
/// distance per neighbor.
pub(crate) fn lowest_closer<T: Topology>(network: &T, here: Vertex, distance: impl Fn(Vertex) -> Number) -> Vertex {
    let now = distance(here);
    let neighbors = (0..network.degree(here)).filter_map(|port| network.neighbor(here, port));
    neighbors.filter(|&next| distance(next) < now).min().unwrap_or(here)
}
