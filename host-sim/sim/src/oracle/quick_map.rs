//! Maps whose keys nobody chooses: the usual hash, made for the others, took a twentieth of a run.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub(super) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;

/// Multiplies by an odd number, the golden ratio, for each word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QuickHasher(u64);

impl Hasher for QuickHasher {
    /// Numbers come here too, and the loop is gone from what is compiled for them.
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            let sum = self.0.wrapping_add(u64::from_le_bytes(word));
            self.0 = sum.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    /// The high bits depend on all of the key, and a table takes the low ones.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
