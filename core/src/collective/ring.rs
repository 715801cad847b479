//! All nodes in one cycle: a ring that is embedded in the network, for shifts.

use crate::arith::{Vertex, div_rem, narrow, wide};
use crate::collective::{Ports, Program, Step, Tree};
use crate::graph::{Factor, Kind};
use crate::network::Network;
use crate::topology::{NoSuchNode, Node, Topology};

/// A cycle through all nodes of a network, in which those next to each other are at most three hops apart.
///
/// Where node numbers are digits, each of them on a ring or a complete graph, and each size divides the next, as in hypercubes and in
/// tori of equal sides, it is the modular Gray code: every step is a link, and the cycle is a Hamiltonian one. Elsewhere it goes round
/// the spanning tree that a broadcast of node 0 takes, in Sekanina's way: nodes of even depth when it comes to them, those of odd depth when it leaves
/// them.
///
/// M. Sekanina, On an ordering of the set of vertices of a connected graph, 1960.
#[derive(Clone, Copy, Debug)]
pub struct Ring<'a> {
    network: &'a Network,
    gray: Option<Program<'a>>,
    tree: Tree<'a>,
}

impl<'a> Ring<'a> {
    /// The ring of a network.
    pub fn new(network: &'a Network) -> Self {
        Ring {
            network,
            gray: Program::new(network).filter(is_modular),
            tree: Tree::of_checked(network, 0, Ports::All),
        }
    }

    /// The most hops between two that are next to each other: 1 if the ring is a Hamiltonian cycle, else 3.
    pub fn dilation(&self) -> u64 {
        if self.gray.is_some() { 1 } else { 3 }
    }

    /// The node after one. Time O(digits), or O(depth of the tree).
    pub fn next(&self, node: Node) -> Result<Node, NoSuchNode> {
        let node = self.network.check(node)?;
        match &self.gray {
            Some(program) => Ok(next_of_code(program, node)),
            None => self.next_of_tree(node),
        }
    }

    fn next_of_tree(&self, node: Node) -> Result<Node, NoSuchNode> {
        let parent = self.tree.parent(node)?;
        let first_child = self.tree.children(node)?.next();
        match (self.is_even(node)?, first_child, parent) {
            (true, Some((_, child)), _) => self.first_below(child),
            (true, None, None) => Ok(node),
            (true, None, Some(parent)) => self.after_even(node, parent),
            // Whatever is below it is done, and it itself.
            (false, _, Some(parent)) => match self.sibling(node, parent)? {
                Some(sibling) => self.first_below(sibling),
                None => match self.tree.parent(parent)? {
                    Some(above) => self.after_even(parent, above),
                    None => Ok(parent),
                },
            },
            // The root's depth is even.
            (false, _, None) => Ok(node),
        }
    }

    /// The first of a branch whose top has odd depth.
    fn first_below(&self, top: Node) -> Result<Node, NoSuchNode> {
        Ok(self.tree.children(top)?.next().map_or(top, |(_, child)| child))
    }

    /// Behind all below a node of even depth.
    fn after_even(&self, node: Node, parent: Node) -> Result<Node, NoSuchNode> {
        Ok(self.sibling(node, parent)?.unwrap_or(parent))
    }

    /// The child of a parent after one.
    fn sibling(&self, node: Node, parent: Node) -> Result<Option<Node>, NoSuchNode> {
        let mut children = self.tree.children(parent)?.map(|(_, child)| child);
        children.find(|&child| child == node);
        Ok(children.next())
    }

    fn is_even(&self, node: Node) -> Result<bool, NoSuchNode> {
        let (mut even, mut here) = (true, node);
        // No path in a tree has more links than there are nodes.
        for _ in 0..self.network.nodes() {
            let Some(parent) = self.tree.parent(here)? else { break };
            even = !even;
            here = parent;
        }
        Ok(even)
    }
}

/// Whether the digits have a modular Gray code that ends where it begins.
fn is_modular(program: &Program) -> bool {
    let mut below = 1;
    (0..program.length()).all(|index| match program.step(index) {
        Some(Step::Share(axis)) if !axis.is_at_pivots() => {
            let is_round = matches!(&axis.graph.0, Kind::Line(line) if line.factor != Factor::Path || line.nodes == 2);
            let divides = axis.size().checked_rem(below) == Some(0);
            below = axis.size();
            is_round && divides
        }
        _ => false,
    })
}

/// The digits of a code are those of its number, each less the one above it. So the next number's code differs in one digit by one: the
/// lowest whose own digit is not the last.
fn next_of_code(program: &Program, node: Node) -> Node {
    let (Some(code), mut carried) = (narrow(node), true) else {
        return node;
    };
    let digits = |index| match program.step(index) {
        Some(Step::Share(axis)) => Some(axis),
        _ => None,
    };
    let length = program.length();
    // What the digit of the number is: the sum of the code's digits from there up.
    let number = |index: u64, size: Vertex| {
        let above = (index..length).filter_map(digits).map(|axis| axis.place(code));
        above.fold(0, |sum, digit| div_rem(sum + div_rem(digit, size).1, size).1)
    };
    let mut next = node;
    for (index, axis) in (0..length).filter_map(|index| Some((index, digits(index)?))) {
        let size = axis.graph.nodes();
        let is_last = number(index, size) + 1 == size;
        if carried && (!is_last || index + 1 == length) {
            let digit = axis.place(code);
            let more = div_rem(digit + 1, size).1;
            next = node
                .wrapping_sub(wide(digit).wrapping_mul(axis.weight()))
                .wrapping_add(wide(more).wrapping_mul(axis.weight()));
            carried = false;
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(network: &Network, from: Node, to: Node, hops: u64) -> bool {
        let mut near = std::vec![from];
        for _ in 0..hops {
            let further: std::vec::Vec<Node> = near.iter().flat_map(|&node| network.neighbors(node).unwrap()).collect();
            near.extend(further);
        }
        near.contains(&to)
    }

    #[test]
    fn rings_pass_every_node_once_within_their_dilation() {
        for (expression, dilation) in [
            ("hypercube(5)", 1),
            ("torus(3,3)", 1),
            ("torus(2,4)", 1),
            ("torus(3,6)", 1),
            ("torus(4,3)", 3),
            ("ghc(4,4)", 1),
            ("complete(5)", 1),
            ("ring(7)", 1),
            ("path(2)", 1),
            ("path(6)", 3),
            ("star(7)", 3),
            ("petersen", 3),
            ("rdn(ring(3),1)", 3),
            ("rsn(2,hypercube(2))", 3),
            ("re(ring(4),complete(3),2)", 3),
            ("rcr(2,3,1)", 3),
            ("wk(4,3)", 3),
            ("nstar(4)", 3),
            ("folded(ring(3),3)", 1),
        ] {
            let network: Network = expression.parse().unwrap();
            let ring = Ring::new(&network);
            assert_eq!(ring.dilation(), dilation, "{expression}");
            let (mut here, mut passed) = (0, std::vec![false; network.nodes() as usize]);
            for _ in 0..network.nodes() {
                assert!(
                    !std::mem::replace(&mut passed[here as usize], true),
                    "{expression}: {here} twice"
                );
                let next = ring.next(here).unwrap();
                let far = !within(&network, here, next, dilation);
                assert!(!far, "{expression}: {here} to {next} is more than {dilation} hops");
                here = next;
            }
            assert_eq!(here, 0, "{expression}");
        }
    }

    #[test]
    fn large_networks_do_no_harm() {
        for expression in ["hypercube(60)", "rdn(hypercube(5),2)"] {
            let Ok(network) = expression.parse::<Network>() else {
                continue;
            };
            for node in [0, 1, network.nodes() - 1, network.nodes(), u64::MAX] {
                let _ = Ring::new(&network).next(node);
            }
        }
    }
}
