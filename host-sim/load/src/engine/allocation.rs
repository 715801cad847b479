//! Who gets an output channel, and who the switch.

use super::Shared;
use super::partition::Partition;
use super::routers::{Input, State, Winner};
use crate::wiring::NONE;

impl Partition {
    /// Heads ask for an output channel: that of their class, or one of those for all (one iteration of iSLIP). One that finds
    /// all taken waits until one is freed.
    ///
    /// The channels for all cannot add a deadlock: whoever is at the head of one can still go on in its own class, and the
    /// classes that a packet uses before and after are in the order in which its route has them anyway. But a packet must not
    /// hold channels behind it while it waits there behind others, so it enters one only if it fits as a whole or, if it
    /// is longer than a buffer, has it for itself. J. Duato, A new theory of deadlock-free adaptive routing in wormhole
    /// networks, IEEE Transactions on Parallel and Distributed Systems 4(12), 1993.
    pub(super) fn allocate_channels(&mut self, shared: &Shared<'_>) {
        let seekers = self.seeking.take(self.now);
        let adaptive = shared.parameters.paths.is_adaptive();
        for &channel in &seekers {
            if adaptive {
                self.steer(shared, channel);
            }
            self.bid(channel, adaptive);
        }
        self.seeking.give_back(self.now, seekers);
        let mut bidders = std::mem::take(&mut self.bidders);
        for channel in bidders.drain(..) {
            self.settle(shared, channel);
        }
        self.bidders = bidders;
    }

    /// Asks for all that are free; each goes, round robin, to the first after its last owner.
    fn bid(&mut self, channel: u32, adaptive: bool) {
        let (own, for_all) = self.routers.candidates(channel);
        let room = self.routers.room_for_all;
        let mut any = false;
        for out in std::iter::once(own).chain(for_all) {
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
            self.bidders.push(channel);
            return;
        }
        if adaptive {
            // By then another port may be the better one.
            self.seeking.put(self.now + 1, channel);
            return;
        }
        let port = &mut self.routers.ports[self.routers.inputs[channel as usize].out_port as usize];
        self.routers.inputs[channel as usize].next_waiter = std::mem::replace(&mut port.first_waiter, channel);
    }

    /// Takes one of the output channels that were won and gives back the others: round robin, but the channel of a class
    /// only if there is no other, for it is the way out when all else is blocked.
    fn settle(&mut self, shared: &Shared<'_>, channel: u32) {
        let (own, for_all) = self.routers.candidates(channel);
        let Input {
            out: last, out_port, ..
        } = self.routers.inputs[channel as usize];
        let escapes = self.routers.has_escapes() && !self.routers.leads_out(out_port);
        let last_resort = if escapes { own } else { NONE };
        let mut best = NONE;
        for out in std::iter::once(own).chain(for_all) {
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
            self.seeking.put(self.now + 1, channel);
            return;
        }
        let output = &mut self.routers.outputs[best as usize];
        (output.owner, output.last) = (channel, channel);
        let input = &mut self.routers.inputs[channel as usize];
        (input.out, input.state) = (best, State::Active);
        if shared.parameters.paths.is_adaptive() {
            input.out_port = best / self.routers.channels;
        }
        self.ready.put(self.now + shared.parameters.vc_alloc, channel);
    }

    pub(super) fn allocate_switch(&mut self, shared: &Shared<'_>) {
        let ready = self.ready.take(self.now);
        for &channel in &ready {
            self.contend(channel);
        }
        self.ready.give_back(self.now, ready);
        self.request_outputs();
        self.accept_grants();
        let mut winners = std::mem::take(&mut self.winners);
        for in_port in winners.drain(..) {
            let winner = std::mem::replace(&mut self.routers.accepted[in_port as usize], Winner::NONE);
            self.send(shared, winner);
        }
        self.winners = winners;
    }

    /// Every output port picks one of the channels that want it.
    fn request_outputs(&mut self) {
        let mut kept = 0;
        for index in 0..self.contenders.len() {
            let channel = self.contenders[index];
            let input = &mut self.routers.inputs[channel as usize];
            let out = input.out;
            if input.state != State::Active || input.filled == 0 {
                input.contending = false;
                continue;
            }
            let out_port = input.out_port;
            let port = &self.routers.ports[out_port as usize];
            if self.routers.outputs[out as usize].credits == 0 {
                input.state = State::Starved;
                input.contending = false;
                continue;
            }
            self.contenders[kept] = channel;
            kept += 1;
            let choice = &mut self.routers.granted[out_port as usize];
            if *choice == NONE {
                *choice = channel;
                self.wanted.push(out_port);
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
        self.contenders.truncate(kept);
    }

    /// Every input port picks one of the output ports that chose it.
    fn accept_grants(&mut self) {
        for out_port in self.wanted.drain(..) {
            let channel = std::mem::replace(&mut self.routers.granted[out_port as usize], NONE);
            let in_port = self.routers.inputs[channel as usize].port;
            let accepted = &mut self.routers.accepted[in_port as usize];
            let last = self.routers.ports[in_port as usize].last_output;
            if accepted.channel == NONE {
                self.winners.push(in_port);
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
