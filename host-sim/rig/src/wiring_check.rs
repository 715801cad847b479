//! Compares what the boards see with the plan, and says which plug to move where.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::mesh::Mesh;
use super::plan::{Cable, WiringPlan};
use super::survey::{LinkSeen, Peer, Seen, Stranger};
use hopwise_host::PROCESS;

/// A link of a board, whether or not the plan uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Socket {
    node: u64,
    link: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    NoAnswer,
    /// A board is not the one that should be there: of another kind, of another network, with another address.
    WrongBoard,
    /// A cable leads to another place than planned.
    Swapped,
    /// Nothing is heard where a cable should be.
    Missing,
    /// A cable is where none should be.
    Extra,
    /// Nothing arrives here, though the other end hears this one.
    OneWay,
    /// Key mismatch, or only one end has a key.
    Key,
    Version,
}

/// Something that is not as planned. The keys are stable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: FindingKind,
    pub node: u64,
    /// At which of its ports; none if it is about the whole board, or a link that the plan does not use.
    pub port: Option<u64>,
    pub uart: Option<&'static str>,
    /// What should be there: a port, such as 3.1, or the kind of a board.
    pub expected: Option<String>,
    pub found: Option<String>,
}

/// The column of the kinds in the words of a [`Finding`].
pub const KIND_WIDTH: usize = 12;

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match (self.port, self.uart) {
            (Some(port), Some(uart)) => format!("{}.{port} ({uart})", self.node),
            (_, Some(uart)) => format!("{} {uart}", self.node),
            _ => self.node.to_string(),
        };
        let expected = self.expected.as_deref().unwrap_or("nothing");
        let found = self.found.as_deref().unwrap_or("nothing");
        match self.kind {
            FindingKind::NoAnswer => write!(f, "no response {place}"),
            FindingKind::WrongBoard => write!(f, "wrong board {place}: {found} instead of {expected}"),
            FindingKind::Swapped => write!(f, "swapped     {place}: leads to {found} instead of {expected}"),
            FindingKind::Missing => write!(f, "missing     {place}: nothing is heard of {expected}"),
            FindingKind::Extra => write!(f, "extra       {place}: leads to {found}, and should be free"),
            FindingKind::Key => write!(
                f,
                "key         {place}: who is there, and should be {expected}, has another key, or none"
            ),
            FindingKind::Version => write!(
                f,
                "version     {place}: who is there, and should be {expected}, speaks another version of the wire format"
            ),
            FindingKind::OneWay => write!(
                f,
                "one way     {place}: nothing arrives from {expected}, which hears this end"
            ),
        }
    }
}

/// What a check comes to. The keys are stable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WiringReport {
    pub boards_expected: usize,
    pub boards_seen: usize,
    pub cables_expected: usize,
    /// Cables that are where they should be, and work both ways.
    pub cables_right: usize,
    pub findings: Vec<Finding>,
    /// What to do about it, in sentences.
    pub moves: Vec<String>,
}

struct Comparison<'a> {
    mesh: &'a Mesh,
    seen: &'a Seen,
    cables: &'a [Cable],
    /// Both directions of those.
    planned: BTreeMap<Socket, Socket>,
    /// Both directions of all that the plan has, there already or not.
    allowed: BTreeMap<Socket, Socket>,
    /// Nodes in whose place is a board with another address.
    impostors: BTreeMap<u64, u64>,
}

/// The boards that the first cables of a plan connect, and the first board, which is at the host.
pub fn boards_of(plan: &WiringPlan, cables: usize) -> Vec<u64> {
    let cables_laid = plan.cables.iter().take(cables);
    let wired = cables_laid.flat_map(|cable| [cable.from.node, cable.to.node]);
    let first = plan.steps.first().map(|step| step.node);
    // Boards without neighbors belong to the whole plan.
    let is_wired = cables >= plan.cables.len();
    let alone = plan.steps.iter().map(|step| step.node).filter(|_| is_wired);
    let nodes: BTreeSet<_> = wired.chain(first).chain(alone).collect();
    nodes.into_iter().collect()
}

/// Compares what was seen with the first cables of a plan. `board` is the kind that all boards should say they are; as the mesh
/// file has it if there is none.
pub fn compare(mesh: &Mesh, plan: &WiringPlan, cables: usize, seen: &Seen, board: Option<&str>) -> WiringReport {
    let expected = &plan.cables[..cables.min(plan.cables.len())];
    let boards = boards_of(plan, cables);
    let mut comparison = Comparison {
        mesh,
        seen,
        cables: expected,
        planned: both_ways(mesh, expected),
        allowed: both_ways(mesh, &plan.cables),
        impostors: BTreeMap::new(),
    };
    comparison.find_impostors();
    let mut findings = comparison.board_findings(&boards, board);
    findings.extend(comparison.cable_findings());
    findings.extend(comparison.extra_findings());
    findings.sort_by_key(|finding| (finding.node, finding.port, finding.kind));
    WiringReport {
        boards_expected: boards.len(),
        boards_seen: boards.iter().filter(|node| seen.contains_key(node)).count(),
        cables_expected: expected.len(),
        cables_right: expected.iter().filter(|cable| comparison.is_right(cable)).count(),
        moves: comparison.moves(&findings),
        findings,
    }
}

fn both_ways(mesh: &Mesh, cables: &[Cable]) -> BTreeMap<Socket, Socket> {
    let ends = cables.iter().map(|cable| sockets(mesh, cable));
    ends.flat_map(|[a, b]| [(a, b), (b, a)]).collect()
}

fn sockets(mesh: &Mesh, cable: &Cable) -> [Socket; 2] {
    [cable.from.node_port(), cable.to.node_port()].map(|end| Socket {
        node: end.node,
        link: mesh.link(end),
    })
}

impl Comparison<'_> {
    fn link(&self, at: Socket) -> Option<&LinkSeen> {
        self.seen.get(&at.node)?.links.get(at.link)
    }

    fn heard(&self, at: Socket) -> Option<Peer> {
        self.link(at)?.peer
    }

    fn is_up(&self, at: Socket) -> bool {
        self.link(at).is_some_and(|link| link.up)
    }

    fn stranger(&self, at: Socket) -> Option<Stranger> {
        self.link(at)?.stranger
    }

    /// Every link of a board that answered, with what is heard there if that is one of this mesh.
    fn heard_links(&self) -> impl Iterator<Item = (Socket, Option<Socket>)> {
        let boards = self.seen.iter().map(|(&node, board)| (node, board.links.len()));
        let sockets = boards.flat_map(|(node, links)| (0..links).map(move |link| Socket { node, link }));
        let heard = sockets.filter(|here| self.heard(*here).is_some());
        heard.map(|here| (here, self.leads_to(here)))
    }

    /// The socket of this mesh that is heard at a socket, if it is one.
    fn leads_to(&self, at: Socket) -> Option<Socket> {
        let peer = self.heard(at)?;
        let ours =
            !peer.host && peer.network == self.mesh.network.id() && self.mesh.network.check(peer.address).is_ok();
        ours.then_some(Socket {
            node: peer.address,
            link: peer.link,
        })
    }

    fn is_right(&self, cable: &Cable) -> bool {
        let [a, b] = sockets(self.mesh, cable);
        // A board that does not respond is known by what the other sees: a link is up only if both hear each other.
        let right = |here: Socket, there: Socket| self.leads_to(here) == Some(there) && self.is_up(here);
        let silent = |here: Socket| !self.seen.contains_key(&here.node);
        (right(a, b) || silent(a)) && (right(b, a) || silent(b)) && !(silent(a) && silent(b))
    }

    /// A node that does not respond, while those who should hear it hear another at the very link: its board has the other's
    /// address.
    fn find_impostors(&mut self) {
        let mut found = BTreeMap::new();
        for (here, there) in &self.planned {
            let is_other = |heard: &Socket| heard.node != there.node && heard.link == there.link;
            let heard = self.leads_to(*here).filter(is_other);
            if let Some(heard) = heard.filter(|_| !self.seen.contains_key(&there.node)) {
                found.insert(there.node, heard.node);
            }
        }
        self.impostors = found;
    }

    fn board_findings(&self, boards: &[u64], kind: Option<&str>) -> Vec<Finding> {
        let about = |node: u64| {
            let (expected, found) = match (self.seen.get(&node), self.impostors.get(&node)) {
                (None, other) => (format!("node {node}"), other.map(|other| format!("node {other}"))),
                (Some(board), _) if board.network != self.mesh.network.id() => {
                    (self.mesh.network.to_string(), Some("another network".into()))
                }
                (Some(board), _) => {
                    let kind = kind.unwrap_or(self.mesh.kind_of(node).name);
                    // A process stands in for any board.
                    let is_other = |found: &&String| ![kind, PROCESS].contains(&found.as_str());
                    let other = board.kind.as_ref().filter(is_other)?;
                    (kind.into(), Some(other.clone()))
                }
            };
            let (there, silent) = (FindingKind::WrongBoard, FindingKind::NoAnswer);
            Some(Finding {
                kind: if found.is_some() { there } else { silent },

                node,
                port: None,
                uart: None,
                expected: Some(expected),
                found,
            })
        };
        boards.iter().copied().filter_map(about).collect()
    }

    /// At every socket of the plan whose board answered.
    fn cable_findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (&here, &there) in &self.planned {
            let hears_us = self.leads_to(there) == Some(here);
            let kind = match self.heard(here) {
                _ if !self.seen.contains_key(&here.node) => {
                    // It cannot say so itself: the other end hears it, and knows that it is not heard.
                    let deaf = hears_us && !self.is_up(there);
                    deaf.then_some(FindingKind::OneWay)
                }
                None => Some(match self.stranger(here) {
                    Some(Stranger::Key) => FindingKind::Key,
                    Some(Stranger::Version) => FindingKind::Version,
                    None if hears_us => FindingKind::OneWay,
                    None => FindingKind::Missing,
                }),
                Some(_) => match self.leads_to(here) {
                    Some(heard) if heard == there => {
                        // If the other end hears nothing, it is the deaf one and says so.
                        let deaf = self.heard(there).is_none();
                        (!self.is_up(here) && !deaf).then_some(FindingKind::OneWay)
                    }
                    Some(_) if self.impostors.contains_key(&there.node) => None,
                    Some(_) => Some(FindingKind::Swapped),
                    None => Some(FindingKind::WrongBoard),
                },
            };
            findings.extend(kind.map(|kind| self.finding(kind, here, Some(there))));
        }
        findings
    }

    /// At every socket that the plan leaves free.
    fn extra_findings(&self) -> Vec<Finding> {
        let free = self.heard_links().filter(|(here, _)| !self.planned.contains_key(here));
        // A cable that is to come later may be there already.
        let extra = free.filter(|(here, there)| there.is_none() || there.as_ref() != self.allowed.get(here));
        let findings = extra.map(|(here, _)| self.finding(FindingKind::Extra, here, None));
        findings.collect()
    }

    fn finding(&self, kind: FindingKind, here: Socket, expected: Option<Socket>) -> Finding {
        Finding {
            kind,
            node: here.node,
            port: self.mesh.port_at(here.node, here.link).map(|end| end.port),
            uart: self.mesh.kind_of(here.node).links.get(here.link).map(|uart| uart.name),
            expected: expected.map(|there| self.short(there)),
            found: self.heard(here).map(|peer| match self.leads_to(here) {
                Some(heard) => self.short(heard),
                None if peer.host => "a host".into(),
                None => "another network".into(),
            }),
        }
    }

    /// `3.1`, or board and serial port where the plan has no port.
    fn short(&self, at: Socket) -> String {
        match self.mesh.port_at(at.node, at.link) {
            Some(end) => end.to_string(),
            None => format!("{} {}", at.node, self.uart_name(at)),
        }
    }

    fn uart_name(&self, at: Socket) -> &'static str {
        let uart = self.mesh.kind_of(at.node).links.get(at.link);
        uart.map_or("the ST-LINK", |uart| uart.name)
    }

    /// `board 3 USART1`, as a person looks for it.
    fn place(&self, at: Socket) -> String {
        format!("board {} {}", at.node, self.uart_name(at))
    }

    /// What to do, tried out on the cables as they are: each sentence puts at least one cable right.
    fn moves(&self, findings: &[Finding]) -> Vec<String> {
        let mut moves: Vec<String> = self.impostors.iter().map(|(node, other)| {
            format!("the board in the place of node {node} says it is node {other}: write its config with `hopwise flash MESH.toml --only {node}`")
        }).collect();
        let of_boards = findings.iter().filter(|finding| finding.port.is_none());
        moves.extend(of_boards.filter_map(advice));
        let mut cables = self.cables_as_they_are();
        for cable in self.cables {
            let [a, b] = sockets(self.mesh, cable);
            let strange = |at: &Socket| self.impostors.contains_key(&at.node);
            let silent = |at: &Socket| !self.seen.contains_key(&at.node);
            if self.is_right(cable) || [a, b].iter().any(strange) || [a, b].iter().all(silent) {
                continue;
            }
            moves.extend(self.put_right(cable.number, a, b, &mut cables));
        }
        for (&a, &b) in &cables {
            let surplus = self.allowed.get(&a) != Some(&b) && a < b;
            let is_of_impostor = |at: &Socket| self.impostors.values().any(|other| *other == at.node);
            if surplus && ![a, b].iter().any(is_of_impostor) {
                let (a, b) = (self.place(a), self.place(b));
                moves.push(format!("take out the cable between {a} and {b}"));
            }
        }
        moves
    }

    fn cables_as_they_are(&self) -> BTreeMap<Socket, Socket> {
        let both = |(here, there): (Socket, Option<Socket>)| Some([(here, there?), (there?, here)]);
        self.heard_links().filter_map(both).flatten().collect()
    }

    fn put_right(&self, number: usize, a: Socket, b: Socket, cables: &mut BTreeMap<Socket, Socket>) -> Option<String> {
        let [uart_a, uart_b] = [a, b].map(|at| &self.mesh.kind_of(at.node).links[at.link]);
        match (cables.get(&a).copied(), cables.get(&b).copied()) {
            // Either it is there and broken, or an earlier move has put it right.
            (Some(there), _) if there == b => self.is_there(a, b).then(|| self.plug_in(number, a, b)),
            (Some(far_a), Some(far_b)) => {
                cables.extend([(a, b), (b, a), (far_a, far_b), (far_b, far_a)]);
                let [first, second] = [b, far_a].map(|at| self.place(at));
                let [third, fourth] = [a, far_b].map(|at| self.place(at));
                Some(format!(
                    "exchange the plugs at {first} and {second} (or those at {third} and {fourth}, which has the same effect)"
                ))
            }
            (Some(far), None) | (None, Some(far)) => {
                let free = if cables.contains_key(&a) { b } else { a };
                cables.remove(&far);
                cables.extend([(a, b), (b, a)]);
                Some(format!("move the plug at {} to {}", self.place(far), self.place(free)))
            }
            (None, None) => Some(self.reconcile(a, b).or_else(|| self.reconcile(b, a)).unwrap_or_else(|| format!(
                "plug in cable {number} between {} and {}: {} to {}, {} to {}, and ground; if it is there, it is broken or its TX and RX \
                 are not crossed",
                self.place(a),
                self.place(b),
                uart_a.tx.name,
                uart_b.rx.name,
                uart_a.rx.name,
                uart_b.tx.name
            ))),
        }
    }

    /// What to do about boards that hear each other and do not link up. The one that does not respond is the one to change.
    fn reconcile(&self, here: Socket, there: Socket) -> Option<String> {
        let difference = match self.stranger(here)? {
            Stranger::Key => "have different keys, or only one of them has one",
            Stranger::Version => "speak different versions of the wire format",
        };
        let [here, there] = [here.node, there.node];
        Some(format!(
            "boards {here} and {there} {difference}: `hopwise flash MESH.toml --only {there}` gives board {there} what the mesh file says"
        ))
    }

    fn is_there(&self, a: Socket, b: Socket) -> bool {
        self.leads_to(a) == Some(b) || self.leads_to(b) == Some(a)
    }

    /// A cable that is where it should be, and yet does not work both ways.
    fn plug_in(&self, number: usize, a: Socket, b: Socket) -> String {
        let (deaf, speaker) = if self.leads_to(a).is_some() { (b, a) } else { (a, b) };
        let [from, to] = [speaker, deaf].map(|at| &self.mesh.kind_of(at.node).links[at.link]);
        format!(
            "cable {number}: the wire from {} TX {} ({}) to {} RX {} ({}) does not carry: press its plugs in or replace it",
            self.place(speaker),
            from.tx.name,
            from.tx.header,
            self.place(deaf),
            to.rx.name,
            to.rx.header
        )
    }
}

/// What to do about a whole board, or a stranger at one of its links.
fn advice(finding: &Finding) -> Option<String> {
    let node = finding.node;
    match (finding.kind, finding.found.as_deref()) {
        (FindingKind::WrongBoard, Some("another network")) => Some(format!(
            "board {node} is configured for another network: write its config with `hopwise flash MESH.toml --only {node}`"
        )),
        (FindingKind::WrongBoard, Some(found)) if !found.starts_with("node ") => {
            Some(format!("board {node} is a {found}, and the mesh file has another kind"))
        }
        (FindingKind::Extra, Some(stranger @ ("a host" | "another network"))) => {
            let uart = finding.uart.unwrap_or("a link");
            Some(format!(
                "take out the cable at board {node} {uart}: {stranger} is at its other end"
            ))
        }
        _ => None,
    }
}
