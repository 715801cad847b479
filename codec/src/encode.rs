use crate::copy::{ONES, ZEROS, copy_run, copy_zeros};
use crate::crc::Crc;
use crate::{CRC_BYTES, DELIMITER, has_zero};

/// The largest distance between two codes: a code after it stands for no zero.
const LONGEST: usize = 255;
/// A part of so many bytes is worth a look at words.
const LONG: usize = 12;

struct Encoder<'a> {
    /// The room, from the last code on, which is written when the next one is known.
    out: &'a mut [u8],
    /// The place after that of the last byte.
    end: usize,
}

impl Encoder<'_> {
    /// Closes a run with its code, and goes on so many bytes after it.
    #[inline(always)]
    fn next_code(&mut self, after: usize) {
        // There is room, which was checked before.
        let out = core::mem::take(&mut self.out);
        if let Some(code) = out.first_mut() {
            *code = self.end as u8;
        }
        self.out = out.get_mut(after..).unwrap_or(&mut []);
        self.end = 1;
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        if self.end == LONGEST {
            self.next_code(LONGEST);
        }
        if byte == 0 {
            self.next_code(self.end);
        } else {
            if let Some(place) = self.out.get_mut(self.end) {
                *place = byte;
            }
            self.end += 1;
        }
    }

    /// Encodes bytes, and returns the CRC after them. Of many, four are taken at once where none is 0, or all are.
    #[inline(always)]
    fn part<const CRC: bool>(&mut self, mut part: &[u8], mut crc: Crc) -> Crc {
        let is_long = part.len() >= LONG;
        while !part.is_empty() {
            let mut copied = 0;
            let mut few = part;
            if is_long && let Some(&word) = part.first_chunk() {
                let in_run = LONGEST - self.end;
                let rest = self.out.get_mut(self.end..).unwrap_or(&mut []);
                if in_run < 4 {
                    // One by one.
                } else if word == ZEROS {
                    // A run of zeros is a run of codes, each the distance to the next. The last is not known yet.
                    (copied, crc) = copy_zeros::<CRC>(ZEROS, part, ONES, rest, crc);
                    self.next_code(self.end + copied - 1);
                } else if !has_zero(u32::from_le_bytes(word)) {
                    (copied, crc) = copy_run::<CRC>(part.get(..in_run).unwrap_or(part), rest, crc);
                    self.end += copied;
                }
                few = part.get(..4).unwrap_or(part);
            }
            if copied == 0 {
                copied = few.len();
                for &byte in few {
                    if CRC {
                        crc = crc.byte(byte);
                    }
                    self.byte(byte);
                }
            }
            part = part.get(copied..).unwrap_or(&[]);
        }
        crc
    }
}

/// Encodes consecutive parts, their CRC xor `mask` if there is one, and a delimiter. Returns the number of bytes written; `None` if there may be
/// no room for them.
pub fn encode(parts: &[&[u8]], mask: Option<u32>, out: &mut [u8]) -> Option<usize> {
    let crc = mask.map_or(0, |_| CRC_BYTES);
    let decoded = parts.iter().map(|part| part.len()).sum::<usize>() + crc;
    // One code for each run, and the delimiter.
    if decoded + decoded / (LONGEST - 1) + 2 > out.len() {
        return None;
    }
    let room = out.len();
    let mut encoder = Encoder { out, end: 1 };
    let left = match mask {
        Some(mask) => {
            let crc = encode_parts::<true>(parts, &mut encoder);
            finish(&[&(crc.finish() ^ mask).to_le_bytes()], encoder)
        }
        None => finish(parts, encoder),
    };
    Some(room - left)
}

#[inline(always)]
fn encode_parts<const CRC: bool>(parts: &[&[u8]], encoder: &mut Encoder<'_>) -> Crc {
    let start = Crc::START;
    parts.iter().fold(start, |crc, part| encoder.part::<CRC>(part, crc))
}

/// Encodes the last parts and the delimiter, and returns the room that is left.
// Given a copy, so that the encoder is in registers before.
#[inline(never)]
fn finish(parts: &[&[u8]], mut encoder: Encoder<'_>) -> usize {
    encode_parts::<false>(parts, &mut encoder);
    encoder.next_code(encoder.end);
    if let Some(delimiter) = encoder.out.first_mut() {
        *delimiter = DELIMITER;
    }
    encoder.out.len().saturating_sub(1)
}
