//! The routers of the whole network, stepped cycle by cycle.
//!
//! A cycle costs what moves in it: idle routers, waiting packets and silent sources are on no list. Flits live in one
//! pool and change hands by their number; nothing is allocated per packet once the pool has grown to the load. A large
//! network is worked on in [districts](district::Districts) that fit the processor's cache.
//!
//! - [`routers`]: ports and channels; [`packets`]: what is under way, and what enters; [`district`]: time, and who has
//!   something to do; [`allocation`]: who gets a channel, and who the switch. This file has the pipeline.
//!
//! The router is the usual one with input queues: a head flit is routed, wins a virtual channel of its class on the link
//! ahead (round robin over the input channels), then every flit wins the switch (one iteration of iSLIP: outputs grant
//! round robin, inputs accept round robin), spends a credit and leaves. The switch grant frees a buffer, and a credit goes
//! back. References: W. J. Dally and B. Towles, Principles and Practices of Interconnection Networks, 2004, chapters 16
//! to 19; N. McKeown, The iSLIP scheduling algorithm for input-queued switches, IEEE/ACM Transactions on Networking 7(2), 1999.

mod allocation;
mod district;
mod packets;
mod routers;

use hopwise_core::{Network, Rule};
use hopwise_language::{BadDestinations, Destinations, Traffic};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::parameters::{Parameters, Process};
use super::record::Recorder;
use super::routes::Routes;
use super::wiring::{NO_AXIS, Wiring};
use district::{Arrival, Districts};
use packets::Packets;
use routers::{ChannelPlan, Port, Winner};
pub(super) use routers::{NONE, Routers, State};

/// Why a run cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// A packet needs a class that was not provided for; begin again with so many.
    MoreClasses(u32),
}

/// Draws what patterns of traffic have drawn once, besides the numbers of the districts.
const PERMUTATION: u64 = 0x7065_726d;

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

/// The whole network while it is simulated.
pub(super) struct Engine<'a> {
    scene: Scene<'a>,
    destinations: Destinations,
    routes: Routes,
    pub(super) routers: Routers,
    packets: Packets,
    districts: Districts,
    pub(super) now: u32,
    pub(super) recorder: Recorder,
    /// Flits that ever crossed a switch.
    pub(super) moved: u64,
    halt: Option<Halt>,
}

impl<'a> Engine<'a> {
    /// The network before its first cycle.
    pub(super) fn new(scene: Scene<'a>) -> Result<Self, BadDestinations> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(scene.seed ^ PERMUTATION);
        let destinations = Destinations::new(scene.traffic, scene.network, &mut rng)?;
        let parameters = scene.parameters;
        let wiring = Wiring::new(scene.network);
        let routes = Routes::new(scene.network, scene.rule, parameters.rings, &wiring);
        let plan = ChannelPlan::new(&parameters, &wiring, routes.class_count.max(scene.classes));
        let parameters = parameters.shared_out(plan.channels());
        let size = district::size(wiring.nodes(), wiring.ports() * plan.channels() as usize);
        let districts = Districts::new(&scene, &wiring, size);
        Ok(Self {
            destinations,
            routes,
            routers: Routers::new(&parameters, &wiring, plan, &districts),
            packets: Packets::new(&parameters, &wiring, plan.channels()),
            districts,
            now: 0,
            recorder: Recorder::new(),
            moved: 0,
            halt: None,
            scene,
        })
    }

    /// Packets made and not yet delivered.
    pub(super) fn alive(&self) -> u64 {
        self.packets.alive
    }

    /// Whether sources ever had to pause because too many packets were alive.
    pub(super) fn throttled(&self) -> bool {
        self.packets.throttled
    }

    /// Some cycles, district by district.
    pub(super) fn run(&mut self, cycles: u32) -> Result<(), Halt> {
        let end = self.now + cycles;
        while self.now < end {
            let start = self.now;
            let window = self.districts.window.min(end - start);
            for district in 0..self.districts.count() {
                self.districts.take_up(district);
                if self.districts.count() > 1 {
                    self.fetch(start..start + window);
                }
                for now in start..start + window {
                    self.now = now;
                    self.step();
                }
                self.districts.put_back();
            }
            self.now = start + window;
            self.halt.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// Reads what the next cycles of the current district will work on. Independent reads overlap, so that the
    /// memory's delay is paid once for many, and not once for each in the steps that follow.
    fn fetch(&self, cycles: std::ops::Range<u32>) {
        let mut read = 0;
        for now in cycles {
            for &Arrival { channel, flit } in self.districts.current.arrivals.look(now) {
                read ^= self.packets.of(flit).dest;
                if let Some(input) = self.routers.inputs.get(channel as usize) {
                    read ^= input.head ^ self.routers.ports[(channel / self.routers.channels) as usize].node;
                }
            }
            for &credit in self.districts.current.credits.look(now) {
                read ^= match self.routers.outputs.get(credit as usize) {
                    Some(output) => output.owner,
                    None => u32::from(self.packets.source_credits[credit as usize - self.routers.outputs.len()]),
                };
            }
            let (seeking, ready) = (
                self.districts.current.seeking.look(now),
                self.districts.current.ready.look(now),
            );
            for &channel in seeking.iter().chain(ready) {
                let input = &self.routers.inputs[channel as usize];
                read ^= self.routers.ports[input.port as usize].node ^ self.routers.ports[input.out_port as usize].node;
                read ^= self.routers.outputs[input.own as usize].owner ^ self.packets.of(input.head).dest;
            }
        }
        std::hint::black_box(read);
    }

    /// One cycle of the current district, in the order of the pipeline: what arrives, what is made and enters, who gets a
    /// channel, who gets the switch.
    fn step(&mut self) {
        self.receive();
        self.make_packets();
        self.enter();
        self.allocate_channels();
        self.allocate_switch();
    }

    fn receive(&mut self) {
        let credits = self.districts.current.credits.take(self.now);
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
        self.districts.current.credits.give_back(self.now, credits);
        let arrivals = self.districts.current.arrivals.take(self.now);
        for &Arrival { channel, flit } in &arrivals {
            if channel == NONE {
                self.pass_on(flit);
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
                State::Idle => self.seek(channel, self.now + self.scene.parameters.routing),
                State::Active if empty => self.contend(channel),
                _ => (),
            }
        }
        self.districts.current.arrivals.give_back(self.now, arrivals);
    }

    fn contend(&mut self, channel: u32) {
        let input = &mut self.routers.inputs[channel as usize];
        if !input.contending {
            input.contending = true;
            self.districts.current.contenders.push(channel);
        }
    }

    /// Routes the packet at the head of a channel; it asks for an output channel in cycle `at`.
    fn seek(&mut self, channel: u32, at: u32) {
        let input = &mut self.routers.inputs[channel as usize];
        let number = self.packets.number(input.head);
        let packet = &mut self.packets.all[number as usize];
        let Port { node, local, axis, .. } = self.routers.ports[input.port as usize];
        input.state = State::Seeking;
        if packet.dest == node {
            (input.out_port, input.own) = (local, local * self.routers.channels);
        } else {
            packet.hops += 1;
            let step = self.routes.step(node, packet.dest, &mut packet.valleys);
            let mut out = local + 1 + step.port;
            let mut class = step.class;
            if step.tie && self.districts.current.rng.random() {
                out = self.routers.opposite[out as usize];
                class = 1 - class.min(1);
            }
            if axis != NO_AXIS && axis == self.routers.ports[out as usize].axis {
                class = channel - input.port * self.routers.channels;
            }
            (input.out_port, input.own) = (out, out * self.routers.channels + class.min(self.routers.classes - 1));
        }
        self.districts.current.seeking.put(at, channel);
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
        self.routers.ports[out_port as usize].last_input = in_port;
        let (out_across, downstream) = self.routers.ports[out_port as usize].other_end();
        let port = &mut self.routers.ports[in_port as usize];
        (port.last_output, port.last_vc) = (out_port, channel);
        let (in_across, upstream) = port.other_end();
        let leaves = out_port == port.local;
        let input = &mut self.routers.inputs[channel as usize];
        let (flit, out) = (input.head, input.out);
        input.filled -= 1;
        if input.filled > 0 {
            input.head = self.packets.next_flit[flit as usize];
        }
        self.moved += 1;
        let tail = self.packets.is_last(flit);
        let (returned, at) = (self.now + parameters.credit_return(), self.now + parameters.flight());
        if !leaves {
            self.routers.outputs[out as usize].credits -= 1;
            let channel = out.wrapping_add(out_across);
            self.districts
                .at(downstream)
                .arrivals
                .put(at, Arrival { channel, flit });
        } else if tail {
            self.deliver(flit, at);
        }
        let credit = channel.wrapping_add(in_across);
        self.districts.at(upstream).credits.put(returned, credit);
        if tail {
            self.leave(channel, out);
        }
    }

    /// A packet has left a channel: its output channel is free, and the next packet is routed.
    fn leave(&mut self, channel: u32, out: u32) {
        let next = self.now + 1;
        self.routers.outputs[out as usize].owner = NONE;
        let out_port = self.routers.inputs[channel as usize].out_port;
        self.wake(out_port, next);
        if self.routers.inputs[channel as usize].filled > 0 {
            self.seek(channel, next + self.scene.parameters.routing);
        } else {
            self.routers.inputs[channel as usize].state = State::Idle;
        }
    }

    /// Whoever waits for a channel of an output port tries again in cycle `at`.
    fn wake(&mut self, out_port: u32, at: u32) {
        let mut waiter = std::mem::replace(&mut self.routers.ports[out_port as usize].first_waiter, NONE);
        while waiter != NONE {
            self.districts.current.seeking.put(at, waiter);
            waiter = self.routers.inputs[waiter as usize].next_waiter;
        }
    }

    fn deliver(&mut self, flit: u32, at: u32) {
        let packet = *self.packets.of(flit);
        self.packets.alive -= 1;
        self.recorder.delivered(packet.born, at, packet.hops);
        if packet.origin == NONE {
            self.packets.release(self.packets.number(flit));
        } else {
            self.districts.current.arrivals.put(at, Arrival { channel: NONE, flit });
        }
    }

    /// Bytes of memory in use for the network, routes and packets.
    pub(super) fn bytes(&self) -> usize {
        self.routes.bytes() + self.routers.bytes() + self.packets.bytes() + self.districts.bytes()
    }
}
