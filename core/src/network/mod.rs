//! Networks: the families, their expressions, and their queries.
//!
//! One file per family, each an implementation of the crate's trait `Topology`; [`Family`] is any of them. [`Network`] is the
//! entry point: it parses an [expression], checks every node before it is used, and has 64-bit nodes and ports, whatever
//! the families compute with.

#[cfg(feature = "exchanged")]
mod exchanged;
pub mod expression;
mod family;
mod fanout;
#[cfg(feature = "hcn3")]
mod hcn3;
#[cfg(feature = "hierarchy")]
mod hierarchy;
#[cfg(feature = "hsn")]
mod hsn;
#[cfg(feature = "hypernet")]
mod hypernet;
#[cfg(feature = "partial-swapped")]
mod partial_swapped;
#[cfg(feature = "rcr")]
mod rcr;
#[cfg(feature = "rdn")]
mod rdn;
#[cfg(feature = "re")]
mod re;
#[cfg(feature = "rsn")]
mod rsn;
#[cfg(feature = "tables")]
pub mod table;
pub mod virtual_channels;
#[cfg(feature = "wk")]
mod wk;

use core::fmt;
use core::str::FromStr;

use expression::{ParseError, Reader};
pub use family::*;
pub use fanout::Fanout;
#[cfg(feature = "hierarchy")]
pub use hierarchy::Linkage;

use crate::arith::{Number, Vertex, narrow, wide};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::graph::Base;
use crate::topology::{Method, NoSuchNode, Node, Port, Rule, Topology, Tree};

/// A network, parsed from an expression.
///
/// It is a value of fixed size, without tables of nodes: the same code serves 18 nodes and 2^63.
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "rdn(ring(3), 1)".parse()?;
/// assert_eq!(network.to_string(), "rdn(ring(3),1)");
/// assert_eq!(network.nodes(), 18);
/// let mut here = 0;
/// let mut path = vec![here];
/// while here != 17 {
///     here = network.next_hop(here, 17, Rule::Exact)?;
///     path.push(here);
/// }
/// assert_eq!(path, [0, 2, 15, 17]);
/// assert_eq!(network.distance(0, 17)?, Some(3));
/// let sent: Vec<_> = network.fanout(0, 0)?.map(|(_port, node)| node).collect();
/// assert_eq!(sent, [1, 2, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    family: Family,
    nodes: Number,
}

impl Network {
    fn new(family: Family) -> Self {
        Network {
            nodes: family.nodes(),
            family,
        }
    }

    /// The family, for properties that only one of them has.
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// The same queries without checks, for programs that make millions of them about nodes known to exist.
    #[inline]
    pub fn unchecked(&self) -> Unchecked<'_> {
        Unchecked { network: self }
    }

    /// A number that identifies the network: the CRC-32C of the expression as [printed](fmt::Display).
    #[inline(never)]
    pub fn id(&self) -> u32 {
        // Without its table: an expression is short, and on a board this runs once.
        const CRC: crc::Crc<u32, crc::NoTable> = crc::Crc::<u32, crc::NoTable>::new(&crc::CRC_32_ISCSI);
        let mut hash = CRC.digest();
        self.family
            .write_expr(&mut ExprWriter::new(&mut |text| hash.update(text.as_bytes())));
        hash.finalize()
    }

    /// Sets how many bytes of stack an exact step may take where it has to search: in RE networks whose unit is not a ring,
    /// path, star or complete graph, and with pivot sets. The default is 1 KiB; more than the crate
    /// was [built for](crate::limits) is never used. [`method`](Self::method) tells whether it was enough.
    #[cfg(feature = "re")]
    #[must_use]
    pub fn with_search_memory(mut self, bytes: usize) -> Self {
        if let Family::Re(re) = &mut self.family {
            re.set_search_words(bytes / 8);
        }
        self
    }

    /// The number of nodes.
    pub fn nodes(&self) -> u64 {
        wide(self.nodes)
    }

    // The next three are always inlined: their results have 16 and 24 bytes on a board, and would otherwise go through memory
    // several times a hop.

    /// Returns the node if it exists.
    #[inline(always)]
    pub fn check(&self, node: Node) -> Result<Node, NoSuchNode> {
        self.vertex(node)?;
        Ok(node)
    }

    /// Checks a node and converts it to the family's integer type.
    #[inline(always)]
    fn vertex(&self, node: Node) -> Result<Vertex, NoSuchNode> {
        match narrow(node) {
            Some(vertex) if vertex < self.nodes => Ok(vertex),
            _ => Err(NoSuchNode {
                node,
                nodes: self.nodes(),
            }),
        }
    }

    /// The next hop toward `dest`; `here` itself if it is the destination.
    #[inline(always)]
    pub fn next_hop(&self, here: Node, dest: Node, rule: Rule) -> Result<Node, NoSuchNode> {
        Ok(wide(self.family.next(self.vertex(here)?, self.vertex(dest)?, rule)))
    }

    /// The number of links of a node.
    pub fn degree(&self, node: Node) -> Result<Port, NoSuchNode> {
        Ok(wide(self.family.degree(self.vertex(node)?)))
    }

    /// The neighbors of a node, in the order of its ports.
    pub fn neighbors(&self, node: Node) -> Result<impl Iterator<Item = Node> + '_, NoSuchNode> {
        let vertex = self.vertex(node)?;
        let ports = 0..self.family.degree(vertex);
        Ok(ports.filter_map(move |port| self.family.neighbor(vertex, port).map(wide)))
    }

    /// The neighbor at a port; `None` if the node has no such port.
    pub fn neighbor(&self, node: Node, port: Port) -> Result<Option<Node>, NoSuchNode> {
        let vertex = self.vertex(node)?;
        Ok(narrow(port)
            .and_then(|port| self.family.neighbor(vertex, port))
            .map(wide))
    }

    /// The port toward a neighbor; `None` if the nodes are not linked.
    pub fn port_to(&self, node: Node, neighbor: Node) -> Result<Option<Port>, NoSuchNode> {
        Ok(self
            .family
            .port_to(self.vertex(node)?, self.vertex(neighbor)?)
            .map(wide))
    }

    /// The length of a shortest path; `None` where no exact method is known, or the search does not fit the
    /// [memory](Self::with_search_memory).
    pub fn distance(&self, from: Node, to: Node) -> Result<Option<u64>, NoSuchNode> {
        Ok(self.family.distance(self.vertex(from)?, self.vertex(to)?).map(wide))
    }

    /// The port of the next hop toward `dest`; `None` if `here` is the destination.
    pub fn next_port(&self, here: Node, dest: Node, rule: Rule) -> Result<Option<Port>, NoSuchNode> {
        let (here, dest) = (self.vertex(here)?, self.vertex(dest)?);
        let next = self.family.next(here, dest, rule);
        if next == here {
            Ok(None)
        } else {
            Ok(self.family.port_to(here, next).map(wide))
        }
    }

    /// How the next hop between two nodes is chosen: on a shortest path, or by which fallback.
    pub fn method(&self, here: Node, dest: Node, rule: Rule) -> Result<Method, NoSuchNode> {
        Ok(self.family.method(self.vertex(here)?, self.vertex(dest)?, rule))
    }

    /// An upper bound of the length of all routes.
    pub fn longest_route(&self, rule: Rule) -> u64 {
        wide(self.family.longest_route(rule))
    }

    /// The largest distance, where a closed form is proven.
    pub fn diameter(&self) -> Option<u64> {
        self.family.known_diameter().map(wide)
    }

    /// Whether the network is known to be vertex-transitive: an automorphism maps any node to any other.
    pub fn vertex_transitive(&self) -> bool {
        self.family.vertex_transitive()
    }

    /// The neighbors that `here` forwards a broadcast of `source` to, in sending order. Over all nodes that is a spanning tree: every node
    /// receives the broadcast exactly once, along the exact route in reverse.
    pub fn fanout(&self, here: Node, source: Node) -> Result<Fanout<'_>, NoSuchNode> {
        Ok(Fanout::of_least_depth(
            &self.family,
            self.vertex(here)?,
            self.vertex(source)?,
        ))
    }

    /// The same with a choice of the tree, which must be the same at all nodes.
    pub fn fanout_by(&self, here: Node, source: Node, tree: Tree) -> Result<Fanout<'_>, NoSuchNode> {
        match tree {
            Tree::LeastDepth => self.fanout(here, source),
            Tree::FewestSteps => Ok(Fanout::of_fewest_steps(
                &self.family,
                self.vertex(here)?,
                self.vertex(source)?,
            )),
        }
    }

    /// A displayable address of a node, as the literature writes it.
    pub fn address(&self, node: Node) -> Result<Address<'_>, NoSuchNode> {
        Ok(Address {
            family: &self.family,
            vertex: self.vertex(node)?,
        })
    }
}

impl From<Base> for Network {
    fn from(base: Base) -> Self {
        Network::new(Family::Base(base))
    }
}

impl FromStr for Network {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut reader = Reader::new(text);
        let family = Family::parse(&mut reader).ok_or(reader.refusal)?;
        Ok(Network::new(family))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.family.fmt(f)
    }
}

/// A displayable address of a node.
#[derive(Clone, Copy)]
pub struct Address<'a> {
    family: &'a Family,
    vertex: Vertex,
}

impl fmt::Display for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.family.write_address(self.vertex, f)
    }
}

/// A [`Network`] that does not check nodes, for programs that iterate over all of them.
///
/// Its results for nodes that do not exist are meaningless.
#[derive(Clone, Copy, Debug)]
pub struct Unchecked<'a> {
    network: &'a Network,
}

impl Unchecked<'_> {
    /// [`Network::nodes`].
    pub fn nodes(self) -> u64 {
        self.network.nodes()
    }

    /// [`Network::degree`].
    pub fn degree(self, node: Node) -> Port {
        wide(self.network.family.degree(node as Vertex))
    }

    /// [`Network::neighbor`].
    pub fn neighbor(self, node: Node, port: Port) -> Option<Node> {
        let port = narrow(port)?;
        self.network.family.neighbor(node as Vertex, port).map(wide)
    }

    /// [`Network::port_to`].
    pub fn port_to(self, node: Node, neighbor: Node) -> Option<Port> {
        self.network
            .family
            .port_to(node as Vertex, neighbor as Vertex)
            .map(wide)
    }

    /// [`Network::next_hop`].
    pub fn next(self, here: Node, dest: Node, rule: Rule) -> Node {
        wide(self.network.family.next(here as Vertex, dest as Vertex, rule))
    }

    /// [`Network::distance`].
    pub fn distance(self, from: Node, to: Node) -> Option<u64> {
        self.network.family.distance(from as Vertex, to as Vertex).map(wide)
    }

    /// [`Network::method`].
    pub fn method(self, here: Node, dest: Node, rule: Rule) -> Method {
        self.network.family.method(here as Vertex, dest as Vertex, rule)
    }

    /// Whether `here` forwards a broadcast of `source` through `port`, in the tree of least depth.
    pub fn passes_on(self, here: Node, port: Port, source: Node) -> bool {
        narrow(port).is_some_and(|port| self.network.family.passes_on(here as Vertex, port, source as Vertex))
    }
}
