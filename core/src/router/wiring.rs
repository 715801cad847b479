//! Which neighbour is at which link.
//!
//! Cables may be plugged in any order: hello tells who is there.

use heapless::Vec;

use crate::wire::Identity;
use crate::{Network, Node};

#[derive(Clone, Debug)]
pub(super) struct Wiring<const PORTS: usize> {
    /// The neighbours, in the order of the ports.
    neighbors: Vec<Node, PORTS>,
    /// The link to each neighbour, if there is one that is up.
    links: [Option<u8>; PORTS],
}

/// Who should be at a link where someone else is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) expected: Option<Node>,
}

impl<const PORTS: usize> Wiring<PORTS> {
    /// The neighbours of a node; `None` if there are more than `links`.
    pub(super) fn of(network: &Network, here: Node, links: usize) -> Option<Self> {
        let mut neighbors = Vec::new();
        for neighbor in network.neighbors(here).ok()?.take(PORTS + 1) {
            neighbors.push(neighbor).ok()?;
        }
        (neighbors.len() <= links).then_some(Wiring {
            neighbors,
            links: [None; PORTS],
        })
    }

    /// A link leads to a neighbour, if it is one and not reached already.
    pub(super) fn attach(&mut self, link: u8, network: u32, found: &Identity) -> Result<(), Wrong> {
        let port = self.neighbors.iter().position(|&neighbor| neighbor == found.address);
        let free = |port: &usize| self.links.get(*port) == Some(&None);
        match port.filter(free).filter(|_| found.network == network) {
            Some(port) => {
                if let Some(place) = self.links.get_mut(port) {
                    *place = Some(link);
                }
                Ok(())
            }
            None => {
                let expected = [usize::from(link)].into_iter().chain(0..self.neighbors.len());
                let missing = expected.filter(free).find_map(|port| self.neighbors.get(port));
                Err(Wrong {
                    expected: missing.copied(),
                })
            }
        }
    }

    /// A link is down: the port it led to, if it led to one.
    pub(super) fn detach(&mut self, link: u8) -> Option<u8> {
        let port = self.links.iter().position(|&at| at == Some(link))?;
        *self.links.get_mut(port)? = None;
        Some(port as u8)
    }

    /// The link that leads to a neighbour, if it is up.
    pub(super) fn link_to(&self, neighbor: Node) -> Option<u8> {
        let port = self.neighbors.iter().position(|&node| node == neighbor)?;
        *self.links.get(port)?
    }

    /// The neighbour at a link that is up.
    pub(super) fn neighbor_at(&self, link: u8) -> Option<Node> {
        let port = self.links.iter().position(|&at| at == Some(link))?;
        self.neighbors.get(port).copied()
    }

    /// The neighbours that can be reached, with their links.
    pub(super) fn live(&self) -> impl Iterator<Item = (Node, u8)> + '_ {
        let pairs = self.neighbors.iter().zip(&self.links);
        pairs.filter_map(|(&neighbor, link)| Some((neighbor, (*link)?)))
    }

    /// Every neighbour and its link, if that is up.
    pub(super) fn ports(&self) -> impl Iterator<Item = (Node, Option<u8>)> + '_ {
        self.neighbors.iter().copied().zip(self.links.iter().copied())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wire::Role;

    pub(super) fn neighbor(network: &Network, address: Node) -> Identity {
        Identity {
            role: Role::Node,
            network: network.id(),
            address,
            port: 0,
            epoch: 1,
            largest: 255,
        }
    }

    /// A node whose neighbours are at the links of their ports, but for those that are dead.
    pub(in super::super) fn wired<const PORTS: usize>(network: &Network, here: Node, dead: &[Node]) -> Wiring<PORTS> {
        let mut wiring = Wiring::of(network, here, PORTS).unwrap();
        for (link, address) in (0..).zip(network.neighbors(here).unwrap()) {
            if !dead.contains(&address) {
                wiring.attach(link, network.id(), &neighbor(network, address)).unwrap();
            }
        }
        wiring
    }

    #[test]
    fn cables_may_be_plugged_in_any_order() {
        let network: Network = "ring(5)".parse().unwrap();
        let mut wiring: Wiring<4> = Wiring::of(&network, 0, 4).unwrap();
        assert_eq!(wiring.attach(3, network.id(), &neighbor(&network, 1)), Ok(()));
        assert_eq!(wiring.attach(0, network.id(), &neighbor(&network, 4)), Ok(()));
        assert_eq!((wiring.link_to(1), wiring.link_to(4)), (Some(3), Some(0)));
        assert_eq!((wiring.neighbor_at(3), wiring.neighbor_at(1)), (Some(1), None));
        let port = wiring.detach(3);
        assert_eq!(wiring.link_to(1), None);
        assert_eq!(wiring.ports().nth(usize::from(port.unwrap())), Some((1, None)));
        assert_eq!(wiring.detach(3), None);
    }

    #[test]
    fn strangers_and_second_cables_are_refused() {
        let network: Network = "ring(5)".parse().unwrap();
        let mut wiring: Wiring<4> = wired(&network, 0, &[4]);
        let wrong =
            |wiring: &mut Wiring<4>, id, address| wiring.attach(3, id, &neighbor(&network, address)).unwrap_err();
        assert_eq!(wrong(&mut wiring, network.id(), 2).expected, Some(4));
        assert_eq!(wrong(&mut wiring, network.id(), 1).expected, Some(4));
        assert_eq!(wrong(&mut wiring, network.id() ^ 1, 4).expected, Some(4));
        assert!(Wiring::<1>::of(&network, 0, 1).is_none());
    }
}
