//! CRC-32C, byte by byte or by words of four.
//!
//! The crate `crc`, which this is tested against, takes slices: a call for every byte or two of a frame full of zeros.

const POLYNOMIAL: u32 = 0x82f6_3b78;

const TABLES: usize = if cfg!(feature = "large-tables") { 4 } else { 1 };

/// In the first table the CRCs of bytes; in each further one those of bytes with one more 0 behind them.
static TABLE: [[u32; 256]; TABLES] = {
    let mut tables = [[0; 256]; TABLES];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < TABLES {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
};

/// An unfinished CRC-32C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Crc(u32);

impl Crc {
    pub(crate) const START: Crc = Crc(u32::MAX);
    /// What is left after bytes and their own CRC.
    const RESIDUE: Crc = Crc(0xb798_b438);

    /// What is left after bytes and their own CRC, xor a mask.
    #[inline(always)]
    pub(crate) fn residue(mask: u32) -> Self {
        // A CRC is linear: the mask goes through the register as if it were alone.
        Crc(Crc::RESIDUE.0 ^ Crc(mask).word(0).0)
    }

    #[inline(always)]
    pub(crate) fn byte(self, byte: u8) -> Self {
        Crc(self.0 >> 8 ^ TABLE[0][usize::from(self.0 as u8 ^ byte)])
    }

    #[inline(always)]
    pub(crate) fn word(self, word: u32) -> Self {
        #[cfg(feature = "large-tables")]
        {
            let [b0, b1, b2, b3] = (self.0 ^ word).to_le_bytes().map(usize::from);
            Crc(TABLE[3][b0] ^ TABLE[2][b1] ^ TABLE[1][b2] ^ TABLE[0][b3])
        }
        #[cfg(not(feature = "large-tables"))]
        {
            let [b0, b1, b2, b3] = word.to_le_bytes();
            self.byte(b0).byte(b1).byte(b2).byte(b3)
        }
    }

    #[inline(always)]
    pub(crate) fn finish(self) -> u32 {
        !self.0
    }
}

/// The CRC-32C of consecutive bytes.
pub fn crc32c(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> u32 {
    parts
        .into_iter()
        .fold(Crc::START, |crc, part| update(crc, part.as_ref()))
        .finish()
}

fn update(mut crc: Crc, bytes: &[u8]) -> Crc {
    let (words, rest) = bytes.as_chunks();
    for &word in words {
        crc = crc.word(u32::from_le_bytes(word));
    }
    rest.iter().fold(crc, |crc, &byte| crc.byte(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::crc::{CRC_32_ISCSI, Crc as Known};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_crc_that_others_compute(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..5),
            mask: u32,
        ) {
            let known = Known::<u32>::new(&CRC_32_ISCSI).checksum(&parts.concat());
            prop_assert_eq!(crc32c(&parts), known);
            let sealed = [parts.concat(), known.to_le_bytes().to_vec()].concat();
            prop_assert_eq!(update(Crc::START, &sealed), Crc::residue(0));
            let masked = [parts.concat(), (known ^ mask).to_le_bytes().to_vec()].concat();
            prop_assert_eq!(update(Crc::START, &masked), Crc::residue(mask));
        }
    }
}
