//! The bytes of a packet after its header, and the kinds of packets.

use core::fmt;
use core::ops::DerefMut;

use heapless::{CapacityError, Vec};
use serde::{Deserialize, Serialize};

/// The bytes of a packet after its header: at most 255, so that their length takes one byte.
pub type Body<const BODY: usize> = Vec<u8, BODY, u8>;

/// A buffer for a body: a [`Body`] of any size.
pub trait Bytes: Clone + fmt::Debug + Default + Eq + DerefMut<Target = [u8]> {
    /// The capacity in bytes.
    const CAPACITY: usize;

    /// A full buffer of zeros.
    fn zeros() -> Self;

    /// A copy of these bytes, if they fit.
    fn from_slice(bytes: &[u8]) -> Result<Self, CapacityError>;

    /// Adds a byte, if there is room.
    fn push(&mut self, byte: u8) -> Result<(), u8>;

    /// Removes the last byte.
    fn pop(&mut self) -> Option<u8>;

    /// Adds bytes, if there is room for all of them.
    fn extend_from_slice(&mut self, bytes: &[u8]) -> Result<(), CapacityError>;

    /// Shortens the body to this length.
    fn truncate(&mut self, length: usize);
}

impl<const BODY: usize> Bytes for Body<BODY> {
    const CAPACITY: usize = BODY;

    fn zeros() -> Self {
        Vec::from_array([0; BODY])
    }

    fn from_slice(bytes: &[u8]) -> Result<Self, CapacityError> {
        Vec::from_slice(bytes)
    }

    fn push(&mut self, byte: u8) -> Result<(), u8> {
        self.push(byte)
    }

    fn pop(&mut self) -> Option<u8> {
        self.pop()
    }

    fn extend_from_slice(&mut self, bytes: &[u8]) -> Result<(), CapacityError> {
        self.extend_from_slice(bytes)
    }

    fn truncate(&mut self, length: usize) {
        self.truncate(length);
    }
}

/// A body of concatenated parts; `None` if they are too long. Extending a vector copies by the byte; this copies by the word.
pub fn body_of<B: Bytes>(parts: &[&[u8]]) -> Option<B> {
    let mut body = B::zeros();
    let mut length = 0;
    for part in parts {
        let end = length + part.len();
        body.get_mut(length..end)?.copy_from_slice(part);
        length = end;
    }
    body.truncate(length);
    Some(body)
}

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kind {
    /// From application to application, reliable on each hop.
    Datagram,
    /// From an application to those of all other nodes.
    Broadcast,
    /// From application to application, with confirmation.
    Confirmed,
    /// The result of a confirmed packet at its destination.
    Confirmation,
    /// A failure report.
    Undeliverable,
    /// A request that the node itself answers.
    Request,
    /// The response to a request.
    Response,
    /// A confirmed packet or a confirmation, flooded through all nodes.
    Flooded,
}

impl Kind {
    /// All kinds, in the order of their numbers on the wire.
    pub const ALL: [Kind; 8] = [
        Kind::Datagram,
        Kind::Broadcast,
        Kind::Confirmed,
        Kind::Confirmation,
        Kind::Undeliverable,
        Kind::Request,
        Kind::Response,
        Kind::Flooded,
    ];

    /// The kind of a number on the wire.
    pub fn from_number(number: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(number)).copied()
    }

    /// Whether it is forwarded on several links, not sent to one next hop.
    pub const fn is_for_all_links(self) -> bool {
        matches!(self, Kind::Broadcast | Kind::Flooded)
    }

    /// The name in traces and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Datagram => "datagram",
            Kind::Broadcast => "broadcast",
            Kind::Confirmed => "confirmed",
            Kind::Confirmation => "confirmation",
            Kind::Undeliverable => "undeliverable",
            Kind::Request => "request",
            Kind::Response => "response",
            Kind::Flooded => "flooded",
        }
    }
}
