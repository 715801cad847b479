//! A packet for one node that is flooded, because no path to that node is known.

use super::body::{Bytes, Kind, body_of};

/// The body of a flooded packet: another packet with the same source and destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flooded<'a> {
    /// The kind of the inner packet: [confirmed](Kind::Confirmed), or a [confirmation](Kind::Confirmation).
    pub kind: Kind,
    /// The number of the inner packet; each flood of it has another.
    pub number: u32,
    /// The body of the inner packet.
    pub body: &'a [u8],
}

impl<'a> Flooded<'a> {
    /// Parses the body; `None` if it is malformed.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let (&[kind, n0, n1, n2, n3], body) = body.split_first_chunk()?;
        let kind = Kind::from_number(kind)?;
        matches!(kind, Kind::Confirmed | Kind::Confirmation).then_some(Flooded {
            kind,
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            body,
        })
    }

    /// Writes the body; `None` if it is too long.
    pub fn write<B: Bytes>(&self) -> Option<B> {
        body_of(&[&[self.kind as u8], &self.number.to_le_bytes(), self.body])
    }
}
