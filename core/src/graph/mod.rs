//! The small graphs that networks are built from.
//!
//! | expression | module | routing |
//! |---|---|---|
//! | `ring(n)` `path(n)` `complete(n)` | line, of a [`Factor`] | the shorter path; ties +1 |
//! | `torus(a,b,..)` `mesh(a,b,..)` `ghc(a,b,..)` | product, of factors | dimension order, the first listed first |
//! | `star(n)` | star | through node 0 |
//! | `hypercube(n)` `folded-hypercube(n)` | hypercube | lowest differing bit; the complement first if strictly shorter |
//! | `nstar(n)` | nstar | the lowest-numbered closer neighbor |
//! | `petersen` `heawood` | fixed | tables: lowest-numbered; plus, minus, distance |
//! | `lift(m,LINKS,..)` | lift | a search; which of several closer neighbors depends on the difference |
//!
//! Each kind of graph is a type that implements `Graph`, and [`Base`] is any of them. They route exactly, in time O(1) or
//! O(dimensions), `nstar` in O(n^2), lifts by a search.
//!
//! A broadcast can take a tree of fewest steps, for nodes that can send one copy per step. Each step at most doubles the
//! number of nodes reached, so n nodes take at least ceil(log2 n) steps. Hypercubes achieve that with their tree of least
//! depth; complete graphs with a binomial tree, the Petersen and the Heawood graph with a schedule found by search.
//! Products serve one dimension after the other. All other graphs keep the tree of least depth.

mod factor;
mod fixed;
mod hypercube;
#[cfg(feature = "lift")]
pub(crate) mod lift;
mod line;
mod nstar;
mod product;
mod star;
mod written;

use core::fmt;

pub use factor::Factor;
pub(crate) use fixed::{Heawood, Petersen};
#[cfg(feature = "hcn3")]
pub(crate) use hypercube::next as next_in_hypercube;
pub(crate) use hypercube::{FoldedHypercube, Hypercube};
#[cfg(feature = "lift")]
pub use lift::Lift;
pub(crate) use line::Line;
pub(crate) use nstar::NStar;
pub(crate) use product::Product;
pub(crate) use star::Star;

use crate::arith::{Number, Vertex, count_step, wide};
use crate::topology::{Rule, Topology, dispatched};

/// The operations of every base graph: less than [`Topology`], since a base graph has a single routing function, and more, since all
/// distances are known.
pub(crate) trait Graph {
    fn nodes(&self) -> Number;

    fn degree(&self, node: Vertex) -> Number;

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex>;

    /// The neighbor of `here` on a shortest path to `dest`; `here` itself if it is the destination.
    fn step(&self, here: Vertex, dest: Vertex) -> Vertex;

    /// The length of a shortest path.
    fn hops(&self, from: Vertex, to: Vertex) -> Number;

    fn diameter(&self) -> Number;

    /// Steps of a broadcast if a node sends one copy per step.
    fn broadcast_steps(&self) -> Number;

    /// The largest distance from node 0, which in most graphs is an end, a corner, or equivalent to all other nodes.
    fn farthest_from_zero(&self) -> Number {
        self.diameter()
    }

    fn vertex_transitive(&self) -> bool {
        true
    }

    /// In most graphs node 0 has as many links as any.
    fn largest_degree(&self) -> Number {
        self.degree(0)
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{node}")
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        (0..self.degree(node)).find(|&port| self.neighbor(node, port) == Some(neighbor))
    }

    /// A node with the least sum of distances to four nodes, where no search is needed. Exactly these graphs are also
    /// their own mirror image: numbering the nodes backwards changes no distance.
    fn median(&self, _points: [Vertex; 4]) -> Option<Vertex> {
        None
    }

    /// The rank of `neighbor` among the neighbors of `node` in ascending order. This default tries all of them, which suits graphs of
    /// degree three.
    fn rank(&self, node: Vertex, neighbor: Vertex) -> Number {
        self.neighbors(node).filter(|&other| other < neighbor).count() as Number
    }

    /// The neighbor with a rank in ascending order. This default ranks all of them.
    fn ranked(&self, node: Vertex, rank: Number) -> Option<Vertex> {
        self.neighbors(node).find(|&neighbor| self.rank(node, neighbor) == rank)
    }

    /// [`Topology::send_priority`].
    fn send_priority(&self, _here: Vertex, _port: Number, _source: Vertex) -> u64 {
        0
    }

    /// [`Topology::fewest_steps_send_priority`]; the tree of least depth unless the graph knows a faster one.
    fn fewest_steps_send_priority(&self, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
        let child = self.neighbor(here, port).filter(|&child| child != source)?;
        (self.step(child, source) == here).then(|| self.send_priority(here, port, source))
    }

    fn neighbors(&self, node: Vertex) -> impl Iterator<Item = Vertex> + '_ {
        (0..self.degree(node)).filter_map(move |port| self.neighbor(node, port))
    }
}

/// Makes [`Kind`] of the types of graphs.
macro_rules! kinds {
    ($($(#[$built:meta])* $Name:ident),+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Kind {
            $($(#[$built])* $Name($Name),)+
        }

        /// Dispatches a method to the kind of graph.
        macro_rules! of_kind {
            ($base:expr, $graph:ident => $call:expr) => {{
                count_step();
                match &$base.0 {
                    $($(#[$built])* Kind::$Name($graph) => $call,)+
                }
            }};
        }
    };
}

kinds!(
    Line,
    Product,
    Star,
    Hypercube,
    FoldedHypercube,
    NStar,
    Petersen,
    Heawood,
    #[cfg(feature = "lift")]
    Lift
);

/// A base graph. Made by [parsing](crate::network::expression), which checks its parameters. To query it, make it a
/// [`Network`](crate::Network).
///
/// ```
/// use hopwise_core::{Base, Network, Rule};
/// let torus: Base = "torus(4,3)".parse()?;
/// let network = Network::from(torus);
/// assert_eq!(network.nodes(), 12);
/// assert_eq!(network.distance(0, 11)?, Some(2));
/// assert_eq!(network.next_hop(0, 11, Rule::Exact)?, 3); // the first dimension first, backwards through the wrap
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Base(pub(crate) Kind);

/// The kind of a base graph, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape<'a> {
    /// `ring(n)`, `path(n)`, `complete(n)`.
    Line(Factor, u64),
    /// `torus(a,b,..)`, `mesh(a,b,..)`, `ghc(a,b,..)`.
    Product(Factor, &'a [u32]),
    /// `star(n)`.
    Star(u64),
    /// `hypercube(n)`.
    Hypercube(u8),
    /// `folded-hypercube(n)`.
    FoldedHypercube(u8),
    /// `nstar(n)`.
    NStar(u8),
    /// `petersen`.
    Petersen,
    /// `heawood`.
    Heawood,
    /// `lift(m,LINKS,..)`.
    #[cfg(feature = "lift")]
    Lift(&'a Lift),
}

impl Base {
    /// The words with which expressions of base graphs begin.
    pub const WORDS: &'static [&'static str] = &[
        "ring",
        "path",
        "complete",
        "star",
        "hypercube",
        "folded-hypercube",
        "torus",
        "mesh",
        "ghc",
        "nstar",
        "petersen",
        "heawood",
        #[cfg(feature = "lift")]
        "lift",
    ];

    /// The names of lifts; they are printed as `lift(..)`.
    #[cfg(feature = "names")]
    pub const NAMES: &'static [&'static str] = &lift::WORDS;

    /// `complete(n)`.
    pub(crate) const fn complete(nodes: Number) -> Self {
        Base(Kind::Line(Line {
            factor: Factor::Complete,
            nodes,
        }))
    }

    /// `hypercube(n)`.
    pub(crate) const fn hypercube(bits: u8) -> Self {
        Base(Kind::Hypercube(Hypercube { bits }))
    }

    /// The kind of the graph, with its parameters.
    ///
    /// ```
    /// use hopwise_core::Base;
    /// use hopwise_core::graph::{Factor, Shape};
    /// let torus: Base = "torus(4,3)".parse()?;
    /// assert_eq!(torus.shape(), Shape::Product(Factor::Ring, &[4, 3]));
    /// # Ok::<(), hopwise_core::ParseError>(())
    /// ```
    pub fn shape(&self) -> Shape<'_> {
        match &self.0 {
            Kind::Line(line) => Shape::Line(line.factor, wide(line.nodes)),
            Kind::Product(product) => Shape::Product(product.factor, product.sizes()),
            Kind::Star(star) => Shape::Star(wide(star.nodes)),
            Kind::Hypercube(cube) => Shape::Hypercube(cube.bits),
            Kind::FoldedHypercube(cube) => Shape::FoldedHypercube(cube.bits),
            Kind::NStar(star) => Shape::NStar(star.symbols),
            Kind::Petersen(_) => Shape::Petersen,
            Kind::Heawood(_) => Shape::Heawood,
            #[cfg(feature = "lift")]
            Kind::Lift(lift) => Shape::Lift(lift),
        }
    }

    /// The neighbor of `here` on a shortest path to `dest`; `here` itself if it is the destination.
    #[inline(never)]
    pub(crate) fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
        of_kind!(self, graph => graph.step(here, dest))
    }

    dispatched! { pub(crate) of_kind:
        #[inline]
        hops(from: Vertex, to: Vertex) -> Number;
        diameter() -> Number;
        /// The largest distance from node 0.
        farthest_from_zero() -> Number;
        largest_degree() -> Number;
        /// A node with the least sum of distances to four nodes, where no search is needed.
        median(points: [Vertex; 4]) -> Option<Vertex>;
        /// Steps of a broadcast if a node sends one copy per step; for products an estimate.
        broadcast_steps() -> Number;
        /// The rank of `neighbor` among the neighbors of `node` in ascending order.
        rank(node: Vertex, neighbor: Vertex) -> Number;
        /// The neighbor with a rank in ascending order.
        ranked(node: Vertex, rank: Number) -> Option<Vertex>;
    }

    /// The cost of visiting the links of a node in ascending order, counted in links.
    pub(crate) fn links_to_search(&self) -> Number {
        let degree = self.largest_degree();
        match &self.0 {
            #[cfg(feature = "lift")]
            Kind::Lift(_) => degree * degree,
            _ => degree,
        }
    }

    /// The cost of a distance, counted in distances that need no search.
    pub(crate) fn distance_work(&self) -> Number {
        match &self.0 {
            #[cfg(feature = "lift")]
            Kind::Lift(lift) => lift.search_work(),
            _ => 1,
        }
    }

    /// Whether any graph may be of this kind, so that nothing is known of it in advance.
    pub(crate) fn is_arbitrary(&self) -> bool {
        match &self.0 {
            #[cfg(feature = "lift")]
            Kind::Lift(_) => true,
            _ => false,
        }
    }

    pub(crate) fn neighbors(&self, node: Vertex) -> impl Iterator<Item = Vertex> + '_ {
        (0..self.degree(node)).filter_map(move |port| self.neighbor(node, port))
    }
}

impl Topology for Base {
    dispatched! { of_kind:
        #[inline]
        nodes() -> Number;
        degree(node: Vertex) -> Number;
        neighbor(node: Vertex, port: Number) -> Option<Vertex>;
        vertex_transitive() -> bool;
        write_address(node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result;
        port_to(node: Vertex, neighbor: Vertex) -> Option<Number>;
        send_priority(here: Vertex, port: Number, source: Vertex) -> u64;
        fewest_steps_send_priority(here: Vertex, port: Number, source: Vertex) -> Option<u64>;
    }

    fn next(&self, here: Vertex, dest: Vertex, _rule: Rule) -> Vertex {
        self.step(here, dest)
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        Some(self.hops(from, to))
    }

    fn known_diameter(&self) -> Option<Number> {
        Some(self.diameter())
    }

    fn serves_in_fewest_steps(&self, here: Vertex, port: Number, source: Vertex) -> bool {
        self.fewest_steps_send_priority(here, port, source).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Network;
    use hopwise_testing::networks;

    #[test]
    fn the_largest_degree_is_that_of_some_node_and_of_none_exceeded() {
        for expression in networks("shapes") {
            let base: Base = expression.parse().unwrap();
            let network = Network::from(base);
            let degrees = (0..network.nodes()).map(|node| network.degree(node).unwrap());
            assert_eq!(Some(wide(base.largest_degree())), degrees.max(), "{expression}");
        }
    }

    #[test]
    fn ranks_are_places_among_the_neighbors_in_ascending_order() {
        for expression in networks("shapes") {
            let base: Base = expression.parse().unwrap();
            for node in 0..base.nodes() {
                let mut neighbors: std::vec::Vec<Vertex> = base.neighbors(node).collect();
                neighbors.sort_unstable();
                for (rank, &neighbor) in (0..).zip(&neighbors) {
                    assert_eq!(base.rank(node, neighbor), rank, "{expression}: {node} to {neighbor}");
                    let found = base.ranked(node, rank);
                    assert_eq!(found, Some(neighbor), "{expression}: {node} at {rank}");
                }
                for beyond in [base.degree(node), Number::MAX] {
                    assert_eq!(base.ranked(node, beyond), None, "{expression}: {node} at {beyond}");
                }
                for other in 0..base.nodes() {
                    let port = base.port_to(node, other);
                    let is_linked = neighbors.contains(&other);
                    assert_eq!(port.is_some(), is_linked, "{expression}: {node} to {other}");
                    assert!(port.is_none_or(|port| base.neighbor(node, port) == Some(other)));
                }
            }
        }
    }

    /// Above ten symbols some have two digits, and dots separate them.
    #[test]
    fn the_address_of_a_star_graph_can_be_read() {
        let address = |expression: &str| {
            let network: Network = expression.parse().unwrap();
            std::string::ToString::to_string(&network.address(0).unwrap())
        };
        assert!(!address("nstar(10)").contains('.'), "{}", address("nstar(10)"));
        let parts: std::vec::Vec<u8> = address("nstar(11)")
            .split('.')
            .map(|part| part.parse().unwrap())
            .collect();
        assert_eq!((parts.len(), parts.is_sorted()), (11, true), "{parts:?}");
    }
}
