//! The reasons why packets are dropped, and the reports to their senders.

use serde::{Deserialize, Serialize};

use super::body::{Bytes, Kind, body_of};
use super::varint;
use hopwise_core::{Node, named};

named! {
    /// The reason why a packet was dropped, in the order of their numbers on the wire.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[repr(u8)]
    #[serde(rename_all = "kebab-case")]
    pub enum DropReason {
        /// It is malformed.
        Malformed = "malformed",
        /// Its source or destination is not in the network.
        NoSuchNode = "no-such-node",
        /// No path leads to its destination.
        NoRoute = "no-route",
        /// Its hop limit is reached.
        HopLimit = "hop-limit",
        /// It has expired.
        Expired = "expired",
        /// It has no room for the trail of its detour.
        TrailFull = "trail-full",
        /// It has been delivered before.
        Duplicate = "duplicate",
        /// It may have been delivered before, and it is not known whether it was.
        Uncertain = "uncertain",
        /// The application does not read its packets.
        InboxFull = "inbox-full",
        /// The node has more requests than it can answer.
        Busy = "busy",
        /// There is no host at its destination.
        NoHost = "no-host",
        /// Its sender has restarted since.
        Stale = "stale",
        /// There is no request or packet for this response.
        Unsolicited = "unsolicited",
        /// No application at its destination serves its port.
        PortUnreachable = "port-unreachable",
    }
}

impl DropReason {
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
        let kind = [self.kind as u8, self.reason as u8];
        body_of(&[&self.number.to_le_bytes(), &kind, dest.get(..length)?])
    }
}
