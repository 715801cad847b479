//! The small graphs that networks are built from.
//!
//! | expression | module | routing |
//! |---|---|---|
//! | `ring(n)` `path(n)` `complete(n)` | [`Factor`] | the shorter way; ties +1 |
//! | `torus(a,b,..)` `mesh(a,b,..)` `ghc(a,b,..)` | product | dimension order, the first listed first |
//! | `hypercube(n)` `folded-hypercube(n)` | hypercube | lowest differing bit; the complement first if strictly shorter |
//! | `star(n)` | here | through node 0 |
//! | `nstar(n)` | nstar | the lowest-numbered closer neighbour |
//! | `petersen` `heawood` | fixed | tables: lowest-numbered; plus, minus, distance |
//!
//! They implement [`Topology`] exactly, in time O(1) or O(dimensions), `nstar` in O(n^2).

mod factor;
mod fewest_steps;
mod fixed;
pub(crate) mod hypercube;
mod nstar;
mod product;

use core::fmt;

pub use factor::Factor;
use fixed::{HEAWOOD, PETERSEN};
pub use product::Dimensions;

use crate::arith::{Number, Vertex, wide};
use crate::topology::{Rule, Topology, valleys_ahead};

/// A base graph. Made by [parsing](crate::network::expression), which checks its parameters.
///
/// ```
/// use hopwise_core::{Base, Rule, Topology};
/// let torus: Base = "torus(4,3)".parse()?;
/// assert_eq!(torus.nodes(), 12);
/// assert_eq!(torus.distance(0, 11), Some(2));
/// assert_eq!(torus.next(0, 11, Rule::Exact), 3); // the first dimension first, backwards through the wrap
/// # Ok::<(), hopwise_core::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Base(pub(crate) Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Line(Factor, Number),
    Product(Factor, Dimensions),
    Star(Number),
    Hypercube(u8),
    FoldedHypercube(u8),
    NStar(u8),
    Petersen,
    Heawood,
}

impl Base {
    /// The largest distance.
    pub fn diameter(&self) -> Number {
        match &self.0 {
            Kind::Line(factor, n) => factor.diameter(*n),
            Kind::Product(factor, sizes) => product::diameter(*factor, sizes),
            Kind::Star(n) => 2.min(n - 1),
            Kind::Hypercube(bits) => Number::from(*bits),
            Kind::FoldedHypercube(bits) => Number::from(bits.div_ceil(2)),
            Kind::NStar(n) => nstar::diameter(usize::from(*n)),
            Kind::Petersen => PETERSEN.diameter(),
            Kind::Heawood => HEAWOOD.diameter(),
        }
    }

    /// The sum of the distances over ordered pairs, by formula; `None` if it needs more than 128 bits.
    pub fn distance_sum(&self) -> Option<u128> {
        match &self.0 {
            Kind::Line(factor, n) => factor.distance_sum(*n),
            Kind::Product(factor, sizes) => product::distance_sum(*factor, sizes),
            Kind::Star(n) => Some(2 * u128::from(n - 1) * u128::from(n - 1)),
            Kind::Hypercube(bits) => hypercube::distance_sum(u32::from(*bits)),
            Kind::FoldedHypercube(bits) => hypercube::folded::distance_sum(u32::from(*bits)),
            Kind::NStar(n) => nstar::distance_sum(usize::from(*n)),
            Kind::Petersen => Some(PETERSEN.distance_sum()),
            Kind::Heawood => Some(HEAWOOD.distance_sum()),
        }
    }

    /// The size of the ring that dimension `axis` of a ring or torus is; `None` past the last one, and for other graphs.
    ///
    /// ```
    /// use hopwise_core::Base;
    /// let torus: Base = "torus(4,3)".parse()?;
    /// assert_eq!([0, 1, 2].map(|axis| torus.ring_size(axis)), [Some(4), Some(3), None]);
    /// # Ok::<(), hopwise_core::ParseError>(())
    /// ```
    pub fn ring_size(&self, axis: usize) -> Option<Number> {
        match &self.0 {
            Kind::Line(Factor::Ring, n) if axis == 0 => Some(*n),
            Kind::Product(Factor::Ring, sizes) => sizes.iter().nth(axis),
            _ => None,
        }
    }

    /// The largest distance from node 0.
    pub fn farthest_from_zero(&self) -> Number {
        match &self.0 {
            Kind::Star(_) => 1,
            // Node 0 is an end or a corner, or like all others.
            _ => self.diameter(),
        }
    }

    /// The sum of the distances from node 0, by formula; `None` if it needs more than 128 bits.
    pub fn distance_sum_from_zero(&self) -> Option<u128> {
        let nodes = u128::from(self.nodes());
        match &self.0 {
            Kind::Line(Factor::Path, _) => Some(nodes * (nodes - 1) / 2),
            Kind::Product(Factor::Path, sizes) => {
                Some(nodes * sizes.iter().map(|size| u128::from(size - 1)).sum::<u128>() / 2)
            }
            Kind::Star(_) => Some(nodes - 1),
            // All nodes are alike.
            _ => self.distance_sum().map(|sum| sum / nodes),
        }
    }

    /// A node with the least sum of distances to four nodes, where it need not be searched for. Just these graphs are also
    /// their own mirror image: numbering the nodes backwards changes no distance.
    pub(crate) fn median(&self, points: [Vertex; 4]) -> Option<Vertex> {
        match &self.0 {
            Kind::Line(factor, n) => Some(factor.median(*n, points)),
            Kind::Product(factor, sizes) => Some(product::median(*factor, sizes, points)),
            Kind::Hypercube(_) => Some(hypercube::median(points)),
            Kind::FoldedHypercube(bits) => Some(hypercube::folded::median(u32::from(*bits), points)),
            Kind::Star(_) | Kind::NStar(_) | Kind::Petersen | Kind::Heawood => None,
        }
    }

    /// The smallest and the largest degree.
    pub fn degree_range(&self) -> (Number, Number) {
        match &self.0 {
            Kind::Line(Factor::Path, n) => (1, 2.min(n - 1)),
            Kind::Product(Factor::Path, sizes) => (
                sizes.iter().count() as Number,
                sizes.iter().map(|size| 2.min(size - 1)).sum(),
            ),
            Kind::Star(n) => (1, n - 1),
            _ => (self.degree(0), self.degree(0)),
        }
    }

    /// How many edges there are.
    pub fn edges(&self) -> u128 {
        match &self.0 {
            Kind::Line(Factor::Path, n) => u128::from(n - 1),
            Kind::Product(Factor::Path, sizes) => {
                let nodes = u128::from(self.nodes());
                sizes
                    .iter()
                    .map(|size| nodes / u128::from(size) * u128::from(size - 1))
                    .sum()
            }
            Kind::Star(n) => u128::from(n - 1),
            _ => u128::from(self.nodes()) * u128::from(self.degree(0)) / 2,
        }
    }

    /// Steps that a broadcast takes if a node sends one copy a step; for products the sum over the dimensions, an estimate.
    pub(crate) fn broadcast_steps(&self) -> Number {
        match &self.0 {
            Kind::Line(factor, n) => factor.broadcast_steps(*n),
            Kind::Product(factor, sizes) => sizes.iter().map(|size| factor.broadcast_steps(size)).sum(),
            Kind::Star(n) => n - 1,
            Kind::Hypercube(bits) => Number::from(*bits),
            Kind::FoldedHypercube(bits) => Number::from(*bits) + 1,
            Kind::NStar(n) => Number::from(*n) * (Number::from(*n) - 1) / 2,
            Kind::Petersen | Kind::Heawood => 5,
        }
    }

    /// The place of `neighbor` among the neighbours of `node` in ascending order.
    pub(crate) fn rank(&self, node: Vertex, neighbor: Vertex) -> Number {
        match &self.0 {
            Kind::Line(Factor::Complete, _) => neighbor - Number::from(neighbor > node),
            Kind::Star(_) => neighbor.saturating_sub(1),
            _ => self.neighbors(node).filter(|&other| other < neighbor).count() as Number,
        }
    }

    /// The neighbour at a place in ascending order.
    pub(crate) fn ranked(&self, node: Vertex, rank: Number) -> Option<Vertex> {
        match &self.0 {
            Kind::Line(Factor::Complete, _) | Kind::Star(_) => self.neighbor(node, rank),
            _ => self.neighbors(node).find(|&neighbor| self.rank(node, neighbor) == rank),
        }
    }

    pub(crate) fn neighbors(&self, node: Vertex) -> impl Iterator<Item = Vertex> + '_ {
        (0..self.degree(node)).filter_map(move |port| self.neighbor(node, port))
    }

    /// [`Topology::distance`], which every base graph knows.
    #[inline]
    pub(crate) fn hops(&self, from: Vertex, to: Vertex) -> Number {
        match &self.0 {
            Kind::Line(factor, n) => factor.distance(*n, from, to),
            Kind::Product(factor, sizes) => product::distance(*factor, sizes, from, to),
            Kind::Star(_) => {
                if from == to {
                    0
                } else {
                    1 + Number::from(from != 0 && to != 0)
                }
            }
            Kind::Hypercube(_) => hypercube::distance(from, to),
            Kind::FoldedHypercube(bits) => hypercube::folded::distance(u32::from(*bits), from, to),
            Kind::NStar(n) => nstar::distance(usize::from(*n), from, to),
            Kind::Petersen => PETERSEN.distance(from, to),
            Kind::Heawood => HEAWOOD.distance(from, to),
        }
    }

    /// [`Topology::next`]; base graphs have one rule.
    #[inline(never)]
    pub(crate) fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
        match &self.0 {
            Kind::Line(factor, n) => factor.next(*n, here, dest),
            Kind::Product(factor, sizes) => product::next(*factor, sizes, here, dest),
            Kind::Star(_) => {
                if here == 0 || here == dest {
                    dest
                } else {
                    0
                }
            }
            Kind::Hypercube(_) => hypercube::next(here, dest),
            Kind::FoldedHypercube(bits) => hypercube::folded::next(u32::from(*bits), here, dest),
            Kind::NStar(n) => nstar::next(usize::from(*n), here, dest),
            Kind::Petersen => PETERSEN.next(here, dest),
            Kind::Heawood => HEAWOOD.next(here, dest),
        }
    }

    /// [`Topology::buffer_class`]; no route here is too long to look ahead.
    pub(crate) fn class(&self, here: Vertex, dest: Vertex) -> Number {
        match &self.0 {
            Kind::Line(factor, n) => factor.buffer_class(*n, here, dest),
            Kind::Product(factor, sizes) => product::buffer_class(*factor, sizes, here, dest),
            // Routes of one hop, a tree, dimension order, and dimension order after the complement: no circles.
            Kind::Star(_) | Kind::Hypercube(_) | Kind::FoldedHypercube(_) => 0,
            Kind::NStar(_) | Kind::Petersen | Kind::Heawood => {
                valleys_ahead(self, here, dest, Rule::Exact).unwrap_or(0)
            }
        }
    }

    pub(crate) fn classes(&self) -> Number {
        match &self.0 {
            Kind::Line(factor, n) => factor.buffer_classes(*n),
            Kind::Product(factor, sizes) => product::buffer_classes(*factor, sizes),
            Kind::Star(_) | Kind::Hypercube(_) | Kind::FoldedHypercube(_) => 1,
            Kind::NStar(_) | Kind::Petersen | Kind::Heawood => self.diameter() / 2 + 1,
        }
    }
}

impl Topology for Base {
    fn nodes(&self) -> Number {
        match &self.0 {
            Kind::Line(_, n) | Kind::Star(n) => *n,
            Kind::Product(_, sizes) => product::nodes(sizes),
            Kind::Hypercube(bits) | Kind::FoldedHypercube(bits) => 1 << bits,
            Kind::NStar(n) => nstar::nodes(usize::from(*n)),
            Kind::Petersen => 10,
            Kind::Heawood => 14,
        }
    }

    fn degree(&self, node: Vertex) -> Number {
        match &self.0 {
            Kind::Line(factor, n) => factor.degree(*n, node),
            Kind::Product(factor, sizes) => product::degree(*factor, sizes, node),
            Kind::Star(n) => {
                if node == 0 {
                    n - 1
                } else {
                    1
                }
            }
            Kind::Hypercube(bits) => Number::from(*bits),
            Kind::FoldedHypercube(bits) => Number::from(*bits) + 1,
            Kind::NStar(n) => Number::from(*n) - 1,
            Kind::Petersen | Kind::Heawood => 3,
        }
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        match &self.0 {
            Kind::Line(factor, n) => factor.neighbor(*n, node, port),
            Kind::Product(factor, sizes) => product::neighbor(*factor, sizes, node, port),
            Kind::Star(_) if port >= self.degree(node) => None,
            Kind::Star(_) => Some(if node == 0 { port + 1 } else { 0 }),
            Kind::Hypercube(bits) => hypercube::neighbor(u32::from(*bits), node, port),
            Kind::FoldedHypercube(bits) => hypercube::folded::neighbor(u32::from(*bits), node, port),
            Kind::NStar(n) => nstar::neighbor(usize::from(*n), node, port),
            Kind::Petersen => PETERSEN.neighbor(node, port),
            Kind::Heawood => HEAWOOD.neighbor(node, port),
        }
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        match &self.0 {
            Kind::Line(factor, n) => factor.port_to(*n, node, neighbor),
            Kind::Product(factor, sizes) => product::port_to(*factor, sizes, node, neighbor),
            Kind::Star(n) if node == 0 => (neighbor > 0 && neighbor < *n).then(|| neighbor - 1),
            Kind::Hypercube(bits) => hypercube::port_to(u32::from(*bits), node, neighbor),
            Kind::FoldedHypercube(bits) => hypercube::folded::port_to(u32::from(*bits), node, neighbor),
            _ => (0..self.degree(node)).find(|&port| self.neighbor(node, port) == Some(neighbor)),
        }
    }

    fn next(&self, here: Vertex, dest: Vertex, _rule: Rule) -> Vertex {
        self.step(here, dest)
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        Some(self.hops(from, to))
    }

    fn longest_route(&self, _rule: Rule) -> Number {
        self.diameter()
    }

    fn vertex_transitive(&self) -> bool {
        match &self.0 {
            Kind::Line(factor, n) => *factor != Factor::Path || *n == 2,
            Kind::Product(factor, sizes) => *factor != Factor::Path || sizes.iter().all(|size| size == 2),
            Kind::Star(n) => *n == 2,
            _ => true,
        }
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Product(_, sizes) => product::write_address(sizes, node, out),
            Kind::Hypercube(bits) | Kind::FoldedHypercube(bits) => write!(out, "{node:0>0$b}", usize::from(*bits)),
            Kind::NStar(n) => nstar::write_address(usize::from(*n), node, out),
            _ => write!(out, "{node}"),
        }
    }

    fn urgency(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        match &self.0 {
            Kind::Line(factor, n) => wide(factor.arm(*n, source, here, port)),
            Kind::Product(factor, sizes) => product::urgency(*factor, sizes, here, port, source),
            // The highest dimension leads to the largest subcube.
            Kind::Hypercube(_) => wide(port),
            // The complement is only ever the first hop to the source: nobody is behind it.
            Kind::FoldedHypercube(bits) => wide((port + 1) % (Number::from(*bits) + 1)),
            Kind::NStar(n) => nstar::urgency(usize::from(*n), here, port, source),
            // Minus, distance, plus: 5 steps, the best for this tree.
            Kind::Heawood => [0, 2, 1].get(port as usize).copied().unwrap_or(0),
            Kind::Star(_) | Kind::Petersen => 0,
        }
    }

    fn fewest_steps_urgency(&self, here: Vertex, port: Number, source: Vertex) -> Option<u64> {
        self.quickest(here, port, source)
    }

    fn counts_valleys(&self) -> bool {
        false
    }

    fn buffer_classes(&self, _rule: Rule) -> Number {
        self.classes()
    }

    fn buffer_class(&self, here: Vertex, dest: Vertex, _rule: Rule) -> Option<Number> {
        Some(self.class(here, dest))
    }
}
