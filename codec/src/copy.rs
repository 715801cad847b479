//! Copies by words of four bytes, for both directions.

use crate::crc::Crc;
use crate::has_zero;

/// Four zeros, which are encoded as four codes.
pub(crate) const ZEROS: [u8; 4] = [0; 4];
pub(crate) const ONES: [u8; 4] = [1; 4];

/// Copies four bytes after the other up to four with a zero, and returns their number and the CRC after them.
// Neither is inlined into the loops of their callers, which need all registers.
#[inline(never)]
pub(crate) fn copy_run<const CRC: bool>(from: &[u8], to: &mut [u8], mut crc: Crc) -> (usize, Crc) {
    let mut copied = 0;
    for (to, &from) in to.as_chunks_mut::<4>().0.iter_mut().zip(from.as_chunks::<4>().0) {
        let word = u32::from_le_bytes(from);
        if has_zero(word) {
            break;
        }
        *to = from;
        if CRC {
            crc = crc.word(word);
        }
        copied += 4;
    }
    (copied, crc)
}

/// The same for zeros: four bytes that are `old` become `new`.
#[inline(never)]
pub(crate) fn copy_zeros<const CRC: bool>(
    old: [u8; 4],
    from: &[u8],
    new: [u8; 4],
    to: &mut [u8],
    mut crc: Crc,
) -> (usize, Crc) {
    let mut copied = 0;
    for (to, from) in to.as_chunks_mut::<4>().0.iter_mut().zip(from.as_chunks::<4>().0) {
        if *from != old {
            break;
        }
        *to = new;
        if CRC {
            crc = crc.word(0);
        }
        copied += 4;
    }
    (copied, crc)
}
