//! What a trace tells of each packet and each cable, while it is read.
//!
//! A packet is told when nothing more can come of it. Only packets that may still be under way are held, so a trace may be
//! larger than the memory.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::BufRead;

use hopwise_core::{Network, Node};
use hopwise_node::router::times::REMEMBER_PEER;
use hopwise_node::router::{Event, Outcome};
use hopwise_node::wire::{PacketId, Role};
use serde::Serialize;

use crate::line::{Nanos, Record, TraceLine};
use crate::packet::Packet;
use crate::reader::{BadTrace, Fault, Reader};

/// Nothing is heard of a packet that began longer ago: as nodes rely on that, so may a report.
const UNDER_WAY: Nanos = REMEMBER_PEER as Nanos * 1000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndCounts {
    /// Packets sent, each time.
    pub sent: u64,
    pub retransmit: u64,
    pub received: u64,
    /// Pieces that were no frame.
    pub damaged: u64,
    pub ups: u64,
    pub downs: u64,
    /// Times someone was there who does not belong there.
    pub miswired: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CableEvent {
    pub at: Nanos,
    pub node: Node,
    pub link: u8,
    pub change: CableChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CableChange {
    Up,
    Down,
    /// Bytes came that are no frame.
    Damaged,
    /// Someone is there who does not belong there.
    Miswired,
    Retransmit,
}

/// Is told what a trace holds, while it is read.
pub trait Audience {
    /// A packet of which nothing more will come. Packets are told in the order in which they appear.
    fn packet(&mut self, packet: Packet);

    fn cable(&mut self, _event: CableEvent) {}
}

#[derive(Debug, Default)]
pub struct Overview {
    pub network: Option<Network>,
    /// Bits a second, if the trace says so.
    pub baud: Option<u32>,
    /// Who was at the other end of a node's link when it came up last; `None` for a host.
    pub peers: BTreeMap<(Node, u8), Option<Node>>,
    pub ends: BTreeMap<(Node, u8), EndCounts>,
    /// What became of confirmed packets, as their senders know it.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Lines read.
    pub events: u64,
    /// Lines with words that are not known.
    pub unknown: u64,
    pub span: Option<(Nanos, Nanos)>,
    /// The last line, if its end is missing: it was left out.
    pub cut: Option<u64>,
}

impl Overview {
    /// Who is at the other end: as the link said when it came up, or as ports are numbered.
    pub fn peer(&self, node: Node, link: u8) -> Option<Node> {
        let by_port = || self.network?.neighbor(node, link.into()).ok()?;
        self.peers.get(&(node, link)).copied().unwrap_or_else(by_port)
    }

    fn check(&self, node: Node) -> Result<(), Fault> {
        let Some(network) = &self.network else { return Ok(()) };
        let network_has_it = network.check(node).map(drop);
        network_has_it.map_err(|error| Fault::Node {
            network: network.to_string(),
            error,
        })
    }
}

/// Reads a trace to its end and tells what it holds. The network is the one given, or else the one that the trace names.
/// Time O(n log n) for the n events of a packet, and memory for the packets that are under way at a time.
pub fn follow<R: BufRead>(
    mut reader: Reader<R>,
    network: Option<Network>,
    audience: &mut impl Audience,
) -> Result<Overview, BadTrace> {
    let network = match network {
        Some(network) => Some(network),
        None => reader.network()?,
    };
    let mut follower = Follower::new(network, audience);
    follower.overview.baud = reader.header().and_then(|header| header.baud);
    while let Some(line) = reader.next() {
        follower.add(&line?).map_err(|fault| reader.bad(fault))?;
    }
    follower.end_until(Nanos::MAX);
    follower.overview.cut = reader.cut();
    Ok(follower.overview)
}

struct Follower<'a, A> {
    overview: Overview,
    under_way: HashMap<PacketId, Packet>,
    /// When each of them was met first, in order.
    order: VecDeque<(Nanos, PacketId)>,
    audience: &'a mut A,
}

impl<'a, A: Audience> Follower<'a, A> {
    fn new(network: Option<Network>, audience: &'a mut A) -> Self {
        Follower {
            overview: Overview {
                network,
                ..Overview::default()
            },
            under_way: HashMap::new(),
            order: VecDeque::new(),
            audience,
        }
    }

    /// Tells packets that were met before a time.
    fn end_until(&mut self, time: Nanos) {
        while let Some((_, id)) = self.order.front().filter(|(met, _)| *met < time) {
            let packet = self.under_way.remove(id);
            self.order.pop_front();
            if let Some(packet) = packet {
                self.audience.packet(packet);
            }
        }
    }

    fn packet(&mut self, id: PacketId, dest: Option<Node>) -> Result<&mut Packet, Fault> {
        self.overview.check(id.source)?;
        // The latest time so far: lines of different boards need not be in order.
        let now = self.overview.span.map_or(0, |(_, last)| last);
        let order = &mut self.order;
        let packet = self.under_way.entry(id).or_insert_with(|| {
            order.push_back((now, id));
            Packet::new(id, dest.unwrap_or(id.source))
        });
        if let Some(dest) = dest {
            packet.dest = dest;
        }
        Ok(packet)
    }

    fn end(&mut self, node: Node, link: u8) -> &mut EndCounts {
        self.overview.ends.entry((node, link)).or_default()
    }

    fn cable(&mut self, at: Nanos, node: Node, link: u8, change: CableChange) -> &mut EndCounts {
        self.audience.cable(CableEvent { at, node, link, change });
        self.end(node, link)
    }

    fn add(&mut self, line: &TraceLine) -> Result<(), Fault> {
        let (at, node) = (line.at, line.node);
        self.overview.check(node)?;
        self.overview.events += 1;
        let (first, last) = self.overview.span.unwrap_or((at, at));
        self.overview.span = Some((first.min(at), last.max(at)));
        if at > last {
            self.end_until(at.saturating_sub(UNDER_WAY));
        }
        match &line.record {
            Record::Event(event) => self.add_event(at, node, event),
            Record::Log { .. } => Ok(()),
            Record::Unknown => {
                self.overview.unknown += 1;
                Ok(())
            }
        }
    }

    fn add_event(&mut self, at: Nanos, node: Node, event: &Event) -> Result<(), Fault> {
        match *event {
            Event::LinkUp { link, peer } => {
                let peer = (peer.role == Role::Node).then_some(peer.address);
                peer.map_or(Ok(()), |peer| self.overview.check(peer))?;
                self.overview.peers.insert((node, link), peer);
                self.cable(at, node, link, CableChange::Up).ups += 1;
            }
            Event::LinkDown { link, .. } => self.cable(at, node, link, CableChange::Down).downs += 1,
            Event::Damaged { link, .. } => self.cable(at, node, link, CableChange::Damaged).damaged += 1,
            Event::Miswired { link, .. } => self.cable(at, node, link, CableChange::Miswired).miswired += 1,
            Event::Sent {
                link,
                packet,
                dest,
                retransmit,
            } => {
                self.end(node, link).sent += 1;
                if retransmit {
                    self.cable(at, node, link, CableChange::Retransmit).retransmit += 1;
                }
                let to = self.overview.peer(node, link);
                let packet = self.packet(packet, Some(dest))?;
                if let Some(to) = to {
                    packet.sent(at, node, to, retransmit);
                }
            }
            Event::Received { link, packet, dest } => {
                self.end(node, link).received += 1;
                let from = self.overview.peer(node, link);
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
            Event::Completed { outcome, .. } => *self.overview.outcomes.entry(outcome_name(&outcome)).or_default() += 1,
            // The neighbor's own record of it counts.
            Event::Forwarded { .. } => {}
            // Nothing of packets or cables.
            Event::Clock { .. } => {}
        }
        Ok(())
    }
}

fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Delivered => "delivered",
        Outcome::Undeliverable { .. } => "undeliverable",
        Outcome::Interrupted => "interrupted",
        Outcome::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_node::wire::{Header, Kind};

    const ID: &str = r#""packet":{"source":0,"epoch":1,"kind":"datagram","number":7,"from_host":false}"#;

    #[derive(Default)]
    struct All(Vec<Packet>);

    impl Audience for All {
        fn packet(&mut self, packet: Packet) {
            self.0.push(packet);
        }
    }

    fn read(lines: &[String]) -> Result<(Overview, Vec<Packet>), BadTrace> {
        let text = format!("{{\"network\":\"ring(5)\"}}\n{}", lines.join("\n"));
        let mut all = All::default();
        let overview = follow(Reader::new(text.as_bytes())?, None, &mut all)?;
        Ok((overview, all.0))
    }

    fn line(t: f64, node: u64, rest: &str) -> String {
        format!("{{\"t\":{t},\"node\":{node},{ID},\"dest\":2,{rest}}}")
    }

    fn sent(t: f64, node: u64, link: u8, retransmit: bool) -> String {
        let event = format!("\"event\":\"sent\",\"link\":{link},\"retransmit\":{retransmit}");
        line(t, node, &event)
    }

    fn received(t: f64, node: u64, link: u8) -> String {
        line(t, node, &format!("\"event\":\"received\",\"link\":{link}"))
    }

    /// From 0 by 1 to 2; the second frame is lost once, and the clock of node 2 is behind.
    fn path() -> Vec<String> {
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
        let (overview, packets) = read(&path()).unwrap();
        let packet = &packets[0];
        assert_eq!((packet.id.kind, packet.dest, packet.hops.len()), (Kind::Datagram, 2, 2));
        let path = packet.arrivals().path_to(2, 1_250_000_000).unwrap();
        let nodes: Vec<_> = path.iter().map(|hop| (hop.from, hop.to, hop.retransmit)).collect();
        assert_eq!(nodes, [(0, 1, 0), (1, 2, 1)]);
        assert_eq!(path[1].sent, Some(1_300_000_000));
        assert_eq!((overview.ends[&(1, 0)].sent, overview.ends[&(1, 0)].retransmit), (2, 1));
        assert_eq!(overview.span, Some((1_000_000_000, 1_400_000_000)));
    }

    #[test]
    fn a_path_that_is_not_all_there_is_none() {
        let (_, packets) = read(&path()[3..]).unwrap();
        assert_eq!(packets[0].arrivals().path_to(2, 1_250_000_000), None);
    }

    #[test]
    fn a_host_is_no_neighbor() {
        let up = r#"{"t":0,"node":0,"event":"link-up","link":0,"host":true}"#.to_string();
        let (overview, packets) = read(&[up, sent(1.0, 0, 0, false)]).unwrap();
        assert_eq!(overview.peer(0, 0), None);
        assert!(packets[0].hops.is_empty());
    }

    #[test]
    fn links_lead_where_they_say() {
        // Link 0 of node 0 should lead to node 1 by its number; the board is wired otherwise.
        let up = r#"{"t":0,"node":0,"event":"link-up","link":0,"peer":4,"peer_port":1}"#.to_string();
        let (_, packets) = read(&[up, sent(1.0, 0, 0, false), sent(1.0, 0, 1, false)]).unwrap();
        let ends: Vec<Node> = packets[0].hops.iter().map(|hop| hop.to).collect();
        assert_eq!(ends, [4, 4]);
    }

    #[test]
    fn nodes_outside_the_network_are_refused() {
        let refusal = read(&[path()[0].clone(), sent(1.0, 5, 0, false)]).err().unwrap();
        let sentence = "line 3: ring(5): there is no node 5: the network has nodes 0 to 4";
        assert_eq!(refusal.to_string(), sentence);
    }

    #[test]
    fn packets_are_told_when_nothing_more_can_come_of_them() {
        let mut all = All::default();
        let mut follower = Follower::new(None, &mut all);
        for number in 0..10_000 {
            let packet = Header::new(Kind::Datagram, 0, 1).numbered(1, number).id();
            // Ten packets a second.
            let line = TraceLine {
                at: Nanos::from(number) * 100_000_000,
                node: 0,
                record: Record::Event(Event::Delivered { packet }),
            };
            follower.add(&line).unwrap();
            let under_way = follower.under_way.len();
            assert!(under_way <= 192, "{under_way} at {number}");
        }
        follower.end_until(Nanos::MAX);
        assert_eq!(all.0.len(), 10_000);
    }
}
