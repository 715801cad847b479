//! The neighbor at each link.
//!
//! Cables may be plugged in any order: hello tells the identity of the other end.

use crate::capacities::{Capacities, List};
use hopwise_core::{Network, Node};

#[derive(Clone, Debug)]
pub(in crate::router) struct Wiring<C: Capacities> {
    /// The neighbors, in the order of the ports.
    neighbors: C::Links<Node>,
    /// The link to each neighbor, if there is one that is open.
    links: C::PerLink<Option<u8>>,
}

impl<C: Capacities> Wiring<C> {
    /// The neighbors of a node; `None` if there are more than `links`.
    pub(in crate::router) fn of(network: &Network, here: Node, links: usize) -> Option<Self> {
        let mut neighbors = C::Links::default();
        for neighbor in network.neighbors(here).ok()?.take(C::SIZES.links + 1) {
            neighbors.push(neighbor).ok()?;
        }
        (neighbors.len() <= links).then_some(Wiring {
            neighbors,
            links: C::PerLink::default(),
        })
    }

    /// Whether a node is a neighbor to which no link is open.
    pub(in crate::router) fn misses(&self, node: Node) -> bool {
        self.ports().any(|(neighbor, link)| neighbor == node && link.is_none())
    }

    /// A link to a neighbor is open.
    pub(in crate::router) fn attach(&mut self, link: u8, found: Node) {
        let port = self.neighbors.iter().position(|&neighbor| neighbor == found);
        if let Some(place) = port.and_then(|port| self.links.get_mut(port)) {
            *place = Some(link);
        }
    }

    /// The expected neighbor of a miswired link: that of the link's number if it is missing, or else the first missing one.
    pub(in crate::router) fn expected(&self, link: u8) -> Option<Node> {
        let own = self.ports().nth(link.into());
        let missing = own.into_iter().chain(self.ports()).find(|(_, link)| link.is_none());
        missing.map(|(neighbor, _)| neighbor)
    }

    /// Removes a link that is down, and returns its port, if it had one.
    pub(in crate::router) fn detach(&mut self, link: u8) -> Option<u8> {
        let port = self.links.iter().position(|&at| at == Some(link))?;
        *self.links.get_mut(port)? = None;
        Some(port as u8)
    }

    pub(in crate::router) fn link_to(&self, neighbor: Node) -> Option<u8> {
        let port = self.neighbors.iter().position(|&node| node == neighbor)?;
        *self.links.get(port)?
    }

    pub(in crate::router) fn neighbor_at(&self, link: u8) -> Option<Node> {
        let port = self.links.iter().position(|&at| at == Some(link))?;
        self.neighbors.get(port).copied()
    }

    /// The neighbors that can be reached, with their links.
    pub(in crate::router) fn live(&self) -> impl Iterator<Item = (Node, u8)> + '_ {
        let pairs = self.neighbors.iter().zip(self.links.iter());
        pairs.filter_map(|(&neighbor, link)| Some((neighbor, (*link)?)))
    }

    /// Every neighbor and its link, if one is open.
    pub(in crate::router) fn ports(&self) -> impl Iterator<Item = (Node, Option<u8>)> + '_ {
        self.neighbors.iter().copied().zip(self.links.iter().copied())
    }
}

#[cfg(test)]
pub(in crate::router) mod tests {
    use super::*;
    use crate::capacities::Board;

    /// A node with each neighbor at the link of its port, except dead ones.
    pub(in crate::router) fn wired<C: Capacities>(network: &Network, here: Node, dead: &[Node]) -> Wiring<C> {
        let mut wiring = Wiring::of(network, here, C::SIZES.links).unwrap();
        for (link, address) in (0..).zip(network.neighbors(here).unwrap()) {
            if !dead.contains(&address) {
                wiring.attach(link, address);
            }
        }
        wiring
    }

    #[test]
    fn cables_may_be_plugged_in_any_order() {
        let network: Network = "ring(5)".parse().unwrap();
        let mut wiring: Wiring<Board> = Wiring::of(&network, 0, 4).unwrap();
        wiring.attach(3, 1);
        wiring.attach(0, 4);
        assert_eq!((wiring.link_to(1), wiring.link_to(4)), (Some(3), Some(0)));
        assert_eq!((wiring.neighbor_at(3), wiring.neighbor_at(1)), (Some(1), None));
        let port = wiring.detach(3);
        assert_eq!(wiring.link_to(1), None);
        assert_eq!(wiring.ports().nth(usize::from(port.unwrap())), Some((1, None)));
        assert_eq!(wiring.detach(3), None);
    }

    #[test]
    fn who_is_missed_and_where() {
        let network: Network = "ring(5)".parse().unwrap();
        let mut wiring: Wiring<Board> = wired(&network, 0, &[4]);
        assert!(wiring.misses(4) && !wiring.misses(1) && !wiring.misses(2));
        for link in [0, 1, 3, 200] {
            assert_eq!(wiring.expected(link), Some(4));
        }
        wiring.detach(0);
        assert_eq!([0, 1, 3].map(|link| wiring.expected(link)), [Some(1), Some(4), Some(1)]);
        wiring.attach(2, 3);
        assert_eq!(wiring.neighbor_at(2), None, "no neighbor");
        assert!(Wiring::<Board>::of(&network, 0, 1).is_none());
    }
}
