//! The frames and headers of version 3 of the wire format, which hosts still speak: that is how boards of that version get an update.
//!
//! They have what this version leaves out: the tag of the end that a frame is for, refusals and the offer in every acknowledgment, and full headers with a
//! hop limit of two bytes. Hellos differ in the number of the version alone.

use hopwise_codec::CRC_BYTES;

use super::frame::{
    ACK, Ack, CHANNEL_MASK, DATA, DataHeader, Ending, Frame, FrameError, LATER, MISSING, ROUND_MASK, TYPE_MASK, encode,
};
use super::hello::Hello;
use super::offer::Offer;
use super::packet::Header;
use super::tag::Seal;
use super::varint;

/// The number of this version.
pub(crate) const VERSION_3: u8 = 3;

/// Flags, hop limit, age, epoch and number.
const FIXED: usize = 11;

/// Parses a decoded hello, whose CRC has been checked.
pub(crate) fn read_hello(bytes: &[u8]) -> Option<Hello> {
    let (content, _) = bytes.split_last_chunk::<CRC_BYTES>()?;
    let (_, fields) = content.split_first()?;
    Hello::read(VERSION_3, fields).ok()
}

/// Parses the content of a frame that is no hello, of the session of this tag.
pub(crate) fn read_content(content: &[u8], tag: u16, is_sealed: bool) -> Result<Frame<'_>, FrameError> {
    let (&[first, t0, t1], rest) = content.split_first_chunk().ok_or(FrameError::Form)?;
    if !is_sealed && u16::from_le_bytes([t0, t1]) != tag {
        return Ok(Frame::Unknown);
    }
    let ack = |place: u8, refused: u8, offer: [u8; 2], pause: u8| Ack {
        tag,
        next: place >> 2,
        refused,
        offer: Offer::from_bytes(offer),
        missing: (first & MISSING != 0).then_some(place & ROUND_MASK),
        pause,
    };
    let more = first >> 2 & CHANNEL_MASK;
    match (first & TYPE_MASK, rest) {
        (ACK, &[next, refused, o0, o1]) => Ok(Frame::Ack(ack(next, refused, [o0, o1], more))),
        (DATA, &[place, next, refused, o0, o1, ref packet @ ..]) => Ok(Frame::Data {
            header: DataHeader {
                ack: ack(next, refused, [o0, o1], 0),
                sequence: place >> 2,
                round: place & ROUND_MASK,
                channel: more,
            },
            packet,
        }),
        (ACK | DATA, _) => Err(FrameError::Form),
        _ => Ok(Frame::Unknown),
    }
}

/// Encodes an acknowledgment; see [`write_ack`](super::write_ack).
pub(crate) fn write_ack(ack: &Ack, sign_of_life: bool, seal: Option<Seal<'_>>, out: &mut [u8]) -> Option<usize> {
    let (mark, [t0, t1], ending) = sealing(ack.tag, seal);
    let first = ACK | mark | (ack.pause & CHANNEL_MASK) << 2 | ack.missing_flag();
    let [next, refused, o0, o1] = status(ack);
    encode(
        [&[first, t0, t1, next, refused, o0, o1], &[], &[]],
        ending,
        sign_of_life,
        out,
    )
}

/// Encodes a packet; see [`write_data`](super::write_data).
pub(crate) fn write_data(
    header: &DataHeader,
    packet: [&[u8]; 2],
    retransmit: bool,
    seal: Option<Seal<'_>>,
    out: &mut [u8],
) -> Option<usize> {
    let (mark, [t0, t1], ending) = sealing(header.ack.tag, seal);
    let first = DATA | mark | (header.channel & CHANNEL_MASK) << 2 | header.ack.missing_flag();
    let [next, refused, o0, o1] = status(&header.ack);
    let place = header.sequence << 2 | header.round & ROUND_MASK;
    let start = [first, t0, t1, place, next, refused, o0, o1];
    encode([&start, packet[0], packet[1]], ending, retransmit, out)
}

fn status(ack: &Ack) -> [u8; 4] {
    let [o0, o1] = ack.offer.to_bytes();
    let next = ack.next << 2 | ack.missing.unwrap_or(0) & ROUND_MASK;
    [next, ack.refused, o0, o1]
}

/// The differences of a sealed frame: a mark, the frame number in place of the session tag, and the end.
fn sealing(tag: u16, seal: Option<Seal<'_>>) -> (u8, [u8; 2], Ending<'_>) {
    match seal {
        None => (0, tag.to_le_bytes(), Ending::Crc(0)),
        Some(seal) => (LATER, seal.low_bits(), Ending::Tag(seal)),
    }
}

/// Parses a packet; `None` if it is malformed.
pub(crate) fn read_header(packet: &[u8]) -> Option<(Header, &[u8])> {
    let (&[first, h0, h1, a0, a1, e0, e1, n0, n1, n2, n3], rest) = packet.split_first_chunk::<FIXED>()?;
    let (source, rest) = varint::read(rest)?;
    let (dest, body) = varint::read(rest)?;
    let header = Header {
        hops_left: u16::from_le_bytes([h0, h1]),
        age: u16::from_le_bytes([a0, a1]),
        epoch: u16::from_le_bytes([e0, e1]),
        number: u32::from_le_bytes([n0, n1, n2, n3]),
        ..Header::with_flags(first, source, dest)?
    };
    Some((header, body))
}

/// Writes a header and returns its length; `None` if there is no room.
pub(crate) fn write_header(header: &Header, out: &mut [u8]) -> Option<usize> {
    let ([h0, h1], [a0, a1]) = (header.hops_left.to_le_bytes(), header.age.to_le_bytes());
    let ([e0, e1], [n0, n1, n2, n3]) = (header.epoch.to_le_bytes(), header.number.to_le_bytes());
    let (fixed, rest) = out.split_first_chunk_mut::<FIXED>()?;
    *fixed = [header.flags(), h0, h1, a0, a1, e0, e1, n0, n1, n2, n3];
    let source = varint::write(header.source, rest)?;
    let dest = varint::write(header.dest, rest.get_mut(source..)?)?;
    Some(FIXED + source + dest)
}
