#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(test)]
extern crate std;

mod copy;
mod crc;
mod decode;
mod encode;
mod siphash;

pub use crc::crc32c;
pub use decode::{Decoded, Decoder, Error};
pub use encode::encode;
pub use siphash::siphash;

/// The byte that ends a frame and occurs nowhere in it.
pub const DELIMITER: u8 = 0;

/// The length of a CRC.
pub const CRC_BYTES: usize = 4;

/// Whether the CRC of frames is computed as they are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// It is.
    Crc,
    /// They have none, or it is checked elsewhere.
    None,
}

/// Whether one of the four bytes is 0.
fn has_zero(word: u32) -> bool {
    word.wrapping_sub(0x0101_0101) & !word & 0x8080_8080 != 0
}
