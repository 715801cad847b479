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

const FIXED: usize = 11;

/// The longest header.
pub const MAX_HEADER: usize = FIXED + 2 * varint::MAX_BYTES;

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

    /// Parses a header, and returns the body; `None` if it is malformed.
    pub fn read(bytes: &[u8]) -> Option<(Header, &[u8])> {
        let (&[first, h0, h1, a0, a1, e0, e1, n0, n1, n2, n3], rest) = bytes.split_first_chunk::<FIXED>()?;
        let (source, rest) = varint::read(rest)?;
        let (dest, body) = varint::read(rest)?;
        let header = Header {
            kind: Kind::from_number(first & KIND_BITS)?,
            copied: first & COPIED != 0,
            trail: first & TRAIL != 0,
            traced: first & TRACED != 0,
            to_host: first & TO_HOST != 0,
            from_host: first & FROM_HOST != 0,
            hops_left: u16::from_le_bytes([h0, h1]),
            age: u16::from_le_bytes([a0, a1]),
            epoch: u16::from_le_bytes([e0, e1]),
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            source,
            dest,
        };
        Some((header, body))
    }

    /// The length in bytes.
    pub fn length(&self) -> usize {
        FIXED + varint::length(self.source) + varint::length(self.dest)
    }

    /// Writes the header and returns its length; `None` if there is no room.
    pub fn write(&self, out: &mut [u8]) -> Option<usize> {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let first = self.kind as u8
            | flag(self.copied, COPIED)
            | flag(self.trail, TRAIL)
            | flag(self.traced, TRACED)
            | flag(self.to_host, TO_HOST)
            | flag(self.from_host, FROM_HOST);
        let ([h0, h1], [a0, a1]) = (self.hops_left.to_le_bytes(), self.age.to_le_bytes());
        let ([e0, e1], [n0, n1, n2, n3]) = (self.epoch.to_le_bytes(), self.number.to_le_bytes());
        let (fixed, rest) = out.split_first_chunk_mut::<FIXED>()?;
        *fixed = [first, h0, h1, a0, a1, e0, e1, n0, n1, n2, n3];
        let source = varint::write(self.source, rest)?;
        let dest = varint::write(self.dest, rest.get_mut(source..)?)?;
        Some(FIXED + source + dest)
    }
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
        Some(PacketOf {
            header,
            body: body_of(&[body])?,
        })
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
