//! What a trace tells of each packet and each cable.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use hopwise_core::{Network, Node};

use super::line::{Event, Line, PacketId};
use super::reader::{BadLine, Reader};

/// Nanoseconds since the beginning of the mesh's time. Boards' clocks may begin below 0.
pub type Nanos = i64;

/// Thirty years: nanoseconds of such times can be added and subtracted.
const LONGEST_SECONDS: f64 = 1e9;

/// A packet on its way over one cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Who sent it.
    pub from: Node,
    /// Who is at the other end.
    pub to: Node,
    /// When it was sent, for the first time.
    pub sent: Option<Nanos>,
    /// When it came in.
    pub received: Option<Nanos>,
    /// How often it was sent again.
    pub again: u32,
}

/// A packet and all its copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its name.
    pub id: PacketId,
    /// Where it goes; of a broadcast, its source.
    pub dest: Node,
    /// When it began its way.
    pub accepted: Option<Nanos>,
    /// Where it went, in the order of the trace.
    pub hops: Vec<Hop>,
    /// When and where it arrived.
    pub delivered: Vec<(Nanos, Node)>,
    /// When, where and why copies went no further.
    pub dropped: Vec<(Nanos, Node, String)>,
    /// When and where it went round a dead link.
    pub detoured: Vec<(Nanos, Node)>,
}

impl Packet {
    fn new(id: PacketId, dest: Node) -> Self {
        Packet {
            id,
            dest,
            accepted: None,
            hops: Vec::new(),
            delivered: Vec::new(),
            dropped: Vec::new(),
            detoured: Vec::new(),
        }
    }

    /// A node sends it: a hop begins, or is tried again.
    fn sent(&mut self, at: Nanos, from: Node, to: Node, again: bool) {
        let same = |hop: &&mut Hop| hop.from == from && hop.to == to;
        let before = self.hops.iter_mut().rev().find(same);
        match before {
            Some(hop) if again => hop.again += 1,
            // Clocks differ a little: its arrival may be listed before.
            Some(hop) if hop.sent.is_none() => hop.sent = Some(at),
            _ => self.hops.push(Hop {
                from,
                to,
                sent: Some(at),
                received: None,
                again: u32::from(again),
            }),
        }
    }

    fn received(&mut self, at: Nanos, from: Node, to: Node) {
        let open = |hop: &&mut Hop| hop.from == from && hop.to == to && hop.received.is_none();
        match self.hops.iter_mut().rev().find(open) {
            Some(hop) => hop.received = Some(at),
            None => self.hops.push(Hop {
                from,
                to,
                sent: None,
                received: Some(at),
                again: 0,
            }),
        }
    }

    /// The hops by which it came from its source to a node at a time, found backwards: at each node the last arrival before
    /// it was sent on, which compares times of one clock only. `None` if the trace does not show them all.
    pub fn path_to(&self, node: Node, at: Nanos) -> Option<Vec<Hop>> {
        let mut path = Vec::new();
        let (mut here, mut before) = (node, at);
        while path.len() <= self.hops.len() {
            let arrivals = self.hops.iter().filter(|hop| hop.to == here);
            let last = arrivals
                .filter(|hop| hop.received.is_some_and(|received| received <= before))
                .max_by_key(|hop| hop.received);
            match last {
                Some(last) => {
                    path.push(*last);
                    (here, before) = (last.from, last.sent?);
                }
                None if here == self.id.source => {
                    path.reverse();
                    return Some(path);
                }
                None => return None,
            }
        }
        None
    }
}

/// What happened at one end of a cable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndCounts {
    /// Packets sent, each time.
    pub sent: u64,
    /// Of these, those sent before.
    pub again: u64,
    /// Packets that came in.
    pub received: u64,
    /// Pieces that were no frame.
    pub damaged: u64,
    /// Times it came up.
    pub ups: u64,
    /// Times it went down.
    pub downs: u64,
    /// Times someone was there who does not belong there.
    pub miswired: u64,
}

/// What happened to a cable besides packets, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CableEvent {
    /// When.
    pub at: Nanos,
    /// Noticed by which node.
    pub node: Node,
    /// At which of its links.
    pub link: u8,
    /// What.
    pub what: CableChange,
}

/// What can happen to a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CableChange {
    /// The link came up.
    Up,
    /// The link went down.
    Down,
    /// Bytes came that are no frame.
    Damaged,
    /// Someone is there who does not belong there.
    Miswired,
    /// A packet was sent again.
    Again,
}

/// A whole trace.
pub struct History {
    /// Whose trace it is, if that is known.
    pub network: Option<Network>,
    /// Bits a second, if the trace says so.
    pub baud: Option<u32>,
    /// All packets, in the order in which they appear.
    pub packets: Vec<Packet>,
    /// Who was at the other end of a node's link when it came up last; `None` for a computer.
    pub peers: BTreeMap<(Node, u8), Option<Node>>,
    /// What happened there.
    pub ends: BTreeMap<(Node, u8), EndCounts>,
    /// The same one by one.
    pub cable_events: Vec<CableEvent>,
    /// What became of confirmed packets, as their senders know it.
    pub outcomes: BTreeMap<String, u64>,
    /// Lines read.
    pub events: u64,
    /// Lines with words that are not known.
    pub unknown: u64,
    /// The times of the first and the last event.
    pub span: Option<(Nanos, Nanos)>,
    places: HashMap<PacketId, usize>,
}

impl History {
    /// Reads a trace to its end. The network is the one given, or else the one that the trace names. Time O(lines), and
    /// memory for every packet.
    pub fn read<R: BufRead>(mut reader: Reader<R>, network: Option<Network>) -> Result<History, BadLine> {
        let header = reader.header().cloned();
        let network = match (network, &header) {
            (None, Some(header)) => Some(parse(&header.network)?),
            (given, _) => given,
        };
        let mut history = History {
            network,
            baud: header.and_then(|header| header.baud),
            packets: Vec::new(),
            peers: BTreeMap::new(),
            ends: BTreeMap::new(),
            cable_events: Vec::new(),
            outcomes: BTreeMap::new(),
            events: 0,
            unknown: 0,
            span: None,
            places: HashMap::new(),
        };
        while let Some(line) = reader.next() {
            let bad = |what| BadLine {
                line: reader.number(),
                what,
            };
            history.add(line?).map_err(bad)?;
        }
        Ok(history)
    }

    fn check(&self, node: Node) -> Result<(), String> {
        match &self.network {
            Some(network) => match network.check(node) {
                Ok(_) => Ok(()),
                Err(error) => Err(format!("{network}: {error}")),
            },
            None => Ok(()),
        }
    }

    /// Who is at the other end: as the link said when it came up, or as ports are numbered.
    pub fn peer(&self, node: Node, link: u8) -> Option<Node> {
        let by_port = || self.network?.neighbor(node, link.into()).ok()?;
        self.peers.get(&(node, link)).copied().unwrap_or_else(by_port)
    }

    fn packet(&mut self, id: PacketId, dest: Option<Node>) -> Result<&mut Packet, String> {
        self.check(id.source)?;
        let place = *self.places.entry(id).or_insert(self.packets.len());
        if place == self.packets.len() {
            self.packets.push(Packet::new(id, dest.unwrap_or(id.source)));
        }
        let packet = &mut self.packets[place];
        if let Some(dest) = dest {
            packet.dest = dest;
        }
        Ok(packet)
    }

    fn cable(&mut self, at: Nanos, node: Node, link: u8, what: CableChange) -> &mut EndCounts {
        self.cable_events.push(CableEvent { at, node, link, what });
        self.ends.entry((node, link)).or_default()
    }

    fn add(&mut self, line: Line) -> Result<(), String> {
        if line.t.abs() > LONGEST_SECONDS {
            return Err(format!("{} s is no time of a mesh", line.t));
        }
        let (at, node) = ((line.t * 1e9).round() as Nanos, line.node);
        self.check(node)?;
        self.events += 1;
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), last.max(at)));
        match line.event {
            Event::LinkUp { link, peer } => {
                peer.map_or(Ok(()), |peer| self.check(peer))?;
                self.peers.insert((node, link), peer);
                self.cable(at, node, link, CableChange::Up).ups += 1;
            }
            Event::LinkDown { link } => self.cable(at, node, link, CableChange::Down).downs += 1,
            Event::Damaged { link } => self.cable(at, node, link, CableChange::Damaged).damaged += 1,
            Event::Miswired { link } => self.cable(at, node, link, CableChange::Miswired).miswired += 1,
            Event::Sent {
                link,
                packet,
                dest,
                again,
            } => {
                let end = self.ends.entry((node, link)).or_default();
                end.sent += 1;
                if again {
                    self.cable(at, node, link, CableChange::Again).again += 1;
                }
                let to = self.peer(node, link);
                let packet = self.packet(packet, Some(dest))?;
                if let Some(to) = to {
                    packet.sent(at, node, to, again);
                }
            }
            Event::Received { link, packet, dest } => {
                self.ends.entry((node, link)).or_default().received += 1;
                let from = self.peer(node, link);
                let packet = self.packet(packet, Some(dest))?;
                if let Some(from) = from {
                    packet.received(at, from, node);
                }
            }
            Event::Accepted { packet, dest } => {
                self.packet(packet, Some(dest))?.accepted.get_or_insert(at);
            }
            Event::Delivered { packet } => self.packet(packet, None)?.delivered.push((at, node)),
            Event::Dropped { packet, dest, reason } => {
                self.packet(packet, Some(dest))?.dropped.push((at, node, reason));
            }
            Event::Detoured { packet, .. } => self.packet(packet, None)?.detoured.push((at, node)),
            Event::Settled { outcome, .. } => *self.outcomes.entry(outcome).or_default() += 1,
            // The neighbour's own record of it counts.
            Event::Forwarded { .. } | Event::Log => {}
            Event::Other => self.unknown += 1,
        }
        Ok(())
    }
}

/// The network of a trace's first line.
fn parse(expression: &str) -> Result<Network, BadLine> {
    expression.parse::<Network>().map_err(|error| BadLine {
        line: 1,
        what: format!("'{expression}' is not a network: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_core::node::Kind;

    const ID: &str = r#""packet":{"source":0,"epoch":1,"kind":"datagram","number":7,"from_host":false}"#;

    fn read(lines: &[String]) -> Result<History, BadLine> {
        let text = format!("{{\"network\":\"ring(5)\"}}\n{}", lines.join("\n"));
        History::read(Reader::new(text.as_bytes())?, None)
    }

    fn line(t: f64, node: u64, rest: &str) -> String {
        format!("{{\"t\":{t},\"node\":{node},{ID},\"dest\":2,{rest}}}")
    }

    fn sent(t: f64, node: u64, link: u8, again: bool) -> String {
        line(
            t,
            node,
            &format!("\"event\":\"sent\",\"link\":{link},\"again\":{again}"),
        )
    }

    fn received(t: f64, node: u64, link: u8) -> String {
        line(t, node, &format!("\"event\":\"received\",\"link\":{link}"))
    }

    /// From 0 by 1 to 2; the second frame is lost once, and the clock of node 2 is behind.
    fn way() -> Vec<String> {
        vec![
            line(1.0, 0, "\"event\":\"accepted\""),
            sent(1.1, 0, 0, false),
            received(1.2, 1, 1),
            received(1.25, 2, 1),
            line(1.25, 2, "\"event\":\"delivered\""),
            sent(1.3, 1, 0, false),
            sent(1.4, 1, 0, true),
        ]
    }

    #[test]
    fn hops_are_matched_whatever_the_order() {
        let history = read(&way()).unwrap();
        let packet = &history.packets[0];
        assert_eq!((packet.id.kind, packet.dest, packet.hops.len()), (Kind::Datagram, 2, 2));
        let path = packet.path_to(2, 1_250_000_000).unwrap();
        let nodes: Vec<_> = path.iter().map(|hop| (hop.from, hop.to, hop.again)).collect();
        assert_eq!(nodes, [(0, 1, 0), (1, 2, 1)]);
        assert_eq!(path[1].sent, Some(1_300_000_000));
        assert_eq!((history.ends[&(1, 0)].sent, history.ends[&(1, 0)].again), (2, 1));
        assert_eq!(history.span, Some((1_000_000_000, 1_400_000_000)));
    }

    #[test]
    fn a_path_that_is_not_all_there_is_none() {
        let history = read(&way()[3..]).unwrap();
        assert_eq!(history.packets[0].path_to(2, 1_250_000_000), None);
    }

    #[test]
    fn a_computer_is_no_neighbour() {
        let up = r#"{"t":0,"node":0,"event":"link-up","link":0,"computer":true}"#.to_string();
        let history = read(&[up, sent(1.0, 0, 0, false)]).unwrap();
        assert_eq!(history.peer(0, 0), None);
        assert!(history.packets[0].hops.is_empty());
    }

    #[test]
    fn links_lead_where_they_say() {
        // Link 0 of node 0 should lead to node 1 by its number; the board is wired otherwise.
        let up = r#"{"t":0,"node":0,"event":"link-up","link":0,"peer":4,"peer_port":1}"#.to_string();
        let history = read(&[up, sent(1.0, 0, 0, false), sent(1.0, 0, 1, false)]).unwrap();
        let ends: Vec<Node> = history.packets[0].hops.iter().map(|hop| hop.to).collect();
        assert_eq!(ends, [4, 4]);
    }

    #[test]
    fn times_that_cannot_be_are_refused() {
        let refusal = read(&[line(1e300, 0, "\"event\":\"accepted\"")]).err().unwrap();
        assert!(refusal.to_string().starts_with("line 2: 1000"), "{refusal}");
        assert!(refusal.to_string().ends_with(" s is no time of a mesh"), "{refusal}");
    }

    #[test]
    fn nodes_outside_the_network_are_refused() {
        let refusal = read(&[way()[0].clone(), sent(1.0, 5, 0, false)]).err().unwrap();
        let sentence = "line 3: ring(5): there is no node 5: the network has nodes 0 to 4";
        assert_eq!(refusal.to_string(), sentence);
    }
}
