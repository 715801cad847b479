//! A hash of a board's state: FNV-1a with 64 bits, over words for speed.

/// The hash so far.
#[derive(Clone, Copy)]
pub(crate) struct StateHash(u64);

impl Default for StateHash {
    fn default() -> Self {
        StateHash(0xcbf2_9ce4_8422_2325)
    }
}

impl StateHash {
    pub(crate) fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        // The multiplication carries upwards only: bring the upper bits down.
        self.0 ^= self.0 >> 32;
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}
