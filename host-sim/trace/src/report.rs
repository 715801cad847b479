//! A trace in figures.

use std::collections::BTreeMap;

use hopwise_core::{Network, Node, Rule};
use serde::Serialize;

use super::history::{EndCounts, History, Nanos, Packet};
use hopwise_core::node::Kind;

/// Packets that took another way are listed up to this number.
const EXAMPLES: usize = 10;

/// Delivery, latency, paths, cables and drops; the keys of `--json` are stable.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/view.md has the keys")]
pub struct Report {
    pub network: Option<String>,
    pub nodes: Option<u64>,
    pub baud: Option<u32>,
    pub events: u64,
    pub unknown_events: u64,
    pub seconds: f64,
    pub delivery: BTreeMap<&'static str, Delivery>,
    pub outcomes: BTreeMap<String, u64>,
    pub latency: Latency,
    pub paths: Option<Paths>,
    pub detours: u64,
    pub links: Vec<LinkQuality>,
    pub drops: BTreeMap<String, Drops>,
}

/// How packets of one kind fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Delivery {
    /// Packets seen.
    pub packets: u64,
    /// Those that arrived; a broadcast, at every other node.
    pub delivered: u64,
    /// Arrivals, each node once.
    pub arrivals: u64,
    /// Arrivals where it had been before.
    pub duplicates: u64,
    /// Not delivered, and dropped somewhere.
    pub dropped: u64,
    /// Neither, as far as the trace goes.
    pub open: u64,
}

/// How long things took.
#[derive(Clone, Debug, Serialize)]
pub struct Latency {
    /// From acceptance to delivery, packets for one node.
    pub end_to_end: Option<Spread>,
    /// The same by the hops they took.
    pub by_hops: BTreeMap<usize, Spread>,
    /// From acceptance to each arrival of a broadcast.
    pub broadcast: Option<Spread>,
    /// One hop: from sending, for the first time, to the other end.
    pub hop: Option<Spread>,
    /// The wait in a node before a hop.
    pub wait: Option<Spread>,
}

/// Percentiles (nearest rank) of times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "each says what it is")]
pub struct Spread {
    pub count: usize,
    pub mean_us: f64,
    pub min_us: f64,
    pub p50_us: f64,
    pub p90_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
}

impl Spread {
    /// Of these times; `None` of none.
    pub fn of(mut times: Vec<Nanos>) -> Option<Spread> {
        times.sort_unstable();
        let micros = |nanos: Nanos| nanos as f64 / 1e3;
        let rank = |percent: usize| micros(times[(times.len() * percent).div_ceil(100).max(1) - 1]);
        let sum: f64 = times.iter().map(|&time| micros(time)).sum();
        let (&min, &max) = (times.first()?, times.last()?);
        Some(Spread {
            count: times.len(),
            mean_us: sum / times.len() as f64,
            min_us: micros(min),
            p50_us: rank(50),
            p90_us: rank(90),
            p99_us: rank(99),
            max_us: micros(max),
        })
    }
}

/// The ways that packets took, beside those that addresses tell.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Paths {
    /// Delivered packets for one node whose whole way is in the trace.
    pub followed: u64,
    /// Those that took the computed path.
    pub computed: u64,
    /// Those that took another of the same length.
    pub other: u64,
    /// Those that took a longer one.
    pub longer: u64,
    /// Hops of all of them.
    pub hops: u64,
    /// Hops of their computed paths.
    pub computed_hops: u64,
    /// Arrivals of broadcasts along the computed tree.
    pub tree_arrivals: u64,
    /// Other arrivals of broadcasts.
    pub other_arrivals: u64,
    /// The first that took another path.
    pub examples: Vec<Deviation>,
}

/// A packet that took another path than the computed one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "each says what it is")]
pub struct Deviation {
    pub kind: Kind,
    pub number: u32,
    pub path: Vec<Node>,
    pub computed: Vec<Node>,
}

/// How a cable fared: both directions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "docs/view.md has the keys")]
pub struct LinkQuality {
    pub a: Node,
    pub b: Node,
    pub frames: u64,
    pub retransmissions: u64,
    pub damaged: u64,
    pub ups: u64,
    pub downs: u64,
    pub miswired: u64,
}

impl LinkQuality {
    fn add(&mut self, end: &EndCounts) {
        self.frames += end.sent;
        self.retransmissions += end.again;
        self.damaged += end.damaged;
        self.ups += end.ups;
        self.downs += end.downs;
        self.miswired += end.miswired;
    }

    /// What went wrong, to find the worst.
    pub fn trouble(&self) -> u64 {
        self.retransmissions + self.damaged + self.downs + self.miswired
    }
}

/// What was dropped for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Drops {
    /// In all.
    pub count: u64,
    /// By node.
    pub nodes: BTreeMap<Node, u64>,
}

impl Report {
    /// Sums a trace up.
    pub fn new(history: &History) -> Report {
        let (first, last) = history.span.unwrap_or_default();
        let mut report = Report {
            network: history.network.map(|network| network.to_string()),
            nodes: history.network.map(|network| network.nodes()),
            baud: history.baud,
            events: history.events,
            unknown_events: history.unknown,
            seconds: (last - first) as f64 / 1e9,
            delivery: BTreeMap::new(),
            outcomes: history.outcomes.clone(),
            latency: latency(&history.packets),
            paths: history.network.map(|network| paths(&network, &history.packets)),
            detours: history.packets.iter().map(|packet| packet.detoured.len() as u64).sum(),
            links: links(history),
            drops: BTreeMap::new(),
        };
        for packet in &history.packets {
            let kind = report.delivery.entry(packet.id.kind.name()).or_default();
            kind.add(packet, report.nodes);
            for (_, node, reason) in &packet.dropped {
                let drops = report.drops.entry(reason.clone()).or_default();
                drops.count += 1;
                *drops.nodes.entry(*node).or_default() += 1;
            }
        }
        report
    }
}

impl Delivery {
    fn add(&mut self, packet: &Packet, nodes: Option<u64>) {
        let mut places: Vec<Node> = packet.delivered.iter().map(|&(_, node)| node).collect();
        places.sort_unstable();
        places.dedup();
        let arrivals = places.len() as u64;
        let wanted = match packet.id.kind {
            // Without the network it is not known how many there are.
            Kind::Broadcast => nodes.map_or(1, |nodes| nodes - 1),
            _ => 1,
        };
        self.packets += 1;
        self.arrivals += arrivals;
        self.duplicates += packet.delivered.len() as u64 - arrivals;
        if arrivals >= wanted {
            self.delivered += 1;
        } else if packet.dropped.is_empty() {
            self.open += 1;
        } else {
            self.dropped += 1;
        }
    }
}

/// When a packet for one node arrived first.
fn arrival(packet: &Packet) -> Option<(Nanos, Node)> {
    let single = packet.id.kind != Kind::Broadcast;
    packet.delivered.iter().copied().min().filter(|_| single)
}

fn latency(packets: &[Packet]) -> Latency {
    let (mut all, mut broadcast, mut hops, mut waits) = (vec![], vec![], vec![], vec![]);
    let mut by_hops: BTreeMap<usize, Vec<Nanos>> = BTreeMap::new();
    for packet in packets {
        let times = packet.hops.iter().filter_map(|hop| Some(hop.received? - hop.sent?));
        hops.extend(times);
        waits.extend(packet.hops.iter().filter_map(|hop| wait(packet, hop.from, hop.sent?)));
        let Some(accepted) = packet.accepted else { continue };
        match arrival(packet) {
            Some((at, node)) => {
                all.push(at - accepted);
                if let Some(path) = packet.path_to(node, at) {
                    by_hops.entry(path.len()).or_default().push(at - accepted);
                }
            }
            None => broadcast.extend(packet.delivered.iter().map(|&(at, _)| at - accepted)),
        }
    }
    let by_hops = by_hops.into_iter();
    Latency {
        end_to_end: Spread::of(all),
        by_hops: by_hops
            .filter_map(|(hops, times)| Some((hops, Spread::of(times)?)))
            .collect(),
        broadcast: Spread::of(broadcast),
        hop: Spread::of(hops),
        wait: Spread::of(waits),
    }
}

/// How long a packet was in a node that sends it: since it last came in, or began its way.
fn wait(packet: &Packet, node: Node, sent: Nanos) -> Option<Nanos> {
    let arrivals = packet.hops.iter().filter(|hop| hop.to == node);
    let last = arrivals
        .filter_map(|hop| hop.received.filter(|&received| received <= sent))
        .max();
    let begun = packet.accepted.filter(|_| node == packet.id.source);
    Some(sent - last.or(begun)?)
}

fn paths(network: &Network, packets: &[Packet]) -> Paths {
    let mut paths = Paths::default();
    // The simulator searches with all memory there is, a board with little; either is what addresses tell.
    let networks = [network.with_search_memory(usize::MAX), *network];
    for packet in packets {
        if packet.id.kind == Kind::Broadcast {
            for hop in packet.hops.iter().filter(|hop| hop.received.is_some()) {
                let expected = networks.map(|network| network.next_hop(hop.to, packet.id.source, Rule::Exact));
                if hop.to != packet.id.source && expected.contains(&Ok(hop.from)) {
                    paths.tree_arrivals += 1;
                } else {
                    paths.other_arrivals += 1;
                }
            }
            continue;
        }
        let Some((at, node)) = arrival(packet) else { continue };
        let Some(hops) = packet.path_to(node, at) else { continue };
        let path: Vec<Node> = std::iter::once(packet.id.source)
            .chain(hops.iter().map(|hop| hop.to))
            .collect();
        let computed = networks.map(|network| route(&network, packet.id.source, node));
        paths.followed += 1;
        paths.hops += hops.len() as u64;
        paths.computed_hops += computed[0].len() as u64 - 1;
        if computed.contains(&path) {
            paths.computed += 1;
            continue;
        }
        if path.len() > computed[0].len() {
            paths.longer += 1;
        } else {
            paths.other += 1;
        }
        if paths.examples.len() < EXAMPLES {
            let [computed, _] = computed;
            paths.examples.push(Deviation {
                kind: packet.id.kind,
                number: packet.id.number,
                path,
                computed,
            });
        }
    }
    paths
}

/// The computed path, both ends included.
fn route(network: &Network, from: Node, to: Node) -> Vec<Node> {
    let next = |&here: &Node| {
        network
            .next_hop(here, to, Rule::Exact)
            .ok()
            .filter(|&next| next != here)
    };
    std::iter::successors(Some(from), next).collect()
}

/// The cables of the network, and others that the trace shows.
fn links(history: &History) -> Vec<LinkQuality> {
    let mut cables: BTreeMap<(Node, Node), LinkQuality> = BTreeMap::new();
    for (&(node, link), end) in &history.ends {
        if let Some(peer) = history.peer(node, link) {
            let (a, b) = (node.min(peer), node.max(peer));
            let cable = cables.entry((a, b)).or_default();
            (cable.a, cable.b) = (a, b);
            cable.add(end);
        }
    }
    cables.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let spread = Spread::of((1..=200).rev().map(|micros| micros * 1000).collect()).unwrap();
        let figures = [
            spread.min_us,
            spread.p50_us,
            spread.p90_us,
            spread.p99_us,
            spread.max_us,
            spread.mean_us,
        ];
        assert_eq!(figures, [1.0, 100.0, 180.0, 198.0, 200.0, 100.5]);
        let one = Spread::of(vec![5000]).unwrap();
        assert_eq!((one.p50_us, one.p99_us, one.count), (5.0, 5.0, 1));
        assert_eq!(Spread::of(vec![]), None);
    }
}
