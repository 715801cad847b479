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

use super::hello::{BadHello, Hello, VERSION};
use super::offer::Offer;
use super::rate_change::RateMessage;
use super::tag::{NUMBER_BYTES, PROOF_BYTES, Proof, Seal};
use super::time::TimeSignal;
use crate::key::TAG_BYTES;

/// Maximum number of bytes of a data frame before the packet.
const DATA_HEADER: usize = 3 + STATUS_BYTES;
/// The same in a mesh with a key.
const SEALED_DATA_HEADER: usize = DATA_HEADER + NUMBER_BYTES;

/// The overhead of a data frame besides the packet, before encoding.
pub const OVERHEAD: usize = DATA_HEADER + CRC_BYTES;
/// The same in a mesh with a key.
pub const SEALED_OVERHEAD: usize = SEALED_DATA_HEADER + TAG_BYTES;

/// Sequence numbers have six bits.
pub(crate) const SEQUENCE_NUMBERS: usize = 1 << 6;
/// Rounds have two.
pub(crate) const ROUND_MASK: u8 = 0x03;
pub(super) const CHANNEL_MASK: u8 = 0x0f;

const HELLO: u8 = 0;
pub(super) const ACK: u8 = 1;
pub(super) const DATA: u8 = 2;
pub(super) const TIME: u8 = 3;
/// Makes a time signal a message about the rate.
const RATE: u8 = 0x04;
pub(super) const TYPE_MASK: u8 = 0x03;
pub(super) const MISSING: u8 = 0x40;
const STATUS_BYTES: usize = 3;
/// In place of a round where no frame is missing: refusals and the offer follow.
const STATUS: u8 = 1;
/// The mark of a kind that this version does not know or, in a mesh with a key, of a tag.
pub(super) const LATER: u8 = 0x80;

/// The fill byte that makes a hello as long as the longest frame.
const PADDING: u8 = 0x55;

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
#[expect(missing_docs, reason = "the names of the fields say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// The identity of an end.
    Hello(Hello),
    /// The hello of another version of the wire format. The rest of it is not parsed.
    OtherVersion(u8),
    /// An unknown kind of frame, or a hello of an unknown role. It is ignored.
    Unknown,
    /// A time signal, with the [tag](super::Identity::tag) of the addressed end.
    Time { tag: u16, signal: TimeSignal },
    /// A message about the rate of the wire, with the same tag.
    Rate { tag: u16, message: RateMessage },
    /// An acknowledgment alone.
    Ack(Ack),
    /// An acknowledgment and a packet.
    Data { header: DataHeader, packet: &'a [u8] },
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
    /// Parses a decoded frame for the end of a [tag](super::Identity::tag). What is for another end is damaged.
    pub fn read(bytes: &'a [u8], tag: u16) -> Result<Self, FrameError> {
        let (content, crc) = bytes.split_last_chunk::<CRC_BYTES>().ok_or(FrameError::Form)?;
        let found = crc32c([content]) ^ u32::from_le_bytes(*crc);
        let check = if found == 0 {
            Checked::ForAll
        } else if found == mask(tag) {
            Checked::For(tag)
        } else {
            return Err(FrameError::Crc);
        };
        Frame::read_content(content, check)
    }

    /// Parses a decoded frame whose CRC has been checked.
    pub(crate) fn read_checked(bytes: &'a [u8], check: Checked) -> Result<Self, FrameError> {
        let (content, _) = bytes.split_last_chunk::<CRC_BYTES>().ok_or(FrameError::Form)?;
        Frame::read_content(content, check)
    }

    /// Parses the content guarded by a CRC or a tag.
    pub(super) fn read_content(content: &'a [u8], check: Checked) -> Result<Self, FrameError> {
        let (&first, mut rest) = content.split_first().ok_or(FrameError::Form)?;
        let (tag, mark) = match check {
            Checked::ForAll if first & (TYPE_MASK | LATER) == HELLO => {
                return match Hello::read(VERSION, rest) {
                    Ok(hello) => Ok(Frame::Hello(hello)),
                    Err(BadHello::Version(version)) => Ok(Frame::OtherVersion(version)),
                    Err(BadHello::Role) => Ok(Frame::Unknown),
                    Err(BadHello::Form) => Err(FrameError::Form),
                };
            }
            Checked::ForAll => return Ok(Frame::Unknown),
            Checked::For(tag) => (tag, 0),
            Checked::Sealed(tag) => {
                rest = rest.get(NUMBER_BYTES..).ok_or(FrameError::Form)?;
                (tag, LATER)
            }
        };
        let frame = match first & (TYPE_MASK | LATER) ^ mark {
            ACK => Ack::read(first, tag, rest)
                .filter(|(_, more)| more.is_empty())
                .map(|(ack, _)| {
                    Frame::Ack(Ack {
                        pause: first >> 2 & CHANNEL_MASK,
                        ..ack
                    })
                }),
            DATA => rest.split_first().and_then(|(&place, rest)| {
                let (ack, packet) = Ack::read(first, tag, rest)?;
                let header = DataHeader {
                    ack,
                    sequence: place >> 2,
                    round: place & ROUND_MASK,
                    channel: first >> 2 & CHANNEL_MASK,
                };
                Some(Frame::Data { header, packet })
            }),
            TIME if first & RATE != 0 => rest.first().map(|&message| match RateMessage::read(message) {
                Some(message) => Frame::Rate { tag, message },
                None => Frame::Unknown,
            }),
            TIME => TimeSignal::read(rest).map(|signal| Frame::Time { tag, signal }),
            _ => Some(Frame::Unknown),
        };
        frame.ok_or(FrameError::Form)
    }
}

/// What the end of a frame says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// A CRC that is not masked: it is for any end.
    ForAll,
    /// A CRC that is masked by the tag of the end it is for.
    For(u16),
    /// The authentication tag of a session with the end of this tag.
    Sealed(u16),
}

/// The factor of [masks](mask), and its inverse modulo 2^32.
const SPREAD: u32 = 0x9e37_79b1;
const GATHER: u32 = 0x0e8b_2f51;
const _: () = assert!(SPREAD.wrapping_mul(GATHER) == 1);

/// The mask of the CRC of frames for the end of a tag; 0 for a tag of 0. Those of two tags differ in many bits.
pub const fn mask(tag: u16) -> u32 {
    (tag as u32).wrapping_mul(SPREAD)
}

/// The tag of the end that a decoded frame is for, judged by its CRC: 0 if it is for any, `None` if it is damaged.
pub fn tag_of(bytes: &[u8]) -> Option<u16> {
    let (content, crc) = bytes.split_last_chunk::<CRC_BYTES>()?;
    let found = crc32c([content]) ^ u32::from_le_bytes(*crc);
    u16::try_from(found.wrapping_mul(GATHER)).ok()
}

/// Encodes a hello, padded to the length of a data frame with a packet of `padded` bytes, with a proof in a mesh that has a key. It comes
/// after silence or faults, so it also starts with a delimiter, which ends any noise. Returns the number of bytes to send; `None` if there
/// is no room.
pub fn write_hello(hello: &Hello, padded: usize, proof: Option<Proof<'_>>, out: &mut [u8]) -> Option<usize> {
    write_hello_of(VERSION, hello, padded, proof, out)
}

/// The same of a version.
pub(crate) fn write_hello_of(
    version: u8,
    hello: &Hello,
    padded: usize,
    proof: Option<Proof<'_>>,
    out: &mut [u8],
) -> Option<usize> {
    let mut content = [0; 1 + Hello::MAX_BYTES];
    content[0] = HELLO;
    let length = 1 + hello.write(version, &mut content[1..])?;
    let authenticated = proof.map_or(0, |_| PROOF_BYTES);
    let padding = (DATA_HEADER + padded).saturating_sub(length + authenticated);
    let ending = proof.map_or(Ending::Crc(0), Ending::Proof);
    let fill = [PADDING; 320];
    encode([content.get(..length)?, fill.get(..padding)?, &[]], ending, true, out)
}

/// Encodes a time signal, sealed in a mesh that has a key. Returns the number of bytes to send; `None` if there is no room.
pub fn write_time(tag: u16, signal: &TimeSignal, seal: Option<Seal<'_>>, out: &mut [u8]) -> Option<usize> {
    let (start, ending) = Start::new([TIME], 1, tag, seal);
    let mut content = [0; TimeSignal::MAX_BYTES];
    let length = signal.write(&mut content)?;
    encode([start.bytes(), content.get(..length)?, &[]], ending, false, out)
}

/// Encodes a message about the rate and a test pattern, sealed in a mesh that has a key. It starts with a delimiter, since ports that change
/// their rates may make noise. Returns the number of bytes to send; `None` if there is no room.
pub fn write_rate(tag: u16, message: RateMessage, seal: Option<Seal<'_>>, out: &mut [u8]) -> Option<usize> {
    let (start, ending) = Start::new([TIME | RATE, message.byte()], 2, tag, seal);
    let pattern = match message {
        RateMessage::Test(_) => &RateMessage::PATTERN[..],
        RateMessage::Ask(_) | RateMessage::Agree(_) => &[],
    };
    encode([start.bytes(), pattern, pattern], ending, true, out)
}

/// Encodes an acknowledgment, sealed in a mesh that has a key. One that shows that its sender is alive starts with a delimiter, in case the
/// last one was damaged. Returns the number of bytes to send; `None` if there is no room.
pub fn write_ack(ack: &Ack, sign_of_life: bool, seal: Option<Seal<'_>>, out: &mut [u8]) -> Option<usize> {
    let first = ACK | (ack.pause & CHANNEL_MASK) << 2 | ack.missing_flag();
    let (place, [refused, o0, o1], status) = ack.parts();
    let (start, ending) = Start::new([first, place, refused, o0, o1], 2 + status, ack.tag, seal);
    encode([start.bytes(), &[], &[]], ending, sign_of_life, out)
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
    let first = DATA | (channel & CHANNEL_MASK) << 2 | ack.missing_flag();
    let (next, [refused, o0, o1], status) = ack.parts();
    let place = sequence << 2 | round & ROUND_MASK;
    let bytes = [first, place, next, refused, o0, o1];
    let (start, ending) = Start::new(bytes, 3 + status, ack.tag, seal);
    encode([start.bytes(), packet[0], packet[1]], ending, retransmit, out)
}

/// The bytes of a frame before the packet.
struct Start {
    bytes: [u8; SEALED_DATA_HEADER],
    length: usize,
}

impl Start {
    /// The first bytes, and how the frame ends: a sealed one has a mark, and its number after the first byte.
    fn new<const N: usize>(bytes: [u8; N], length: usize, tag: u16, seal: Option<Seal<'_>>) -> (Self, Ending<'_>) {
        let mut start = Start {
            bytes: [0; SEALED_DATA_HEADER],
            length,
        };
        // Of fixed length, so that nothing is called.
        if let Some((place, _)) = start.bytes.split_first_chunk_mut() {
            *place = bytes;
        }
        let Some(seal) = seal else {
            return (start, Ending::Crc(mask(tag)));
        };
        start.bytes.rotate_right(NUMBER_BYTES);
        let [n0, n1] = seal.low_bits();
        if let (Some(begin), Some(&first)) = (start.bytes.first_chunk_mut(), bytes.first()) {
            *begin = [first | LATER, n0, n1];
        }
        start.length += NUMBER_BYTES;
        (start, Ending::Tag(seal))
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(&self.bytes)
    }
}

#[derive(Clone, Copy)]
pub(super) enum Ending<'a> {
    /// With a CRC, xor a mask.
    Crc(u32),
    Tag(Seal<'a>),
    Proof(Proof<'a>),
}

impl Ack {
    /// All before `next` have arrived, nothing was refused, and there is room for all.
    pub const fn new(tag: u16, next: u8) -> Self {
        Ack {
            tag,
            next,
            refused: 0,
            offer: Offer::ALL,
            missing: None,
            pause: 0,
        }
    }

    /// Parses an acknowledgment and what follows it.
    fn read(first: u8, tag: u16, bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (&place, rest) = bytes.split_first()?;
        let round = place & ROUND_MASK;
        let missing = (first & MISSING != 0).then_some(round);
        let (refused, offer, rest) = if missing.is_some() || round == STATUS {
            let (&[refused, o0, o1], rest) = rest.split_first_chunk()?;
            (refused, Offer::from_bytes([o0, o1]), rest)
        } else if round == 0 {
            (0, Offer::ALL, rest)
        } else {
            return None;
        };
        let ack = Ack {
            tag,
            next: place >> 2,
            refused,
            offer,
            missing,
            pause: 0,
        };
        Some((ack, rest))
    }

    /// The byte with `next`, then refusals and the offer, and how many bytes of these are written. They are left out if nothing is refused and there
    /// is as much room as there is a number for: a receiver then needs no memory of them.
    fn parts(&self) -> (u8, [u8; STATUS_BYTES], usize) {
        let has_status = self.missing.is_some() || self.refused != 0 || self.offer != Offer::ALL;
        let mark = if has_status { STATUS } else { 0 };
        let round = self.missing.map_or(mark, |round| round & ROUND_MASK);
        let [o0, o1] = self.offer.to_bytes();
        let length = if has_status { STATUS_BYTES } else { 0 };
        (self.next << 2 | round, [self.refused, o0, o1], length)
    }

    pub(super) fn missing_flag(&self) -> u8 {
        if self.missing.is_some() { MISSING } else { 0 }
    }
}

/// A lead delimiter ends what was cut off.
pub(super) fn encode(parts: [&[u8]; 3], ending: Ending<'_>, resynchronize: bool, out: &mut [u8]) -> Option<usize> {
    let lead = usize::from(resynchronize);
    if resynchronize {
        *out.first_mut()? = DELIMITER;
    }
    let out = out.get_mut(lead..)?;
    let [one, two, three] = parts;
    let length = match ending {
        Ending::Crc(mask) => hopwise_codec::encode(&parts, Some(mask), out)?,
        Ending::Tag(seal) => hopwise_codec::encode(&[one, two, three, &seal.tag(&parts)], None, out)?,
        Ending::Proof(proof) => {
            let bytes = proof.bytes();
            let tag = proof.seal.tag(&[one, two, three, &bytes]);
            hopwise_codec::encode(&[one, two, three, &bytes, &tag], Some(0), out)?
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
    use super::*;

    /// Any content of up to two bytes with the right CRC: read or refused by its form alone.
    #[test]
    fn all_short_contents_with_a_good_crc() {
        const TAG: u16 = 0x0300;
        let masked = |content: &[u8], tag: u16| [content, &(crc32c([content]) ^ mask(tag)).to_le_bytes()].concat();
        for tag in [0, TAG] {
            assert_eq!(Frame::read(&masked(&[], tag), TAG), Err(FrameError::Form));
        }
        for a in 0..=255 {
            assert_eq!(
                Frame::read(&masked(&[a], 1), TAG),
                Err(FrameError::Crc),
                "for another end"
            );
            let kind = a & (TYPE_MASK | LATER);
            let is_form = |is_known: bool| {
                if is_known {
                    Err(FrameError::Form)
                } else {
                    Ok(Frame::Unknown)
                }
            };
            assert_eq!(Frame::read(&masked(&[a], 0), TAG), is_form(kind == HELLO));
            assert_eq!(
                Frame::read(&masked(&[a], TAG), TAG),
                is_form([ACK, DATA, TIME].contains(&kind))
            );
            for b in 0..=255 {
                let hello = match kind {
                    HELLO if b != VERSION => Ok(Frame::OtherVersion(b)),
                    kind => is_form(kind == HELLO),
                };
                assert_eq!(Frame::read(&masked(&[a, b], 0), TAG), hello);
                let ack = Ack {
                    pause: a >> 2 & CHANNEL_MASK,
                    ..Ack::new(TAG, b >> 2)
                };
                let expected = match kind {
                    ACK if a & MISSING == 0 && b & ROUND_MASK == 0 => Ok(Frame::Ack(ack)),
                    TIME if a & RATE != 0 => Ok(match RateMessage::read(b) {
                        Some(message) => Frame::Rate { tag: TAG, message },
                        None => Frame::Unknown,
                    }),
                    kind => is_form([ACK, DATA, TIME].contains(&kind)),
                };
                assert_eq!(Frame::read(&masked(&[a, b], TAG), TAG), expected);
            }
        }
    }
}
