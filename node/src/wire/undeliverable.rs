//! The reasons why packets are dropped, and the reports to their senders.

use serde::{Deserialize, Serialize};

use super::body::{Bytes, Kind};
use super::varint;
use hopwise_core::Node;

/// The reason why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// It is malformed.
    Malformed,
    /// Its source or destination is not in the network.
    NoSuchNode,
    /// No path leads to its destination.
    NoRoute,
    /// Its hop limit is reached.
    HopLimit,
    /// It has expired.
    Expired,
    /// It has no room for the trail of its detour.
    TrailFull,
    /// It has been delivered before.
    Duplicate,
    /// It may have been delivered before, and it is not known whether it was.
    Uncertain,
    /// The application does not read its packets.
    InboxFull,
    /// The node has more requests than it can answer.
    Busy,
    /// There is no host at its destination.
    NoHost,
    /// Its sender has restarted since.
    Stale,
    /// There is no request or packet for this response.
    Unsolicited,
    /// No application at its destination serves its port.
    PortUnreachable,
}

impl DropReason {
    /// All reasons, in the order of their numbers on the wire.
    pub const ALL: [DropReason; 14] = [
        DropReason::Malformed,
        DropReason::NoSuchNode,
        DropReason::NoRoute,
        DropReason::HopLimit,
        DropReason::Expired,
        DropReason::TrailFull,
        DropReason::Duplicate,
        DropReason::Uncertain,
        DropReason::InboxFull,
        DropReason::Busy,
        DropReason::NoHost,
        DropReason::Stale,
        DropReason::Unsolicited,
        DropReason::PortUnreachable,
    ];

    /// The reason's name in traces and tables.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::Malformed => "malformed",
            DropReason::NoSuchNode => "no-such-node",
            DropReason::NoRoute => "no-route",
            DropReason::HopLimit => "hop-limit",
            DropReason::Expired => "expired",
            DropReason::TrailFull => "trail-full",
            DropReason::Duplicate => "duplicate",
            DropReason::Uncertain => "uncertain",
            DropReason::InboxFull => "inbox-full",
            DropReason::Busy => "busy",
            DropReason::NoHost => "no-host",
            DropReason::Stale => "stale",
            DropReason::Unsolicited => "unsolicited",
            DropReason::PortUnreachable => "port-unreachable",
        }
    }

    /// The reason of a number on the wire.
    pub fn from_number(number: u8) -> Option<DropReason> {
        DropReason::ALL.get(usize::from(number)).copied()
    }
}

/// The body of a report that a packet could not be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undeliverable {
    /// The packet's number.
    pub number: u32,
    /// Its kind.
    pub kind: Kind,
    /// The failure reason.
    pub reason: DropReason,
    /// The destination of the packet.
    pub dest: Node,
}

impl Undeliverable {
    /// Parses the body; `None` if it is malformed. Trailing bytes are ignored.
    pub fn read(body: &[u8]) -> Option<Self> {
        let (&[n0, n1, n2, n3, kind, reason], rest) = body.split_first_chunk()?;
        let (dest, _) = varint::read(rest)?;
        Some(Undeliverable {
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            kind: Kind::from_number(kind)?,
            reason: DropReason::from_number(reason)?,
            dest,
        })
    }

    /// Writes the body; `None` if it is too long.
    pub fn write<B: Bytes>(&self) -> Option<B> {
        let mut dest = [0; varint::MAX_BYTES];
        let length = varint::write(self.dest, &mut dest)?;
        let mut body = B::from_slice(&self.number.to_le_bytes()).ok()?;
        body.extend_from_slice(&[self.kind as u8, self.reason as u8]).ok()?;
        body.extend_from_slice(dest.get(..length)?).ok()?;
        Some(body)
    }
}
