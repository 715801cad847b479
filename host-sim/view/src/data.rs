//! What the page is told: the drawing, the routes, and the trace in columns.

use std::collections::HashMap;

use hopwise_core::{Network, Node, Rule};
use rayon::prelude::*;
use serde::Serialize;

use super::layout::Drawing;
use hopwise_core::node::Kind;
use hopwise_networks::refusal::Refusal;
use hopwise_rig::boards::Pin;
use hopwise_rig::mesh::{End, Mesh};
use hopwise_trace::history::{CableChange, History, Nanos, Packet};

/// The page holds the next hop of every pair, and has to stay fluid.
pub const MOST_NODES: u64 = 1024;
/// A longer trace is shown up to here.
const MOST_HOPS: usize = 200_000;
/// Events of cables besides packets, the same.
const MOST_MARKS: usize = 400_000;

/// All that the page knows.
#[derive(Serialize)]
#[expect(missing_docs, reason = "page/model.js says what it makes of each")]
pub struct PageData {
    pub network: String,
    pub addresses: Vec<String>,
    pub places: Vec<[f64; 2]>,
    /// Middle, radius, depth.
    pub clusters: Vec<(f64, f64, f64, usize)>,
    /// Ends, kind, bend.
    pub links: Vec<(Node, Node, usize, f64)>,
    pub link_kinds: Vec<String>,
    /// The neighbours of each node by port.
    pub neighbors: Vec<Vec<Node>>,
    /// By destination and node, the port to take. Backwards it is the tree of the destination's broadcast.
    pub next: Vec<Vec<u64>>,
    pub trace: Option<Replay>,
    /// Of a mesh file: for each node and port the serial port, and the pins that send and receive.
    pub wiring: Option<Vec<Vec<[String; 3]>>>,
}

/// A trace, in columns; times in microseconds since its begin.
#[derive(Default, Serialize)]
#[expect(missing_docs, reason = "page/model.js says what it makes of each")]
pub struct Replay {
    /// In seconds of the trace.
    pub begin: f64,
    pub length: f64,
    pub baud: Option<u32>,
    pub kinds: Vec<&'static str>,
    /// Packets that the trace has, of which the page may show fewer.
    pub packets_in_all: usize,
    pub packets: Vec<PacketRow>,
    pub hops: Vec<HopRow>,
    pub marks: Vec<MarkRow>,
    pub reasons: Vec<String>,
}

/// Source, destination (none for a broadcast), kind, number, when accepted, when delivered first.
type PacketRow = (Node, Option<Node>, usize, u32, Option<f64>, Option<f64>);
/// Packet, from, to, when sent, when received, how often sent again.
type HopRow = (usize, Node, Node, f64, Option<f64>, u32);
/// When, what, node, link (-1 for none), packet or reason (-1 for none).
type MarkRow = (f64, Mark, Node, i64, i64);

/// What happens at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words of the trace")]
pub enum Mark {
    Accepted,
    Delivered,
    Dropped,
    Detoured,
    Up,
    Down,
    Damaged,
    Miswired,
    Again,
}

impl PageData {
    /// Of a network and perhaps a trace of it. Time O(nodes^2) next hops.
    pub fn new(network: &Network, history: Option<&History>) -> Result<PageData, Refusal> {
        let nodes = network.nodes();
        if nodes > MOST_NODES {
            return Err(Refusal::Trace(format!(
                "{network} has {nodes} nodes, too many for a page (at most {MOST_NODES})"
            )));
        }
        // A page on a computer may search as much as the simulator does.
        let network = &network.with_search_memory(usize::MAX);
        let drawing = Drawing::of(network);
        let known = "nodes below the network's size are in it";
        let all = || 0..nodes;
        let neighbors = all().map(|node| network.neighbors(node).expect(known).collect());
        let next = |dest: Node| {
            let port = |node| network.next_port(node, dest, Rule::Exact).expect(known).unwrap_or(0);
            all().map(port).collect()
        };
        let round = |value: f64| (value * 1000.0).round() / 1000.0;
        Ok(PageData {
            network: network.to_string(),
            addresses: all()
                .map(|node| network.address(node).expect(known).to_string())
                .collect(),
            places: drawing
                .places
                .iter()
                .map(|place| [round(place.x), round(place.y)])
                .collect(),
            clusters: drawing
                .clusters
                .iter()
                .map(|cluster| {
                    let middle = cluster.middle;
                    (round(middle.x), round(middle.y), round(cluster.radius), cluster.depth)
                })
                .collect(),
            links: drawing
                .links
                .iter()
                .map(|link| (link.a, link.b, link.kind, link.bend))
                .collect(),
            neighbors: neighbors.collect(),
            next: all().into_par_iter().map(next).collect(),
            trace: history.map(|history| replay(&drawing, history)),
            link_kinds: drawing.kinds,
            wiring: None,
        })
    }

    /// Of a mesh file: the network, and where its cables are plugged in.
    pub fn of_mesh(mesh: &Mesh) -> Result<PageData, Refusal> {
        let end = |node, port| {
            let uart = mesh.uart(End { node, port });
            let pin = |pin: &Pin| format!("{} {}", pin.name, pin.header);
            [uart.name.to_string(), pin(&uart.tx), pin(&uart.rx)]
        };
        let ends = |node| (0..mesh.degree(node)).map(|port| end(node, port)).collect();
        Ok(PageData {
            wiring: Some(mesh.nodes().map(ends).collect()),
            ..PageData::new(&mesh.network, None)?
        })
    }
}

/// The trace as the page replays it.
fn replay(drawing: &Drawing, history: &History) -> Replay {
    let (begin, end) = history.span.unwrap_or_default();
    let time = |at: Nanos| ((at - begin) as f64 / 100.0).round() / 10.0;
    let mut replay = Replay {
        begin: begin as f64 / 1e9,
        length: time(end),
        baud: history.baud,
        kinds: Kind::ALL.iter().map(|kind| kind.name()).collect(),
        packets_in_all: history.packets.len(),
        ..Replay::default()
    };
    for packet in &history.packets {
        if replay.hops.len() + packet.hops.len() > MOST_HOPS {
            break;
        }
        add_packet(&mut replay, packet, &time);
    }
    let by_ends: HashMap<(Node, Node), usize> = (0..)
        .zip(&drawing.links)
        .map(|(index, link)| ((link.a, link.b), index))
        .collect();
    for event in history.cable_events.iter().take(MOST_MARKS) {
        let peer = history.peer(event.node, event.link);
        let link = peer.and_then(|peer| by_ends.get(&(event.node.min(peer), event.node.max(peer))));
        let what = match event.what {
            CableChange::Up => Mark::Up,
            CableChange::Down => Mark::Down,
            CableChange::Damaged => Mark::Damaged,
            CableChange::Miswired => Mark::Miswired,
            CableChange::Again => Mark::Again,
        };
        let link = link.map_or(-1, |&link| link as i64);
        replay.marks.push((time(event.at), what, event.node, link, -1));
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
            replay
                .hops
                .push((index, hop.from, hop.to, time(sent), hop.received.map(time), hop.again));
        }
    }
    let mut mark = |at: Nanos, what: Mark, node: Node, about: usize| {
        replay.marks.push((time(at), what, node, -1, about as i64));
    };
    if let Some(at) = packet.accepted {
        mark(at, Mark::Accepted, packet.id.source, index);
    }
    packet
        .delivered
        .iter()
        .for_each(|&(at, node)| mark(at, Mark::Delivered, node, index));
    packet
        .detoured
        .iter()
        .for_each(|&(at, node)| mark(at, Mark::Detoured, node, index));
    for (at, node, reason) in &packet.dropped {
        let known = replay.reasons.iter().position(|known| known == reason);
        let about = known.unwrap_or_else(|| {
            replay.reasons.push(reason.clone());
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
        for expression in [
            "rdn(ring(3),1)",
            "root-folded(petersen,2)",
            "re(ring(4),complete(3),2)",
            "heawood",
            "path(2)",
        ] {
            let network: Network = expression.parse().unwrap();
            let data = PageData::new(&network, None).unwrap();
            for source in 0..network.nodes() {
                let broadcast = Broadcast::follow(&network.with_search_memory(usize::MAX), source, Tree::LeastDepth);
                for parent in 0..network.nodes() {
                    for &child in broadcast.children(parent) {
                        let port = data.next[source as usize][child as usize];
                        let drawn = data.neighbors[child as usize][port as usize];
                        assert_eq!(drawn, parent, "{expression}: {child} in the tree of {source}");
                    }
                }
            }
        }
    }
}
