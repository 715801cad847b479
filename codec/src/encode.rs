use crate::copy::{ONES, ZEROS, copy_bytes, copy_run, copy_zeros};
use crate::crc::Crc;
use crate::{CRC_BYTES, DELIMITER, has_zero};

/// The largest distance between two codes: a code after it stands for no zero.
const LONGEST: usize = 255;

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

    /// Where the next bytes go.
    #[inline(always)]
    fn rest(&mut self) -> &mut [u8] {
        self.out.get_mut(self.end..).unwrap_or(&mut [])
    }

    #[inline(always)]
    fn close(&mut self) {
        self.put(self.code, (self.end - self.code) as u8);
    }

    #[inline(always)]
    fn next_code(&mut self) {
        self.close();
        self.code = self.end;
        self.end += 1;
    }

    /// Encodes bytes, and returns the CRC after them. Four are taken at once where none is 0, or all are.
    #[inline(always)]
    fn part<const CRC: bool>(&mut self, mut part: &[u8], mut crc: Crc) -> Crc {
        while !part.is_empty() {
            if self.end - self.code == LONGEST {
                self.next_code();
            }
            let run = part.get(..LONGEST - (self.end - self.code)).unwrap_or(part);
            let mut copied;
            if part.starts_with(&ZEROS) {
                // A run of zeros is a run of codes, each the distance to the next. The last is not known yet.
                self.close();
                (copied, crc) = copy_zeros::<CRC>(ZEROS, part, ONES, self.rest(), crc);
                self.end += copied;
                self.code = self.end - 1;
            } else if run.first_chunk().is_some_and(|word| !has_zero(u32::from_le_bytes(*word))) {
                (copied, crc) = copy_run::<CRC>(run, self.rest(), crc);
                self.end += copied;
            } else {
                (copied, crc) = copy_bytes::<CRC>(run, self.rest(), crc);
                self.end += copied;
                if run.get(copied) == Some(&0) {
                    self.next_code();
                    copied += 1;
                    if CRC {
                        crc = crc.byte(0);
                    }
                }
            }
            // Never 0: there is room.
            part = part.get(copied.max(1)..).unwrap_or(&[]);
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
    let mut encoder = Encoder { out, code: 0, end: 1 };
    match mask {
        Some(mask) => {
            let crc = encode_parts::<true>(parts, &mut encoder);
            encode_without_crc(&[&(crc.finish() ^ mask).to_le_bytes()], &mut encoder);
        }
        None => encode_without_crc(parts, &mut encoder),
    }
    encoder.close();
    encoder.put(encoder.end, DELIMITER);
    Some(encoder.end + 1)
}

#[inline(always)]
fn encode_parts<const CRC: bool>(parts: &[&[u8]], encoder: &mut Encoder<'_>) -> Crc {
    let start = Crc::START;
    parts.iter().fold(start, |crc, part| encoder.part::<CRC>(part, crc))
}

// Not inlined: once is enough.
#[inline(never)]
fn encode_without_crc(parts: &[&[u8]], encoder: &mut Encoder<'_>) {
    encode_parts::<false>(parts, encoder);
}
