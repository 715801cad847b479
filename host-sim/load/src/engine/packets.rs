//! How packets are made and enter the network.

use super::{Arrival, District, Engine, Halt, NONE, Packet};
use crate::routes::Valleys;
use crate::traffic::Pattern;

impl Engine<'_> {
    pub(super) fn make_packets(&mut self) {
        let mut made = std::mem::take(&mut self.desk.made);
        let District { making, rng, .. } = &mut self.desk;
        making.cycle(self.now, rng, &mut made);
        for node in made.drain(..) {
            let node = self.desk.first + node;
            if self.alive >= self.most_alive {
                self.throttled = true;
                break;
            }
            self.recorder.made(self.now);
            if self.pattern == Pattern::Broadcast {
                self.fan_out(node, node, self.now, 0);
            } else if let Some(dest) = self.pattern.destination(node, &mut self.desk.rng) {
                self.make(
                    node,
                    Packet {
                        dest,
                        born: self.now,
                        hops: 0,
                        origin: NONE,
                        next: NONE,
                        valleys: Valleys::default(),
                    },
                );
            }
        }
        self.desk.made = made;
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
        let index = flit / self.scene.parameters.packet_flits;
        let packet = self.packets[index as usize];
        self.release(index);
        self.fan_out(packet.dest, packet.origin, packet.born, packet.hops);
    }

    fn make(&mut self, node: u32, mut packet: Packet) {
        packet.valleys = self.routes.valleys(node, packet.dest);
        if packet.valleys.ahead >= self.classes && self.scene.parameters.class_limit.is_none() {
            self.halt = Some(Halt::MoreClasses(packet.valleys.ahead + 1));
        }
        let index = self.new_packet(packet);
        self.alive += 1;
        self.recorder.expect(packet.born);
        let source = &mut self.sources[node as usize];
        if source.first == NONE {
            source.first = index;
            self.desk.busy_sources.push(node);
        } else {
            self.packets[source.last as usize].next = index;
        }
        source.last = index;
    }

    fn new_packet(&mut self, packet: Packet) -> u32 {
        if self.free_packet != NONE {
            let index = self.free_packet;
            self.free_packet = self.packets[index as usize].next;
            self.packets[index as usize] = packet;
            return index;
        }
        let index = self.packets.len() as u32;
        self.packets.push(packet);
        let flits = self.packets.len() * self.scene.parameters.packet_flits as usize;
        self.next_flit.resize(flits, NONE);
        index
    }

    pub(super) fn release(&mut self, index: u32) {
        self.packets[index as usize].next = self.free_packet;
        self.free_packet = index;
    }

    /// Every source with something to send puts one flit on its way into the router, if there is room.
    pub(super) fn enter(&mut self) {
        let at = self.now + self.scene.parameters.entry();
        let flits = self.scene.parameters.packet_flits;
        let mut index = 0;
        while index < self.desk.busy_sources.len() {
            let node = self.desk.busy_sources[index];
            let source = &mut self.sources[node as usize];
            let base = node * self.channels;
            if source.sent == 0 {
                let start = source.vc;
                let after = |turn| {
                    if start + turn >= self.channels {
                        start + turn - self.channels
                    } else {
                        start + turn
                    }
                };
                let free = (1..=self.channels)
                    .map(after)
                    .find(|&vc| self.source_credits[(base + vc) as usize] > 0);
                source.vc = free.unwrap_or(start);
            }
            let credit = &mut self.source_credits[(base + source.vc) as usize];
            if *credit == 0 {
                index += 1;
                continue;
            }
            *credit -= 1;
            let channel = source.channel + source.vc;
            let flit = source.first * flits + source.sent;
            self.desk.arrivals.put(at, Arrival { channel, flit });
            source.sent += 1;
            if source.sent == flits {
                source.sent = 0;
                let next = self.packets[source.first as usize].next;
                source.first = next;
                if next == NONE {
                    self.desk.busy_sources.swap_remove(index);
                    continue;
                }
            }
            index += 1;
        }
    }
}
