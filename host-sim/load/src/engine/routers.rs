//! The routers of a partition: ports, and the virtual channels at both ends of every link.

use std::ops::Range;

use super::border::Border;
use crate::parameters::{Parameters, Rings};
use crate::wiring::{NO_AXIS, NONE, Wiring};

/// Who crosses the switch from an input port, and where to.
#[derive(Clone, Copy)]
pub(super) struct Winner {
    pub(super) in_port: u32,
    pub(super) out_port: u32,
    pub(super) channel: u32,
}

impl Winner {
    pub(super) const NONE: Self = Self {
        in_port: NONE,
        out_port: NONE,
        channel: NONE,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
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
pub(crate) struct Input {
    pub(super) head: u32,
    pub(super) tail: u32,
    /// The output channel that the first packet owns.
    pub(crate) out: u32,
    /// The first output channel of its class; on the way out of the network, where all are alike, the first of all.
    pub(crate) own: u32,
    /// The next in the queue for the same output port.
    pub(super) next_waiter: u32,
    pub(super) port: u32,
    /// The port of the output channel; before it has one, that of the channels for all that it may use.
    pub(super) out_port: u32,
    pub(crate) filled: u16,
    pub(crate) state: State,
    /// Whether it is in the list of those who want the switch.
    pub(super) contending: bool,
}

/// A virtual channel at the sending end of a link.
#[derive(Clone)]
#[repr(align(16))]
pub(crate) struct Output {
    pub(crate) owner: u32,
    /// Who had it last, for the round robin.
    pub(super) last: u32,
    pub(crate) credits: u16,
    /// Whether the owner can still lose it to another in this cycle.
    pub(super) claimed: bool,
}

/// A port, in both directions. Compact: in a large network, memory is what takes the time.
#[repr(align(32))]
pub(super) struct Port {
    /// The round robin of the switch: the output port that the receiving side sent to last, and from which channel.
    pub(super) last_output: u32,
    pub(super) last_vc: u32,
    /// The input port that the sending side served last.
    pub(super) last_input: u32,
    /// Input channels waiting for any of the output channels.
    pub(super) first_waiter: u32,
    /// The node, by its number in the network.
    pub(super) node: u32,
    pub(super) local: u32,
    /// Added to the number of an output channel, gives the input channel at the other end, and the other way round. At a local
    /// port, added to the number of an input channel, gives the credit counter of the source.
    pub(super) across: u32,
    /// Where the other end is: among the neighbors of the partition, or [`HERE`](super::border::HERE).
    pub(super) beyond: u16,
    pub(super) axis: u8,
}

impl Port {
    /// What to add to the number of a channel, and the partition where it leads.
    pub(super) fn other_end(&self) -> (u32, u16) {
        (self.across, self.beyond)
    }
}

/// The routers of a partition. Ports and channels are numbered from its first, port by port, so that a channel's number tells its port.
pub(crate) struct Routers {
    /// Virtual channels of a link: those of the classes, then those that every packet may use.
    pub(crate) channels: u32,
    pub(crate) classes: u32,
    /// Virtual channels of each class; with several there are none for all.
    pub(super) class_channels: u32,
    /// Flits that a channel holds.
    pub(crate) buffers: u32,
    /// Free buffers without which a packet does not enter a channel for all. 0 if there is none, or only one class: then
    /// every channel is as good.
    pub(super) room_for_all: u16,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    pub(super) ports: Vec<Port>,
    /// The port that goes the other way round the ring, in rings and tori.
    pub(super) opposite: Vec<u32>,
    /// The channel that an output port grants itself to, and the grant that an input port accepts. Within a cycle only.
    pub(super) granted: Vec<u32>,
    pub(super) accepted: Vec<Winner>,
    /// Flits that left through each port since the measurement began.
    pub(super) crossed: Vec<u32>,
    /// The stages of each router that take batches; none where they are pipelined.
    pub(super) routing: Vec<BatchStage>,
    pub(super) traversal: Vec<BatchStage>,
    /// When each port last sent, if the traversal takes batches.
    pub(super) sent: Vec<u32>,
}

/// A stage that takes all that wait, and the next when it is done with these: the cycle in which it is done with the last it began
/// or is to begin.
#[derive(Clone, Copy, Default)]
pub(super) struct BatchStage(u32);

impl BatchStage {
    /// When it is done with what is ready in cycle `at`. Nothing that is asked later is ready before.
    pub(super) fn done(&mut self, at: u32, delay: u32) -> u32 {
        if at + delay > self.0 {
            self.0 = at.max(self.0) + delay;
        }
        self.0
    }
}

#[derive(Clone, Copy)]
pub(super) struct ChannelPlan {
    pub(super) classes: u32,
    /// For each class.
    class_channels: u32,
    /// For every packet, whatever its class.
    shared: u32,
    /// Whether the channel of a class is the way out when the others are blocked, and no channel like any other.
    escape: bool,
}

impl ChannelPlan {
    /// Channels for each of the classes that are wanted and allowed, and some for all.
    pub(super) fn new(parameters: &Parameters, wiring: &Wiring, wanted: u32) -> Self {
        let classes = wanted.min(parameters.class_limit.unwrap_or(u32::MAX));
        let balanced_rings = wiring.rings.is_some() && parameters.rings == Rings::Balanced;
        let has_none = parameters.class_channels > 1 || balanced_rings && classes > 1;
        let shared = if has_none { 0 } else { parameters.shared_channels };

        Self {
            classes,
            class_channels: parameters.class_channels,
            shared,
            escape: classes > 1 || parameters.paths.is_adaptive(),
        }
    }

    pub(super) fn channels(self) -> u32 {
        self.classes * self.class_channels + self.shared
    }
}

impl Routers {
    pub(super) fn new(parameters: &Parameters, wiring: &Wiring, plan: ChannelPlan, border: &Border) -> Self {
        let nodes = border.nodes.clone();

        let channels = plan.channels();
        let first = wiring.first[nodes.start as usize];
        let ports = first..wiring.first[nodes.end as usize];
        let total = ports.len() as u32 * channels;
        let rings = wiring.rings.as_ref();
        let axes = rings.filter(|_| parameters.rings == Rings::Balanced);
        let port = |port: u32| {
            let node = wiring.node[port as usize];
            let (local, peer) = (wiring.first[node as usize], wiring.peer[port as usize]);
            let (beyond, their_first) = border.place(wiring.node[peer as usize]);
            let (mine, theirs) = (port - first, peer - their_first);
            let across = if local == port {
                total.wrapping_add((node - nodes.start).wrapping_sub(mine).wrapping_mul(channels))
            } else {
                theirs.wrapping_sub(mine).wrapping_mul(channels)
            };
            Port {
                last_output: NONE,
                last_vc: NONE,
                last_input: NONE,
                first_waiter: NONE,
                node,
                local: local - first,
                across,
                beyond,
                axis: axes.map_or(NO_AXIS, |rings| rings.axis[port as usize]),
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
        let output = Output {
            owner: NONE,
            last: NONE,
            credits: parameters.buffers as u16,
            claimed: false,
        };
        let stages = |delay| if parameters.batches(delay) { nodes.len() } else { 0 };
        let traversals = stages(parameters.traversal);
        let room = parameters.packet_flits.min(parameters.buffers) as u16;

        let opposite = |rings: &crate::wiring::RingPorts| {
            let mine = &rings.opposite[ports.start as usize..ports.end as usize];
            mine.iter().map(|port| port - first).collect()
        };
        Self {
            channels,
            classes: plan.classes,
            class_channels: plan.class_channels,
            buffers: parameters.buffers,
            room_for_all: if plan.escape && plan.shared > 0 { room } else { 0 },

            inputs: (0..total).map(|channel| input(channel / channels)).collect(),
            outputs: vec![output; total as usize],
            opposite: axes.map(opposite).unwrap_or_default(),
            granted: vec![NONE; ports.len()],
            accepted: vec![Winner::NONE; ports.len()],
            crossed: vec![0; ports.len()],
            routing: vec![BatchStage::default(); stages(parameters.routing)],
            traversal: vec![BatchStage::default(); traversals],
            sent: vec![0; if traversals > 0 { ports.len() } else { 0 }],
            ports: ports.map(port).collect(),
        }
    }

    /// The output channels that the packet at the head of a channel may use: its own, and a range.
    pub(super) fn candidates(&self, channel: u32) -> (u32, Range<u32>) {
        let Input { own, out_port, .. } = self.inputs[channel as usize];
        let first = out_port * self.channels;
        if self.leads_out(out_port) {
            (own, first + 1..first + self.channels)
        } else if self.class_channels > 1 {
            (own, own + 1..own + self.class_channels)
        } else {
            (own, first + self.classes..first + self.channels)
        }
    }

    /// The same as one list, for the watchdog.
    pub(crate) fn choices(&self, channel: u32) -> impl Iterator<Item = u32> {
        let (own, shared) = self.candidates(channel);
        std::iter::once(own).chain(shared)
    }

    /// Whether there are buffers enough behind an output channel for the packet at the head of an input channel to claim it.
    pub(crate) fn has_room(&self, channel: u32, out: u32) -> bool {
        out == self.inputs[channel as usize].own || self.outputs[out as usize].credits >= self.room_for_all
    }

    pub(super) fn leads_out(&self, out_port: u32) -> bool {
        self.ports[out_port as usize].local == out_port
    }

    /// Whether the channel of a class is only for who finds no other.
    pub(super) fn has_escapes(&self) -> bool {
        self.room_for_all > 0
    }

    /// Free buffers behind the channels for all of a port that nobody has.
    pub(super) fn room_behind(&self, port: u32) -> u32 {
        let first = port * self.channels;
        let shared = &self.outputs[(first + self.classes) as usize..(first + self.channels) as usize];
        let free = shared.iter().filter(|output| output.owner == NONE);
        free.map(|output| u32::from(output.credits)).sum()
    }

    /// The node of an input or output channel, and its number on the link.
    pub(crate) fn place(&self, channel: u32) -> (u32, u32) {
        let port = &self.ports[(channel / self.channels) as usize];
        (port.node, channel % self.channels)
    }

    /// The input channel at the other end of an output channel, and the partition that it is in; `None` if it leads out.
    pub(super) fn behind(&self, out: u32) -> Option<(u16, u32)> {
        let number = out / self.channels;
        let port = &self.ports[number as usize];
        (port.local != number).then(|| (port.beyond, out.wrapping_add(port.across)))
    }

    pub(super) fn bytes(&self) -> usize {
        self.inputs.capacity() * size_of::<Input>()
            + self.outputs.capacity() * size_of::<Output>()
            + self.ports.capacity() * size_of::<Port>()
            + (self.opposite.capacity() + self.crossed.capacity() + self.sent.capacity()) * 4
            + (self.routing.capacity() + self.traversal.capacity()) * size_of::<BatchStage>()
    }
}

#[cfg(test)]
mod tests {
    use super::BatchStage;

    #[test]
    fn a_batch_begins_when_the_last_is_done() {
        let mut stage = BatchStage::default();
        let mut done = |at| stage.done(at, 3);
        // What comes while a batch is under way begins with the next, together.
        assert_eq!([5, 5, 6, 7, 8, 9].map(&mut done), [8, 8, 11, 11, 11, 14]);
        assert_eq!([14, 20].map(&mut done), [17, 23]);
        // With one cycle, nothing waits.
        let mut stage = BatchStage::default();
        assert_eq!([1, 1, 2, 3].map(|at| stage.done(at, 1)), [2, 2, 3, 4]);
    }
}
