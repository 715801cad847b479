//! Up and down a complete binary tree that is embedded in the network. Nodes that are not of the tree belong to the nearest that is.

use hopwise_core::Node;
use hopwise_networks::binary_tree::BinaryTree;
use hopwise_networks::distances::hops_from;
use hopwise_networks::graph::Graph;

/// Who sends to whom on the way up, one stage after the other; each is done when all have arrived.
pub struct Stages {
    /// The nodes beside the tree, with those they belong to; then the levels of the tree from the lowest, children with parents.
    up: Vec<Vec<(Node, Node)>>,
    beside: usize,
}

impl Stages {
    /// Of a tree.
    pub fn of(tree: &BinaryTree, graph: &Graph) -> Self {
        let places = tree.places();
        let is_beside = |node: &usize| !places.contains(node);
        let nearest = |node: usize| {
            let hops = hops_from(graph, node);
            let host = places.iter().copied().min_by_key(|&place| hops[place]).unwrap_or(node);
            (node as Node, host as Node)
        };
        let beside: Vec<_> = (0..graph.nodes()).filter(is_beside).map(nearest).collect();
        let level = |level| {
            let child = |index: usize| (places[index] as Node, places[(index - 1) / 2] as Node);
            tree.level(level).map(child).collect()
        };
        Stages {
            beside: beside.len(),
            up: std::iter::once(beside)
                .chain((1..tree.levels()).rev().map(level))
                .collect(),
        }
    }

    /// How many nodes are not of the tree.
    pub fn beside(&self) -> usize {
        self.beside
    }

    /// The stages up, each pair from whom to whom.
    pub fn up(&self) -> impl Iterator<Item = Vec<(Node, Node)>> + '_ {
        self.up.iter().cloned()
    }

    /// The stages down.
    pub fn down(&self) -> impl Iterator<Item = Vec<(Node, Node)>> + '_ {
        let turned = |stage: &Vec<(Node, Node)>| stage.iter().map(|&(from, to)| (to, from)).collect();
        self.up.iter().rev().map(turned)
    }
}
