//! Authentication of frames in a mesh that has a key: a tag in place of the CRC, and in a hello the proof of its sender.
//!
//! An acknowledgment, a packet or a time signal is marked by the highest bit of its first byte, which an end without a key takes for an
//! unknown kind. Then come the low bits of the frame number, and the authentication tag replaces the CRC. A hello keeps its CRC,
//! so that an end with another key, or none, can read the identity; before the CRC come a nonce, the number and the tag.

use super::frame::{ACK, Checked, DATA, Frame, FrameError, LATER, TIME, TYPE_MASK};
use hopwise_codec::CRC_BYTES;

use crate::key::{Key, TAG_BYTES, Tag, same_tag};

/// A number that its owner never repeats.
pub(crate) type Nonce = [u8; NONCE_BYTES];
const NONCE_BYTES: usize = 16;

/// The low bits of a frame's number, as it carries them.
type LowBits = [u8; NUMBER_BYTES];
pub(super) const NUMBER_BYTES: usize = 2;

/// The additional bytes of a hello with a proof.
pub(super) const PROOF_BYTES: usize = NONCE_BYTES + NUMBER_BYTES + TAG_BYTES;

/// The key of a frame, and its number under that key.
#[derive(Clone, Copy, Debug)]
pub struct Seal<'a> {
    /// The key of this direction of the session.
    pub key: &'a Key,
    /// Rises by one with each frame.
    pub number: u64,
    /// Without keys nothing is sealed: this type is uninhabited.
    #[cfg(not(feature = "keys"))]
    never: core::convert::Infallible,
}

impl Seal<'_> {
    pub(super) fn low_bits(&self) -> LowBits {
        (self.number as u16).to_le_bytes()
    }

    pub(super) fn tag(&self, parts: &[&[u8]]) -> Tag {
        #[cfg(feature = "keys")]
        return self.key.tag(self.number, parts);
        #[cfg(not(feature = "keys"))]
        {
            let _ = parts;
            match self.never {}
        }
    }
}

/// The proof of a hello.
#[derive(Clone, Copy, Debug)]
pub struct Proof<'a> {
    /// The nonce of the sender.
    pub nonce: &'a [u8; NONCE_BYTES],
    /// The seal under the key of the session that the hello names, or, if it names none, under the key common to the mesh.
    pub seal: Seal<'a>,
}

impl Proof<'_> {
    /// The bytes between the fields of the hello and the tag.
    pub(super) fn bytes(&self) -> [u8; PROOF_BYTES - TAG_BYTES] {
        let mut bytes = [0; PROOF_BYTES - TAG_BYTES];
        let (nonce, low_bits) = bytes.split_at_mut(NONCE_BYTES);
        nonce.copy_from_slice(self.nonce);
        low_bits.copy_from_slice(&self.seal.low_bits());
        bytes
    }
}

/// A received frame or hello with a tag, not yet authenticated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tagged<'a> {
    /// All before the tag.
    bytes: &'a [u8],
    tag: &'a Tag,
    low_bits: u16,
}

impl<'a> Tagged<'a> {
    /// An acknowledgement, a packet or a time signal; `None` if the decoded bytes are another frame.
    pub(crate) fn frame(bytes: &'a [u8]) -> Option<Self> {
        let (content, tag) = bytes.split_last_chunk()?;
        let &[first, n0, n1, ..] = content else { return None };
        matches!(first & (TYPE_MASK | LATER), SEALED_ACK | SEALED_DATA | SEALED_TIME).then_some(Tagged {
            bytes: content,
            tag,
            low_bits: u16::from_le_bytes([n0, n1]),
        })
    }

    /// The proof of a hello and the nonce in it, of decoded bytes whose CRC has been checked.
    pub(crate) fn hello(bytes: &'a [u8]) -> Option<(Self, &'a Nonce)> {
        let (content, _) = bytes.split_last_chunk::<CRC_BYTES>()?;
        let (content, tag) = content.split_last_chunk()?;
        let (rest, low_bits) = content.split_last_chunk()?;
        let tagged = Tagged {
            bytes: content,
            tag,
            low_bits: u16::from_le_bytes(*low_bits),
        };
        Some((tagged, rest.last_chunk()?))
    }

    /// The number that follows another: the next one with these low bits.
    pub(crate) fn number_after(&self, last: u64) -> u64 {
        let ahead = self.low_bits.wrapping_sub((last as u16).wrapping_add(1));
        last.saturating_add(1).saturating_add(ahead.into())
    }

    /// Whether its tag matches a seal.
    pub(crate) fn is_under(&self, seal: Seal<'_>) -> bool {
        same_tag(&seal.tag(&[self.bytes]), self.tag)
    }

    /// All before the tag.
    #[cfg(feature = "version-3")]
    pub(crate) fn content(&self) -> &'a [u8] {
        self.bytes
    }

    /// The frame, once its tag has been checked. The session, which it does not name, is `session`.
    pub(crate) fn read(&self, session: u16) -> Result<Frame<'a>, FrameError> {
        Frame::read_content(self.bytes, Checked::Sealed(session))
    }
}

const SEALED_ACK: u8 = ACK | LATER;
const SEALED_DATA: u8 = DATA | LATER;
const SEALED_TIME: u8 = TIME | LATER;

#[cfg(all(test, feature = "keys"))]
mod tests {
    use super::*;
    use crate::key::KEY_BYTES;

    #[test]
    fn a_number_is_the_next_one_with_its_low_bits() {
        let tagged = |low_bits| Tagged {
            bytes: &[],
            tag: &[0; TAG_BYTES],
            low_bits,
        };
        for (last, low_bits, number) in [
            (0, 1, 1),
            (0, 0, 0x1_0000),
            (7, 7, 0x1_0007),
            (0xffff, 0, 0x1_0000),
            (0xffff, 0xffff, 0x1_ffff),
            (0x12_fffe, 1, 0x13_0001),
            (u64::MAX, 5, u64::MAX),
        ] {
            assert_eq!(tagged(low_bits).number_after(last), number, "{last:x} {low_bits:x}");
        }
    }

    /// Forged time signals, rejected in a mesh with a key: without a tag, of another key, replayed.
    #[test]
    fn a_time_signal_is_sealed_as_a_packet_is() {
        let signal = super::super::TimeSignal {
            number: 7,
            sent: Some(1),
            mesh: Some(2),
            rate: 3,
            root: 4,
            round: 5,
            hops: 6,
        };
        let (key, other) = (Key::new([1; KEY_BYTES]), Key::new([2; KEY_BYTES]));
        let write = |seal| {
            let mut out = [0; 64];
            let length = super::super::write_time(0x0300, &signal, seal, &mut out).unwrap();
            cobs::decode_vec(&out[..length - 1]).unwrap()
        };
        assert!(Tagged::frame(&write(None)).is_none());
        let bytes = write(Some(Seal { key: &key, number: 9 }));
        let tagged = Tagged::frame(&bytes).unwrap();
        assert!(tagged.is_under(Seal { key: &key, number: 9 }));
        assert!(!tagged.is_under(Seal { key: &key, number: 8 }));
        assert!(!tagged.is_under(Seal { key: &other, number: 9 }));
        assert_eq!(tagged.read(0x0300), Ok(Frame::Time { tag: 0x0300, signal }));
    }
}
