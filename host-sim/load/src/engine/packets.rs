//! Packets: their memory, how they are made and how they enter the network.

use super::district::{Arrival, District};
use super::routers::NONE;
use super::{Engine, Halt};
use crate::parameters::Parameters;
use crate::routes::Valleys;
use crate::wiring::Wiring;

/// A packet, from its making to the delivery of its last flit.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct Packet {
    pub(super) dest: u32,
    pub(super) born: u32,
    pub(super) hops: u32,
    /// The source of the broadcast that it is a copy of.
    pub(super) origin: u32,
    pub(super) next: u32,
    pub(super) valleys: Valleys,
}

/// A node's queue of packets that have not entered the network.
pub(super) struct Source {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) sent: u32,
    pub(super) vc: u32,
    /// The first channel of the local port.
    pub(super) channel: u32,
}

/// All packets between their making and the delivery of their last flit, the sources that hold those that have not entered,
/// and the memory of those that are gone.
///
/// A packet's flits are numbered after it: flit `f` is of packet `f / packet_flits`.
pub(super) struct Packets {
    flits_each: u32,
    pub(super) all: Vec<Packet>,
    free: u32,
    /// The flit behind each in the same channel.
    pub(super) next_flit: Vec<u32>,
    pub(super) sources: Vec<Source>,
    /// Credits of the sources, `channels` a node; numbered after the output channels.
    pub(super) source_credits: Vec<u16>,
    /// Packets made and not yet delivered.
    pub(super) alive: u64,
    /// Sources pause while so many packets are alive.
    most_alive: u64,
    /// Whether they ever had to.
    pub(super) throttled: bool,
}

/// Packets that may be alive in the whole network and its sources, a node, and in all: more is overload.
const BACKLOG_PER_NODE: u64 = 1_000;
const LEAST_BACKLOG: u64 = 1 << 16;
const MOST_BACKLOG: u64 = 1 << 22;

impl Packets {
    /// None yet. A link has so many channels.
    pub(super) fn new(parameters: &Parameters, wiring: &Wiring, channels: u32) -> Self {
        let nodes = wiring.nodes();
        Self {
            flits_each: parameters.packet_flits,
            all: Vec::new(),
            free: NONE,
            next_flit: Vec::new(),
            sources: (0..nodes)
                .map(|node| Source {
                    first: NONE,
                    last: NONE,
                    sent: 0,
                    vc: 0,
                    channel: wiring.first[node] * channels,
                })
                .collect(),
            source_credits: vec![parameters.buffers as u16; nodes * channels as usize],
            alive: 0,
            most_alive: (nodes as u64 * BACKLOG_PER_NODE).clamp(LEAST_BACKLOG, MOST_BACKLOG),
            throttled: false,
        }
    }

    /// The packet of a flit.
    #[inline]
    pub(super) fn number(&self, flit: u32) -> u32 {
        flit / self.flits_each
    }

    /// The packet of a flit.
    #[inline]
    pub(super) fn of(&self, flit: u32) -> &Packet {
        &self.all[self.number(flit) as usize]
    }

    /// Whether a flit is its packet's last.
    #[inline]
    pub(super) fn is_last(&self, flit: u32) -> bool {
        self.flits_each == 1 || (flit + 1).is_multiple_of(self.flits_each)
    }

    /// Whether there are so many that no more may be made.
    fn overloaded(&mut self) -> bool {
        if self.alive < self.most_alive {
            return false;
        }
        self.throttled = true;
        true
    }

    fn insert(&mut self, packet: Packet) -> u32 {
        self.alive += 1;
        if self.free != NONE {
            let index = self.free;
            self.free = self.all[index as usize].next;
            self.all[index as usize] = packet;
            return index;
        }
        let index = self.all.len() as u32;
        self.all.push(packet);
        self.next_flit.resize(self.all.len() * self.flits_each as usize, NONE);
        index
    }

    /// Queues a packet at its source; says whether it is the first there.
    fn queue(&mut self, node: u32, index: u32) -> bool {
        let source = &mut self.sources[node as usize];
        let first = source.first == NONE;
        if first {
            source.first = index;
        } else {
            self.all[source.last as usize].next = index;
        }
        source.last = index;
        first
    }

    /// A packet is gone.
    pub(super) fn release(&mut self, index: u32) {
        self.all[index as usize].next = self.free;
        self.free = index;
    }

    /// Bytes of memory in use.
    pub(super) fn bytes(&self) -> usize {
        self.source_credits.capacity() * 2
            + self.sources.capacity() * size_of::<Source>()
            + self.next_flit.capacity() * 4
            + self.all.capacity() * size_of::<Packet>()
    }
}

impl Engine<'_> {
    pub(super) fn make_packets(&mut self) {
        let mut made = std::mem::take(&mut self.districts.current.made);
        let District { making, rng, .. } = &mut self.districts.current;
        making.cycle(self.now, rng, &mut made);
        for node in made.drain(..) {
            let node = self.districts.current.first + node;
            if self.packets.overloaded() {
                break;
            }
            self.recorder.made(self.now);
            match self.destinations.next(node, &mut self.districts.current.rng) {
                None => self.fan_out(node, node, self.now, 0),
                Some(dest) => self.make(
                    node,
                    Packet {
                        dest,
                        born: self.now,
                        hops: 0,
                        origin: NONE,
                        next: NONE,
                        valleys: Valleys::default(),
                    },
                ),
            }
        }
        self.districts.current.made = made;
    }

    /// Queues the copies of a broadcast of `origin` that `node` has to send.
    fn fan_out(&mut self, node: u32, origin: u32, born: u32, hops: u32) {
        let Ok(children) = self.scene.network.fanout(u64::from(node), u64::from(origin)) else {
            return;
        };
        for (_, child) in children {
            self.make(
                node,
                Packet {
                    dest: child as u32,
                    born,
                    hops,
                    origin,
                    next: NONE,
                    valleys: Valleys::default(),
                },
            );
        }
    }

    /// A copy of a broadcast has arrived in full.
    pub(super) fn pass_on(&mut self, flit: u32) {
        let packet = *self.packets.of(flit);
        self.packets.release(self.packets.number(flit));
        self.fan_out(packet.dest, packet.origin, packet.born, packet.hops);
    }

    fn make(&mut self, node: u32, mut packet: Packet) {
        packet.valleys = self.routes.valleys(node, packet.dest);
        if packet.valleys.ahead >= self.routers.classes && self.scene.parameters.class_limit.is_none() {
            self.halt = Some(Halt::MoreClasses(packet.valleys.ahead + 1));
        }
        let index = self.packets.insert(packet);
        self.recorder.expect(packet.born);
        if self.packets.queue(node, index) {
            self.districts.current.busy_sources.push(node);
        }
    }

    /// Every source with something to send puts one flit on its way into the router, if there is room.
    pub(super) fn enter(&mut self) {
        let at = self.now + self.scene.parameters.entry();
        let flits = self.scene.parameters.packet_flits;
        let mut index = 0;
        while index < self.districts.current.busy_sources.len() {
            let node = self.districts.current.busy_sources[index];
            let source = &mut self.packets.sources[node as usize];
            let base = node * self.routers.channels;
            if source.sent == 0 {
                let start = source.vc;
                let after = |turn| {
                    if start + turn >= self.routers.channels {
                        start + turn - self.routers.channels
                    } else {
                        start + turn
                    }
                };
                let free = (1..=self.routers.channels)
                    .map(after)
                    .find(|&vc| self.packets.source_credits[(base + vc) as usize] > 0);
                source.vc = free.unwrap_or(start);
            }
            let credit = &mut self.packets.source_credits[(base + source.vc) as usize];
            if *credit == 0 {
                index += 1;
                continue;
            }
            *credit -= 1;
            let channel = source.channel + source.vc;
            let flit = source.first * flits + source.sent;
            self.districts.current.arrivals.put(at, Arrival { channel, flit });
            source.sent += 1;
            if source.sent == flits {
                source.sent = 0;
                let next = self.packets.all[source.first as usize].next;
                source.first = next;
                if next == NONE {
                    self.districts.current.busy_sources.swap_remove(index);
                    continue;
                }
            }
            index += 1;
        }
    }
}
