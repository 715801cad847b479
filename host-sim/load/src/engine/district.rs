//! The network in parts that fit the processor's cache.
//!
//! In a cycle, the routers and sources of a district need nothing of the others: flits and credits between nodes are
//! always under way for some cycles. So the districts take turns, each for as many cycles as the shortest of them lasts, and
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
    fn bytes(&self) -> usize {
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

/// The districts of a network. They take turns: one is the current district, the others wait.
pub(super) struct Districts {
    all: Vec<District>,
    /// The district that is worked on; between turns, one of no nodes.
    pub(super) current: District,
    /// Its number; its place in the list is taken by the one of no nodes meanwhile.
    number: usize,
    /// Nodes of a district.
    size: u32,
    /// Cycles that a district can go on without the others.
    pub(super) window: u32,
    /// Ports of the district that has most.
    pub(super) most_ports: usize,
}

impl Districts {
    /// Divides a network into districts of `size` nodes.
    pub(super) fn new(scene: &Scene<'_>, wiring: &Wiring, size: u32) -> Self {
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
        Self {
            all: ranges().map(&mut next).collect(),
            current: next(0..0),
            number: 0,
            size,
            window,
            most_ports: ranges().map(ports).max().unwrap_or(0) as usize,
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// The number of the district of a node.
    pub(super) fn of(&self, node: u32) -> u16 {
        (node / self.size) as u16
    }

    /// A district begins its turn.
    pub(super) fn take_up(&mut self, number: usize) {
        self.number = number;
        std::mem::swap(&mut self.current, &mut self.all[number]);
    }

    /// The turn of the current district is over.
    pub(super) fn put_back(&mut self) {
        std::mem::swap(&mut self.current, &mut self.all[self.number]);
    }

    /// A district by its number, whether or not it is its turn.
    #[inline]
    pub(super) fn at(&mut self, number: u16) -> &mut District {
        if usize::from(number) == self.number {
            &mut self.current
        } else {
            &mut self.all[usize::from(number)]
        }
    }

    /// Bytes of their lists.
    pub(super) fn bytes(&self) -> usize {
        self.all.iter().map(District::bytes).sum()
    }
}

/// Nodes of a district, in a network with so many virtual channels.
pub(super) fn size(nodes: usize, channels: usize) -> u32 {
    let most = nodes.min(usize::from(u16::MAX));
    let districts = channels.div_ceil(CHANNELS).clamp(1, most);
    nodes.div_ceil(districts) as u32
}
