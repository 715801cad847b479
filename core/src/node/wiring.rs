//! Which neighbour is at which link.
//!
//! Cables may be plugged in any order: hello tells who is there.

use heapless::Vec;

use crate::link::Identity;
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
