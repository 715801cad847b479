//! Variable-length integers: seven bits per byte, the lowest first, the top bit set on all but the last.

/// Maximum number of bytes of a 64-bit number.
pub(crate) const MAX_BYTES: usize = 10;

/// Parses a number, and returns what follows it; `None` if there is none, or it does not fit.
pub(crate) fn read(bytes: &[u8]) -> Option<(u64, &[u8])> {
    // Most numbers: shifts of 64 bits take a Cortex-M a hundred instructions.
    if let [byte @ ..0x80, rest @ ..] = bytes {
        return Some(((*byte).into(), rest));
    }
    let mut value = 0_u64;
    for (place, &byte) in bytes.iter().enumerate().take(MAX_BYTES) {
        let bits = u64::from(byte & 0x7f);
        let shifted = bits << (7 * place as u32);
        if shifted >> (7 * place as u32) != bits {
            return None;
        }
        value |= shifted;
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(place + 1..)?));
        }
    }
    None
}

/// Writes a number and returns how many bytes it took; `None` if there is no room.
pub(crate) fn write(mut value: u64, out: &mut [u8]) -> Option<usize> {
    for (place, slot) in out.iter_mut().enumerate().take(MAX_BYTES) {
        *slot = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            return Some(place + 1);
        }
        *slot |= 0x80;
    }
    None
}

/// The encoded length of a number.
pub(crate) const fn length(value: u64) -> usize {
    let bits = u64::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(value: u64, after: [u8; 3]) {
            let mut bytes = [0; MAX_BYTES + 3];
            let length = write(value, &mut bytes).unwrap();
            prop_assert_eq!(super::length(value), length);
            bytes[length..length + 3].copy_from_slice(&after);
            let (found, rest) = read(&bytes[..length + 3]).unwrap();
            prop_assert_eq!((found, rest), (value, &after[..]));
            prop_assert_eq!(read(&bytes[..length - 1]), None);
            prop_assert_eq!(write(value, &mut bytes[..length - 1]), None);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            if let Some((_, rest)) = read(&bytes) {
                prop_assert!(rest.len() < bytes.len());
            }
        }
    }

    use std::vec::Vec;

    #[test]
    fn more_than_64_bits_are_refused() {
        let mut bytes = [0xff; 10];
        bytes[9] = 0x01;
        assert_eq!(read(&bytes), Some((u64::MAX, &[][..])));
        bytes[9] = 0x02;
        assert_eq!(read(&bytes), None);
    }
}
