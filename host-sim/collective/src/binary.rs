//! Up and down a complete binary tree that is embedded in the network. Nodes that are not of the tree belong to the nearest that is.

use hopwise_core::collective::Operation;
use hopwise_core::{Network, Node};
use hopwise_networks::binary_tree::{self, BinaryTree};
use hopwise_networks::distances::hops_from;
use hopwise_networks::graph::Graph;

use crate::machine::{Conflict, Machine};
use crate::operation::{Job, too_large};
use crate::outcome::Outcome;
use crate::route::Item;
use crate::tree::Partial;
use crate::{CannotRun, MAX_TREE_NODES, Request, refused};

/// Who sends to whom on the way up, one stage after the other; each is done when all have arrived.
pub(crate) struct Stages {
    /// The nodes beside the tree, with those they belong to; then the levels of the tree from the lowest, children with parents.
    up: Vec<Vec<(Node, Node)>>,
    pub(crate) beside: usize,
}

impl Stages {
    pub(crate) fn of(tree: &BinaryTree, graph: &Graph) -> Self {
        let places = &tree.places;
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

    fn down(&self) -> impl Iterator<Item = Vec<(Node, Node)>> + '_ {
        let turned = |stage: &Vec<(Node, Node)>| stage.iter().map(|&(from, to)| (to, from)).collect();
        self.up.iter().rev().map(turned)
    }
}

pub(crate) fn embedded(network: &Network, graph: &Graph, request: &Request) -> Result<BinaryTree, CannotRun> {
    let operation = request.operation;
    if !matches!(
        (operation, request.blocks),
        (Operation::Reduce, _) | (Operation::Broadcast, 1)
    ) {
        let name = operation.name();
        return Err(refused(format!(
            "a binary tree serves reduce, and broadcast of one block, not {name}"
        )));
    }
    if network.nodes() > MAX_TREE_NODES {
        return Err(too_large(network, "anything along a binary tree", MAX_TREE_NODES));
    }
    let (levels, root) = (binary_tree::levels(graph.nodes()), request.root);
    BinaryTree::embed(graph, Some(root as usize)).ok_or_else(|| {
        refused(format!(
            "no complete binary tree of {levels} levels with its root at node {root} and dilation 2 was found in {network}"
        ))
    })
}

impl Job<'_> {
    pub(crate) fn along_binary_tree(&self, machine: &mut Machine, stages: &Stages) -> Result<Outcome, Conflict> {
        let root = self.request.root;
        let mut held = self.request.values.clone();
        if self.request.operation == Operation::Broadcast {
            for stage in stages.down() {
                let from = self.send_along(machine, &stage, |node| held[node as usize], |_| 8)?;
                from.into_iter().for_each(|(to, value)| held[to as usize] = value);
            }
            return Ok(Outcome::One(held));
        }
        let mut parts = self.partials();
        for stage in &stages.up {
            let from = self.send_along(machine, stage, |node| parts[node as usize].clone(), Partial::bytes)?;
            from.into_iter().for_each(|(to, part)| parts[to as usize].join(part));
        }
        held[root as usize] = parts[root as usize].total().ok_or(machine.lacks(root))?;
        Ok(Outcome::One(held))
    }

    /// What nodes send to others over routes; what arrived, and where.
    fn send_along<T: Clone>(
        &self,
        machine: &mut Machine,
        stage: &[(Node, Node)],
        body: impl Fn(Node) -> T,
        bytes: impl Fn(&T) -> u64,
    ) -> Result<Vec<(Node, T)>, Conflict> {
        let mut items: Vec<Vec<Item<T>>> = vec![Vec::new(); self.nodes()];
        for &(from, to) in stage {
            items[from as usize].push(Item { to, body: body(from) });
        }
        let arrived = self.route(machine, items, bytes)?;
        let with_place = |(to, items): (Node, Vec<T>)| items.into_iter().map(move |item| (to, item));
        Ok((0..).zip(arrived).flat_map(with_place).collect())
    }
}
