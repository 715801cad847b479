//! The tree of a broadcast, seen from one node: to whom copies go, who is cut off, and who is reached in place of a dead node.

use heapless::Vec;

use super::wiring::Wiring;
use crate::{Network, Node, Port};

/// So many groups of siblings can be cut off at once: a node's own children, those of a dead child, of a dead grandchild, and of one
/// more. A chain of dead nodes needs a group only where siblings are still to be reached.
const GROUPS: usize = 4;

/// Nodes in the tree of a broadcast that are still to be reached by detours: groups of siblings, of which the last is reached first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CutOff {
    /// Whose children a group is: of the node that holds the broadcast, or of one that is dead.
    parents: [Node; GROUPS],
    /// By which ports of the parent: bit 0 is port 0. Behind the last group all are empty.
    ports: [u32; GROUPS],
}

impl CutOff {
    pub(super) const NONE: CutOff = CutOff {
        parents: [0; GROUPS],
        ports: [0; GROUPS],
    };

    pub(super) fn is_empty(&self) -> bool {
        self.ports == [0; GROUPS]
    }

    pub(super) fn len(&self) -> u32 {
        self.ports.iter().map(|ports| ports.count_ones()).sum()
    }

    /// The child at a port of a node is cut off. `false` if there is no room for another group.
    pub(super) fn add(&mut self, parent: Node, port: u8) -> bool {
        let mut groups = self.parents.iter().zip(&mut self.ports);
        match groups.find(|(of, ports)| **of == parent && **ports != 0) {
            Some((_, ports)) => {
                *ports |= bit(port.into());
                true
            }
            None => self.push(parent, bit(port.into())),
        }
    }

    /// All children of a dead node are cut off: how many these are, and whether there was room for them.
    pub(super) fn add_children_of(&mut self, network: &Network, parent: Node, source: Node) -> (u32, bool) {
        let fanout = network.fanout(parent, source);
        let ports = fanout.map_or(0, |fanout| fanout.fold(0, |ports, (port, _)| ports | bit(port)));
        (ports.count_ones(), ports == 0 || self.push(parent, ports))
    }

    fn push(&mut self, parent: Node, ports: u32) -> bool {
        let place = self.last_group().map_or(0, |last| last + 1);
        match (self.parents.get_mut(place), self.ports.get_mut(place)) {
            (Some(parent_of_group), Some(ports_of_group)) => {
                *parent_of_group = parent;
                *ports_of_group = ports;
                true
            }
            _ => false,
        }
    }

    fn last_group(&self) -> Option<usize> {
        self.ports.iter().rposition(|&ports| ports != 0)
    }

    /// Takes the next node out; `None` if there is none.
    pub(super) fn take_next(&mut self, network: &Network) -> Option<Node> {
        let last = self.last_group()?;
        let (parent, ports) = (self.parents.get(last)?, self.ports.get_mut(last)?);
        let port = ports.trailing_zeros();
        *ports &= ports.checked_sub(1)?;
        network.neighbor(*parent, Port::from(port)).ok().flatten()
    }

    /// One of them is given up; `false` if there is none.
    pub(super) fn drop_one(&mut self) -> bool {
        let last = self.last_group().and_then(|last| self.ports.get_mut(last));
        let Some((ports, before)) = last.and_then(|ports| ports.checked_sub(1).map(|before| (ports, before))) else {
            return false;
        };
        *ports &= before;
        true
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
                let mut set = CutOff::NONE;
                assert_eq!(set.add_children_of(&network, node, 5), (set.len(), true));
                for left in (0..set.len()).rev() {
                    children.push(set.take_next(&network).unwrap());
                    assert_eq!(set.len(), left);
                }
                assert!(set.is_empty() && set.take_next(&network).is_none());
            }
            children.sort_unstable();
            let others: List<Node> = (0..network.nodes()).filter(|&node| node != 5).collect();
            assert_eq!(children, others, "{expression}");
        }
    }

    /// Children of a dead node come before the siblings of that node, and none is mistaken for a child of another.
    #[test]
    fn groups_keep_their_parents() {
        let network: Network = "hypercube(4)".parse().unwrap();
        let mut set = CutOff::NONE;
        assert!(set.add(0, 1) && set.add(0, 2) && set.add(0, 3));
        assert_eq!(set.take_next(&network), Some(2));
        // Node 2 is dead: who would have got it from there comes next.
        let (count, room) = set.add_children_of(&network, 2, 0);
        let children: List<Node> = network.fanout(2, 0).unwrap().map(|(_, child)| child).collect();
        assert_eq!((count as usize, room), (children.len(), true));
        let next: List<Node> = (0..count).map(|_| set.take_next(&network).unwrap()).collect();
        assert!(children.iter().all(|child| next.contains(child)), "{next:?}");
        // This node's own links go on dying meanwhile.
        assert!(set.add(0, 0));
        assert_eq!([(); 3].map(|()| set.take_next(&network)), [Some(1), Some(4), Some(8)]);
        assert_eq!(set.take_next(&network), None);
    }

    #[test]
    fn groups_without_room_are_refused() {
        let mut set = CutOff::NONE;
        for parent in 0..GROUPS as u64 {
            assert!(set.add(parent, 0));
        }
        assert!(set.add(0, 1) && !set.add(9, 0));
        assert_eq!(set.len(), GROUPS as u32 + 1);
    }

    #[test]
    fn one_after_the_other_can_be_given_up() {
        let mut set = CutOff::NONE;
        assert!(set.add(3, 0) && set.add(7, 4));
        assert!(set.drop_one() && set.len() == 1 && set.drop_one() && !set.drop_one());
    }
}
