//! Frames: what travels on a wire, byte by byte.
//!
//! A frame is a header, optionally a packet, and a CRC, encoded with COBS so that the byte 0 occurs only at its end. A receiver
//! that starts at any moment, or after any garbage, is synchronized at the next 0. `docs/wire-format.md` specifies the same for
//! other implementations.
//!
//! The CRC is CRC-32C. Sixteen bits would let one in 65,536 damaged frames pass, and at a bit error rate of 1e-4 one
//! long frame in five is damaged: one wrong packet every few minutes at full speed. CRC-32C finds any five flipped bits in
//! frames of up to 655 bytes (Koopman 2002), and passes one in 4e9 of those with more.

use serde::{Deserialize, Serialize};

use hopwise_codec::{CRC_BYTES, Check, DELIMITER, Decoder, crc32c};

use super::hello::{BadHello, Hello};
use super::offer::Offer;
use super::rate_change::RateMessage;
use super::tag::{PROOF_BYTES, Proof, Seal, TAG_MORE};
use super::time::TimeSignal;

/// The bytes of a data frame before the packet.
pub(crate) const DATA_HEADER: usize = 8;
const ACK_BYTES: usize = 7;

/// The overhead of a data frame besides the packet, before encoding.
pub const OVERHEAD: usize = DATA_HEADER + CRC_BYTES;
/// The same in a mesh with a key.
pub const SEALED_OVERHEAD: usize = OVERHEAD + TAG_MORE;

/// Sequence numbers have six bits.
pub(crate) const SEQUENCE_NUMBERS: usize = 1 << 6;
/// Rounds have two.
pub(crate) const ROUND_MASK: u8 = 0x03;
const CHANNEL_MASK: u8 = 0x0f;

const HELLO: u8 = 0;
pub(super) const ACK: u8 = 1;
pub(super) const DATA: u8 = 2;
pub(super) const TIME: u8 = 3;
/// Makes a time signal a message about the rate.
const RATE: u8 = 0x04;
pub(super) const TYPE_MASK: u8 = 0x03;
const MISSING: u8 = 0x40;
/// The mark of a kind that this version does not know or, in a mesh with a key, of a tag.
pub(super) const LATER: u8 = 0x80;

/// The fill bytes that make a hello as long as the longest frame.
static PADDING: [u8; 320] = [0x55; 320];

/// Upper bound of the encoded length of a frame of `decoded` bytes, with a delimiter before and after it.
pub const fn encoded_len(decoded: usize) -> usize {
    decoded + decoded / 254 + 3
}

/// The acknowledgment of a receiver; part of every frame but hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The [tag](super::Identity::tag) of the addressed end, which distinguishes frames for another.
    pub tag: u16,
    /// The next expected frame: all before it have arrived.
    pub next: u8,
    /// Of the last eight before `next`, those for which there was no room: bit 0 is the last one.
    pub refused: u8,
    /// The room at the receiver.
    pub offer: Offer,
    /// A frame is missing: go back to `next`. It carries the round in which the gap was seen.
    pub missing: Option<u8>,
    /// Announces a pause of up to this many times [`PAUSE_UNIT`] microseconds, at most 15, in which this end neither sends nor receives. 0 if
    /// there is none, and in a frame with a packet.
    pub pause: u8,
}

/// The unit of pauses, in microseconds.
pub const PAUSE_UNIT: u64 = 256_000;

/// The header of a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// The acknowledgment for the other direction.
    pub ack: Ack,
    /// The sequence number of the frame, modulo 64.
    pub sequence: u8,
    /// Rises each time the sender goes back, modulo 4, so that the receiver reports a gap once each time.
    pub round: u8,
    /// The virtual channel in which the packet waits.
    pub channel: u8,
}

/// A frame, before encoding and after decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// The identity of an end.
    Hello(Hello),
    /// The hello of another version of the wire format. The rest of it is not parsed.
    OtherVersion(u8),
    /// An unknown kind of frame, or a hello of an unknown role. It is ignored.
    Unknown,
    /// A time signal.
    Time {
        /// The [tag](super::Identity::tag) of the addressed end.
        tag: u16,
        /// The content of the signal.
        signal: TimeSignal,
    },
    /// A message about the rate of the wire.
    Rate {
        /// As in a time signal.
        tag: u16,
        /// The message.
        message: RateMessage,
    },
    /// An acknowledgment alone.
    Ack(Ack),
    /// An acknowledgment and a packet.
    Data {
        /// The header before the packet.
        header: DataHeader,
        /// The packet's bytes.
        packet: &'a [u8],
    },
}

/// The reason why bytes between two delimiters are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum FrameError {
    /// The bytes are not valid COBS.
    Encoding,
    /// More bytes than the largest frame has.
    TooLong,
    /// The CRC does not match.
    Crc,
    /// The CRC matches, but the frame is unknown or too short for its kind.
    Form,
    /// In a mesh with a key, the tag is wrong: the frame is forged, replayed, or damaged.
    Tag,
}

impl<'a> Frame<'a> {
    /// Parses a decoded frame.
    pub fn read(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let (content, crc) = bytes.split_last_chunk::<CRC_BYTES>().ok_or(FrameError::Form)?;
        if crc32c([content]) != u32::from_le_bytes(*crc) {
            return Err(FrameError::Crc);
        }
        Frame::read_content(content, 0)
    }

    /// Parses a decoded frame whose CRC has been checked.
    pub(crate) fn read_intact(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let (content, _) = bytes.split_last_chunk::<CRC_BYTES>().ok_or(FrameError::Form)?;
        Frame::read_content(content, 0)
    }

    /// Parses the content guarded by a CRC or a tag. A first byte with `mark` is of a known kind.
    pub(super) fn read_content(content: &'a [u8], mark: u8) -> Result<Self, FrameError> {
        let (&first, rest) = content.split_first().ok_or(FrameError::Form)?;
        match first & (TYPE_MASK | LATER) ^ mark {
            HELLO => match Hello::read(rest) {
                Ok(hello) => Ok(Frame::Hello(hello)),
                Err(BadHello::Version(version)) => Ok(Frame::OtherVersion(version)),
                Err(BadHello::Role) => Ok(Frame::Unknown),
                Err(BadHello::Form) => Err(FrameError::Form),
            },
            ACK => match *rest {
                [t0, t1, next, refused, o0, o1] => Ok(Frame::Ack(Ack {
                    pause: first >> 2 & CHANNEL_MASK,
                    ..Ack::read(first, [t0, t1], next, refused, [o0, o1])
                })),
                _ => Err(FrameError::Form),
            },
            DATA => match *rest {
                [t0, t1, place, next, refused, o0, o1, ref packet @ ..] => Ok(Frame::Data {
                    header: DataHeader {
                        ack: Ack::read(first, [t0, t1], next, refused, [o0, o1]),
                        sequence: place >> 2,
                        round: place & ROUND_MASK,
                        channel: first >> 2 & CHANNEL_MASK,
                    },
                    packet,
                }),
                _ => Err(FrameError::Form),
            },
            TIME if first & RATE != 0 => match *rest {
                [t0, t1, message, ..] => Ok(match RateMessage::read(message) {
                    Some(message) => Frame::Rate {
                        tag: u16::from_le_bytes([t0, t1]),
                        message,
                    },
                    None => Frame::Unknown,
                }),
                _ => Err(FrameError::Form),
            },
            TIME => match *rest {
                [t0, t1, ref signal @ ..] => Ok(Frame::Time {
                    tag: u16::from_le_bytes([t0, t1]),
                    signal: TimeSignal::read(signal).ok_or(FrameError::Form)?,
                }),
                _ => Err(FrameError::Form),
            },
            _ => Ok(Frame::Unknown),
        }
    }
}

/// Encodes a hello, padded to the length of a data frame with a packet of `padded` bytes, with a proof in a mesh that has a key. It comes
/// after silence or faults, so it also starts with a delimiter, which ends any noise. Returns the number of bytes to send; `None` if there
/// is no room.
pub fn write_hello(hello: &Hello, padded: usize, proof: Option<Proof<'_>>, out: &mut [u8]) -> Option<usize> {
    let mut content = [0; 1 + Hello::MAX_BYTES];
    content[0] = HELLO;
    let length = 1 + hello.write(&mut content[1..])?;
    let authenticated = proof.map_or(0, |_| PROOF_BYTES);
    let padding = (DATA_HEADER + padded).saturating_sub(length + authenticated);
    let ending = proof.map_or(Ending::Crc, Ending::Proof);
    encode(
        [content.get(..length)?, PADDING.get(..padding)?, &[]],
        ending,
        true,
        out,
    )
}

/// Encodes a time signal, sealed in a mesh that has a key. Returns the number of bytes to send; `None` if there is no room.
pub fn write_time(tag: u16, signal: &TimeSignal, seal: Option<Seal<'_>>, out: &mut [u8]) -> Option<usize> {
    let (mark, [t0, t1], ending) = sealing(tag, seal);
    let mut content = [0; 3 + TimeSignal::MAX_BYTES];
    content[..3].copy_from_slice(&[TIME | mark, t0, t1]);
    let length = 3 + signal.write(&mut content[3..])?;
    encode([content.get(..length)?, &[], &[]], ending, false, out)
}

/// Encodes a message about the rate and a test pattern, sealed in a mesh that has a key. It starts with a delimiter, since ports that change
/// their rates may make noise. Returns the number of bytes to send; `None` if there is no room.
pub fn write_rate(tag: u16, message: RateMessage, seal: Option<Seal<'_>>, out: &mut [u8]) -> Option<usize> {
    let (mark, [t0, t1], ending) = sealing(tag, seal);
    let content = [TIME | RATE | mark, t0, t1, message.byte()];
    let pattern = match message {
        RateMessage::Test(_) => &RateMessage::PATTERN[..],
        RateMessage::Ask(_) | RateMessage::Agree(_) => &[],
    };
    encode([&content, pattern, pattern], ending, true, out)
}

/// Encodes an acknowledgment, sealed in a mesh that has a key. One that shows that its sender is alive starts with a delimiter, in case the
/// last one was damaged. Returns the number of bytes to send; `None` if there is no room.
pub fn write_ack(ack: &Ack, sign_of_life: bool, seal: Option<Seal<'_>>, out: &mut [u8]) -> Option<usize> {
    let (mark, [t0, t1], ending) = sealing(ack.tag, seal);
    let [o0, o1] = ack.offer.to_bytes();
    let content: [u8; ACK_BYTES] = [
        ACK | mark | (ack.pause & CHANNEL_MASK) << 2 | ack.missing_flag(),
        t0,
        t1,
        ack.place(),
        ack.refused,
        o0,
        o1,
    ];
    encode([&content, &[], &[]], ending, sign_of_life, out)
}

/// Encodes a packet, given in two parts, sealed in a mesh that has a key. A retransmission starts with a delimiter. Returns the number of
/// bytes to send; `None` if there is no room.
pub fn write_data(
    header: &DataHeader,
    packet: [&[u8]; 2],
    retransmit: bool,
    seal: Option<Seal<'_>>,
    out: &mut [u8],
) -> Option<usize> {
    let DataHeader {
        ref ack,
        sequence,
        round,
        channel,
    } = *header;
    let (mark, [t0, t1], ending) = sealing(ack.tag, seal);
    let [o0, o1] = ack.offer.to_bytes();
    let content: [u8; DATA_HEADER] = [
        DATA | mark | (channel & CHANNEL_MASK) << 2 | ack.missing_flag(),
        t0,
        t1,
        sequence << 2 | round & ROUND_MASK,
        ack.place(),
        ack.refused,
        o0,
        o1,
    ];
    encode([&content, packet[0], packet[1]], ending, retransmit, out)
}

/// The differences of a sealed frame: a mark, the frame number in place of the session tag, and the end.
fn sealing<'a>(tag: u16, seal: Option<Seal<'a>>) -> (u8, [u8; 2], Ending<'a>) {
    match seal {
        None => (0, tag.to_le_bytes(), Ending::Crc),
        Some(seal) => (LATER, seal.low_bits(), Ending::Tag(seal)),
    }
}

/// How a frame ends.
#[derive(Clone, Copy)]
enum Ending<'a> {
    Crc,
    Tag(Seal<'a>),
    Proof(Proof<'a>),
}

impl Ack {
    fn read(first: u8, tag: [u8; 2], place: u8, refused: u8, offer: [u8; 2]) -> Self {
        Ack {
            tag: u16::from_le_bytes(tag),
            next: place >> 2,
            refused,
            offer: Offer::from_bytes(offer),
            missing: (first & MISSING != 0).then_some(place & ROUND_MASK),
            pause: 0,
        }
    }

    fn missing_flag(&self) -> u8 {
        if self.missing.is_some() { MISSING } else { 0 }
    }

    fn place(&self) -> u8 {
        self.next << 2 | self.missing.unwrap_or(0) & ROUND_MASK
    }
}

/// A lead delimiter ends what was cut off.
fn encode(parts: [&[u8]; 3], ending: Ending<'_>, resynchronize: bool, out: &mut [u8]) -> Option<usize> {
    let lead = usize::from(resynchronize);
    if resynchronize {
        *out.first_mut()? = DELIMITER;
    }
    let out = out.get_mut(lead..)?;
    let [one, two, three] = parts;
    let length = match ending {
        Ending::Crc => hopwise_codec::encode(&parts, Check::Crc, out)?,
        Ending::Tag(seal) => hopwise_codec::encode(&[one, two, three, &seal.tag(&parts)], Check::None, out)?,
        Ending::Proof(proof) => {
            let bytes = proof.bytes();
            let tag = proof.seal.tag(&[one, two, three, &bytes]);
            hopwise_codec::encode(&[one, two, three, &bytes, &tag], Check::Crc, out)?
        }
    };
    Some(lead + length)
}

/// Decodes, in their place, the bytes that came between two delimiters.
pub fn decode(bytes: &mut [u8]) -> Result<&[u8], FrameError> {
    let mut decoder = Decoder::new();
    let mut begin = 0;
    // In pieces, since what is decoded is never longer than what it was decoded from.
    while let Some(rest) = bytes.get(begin..).filter(|rest| !rest.is_empty()) {
        let (mut piece, count) = ([0; 32], rest.len().min(32));
        let piece = piece.get_mut(..count).unwrap_or(&mut []);
        piece.copy_from_slice(rest.get(..count).unwrap_or(&[]));
        if decoder.feed(&mut &*piece, Check::None, bytes).is_some() {
            return Err(FrameError::Encoding);
        }
        begin += count;
    }
    let decoded = decoder.feed(&mut &[DELIMITER][..], Check::None, bytes);
    let length = decoded.and_then(Result::ok).ok_or(FrameError::Encoding)?.length;
    bytes.get(..length).ok_or(FrameError::Encoding)
}

#[cfg(test)]
mod tests {
    use super::super::hello::VERSION;
    use super::*;

    /// Any content of up to two bytes with the right CRC: read or refused by its form alone.
    #[test]
    fn all_short_contents_with_a_good_crc() {
        let sealed = |content: &[u8]| [content, &crc32c([content]).to_le_bytes()].concat();
        assert_eq!(Frame::read(&sealed(&[])), Err(FrameError::Form));
        for a in 0..=255 {
            let unknown = a >= 0x80;
            let alone = if unknown {
                Ok(Frame::Unknown)
            } else {
                Err(FrameError::Form)
            };
            assert_eq!(Frame::read(&sealed(&[a])), alone);
            for b in 0..=255 {
                let other_version = a & TYPE_MASK == HELLO && b != VERSION;
                let expected = if unknown {
                    Ok(Frame::Unknown)
                } else if other_version {
                    Ok(Frame::OtherVersion(b))
                } else {
                    Err(FrameError::Form)
                };
                assert_eq!(Frame::read(&sealed(&[a, b])), expected);
            }
        }
    }
}
