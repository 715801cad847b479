//! The digits of node numbers as the dimensions of a mesh that is embedded in the network.

use crate::arith::{Vertex, div_rem, narrow, wide};
use crate::collective::{Program, Ring};
use crate::graph::{Base, Factor, Kind};
use crate::network::Network;
use crate::topology::{NoSuchNode, Node, Topology};

/// A mesh through all nodes of a network: each digit of their numbers is a dimension.
///
/// A dimension goes round where the digit's graph has a ring: on rings and complete graphs in the order of the digit, on others by
/// their [`Ring`]. On a path it ends. How far neighbours are apart depends on the network: on products one hop, or what the ring takes; on swapped
/// networks of l levels up to 2l - 1; in dual-nets of k levels up to 2k + 1; in units as far as it is to the pivot and back, and one.
///
/// In dual-nets the [places](Self::place) in the mesh are not node numbers: a crossing is a digit of its own there.
#[derive(Clone, Copy, Debug)]
pub struct Mesh<'a> {
    program: Program<'a>,
}

impl<'a> Mesh<'a> {
    /// The mesh of a network; `None` if its numbers have no digits with links of their own.
    pub fn new(network: &'a Network) -> Option<Self> {
        Some(Mesh {
            program: Program::new(network)?,
        })
    }

    /// How many dimensions it has.
    pub fn dimensions(&self) -> u64 {
        self.program.digits()
    }

    /// The nodes along a dimension, from the lowest; `None` if there is no such dimension.
    pub fn size(&self, dimension: u64) -> Option<u64> {
        Some(wide(self.program.digit(dimension)?.0.nodes()))
    }

    /// The place of a node, as one number.
    pub fn place(&self, node: Node) -> Result<Node, NoSuchNode> {
        let node = self.program.network().check(node)?;
        Ok(self.program.place(node))
    }

    /// The node at a place.
    pub fn node(&self, place: Node) -> Result<Node, NoSuchNode> {
        let place = self.program.network().check(place)?;
        Ok(self.program.node(place))
    }

    /// The node after one along a dimension; `None` at the end of a path, or if there is no such dimension.
    pub fn next(&self, node: Node, dimension: u64) -> Result<Option<Node>, NoSuchNode> {
        self.moved(node, dimension, after)
    }

    /// The node before one along a dimension; `None` at the beginning of a path, or if there is no such dimension.
    pub fn previous(&self, node: Node, dimension: u64) -> Result<Option<Node>, NoSuchNode> {
        let before = |graph: &Base, digit: Vertex| (0..graph.nodes()).find(|&other| after(graph, other) == Some(digit));
        self.moved(node, dimension, before)
    }

    fn moved(
        &self,
        node: Node,
        dimension: u64,
        to: impl Fn(&Base, Vertex) -> Option<Vertex>,
    ) -> Result<Option<Node>, NoSuchNode> {
        let place = self.place(node)?;
        let (Some((graph, weight)), Some(at)) = (self.program.digit(dimension), narrow(place)) else {
            return Ok(None);
        };
        let digit = div_rem(div_rem(at, weight).0, graph.nodes()).1;
        let Some(other) = to(&graph, digit) else {
            return Ok(None);
        };
        let moved = at
            .wrapping_sub(digit.wrapping_mul(weight))
            .wrapping_add(other.wrapping_mul(weight));
        self.node(wide(moved)).map(Some)
    }
}

/// The digit after one.
fn after(graph: &Base, digit: Vertex) -> Option<Vertex> {
    match &graph.0 {
        Kind::Line(line) if line.factor == Factor::Path => Some(digit + 1).filter(|&next| next < line.nodes),
        Kind::Line(line) => Some(div_rem(digit + 1, line.nodes).1),
        _ => narrow(Ring::new(&Network::from(*graph)).next(wide(digit)).ok()?),
    }
}
