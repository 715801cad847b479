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

#[cfg(all(test, feature = "keys"))]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::wire::{Kind, Tagged};
    use std::assert_eq;
    use std::vec::Vec;

    fn bytes(hex: &str) -> Vec<u8> {
        let bytes = hex.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap());
        bytes.collect()
    }

    /// Examples of the document of version 3.
    #[test]
    fn frames_are_what_they_were() {
        let key = Key::new(*b"\x2b\x3e\xc2\x31\x95\xbb\xa4\x7c\x3f\x43\xc3\x8b\xea\x6d\xdf\x19");
        let plain = Ack::new(0x0300, 17);
        let complaint = Ack {
            refused: 0b100,
            offer: Offer::new(3, 0x7f),
            missing: Some(2),
            ..plain
        };
        let header = DataHeader {
            ack: Ack {
                offer: complaint.offer,
                ..plain
            },
            sequence: 18,
            round: 1,
            channel: 5,
        };
        let data = Frame::Data {
            header,
            packet: b"pack",
        };
        for (number, frame, example) in [
            (None, Frame::Ack(plain), "02 01 03 03 44 07 FF FF 97 EF 14 45 00"),
            (None, Frame::Ack(complaint), "02 41 0A 03 46 04 7F 30 6F 8F 47 78 00"),
            (None, data, "02 16 04 03 49 44 0B 7F 30 70 61 63 6B B7 D0 63 08 00"),
            (
                Some(0x1_0006),
                Frame::Ack(plain),
                "03 81 06 02 44 0B FF FF 79 B4 F3 69 AE E3 39 A8 00",
            ),
            (
                Some(7),
                data,
                "03 96 07 03 49 44 0F 7F 30 70 61 63 6B 03 8C 29 F1 15 61 DC 79 00",
            ),
        ] {
            let (example, mut out) = (bytes(example), [0; 64]);
            let seal = number.map(|number| Seal { key: &key, number });
            let length = match frame {
                Frame::Ack(ack) => write_ack(&ack, false, seal, &mut out),
                _ => write_data(&header, [b"pa", b"ck"], false, seal, &mut out),
            };
            assert_eq!(&out[..length.unwrap()], example);
            let decoded = cobs::decode_vec(&example[..example.len() - 1]).unwrap();
            let content = match seal {
                Some(_) => Tagged::frame(&decoded).unwrap().content(),
                None => decoded.split_last_chunk::<CRC_BYTES>().unwrap().0,
            };
            assert_eq!(read_content(content, 0x0300, seal.is_some()), Ok(frame));
            let other = read_content(content, 0x0301, false);
            assert_eq!(other, Ok(Frame::Unknown), "for another end");
        }
    }

    #[test]
    fn headers_are_what_they_were() {
        let header = Header {
            hops_left: 130,
            age: 10,
            ..Header::new(Kind::Datagram, 3, 300).numbered(1, 7)
        };
        let mut out = [0; 64];
        let length = write_header(&header, &mut out).unwrap();
        assert_eq!(out[..length], bytes("00 82 00 0A 00 01 00 07 00 00 00 03 AC 02"));
        assert_eq!(read_header(&out[..length]), Some((header, &[][..])));
    }
}
