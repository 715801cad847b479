//! The routers of the whole network, stepped cycle by cycle.
//!
//! A cycle costs what moves in it: idle routers, waiting packets and silent sources are on no list. Flits live in one
//! pool and change hands by their number; nothing is allocated per packet once the pool has grown to the load.
//!
//! The router is the usual one with input queues: a head flit is routed, wins a virtual channel of its class on the link
//! ahead (round robin over the input channels), then every flit wins the switch (one iteration of iSLIP: outputs grant
//! round robin, inputs accept round robin), spends a credit and leaves. The switch grant frees a buffer, and a credit goes
//! back. References: W. J. Dally and B. Towles, Principles and Practices of Interconnection Networks, 2004, chapters 16
//! to 19; N. McKeown, The iSLIP scheduling algorithm for input-queued switches, IEEE/ACM Transactions on Networking 7(2), 1999.

mod allocation;
mod packets;

use hopwise_core::{Network, Rule};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::parameters::{Parameters, Process, Rings};
use super::record::Recorder;
use super::routes::{Lookup, Routes, Step};
use super::source::Sources;
use super::traffic::{Pattern, Traffic};
use super::wheel::Wheel;
use super::wiring::{NO_AXIS, Wiring};

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

/// A virtual channel at the receiving end of a link.
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
pub(super) struct Output {
    pub(super) owner: u32,
    /// The cycle in which the owner claimed it. A claim of this cycle can still be lost to another.
    claimed: u32,
    /// Who had it last, for the round robin.
    last: u32,
    pub(super) credits: u16,
}

/// The sending side of a port.
struct OutPort {
    best: u32,
    stamp: u32,
    last_input: u32,
    /// Input channels waiting for any of its output channels.
    first_waiter: u32,
    /// Added to the number of an output channel, gives the input channel at the other end.
    across: u32,
    local: bool,
}

/// The receiving side of a port.
struct InPort {
    best: u32,
    stamp: u32,
    last_output: u32,
    last_vc: u32,
    node: u32,
    /// Added to the number of an input channel, gives the credit counter at the other end.
    back: u32,
    axis: u8,
}

struct Flit {
    next: u32,
    packet: u32,
}

/// A packet, from its making to the delivery of its last flit.
#[derive(Clone, Copy)]
struct Packet {
    dest: u32,
    born: u32,
    hops: u32,
    /// The source of the broadcast that it is a copy of.
    origin: u32,
    next: u32,
}

struct Source {
    first: u32,
    last: u32,
    sent: u32,
    vc: u32,
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
    pub(super) wiring: Wiring,
    routes: Routes,
    /// Virtual channels of a link: one a class, then those that every packet may use.
    pub(super) channels: u32,
    classes: u32,
    /// Free buffers without which a packet does not enter a channel for all. With one class every channel is as good.
    room_for_all: u16,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Output>,
    in_ports: Vec<InPort>,
    out_ports: Vec<OutPort>,
    /// Credits of the sources, `channels` a node; numbered after the output channels.
    source_credits: Vec<u16>,
    sources: Vec<Source>,
    busy_sources: Vec<u32>,
    making: Sources,
    flits: Vec<Flit>,
    packets: Vec<Packet>,
    paths: Vec<Vec<Step>>,
    free_packet: u32,
    arrivals: Wheel<(u32, u32)>,
    credits: Wheel<u32>,
    seeking: Wheel<u32>,
    granted: Wheel<u32>,
    contenders: Vec<u32>,
    bidders: Vec<u32>,
    made: Vec<u32>,
    touched_out: Vec<u32>,
    touched_in: Vec<u32>,
    rng: Xoshiro256PlusPlus,
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
        let (mut in_ports, mut out_ports) = (Vec::new(), Vec::new());
        for port in 0..wiring.ports() as u32 {
            let node = wiring.node[port as usize];
            let local = wiring.local(node) == port;
            let across = wiring.peer[port as usize].wrapping_sub(port).wrapping_mul(channels);
            let to_source = (total as u32).wrapping_add(node.wrapping_sub(port).wrapping_mul(channels));
            let axis = rings.map_or(NO_AXIS, |rings| rings.axis[port as usize]);
            let back = if local { to_source } else { across };
            in_ports.push(InPort {
                best: NONE,
                stamp: NONE,
                last_output: NONE,
                last_vc: NONE,
                node,
                back,
                axis,
            });
            out_ports.push(OutPort {
                best: NONE,
                stamp: NONE,
                last_input: NONE,
                first_waiter: NONE,
                across,
                local,
            });
        }
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
            claimed: NONE,
            last: NONE,
            credits,
        };
        let nodes = wiring.nodes();
        let delay = parameters.longest_delay();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(scene.seed);
        let making = Sources::new(scene.process, scene.rate, nodes as u32, &mut rng);
        Ok(Self {
            pattern,
            inputs: (0..total as u32).map(|channel| input(channel / channels)).collect(),
            outputs: vec![output; total],
            in_ports,
            out_ports,
            source_credits: vec![credits; nodes * channels as usize],
            sources: (0..nodes)
                .map(|_| Source {
                    first: NONE,
                    last: NONE,
                    sent: 0,
                    vc: 0,
                })
                .collect(),
            busy_sources: Vec::new(),
            making,
            flits: Vec::new(),
            packets: Vec::new(),
            paths: Vec::new(),
            free_packet: NONE,
            arrivals: Wheel::new(delay),
            credits: Wheel::new(delay),
            seeking: Wheel::new(delay),
            granted: Wheel::new(delay),
            contenders: Vec::new(),
            bidders: Vec::new(),
            made: Vec::new(),
            touched_out: Vec::new(),
            touched_in: Vec::new(),
            rng,
            now: 0,
            recorder: Recorder::new(),
            alive: 0,
            moved: 0,
            halt: None,
            most_alive: (nodes as u64 * BACKLOG_PER_NODE).clamp(LEAST_BACKLOG, MOST_BACKLOG),
            throttled: false,
            scene,
            wiring,
            routes,
            channels,
            classes,
            room_for_all: if classes > 1 {
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

    /// One cycle, in the order of the pipeline: what arrives, what is made and enters, who gets a channel, who gets the switch.
    pub(super) fn step(&mut self) -> Result<(), Halt> {
        self.receive();
        self.make_packets();
        self.enter();
        self.allocate_channels();
        self.allocate_switch();
        self.now += 1;
        self.halt.map_or(Ok(()), Err)
    }

    fn receive(&mut self) {
        let credits = self.credits.take(self.now);
        for &credit in &credits {
            match self.outputs.get_mut(credit as usize) {
                Some(output) => {
                    output.credits += 1;
                    match output.owner {
                        NONE if self.classes > 1 => self.wake(credit / self.channels, self.now),
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
        self.credits.give_back(self.now, credits);
        let arrivals = self.arrivals.take(self.now);
        for &(channel, flit) in &arrivals {
            if channel == NONE {
                self.pass_on(flit);
                continue;
            }
            let input = &mut self.inputs[channel as usize];
            let empty = input.filled == 0;
            self.flits[flit as usize].next = NONE;
            if empty {
                input.head = flit;
            } else {
                self.flits[input.tail as usize].next = flit;
            }
            input.tail = flit;
            input.filled += 1;
            match input.state {
                State::Idle => self.seek(channel, self.now + self.scene.parameters.routing),
                State::Active if empty => self.contend(channel),
                _ => (),
            }
        }
        self.arrivals.give_back(self.now, arrivals);
    }

    fn contend(&mut self, channel: u32) {
        let input = &mut self.inputs[channel as usize];
        if !input.contending {
            input.contending = true;
            self.contenders.push(channel);
        }
    }

    /// Routes the packet at the head of a channel; it asks for an output channel in cycle `at`.
    fn seek(&mut self, channel: u32, at: u32) {
        let flit = self.inputs[channel as usize].head;
        let index = self.flits[flit as usize].packet as usize;
        let port = self.inputs[channel as usize].port;
        let node = self.in_ports[port as usize].node;
        let first = self.wiring.first[node as usize];
        let packet = &mut self.packets[index];
        let input = &mut self.inputs[channel as usize];
        input.state = State::Seeking;
        if packet.dest == node {
            let local = self.wiring.first[node as usize + 1] - 1;
            (input.out_port, input.own) = (local, local * self.channels);
        } else {
            let hop = packet.hops as usize;
            packet.hops += 1;
            let (out, mut class) = match &self.routes.lookup {
                Lookup::Table(steps) => {
                    let step = steps[node as usize * self.sources.len() + packet.dest as usize];
                    let mut out = first + step.port();
                    let mut class = step.class();
                    if let (true, Some(rings)) = (step.tie(), &self.wiring.rings)
                        && self.rng.random()
                    {
                        out = rings.opposite[out as usize];
                        class = 1 - class.min(1);
                    }
                    (out, class)
                }
                Lookup::Path => {
                    let step = self.paths[index][hop];
                    (first + step.port(), step.class())
                }
            };
            let axis = self.in_ports[port as usize].axis;
            if axis != NO_AXIS && axis == self.in_ports[out as usize].axis {
                class = channel - port * self.channels;
            }
            (input.out_port, input.own) = (out, out * self.channels + class.min(self.classes - 1));
        }
        self.seeking.put(at, channel);
    }

    /// The flit that won the switch at an input port leaves.
    fn send(&mut self, in_port: u32) {
        let parameters = &self.scene.parameters;
        let port = &mut self.in_ports[in_port as usize];
        let out_port = &mut self.out_ports[port.best as usize];
        let channel = out_port.best;
        (port.last_output, port.last_vc, out_port.last_input) = (port.best, channel, in_port);
        let input = &mut self.inputs[channel as usize];
        let (flit, out) = (input.head, input.out);
        let Flit { next, packet } = self.flits[flit as usize];
        input.head = next;
        input.filled -= 1;
        self.moved += 1;
        self.credits
            .put(self.now + parameters.credit_return(), channel.wrapping_add(port.back));
        let tail = flit + 1 == (packet + 1) * parameters.packet_flits;
        let at = self.now + parameters.flight();
        if out_port.local {
            if tail {
                self.deliver(flit, at);
            }
        } else {
            self.outputs[out as usize].credits -= 1;
            self.arrivals.put(at, (out.wrapping_add(out_port.across), flit));
        }
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
        let mut waiter = std::mem::replace(&mut self.out_ports[out_port as usize].first_waiter, NONE);
        while waiter != NONE {
            self.seeking.put(at, waiter);
            waiter = self.inputs[waiter as usize].next_waiter;
        }
    }

    fn deliver(&mut self, flit: u32, at: u32) {
        let index = self.flits[flit as usize].packet;
        let packet = &self.packets[index as usize];
        self.alive -= 1;
        self.recorder.delivered(packet.born, at, packet.hops);
        if packet.origin == NONE {
            self.release(index);
        } else {
            self.arrivals.put(at, (NONE, flit));
        }
    }

    /// The node and port number (from 0 at the node) of an input or output channel, and its number on the link.
    pub(super) fn place(&self, channel: u32) -> (u32, u32, u32) {
        let port = channel / self.channels;
        let node = self.wiring.node[port as usize];
        (node, port - self.wiring.first[node as usize], channel % self.channels)
    }

    /// The input channel at the other end of an output channel; `None` if it leads out of the network.
    pub(super) fn behind(&self, out: u32) -> Option<u32> {
        let port = &self.out_ports[(out / self.channels) as usize];
        (!port.local).then(|| out.wrapping_add(port.across))
    }

    /// Bytes of memory in use for the network, routes and packets.
    pub(super) fn bytes(&self) -> usize {
        let table = match &self.routes.lookup {
            Lookup::Table(steps) => steps.capacity() * size_of::<Step>(),
            Lookup::Path => self.paths.iter().map(|path| path.capacity() * size_of::<Step>()).sum(),
        };
        table
            + self.inputs.capacity() * size_of::<Input>()
            + self.outputs.capacity() * size_of::<Output>()
            + self.in_ports.capacity() * size_of::<InPort>()
            + self.out_ports.capacity() * size_of::<OutPort>()
            + self.source_credits.capacity() * 2
            + self.sources.capacity() * size_of::<Source>()
            + self.flits.capacity() * size_of::<Flit>()
            + self.packets.capacity() * size_of::<Packet>()
            + self.paths.capacity() * size_of::<Vec<Step>>()
            + (self.wiring.first.capacity() + self.wiring.peer.capacity() + self.wiring.node.capacity()) * 4
    }
}
