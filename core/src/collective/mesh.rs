//! The digits of node numbers as the dimensions of a mesh that is embedded in the network.

use crate::arith::{Vertex, div_rem, narrow, sub_mod, wide};
use crate::collective::{Program, Ring};
use crate::graph::{Base, Factor, Kind};
use crate::network::Network;
use crate::topology::{NoSuchNode, Node, Topology};

/// A mesh through all nodes of a network: each digit of their numbers is a dimension.
///
/// A dimension wraps around where the digit's graph has a ring: on rings and complete graphs in the order of the digit, on others by
/// their [`Ring`]. On a path it ends. Neighbors are one hop or the ring's dilation apart on products; up to 2l - 1 hops on swapped networks
/// of l levels; up to 2k + 1 in dual-nets of k levels; in units the distance to the pivot and back, plus one.
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

    /// The number of dimensions.
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

    /// The next node along a dimension; `None` at the end of a path, or if there is no such dimension.
    pub fn next(&self, node: Node, dimension: u64) -> Result<Option<Node>, NoSuchNode> {
        self.moved(node, dimension, after)
    }

    /// The previous node along a dimension; `None` at the beginning of a path, or if there is no such dimension. Where the digit's
    /// graph is not a line, ring or complete graph, all values of the digit are tried.
    pub fn previous(&self, node: Node, dimension: u64) -> Result<Option<Node>, NoSuchNode> {
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

fn after(graph: &Base, digit: Vertex) -> Option<Vertex> {
    match &graph.0 {
        Kind::Line(line) if line.factor == Factor::Path => Some(digit + 1).filter(|&next| next < line.nodes),
        Kind::Line(line) => Some(div_rem(digit + 1, line.nodes).1),
        _ => narrow(Ring::new(&Network::from(*graph)).next(wide(digit)).ok()?),
    }
}

fn before(graph: &Base, digit: Vertex) -> Option<Vertex> {
    match &graph.0 {
        Kind::Line(line) if line.factor == Factor::Path => digit.checked_sub(1),
        Kind::Line(line) => Some(sub_mod(digit, 1, line.nodes)),
        _ => (0..graph.nodes()).find(|&other| after(graph, other) == Some(digit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_all_nodes_and_dimensions_lead_back() {
        for (expression, sizes) in hopwise_testing::figures("dimensions") {
            let network: Network = expression.parse().unwrap();
            let mesh = Mesh::new(&network).unwrap();
            let found: std::vec::Vec<u64> = (0..).map_while(|dimension| mesh.size(dimension)).collect();
            assert_eq!(found, sizes, "{expression}");
            assert_eq!(mesh.dimensions(), sizes.len() as u64, "{expression}");
            assert_eq!(sizes.iter().product::<u64>(), network.nodes(), "{expression}");
            let mut taken = std::vec![false; network.nodes() as usize];
            for node in 0..network.nodes() {
                let place = mesh.place(node).unwrap();
                assert!(
                    !std::mem::replace(&mut taken[place as usize], true),
                    "{expression}: {place}"
                );
                assert_eq!(mesh.node(place), Ok(node), "{expression}");
                for dimension in 0..mesh.dimensions() {
                    if let Some(next) = mesh.next(node, dimension).unwrap() {
                        let seen = mesh.previous(next, dimension);
                        assert_eq!(seen, Ok(Some(node)), "{expression}, {dimension}");
                    }
                }
                assert_eq!(mesh.next(node, mesh.dimensions()), Ok(None));
            }
        }
    }

    /// In a dual-net the last dimension is the crossing of the highest level: a link.
    #[test]
    fn a_crossing_is_a_dimension() {
        let network: Network = "rdn(ring(3),2)".parse().unwrap();
        let mesh = Mesh::new(&network).unwrap();
        for node in 0..network.nodes() {
            let other = mesh.next(node, 6).unwrap().unwrap();
            assert!(network.port_to(node, other).unwrap().is_some(), "{node} and {other}");
        }
    }

    #[test]
    fn large_networks_do_no_harm() {
        for expression in ["hypercube(60)", "rdn(hypercube(5),2)", "rsn(5,complete(8))", "wk(4,3)"] {
            let Ok(network) = expression.parse::<Network>() else {
                continue;
            };
            let Some(mesh) = Mesh::new(&network) else { continue };
            for node in [0, 1, network.nodes() - 1, network.nodes(), u64::MAX] {
                for dimension in [0, 1, mesh.dimensions(), u64::MAX] {
                    let _ = (
                        mesh.next(node, dimension),
                        mesh.previous(node, dimension),
                        mesh.place(node),
                    );
                }
            }
        }
    }
}
