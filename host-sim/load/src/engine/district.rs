//! The network in parts that fit the processor's cache.
//!
//! In a cycle, the routers and sources of a district need nothing of the others: flits and credits between nodes are
//! always on the way for some cycles. So the districts take turns, each for as many cycles as the shortest way lasts, and
//! while it has its turn its routers stay in the cache. Every district has its own random numbers; a network of
//! one district is not divided at all.

use std::ops::Range;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Scene;
use crate::source::Sources;
use crate::wheel::Wheel;
use crate::wiring::Wiring;

/// Virtual channels of a district, about: with ports and sources they take a third of a megabyte, a part of a core's cache.
const CHANNELS: usize = 5_000;

/// A flit that reaches an input channel; with the channel `NONE`, the last of a broadcast's copy that reaches its node.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub(super) channel: u32,
    pub(super) flit: u32,
}

/// What is going on in a district: every list names nodes, ports or channels that have something to do.
pub(super) struct District {
    /// Its first node.
    pub(super) first: u32,
    /// Its first port.
    pub(super) first_port: u32,
    pub(super) making: Sources,
    pub(super) rng: Xoshiro256PlusPlus,
    pub(super) made: Vec<u32>,
    pub(super) busy_sources: Vec<u32>,
    pub(super) arrivals: Wheel<Arrival>,
    pub(super) credits: Wheel<u32>,
    pub(super) seeking: Wheel<u32>,
    pub(super) bidders: Vec<u32>,
    /// Channels whose packet has won an output channel, by the cycle in which it may ask for the switch.
    pub(super) ready: Wheel<u32>,
    pub(super) contenders: Vec<u32>,
    /// Output ports that somebody wants, and input ports from which somebody crosses the switch, in this cycle.
    pub(super) wanted: Vec<u32>,
    pub(super) winners: Vec<u32>,
}

impl District {
    /// The district of some nodes, with nothing going on. Events are at most `delay` cycles ahead.
    fn new(scene: &Scene<'_>, nodes: Range<u32>, first_port: u32, delay: u32, mut rng: Xoshiro256PlusPlus) -> Self {
        Self {
            first: nodes.start,
            first_port,
            making: Sources::new(scene.process, scene.rate, nodes.len() as u32, &mut rng),
            rng,
            made: Vec::new(),
            busy_sources: Vec::new(),
            arrivals: Wheel::new(delay),
            credits: Wheel::new(delay),
            seeking: Wheel::new(delay),
            bidders: Vec::new(),
            ready: Wheel::new(delay),
            contenders: Vec::new(),
            wanted: Vec::new(),
            winners: Vec::new(),
        }
    }

    /// Bytes of its lists.
    pub(super) fn bytes(&self) -> usize {
        let lists = [
            &self.made,
            &self.busy_sources,
            &self.bidders,
            &self.contenders,
            &self.wanted,
            &self.winners,
        ];
        lists.into_iter().map(|list| list.capacity() * 4).sum::<usize>()
            + self.arrivals.bytes()
            + self.credits.bytes()
            + self.seeking.bytes()
            + self.ready.bytes()
    }
}

/// A network divided.
pub(super) struct Division {
    pub(super) districts: Vec<District>,
    /// A district of no nodes.
    pub(super) empty: District,
    /// Cycles that a district can go on without the others.
    pub(super) window: u32,
    /// Ports of the district that has most.
    pub(super) most_ports: usize,
}

/// Nodes of a district, in a network with so many virtual channels.
pub(super) fn size(nodes: usize, channels: usize) -> u32 {
    let most = nodes.min(usize::from(u16::MAX));
    let districts = channels.div_ceil(CHANNELS).clamp(1, most);
    nodes.div_ceil(districts) as u32
}

/// Divides a network into districts of `size` nodes.
pub(super) fn divide(scene: &Scene<'_>, wiring: &Wiring, size: u32) -> Division {
    let parameters = &scene.parameters;
    let nodes = wiring.nodes() as u32;
    let window = if size < nodes {
        parameters.flight().min(parameters.credit_return())
    } else {
        u32::MAX
    };
    // A district can be that much behind the one that sends to it.
    let delay = parameters.longest_delay() + if size < nodes { window } else { 0 };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(scene.seed);
    let mut next = |nodes: Range<u32>| {
        let first_port = wiring.first[nodes.start as usize];
        let district = District::new(scene, nodes, first_port, delay, rng.clone());
        rng.jump();
        district
    };
    let ranges = || {
        (0..nodes)
            .step_by(size as usize)
            .map(|start| start..nodes.min(start.saturating_add(size)))
    };
    let ports = |nodes: Range<u32>| wiring.first[nodes.end as usize] - wiring.first[nodes.start as usize];
    Division {
        districts: ranges().map(&mut next).collect(),
        empty: next(0..0),
        window,
        most_ports: ranges().map(ports).max().unwrap_or(0) as usize,
    }
}
