//! A trace in figures.

use std::collections::BTreeMap;
use std::io::BufRead;

use hopwise_core::{Network, Node, Rule};
use hopwise_node::wire::Kind;
use serde::Serialize;

use crate::follow::{Audience, EndCounts, Overview, follow};
use crate::line::Nanos;
use crate::packet::{Arrivals, Packet};
use crate::reader::{BadTrace, Reader};
use crate::samples::{Samples, TimeSpread};

/// Packets that took another path are listed up to this number.
const EXAMPLES: usize = 10;

/// Delivery, latency, paths, cables and drops; the keys of `--json` are stable.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub network: Option<String>,
    pub nodes: Option<u64>,
    pub baud: Option<u32>,
    pub events: u64,
    pub unknown_events: u64,
    pub seconds: f64,
    pub cut: Option<u64>,
    pub delivery: BTreeMap<&'static str, Delivery>,
    pub outcomes: BTreeMap<&'static str, u64>,
    pub latency: Latency,
    pub paths: Option<Paths>,
    pub detours: u64,
    pub links: Vec<LinkQuality>,
    pub drops: BTreeMap<&'static str, Drops>,
}

/// How packets of one kind fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Delivery {
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

#[derive(Clone, Debug, Serialize)]
pub struct Latency {
    /// From acceptance to delivery, packets for one node.
    pub end_to_end: Option<TimeSpread>,
    /// The same by the hops they took.
    pub by_hops: BTreeMap<usize, TimeSpread>,
    /// From acceptance to each arrival of a broadcast.
    pub broadcast: Option<TimeSpread>,
    /// One hop: from sending, for the first time, to the other end.
    pub hop: Option<TimeSpread>,
    /// The wait in a node before a hop.
    pub wait: Option<TimeSpread>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Paths {
    /// Delivered packets for one node whose whole path is in the trace.
    pub followed: u64,
    /// Those that took the computed path.
    pub computed: u64,
    /// Those that took another of the same length.
    pub other: u64,
    /// Those that took a longer one.
    pub longer: u64,
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
pub struct Deviation {
    pub kind: Kind,
    pub number: u32,
    pub path: Vec<Node>,
    pub computed: Vec<Node>,
}

/// How a cable fared: both directions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
        self.retransmissions += end.retransmit;
        self.damaged += end.damaged;
        self.ups += end.ups;
        self.downs += end.downs;
        self.miswired += end.miswired;
    }

    /// What went wrong, to find the worst.
    pub fn fault(&self) -> u64 {
        self.retransmissions + self.damaged + self.downs + self.miswired
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Drops {
    pub count: u64,
    pub nodes: BTreeMap<Node, u64>,
}

impl Report {
    /// Reads a trace to its end. The network is the one given, or else the one that the trace names. The memory does not grow
    /// with the trace: it is for the packets that are under way at a time.
    pub fn read<R: BufRead>(reader: Reader<R>, network: Option<Network>) -> Result<Report, BadTrace> {
        let network = network.map_or_else(|| reader.network(), |network| Ok(Some(network)))?;

        let mut figures = Figures::new(network);
        let overview = follow(reader, network, &mut figures)?;
        Ok(figures.report(overview))
    }
}

#[derive(Default)]
struct Figures {
    nodes: Option<u64>,
    /// The simulator searches with all memory there is, a board with little; either is what addresses tell.
    networks: Option<[Network; 2]>,
    delivery: BTreeMap<&'static str, Delivery>,
    drops: BTreeMap<&'static str, Drops>,
    detours: u64,
    paths: Paths,
    end_to_end: Samples,
    by_hops: BTreeMap<usize, Samples>,
    broadcast: Samples,
    hop: Samples,
    wait: Samples,
}

impl Audience for Figures {
    fn packet(&mut self, packet: Packet) {
        let kind = self.delivery.entry(packet.id.kind.name()).or_default();
        kind.add(&packet, self.nodes);
        for (_, node, reason) in &packet.dropped {
            let drops = self.drops.entry(reason.name()).or_default();
            drops.count += 1;
            *drops.nodes.entry(*node).or_default() += 1;
        }
        self.detours += packet.detoured.len() as u64;
        let arrivals = packet.arrivals();
        for hop in &packet.hops {
            if let Some((sent, received)) = hop.sent.zip(hop.received) {
                self.hop.add(received - sent);
            }
            if let Some(wait) = arrivals.wait(hop) {
                self.wait.add(wait);
            }
        }
        if packet.id.kind == Kind::Broadcast {
            self.add_broadcast(&packet);
        } else {
            self.add_single(&packet, &arrivals);
        }
    }
}

impl Figures {
    fn new(network: Option<Network>) -> Self {
        Figures {
            nodes: network.map(|network| network.nodes()),
            networks: network.map(|network| [network.with_search_memory(usize::MAX), network]),
            ..Figures::default()
        }
    }

    fn add_broadcast(&mut self, packet: &Packet) {
        if let Some(accepted) = packet.accepted {
            let times = packet.delivered.iter().map(|&(at, _)| at - accepted);
            times.for_each(|time| self.broadcast.add(time));
        }
        let Some(networks) = self.networks else { return };
        for hop in packet.hops.iter().filter(|hop| hop.received.is_some()) {
            let expected = networks.map(|network| network.next_hop(hop.to, packet.id.source, Rule::Exact));
            if hop.to != packet.id.source && expected.contains(&Ok(hop.from)) {
                self.paths.tree_arrivals += 1;
            } else {
                self.paths.other_arrivals += 1;
            }
        }
    }

    /// A packet for one node: when it arrived first, and by which path.
    fn add_single(&mut self, packet: &Packet, arrivals: &Arrivals<'_>) {
        let Some((at, node)) = packet.delivered.iter().copied().min() else {
            return;
        };
        let took: Option<Nanos> = packet.accepted.map(|accepted| at - accepted);
        if let Some(took) = took {
            self.end_to_end.add(took);
        }
        let Some(hops) = arrivals.path_to(node, at) else { return };
        if let Some(took) = took {
            self.by_hops.entry(hops.len()).or_default().add(took);
        }
        let Some(networks) = self.networks else { return };
        let path = std::iter::once(packet.id.source).chain(hops.iter().map(|hop| hop.to));
        let path: Vec<Node> = path.collect();
        let computed = networks.map(|network| self::path(&network, packet.id.source, node));
        let paths = &mut self.paths;
        paths.followed += 1;
        paths.hops += hops.len() as u64;
        paths.computed_hops += computed[0].len() as u64 - 1;
        if computed.contains(&path) {
            paths.computed += 1;
            return;
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

    fn report(self, overview: Overview) -> Report {
        let (first, last) = overview.span.unwrap_or_default();
        let by_hops = self.by_hops.iter();
        let by_hops = by_hops.filter_map(|(hops, samples)| Some((*hops, samples.spread()?)));
        Report {
            network: overview.network.map(|network| network.to_string()),
            nodes: self.nodes,
            baud: overview.baud,
            events: overview.events,
            unknown_events: overview.unknown,
            seconds: (last - first) as f64 / 1e9,
            cut: overview.cut,
            delivery: self.delivery,
            latency: Latency {
                end_to_end: self.end_to_end.spread(),
                by_hops: by_hops.collect(),

                broadcast: self.broadcast.spread(),
                hop: self.hop.spread(),
                wait: self.wait.spread(),
            },
            paths: self.networks.map(|_| self.paths),
            detours: self.detours,
            links: links(&overview),
            drops: self.drops,
            outcomes: overview.outcomes,
        }
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

/// The computed path, both ends included.
pub fn path(network: &Network, from: Node, to: Node) -> Vec<Node> {
    let next = |&here: &Node| {
        let next = network.next_hop(here, to, Rule::Exact).ok();
        next.filter(|&next| next != here)
    };
    // No path is longer.
    let path = std::iter::successors(Some(from), next);
    path.take(network.nodes() as usize).collect()
}

fn links(overview: &Overview) -> Vec<LinkQuality> {
    let mut cables: BTreeMap<(Node, Node), LinkQuality> = BTreeMap::new();
    for (&(node, link), end) in &overview.ends {
        if let Some(peer) = overview.peer(node, link) {
            let (a, b) = (node.min(peer), node.max(peer));
            let cable = cables.entry((a, b)).or_default();
            (cable.a, cable.b) = (a, b);
            cable.add(end);
        }
    }
    cables.into_values().collect()
}
