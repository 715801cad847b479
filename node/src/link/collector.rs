//! Reassembly of frames from the bytes of a wire.

use crate::capacities::Array;
use crate::wire::{DELIMITER, FrameError, decode};

/// The bytes since the last delimiter, of frames that fit `F`, encoded.
#[derive(Clone, Debug)]
pub(super) struct Collector<F> {
    /// An array rather than a vector, which would be filled byte by byte.
    bytes: F,
    length: u16,
    too_long: bool,
    /// Whether the bytes are a frame that was returned: the next byte begins another.
    complete: bool,
}

impl<F: Array<u8>> Collector<F> {
    pub(super) fn new() -> Self {
        Collector {
            bytes: F::default(),
            length: 0,
            too_long: false,
            complete: false,
        }
    }

    /// Maximum number of bytes of an encoded frame.
    pub(super) fn room(&self) -> usize {
        self.bytes.len()
    }

    /// The partial frame, padded with zeros, and its length; `None` if it is too long.
    pub(super) fn partial(&self) -> (F, Option<u16>) {
        let mut bytes = F::default();
        if self.complete {
            return (bytes, Some(0));
        }
        for (copy, byte) in bytes.iter_mut().zip(self.bytes.iter().take(self.length.into())) {
            *copy = *byte;
        }
        (bytes, Some(self.length).filter(|_| !self.too_long))
    }

    /// Consumes bytes from the front of `input` up to the end of a frame, and returns the decoded frame. `None`
    /// when the input is used up.
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Option<Result<&[u8], FrameError>> {
        loop {
            if self.complete {
                self.length = 0;
                self.too_long = false;
                self.complete = false;
            }
            let end = input.iter().position(|&byte| byte == DELIMITER);
            let (taken, rest) = match end {
                Some(end) => (input.get(..end)?, input.get(end + 1..)?),
                None => (*input, &[][..]),
            };
            *input = rest;
            self.too_long |= self.append(taken).is_none();
            end?;
            self.complete = true;
            // Consecutive delimiters, as from a break or before a frame, are not frames.
            if self.length > 0 || self.too_long {
                break;
            }
        }
        if self.too_long {
            return Some(Err(FrameError::TooLong));
        }
        Some(decode(self.bytes.get_mut(..usize::from(self.length))?))
    }

    /// `None` if there is no room.
    fn append(&mut self, taken: &[u8]) -> Option<()> {
        let begin = usize::from(self.length);
        let end = begin + taken.len();
        self.bytes.get_mut(begin..end)?.copy_from_slice(taken);
        self.length = end as u16;
        Some(())
    }
}

#[cfg(test)]
mod tests;
