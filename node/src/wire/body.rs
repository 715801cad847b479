//! The bytes of a packet after its header, and what they are for.

use core::fmt;
use core::ops::DerefMut;

use heapless::{CapacityError, Vec};
use serde::{Deserialize, Serialize};

/// The bytes of a packet after its header: at most 255, so that their number takes one.
pub type Body<const BODY: usize> = Vec<u8, BODY, u8>;

/// What holds a body: a [`Body`] of any size.
pub trait Bytes: Clone + fmt::Debug + Default + Eq + DerefMut<Target = [u8]> {
    /// The most bytes that it holds.
    const CAPACITY: usize;

    /// As many zeros as it holds.
    fn zeros() -> Self;

    /// A copy of these bytes, if they are not too many.
    fn from_slice(bytes: &[u8]) -> Result<Self, CapacityError>;

    /// Adds a byte, if there is room.
    fn push(&mut self, byte: u8) -> Result<(), u8>;

    /// Takes the last byte off.
    fn pop(&mut self) -> Option<u8>;

    /// Adds bytes, if there is room for all of them.
    fn extend_from_slice(&mut self, bytes: &[u8]) -> Result<(), CapacityError>;

    /// Takes off what comes after so many bytes.
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

/// A body of these parts, one after the other; `None` if they are too long. A vector that is extended is filled byte by byte; this copies by the word.
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

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kind {
    /// From application to application, each hop reliable.
    Datagram,
    /// From an application to those of all other nodes.
    Broadcast,
    /// From application to application, confirmed.
    Confirmed,
    /// What became of a confirmed packet at its destination.
    Confirmation,
    /// A packet could not be delivered.
    Undeliverable,
    /// A question that the node itself answers.
    Request,
    /// The answer.
    Response,
    /// One of these for one node, which goes through everyone.
    Flooded,
}

impl Kind {
    /// All of them, in the order of their numbers on the wire.
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

    /// Whether it is passed on by every node, not sent on to one.
    pub const fn is_for_all_links(self) -> bool {
        matches!(self, Kind::Broadcast | Kind::Flooded)
    }

    /// Its name in traces and tables.
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
