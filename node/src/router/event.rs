//! The events of a node: one vocabulary for boards, emulated boards and the simulator.

use serde::{Deserialize, Serialize};

use crate::link::{Down, Micros};
use crate::wire::{DropReason, FrameError, Identity, PacketId};
use hopwise_core::Node;

/// The result of a confirmed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The destination has it, once.
    Delivered,
    /// It could not be delivered.
    Undeliverable {
        /// The node that dropped it.
        at: Node,
        /// The failure reason.
        reason: DropReason,
    },
    /// The destination restarted: it may have had the packet before.
    Interrupted,
    /// No response in time: it may have been delivered or not.
    Unknown,
}

/// An event that a node noticed or caused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A link is open: it leads to a neighbor (or a host), and both ends accept each other.
    LinkUp {
        /// The link, from 0.
        link: u8,
        /// The identity of the other end.
        peer: Identity,
    },
    /// A link is down.
    LinkDown {
        /// The link, from 0.
        link: u8,
        /// The reason.
        reason: Down,
    },
    /// An end is at a link where it does not belong, or that is already reached by another link. Nothing is sent to it.
    Miswired {
        /// The link, from 0.
        link: u8,
        /// The expected neighbor: that of the link's number if it is missing, or else the first missing one.
        expected: Option<Node>,
        /// The identity of the end found.
        found: Identity,
    },
    /// Received bytes are not a frame.
    Damaged {
        /// The link, from 0.
        link: u8,
        /// The error of the frame.
        error: FrameError,
    },
    /// A packet is sent on a link.
    Sent {
        /// The link, from 0.
        link: u8,
        /// The packet.
        packet: PacketId,
        /// The destination of the packet.
        dest: Node,
        /// Whether it is a retransmission.
        #[serde(alias = "again")]
        retransmit: bool,
    },
    /// A packet came in on a link.
    Received {
        /// The link, from 0.
        link: u8,
        /// The packet.
        packet: PacketId,
        /// The destination of the packet.
        dest: Node,
    },
    /// A packet originates here.
    Accepted {
        /// The packet.
        packet: PacketId,
        /// The destination of the packet.
        dest: Node,
    },
    /// A neighbor has taken a packet.
    Forwarded {
        /// The link, from 0.
        link: u8,
        /// The packet.
        packet: PacketId,
    },
    /// A packet has been given to the application, the host, or the node's own services.
    Delivered {
        /// The packet.
        packet: PacketId,
    },
    /// A packet was dropped.
    Dropped {
        /// The packet.
        packet: PacketId,
        /// The destination of the packet.
        dest: Node,
        /// The failure reason.
        reason: DropReason,
    },
    /// A packet takes a detour around a dead link.
    Detoured {
        /// The packet.
        packet: PacketId,
        /// The neighbor of the detour.
        by: Node,
    },
    /// A confirmed packet of this node is completed.
    Completed {
        /// The number of the packet.
        number: u32,
        /// The result.
        outcome: Outcome,
    },
    /// The mesh time.
    Clock {
        /// The root of the mesh time.
        root: Node,
        /// The local clock, in microseconds.
        local: Micros,
        /// The mesh time at that moment.
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
