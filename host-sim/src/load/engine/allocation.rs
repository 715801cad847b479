//! Who gets an output channel, and who the switch.

use super::{Engine, Input, NONE, State};

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
        let seekers = self.seeking.take(self.now);
        for &channel in &seekers {
            self.bid(channel);
        }
        self.seeking.give_back(self.now, seekers);
        let mut bidders = std::mem::take(&mut self.bidders);
        for channel in bidders.drain(..) {
            self.settle(channel);
        }
        self.bidders = bidders;
    }

    /// The output channels that the packet at the head of a channel may use: its own, and a range.
    fn candidates(&self, channel: u32) -> (u32, std::ops::Range<u32>) {
        let Input { own, out_port, .. } = self.inputs[channel as usize];
        let first = out_port * self.channels;
        let shared = if self.out_ports[out_port as usize].local {
            1
        } else {
            self.classes
        };
        (own, first + shared..first + self.channels)
    }

    /// Asks for all that are free; each goes, round robin, to the first after its last owner.
    fn bid(&mut self, channel: u32) {
        let (own, shared) = self.candidates(channel);
        let room = self.room_for_all;
        let mut any = false;
        for out in std::iter::once(own).chain(shared) {
            let output = &mut self.outputs[out as usize];
            let rival = output.owner;
            if (rival != NONE && output.claimed != self.now) || (out != own && output.credits < room) {
                continue;
            }
            any = true;
            if rival == NONE || turn_after(output.last, channel) < turn_after(output.last, rival) {
                (output.owner, output.claimed) = (channel, self.now);
            }
        }
        if any {
            self.bidders.push(channel);
            return;
        }
        let port = &mut self.out_ports[self.inputs[channel as usize].out_port as usize];
        self.inputs[channel as usize].next_waiter = std::mem::replace(&mut port.first_waiter, channel);
    }

    /// Takes one of the output channels that were won and gives back the others: round robin, but the channel of a class
    /// only if there is no other, for it is the way out when all else is blocked.
    fn settle(&mut self, channel: u32) {
        let (own, shared) = self.candidates(channel);
        let Input {
            out: last, out_port, ..
        } = self.inputs[channel as usize];
        let last_resort = if self.classes == 1 || self.out_ports[out_port as usize].local {
            NONE
        } else {
            own
        };
        let mut best = NONE;
        for out in std::iter::once(own).chain(shared) {
            let output = &mut self.outputs[out as usize];
            if output.owner != channel || output.claimed != self.now {
                continue;
            }
            output.owner = NONE;
            if best == NONE || best == last_resort || turn_after(last, out) < turn_after(last, best) {
                best = out;
            }
        }
        if best == NONE {
            self.seeking.put(self.now + 1, channel);
            return;
        }
        let output = &mut self.outputs[best as usize];
        (output.owner, output.last) = (channel, channel);
        let input = &mut self.inputs[channel as usize];
        (input.out, input.state) = (best, State::Active);
        self.granted.put(self.now + self.scene.parameters.vc_alloc, channel);
    }

    pub(super) fn allocate_switch(&mut self) {
        let granted = self.granted.take(self.now);
        for &channel in &granted {
            self.contend(channel);
        }
        self.granted.give_back(self.now, granted);
        self.request_outputs();
        self.accept_grants();
        let mut accepted = std::mem::take(&mut self.touched_in);
        for port in accepted.drain(..) {
            self.send(port);
        }
        self.touched_in = accepted;
    }

    /// Every output port picks one of the channels that want it.
    fn request_outputs(&mut self) {
        let now = self.now;
        let mut kept = 0;
        for index in 0..self.contenders.len() {
            let channel = self.contenders[index];
            let input = &mut self.inputs[channel as usize];
            let out = input.out;
            if input.state != State::Active || input.filled == 0 {
                input.contending = false;
                continue;
            }
            let out_port = input.out_port;
            let port = &mut self.out_ports[out_port as usize];
            if self.outputs[out as usize].credits == 0 && !port.local {
                input.state = State::Starved;
                input.contending = false;
                continue;
            }
            self.contenders[kept] = channel;
            kept += 1;
            if port.stamp != now {
                (port.stamp, port.best) = (now, channel);
                self.touched_out.push(out_port);
                continue;
            }
            let rival = port.best;
            let (mine, theirs) = (input.port, self.inputs[rival as usize].port);
            let better = if mine == theirs {
                let last = self.in_ports[mine as usize].last_vc;
                turn_after(last, channel) < turn_after(last, rival)
            } else {
                turn_after(port.last_input, mine) < turn_after(port.last_input, theirs)
            };
            if better {
                port.best = channel;
            }
        }
        self.contenders.truncate(kept);
    }

    /// Every input port picks one of the output ports that chose it.
    fn accept_grants(&mut self) {
        let now = self.now;
        for out in self.touched_out.drain(..) {
            let channel = self.out_ports[out as usize].best;
            let index = self.inputs[channel as usize].port;
            let port = &mut self.in_ports[index as usize];
            if port.stamp != now {
                (port.stamp, port.best) = (now, out);
                self.touched_in.push(index);
            } else if turn_after(port.last_output, out) < turn_after(port.last_output, port.best) {
                port.best = out;
            }
        }
    }
}

/// The place of `who` in a round that begins after `last`.
fn turn_after(last: u32, who: u32) -> u32 {
    who.wrapping_sub(last).wrapping_sub(1)
}
