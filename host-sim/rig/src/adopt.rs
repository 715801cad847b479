//! Boards without a config, wired anyhow: explores how they are wired, and gives each its config, through the serial port of one of them.
//!
//! Nothing that a single board says is enough: a cable counts only if the boards at both of its ends were reached through it, and name each
//! other. Whatever boards do, the number of boards, the number of requests for each and the time are limited.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use hopwise_boards::{BoardKind, kind};
use hopwise_core::Network;
use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::limits::BODY;
use hopwise_node::wire::{
    BoardConfig, BoardState, Body, CONFIG_BYTES, Command, CommandResult, LinkFault, LinkReport, Query, RELAY_HERE,
    Request, Status, read_structure, relay_arrivals, relay_request,
};

use crate::mesh::{BrokenRule, Mesh};
use crate::update::{Boards, CannotChange, confirm_configs, hex};

/// More boards than this are not explored.
pub const MAX_BOARDS: usize = 1_024;
/// A request that is not answered is sent this often.
const TRIES: usize = 3;
/// After this, exploring ends with what there is.
const EXPLORE_WITHIN: Duration = Duration::from_secs(600);
/// How often everything is explored, if cables are moved or boards restart meanwhile.
const EXPLORATIONS: usize = 3;
/// Between two attempts, for what is only a moment.
const PAUSE: Duration = Duration::from_millis(300);

type UniqueId = [u8; 12];

/// A link of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Socket {
    /// In the order in which boards are found.
    pub board: usize,
    pub link: usize,
}

#[derive(Clone, Debug)]
pub struct FoundBoard {
    pub unique_id: UniqueId,
    pub kind: &'static BoardKind,
    /// The links at which requests are relayed to it.
    route: Vec<u8>,
    /// Where its cables lead, by link.
    cables: BTreeMap<usize, Socket>,
}

/// What was found. Board 0 is the one at the host.
#[derive(Clone, Debug)]
pub struct Explored {
    pub boards: Vec<FoundBoard>,
    /// What else was noticed, in sentences.
    pub remarks: Vec<String>,
    /// Why what was found cannot be all, or cannot be true.
    pub doubts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotAdopt {
    #[error("the board at the port does not relay: its firmware is older than `hopwise adopt`, flash it again")]
    NoRelay,
    #[error("the board at the port has a config and is part of a mesh already: only boards without one are adopted")]
    Configured,
    #[error("board {board} is a {name:?}, of which this hopwise knows nothing")]
    UnknownKind { board: usize, name: String },
    #[error("the route to board {0} is too long to bring it a config of this network")]
    TooFar(usize),
    #[error("board {0} takes no config: it has a key, and only a host with its owner's key may give it one")]
    HasKey(usize),
    #[error("board {0} is not where it was: cables were moved; within a minute all boards are without a config again")]
    Moved(usize),
    #[error("board {board} does not take its config: {result:?}")]
    Refused { board: usize, result: CommandResult },
    #[error(transparent)]
    Change(#[from] CannotChange),
    #[error("the mesh file would break a rule: {0}")]
    Mesh(#[from] BrokenRule),
}

impl fmt::Display for FoundBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, chip {}", self.kind.name, hex(&self.unique_id))
    }
}

/// The response to a relayed request, and the links at which it has arrived on its way; `None` if there is none.
fn ask(boards: &mut dyn Boards, route: &[u8], query: Query, payload: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let more: Body<{ BODY - Request::PREFIX }> = relay_request(route, query, payload)?;
    let request = BoardRequest::new(0, 0, Query::Relay).with(more.to_vec());
    (0..TRIES).find_map(|_| {
        let reply = boards.ask(std::slice::from_ref(&request)).pop().flatten();
        let Some(Reply::Response(bytes)) = reply else {
            return None;
        };
        let (arrivals, response) = relay_arrivals(&bytes)?;
        Some((arrivals.collect(), response.to_vec()))
    })
}

fn ask_status(boards: &mut dyn Boards, route: &[u8]) -> Option<(usize, Status)> {
    let (arrivals, response) = ask(boards, route, Command::Status.query(), &[])?;
    Some((usize::from(*arrivals.last()?), read_structure(&response)?))
}

/// Explores all boards that can be reached, breadth first; again if cables are moved meanwhile. `told` hears of each board and cable as it is
/// found.
pub fn explore(boards: &mut dyn Boards, told: &mut dyn FnMut(&str)) -> Result<Explored, CannotAdopt> {
    let end = boards.elapsed() + EXPLORE_WITHIN;
    let mut found = explore_once(boards, end, told)?;
    for _ in 1..EXPLORATIONS {
        if found.doubts.is_empty() || boards.elapsed() >= end {
            break;
        }
        told("not everything fits together: once more");
        boards.wait(PAUSE);
        found = explore_once(boards, end, told)?;
    }
    Ok(found)
}

fn explore_once(boards: &mut dyn Boards, end: Duration, told: &mut dyn FnMut(&str)) -> Result<Explored, CannotAdopt> {
    let direct = boards
        .ask(&[BoardRequest::command(0, &Command::Status)])
        .pop()
        .flatten();
    let status: Option<Status> = direct.as_ref().and_then(Reply::read);
    if status.is_some_and(|status| status.state == BoardState::Configured) {
        return Err(CannotAdopt::Configured);
    }
    let (_, first) = ask_status(boards, &[]).ok_or(CannotAdopt::NoRelay)?;
    let mut found = Explored {
        boards: Vec::new(),
        remarks: Vec::new(),
        doubts: Vec::new(),
    };
    found.add(&first, Vec::new(), told)?;
    let mut next = 0;
    while next < found.boards.len() {
        if boards.elapsed() >= end {
            let minutes = EXPLORE_WITHIN.as_secs() / 60;
            let doubt = format!("exploring took longer than {minutes} minutes");
            found.doubts.push(doubt);
            break;
        }
        if found.boards.len() > MAX_BOARDS {
            found.doubts.push(format!("there are more than {MAX_BOARDS} boards"));
            break;
        }
        found.look_around(boards, next, told)?;
        next += 1;
    }
    found.confirm();
    Ok(found)
}

impl Explored {
    fn add(&mut self, status: &Status, route: Vec<u8>, told: &mut dyn FnMut(&str)) -> Result<(), CannotAdopt> {
        let board = self.boards.len();
        let unknown = || CannotAdopt::UnknownKind {
            board,
            name: status.board.to_string(),
        };
        let kind = kind(&status.board).ok_or_else(unknown)?;
        let (claimed, links) = (usize::from(status.links), kind.links.len());
        if claimed != links {
            let name = kind.name;
            self.doubts.push(format!(
                "board {board} claims {claimed} links, and a {name} has {links}"
            ));
        }
        let found = FoundBoard {
            unique_id: status.unique_id,
            kind,
            route,
            cables: BTreeMap::new(),
        };
        told(&format!("board {board}: {found}"));
        self.boards.push(found);
        Ok(())
    }

    fn name(&self, end: Socket) -> String {
        let uart = self
            .boards
            .get(end.board)
            .and_then(|board| board.kind.links.get(end.link));
        match uart {
            Some(uart) => format!("{} of board {}", uart.name, end.board),
            None => format!("link {} of board {}", end.link, end.board),
        }
    }

    /// Asks a board about each of its links, and whoever is there.
    fn look_around(
        &mut self,
        boards: &mut dyn Boards,
        board: usize,
        told: &mut dyn FnMut(&str),
    ) -> Result<(), CannotAdopt> {
        let route = self.boards[board].route.clone();
        for link in 0..self.boards[board].kind.links.len().min(usize::from(RELAY_HERE)) {
            let here = Socket { board, link };
            let place = self.name(here);
            let reply = ask(boards, &route, Query::Link, &[link as u8]);
            let report = reply.and_then(|(_, response)| read_structure::<Option<LinkReport>>(&response));
            let Some(report) = report.flatten() else {
                self.doubts
                    .push(format!("board {board} does not say what is at {place}"));
                continue;
            };
            let left_out = match (report.fault, report.peer) {
                (LinkFault::Unkeyed | LinkFault::WrongKey, _) => Some("who is there has another key, or none"),
                (LinkFault::Version, _) => Some("who is there speaks another version of the wire format"),
                (LinkFault::OneWay, _) => Some("the cable carries bytes in one direction only"),
                (LinkFault::None, None) => continue,
                (LinkFault::None, Some(_)) if report.host => Some("a host is there"),
                (LinkFault::None, Some((network, ..))) => {
                    (network != 0).then_some("who is there is part of another mesh")
                }
            };
            if let Some(why) = left_out {
                self.remarks.push(format!("{place}: {why}, and is left out"));
                continue;
            }
            let mut there: Vec<u8> = route.clone();
            there.push(link as u8);
            let Some((far_link, status)) = ask_status(boards, &there) else {
                self.doubts
                    .push(format!("{place}: someone is there, and does not answer"));
                continue;
            };
            let known = self.boards.iter().position(|known| known.unique_id == status.unique_id);
            let far = Socket {
                board: known.unwrap_or(self.boards.len()),
                link: far_link,
            };
            if known.is_none() {
                self.add(&status, there, told)?;
            }
            if !self.boards[far.board].cables.contains_key(&far.link) {
                told(&format!("cable: {place} to {}", self.name(far)));
            }
            self.boards[board].cables.insert(link, far);
        }
        Ok(())
    }

    /// Notes which cables only one end knows of, and which ones lead nowhere new.
    fn confirm(&mut self) {
        let mut pairs = BTreeSet::new();
        for (here, far) in self.ends() {
            let cable = format!("the cable from {} to {}", self.name(here), self.name(far));
            if self.leads_to(far) != Some(here) {
                self.doubts.push(format!("{cable} is not there from its other end"));
            } else if far.board == here.board && far >= here {
                self.remarks.push(format!("{cable} joins a board with itself"));
            } else if far.board > here.board && !pairs.insert((here.board, far.board)) {
                self.remarks
                    .push(format!("{cable} is the second one between these boards"));
            }
        }
    }

    /// Where each link leads.
    fn ends(&self) -> Vec<(Socket, Socket)> {
        let of_board = |(board, found): (usize, &FoundBoard)| {
            let cables = found.cables.clone().into_iter();
            cables.map(move |(link, far)| (Socket { board, link }, far))
        };
        self.boards.iter().enumerate().flat_map(of_board).collect()
    }

    fn leads_to(&self, end: Socket) -> Option<Socket> {
        self.boards.get(end.board)?.cables.get(&end.link).copied()
    }

    /// Every cable between two boards once, without further ones between the same boards.
    pub fn cables(&self) -> Vec<(Socket, Socket)> {
        let mut pairs = BTreeSet::new();
        let mut cables = self.ends();
        cables.retain(|&(here, far)| {
            here.board < far.board && self.leads_to(far) == Some(here) && pairs.insert((here.board, far.board))
        });
        cables
    }

    /// Names the links of boards that have no cable, for each board one after the other.
    pub fn free_links(&self) -> impl FnMut(usize) -> String + '_ {
        let mut named = BTreeSet::new();
        move |board| {
            let links = self.boards.get(board).map_or(0, |found| found.kind.links.len());
            let ends = (0..links).map(|link| Socket { board, link });
            let mut free = ends.filter(|end| self.leads_to(*end).is_none());
            match free.find(|end| named.insert(*end)) {
                Some(end) => self.name(end),
                None => format!("board {board}"),
            }
        }
    }

    /// The cables as a file of edges.
    pub fn edge_list(&self) -> String {
        let mut text = String::new();
        for (number, board) in self.boards.iter().enumerate() {
            text += &format!("# {number}: {board}\n");
        }
        for (one, other) in self.cables() {
            let names = [one, other].map(|end| self.name(end)).join(" to ");
            text += &format!("{} {}    # {names}\n", one.board, other.board);
        }
        text
    }

    /// The mesh file of the network that these boards are; `nodes` has the node of each.
    pub fn mesh_file(&self, network: &Network, nodes: &[usize]) -> String {
        let of_node: BTreeMap<u64, usize> = (0..).zip(nodes).map(|(board, node)| (*node as u64, board)).collect();
        let ends: BTreeMap<(usize, usize), usize> = self
            .cables()
            .into_iter()
            .flat_map(|(one, other)| [(one, other), (other, one)])
            .map(|(near, far)| ((near.board, far.board), near.link))
            .collect();
        let kind = self.boards[0].kind;
        let mut text = format!("network = \"{network}\"\nboard = \"{}\"\n", kind.name);
        for (node, &board) in &of_node {
            let found = &self.boards[board];
            text += &format!("\n# chip {}\n[[node]]\naddress = {node}\n", hex(&found.unique_id));
            if found.kind.name != kind.name {
                text += &format!("board = \"{}\"\n", found.kind.name);
            }
            let ports = 0..network.degree(*node).unwrap_or(0);
            let neighbors = ports.filter_map(|port| network.neighbor(*node, port).ok().flatten());
            let link_to = |neighbor: u64| ends.get(&(board, *of_node.get(&neighbor)?));
            let uarts = neighbors.filter_map(|neighbor| Some(found.kind.links.get(*link_to(neighbor)?)?.name));
            let uarts: Vec<String> = uarts.map(|name| format!("\"{name}\"")).collect();
            text += &format!("uarts = [{}]\n", uarts.join(", "));
        }
        text
    }

    /// Gives every board the config of its node, the farthest first, waits until the mesh is up, and has all configs kept.
    pub fn configure(&self, boards: &mut dyn Boards, mesh: &Mesh, nodes: &[usize]) -> Result<(), CannotAdopt> {
        let mut order: Vec<usize> = (0..self.boards.len()).collect();
        order.sort_by_key(|board| std::cmp::Reverse(self.boards[*board].route.len()));
        let mut wanted: BTreeMap<u64, [u8; CONFIG_BYTES]> = BTreeMap::new();
        for board in &order {
            let node = nodes[*board] as u64;
            let config = mesh.config(node).map_err(|_| CannotAdopt::TooFar(*board))?;
            wanted.insert(node, config);
            // Nothing is written unless all can be reached.
            let FoundBoard { route, .. } = &self.boards[*board];
            let payload = self.config_payload(*board, &config);
            let fits: Option<Body<{ BODY - Request::PREFIX }>> = relay_request(route, WRITE_CONFIG, &payload);
            fits.ok_or(CannotAdopt::TooFar(*board))?;
        }
        for board in order {
            let payload = self.config_payload(board, &wanted[&(nodes[board] as u64)]);
            self.write_config(boards, board, &payload)?;
        }
        let all: Vec<u64> = wanted.keys().copied().collect();
        Ok(confirm_configs(boards, &wanted, &all)?)
    }

    fn config_payload(&self, board: usize, config: &[u8; CONFIG_BYTES]) -> Vec<u8> {
        [&self.boards[board].unique_id[..], &BoardConfig::shorten(config)].concat()
    }

    fn write_config(&self, boards: &mut dyn Boards, board: usize, payload: &[u8]) -> Result<(), CannotAdopt> {
        let mut last = CommandResult::Busy;
        for _ in 0..TRIES {
            let reply = ask(boards, &self.boards[board].route, WRITE_CONFIG, payload);
            // If the response was lost, the board has restarted already; whether it has its config is seen when the mesh is up.
            let Some((_, response)) = reply else { return Ok(()) };
            last = read_structure(&response).unwrap_or(CommandResult::Unknown);
            match last {
                CommandResult::Done => return Ok(()),
                CommandResult::Busy => boards.wait(PAUSE),
                CommandResult::NotAllowed => return Err(CannotAdopt::HasKey(board)),
                CommandResult::OtherBoard => return Err(CannotAdopt::Moved(board)),
                _ => break,
            }
        }
        Err(CannotAdopt::Refused { board, result: last })
    }
}

const WRITE_CONFIG: Query = Query::Board(Command::WRITE_CONFIG);

#[cfg(test)]
mod tests;
