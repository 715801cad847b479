//! Up and down a spanning tree.

use crate::arith::narrow;
use crate::collective::Ports;
use crate::network::{Fanout, Network};
use crate::topology::{NoSuchNode, Node, Topology, Tree as Branches};

/// The spanning tree of the root's broadcast, with the round in which it reaches each node.
///
/// With one port it is the tree of [fewest steps](Branches::FewestSteps), with all ports that of
/// [least depth](Branches::LeastDepth). The way up is the way down in reverse: in one-port rounds no node receives two messages at once,
/// since none sends two at once on the way down.
///
/// A query costs O(depth) fan-outs and no memory.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    network: &'a Network,
    root: Node,
    ports: Ports,
}

impl<'a> Tree<'a> {
    /// The tree with this root.
    pub fn new(network: &'a Network, root: Node, ports: Ports) -> Result<Self, NoSuchNode> {
        network.check(root)?;
        Ok(Tree::of_checked(network, root, ports))
    }

    pub(super) fn of_checked(network: &'a Network, root: Node, ports: Ports) -> Self {
        Tree { network, root, ports }
    }

    /// The root.
    pub fn root(&self) -> Node {
        self.root
    }

    fn branches(&self) -> Branches {
        match self.ports {
            Ports::One => Branches::FewestSteps,
            Ports::All => Branches::LeastDepth,
        }
    }

    /// The neighbors that a node forwards to, in sending order.
    pub fn children(&self, node: Node) -> Result<Fanout<'a>, NoSuchNode> {
        self.network.fanout_by(node, self.root, self.branches())
    }

    /// The neighbor that forwards a broadcast of the root to a node; `None` for the root.
    pub fn parent(&self, node: Node) -> Result<Option<Node>, NoSuchNode> {
        if node == self.network.check(self.root)? {
            return Ok(None);
        }
        let mut neighbors = self.network.neighbors(node)?;
        Ok(neighbors.find(|&neighbor| self.tells(neighbor, node)))
    }

    fn tells(&self, teller: Node, node: Node) -> bool {
        let family = self.network.family();
        let (Some(teller), Some(node), Some(root)) = (narrow(teller), narrow(node), narrow(self.root)) else {
            return false;
        };
        family.port_to(teller, node).is_some_and(|port| match self.ports {
            Ports::All => family.passes_on(teller, port, root),
            Ports::One => family.fewest_steps_send_priority(teller, port, root).is_some(),
        })
    }

    /// The rounds after which the broadcast has reached a node: 0 for the root.
    pub fn told(&self, node: Node) -> Result<u64, NoSuchNode> {
        let (mut rounds, mut here) = (0, self.network.check(node)?);
        // No path in a tree has more links than there are nodes.
        for _ in 0..self.network.nodes() {
            let Some(parent) = self.parent(here)? else { break };
            let waits = match self.ports {
                Ports::All => 0,
                Ports::One => self.children(parent)?.take_while(|&(_, child)| child != here).count() as u64,
            };
            rounds += waits + 1;
            here = parent;
        }
        Ok(rounds)
    }

    /// The rounds of the way down or up. Takes O(nodes) queries and no memory. Boards, which wait for each other and do not count
    /// rounds, never need it.
    pub fn rounds(&self) -> u64 {
        let told = |node| self.told(node).unwrap_or(0);
        (0..self.network.nodes()).map(told).max().unwrap_or(0)
    }

    /// The largest number of children: the rounds after which the next block of a long message can follow, in the one-port
    /// model. O(nodes), as [`rounds`](Self::rounds).
    pub fn period(&self) -> u64 {
        match self.ports {
            Ports::All => 1,
            Ports::One => {
                let children = |node| self.children(node).map_or(0, |children| children.count() as u64);
                (0..self.network.nodes()).map(children).max().unwrap_or(0).max(1)
            }
        }
    }

    /// The network that the tree spans.
    pub fn network(&self) -> &'a Network {
        self.network
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_but_the_root_is_told_once_by_its_parent() {
        for expression in hopwise_testing::networks("told_by_trees") {
            let network: Network = expression.parse().unwrap();
            for ports in [Ports::One, Ports::All] {
                let tree = Tree::new(&network, 3, ports).unwrap();
                let mut tellers = std::vec![std::vec::Vec::new(); network.nodes() as usize];
                for node in 0..network.nodes() {
                    tree.children(node)
                        .unwrap()
                        .for_each(|(_, child)| tellers[child as usize].push(node));
                }
                for (node, tellers) in tellers.iter().enumerate() {
                    let parent = tree.parent(node as u64).unwrap();
                    assert_eq!(tellers.len(), usize::from(node != 3), "{expression}, {ports:?}, {node}");
                    assert_eq!(parent, tellers.first().copied(), "{expression}, {ports:?}, {node}");
                }
            }
        }
    }

    #[test]
    fn the_dual_net_is_told_in_the_rounds_of_its_paper() {
        let network: Network = "rdn(ring(3),2)".parse().unwrap();
        assert_eq!(Tree::new(&network, 0, Ports::One).unwrap().rounds(), 14);
        assert_eq!(Tree::new(&network, 0, Ports::All).unwrap().rounds(), 10);
    }
}
