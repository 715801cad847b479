//! Who gets an output channel, and who the switch.

use super::Engine;
use super::routers::{Input, NONE, State, Winner};

impl Engine<'_> {
    /// Heads ask for an output channel: that of their class, or one of those for all (one iteration of iSLIP). One that finds
    /// all taken waits until one is freed.
    ///
    /// The channels for all cannot add a deadlock: whoever is at the head of one can still go on in its own class, and the
    /// classes that a packet uses before and after are in the order in which its route has them anyway. But a packet must not
    /// hold channels behind it while it waits there behind others, so it enters one only if it fits as a whole or, if it
    /// is longer than a buffer, has it for itself. J. Duato, A new theory of deadlock-free adaptive routing in wormhole
    /// networks, IEEE Transactions on Parallel and Distributed Systems 4(12), 1993.
    pub(super) fn allocate_channels(&mut self) {
        let seekers = self.districts.current.seeking.take(self.now);
        for &channel in &seekers {
            self.bid(channel);
        }
        self.districts.current.seeking.give_back(self.now, seekers);
        let mut bidders = std::mem::take(&mut self.districts.current.bidders);
        for channel in bidders.drain(..) {
            self.settle(channel);
        }
        self.districts.current.bidders = bidders;
    }

    /// Asks for all that are free; each goes, round robin, to the first after its last owner.
    fn bid(&mut self, channel: u32) {
        let (own, shared) = self.routers.candidates(channel);
        let room = self.routers.room_for_all;
        let mut any = false;
        for out in std::iter::once(own).chain(shared) {
            let output = &mut self.routers.outputs[out as usize];
            let rival = output.owner;
            if (rival != NONE && !output.claimed) || (out != own && output.credits < room) {
                continue;
            }
            any = true;
            if rival == NONE || turn_after(output.last, channel) < turn_after(output.last, rival) {
                (output.owner, output.claimed) = (channel, true);
            }
        }
        if any {
            self.districts.current.bidders.push(channel);
            return;
        }
        let port = &mut self.routers.ports[self.routers.inputs[channel as usize].out_port as usize];
        self.routers.inputs[channel as usize].next_waiter = std::mem::replace(&mut port.first_waiter, channel);
    }

    /// Takes one of the output channels that were won and gives back the others: round robin, but the channel of a class
    /// only if there is no other, for it is the way out when all else is blocked.
    fn settle(&mut self, channel: u32) {
        let (own, shared) = self.routers.candidates(channel);
        let Input {
            out: last, out_port, ..
        } = self.routers.inputs[channel as usize];
        let last_resort = if self.routers.classes == 1 || self.routers.leads_out(out_port) {
            NONE
        } else {
            own
        };
        let mut best = NONE;
        for out in std::iter::once(own).chain(shared) {
            let output = &mut self.routers.outputs[out as usize];
            if output.owner != channel || !output.claimed {
                continue;
            }
            (output.owner, output.claimed) = (NONE, false);
            if best == NONE || best == last_resort || turn_after(last, out) < turn_after(last, best) {
                best = out;
            }
        }
        if best == NONE {
            self.districts.current.seeking.put(self.now + 1, channel);
            return;
        }
        let output = &mut self.routers.outputs[best as usize];
        (output.owner, output.last) = (channel, channel);
        let input = &mut self.routers.inputs[channel as usize];
        (input.out, input.state) = (best, State::Active);
        self.districts
            .current
            .ready
            .put(self.now + self.scene.parameters.vc_alloc, channel);
    }

    pub(super) fn allocate_switch(&mut self) {
        let ready = self.districts.current.ready.take(self.now);
        for &channel in &ready {
            self.contend(channel);
        }
        self.districts.current.ready.give_back(self.now, ready);
        self.request_outputs();
        self.accept_grants();
        let mut winners = std::mem::take(&mut self.districts.current.winners);
        for in_port in winners.drain(..) {
            let place = (in_port - self.districts.current.first_port) as usize;
            let winner = std::mem::replace(&mut self.routers.accepted[place], Winner::NONE);
            self.send(winner);
        }
        self.districts.current.winners = winners;
    }

    /// Every output port picks one of the channels that want it.
    fn request_outputs(&mut self) {
        let mut kept = 0;
        for index in 0..self.districts.current.contenders.len() {
            let channel = self.districts.current.contenders[index];
            let input = &mut self.routers.inputs[channel as usize];
            let out = input.out;
            if input.state != State::Active || input.filled == 0 {
                input.contending = false;
                continue;
            }
            let out_port = input.out_port;
            let port = &self.routers.ports[out_port as usize];
            if self.routers.outputs[out as usize].credits == 0 && port.local != out_port {
                input.state = State::Starved;
                input.contending = false;
                continue;
            }
            self.districts.current.contenders[kept] = channel;
            kept += 1;
            let choice = &mut self.routers.granted[(out_port - self.districts.current.first_port) as usize];
            if *choice == NONE {
                *choice = channel;
                self.districts.current.wanted.push(out_port);
                continue;
            }
            let rival = *choice;
            let (mine, theirs) = (input.port, self.routers.inputs[rival as usize].port);
            let better = if mine == theirs {
                let last = self.routers.ports[mine as usize].last_vc;
                turn_after(last, channel) < turn_after(last, rival)
            } else {
                turn_after(port.last_input, mine) < turn_after(port.last_input, theirs)
            };
            if better {
                *choice = channel;
            }
        }
        self.districts.current.contenders.truncate(kept);
    }

    /// Every input port picks one of the output ports that chose it.
    fn accept_grants(&mut self) {
        let first = self.districts.current.first_port;
        for out_port in self.districts.current.wanted.drain(..) {
            let channel = std::mem::replace(&mut self.routers.granted[(out_port - first) as usize], NONE);
            let in_port = self.routers.inputs[channel as usize].port;
            let accepted = &mut self.routers.accepted[(in_port - first) as usize];
            let last = self.routers.ports[in_port as usize].last_output;
            if accepted.channel == NONE {
                self.districts.current.winners.push(in_port);
            } else if turn_after(last, out_port) > turn_after(last, accepted.out_port) {
                continue;
            }
            *accepted = Winner {
                in_port,
                out_port,
                channel,
            };
        }
    }
}

/// The place of `who` in a round that begins after `last`.
fn turn_after(last: u32, who: u32) -> u32 {
    who.wrapping_sub(last).wrapping_sub(1)
}
