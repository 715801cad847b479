//! The tree of a broadcast, seen from one node: to whom copies go, who is cut off, and who is reached in place of a dead node.

use heapless::Vec;

use super::wiring::Wiring;
use crate::{Network, Node, Port};

/// Children of a node in the tree of a broadcast that are still to be reached by detours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CutOff {
    /// Whose children they are: of the node that holds the broadcast, or of one that is dead.
    parent: Node,
    /// By which ports of the parent: bit 0 is port 0.
    ports: u32,
}

impl CutOff {
    pub(super) const NONE: CutOff = CutOff { parent: 0, ports: 0 };

    /// All children of a node.
    pub(super) fn children_of(network: &Network, parent: Node, source: Node) -> Self {
        let fanout = network.fanout(parent, source);
        let ports = fanout.map_or(0, |fanout| fanout.fold(0, |ports, (port, _)| ports | bit(port)));
        CutOff { parent, ports }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ports == 0
    }

    pub(super) fn len(&self) -> u32 {
        self.ports.count_ones()
    }

    /// The set is a node's own from now on. Should it have been that of a dead node, of which this node is a child, those who are
    /// left in it are taken for this node's children: the set has one parent.
    pub(super) fn make_own(&mut self, here: Node) {
        self.parent = here;
    }

    /// The child at a port of the parent is cut off.
    pub(super) fn add(&mut self, port: u8) {
        self.ports |= bit(port.into());
    }

    /// Takes the child of the lowest port out; `None` if there is none.
    pub(super) fn take_first(&mut self, network: &Network) -> Option<Node> {
        let port = self.ports.trailing_zeros();
        self.ports &= self.ports.checked_sub(1)?;
        self.child(network, port)
    }

    /// Takes the next child out; `None` if there is none. Should `here` be among them, it comes last: the slot is then free for
    /// its own children.
    pub(super) fn take_next(&mut self, network: &Network, here: Node) -> Option<Node> {
        let lowest = self.ports.trailing_zeros();
        let others = self.ports & self.ports.checked_sub(1)?;
        let port = if others != 0 && self.child(network, lowest) == Some(here) {
            others.trailing_zeros()
        } else {
            lowest
        };
        self.ports &= !(1_u32.checked_shl(port)?);
        self.child(network, port)
    }

    /// One of them is given up; `false` if there is none.
    pub(super) fn drop_one(&mut self) -> bool {
        let Some(before) = self.ports.checked_sub(1) else {
            return false;
        };
        self.ports &= before;
        true
    }

    fn child(&self, network: &Network, port: u32) -> Option<Node> {
        network.neighbor(self.parent, Port::from(port)).ok().flatten()
    }
}

/// The set of one port.
fn bit(port: Port) -> u32 {
    u32::try_from(port)
        .ok()
        .and_then(|port| 1_u32.checked_shl(port))
        .unwrap_or(0)
}

/// Where a broadcast goes from a node.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Branches<const PORTS: usize> {
    /// Links to children, in the order in which to send.
    pub(super) links: Vec<u8, PORTS>,
    /// Children whose link is dead.
    pub(super) cut_off: Vec<u8, PORTS>,
}

impl<const PORTS: usize> Branches<PORTS> {
    pub(super) fn of(network: &Network, here: Node, source: Node, wiring: &Wiring<PORTS>) -> Self {
        let mut branches = Branches {
            links: Vec::new(),
            cut_off: Vec::new(),
        };
        let Ok(fanout) = network.fanout(here, source) else {
            return branches;
        };
        for (port, child) in fanout {
            // There is room: a node has no more neighbours than links.
            let _ = match wiring.link_to(child) {
                Some(link) => branches.links.push(link),
                None => branches.cut_off.push(port as u8),
            };
        }
        branches
    }

    /// How many children there are.
    pub(super) fn len(&self) -> u32 {
        (self.links.len() + self.cut_off.len()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::wiring::tests::wired;
    use super::*;
    use std::vec::Vec as List;

    #[test]
    fn children_behind_dead_links_are_cut_off() {
        let network: Network = "hypercube(3)".parse().unwrap();
        let all = Branches::of(&network, 0, 0, &wired::<6>(&network, 0, &[]));
        assert_eq!((all.links.len(), all.cut_off.len(), all.len()), (3, 0, 3));
        let some = Branches::of(&network, 0, 0, &wired::<6>(&network, 0, &[2]));
        assert_eq!((some.links.len(), &some.cut_off[..]), (2, &[1][..]));
        assert!(some.links.iter().all(|link| all.links.contains(link)));
    }

    /// Every node is passed a broadcast by exactly one parent, whose child it is.
    #[test]
    fn the_children_of_all_nodes_are_all_other_nodes() {
        for expression in ["hypercube(3)", "torus(3,4)", "rdn(ring(3),1)", "heawood"] {
            let network: Network = expression.parse().unwrap();
            let mut children: List<Node> = List::new();
            for node in 0..network.nodes() {
                let mut set = CutOff::children_of(&network, node, 5);
                for left in (0..set.len()).rev() {
                    children.push(set.take_first(&network).unwrap());
                    assert_eq!(set.len(), left);
                }
                assert!(set.is_empty() && set.take_first(&network).is_none());
            }
            children.sort_unstable();
            let others: List<Node> = (0..network.nodes()).filter(|&node| node != 5).collect();
            assert_eq!(children, others, "{expression}");
        }
    }

    #[test]
    fn this_node_comes_last_among_the_children_of_a_dead_one() {
        let network: Network = "star(5)".parse().unwrap();
        let all = CutOff::children_of(&network, 0, 0);
        assert_eq!(all.len(), 4);
        for here in 1..5 {
            let mut left = all;
            let order: List<Node> = core::iter::from_fn(|| left.take_next(&network, here)).collect();
            assert_eq!(order.len(), 4);
            assert_eq!(order.last(), Some(&here));
        }
    }

    #[test]
    fn one_after_the_other_can_be_given_up() {
        let mut set = CutOff::NONE;
        set.add(0);
        set.add(4);
        assert!(set.drop_one() && set.len() == 1 && set.drop_one() && !set.drop_one());
    }
}
