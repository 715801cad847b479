//! What the page is told: the drawing, the routes, and the trace in columns.

use std::collections::HashMap;
use std::io::BufRead;

use hopwise_core::{Network, Node, Rule};
use hopwise_node::wire::Kind;
use hopwise_trace::follow::{Audience, CableChange, CableEvent, Overview, follow};
use hopwise_trace::line::Nanos;
use hopwise_trace::packet::Packet;
use hopwise_trace::reader::{BadTrace, Reader};
use rayon::prelude::*;
use serde::Serialize;

use super::drawn::{DrawnNetwork, TooManyNodes, draw};
use super::layout::Drawing;

/// A longer trace is shown up to so many hops, or packets.
pub const MAX_HOPS: usize = 200_000;
/// What happens at a moment besides, the same.
pub const MAX_MARKS: usize = 400_000;

#[derive(Serialize)]
pub struct PageData {
    #[serde(flatten)]
    pub drawn: DrawnNetwork,
    /// By destination and node, the port to take. Backwards it is the tree of the destination's broadcast.
    pub next: Vec<Vec<u64>>,
    pub trace: Option<Replay>,
    /// Of a mesh file: for each node and port the serial port, and the pins that send and receive.
    pub wiring: Option<Vec<Vec<[String; 3]>>>,
    /// Of a mesh file: its cables in the order of wiring, each as node and port of its two ends.
    pub cables: Vec<[u64; 4]>,
    /// Of a mesh file: a picture of the headers of each kind of board, and the kind of each node.
    pub boards: Vec<String>,
    pub board_of: Vec<usize>,
    /// Of a collective, whose rounds are the trace.
    pub rounds: Option<Rounds>,
}

/// A trace, in columns; times in microseconds since its begin.
#[derive(Default, Serialize)]
pub struct Replay {
    /// In seconds of the trace.
    pub begin: f64,
    pub length: f64,
    pub baud: Option<u32>,
    /// The last line of the trace, if it was left out because its end is missing.
    pub cut: Option<u64>,
    pub kinds: Vec<&'static str>,
    /// Packets that the trace has, of which the page may show fewer.
    pub packets_in_all: usize,
    pub packets: Vec<PacketRow>,
    pub hops: Vec<HopRow>,
    pub marks: Vec<MarkRow>,
    pub reasons: Vec<&'static str>,
}

/// What all nodes of a network did together, in synchronous rounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rounds {
    pub operation: String,
    /// How it went about it.
    pub method: String,
    /// The messages of each round: from, to, bytes. `page/rounds.js` shows how many there are.
    pub sent: Vec<Vec<(Node, Node, u64)>>,
}

/// Source, destination (none for a broadcast), kind, number, when accepted, when delivered first.
type PacketRow = (Node, Option<Node>, usize, u32, Option<f64>, Option<f64>);
/// Packet, from, to, when sent, when received, number of retransmissions.
type HopRow = (usize, Node, Node, f64, Option<f64>, u32);
/// When, what, node, link (-1 for none), packet or reason (-1 for none).
type MarkRow = (f64, Mark, Node, i64, i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    Accepted,
    Delivered,
    Dropped,
    Detoured,
    #[serde(untagged)]
    Cable(CableChange),
}

#[derive(Debug, thiserror::Error)]
pub enum NoPage {
    #[error(transparent)]
    TooManyNodes(#[from] TooManyNodes),
    #[error("{operation} has {messages} messages, too many for a page (at most {MAX_HOPS})")]
    TooManyMessages { operation: String, messages: usize },
    #[error("{0}")]
    Trace(#[from] BadTrace),
    #[error("the trace does not name its network; say it with --network EXPR")]
    UnnamedNetwork,
    #[error("this is {network}, and the mesh file is of {mesh}")]
    OtherMesh { network: String, mesh: String },
    #[error("the trace has no events")]
    NoEvents,
}

/// What is kept of a trace: the packets that the page shows, in the order in which they appear, and what happened to cables.
#[derive(Default)]
struct Kept {
    packets: Vec<Packet>,
    /// Packets of the whole trace.
    packets_in_all: usize,
    hops: usize,
    marks: usize,
    full: bool,
    cable_events: Vec<CableEvent>,
}

impl Audience for Kept {
    fn packet(&mut self, packet: Packet) {
        self.packets_in_all += 1;
        self.hops += packet.hops.len();
        self.marks += 1 + packet.delivered.len() + packet.dropped.len() + packet.detoured.len();
        // Once there is no room, later packets are not shown either: the replay ends there.
        self.full |= self.hops > MAX_HOPS || self.packets.len() >= MAX_HOPS || self.marks > MAX_MARKS;
        if !self.full {
            self.packets.push(packet);
        }
    }

    fn cable(&mut self, event: CableEvent) {
        if self.cable_events.len() < MAX_MARKS {
            self.cable_events.push(event);
        }
    }
}

impl PageData {
    /// Of a trace, whose network is the one given, or else the one that it names.
    pub fn of_trace<R: BufRead>(reader: Reader<R>, network: Option<Network>) -> Result<PageData, NoPage> {
        let mut kept = Kept::default();
        let overview = follow(reader, network, &mut kept)?;
        if overview.events == 0 {
            return Err(NoPage::NoEvents);
        }
        let network = overview.network.ok_or(NoPage::UnnamedNetwork)?;
        PageData::build(&network, Some((&overview, &kept)))
    }

    /// Of a network. Time O(nodes^2) next hops.
    pub fn new(network: &Network) -> Result<PageData, NoPage> {
        PageData::build(network, None)
    }

    fn build(network: &Network, trace: Option<(&Overview, &Kept)>) -> Result<PageData, NoPage> {
        let drawing = draw(network)?;
        // A page on a host may search as much as the simulator does.
        let network = &network.with_search_memory(usize::MAX);
        let all = || 0..network.nodes();
        let next = |dest: Node| {
            let port = |node| network.next_port(node, dest, Rule::Exact).ok().flatten();
            all().map(|node| port(node).unwrap_or(0)).collect()
        };
        Ok(PageData {
            next: all().into_par_iter().map(next).collect(),
            trace: trace.map(|(overview, kept)| replay(&drawing, overview, kept)),
            drawn: DrawnNetwork::new(network, drawing),
            wiring: None,
            cables: Vec::new(),
            boards: Vec::new(),
            board_of: Vec::new(),
            rounds: None,
        })
    }
}

fn replay(drawing: &Drawing, overview: &Overview, kept: &Kept) -> Replay {
    let (begin, end) = overview.span.unwrap_or_default();
    let time = |at: Nanos| ((at - begin) as f64 / 100.0).round() / 10.0;
    let mut replay = Replay {
        begin: begin as f64 / 1e9,
        length: time(end),
        baud: overview.baud,
        cut: overview.cut,
        kinds: Kind::ALL.iter().map(|kind| kind.name()).collect(),
        packets_in_all: kept.packets_in_all,
        ..Replay::default()
    };
    for packet in &kept.packets {
        add_packet(&mut replay, packet, &time);
    }
    let links = (0..).zip(&drawing.links);
    let by_ends: HashMap<(Node, Node), usize> = links.map(|(index, link)| ((link.a, link.b), index)).collect();
    for event in &kept.cable_events {
        let peer = overview.peer(event.node, event.link);
        let link = peer.and_then(|peer| by_ends.get(&(event.node.min(peer), event.node.max(peer))));
        let link = link.map_or(-1, |&link| link as i64);
        let mark = (time(event.at), Mark::Cable(event.change), event.node, link, -1);
        replay.marks.push(mark);
    }
    replay.marks.sort_by(|one, other| one.0.total_cmp(&other.0));
    replay.hops.sort_by(|one, other| one.3.total_cmp(&other.3));
    replay
}

fn add_packet(replay: &mut Replay, packet: &Packet, time: &impl Fn(Nanos) -> f64) {
    let index = replay.packets.len();
    let single = packet.id.kind != Kind::Broadcast;
    replay.packets.push((
        packet.id.source,
        single.then_some(packet.dest),
        packet.id.kind as usize,
        packet.id.number,
        packet.accepted.map(time),
        packet.delivered.iter().map(|&(at, _)| time(at)).reduce(f64::min),
    ));
    for hop in &packet.hops {
        // A hop whose sending is not in the trace is seen where it ends.
        if let Some(sent) = hop.sent.or(hop.received) {
            let (sent, received) = (time(sent), hop.received.map(time));
            let row = (index, hop.from, hop.to, sent, received, hop.retransmit);
            replay.hops.push(row);
        }
    }
    let mut mark = |at: Nanos, what: Mark, node: Node, about: usize| {
        replay.marks.push((time(at), what, node, -1, about as i64));
    };
    if let Some(at) = packet.accepted {
        mark(at, Mark::Accepted, packet.id.source, index);
    }
    let delivered = packet.delivered.iter();
    delivered.for_each(|&(at, node)| mark(at, Mark::Delivered, node, index));
    let detoured = packet.detoured.iter();
    detoured.for_each(|&(at, node)| mark(at, Mark::Detoured, node, index));
    for (at, node, reason) in &packet.dropped {
        let known = replay.reasons.iter().position(|known| *known == reason.name());
        let about = known.unwrap_or_else(|| {
            replay.reasons.push(reason.name());
            replay.reasons.len() - 1
        });
        replay.marks.push((time(*at), Mark::Dropped, *node, -1, about as i64));
    }
}

#[cfg(test)]
mod tests {
    use hopwise_core::Tree;

    use super::*;
    use hopwise_networks::broadcast::Broadcast;

    /// The page draws the tree of a broadcast from next hops alone.
    #[test]
    fn next_hops_backwards_are_the_tree_of_a_broadcast() {
        for expression in hopwise_testing::networks("drawn_by_hops") {
            let network: Network = expression.parse().unwrap();
            let data = PageData::new(&network).unwrap();
            for source in 0..network.nodes() {
                let broadcast = Broadcast::follow(&network.with_search_memory(usize::MAX), source, Tree::LeastDepth);
                for parent in 0..network.nodes() {
                    for &child in broadcast.children(parent) {
                        let port = data.next[source as usize][child as usize];
                        let drawn = data.drawn.neighbors[child as usize][port as usize];
                        assert_eq!(drawn, parent, "{expression}: {child} in the tree of {source}");
                    }
                }
            }
        }
    }
}
