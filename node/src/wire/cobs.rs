//! COBS, in place: the encoding that keeps the byte 0 out of a frame.
//!
//! Every run of nonzero bytes begins with a code that is the distance to the next code, and stands for the zero before the run;
//! one after a run of [`LONGEST`] stands for nothing. So nearly all bytes are the same encoded as decoded, one place later, and are not
//! moved. The crate `cobs`, which this is tested against, moves each one: that was an eighth of the simulator's instructions, and 800 for
//! every packet that a board forwards.

/// Bytes of the longest run.
const LONGEST: usize = 254;

/// Encodes `length` bytes that begin at the second place. Returns the encoded length, from the first place on; `None` if there
/// is no room.
pub(super) fn encode(bytes: &mut [u8], length: usize) -> Option<usize> {
    let mut end = length + 1;
    let mut code = 0;
    loop {
        let begin = code + 1;
        let run = bytes.get(begin..end.min(begin + LONGEST))?;
        let length = run.iter().position(|&byte| byte == 0).unwrap_or(run.len());
        *bytes.get_mut(code)? = (length + 1) as u8;
        code = begin + length;
        if code >= end {
            return Some(end);
        }
        if length == LONGEST {
            let mut moved = 0;
            for byte in bytes.get_mut(code..=end)? {
                core::mem::swap(byte, &mut moved);
            }
            end += 1;
        }
    }
}

/// Decodes in place; `None` if the encoding is invalid.
pub(super) fn decode(bytes: &mut [u8]) -> Option<&[u8]> {
    let (mut code, mut end) = (0, bytes.len());
    let mut stands_for_zero = true;
    while code < end {
        let place = bytes.get_mut(code)?;
        let distance = usize::from(*place);
        let mut next = code + distance;
        if distance == 0 || next > end {
            return None;
        }
        *place = 0;
        if !stands_for_zero {
            let mut moved = 0;
            for byte in bytes.get_mut(code..end)?.iter_mut().rev() {
                core::mem::swap(byte, &mut moved);
            }
            (next, end) = (next - 1, end - 1);
        }
        stands_for_zero = distance <= LONGEST;
        code = next;
    }
    bytes.get(1..end)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// Bytes in which zeros are frequent or rare, around the length of the longest run.
    fn contents() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![Just(0), Just(1), any::<u8>()];
        let run = (0..520_usize).prop_map(|length| std::vec![7; length]);
        prop_oneof![
            prop::collection::vec(byte.clone(), 0..40),
            (run.clone(), prop::collection::vec(byte, 0..9), run).prop_map(|(a, b, c)| [a, b, c].concat()),
        ]
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded_and_has_no_zero(content in contents()) {
            let mut bytes = std::vec![0xee; content.len() + 1 + content.len() / LONGEST];
            bytes[1..=content.len()].copy_from_slice(&content);
            let length = encode(&mut bytes, content.len()).unwrap();
            prop_assert!(!bytes[..length].contains(&0));
            let mut by_others = std::vec![0; length + 2];
            let known = cobs::encode(&content, &mut by_others);
            prop_assert_eq!(&bytes[..length], &by_others[..known]);
            prop_assert_eq!(decode(&mut bytes[..length]), Some(&content[..]));
        }

        #[test]
        fn other_bytes_are_refused(mut bytes in prop::collection::vec(prop_oneof![1..9_u8, 1..=u8::MAX], 1..300)) {
            let mut by_others = bytes.clone();
            let known = cobs::decode_in_place(&mut by_others).ok();
            prop_assert_eq!(decode(&mut bytes), known.map(|length| &by_others[..length]));
        }
    }

    #[test]
    fn without_room_nothing_is_encoded() {
        let mut bytes = [9; 256];
        assert_eq!(encode(&mut bytes[..255], 254), Some(255));
        let mut bytes = [9; 256];
        assert_eq!(encode(&mut bytes, 255), None);
        assert_eq!(encode(&mut [], 0), None);
        assert_eq!(decode(&mut []), None);
    }
}
