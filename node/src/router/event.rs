//! The events of a node: one vocabulary for boards, emulated boards and the simulator.

use serde::{Deserialize, Serialize};

use crate::link::{Down, Micros};
use crate::wire::{DropReason, FrameError, Identity, PacketId};
use hopwise_core::Node;

/// The result of a confirmed packet.
#[expect(missing_docs, reason = "the names of the fields say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The destination has it, once.
    Delivered,
    /// It could not be delivered: a node dropped it.
    Undeliverable { at: Node, reason: DropReason },
    /// The destination restarted: it may have had the packet before.
    Interrupted,
    /// No response in time: it may have been delivered or not.
    Unknown,
}

/// An event that a node noticed or caused. Links count from 0; `dest` is the destination of the packet.
#[expect(missing_docs, reason = "the names of the other fields say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A link is open: it leads to a neighbor (or a host), and both ends accept each other.
    LinkUp { link: u8, peer: Identity },
    /// A link is down.
    LinkDown { link: u8, reason: Down },
    /// An end is at a link where it does not belong, or that is already reached by another link. Nothing is sent to it.
    Miswired {
        link: u8,
        /// The expected neighbor: that of the link's number if it is missing, or else the first missing one.
        expected: Option<Node>,
        found: Identity,
    },
    /// Received bytes are not a frame.
    Damaged { link: u8, error: FrameError },
    /// A packet is sent on a link.
    Sent {
        link: u8,
        packet: PacketId,
        dest: Node,
        #[serde(alias = "again")]
        retransmit: bool,
    },
    /// A packet came in on a link.
    Received { link: u8, packet: PacketId, dest: Node },
    /// A packet originates here.
    Accepted { packet: PacketId, dest: Node },
    /// A neighbor has taken a packet.
    Forwarded { link: u8, packet: PacketId },
    /// A packet has been given to the application, the host, or the node's own services.
    Delivered { packet: PacketId },
    /// A packet was dropped.
    Dropped {
        packet: PacketId,
        dest: Node,
        reason: DropReason,
    },
    /// A packet takes a detour around a dead link.
    Detoured { packet: PacketId, by: Node },
    /// A confirmed packet of this node is completed.
    Completed { number: u32, outcome: Outcome },
    /// The mesh time.
    Clock {
        root: Node,
        /// The local clock, in microseconds.
        local: Micros,
        mesh: Micros,
        /// The rate of mesh time relative to the local clock, in 2^-32.
        rate: i32,
    },
}

/// A receiver of events.
pub trait Observer {
    /// Records an event.
    fn note(&mut self, event: Event);
}

impl Observer for () {
    fn note(&mut self, _event: Event) {}
}

impl<F: FnMut(Event)> Observer for F {
    fn note(&mut self, event: Event) {
        self(event);
    }
}
