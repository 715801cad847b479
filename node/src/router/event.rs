//! What a node reports: one vocabulary for boards, emulated boards and the simulator.

use serde::{Deserialize, Serialize};

use crate::link::{Down, Micros};
use crate::wire::{DropReason, FrameError, Identity, PacketId};
use hopwise_core::Node;

/// What became of a confirmed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The destination has it, once.
    Delivered,
    /// It could not be delivered; the node that found so, and why.
    Undeliverable {
        /// Where it ended.
        at: Node,
        /// Why.
        reason: DropReason,
    },
    /// The destination restarted: it may have had the packet before.
    Interrupted,
    /// Nobody answered in time: it may have been delivered or not.
    Unknown,
}

/// Something that a node noticed or did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A link is open: it leads to a neighbor (or a host), and both ends accept each other.
    LinkUp {
        /// The link, from 0.
        link: u8,
        /// Who is there.
        peer: Identity,
    },
    /// A link is down.
    LinkDown {
        /// The link, from 0.
        link: u8,
        /// Why.
        reason: Down,
    },
    /// Someone is at a link who does not belong there, or is reached by another. Nothing is sent to it.
    Miswired {
        /// The link, from 0.
        link: u8,
        /// Who should be there: the neighbor of that number if it is missing, or else the first that is.
        expected: Option<Node>,
        /// Who is there.
        found: Identity,
    },
    /// Bytes came that are no frame.
    Damaged {
        /// The link, from 0.
        link: u8,
        /// What is wrong with them.
        error: FrameError,
    },
    /// A packet is sent on a link.
    Sent {
        /// The link, from 0.
        link: u8,
        /// The packet.
        packet: PacketId,
        /// Where it goes.
        dest: Node,
        /// It was sent before.
        again: bool,
    },
    /// A packet came in on a link.
    Received {
        /// The link, from 0.
        link: u8,
        /// The packet.
        packet: PacketId,
        /// Where it goes.
        dest: Node,
    },
    /// A packet begins here.
    Accepted {
        /// The packet.
        packet: PacketId,
        /// Where it goes.
        dest: Node,
    },
    /// A neighbor has taken a packet over.
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
    /// A packet went no further.
    Dropped {
        /// The packet.
        packet: PacketId,
        /// Where it was to go.
        dest: Node,
        /// Why it did not.
        reason: DropReason,
    },
    /// A packet goes round a dead link.
    Detoured {
        /// The packet.
        packet: PacketId,
        /// The neighbor it goes to instead.
        by: Node,
    },
    /// The fate of a confirmed packet of this node is known, or known to be unknown.
    Completed {
        /// Its number.
        number: u32,
        /// What became of it.
        outcome: Outcome,
    },
    /// What time it is in the mesh.
    Clock {
        /// Whose clock that is.
        root: Node,
        /// What the node's own clock shows, in microseconds.
        local: Micros,
        /// What time that is in the mesh.
        mesh: Micros,
        /// By how much the time of the mesh is faster than the node's own clock, in 2^-32.
        rate: i32,
    },
}

/// Takes note of what a node does.
pub trait Observer {
    /// Something happened.
    fn note(&mut self, event: Event);
}

/// Nobody watches.
impl Observer for () {
    fn note(&mut self, _event: Event) {}
}

impl<F: FnMut(Event)> Observer for F {
    fn note(&mut self, event: Event) {
        self(event);
    }
}
