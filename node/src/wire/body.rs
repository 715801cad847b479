//! The bytes of a packet after its header, and what they are for.

use heapless::Vec;
use serde::{Deserialize, Serialize};

/// The bytes of a packet after its header: at most 255, so that their number takes one.
pub type Body<const BODY: usize> = Vec<u8, BODY, u8>;

/// A body of these parts, one after the other; `None` if they are too long. A vector that is extended is filled byte by byte; this copies by the word.
pub fn body_of<const BODY: usize>(parts: &[&[u8]]) -> Option<Body<BODY>> {
    let mut body = Body::from_array([0; BODY]);
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
