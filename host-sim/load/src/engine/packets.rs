//! Packets: their memory, how they are made and how they enter the network.

use std::ops::Range;

use rand::RngExt;

use super::partition::{Arrival, Partition};
use super::{MoreClasses, Shared};
use crate::parameters::{Parameters, Paths};
use crate::routes::Valleys;
use crate::wiring::{NONE, Wiring};

/// A packet, from its making to the delivery of its last flit.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct Packet {
    pub(super) dest: u32,
    pub(super) born: u32,
    pub(super) hops: u32,
    /// What its arrival has consequences for: the source of the broadcast that it is a copy of, or the round of a schedule.
    pub(super) tag: u32,
    pub(super) next: u32,
    /// The node that it visits first.
    pub(super) via: u32,
    pub(super) valleys: Valleys,
}

impl Packet {
    fn new(dest: u32, born: u32, tag: u32) -> Self {
        Self {
            dest,
            born,
            hops: 0,
            tag,
            next: NONE,
            via: NONE,
            valleys: Valleys::default(),
        }
    }
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

/// The packets of a partition between their making and the delivery of their last flit, the sources that hold those that have not
/// entered, and the memory of those that are gone. A packet part of which is in another partition is there too.
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
    /// The packet whose flits an input channel is getting from another partition, if packets have several.
    coming: Vec<u32>,
    /// Packets ever made, entered into the network and gone from it, here.
    pub(super) made: u64,
    pub(super) entered: u64,
    pub(super) left: u64,
    /// Whether sources ever had to pause because too many packets were alive.
    pub(super) throttled: bool,
}

/// Packets that may be alive in the whole network and its sources, a node, and in all: more is overload.
const BACKLOG_PER_NODE: i64 = 1_000;
const LEAST_BACKLOG: i64 = 1 << 16;
const MAX_BACKLOG: i64 = 1 << 22;

/// Sources pause while so many packets are alive in a network.
pub(super) fn most_alive(nodes: usize) -> i64 {
    (nodes as i64 * BACKLOG_PER_NODE).clamp(LEAST_BACKLOG, MAX_BACKLOG)
}

impl Packets {
    /// None yet, at some nodes. A link has so many channels.
    pub(super) fn new(parameters: &Parameters, wiring: &Wiring, channels: u32, nodes: Range<u32>) -> Self {
        let first = wiring.first[nodes.start as usize];
        let ports = wiring.first[nodes.end as usize] - first;
        let several = parameters.packet_flits > 1;
        Self {
            flits_each: parameters.packet_flits,
            all: Vec::new(),
            free: NONE,
            next_flit: Vec::new(),
            source_credits: vec![parameters.buffers as u16; nodes.len() * channels as usize],
            coming: vec![NONE; if several { (ports * channels) as usize } else { 0 }],
            sources: nodes
                .map(|node| Source {
                    first: NONE,
                    last: NONE,
                    sent: 0,
                    vc: 0,
                    channel: (wiring.first[node as usize] - first) * channels,
                })
                .collect(),
            made: 0,
            entered: 0,
            left: 0,
            throttled: false,
        }
    }

    #[inline]
    pub(super) fn number(&self, flit: u32) -> u32 {
        flit / self.flits_each
    }

    #[inline]
    pub(super) fn of(&self, flit: u32) -> &Packet {
        &self.all[self.number(flit) as usize]
    }

    #[inline]
    pub(super) fn is_last(&self, flit: u32) -> bool {
        self.flits_each == 1 || (flit + 1).is_multiple_of(self.flits_each)
    }

    pub(super) fn part(&self, flit: u32) -> u32 {
        flit % self.flits_each
    }

    /// A flit comes from another partition; its number here.
    pub(super) fn take_in(&mut self, channel: u32, packet: Packet, part: u32) -> u32 {
        if self.flits_each == 1 {
            return self.insert(packet);
        }
        if part == 0 {
            self.coming[channel as usize] = self.insert(packet);
        }
        self.coming[channel as usize] * self.flits_each + part
    }

    fn insert(&mut self, packet: Packet) -> u32 {
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

    /// Packets made here more than gone from here.
    pub(super) fn balance(&self) -> i64 {
        self.made as i64 - self.left as i64
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

    pub(super) fn release(&mut self, index: u32) {
        self.all[index as usize].next = self.free;
        self.free = index;
    }

    pub(super) fn bytes(&self) -> usize {
        self.source_credits.capacity() * 2
            + self.sources.capacity() * size_of::<Source>()
            + (self.next_flit.capacity() + self.coming.capacity()) * 4
            + self.all.capacity() * size_of::<Packet>()
    }
}

impl Partition {
    pub(super) fn make_packets(&mut self, shared: &Shared<'_>) {
        let mut made = std::mem::take(&mut self.made);
        self.making.cycle(self.now, &mut self.rng, &mut made);
        for node in made.drain(..) {
            if shared.alive + self.packets.balance() - self.balance >= shared.most_alive {
                self.packets.throttled = true;
                break;
            }
            self.notes.offered += u64::from(shared.counts(self.now));
            match self.destinations.next(self.first + node, &mut self.rng) {
                None => self.fan_out(shared, node, Packet::new(NONE, self.now, self.first + node)),
                Some(dest) => self.make_to(shared, node, dest, NONE),
            }
        }
        self.made = made;
        if let Some(mut agenda) = self.agenda.take() {
            agenda.send(self.now, |node, dest, round| {
                self.notes.offered += u64::from(shared.counts(self.now));
                self.make_to(shared, node, dest, round);
            });
            self.agenda = Some(agenda);
        }
    }

    /// Makes a packet to a node, by way of another if that is how packets go.
    fn make_to(&mut self, shared: &Shared<'_>, node: u32, dest: u32, tag: u32) {
        let mut packet = Packet::new(dest, self.now, tag);
        if shared.parameters.paths == Paths::Valiant {
            let via = self.rng.random_range(0..shared.nodes);
            // One that has failed is not visited.
            let from = self.first + node;
            let mut valleys = shared.routes.valleys(from, via);
            let there = via == from || shared.routes.step(from, via, &mut valleys).is_some();

            packet.via = if there { via } else { NONE };
        }
        self.make(shared, node, packet);
    }

    /// Queues the copies of a broadcast that a node has to send; `packet` is the one that it got.
    fn fan_out(&mut self, shared: &Shared<'_>, node: u32, packet: Packet) {
        let here = u64::from(self.first + node);
        let Ok(children) = shared.experiment.network.fanout(here, u64::from(packet.tag)) else {
            return;
        };
        for (_, child) in children {
            let copy = Packet {
                dest: child as u32,
                next: NONE,
                ..packet
            };
            self.make(shared, node, copy);
        }
    }

    /// A packet whose arrival has consequences has arrived in full.
    pub(super) fn arrived(&mut self, shared: &Shared<'_>, flit: u32) {
        let packet = *self.packets.of(flit);
        self.packets.release(self.packets.number(flit));
        let node = packet.dest - self.first;
        match &mut self.agenda {
            Some(agenda) => agenda.received(node, packet.tag),
            None => self.fan_out(shared, node, packet),
        }
    }

    fn make(&mut self, shared: &Shared<'_>, node: u32, mut packet: Packet) {
        let from = self.first + node;
        let most = match packet.via {
            NONE => {
                packet.valleys = shared.routes.valleys(from, packet.dest);
                packet.valleys.ahead
            }
            via => {
                packet.valleys = shared.routes.valleys(from, via);
                let second = shared.routes.valleys(via, packet.dest);
                packet.valleys.ahead.max(second.ahead)
            }
        };
        let classes = self.routers.classes / shared.parameters.paths.phases();
        if most >= classes && shared.parameters.class_limit.is_none() {
            self.halt = Some(MoreClasses(most + 1));
        }
        let index = self.packets.insert(packet);
        self.packets.made += 1;
        self.notes.expected += u64::from(shared.counts(packet.born));
        if self.packets.queue(node, index) {
            self.busy_sources.push(node);
        }
    }

    /// Every source with something to send puts one flit on its way into the router, if there is room. While sources wait, they only
    /// finish what they have begun.
    pub(super) fn enter(&mut self, shared: &Shared<'_>) {
        let at = self.now + shared.entry;
        let flits = shared.parameters.packet_flits;
        let mut index = 0;
        while index < self.busy_sources.len() {
            let node = self.busy_sources[index];
            let source = &mut self.packets.sources[node as usize];
            let base = node * self.routers.channels;
            if source.sent == 0 {
                if shared.sources_wait {
                    index += 1;
                    continue;
                }
                let start = source.vc;
                let mut round = (start + 1..self.routers.channels).chain(0..=start);
                let free = round.find(|&vc| self.packets.source_credits[(base + vc) as usize] > 0);
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
            self.arrivals.put(at, Arrival { channel, flit });
            self.packets.entered += u64::from(source.sent == 0);
            source.sent += 1;
            if source.sent == flits {
                source.sent = 0;
                let next = self.packets.all[source.first as usize].next;
                source.first = next;
                if next == NONE {
                    self.busy_sources.swap_remove(index);
                    continue;
                }
            }
            index += 1;
        }
    }
}
