//! Decoding of a frame that arrives in pieces.

use crate::copy::{ONES, ZEROS, copy_run, copy_zeros};
use crate::crc::Crc;
use crate::{Check, DELIMITER};

/// A frame that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The number of bytes, including the CRC.
    pub length: usize,
    crc: Crc,
}

impl Decoded {
    /// Whether the last four bytes are the CRC of the others, xor `mask`. Without a [check](Check) it is not known.
    pub fn has_crc(&self, mask: u32) -> bool {
        self.crc == Crc::residue(mask)
    }
}

/// The reason why the bytes between two delimiters are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// They are not valid COBS.
    Encoding,
    /// They do not fit.
    TooLong,
}

/// A run of so many bytes is worth a call.
const LONG: usize = 8;
/// The bytes left of a run that does not fit: more than any has.
const SKIP: usize = u8::MAX as usize;

/// The state between two pieces of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decoder {
    /// Bytes decoded.
    length: u16,
    /// Bytes until the next code.
    left: u8,
    /// Whether the next code stands for a zero.
    zero: bool,
    crc: Crc,
}

impl Decoder {
    /// A decoder before the first byte of a frame.
    pub const fn new() -> Self {
        Decoder {
            length: 0,
            left: 0,
            zero: false,
            crc: Crc::START,
        }
    }

    /// The number of bytes of the partial frame decoded so far.
    pub fn length(&self) -> usize {
        usize::from(self.length)
    }

    /// Consumes bytes from the front of `input` up to the end of a frame, and decodes them into `out`, which must be the same for all pieces of
    /// a frame, and at most 65,535 bytes long. `None` when the input is used up; then the next piece continues the frame.
    // Not inlined: it would be compiled as its caller is.
    #[inline(never)]
    pub fn feed(&mut self, input: &mut &[u8], check: Check, out: &mut [u8]) -> Option<Result<Decoded, Error>> {
        let ended = match check {
            Check::Crc => self.decode::<true>(input, out),
            Check::None => self.decode::<false>(input, out),
        };
        ended.then(|| {
            let decoder = core::mem::take(self);
            if decoder.left > 0 {
                let is_full = decoder.length() == out.len();
                Err(if is_full { Error::TooLong } else { Error::Encoding })
            } else {
                Ok(Decoded {
                    length: decoder.length.into(),
                    crc: decoder.crc,
                })
            }
        })
    }

    /// Whether a frame has ended.
    #[inline(always)]
    fn decode<const CRC: bool>(&mut self, input: &mut &[u8], out: &mut [u8]) -> bool {
        let room = out.len();
        // Iterators rather than places: all of this then fits the registers of a Cortex-M.
        let mut bytes = input.iter();
        let mut places = out.get_mut(usize::from(self.length)..).unwrap_or(&mut []).iter_mut();
        let mut left = usize::from(self.left);
        let (mut zero, mut crc) = (self.zero, self.crc);
        let ended = loop {
            // Four bytes at once, in a run or of zeros, each of which is a code.
            let in_zeros = left == 0 && zero && bytes.as_slice().starts_with(&ONES);
            if left >= LONG || in_zeros {
                let (from, to) = (bytes.as_slice(), core::mem::take(&mut places).into_slice());
                let copied;
                (copied, crc) = if in_zeros {
                    copy_zeros::<CRC>(ONES, from, ZEROS, to, crc)
                } else {
                    let copied = copy_run::<CRC>(from.get(..left).unwrap_or(from), to, crc);
                    left -= copied.0;
                    copied
                };
                bytes = from.get(copied..).unwrap_or(&[]).iter();
                places = to.get_mut(copied..).unwrap_or(&mut []).iter_mut();
            }
            // What is left of a run.
            while left > 0
                && let [byte, rest @ ..] = bytes.as_slice()
                && *byte != DELIMITER
                && let Some(place) = places.next()
            {
                bytes = rest.iter();
                left -= 1;
                *place = *byte;
                if CRC {
                    crc = crc.byte(*byte);
                }
            }
            let Some(&byte) = bytes.next() else {
                break false;
            };
            if byte == DELIMITER {
                // Consecutive delimiters, as from a break or before a frame, are not frames.
                if places.len() == room && left == 0 && !zero {
                    continue;
                }
                break true;
            }
            let decoded = if left > 0 {
                left -= 1;
                byte
            } else {
                left = usize::from(byte) - 1;
                if !core::mem::replace(&mut zero, byte != u8::MAX) {
                    continue;
                }
                0
            };
            let Some(place) = places.next() else {
                // There is no room: the rest of the frame is skipped.
                left = SKIP;
                continue;
            };
            *place = decoded;
            if CRC {
                crc = crc.byte(decoded);
            }
        };
        *input = bytes.as_slice();
        *self = Decoder {
            length: (room - places.len()) as u16,
            left: left.min(SKIP) as u8,
            zero,
            crc,
        };
        ended
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CRC_BYTES, crc32c, encode};
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    const MASK: u32 = 0x1234;

    /// Bytes of which few, many or all are 0.
    fn content() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![Just(0), any::<u8>(), 1..=u8::MAX];
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..600),
            prop::collection::vec(1..=u8::MAX, 0..600),
            prop::collection::vec(byte, 0..600),
            (0..600_usize).prop_map(|length| vec![0; length]),
            // About the longest run.
            (248..258_usize, 0..9_usize).prop_map(|(run, zeros)| [vec![1; run], vec![0; zeros]].concat()),
        ]
    }

    /// Feeds pieces of given lengths, over and over, and returns all frames.
    fn frames(mut bytes: &[u8], pieces: &[usize], check: Check, room: usize) -> Vec<Result<(Vec<u8>, bool), Error>> {
        let (mut decoder, mut out, mut found) = (Decoder::new(), vec![0xee; room], Vec::new());
        let mut pieces = pieces.iter().cycle();
        while !bytes.is_empty() {
            let (mut piece, rest) = bytes.split_at((*pieces.next().unwrap()).min(bytes.len()));
            while let Some(frame) = decoder.feed(&mut piece, check, &mut out) {
                found.push(frame.map(|frame| (out[..frame.length].to_vec(), frame.has_crc(MASK))));
            }
            assert!(piece.is_empty());
            bytes = rest;
        }
        found
    }

    proptest! {
        #[test]
        fn frames_are_encoded_as_others_do_and_decoded_in_any_pieces(
            contents in prop::collection::vec(content(), 1..4),
            at in any::<prop::sample::Index>(),
            pieces in prop::collection::vec(1..80_usize, 1..5),
            with_crc in any::<bool>(),
        ) {
            let check = if with_crc { Check::Crc } else { Check::None };
            let (mut wire, mut expected) = (Vec::new(), Vec::new());
            for content in &contents {
                let (first, second) = content.split_at(at.index(content.len() + 1));
                let mut out = vec![0; content.len() + content.len() / 254 + 16];
                let length = encode(&[first, second], with_crc.then_some(MASK), &mut out).unwrap();
                let crc = if with_crc { (crc32c([content]) ^ MASK).to_le_bytes().to_vec() } else { Vec::new() };
                let decoded = [content.clone(), crc].concat();
                let mut known = vec![0; decoded.len() + decoded.len() / 254 + 2];
                let end = cobs::encode(&decoded, &mut known);
                known[end] = DELIMITER;
                prop_assert_eq!(&out[..length], &known[..=end]);
                wire.extend_from_slice(&out[..length]);
                expected.push(Ok((decoded, with_crc)));
            }
            prop_assert_eq!(frames(&wire, &pieces, check, 700), expected);
        }

        #[test]
        fn any_bytes_are_decoded_or_refused_as_by_others(
            bytes in prop::collection::vec(prop_oneof![0..9_u8, any::<u8>()], 0..300),
            pieces in prop::collection::vec(1..80_usize, 1..5),
            room in 1..400_usize,
        ) {
            let expected = bytes.split_inclusive(|&byte| byte == DELIMITER).filter_map(|frame| {
                let (&DELIMITER, encoded) = frame.split_last()? else { return None };
                if encoded.is_empty() {
                    return None;
                }
                let Ok(content) = cobs::decode_vec(encoded) else {
                    return Some(Err(if encoded.len() > room { None } else { Some(Error::Encoding) }));
                };
                if content.len() > room {
                    return Some(Err(Some(Error::TooLong)));
                }
                let intact = content.split_last_chunk::<CRC_BYTES>().is_some_and(|(content, crc)| {
                    (crc32c([content]) ^ MASK).to_le_bytes() == *crc
                });
                Some(Ok((content, intact)))
            });
            let (found, expected) = (frames(&bytes, &pieces, Check::Crc, room), expected.collect::<Vec<_>>());
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.into_iter().zip(expected) {
                match expected {
                    Ok(frame) => prop_assert_eq!(found, Ok(frame)),
                    Err(Some(error)) => prop_assert_eq!(found, Err(error)),
                    // Invalid, and perhaps too long.
                    Err(None) => prop_assert!(found.is_err()),
                }
            }
        }

        #[test]
        fn without_room_nothing_is_encoded(content in content(), less in 1..4_usize) {
            let mut out = vec![0; 700];
            let length = encode(&[&content], Some(MASK), &mut out).unwrap();
            prop_assert!(encode(&[&content], Some(MASK), &mut out[..length - less]).is_none());
        }
    }
}
