//! What the boards say of themselves and of those at their links.

use std::collections::BTreeMap;

use hopwise_host::talk::{Talk, ask_nodes, read};
use hopwise_node::wire::{BoardState, Command, LinkFault, LinkReport, NodeReport, Query, Status};
use serde::Serialize;

use super::mesh::Mesh;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Of the expression of its network.
    pub network: u32,
    pub address: u64,
    /// The number of the link at its board.
    pub link: usize,
    pub host: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stranger {
    Key,
    /// They speak different versions of the wire format.
    Version,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkSeen {
    pub peer: Option<Peer>,
    /// The other end hears this one, too.
    pub up: bool,
    pub stranger: Option<Stranger>,
    /// How often its serial port found bytes without a stop bit, noise, and bytes that nobody had fetched in time.
    pub errors: [u32; 3],
    /// Its rate; 0 if the board does not say.
    pub baud: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardSeen {
    /// Of the expression of its network.
    pub network: u32,
    /// What kind of board it says it is; `None` if it did not say.
    pub kind: Option<String>,
    /// What it sees at its links, by number.
    pub links: Vec<LinkSeen>,
}

/// The boards that answered, by address.
pub type Seen = BTreeMap<u64, BoardSeen>;

/// Asks all nodes of a list who they are and whom they see.
pub fn survey(talk: &mut dyn Talk, mesh: &Mesh, nodes: &[u64]) -> Seen {
    let mut seen = Seen::new();
    for (node, reply) in nodes.iter().zip(ask_nodes(talk, nodes, Query::Identity, &[])) {
        if let Some(report) = read::<NodeReport>(&reply) {
            let links = usize::from(report.links).min(mesh.kind_of(*node).links.len());
            let board = BoardSeen {
                network: report.network,
                kind: None,
                links: vec![LinkSeen::default(); links],
            };
            seen.insert(*node, board);
        }
    }
    let there: Vec<u64> = seen.keys().copied().collect();
    for (node, reply) in there.iter().zip(ask_nodes(talk, &there, Command::Status.query(), &[])) {
        let status: Option<Status> = read(&reply);
        let board = seen.get_mut(node);
        if let Some((board, status)) = board.zip(status.filter(|status| status.state == BoardState::Configured)) {
            board.kind = Some(status.board.to_string());
        }
    }
    let links = mesh.kinds().iter().map(|kind| kind.links.len()).max().unwrap_or(0);
    for link in 0..links {
        for (node, reply) in there.iter().zip(ask_nodes(talk, &there, Query::Link, &[link as u8])) {
            let report: Option<LinkReport> = read(&reply).flatten();
            let place = seen.get_mut(node).and_then(|board| board.links.get_mut(link));
            if let Some((place, report)) = place.zip(report) {
                *place = link_seen(&report);
            }
        }
    }
    seen
}

/// A link whose serial port has found something wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LineErrors {
    pub node: u64,
    pub uart: &'static str,
    /// How often the line fell quiet after bytes without a stop bit,
    pub framing_errors: u32,
    /// after noise,
    pub noise_errors: u32,
    /// and after bytes that nobody had fetched in time.
    pub overruns: u32,
}

pub fn line_errors(seen: &Seen, mesh: &Mesh) -> Vec<LineErrors> {
    let mut list = Vec::new();
    for (node, board) in seen {
        let links = board.links.iter().zip(&mesh.kind_of(*node).links);
        for (link, uart) in links.filter(|(link, _)| link.errors != [0; 3]) {
            let [framing_errors, noise_errors, overruns] = link.errors;
            list.push(LineErrors {
                node: *node,
                uart: uart.name,
                framing_errors,
                noise_errors,
                overruns,
            });
        }
    }
    list
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LinkRate {
    pub node: u64,
    pub uart: &'static str,
    /// In bits a second.
    pub baud: u32,
}

/// The rates of all links to boards that are up, of boards that say them.
pub fn link_rates(seen: &Seen, mesh: &Mesh) -> Vec<LinkRate> {
    let of_board = |(node, board): (&u64, &BoardSeen)| {
        let (node, links) = (*node, board.links.clone().into_iter().zip(&mesh.kind_of(*node).links));
        let up = links.filter(|(link, _)| link.up && link.baud > 0 && link.peer.is_some_and(|peer| !peer.host));
        up.map(move |(link, uart)| LinkRate {
            node,
            uart: uart.name,
            baud: link.baud,
        })
    };
    seen.iter().flat_map(of_board).collect()
}

fn link_seen(report: &LinkReport) -> LinkSeen {
    LinkSeen {
        // A board without a config says network 0, and is no node yet.
        peer: report
            .peer
            .filter(|(network, ..)| *network != 0 || report.host)
            .map(|(network, address, link)| Peer {
                network,
                address,
                link: usize::from(link),
                host: report.host,
            }),
        up: report.up,
        stranger: match report.fault {
            LinkFault::None | LinkFault::OneWay => None,
            LinkFault::Unkeyed | LinkFault::WrongKey => Some(Stranger::Key),
            LinkFault::Version => Some(Stranger::Version),
        },
        errors: [
            report.counters.framing_errors,
            report.counters.noise_errors,
            report.counters.overruns,
        ],
        baud: report.baud,
    }
}
