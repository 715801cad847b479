//! A part of the network that fits the processor's cache, and what is going on in it.
//!
//! In a cycle, the routers and sources of a partition need nothing of the others: flits and credits between nodes are always under way
//! for some cycles. So each partition has its turn for as many cycles as the shortest of them lasts, while which its routers stay in the
//! cache of the core that works on it. Every partition has its own random numbers; a network of one partition is not divided at all.

use std::ops::Range;

use hopwise_language::Destinations;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::agenda::Agenda;
use super::border::{Border, BoundaryEvent, HERE};
use super::packets::{Packet, Packets};
use super::routers::{ChannelPlan, Port, Routers, State, Winner};
use super::{MoreClasses, Shared};
use crate::source::Sources;
use crate::wheel::Wheel;
use crate::wiring::{NO_AXIS, NONE, Wiring};

/// Virtual channels of a partition, about: with ports and sources they take a third of a megabyte, a part of a core's cache.
const CHANNELS: usize = 5_000;

/// A flit that reaches an input channel; with the channel `NONE`, the last of a packet whose arrival at its node has consequences.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub(super) channel: u32,
    pub(super) flit: u32,
}

#[derive(Clone, Copy)]
pub(super) struct Delivery {
    pub(super) born: u32,
    pub(super) at: u32,
    pub(super) hops: u32,
}

/// What the recorder is told after a turn.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) delivered: Vec<Delivery>,
    /// When packets were made that were lost.
    pub(super) lost: Vec<u32>,
    /// Packets that sources made, and packets to be delivered, of those that count.
    pub(super) offered: u64,
    pub(super) expected: u64,
}

/// Routers and sources, with lists of nodes, ports or channels that have something to do. All are numbered from its first.
pub(super) struct Partition {
    /// Its first node and channel, by their numbers in the network.
    pub(super) first: u32,
    pub(super) first_channel: u32,
    pub(super) now: u32,
    pub(super) routers: Routers,
    pub(super) packets: Packets,
    pub(super) border: Border,
    pub(super) destinations: Destinations,
    pub(super) making: Sources,
    pub(super) agenda: Option<Agenda>,
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
    pub(super) notes: Notes,
    /// The balance of its packets when its turn began.
    pub(super) balance: i64,
    /// Flits that ever crossed a switch.
    pub(super) moved: u64,
    pub(super) halt: Option<MoreClasses>,
}

impl Partition {
    /// The partition within a border, with nothing going on. Events are at most `delay` cycles ahead.
    pub(super) fn new(
        shared: &Shared<'_>,
        wiring: &Wiring,
        plan: ChannelPlan,
        border: Border,
        destinations: Destinations,
        delay: u32,
        mut rng: Xoshiro256PlusPlus,
    ) -> Self {
        let (experiment, parameters) = (shared.experiment, &shared.parameters);
        let nodes = border.nodes.clone();
        let rate = shared.schedule.map_or(experiment.rate, |_| 0.0);
        Self {
            first: nodes.start,
            first_channel: wiring.first[nodes.start as usize] * plan.channels(),
            now: 0,
            routers: Routers::new(parameters, wiring, plan, &border),
            packets: Packets::new(parameters, wiring, plan.channels(), nodes.clone()),
            border,
            destinations,
            making: Sources::new(experiment.process, rate, nodes.len() as u32, &mut rng),
            agenda: shared.schedule.map(|schedule| Agenda::new(schedule, nodes)),
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
            notes: Notes::default(),
            balance: 0,
            moved: 0,
            halt: None,
        }
    }

    /// Some cycles, beginning with what has come from the other partitions meanwhile.
    pub(super) fn turn(&mut self, shared: &Shared<'_>, cycles: Range<u32>) {
        self.read_letters();
        self.balance = self.packets.balance();
        if self.border.has_neighbors() {
            self.fetch(cycles.clone());
        }
        for now in cycles {
            self.now = now;
            self.step(shared);
        }
    }

    fn read_letters(&mut self) {
        for place in 0..self.border.incoming.len() {
            let mut letters = std::mem::take(&mut self.border.incoming[place]);
            for letter in letters.drain(..) {
                match letter {
                    BoundaryEvent::Credit { at, channel } => self.credits.put(at, channel),
                    BoundaryEvent::Flit {
                        at,
                        channel,
                        packet,
                        part,
                    } => {
                        let flit = self.packets.take_in(channel, packet, part);
                        self.arrivals.put(at, Arrival { channel, flit });
                    }
                }
            }
            self.border.incoming[place] = letters;
        }
    }

    /// Reads what the next cycles will work on. Independent reads overlap, so that the memory's delay is paid once for many, and not
    /// once for each in the steps that follow.
    fn fetch(&self, cycles: Range<u32>) {
        let mut read = 0;
        for now in cycles {
            for &Arrival { channel, flit } in self.arrivals.look(now) {
                read ^= self.packets.of(flit).dest;
                if let Some(input) = self.routers.inputs.get(channel as usize) {
                    read ^= input.head ^ self.routers.ports[(channel / self.routers.channels) as usize].node;
                }
            }
            for &credit in self.credits.look(now) {
                read ^= match self.routers.outputs.get(credit as usize) {
                    Some(output) => output.owner,
                    None => u32::from(self.packets.source_credits[credit as usize - self.routers.outputs.len()]),
                };
            }
            for &channel in self.seeking.look(now).iter().chain(self.ready.look(now)) {
                let input = &self.routers.inputs[channel as usize];
                read ^= self.routers.ports[input.port as usize].node ^ self.routers.ports[input.out_port as usize].node;
                read ^= self.routers.outputs[input.own as usize].owner ^ self.packets.of(input.head).dest;
            }
        }
        std::hint::black_box(read);
    }

    /// One cycle, in the order of the pipeline: what arrives, what is made and enters, who gets a channel, who gets the switch.
    fn step(&mut self, shared: &Shared<'_>) {
        self.receive(shared);
        self.make_packets(shared);
        self.enter(shared);
        self.allocate_channels(shared);
        self.allocate_switch(shared);
    }

    fn receive(&mut self, shared: &Shared<'_>) {
        let credits = self.credits.take(self.now);
        for &credit in &credits {
            match self.routers.outputs.get_mut(credit as usize) {
                Some(output) => {
                    output.credits += 1;
                    match output.owner {
                        NONE if self.routers.room_for_all > 0 => self.wake(credit / self.routers.channels, self.now),
                        NONE => (),
                        owner if self.routers.inputs[owner as usize].state == State::Starved => {
                            self.routers.inputs[owner as usize].state = State::Active;
                            self.contend(owner);
                        }
                        _ => (),
                    }
                }
                None => self.packets.source_credits[credit as usize - self.routers.outputs.len()] += 1,
            }
        }
        self.credits.give_back(self.now, credits);
        let arrivals = self.arrivals.take(self.now);
        for &Arrival { channel, flit } in &arrivals {
            if channel == NONE {
                self.arrived(shared, flit);
                continue;
            }
            let input = &mut self.routers.inputs[channel as usize];
            let empty = input.filled == 0;
            // Alone in its channel, a flit needs no link to the next: most are, and their memory is not touched.
            if empty {
                input.head = flit;
            } else {
                self.packets.next_flit[input.tail as usize] = flit;
            }
            input.tail = flit;
            input.filled += 1;
            match input.state {
                State::Idle => self.seek(shared, channel, self.now),
                State::Active if empty => self.contend(channel),
                _ => (),
            }
        }
        self.arrivals.give_back(self.now, arrivals);
    }

    pub(super) fn contend(&mut self, channel: u32) {
        let input = &mut self.routers.inputs[channel as usize];
        if !input.contending {
            input.contending = true;
            self.contenders.push(channel);
        }
    }

    /// Routes the packet that is at the head of a channel from cycle `since` on; after that it asks for an output channel. One that cannot
    /// go on leaves the network here, where it is counted as lost.
    fn seek(&mut self, shared: &Shared<'_>, channel: u32, since: u32) {
        let input = &mut self.routers.inputs[channel as usize];
        let number = self.packets.number(input.head);
        let packet = &mut self.packets.all[number as usize];
        let Port { node, local, axis, .. } = self.routers.ports[input.port as usize];
        input.state = State::Seeking;
        if packet.via == node {
            packet.via = NONE;
            packet.valleys = shared.routes.valleys(node, packet.dest);
        }
        let first_half = packet.via != NONE;
        let target = if first_half { packet.via } else { packet.dest };
        let step = match target == node {
            true => None,
            false => shared.routes.step(node, target, &mut packet.valleys),
        };
        match step {
            None => (input.out_port, input.own) = (local, local * self.routers.channels),
            Some(step) => {
                packet.hops += 1;
                let mut out = local + 1 + step.port;
                let mut class = step.class;
                if step.tie && self.rng.random() {
                    out = self.routers.opposite[out as usize];
                    class = 1 - class.min(1);
                }
                if axis != NO_AXIS && axis == self.routers.ports[out as usize].axis {
                    class = (channel - input.port * self.routers.channels) / self.routers.class_channels;
                }
                if first_half {
                    class += self.routers.classes / 2;
                }
                let first = class.min(self.routers.classes - 1) * self.routers.class_channels;
                (input.out_port, input.own) = (out, out * self.routers.channels + first);
            }
        }
        let delay = shared.parameters.routing;
        let stage = self.routers.routing.get_mut((node - self.first) as usize);
        let at = stage.map_or(since + delay, |stage| stage.done(since, delay));
        self.seeking.put(at, channel);
    }

    /// Of all ports on shortest paths, turns to the one with most room behind it.
    pub(super) fn steer(&mut self, shared: &Shared<'_>, channel: u32) {
        let input = &self.routers.inputs[channel as usize];
        let Port { node, local, .. } = self.routers.ports[input.port as usize];
        if input.out_port == local {
            return;
        }
        let packet = self.packets.of(input.head);
        let target = if packet.via == NONE { packet.dest } else { packet.via };
        // Where the first of equals is differs, so that they are taken alike.
        let mut ports = shared.routes.shortest(node, target);
        let turn = (packet.born ^ packet.hops) % ports.count_ones().max(1);
        for _ in 0..turn {
            ports &= ports - 1;
        }
        let mut rest = [ports, shared.routes.shortest(node, target) ^ ports];
        let (mut best, mut most) = (input.out_port, None);
        for ports in &mut rest {
            while *ports != 0 {
                let out = local + 1 + ports.trailing_zeros();
                *ports &= *ports - 1;
                let room = self.routers.room_behind(out);
                if most.is_none_or(|most| room > most) {
                    (best, most) = (out, Some(room));
                }
            }
        }
        self.routers.inputs[channel as usize].out_port = best;
    }

    /// The flit that won the switch at an input port leaves.
    pub(super) fn send(&mut self, shared: &Shared<'_>, winner: Winner) {
        let (in_port, out_port, channel) = (winner.in_port, winner.out_port, winner.channel);
        self.routers.ports[out_port as usize].last_input = in_port;
        let (out_across, downstream) = self.routers.ports[out_port as usize].other_end();
        let port = &mut self.routers.ports[in_port as usize];
        (port.last_output, port.last_vc) = (out_port, channel);
        let (in_across, upstream) = port.other_end();
        let leaves = out_port == port.local;
        let mut returned = self.now + shared.credit_return;
        if in_port == port.local {
            returned -= shared.parameters.credit;
        }
        let mut at = self.now + shared.flight;
        if let Some(stage) = self.routers.traversal.get_mut((port.node - self.first) as usize) {
            let parameters = &shared.parameters;
            let done = stage.done(self.now + parameters.switch_alloc, parameters.traversal);
            let sent = &mut self.routers.sent[out_port as usize];
            *sent = done.max(*sent + 1);
            at = *sent + parameters.channel;
        }
        let input = &mut self.routers.inputs[channel as usize];
        let (flit, out) = (input.head, input.out);
        input.filled -= 1;
        if input.filled > 0 {
            input.head = self.packets.next_flit[flit as usize];
        }
        self.moved += 1;
        let tail = self.packets.is_last(flit);
        if leaves && let Some(delay) = shared.sink_return {
            self.routers.outputs[out as usize].credits -= 1;
            self.credits.put(at + delay, out);
        }
        if !leaves {
            self.routers.outputs[out as usize].credits -= 1;
            self.routers.crossed[out_port as usize] += 1;
            let channel = out.wrapping_add(out_across);
            if downstream == HERE {
                self.arrivals.put(at, Arrival { channel, flit });
            } else {
                let letter = BoundaryEvent::Flit {
                    at,
                    channel,
                    packet: *self.packets.of(flit),
                    part: self.packets.part(flit),
                };
                self.border.outgoing[usize::from(downstream)].push(letter);
                if tail {
                    self.packets.release(self.packets.number(flit));
                }
            }
        } else if tail {
            self.deliver(self.routers.ports[out_port as usize].node, flit, at);
        }
        let credit = channel.wrapping_add(in_across);
        if upstream == HERE {
            self.credits.put(returned, credit);
        } else {
            self.border.outgoing[usize::from(upstream)].push(BoundaryEvent::Credit {
                at: returned,
                channel: credit,
            });
        }
        if tail {
            self.leave(shared, channel, out);
        }
    }

    /// A packet has left a channel: its output channel is free, and the next packet is routed.
    fn leave(&mut self, shared: &Shared<'_>, channel: u32, out: u32) {
        let next = self.now + 1;
        self.routers.outputs[out as usize].owner = NONE;
        let out_port = self.routers.inputs[channel as usize].out_port;
        self.wake(out_port, next);
        if self.routers.inputs[channel as usize].filled > 0 {
            self.seek(shared, channel, next);
        } else {
            self.routers.inputs[channel as usize].state = State::Idle;
        }
    }

    /// Whoever waits for a channel of an output port tries again in cycle `at`.
    fn wake(&mut self, out_port: u32, at: u32) {
        let mut waiter = std::mem::replace(&mut self.routers.ports[out_port as usize].first_waiter, NONE);
        while waiter != NONE {
            self.seeking.put(at, waiter);
            waiter = self.routers.inputs[waiter as usize].next_waiter;
        }
    }

    /// A packet has left the network at a node: where it was to go, or where it could not go on.
    fn deliver(&mut self, node: u32, flit: u32, at: u32) {
        let Packet {
            dest, born, hops, tag, ..
        } = *self.packets.of(flit);
        self.packets.left += 1;
        if dest != node {
            self.notes.lost.push(born);
            self.packets.release(self.packets.number(flit));
            return;
        }
        self.notes.delivered.push(Delivery { born, at, hops });
        if tag == NONE {
            self.packets.release(self.packets.number(flit));
        } else {
            self.arrivals.put(at, Arrival { channel: NONE, flit });
        }
    }

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
            + self.routers.bytes()
            + self.packets.bytes()
            + self.border.bytes()
            + self.notes.delivered.capacity() * size_of::<Delivery>()
    }
}

/// Nodes of a partition, in a network with so many virtual channels.
pub(super) fn size(nodes: usize, channels: usize) -> u32 {
    let most = nodes.min(usize::from(u16::MAX));
    let partitions = channels.div_ceil(CHANNELS).clamp(1, most);
    nodes.div_ceil(partitions) as u32
}
