//! The routers of the whole network, stepped cycle by cycle.
//!
//! A cycle costs what moves in it: idle routers, waiting packets and silent sources are on no list. Flits live in one
//! pool and change hands by their number; nothing is allocated per packet once the pool has grown to the load. A large
//! network is worked on in [districts](district) that fit the processor's cache.
//!
//! The router is the usual one with input queues: a head flit is routed, wins a virtual channel of its class on the link
//! ahead (round robin over the input channels), then every flit wins the switch (one iteration of iSLIP: outputs grant
//! round robin, inputs accept round robin), spends a credit and leaves. The switch grant frees a buffer, and a credit goes
//! back. References: W. J. Dally and B. Towles, Principles and Practices of Interconnection Networks, 2004, chapters 16
//! to 19; N. McKeown, The iSLIP scheduling algorithm for input-queued switches, IEEE/ACM Transactions on Networking 7(2), 1999.

mod allocation;
mod district;
mod packets;

use hopwise_core::{Network, Rule};
use rand::RngExt;

use super::parameters::{Parameters, Process, Rings};
use super::record::Recorder;
use super::routes::{Routes, Valleys};
use super::traffic::{Pattern, Traffic};
use super::wiring::{NO_AXIS, Wiring};
use allocation::Winner;
use district::{Arrival, District, Division};

pub(super) const NONE: u32 = u32::MAX;

/// What an input channel is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No packet.
    Idle,
    /// Its first packet is on the way to an output channel, or waits for one.
    Seeking,
    /// Its first packet owns an output channel.
    Active,
    /// As active, but the output channel has no credit.
    Starved,
}

/// A virtual channel at the receiving end of a link. Aligned, like the others below, so that none lies across two lines of
/// the cache.
#[repr(align(32))]
pub(super) struct Input {
    head: u32,
    tail: u32,
    /// The output channel that the first packet owns.
    pub(super) out: u32,
    /// The output channel of its class; on the way out of the network, where all are alike, the first.
    pub(super) own: u32,
    /// The next in the queue for the same output port.
    next_waiter: u32,
    port: u32,
    out_port: u32,
    pub(super) filled: u16,
    pub(super) state: State,
    /// Whether it is in the list of those who want the switch.
    contending: bool,
}

/// A virtual channel at the sending end of a link.
#[derive(Clone)]
#[repr(align(16))]
pub(super) struct Output {
    pub(super) owner: u32,
    /// Who had it last, for the round robin.
    last: u32,
    pub(super) credits: u16,
    /// Whether the owner can still lose it to another in this cycle.
    claimed: bool,
}

/// A port, in both directions. Compact: in a large network, memory is what takes the time.
#[repr(align(32))]
struct Port {
    /// The round robin of the switch: the output port that the receiving side sent to last, and from which channel.
    last_output: u32,
    last_vc: u32,
    /// The input port that the sending side served last.
    last_input: u32,
    /// Input channels waiting for any of the output channels.
    first_waiter: u32,
    node: u32,
    /// The local port of the node, its first.
    local: u32,
    /// Added to the number of an output channel, gives the input channel at the other end, and the other way round. At a local
    /// port, added to the number of an input channel, gives the credit counter of the source.
    across: u32,
    /// The district at the other end.
    district: u16,
    axis: u8,
}

impl Port {
    /// What to add to the number of a channel, and the district where it leads.
    fn other_end(&self) -> (u32, u16) {
        (self.across, self.district)
    }
}

/// A packet, from its making to the delivery of its last flit.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Packet {
    dest: u32,
    born: u32,
    hops: u32,
    /// The source of the broadcast that it is a copy of.
    origin: u32,
    next: u32,
    valleys: Valleys,
}

struct Source {
    first: u32,
    last: u32,
    sent: u32,
    vc: u32,
    /// The first channel of the local port.
    channel: u32,
}

/// Why a run cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// A packet needs a class that was not provided for; begin again with so many.
    MoreClasses(u32),
}

/// What is simulated.
#[derive(Clone, Debug)]
pub(super) struct Scene<'a> {
    pub(super) network: &'a Network,
    pub(super) rule: Rule,
    pub(super) parameters: Parameters,
    pub(super) traffic: Traffic,
    pub(super) process: Process,
    /// Packets that a node makes in a cycle, on average.
    pub(super) rate: f64,
    pub(super) seed: u64,
    /// Classes to provide at least.
    pub(super) classes: u32,
}

/// The state of the whole network.
pub(super) struct Engine<'a> {
    scene: Scene<'a>,
    pattern: Pattern,
    routes: Routes,
    /// The port that goes the other way round the ring, in rings and tori.
    opposite: Vec<u32>,
    /// Virtual channels of a link: one a class, then those that every packet may use.
    pub(super) channels: u32,
    classes: u32,
    /// Free buffers without which a packet does not enter a channel for all. 0 if there is none, or only one class: then
    /// every channel is as good.
    room_for_all: u16,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Output>,
    ports: Vec<Port>,
    /// For the ports of the district on the desk: the channel that an output port grants itself to, and the grant that an
    /// input port accepts. Within a cycle only, so that all districts share the memory.
    granted: Vec<u32>,
    accepted: Vec<Winner>,
    /// Credits of the sources, `channels` a node; numbered after the output channels.
    source_credits: Vec<u16>,
    sources: Vec<Source>,
    /// The flit behind each in the same channel.
    next_flit: Vec<u32>,
    packets: Vec<Packet>,
    free_packet: u32,
    districts: Vec<District>,
    /// The district that is worked on, in exchange for the empty one; and its number.
    desk: District,
    here: u32,
    /// Cycles that a district can be ahead of the others.
    window: u32,
    pub(super) now: u32,
    pub(super) recorder: Recorder,
    /// Packets made and not yet delivered.
    pub(super) alive: u64,
    /// Flits that ever crossed a switch.
    pub(super) moved: u64,
    halt: Option<Halt>,
    /// Sources pause while so many packets are alive.
    most_alive: u64,
    /// Whether they ever had to.
    pub(super) throttled: bool,
}

/// Packets that may be alive in the whole network and its sources, a node, and in all: more is overload.
const BACKLOG_PER_NODE: u64 = 1_000;
const LEAST_BACKLOG: u64 = 1 << 16;
const MOST_BACKLOG: u64 = 1 << 22;

impl<'a> Engine<'a> {
    /// One sentence if the traffic means nothing on this network.
    pub(super) fn new(scene: Scene<'a>) -> Result<Self, String> {
        let pattern = Pattern::new(scene.traffic, scene.network, scene.seed)?;
        let parameters = scene.parameters;
        let wiring = Wiring::new(scene.network);
        let routes = Routes::new(scene.network, scene.rule, parameters.rings, &wiring);
        let wanted = routes.class_count.max(scene.classes);
        let classes = wanted.min(parameters.class_limit.unwrap_or(u32::MAX));
        let rings = wiring.rings.as_ref().filter(|_| parameters.rings == Rings::Balanced);
        let shared = if rings.is_some() && classes > 1 {
            0
        } else {
            parameters.shared_channels
        };
        let channels = classes + shared;
        let total = wiring.ports() * channels as usize;
        let nodes = wiring.nodes();
        let size = district::size(nodes, total);
        let port = |port: u32| {
            let node = wiring.node[port as usize];
            let (local, peer) = (wiring.first[node as usize], wiring.peer[port as usize]);
            let offset = if local == port {
                (total as u32).wrapping_add(node.wrapping_sub(port).wrapping_mul(channels))
            } else {
                peer.wrapping_sub(port).wrapping_mul(channels)
            };
            Port {
                last_output: NONE,
                last_vc: NONE,
                last_input: NONE,
                first_waiter: NONE,
                node,
                local,
                across: offset,
                district: (wiring.node[peer as usize] / size) as u16,
                axis: rings.map_or(NO_AXIS, |rings| rings.axis[port as usize]),
            }
        };
        let input = |port| Input {
            head: NONE,
            tail: NONE,
            out: NONE,
            own: NONE,
            next_waiter: NONE,
            port,
            out_port: NONE,
            filled: 0,
            state: State::Idle,
            contending: false,
        };
        let credits = parameters.buffers as u16;
        let output = Output {
            owner: NONE,
            last: NONE,
            credits,
            claimed: false,
        };
        let Division {
            districts,
            empty,
            window,
            most_ports,
        } = district::divide(&scene, &wiring, size);
        Ok(Self {
            pattern,
            inputs: (0..total as u32).map(|channel| input(channel / channels)).collect(),
            outputs: vec![output; total],
            ports: (0..wiring.ports() as u32).map(port).collect(),
            granted: vec![NONE; most_ports],
            accepted: vec![Winner::NONE; most_ports],
            source_credits: vec![credits; nodes * channels as usize],
            sources: (0..nodes)
                .map(|node| Source {
                    first: NONE,
                    last: NONE,
                    sent: 0,
                    vc: 0,
                    channel: wiring.first[node] * channels,
                })
                .collect(),
            next_flit: Vec::new(),
            packets: Vec::new(),
            free_packet: NONE,
            districts,
            desk: empty,
            here: 0,
            window,
            now: 0,
            recorder: Recorder::new(),
            alive: 0,
            moved: 0,
            halt: None,
            most_alive: (nodes as u64 * BACKLOG_PER_NODE).clamp(LEAST_BACKLOG, MOST_BACKLOG),
            throttled: false,
            scene,
            routes,
            opposite: wiring.rings.map(|rings| rings.opposite).unwrap_or_default(),
            channels,
            classes,
            room_for_all: if classes > 1 && shared > 0 {
                parameters.packet_flits.min(parameters.buffers) as u16
            } else {
                0
            },
        })
    }

    /// The classes in use.
    pub(super) fn classes(&self) -> u32 {
        self.classes
    }

    /// Flits that a channel holds.
    pub(super) fn buffers(&self) -> u32 {
        self.scene.parameters.buffers
    }

    /// Some cycles, district by district.
    pub(super) fn run(&mut self, cycles: u32) -> Result<(), Halt> {
        let end = self.now + cycles;
        while self.now < end {
            let start = self.now;
            let window = self.window.min(end - start);
            for here in 0..self.districts.len() {
                self.here = here as u32;
                std::mem::swap(&mut self.desk, &mut self.districts[here]);
                if self.districts.len() > 1 {
                    self.fetch(start..start + window);
                }
                for now in start..start + window {
                    self.now = now;
                    self.step();
                }
                std::mem::swap(&mut self.desk, &mut self.districts[here]);
            }
            self.now = start + window;
            self.halt.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// Reads what the next cycles of the district on the desk will work on. Independent reads overlap, so that the
    /// memory's delay is paid once for many, and not once for each in the steps that follow.
    fn fetch(&self, cycles: std::ops::Range<u32>) {
        let flits = self.scene.parameters.packet_flits;
        let mut read = 0;
        for now in cycles {
            for &Arrival { channel, flit } in self.desk.arrivals.look(now) {
                let packet = &self.packets[(flit / flits) as usize];
                read ^= packet.dest;
                if let Some(input) = self.inputs.get(channel as usize) {
                    read ^= input.head ^ self.ports[(channel / self.channels) as usize].node;
                }
            }
            for &credit in self.desk.credits.look(now) {
                read ^= match self.outputs.get(credit as usize) {
                    Some(output) => output.owner,
                    None => u32::from(self.source_credits[credit as usize - self.outputs.len()]),
                };
            }
            let (seeking, ready) = (self.desk.seeking.look(now), self.desk.ready.look(now));
            for &channel in seeking.iter().chain(ready) {
                let input = &self.inputs[channel as usize];
                read ^= self.ports[input.port as usize].node ^ self.ports[input.out_port as usize].node;
                read ^= self.outputs[input.own as usize].owner ^ self.packets[(input.head / flits) as usize].dest;
            }
        }
        std::hint::black_box(read);
    }

    /// One cycle of the district on the desk, in the order of the pipeline: what arrives, what is made and enters, who gets a
    /// channel, who gets the switch.
    fn step(&mut self) {
        self.receive();
        self.make_packets();
        self.enter();
        self.allocate_channels();
        self.allocate_switch();
    }

    fn district(&mut self, number: u16) -> &mut District {
        if u32::from(number) == self.here {
            &mut self.desk
        } else {
            &mut self.districts[number as usize]
        }
    }

    fn receive(&mut self) {
        let credits = self.desk.credits.take(self.now);
        for &credit in &credits {
            match self.outputs.get_mut(credit as usize) {
                Some(output) => {
                    output.credits += 1;
                    match output.owner {
                        NONE if self.room_for_all > 0 => self.wake(credit / self.channels, self.now),
                        NONE => (),
                        owner if self.inputs[owner as usize].state == State::Starved => {
                            self.inputs[owner as usize].state = State::Active;
                            self.contend(owner);
                        }
                        _ => (),
                    }
                }
                None => self.source_credits[credit as usize - self.outputs.len()] += 1,
            }
        }
        self.desk.credits.give_back(self.now, credits);
        let arrivals = self.desk.arrivals.take(self.now);
        for &Arrival { channel, flit } in &arrivals {
            if channel == NONE {
                self.pass_on(flit);
                continue;
            }
            let input = &mut self.inputs[channel as usize];
            let empty = input.filled == 0;
            // Alone in its channel, a flit needs no link to the next: most are, and their memory is not touched.
            if empty {
                input.head = flit;
            } else {
                self.next_flit[input.tail as usize] = flit;
            }
            input.tail = flit;
            input.filled += 1;
            match input.state {
                State::Idle => self.seek(channel, self.now + self.scene.parameters.routing),
                State::Active if empty => self.contend(channel),
                _ => (),
            }
        }
        self.desk.arrivals.give_back(self.now, arrivals);
    }

    fn contend(&mut self, channel: u32) {
        let input = &mut self.inputs[channel as usize];
        if !input.contending {
            input.contending = true;
            self.desk.contenders.push(channel);
        }
    }

    /// Routes the packet at the head of a channel; it asks for an output channel in cycle `at`.
    fn seek(&mut self, channel: u32, at: u32) {
        let input = &mut self.inputs[channel as usize];
        let packet = &mut self.packets[(input.head / self.scene.parameters.packet_flits) as usize];
        let Port { node, local, axis, .. } = self.ports[input.port as usize];
        input.state = State::Seeking;
        if packet.dest == node {
            (input.out_port, input.own) = (local, local * self.channels);
        } else {
            packet.hops += 1;
            let step = self.routes.step(node, packet.dest, &mut packet.valleys);
            let mut out = local + 1 + step.port;
            let mut class = step.class;
            if step.tie && self.desk.rng.random() {
                out = self.opposite[out as usize];
                class = 1 - class.min(1);
            }
            if axis != NO_AXIS && axis == self.ports[out as usize].axis {
                class = channel - input.port * self.channels;
            }
            (input.out_port, input.own) = (out, out * self.channels + class.min(self.classes - 1));
        }
        self.desk.seeking.put(at, channel);
    }

    /// The flit that won the switch at an input port leaves.
    fn send(
        &mut self,
        Winner {
            in_port,
            out_port,
            channel,
        }: Winner,
    ) {
        let parameters = &self.scene.parameters;
        self.ports[out_port as usize].last_input = in_port;
        let (out_across, downstream) = self.ports[out_port as usize].other_end();
        let port = &mut self.ports[in_port as usize];
        (port.last_output, port.last_vc) = (out_port, channel);
        let (in_across, upstream) = port.other_end();
        let leaves = out_port == port.local;
        let input = &mut self.inputs[channel as usize];
        let (flit, out) = (input.head, input.out);
        input.filled -= 1;
        if input.filled > 0 {
            input.head = self.next_flit[flit as usize];
        }
        self.moved += 1;
        let tail = parameters.packet_flits == 1 || (flit + 1) % parameters.packet_flits == 0;
        let (returned, at) = (self.now + parameters.credit_return(), self.now + parameters.flight());
        if !leaves {
            self.outputs[out as usize].credits -= 1;
            let channel = out.wrapping_add(out_across);
            self.district(downstream).arrivals.put(at, Arrival { channel, flit });
        } else if tail {
            self.deliver(flit, at);
        }
        let credit = channel.wrapping_add(in_across);
        self.district(upstream).credits.put(returned, credit);
        if tail {
            self.leave(channel, out);
        }
    }

    /// A packet has left a channel: its output channel is free, and the next packet is routed.
    fn leave(&mut self, channel: u32, out: u32) {
        let next = self.now + 1;
        self.outputs[out as usize].owner = NONE;
        let out_port = self.inputs[channel as usize].out_port;
        self.wake(out_port, next);
        if self.inputs[channel as usize].filled > 0 {
            self.seek(channel, next + self.scene.parameters.routing);
        } else {
            self.inputs[channel as usize].state = State::Idle;
        }
    }

    /// Whoever waits for a channel of an output port tries again in cycle `at`.
    fn wake(&mut self, out_port: u32, at: u32) {
        let mut waiter = std::mem::replace(&mut self.ports[out_port as usize].first_waiter, NONE);
        while waiter != NONE {
            self.desk.seeking.put(at, waiter);
            waiter = self.inputs[waiter as usize].next_waiter;
        }
    }

    fn deliver(&mut self, flit: u32, at: u32) {
        let index = flit / self.scene.parameters.packet_flits;
        let packet = &self.packets[index as usize];
        self.alive -= 1;
        self.recorder.delivered(packet.born, at, packet.hops);
        if packet.origin == NONE {
            self.release(index);
        } else {
            self.desk.arrivals.put(at, Arrival { channel: NONE, flit });
        }
    }

    /// The node of an input or output channel, and its number on the link.
    pub(super) fn place(&self, channel: u32) -> (u32, u32) {
        let port = &self.ports[(channel / self.channels) as usize];
        (port.node, channel % self.channels)
    }

    /// The input channel at the other end of an output channel; `None` if it leads out of the network.
    pub(super) fn behind(&self, out: u32) -> Option<u32> {
        let number = out / self.channels;
        let port = &self.ports[number as usize];
        (port.local != number).then(|| out.wrapping_add(port.across))
    }

    /// Bytes of memory in use for the network, routes and packets.
    pub(super) fn bytes(&self) -> usize {
        self.routes.bytes()
            + self.inputs.capacity() * size_of::<Input>()
            + self.outputs.capacity() * size_of::<Output>()
            + self.ports.capacity() * size_of::<Port>()
            + self.source_credits.capacity() * 2
            + self.sources.capacity() * size_of::<Source>()
            + self.next_flit.capacity() * 4
            + self.packets.capacity() * size_of::<Packet>()
            + self.districts.iter().map(|district| district.bytes()).sum::<usize>()
            + self.opposite.capacity() * 4
    }
}
