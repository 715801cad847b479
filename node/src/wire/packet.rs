//! Packets: messages between nodes, over any number of wires.

use serde::{Deserialize, Serialize};

use super::application::AppPort;
use super::body::{Body, Bytes, Kind, body_of};
use super::content::Content;
use super::trace::TraceRecord;
use super::trail::Trail;
use super::varint;
use hopwise_core::Node;

/// The ID of a packet: unique per source until it restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PacketId {
    /// The sender.
    pub source: Node,
    /// Whether the host at that node sent it, not the node.
    pub from_host: bool,
    /// The low half of the source's boot epoch.
    pub epoch: u16,
    /// The kind; confirmed packets are numbered separately.
    pub kind: Kind,
    /// A number that rises with each packet.
    pub number: u32,
}

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// What it is for.
    pub kind: Kind,
    /// Another copy may exist: a link went down while it was in flight.
    pub copied: bool,
    /// The body ends with the trail of a detour: `docs/wire-format.md`.
    pub trail: bool,
    /// Every node adds its address and the waiting time of the packet there.
    pub traced: bool,
    /// For the host at the destination, not the node.
    pub to_host: bool,
    /// From the host at the source, not the node.
    pub from_host: bool,
    /// The remaining hop limit.
    pub hops_left: u16,
    /// The time in flight, in units of [`AGE_UNIT`].
    pub age: u16,
    /// The low half of the source's boot epoch.
    pub epoch: u16,
    /// The number given by its source.
    pub number: u32,
    /// Where it comes from.
    pub source: Node,
    /// The destination; of a broadcast, its source, or the node from which it is to be forwarded.
    pub dest: Node,
}

/// The unit of ages in microseconds.
pub const AGE_UNIT: u64 = 256;

/// The number of bytes of flags and age, of the hop limit, and of the epoch and number of the source.
const FIXED: usize = 3;
const MAX_HOPS: usize = 3;
const FULL_NUMBER: usize = 6;

/// The longest header.
pub const MAX_HEADER: usize = FIXED + MAX_HOPS + FULL_NUMBER + 2 * varint::MAX_BYTES;

/// The bit of the age that says that only the low half of the number follows. No packet gets that old.
const BRIEF: u16 = 0x8000;
/// In place of a hop limit of one byte: two more follow.
const LONG_HOPS: u8 = u8::MAX;
/// The highest hop limit of one byte.
pub(crate) const ONE_BYTE_HOPS: u16 = LONG_HOPS as u16 - 1;

const KIND_BITS: u8 = 0x07;
const COPIED: u8 = 0x08;
const TRAIL: u8 = 0x10;
const TRACED: u8 = 0x20;
const TO_HOST: u8 = 0x40;
const FROM_HOST: u8 = 0x80;

impl Default for Header {
    fn default() -> Self {
        Header::new(Kind::Datagram, 0, 0)
    }
}

impl Header {
    /// A header without any flags, with a hop limit of 0.
    pub const fn new(kind: Kind, source: Node, dest: Node) -> Self {
        Header {
            kind,
            copied: false,
            trail: false,
            traced: false,
            to_host: false,
            from_host: false,
            hops_left: 0,
            age: 0,
            epoch: 0,
            number: 0,
            source,
            dest,
        }
    }

    /// The same with the epoch of its source, and a number.
    pub const fn numbered(self, epoch: u16, number: u32) -> Self {
        Header { epoch, number, ..self }
    }

    /// The ID of the packet.
    pub fn id(&self) -> PacketId {
        PacketId {
            source: self.source,
            from_host: self.from_host,
            epoch: self.epoch,
            kind: self.kind,
            number: self.number,
        }
    }

    /// Parses a header, and returns the body; `None` if it is malformed, or brief.
    pub fn read(bytes: &[u8]) -> Option<(Header, &[u8])> {
        let (header, is_brief, body) = Header::read_any(bytes)?;
        (!is_brief).then_some((header, body))
    }

    /// The same, and whether the header is brief: it has no epoch, and only the low half of its number.
    pub fn read_any(bytes: &[u8]) -> Option<(Header, bool, &[u8])> {
        let (&[first, a0, a1, hops], mut rest) = bytes.split_first_chunk()?;
        let age = u16::from_le_bytes([a0, a1]);
        let mut hops_left = hops.into();
        if hops == LONG_HOPS {
            let (bytes, more) = rest.split_first_chunk()?;
            (hops_left, rest) = (u16::from_le_bytes(*bytes), more);
        }
        let is_brief = age & BRIEF != 0;
        let (epoch, number, rest) = if is_brief {
            let (bytes, rest) = rest.split_first_chunk()?;
            (0, u16::from_le_bytes(*bytes).into(), rest)
        } else {
            let (&[e0, e1, n0, n1, n2, n3], rest) = rest.split_first_chunk::<FULL_NUMBER>()?;
            (u16::from_le_bytes([e0, e1]), u32::from_le_bytes([n0, n1, n2, n3]), rest)
        };
        let (source, rest) = varint::read(rest)?;
        let (dest, body) = varint::read(rest)?;
        let header = Header {
            hops_left,
            age: age & !BRIEF,
            epoch,
            number,
            ..Header::with_flags(first, source, dest)?
        };
        Some((header, is_brief, body))
    }

    /// A header with the kind and the flags of its first byte; `None` if the kind is unknown.
    pub(super) fn with_flags(first: u8, source: Node, dest: Node) -> Option<Self> {
        Some(Header {
            copied: first & COPIED != 0,
            trail: first & TRAIL != 0,
            traced: first & TRACED != 0,
            to_host: first & TO_HOST != 0,
            from_host: first & FROM_HOST != 0,
            ..Header::new(Kind::from_number(first & KIND_BITS)?, source, dest)
        })
    }

    /// The first byte: the kind and the flags.
    pub(super) fn flags(&self) -> u8 {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        self.kind as u8
            | flag(self.copied, COPIED)
            | flag(self.trail, TRAIL)
            | flag(self.traced, TRACED)
            | flag(self.to_host, TO_HOST)
            | flag(self.from_host, FROM_HOST)
    }

    /// The length in bytes, if it is not brief.
    pub fn length(&self) -> usize {
        let hops = if self.hops_left <= ONE_BYTE_HOPS { 1 } else { MAX_HOPS };
        FIXED + hops + FULL_NUMBER + varint::length(self.source) + varint::length(self.dest)
    }

    /// Writes the header and returns its length; `None` if there is no room.
    pub fn write(&self, out: &mut [u8]) -> Option<usize> {
        self.write_any(false, out)
    }

    /// The same, briefly or not.
    pub(crate) fn write_any(&self, is_brief: bool, out: &mut [u8]) -> Option<usize> {
        let first = self.flags();
        let age = self.age.min(!BRIEF) | if is_brief { BRIEF } else { 0 };
        let ([a0, a1], [n0, n1, n2, n3]) = (age.to_le_bytes(), self.number.to_le_bytes());
        let room = out.len();
        let rest = match self.hops_left {
            hops @ 0..=ONE_BYTE_HOPS => put(out, [first, a0, a1, hops as u8])?,
            hops => {
                let [h0, h1] = hops.to_le_bytes();
                put(out, [first, a0, a1, LONG_HOPS, h0, h1])?
            }
        };
        let rest = if is_brief {
            put(rest, [n0, n1])?
        } else {
            let [e0, e1] = self.epoch.to_le_bytes();
            put(rest, [e0, e1, n0, n1, n2, n3])?
        };
        let fixed = room - rest.len();
        let source = varint::write(self.source, rest)?;
        let dest = varint::write(self.dest, rest.get_mut(source..)?)?;
        Some(fixed + source + dest)
    }
}

/// Writes bytes, and returns the room after them.
fn put<const N: usize>(out: &mut [u8], bytes: [u8; N]) -> Option<&mut [u8]> {
    let (place, rest) = out.split_first_chunk_mut()?;
    *place = bytes;
    Some(rest)
}

/// A packet with a body of at most `BODY` bytes.
pub type Packet<const BODY: usize> = PacketOf<Body<BODY>>;

/// A packet with its body in any kind of buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketOf<B> {
    /// The header before the body.
    pub header: Header,
    /// The bytes after the header.
    pub body: B,
}

impl<B: Bytes> PacketOf<B> {
    /// Parses a packet; `None` if it is malformed, or too long.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (header, body) = Header::read(bytes)?;
        PacketOf::new(header, body)
    }

    /// A packet of a header and a body; `None` if it is too long.
    pub fn new(header: Header, body: &[u8]) -> Option<Self> {
        let body = body_of(&[body])?;
        Some(PacketOf { header, body })
    }

    /// The length in bytes.
    pub fn length(&self) -> usize {
        self.header.length() + self.body.len()
    }

    /// The body without the trail of a detour.
    pub fn body_without_trail(&self) -> &[u8] {
        let trail = if self.header.trail {
            Trail::length_in(&self.body).unwrap_or(0)
        } else {
            0
        };
        let end = self.body.len().saturating_sub(trail);
        self.body.get(..end).unwrap_or(&[])
    }

    /// The parsed content of the body; `None` if it does not match the kind.
    pub fn content(&self) -> Option<Content<'_>> {
        Content::read(self.header.kind, self.body_without_trail())
    }

    /// Whether it is a block of an image, for all boards.
    pub fn is_block(&self) -> bool {
        let port = || self.content().map(|content| content.port());
        self.header.kind == Kind::Broadcast && port() == Some(AppPort::UPDATE)
    }

    /// Removes the trail from the body, if there is one.
    pub fn remove_trail(&mut self) {
        if self.header.trail {
            self.header.trail = false;
            if let Some(trail) = Trail::of(&mut self.body) {
                trail.remove();
            }
        }
    }

    /// Adds the record of a node to a traced packet, before the trail. Without room it is omitted.
    pub fn add_record(&mut self, record: &TraceRecord) {
        let mut bytes = [0; TraceRecord::MAX_BYTES];
        let Some(record) = record.write(&mut bytes).and_then(|length| bytes.get(..length)) else {
            return;
        };
        if self.body.len() + record.len() > B::CAPACITY {
            return;
        }
        let at = self.body_without_trail().len();
        // Cannot fail: the room was checked.
        let trail = B::from_slice(self.body.get(at..).unwrap_or(&[])).unwrap_or_default();
        self.body.truncate(at);
        let _ = self.body.extend_from_slice(record);
        let _ = self.body.extend_from_slice(&trail);
    }
}
