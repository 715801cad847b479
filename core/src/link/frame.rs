//! Frames: what travels on a wire, byte by byte.
//!
//! A frame is a header, perhaps a packet, and a CRC, encoded with COBS so that the byte 0 occurs only at its end. A receiver
//! that comes in at any moment, or after any garbage, is in step again at the next 0. `docs/wire-format.md` is the same for
//! people who write another end.
//!
//! The CRC is CRC-32C. Sixteen bits would let a damaged frame pass every 65,536 times, and at a bit error rate of 1e-4 one
//! long frame in five is damaged: one wrong packet every few minutes at full speed. CRC-32C finds any five flipped bits in
//! frames of up to 655 bytes (Koopman 2002), and passes one in 4e9 of those with more.

use crc::{CRC_32_ISCSI, Crc};

use super::Offer;
use super::hello::Hello;

/// The byte that ends a frame and occurs nowhere in it.
pub const DELIMITER: u8 = 0;

#[cfg(feature = "large-tables")]
type Tables = crc::Table<16>;
#[cfg(not(feature = "large-tables"))]
type Tables = crc::Table<1>;
pub(super) static CRC: Crc<u32, Tables> = Crc::<u32, Tables>::new(&CRC_32_ISCSI);
const CRC_BYTES: usize = 4;

/// The bytes of a data frame before the packet.
const DATA_HEADER: usize = 8;
const ACK_BYTES: usize = 7;

/// What a data frame has besides the packet, before it is encoded.
pub const OVERHEAD: usize = DATA_HEADER + CRC_BYTES;

/// Sequence numbers have six bits.
pub(super) const SEQUENCE_MASK: u8 = 0x3f;
/// Rounds have two.
pub(super) const ROUND_MASK: u8 = 0x03;
const LANE_MASK: u8 = 0x0f;

const HELLO: u8 = 0;
const ACK: u8 = 1;
const DATA: u8 = 2;
const TYPE_MASK: u8 = 0x03;
const NAK: u8 = 0x40;

/// So many bytes are enough for a frame of `decoded` bytes once it is encoded, with a delimiter before and after it.
pub const fn encoded_len(decoded: usize) -> usize {
    decoded + decoded / 254 + 3
}

/// What the receiver of data tells its sender; part of every frame but hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ack {
    /// The [tag](super::hello::Identity::tag) of the end that is spoken to, so that frames for another are told apart.
    pub(super) tag: u16,
    /// All frames before this one have come.
    pub(super) next: u8,
    /// Of the last eight before `next`, those for which there was no room: bit 0 is the last one.
    pub(super) refused: u8,
    /// Lanes that have room now.
    pub(super) offer: Offer,
    /// A frame is missing: send again from `next`. It carries the round in which the gap was seen.
    pub(super) missing: Option<u8>,
}

/// A frame, as it is before encoding and after decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    Hello(Hello),
    Ack(Ack),
    Data {
        ack: Ack,
        sequence: u8,
        /// Rises each time the sender goes back, so that the receiver complains once for each time.
        round: u8,
        lane: u8,
        packet: &'a [u8],
    },
}

/// Why bytes between two delimiters are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameError {
    /// Not COBS.
    Encoding,
    /// More bytes than the largest frame has.
    TooLong,
    /// The CRC does not match.
    Crc,
    /// The CRC matches, but there is no such frame, or it is too short for what it says it is.
    Form,
}

impl<'a> Frame<'a> {
    /// Reads the decoded bytes of a frame.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let (content, crc) = bytes.split_last_chunk::<CRC_BYTES>().ok_or(FrameError::Form)?;
        if CRC.checksum(content) != u32::from_le_bytes(*crc) {
            return Err(FrameError::Crc);
        }
        let (&first, rest) = content.split_first().ok_or(FrameError::Form)?;
        match first & TYPE_MASK {
            HELLO => Hello::read(rest).map(Frame::Hello).ok_or(FrameError::Form),
            ACK => match *rest {
                [t0, t1, next, refused, o0, o1] => Ok(Frame::Ack(Ack::new(first, [t0, t1], next, refused, [o0, o1]))),
                _ => Err(FrameError::Form),
            },
            DATA => match *rest {
                [t0, t1, place, next, refused, o0, o1, ref packet @ ..] => Ok(Frame::Data {
                    ack: Ack::new(first, [t0, t1], next, refused, [o0, o1]),
                    sequence: place >> 2,
                    round: place & ROUND_MASK,
                    lane: first >> 2 & LANE_MASK,
                    packet,
                }),
                _ => Err(FrameError::Form),
            },
            _ => Err(FrameError::Form),
        }
    }
}

/// Encodes hello. It comes after silence or trouble, so a delimiter goes before it too and ends what noise may have begun.
pub(super) fn write_hello(hello: &Hello, out: &mut [u8]) -> Option<usize> {
    let mut body = [0; 1 + Hello::MAX_BYTES];
    body[0] = HELLO;
    let length = 1 + hello.write(&mut body[1..]);
    encode(&[body.get(..length)?], true, out)
}

/// Encodes an acknowledgement.
pub(super) fn write_ack(ack: &Ack, out: &mut [u8]) -> Option<usize> {
    let ([t0, t1], [o0, o1]) = (ack.tag.to_le_bytes(), ack.offer.to_bytes());
    let header: [u8; ACK_BYTES] = [ACK | ack.nak(), t0, t1, ack.place(), ack.refused, o0, o1];
    encode(&[&header], false, out)
}

/// Encodes a packet, given in two parts. If it is sent again a delimiter goes before it.
pub(super) fn write_data(
    ack: &Ack,
    sequence: u8,
    round: u8,
    lane: u8,
    packet: [&[u8]; 2],
    again: bool,
    out: &mut [u8],
) -> Option<usize> {
    let ([t0, t1], [o0, o1]) = (ack.tag.to_le_bytes(), ack.offer.to_bytes());
    let header: [u8; DATA_HEADER] = [
        DATA | (lane & LANE_MASK) << 2 | ack.nak(),
        t0,
        t1,
        sequence << 2 | round & ROUND_MASK,
        ack.place(),
        ack.refused,
        o0,
        o1,
    ];
    encode(&[&header, packet[0], packet[1]], again, out)
}

impl Ack {
    fn new(first: u8, tag: [u8; 2], place: u8, refused: u8, offer: [u8; 2]) -> Self {
        Ack {
            tag: u16::from_le_bytes(tag),
            next: place >> 2,
            refused,
            offer: Offer::from_bytes(offer),
            missing: (first & NAK != 0).then_some(place & ROUND_MASK),
        }
    }

    fn nak(&self) -> u8 {
        if self.missing.is_some() { NAK } else { 0 }
    }

    fn place(&self) -> u8 {
        self.next << 2 | self.missing.unwrap_or(0) & ROUND_MASK
    }
}

fn encode(parts: &[&[u8]], resynchronise: bool, out: &mut [u8]) -> Option<usize> {
    let lead = usize::from(resynchronise);
    if resynchronise {
        *out.first_mut()? = DELIMITER;
    }
    let mut encoder = cobs::CobsEncoder::new(out.get_mut(lead..)?);
    let mut digest = CRC.digest();
    for part in parts {
        digest.update(part);
        encoder.push(part).ok()?;
    }
    encoder.push(&digest.finalize().to_le_bytes()).ok()?;
    let end = lead + encoder.finalize();
    *out.get_mut(end)? = DELIMITER;
    Some(end + 1)
}

/// Collects the bytes of a wire into frames of at most `N` bytes, encoded.
#[derive(Clone, Debug)]
pub(super) struct Collector<const N: usize> {
    /// An array rather than a vector, which would be filled byte by byte.
    bytes: [u8; N],
    length: u16,
    too_long: bool,
    /// The bytes are a frame that was handed out: the next byte begins another.
    complete: bool,
}

impl<const N: usize> Collector<N> {
    pub(super) const fn new() -> Self {
        Collector {
            bytes: [0; N],
            length: 0,
            too_long: false,
            complete: false,
        }
    }

    /// Takes bytes from the front of `input` up to the end of a frame, and gives the decoded bytes of that frame. `None`
    /// when the input is used up.
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Option<Result<&[u8], FrameError>> {
        loop {
            if self.complete {
                self.length = 0;
                self.too_long = false;
                self.complete = false;
            }
            let end = input.iter().position(|&byte| byte == DELIMITER);
            let (taken, rest) = match end {
                Some(end) => (input.get(..end)?, input.get(end + 1..)?),
                None => (*input, &[][..]),
            };
            *input = rest;
            self.too_long |= self.append(taken).is_none();
            end?;
            self.complete = true;
            // Delimiters in a row, as of a break or before a frame, are no frames.
            if self.length > 0 || self.too_long {
                break;
            }
        }
        if self.too_long {
            return Some(Err(FrameError::TooLong));
        }
        let bytes = self.bytes.get_mut(..usize::from(self.length))?;
        Some(match cobs::decode_in_place(bytes) {
            Ok(length) => bytes.get(..length).ok_or(FrameError::Encoding),
            Err(_) => Err(FrameError::Encoding),
        })
    }

    /// `None` if there is no room.
    fn append(&mut self, taken: &[u8]) -> Option<()> {
        let begin = usize::from(self.length);
        let end = begin + taken.len();
        self.bytes.get_mut(begin..end)?.copy_from_slice(taken);
        self.length = end as u16;
        Some(())
    }
}

#[cfg(test)]
mod tests;
