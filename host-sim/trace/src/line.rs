//! One line of a trace.

use hopwise_core::Node;
use hopwise_core::node::Kind;
use serde::Deserialize;

/// The first line: whose trace it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Header {
    /// The network, as an expression.
    pub network: String,
    /// Bits a second on the wires.
    pub baud: Option<u32>,
}

/// Any other line: what a node noticed or did.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Line {
    /// When, in seconds.
    pub t: f64,
    /// Which node.
    pub node: Node,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// What a node noticed or did; the words of [`hopwise_core::node::Event`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are those of the core's events")]
pub enum Event {
    /// A link came up; a computer at its end has no address.
    LinkUp { link: u8, peer: Option<Node> },
    /// A link went down.
    LinkDown { link: u8 },
    /// Someone is at a link who does not belong there.
    Miswired { link: u8 },
    /// Bytes came that are no frame.
    Damaged { link: u8 },
    /// A packet is sent on a link.
    Sent {
        link: u8,
        packet: PacketId,
        dest: Node,
        again: bool,
    },
    /// A packet came in on a link.
    Received { link: u8, packet: PacketId, dest: Node },
    /// A packet begins its way here.
    Accepted { packet: PacketId, dest: Node },
    /// A neighbour has taken a packet over.
    Forwarded { link: u8, packet: PacketId },
    /// A packet has arrived.
    Delivered { packet: PacketId },
    /// A packet went no further.
    Dropped {
        packet: PacketId,
        dest: Node,
        reason: String,
    },
    /// A packet goes round a dead link.
    Detoured { packet: PacketId, by: Node },
    /// The fate of a confirmed packet is known.
    Settled { number: u32, outcome: String },
    /// A line of a board's log that tells of no event.
    Log,
    /// A word that is not among these.
    #[serde(other)]
    Other,
}

/// The name of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub struct PacketId {
    /// Who sent it.
    pub source: Node,
    /// The low half of the source's boot epoch.
    pub epoch: u16,
    /// What it is for.
    pub kind: Kind,
    /// Its number.
    pub number: u32,
    /// Whether the computer at that node sent it.
    pub from_host: bool,
}
