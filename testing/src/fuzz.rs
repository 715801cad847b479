//! Choices, made by the bytes of a fuzzer.

/// Tries a target with random bytes, at most so many, that are the same in every run, and with its corpus. bolero then goes on with others
/// for as long as it is told, which in `cargo test` is not at all.
#[macro_export]
macro_rules! check {
    ($most:expr, $target:expr) => {{
        let target = $target;
        (0..2_000).for_each(|seed| target(&$crate::fuzz::random_bytes(seed, ($most >> (seed % 8)) as usize)));
        bolero::check!().with_max_len($most).for_each(target);
    }};
}

/// So many bytes, the same for the same seed.
pub fn random_bytes(seed: u64, length: usize) -> Vec<u8> {
    // Knuth's linear congruential generator, of which the upper bits are good. Close seeds are apart after a few steps.
    let mut state = seed;
    let bytes = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    });
    bytes.skip(4).take(length).collect()
}

/// The bytes that are left.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Input(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One byte; zeros when there are no more.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    /// A number below `bound`, which is at most 256.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A number of any size, small ones as likely as large ones.
    pub fn number(&mut self) -> u64 {
        let bits = self.below(65) as u32;
        let mut bytes = [0; 8];
        let length = bits.div_ceil(8) as usize;
        bytes[..length].fill_with(|| self.byte());
        u64::from_le_bytes(bytes) & 1_u64.checked_shl(bits).map_or(u64::MAX, |top| top - 1)
    }

    /// A file with parts of it left out, said twice or put in, and with other numbers.
    pub fn change(mut self, mut file: Vec<u8>) -> Vec<u8> {
        while !self.is_empty() {
            let begin = (self.below(256) << 8 | self.below(256)) % (file.len() + 1);
            let rest = file.len() - begin;
            let digits = file[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let length = self.below(32).min(rest);
            let (length, new) = match self.below(8) {
                0 => (length, Vec::new()),
                1 => (length, file[begin..begin + length].repeat(2)),
                2 => (0, self.bytes(8).to_vec()),
                3 => (rest.min(4), self.number().to_le_bytes()[..4].to_vec()),
                _ => (digits, self.number().to_string().into_bytes()),
            };
            file.splice(begin..begin + length, new);
        }
        file
    }

    /// At most so many bytes.
    pub fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }
}
