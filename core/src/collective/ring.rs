//! All nodes in one cycle: a ring that is embedded in the network, for shifts.

use crate::arith::{Vertex, div_rem, narrow, wide};
use crate::collective::{Axis, Ports, Program, Step, Tree};
use crate::graph::{Factor, Kind};
use crate::network::Network;
use crate::topology::{NoSuchNode, Node, Topology};

/// A cycle through all nodes of a network in which consecutive nodes are at most three hops apart.
///
/// Where node numbers are digits, each of them on a path, a ring or a complete graph, it is often Hamiltonian: every step is a link. If all
/// digits wrap around, and each size divides the next, as in hypercubes and in tori of equal sides, it is the modular Gray code; if a size
/// is even it goes back and forth through the other digits, one value of this digit after the other, and returns through the column it
/// left out. On a single path it takes every second node, and the others on the way back.
///
/// Elsewhere it is Sekanina's walk around the spanning tree of node 0's broadcast: nodes of even depth are visited on entry, those of odd
/// depth on exit.
///
/// M. Sekanina, On an ordering of the set of vertices of a connected graph, 1960.
#[derive(Clone, Copy, Debug)]
pub struct Ring<'a> {
    network: &'a Network,
    way: Way<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Way<'a> {
    /// The modular Gray code of the digits.
    Gray(Program<'a>),
    /// Back and forth through the other digits, for each value of this one.
    Rows(Program<'a>, u64),
    /// Every second node of a path of this length, and back.
    SecondNodes(Vertex),
    Tree(Tree<'a>),
}

impl<'a> Ring<'a> {
    /// The ring of a network.
    pub fn new(network: &'a Network) -> Self {
        let lines = Program::new(network).filter(has_lines_only);
        let way = match lines {
            Some(program) if is_modular(&program) => Way::Gray(program),
            Some(program) => match (even_digit(&program), program.length()) {
                (_, 1) => Way::SecondNodes(narrow(network.nodes()).unwrap_or(0)),
                (Some(even), _) => Way::Rows(program, even),
                (None, _) => Way::Tree(Tree::of_checked(network, 0, Ports::All)),
            },
            None => Way::Tree(Tree::of_checked(network, 0, Ports::All)),
        };
        Ring { network, way }
    }

    /// The maximum distance of consecutive nodes: 1 if the ring is a Hamiltonian cycle, else up to 3.
    pub fn dilation(&self) -> u64 {
        match self.way {
            Way::Gray(_) | Way::Rows(..) => 1,
            Way::SecondNodes(_) => 2,
            Way::Tree(_) => 3,
        }
    }

    /// The node after this one. Takes O(digits), or O(depth of the tree).
    pub fn next(&self, node: Node) -> Result<Node, NoSuchNode> {
        let node = self.network.check(node)?;
        match &self.way {
            Way::Gray(program) => Ok(next_of_code(program, node)),
            Way::Rows(program, even) => Ok(next_of_rows(program, *even, node)),
            Way::SecondNodes(nodes) => Ok(narrow(node).map_or(node, |node| wide(next_of_second(*nodes, node)))),
            Way::Tree(tree) => next_of_walk(tree, node),
        }
    }
}

/// The walk around a tree.
fn next_of_walk(tree: &Tree, node: Node) -> Result<Node, NoSuchNode> {
    let parent = tree.parent(node)?;
    let first_child = tree.children(node)?.next();
    match (is_even(tree, node)?, first_child, parent) {
        (true, Some((_, child)), _) => first_below(tree, child),
        (true, None, None) => Ok(node),
        (true, None, Some(parent)) => after_even(tree, node, parent),
        // Its subtree is done, and so is the node itself.
        (false, _, Some(parent)) => match sibling(tree, node, parent)? {
            Some(sibling) => first_below(tree, sibling),
            None => match tree.parent(parent)? {
                Some(above) => after_even(tree, parent, above),
                None => Ok(parent),
            },
        },
        // The root's depth is even.
        (false, _, None) => Ok(node),
    }
}

/// The first node visited in a branch whose top has odd depth.
fn first_below(tree: &Tree, top: Node) -> Result<Node, NoSuchNode> {
    Ok(tree.children(top)?.next().map_or(top, |(_, child)| child))
}

/// The node after the subtree of a node of even depth.
fn after_even(tree: &Tree, node: Node, parent: Node) -> Result<Node, NoSuchNode> {
    Ok(sibling(tree, node, parent)?.unwrap_or(parent))
}

fn sibling(tree: &Tree, node: Node, parent: Node) -> Result<Option<Node>, NoSuchNode> {
    let mut children = tree.children(parent)?.map(|(_, child)| child);
    children.find(|&child| child == node);
    Ok(children.next())
}

fn is_even(tree: &Tree, node: Node) -> Result<bool, NoSuchNode> {
    let (mut even, mut here) = (true, node);
    // No path in a tree has more links than there are nodes.
    for _ in 0..tree.network().nodes() {
        let Some(parent) = tree.parent(here)? else { break };
        even = !even;
        here = parent;
    }
    Ok(even)
}

/// A digit, where all steps are digits.
fn digit(program: &Program, index: u64) -> Option<Axis> {
    match program.step(index) {
        Some(Step::Share(axis)) if !axis.is_at_pivots() => Some(axis),
        _ => None,
    }
}

/// Whether all steps are digits, and those that differ by one are joined.
fn has_lines_only(program: &Program) -> bool {
    let is_line = |axis: Axis| matches!(&axis.graph.0, Kind::Line(_));
    (0..program.length()).all(|index| digit(program, index).is_some_and(is_line))
}

/// Whether the digits have a modular Gray code that ends where it begins.
fn is_modular(program: &Program) -> bool {
    let mut below = 1;
    (0..program.length())
        .filter_map(|index| digit(program, index))
        .all(|axis| {
            let is_round = matches!(&axis.graph.0, Kind::Line(line) if line.factor != Factor::Path || line.nodes == 2);
            let divides = axis.size().checked_rem(below) == Some(0);
            below = axis.size();
            is_round && divides
        })
}

fn even_digit(program: &Program) -> Option<u64> {
    (0..program.length()).find(|&index| digit(program, index).is_some_and(|axis| axis.size().is_multiple_of(2)))
}

/// 0, 2, 4, .. and back over the odd ones.
fn next_of_second(nodes: Vertex, node: Vertex) -> Vertex {
    match node {
        1 => 0,
        _ if node % 2 == 1 => node.saturating_sub(2),
        _ if node + 2 < nodes => node + 2,
        // From the last even one to the last odd one.
        _ if node + 1 < nodes => node + 1,
        _ => node.saturating_sub(1),
    }
}

/// A row is a value of the even digit; columns are the other digits, in the order of the reflected Gray code. Column 0 is left out on the way
/// there.
fn next_of_rows(program: &Program, even: u64, node: Node) -> Node {
    let Some(number) = narrow(node) else { return node };
    // From the highest.
    let others = || {
        (0..program.length())
            .rev()
            .filter(|&index| index != even)
            .filter_map(|index| digit(program, index))
    };
    let Some(rows) = digit(program, even) else { return node };
    let (row, last_row) = (rows.place(number), rows.graph.nodes().saturating_sub(1));
    let (mut column, mut columns): (Vertex, Vertex) = (0, 1);
    for axis in others() {
        let size = axis.graph.nodes();
        column = column
            .wrapping_mul(size)
            .wrapping_add(reflected(column, axis.place(number), size));
        columns = columns.wrapping_mul(size);
    }
    let (row, column) = match (column, row % 2) {
        (0, _) if row > 0 => (row - 1, 0),
        (0, _) => (0, 1),
        (_, 0) if column + 1 < columns => (row, column + 1),
        (_, 1) if column > 1 => (row, column - 1),
        _ if row < last_row => (row + 1, column),
        _ => (row, 0),
    };
    let (mut next, mut rest, mut above) = (row.wrapping_mul(rows.weight), column, columns);
    let mut before: Vertex = 0;
    for axis in others() {
        let size = axis.graph.nodes();
        above = div_rem(above, size).0;
        let (digit, lower) = div_rem(rest, above);
        next = next.wrapping_add(reflected(before, digit, size).wrapping_mul(axis.weight));
        before = before.wrapping_mul(size).wrapping_add(digit);
        rest = lower;
    }
    wide(next)
}

/// A digit of the reflected Gray code: the digits of its number above it decide which way it goes.
fn reflected(above: Vertex, digit: Vertex, size: Vertex) -> Vertex {
    if above.is_multiple_of(2) {
        digit
    } else {
        size.saturating_sub(1).saturating_sub(digit)
    }
}

/// The digits of a code are those of its number, each less the one above it. So the next number's code differs in one digit by one: the
/// lowest whose own digit is not the last.
fn next_of_code(program: &Program, node: Node) -> Node {
    let (Some(code), mut carried) = (narrow(node), true) else {
        return node;
    };
    let digits = |index| digit(program, index);
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
    use hopwise_testing::figures;

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
        for (expression, figures) in figures("ring_dilations") {
            let dilation = figures[0];
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
