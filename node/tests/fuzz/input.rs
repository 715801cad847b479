//! Choices, made by the bytes of a fuzzer.

/// The bytes that are left.
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Input(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One byte; zeros when there are no more.
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    /// A number below `bound`, which is at most 256.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A number of any size, small ones as likely as large ones.
    pub(crate) fn number(&mut self) -> u64 {
        let bits = self.below(65) as u32;
        let mut bytes = [0; 8];
        let length = bits.div_ceil(8) as usize;
        bytes[..length].fill_with(|| self.byte());
        u64::from_le_bytes(bytes) & 1_u64.checked_shl(bits).map_or(u64::MAX, |top| top - 1)
    }

    /// At most so many bytes.
    pub(crate) fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }
}
