//! Encoding of a frame.

use crate::crc::Crc;
use crate::{CRC_BYTES, DELIMITER, has_zero};

/// The largest distance between two codes: a code after it stands for no zero.
const LONGEST: usize = 255;

/// A frame that is being written.
struct Encoder<'a> {
    out: &'a mut [u8],
    /// The place of the last code, which is written when the next one is known.
    code: usize,
    end: usize,
}

impl Encoder<'_> {
    #[inline(always)]
    fn put(&mut self, at: usize, byte: u8) {
        // There is room, which was checked before.
        if let Some(place) = self.out.get_mut(at) {
            *place = byte;
        }
    }

    #[inline(always)]
    fn close(&mut self) {
        self.put(self.code, (self.end - self.code) as u8);
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        if self.end - self.code == LONGEST {
            self.close();
            self.code = self.end;
            self.end += 1;
        }
        if byte == 0 {
            self.close();
            self.code = self.end;
        } else {
            self.put(self.end, byte);
        }
        self.end += 1;
    }

    /// Four bytes at once, if none of them is 0, or all are.
    #[inline(always)]
    fn word(&mut self, word: u32) {
        let fits = self.end - self.code <= LONGEST - 4;
        let (begin, is_zero) = (self.end, word == 0);
        if let Some(place) = self.out.get_mut(begin..begin + 4)
            && fits
            && (is_zero || !has_zero(word))
        {
            // A run of zeros is a run of codes, each the distance to the next. The last is not known yet.
            place.copy_from_slice(&if is_zero { 0x0101_0101 } else { word }.to_le_bytes());
            if is_zero {
                self.close();
                self.code = begin + 3;
            }
            self.end += 4;
        } else {
            word.to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
        }
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
    let mut encoder = Encoder { out, code: 0, end: 1 };
    match mask {
        Some(mask) => {
            let crc = encode_parts::<true>(parts, &mut encoder);
            (crc.finish() ^ mask)
                .to_le_bytes()
                .into_iter()
                .for_each(|byte| encoder.byte(byte));
        }
        None => {
            encode_parts::<false>(parts, &mut encoder);
        }
    }
    encoder.close();
    encoder.put(encoder.end, DELIMITER);
    Some(encoder.end + 1)
}

#[inline(always)]
fn encode_parts<const CRC: bool>(parts: &[&[u8]], encoder: &mut Encoder<'_>) -> Crc {
    let mut crc = Crc::START;
    for part in parts {
        let (words, rest) = part.as_chunks();
        for &word in words {
            let word = u32::from_le_bytes(word);
            if CRC {
                crc = crc.word(word);
            }
            encoder.word(word);
        }
        for &byte in rest {
            if CRC {
                crc = crc.byte(byte);
            }
            encoder.byte(byte);
        }
    }
    crc
}
