//! Networks: the families, the expressions they are written in, and what one can ask them.
//!
//! One file a family, each an implementation of [`Topology`]; [`Network`] is any of them, read from an
//! [expression], with every node checked before it is used.

#[cfg(feature = "exchanged")]
mod exchanged;
pub mod expression;
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
pub(crate) mod spelling;
#[cfg(feature = "wk")]
mod wk;

use core::fmt;
use core::str::FromStr;

use expression::{Address, ParseError, Reader};
#[cfg(feature = "hierarchy")]
pub use hierarchy::Linkage;
use spelling::{Pen, Spelled};

use crate::graph::Base;
use crate::route::Fanout;
use crate::topology::{Method, NoSuchNode, Node, Number, Port, Rule, Topology, Tree};

/// Makes [`Family`] of a list: for each family its documentation, its type, its module, the feature that builds it, and the
/// words of the language with the function of the type that reads what follows them.
macro_rules! families {
    ($($(#[$doc:meta])* $Name:ident in $module:ident of $feature:literal: $($word:literal => $parse:ident),+;)+) => {
        $(
            #[cfg(feature = $feature)]
            pub use $module::$Name;

            #[cfg(feature = $feature)]
            impl fmt::Display for $Name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    spelling::display(self, f)
                }
            }
        )+

        /// The families of networks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant, reason = "there is no heap to box the largest into")]
        pub enum Family {
            /// A base graph by itself.
            Base(Base),
            $($(#[$doc])* #[cfg(feature = $feature)] $Name($Name),)+
        }

        /// Calls a method of whichever family it is. Unlike a trait object, this leaves out of a program what it never calls.
        macro_rules! of_family {
            ($family:expr, $network:ident => $call:expr) => {
                match $family {
                    Family::Base($network) => $call,
                    $(#[cfg(feature = $feature)] Family::$Name($network) => $call,)+
                }
            };
        }

        /// The words of families that are not in the program.
        const LEFT_OUT: &[&str] = &[$($(
            #[cfg(not(feature = $feature))]
            $word,
        )+)+];

        impl Family {
            /// Reads a network up to the end of the text.
            fn parse(reader: &mut Reader<'_>) -> Option<Family> {
                let family = match reader.word() {
                    $($(
                        #[cfg(feature = $feature)]
                        $word => Family::$Name($Name::$parse(reader)?),
                    )+)+
                    word if LEFT_OUT.contains(&word) => return reader.refuse_family(),
                    word => Family::Base(reader.base_named(word, "the expression", "the name of a network")?),
                };
                reader.end()?;
                Some(family)
            }
        }

        impl Spelled for Family {
            fn spell(&self, pen: &mut Pen<'_>) {
                of_family!(self, network => network.spell(pen))
            }
        }

        impl fmt::Display for Family {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                spelling::display(self, f)
            }
        }
    };
}

families! {
    /// Recursive Dual-Net, dual-cube, biswapped network.
    Rdn in rdn of "rdn": "rdn" => parse, "dualcube" => parse_dualcube, "bsw" => parse_biswapped;
    /// Recursive Expansion.
    Re in re of "re": "re" => parse, "re-heawood-2" => parse_heawood_2;
    /// Recursive Cube of Rings, Cube of Rings, Cube-Connected Cycles.
    Rcr in rcr of "rcr": "rcr" => parse, "cor" => parse_cor, "ccc" => parse_ccc;
    /// WK-recursive network, symmetric hypernet.
    Wk in wk of "wk": "wk" => parse, "symmetric-hypernet" => parse_hypernet;
    /// Hypernet.
    Hypernet in hypernet of "hypernet": "hypernet" => parse;
    /// Exchanged hypercube.
    Exchanged in exchanged of "exchanged": "exchanged-hypercube" => parse;
    /// Folded, root-folded and flooded networks.
    Hierarchy in hierarchy of "hierarchy": "folded" => parse_folded, "root-folded" => parse_root_folded, "flooded" => parse_flooded;
    /// Recursive swapped network, hierarchical cubic network, hierarchical folded-hypercube network.
    Rsn in rsn of "rsn": "rsn" => parse, "hcn" => parse_hcn, "hfn" => parse_hfn;
    /// Hierarchical swapped network.
    Hsn in hsn of "hsn": "hsn" => parse;
    /// Three-level hierarchical cubic network.
    Hcn3 in hcn3 of "hcn3": "hcn3" => parse;
    /// The partially linked swapped network.
    PartialSwapped in partial_swapped of "partial-swapped": "partial-swapped" => parse;
}

impl Topology for Family {
    fn nodes(&self) -> Number {
        of_family!(self, network => network.nodes())
    }

    fn degree(&self, node: Node) -> Port {
        of_family!(self, network => network.degree(node))
    }

    fn neighbor(&self, node: Node, port: Port) -> Option<Node> {
        of_family!(self, network => network.neighbor(node, port))
    }

    fn next(&self, here: Node, dest: Node, rule: Rule) -> Node {
        of_family!(self, network => network.next(here, dest, rule))
    }

    fn distance(&self, from: Node, to: Node) -> Option<Number> {
        of_family!(self, network => network.distance(from, to))
    }

    fn longest_route(&self, rule: Rule) -> Number {
        of_family!(self, network => network.longest_route(rule))
    }

    fn vertex_transitive(&self) -> bool {
        of_family!(self, network => network.vertex_transitive())
    }

    fn write_address(&self, node: Node, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        of_family!(self, network => network.write_address(node, out))
    }

    fn method(&self, here: Node, dest: Node, rule: Rule) -> Method {
        of_family!(self, network => network.method(here, dest, rule))
    }

    fn port_to(&self, node: Node, neighbor: Node) -> Option<Port> {
        of_family!(self, network => network.port_to(node, neighbor))
    }

    fn passes_on(&self, here: Node, port: Port, source: Node) -> bool {
        of_family!(self, network => network.passes_on(here, port, source))
    }

    fn urgency(&self, here: Node, port: Port, source: Node) -> u64 {
        of_family!(self, network => network.urgency(here, port, source))
    }

    fn fewest_steps_urgency(&self, here: Node, port: Port, source: Node) -> Option<u64> {
        of_family!(self, network => network.fewest_steps_urgency(here, port, source))
    }

    fn counts_valleys(&self) -> bool {
        of_family!(self, network => network.counts_valleys())
    }

    fn buffer_classes(&self, rule: Rule) -> Number {
        of_family!(self, network => network.buffer_classes(rule))
    }

    fn buffer_class(&self, here: Node, dest: Node, rule: Rule) -> Option<Number> {
        of_family!(self, network => network.buffer_class(here, dest, rule))
    }
}

/// A network, read from an expression.
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
    /// The family, for what only one of them can tell.
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// The network as the trait that all families implement. Nodes are not checked there.
    #[inline]
    pub fn topology(&self) -> &dyn Topology {
        of_family!(&self.family, network => network)
    }

    /// A number that tells networks apart: the CRC-32C of the expression as [printed](fmt::Display).
    #[inline(never)]
    pub fn id(&self) -> u32 {
        const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI);
        let mut sum = CRC.digest();
        self.family
            .spell(&mut Pen::new(&mut |text| sum.update(text.as_bytes())));
        sum.finalize()
    }

    /// Sets how many bytes of stack an exact step may take where it has to search: in RE networks whose unit is not a ring,
    /// path, star or complete graph, and with pivot sets. A network has 1 KiB unless told otherwise; more than the crate
    /// was [built for](crate::limits) is never used. [`method`](Self::method) tells what it comes to.
    #[cfg(feature = "re")]
    #[must_use]
    pub fn with_search_memory(mut self, bytes: usize) -> Self {
        if let Family::Re(re) = &mut self.family {
            re.set_search_words(bytes / 8);
        }
        self
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> Number {
        self.nodes
    }

    /// The node, if there is such a one.
    #[inline]
    pub fn check(&self, node: Node) -> Result<Node, NoSuchNode> {
        if node < self.nodes {
            Ok(node)
        } else {
            Err(NoSuchNode {
                node,
                nodes: self.nodes,
            })
        }
    }

    /// How many links a node has.
    pub fn degree(&self, node: Node) -> Result<Port, NoSuchNode> {
        Ok(self.family.degree(self.check(node)?))
    }

    /// The neighbours of a node, in the order of its ports.
    pub fn neighbors(&self, node: Node) -> Result<impl Iterator<Item = Node> + '_, NoSuchNode> {
        let node = self.check(node)?;
        let ports = 0..self.family.degree(node);
        Ok(ports.filter_map(move |port| self.family.neighbor(node, port)))
    }

    /// The neighbour at a port; `None` if the node has no such port.
    pub fn neighbor(&self, node: Node, port: Port) -> Result<Option<Node>, NoSuchNode> {
        Ok(self.family.neighbor(self.check(node)?, port))
    }

    /// The port that leads to a neighbour; `None` if the nodes are not linked.
    pub fn port_to(&self, node: Node, neighbor: Node) -> Result<Option<Port>, NoSuchNode> {
        Ok(self.family.port_to(self.check(node)?, self.check(neighbor)?))
    }

    /// The number of hops of a shortest path; `None` where no exact rule is known, or it does not fit the
    /// [memory](Self::with_search_memory).
    pub fn distance(&self, from: Node, to: Node) -> Result<Option<Number>, NoSuchNode> {
        Ok(self.family.distance(self.check(from)?, self.check(to)?))
    }

    /// The neighbour to send to on the way to `dest`; `here` itself if it is the destination.
    #[inline]
    pub fn next_hop(&self, here: Node, dest: Node, rule: Rule) -> Result<Node, NoSuchNode> {
        Ok(self.family.next(self.check(here)?, self.check(dest)?, rule))
    }

    /// The port to send through on the way to `dest`; `None` if `here` is the destination.
    pub fn next_port(&self, here: Node, dest: Node, rule: Rule) -> Result<Option<Port>, NoSuchNode> {
        let next = self.next_hop(here, dest, rule)?;
        if next == here {
            Ok(None)
        } else {
            self.port_to(here, next)
        }
    }

    /// What a rule comes to between two nodes: a shortest path, or which fallback.
    pub fn method(&self, here: Node, dest: Node, rule: Rule) -> Result<Method, NoSuchNode> {
        Ok(self.family.method(self.check(here)?, self.check(dest)?, rule))
    }

    /// No route of the rule is longer than this.
    pub fn longest_route(&self, rule: Rule) -> Number {
        self.family.longest_route(rule)
    }

    /// Whom `here` passes a broadcast of `source` on to, in sending order. Over all nodes that is a spanning tree: everyone
    /// receives it exactly once, along the route of the exact rule backwards.
    pub fn fanout(&self, here: Node, source: Node) -> Result<Fanout<'_>, NoSuchNode> {
        Ok(Fanout::of_least_depth(
            &self.family,
            self.check(here)?,
            self.check(source)?,
        ))
    }

    /// The same with a choice of the tree. All nodes must choose the same.
    pub fn fanout_by(&self, here: Node, source: Node, tree: Tree) -> Result<Fanout<'_>, NoSuchNode> {
        match tree {
            Tree::LeastDepth => self.fanout(here, source),
            Tree::FewestSteps => Ok(Fanout::of_fewest_steps(
                &self.family,
                self.check(here)?,
                self.check(source)?,
            )),
        }
    }

    /// How many buffer classes keep the rule free of deadlock. An upper bound: small networks may use fewer.
    pub fn buffer_classes(&self, rule: Rule) -> Number {
        self.family.buffer_classes(rule)
    }

    /// The class of buffers in which a packet for `dest` waits for the link out of `here`. If a node has at least one buffer
    /// of every class, store-and-forward cannot deadlock. `None` for routes longer than
    /// [`LOOKAHEAD`](crate::limits::LOOKAHEAD).
    pub fn buffer_class(&self, here: Node, dest: Node, rule: Rule) -> Result<Option<Number>, NoSuchNode> {
        Ok(self.family.buffer_class(self.check(here)?, self.check(dest)?, rule))
    }

    /// A node's address as the literature writes it, to print.
    pub fn address(&self, node: Node) -> Result<Address<'_>, NoSuchNode> {
        Ok(Address {
            network: &self.family,
            node: self.check(node)?,
        })
    }
}

impl FromStr for Network {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut reader = Reader::new(text);
        let family = Family::parse(&mut reader).ok_or(reader.refusal())?;
        let mut network = Network { family, nodes: 0 };
        network.nodes = network.family.nodes();
        Ok(network)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.family.fmt(f)
    }
}
