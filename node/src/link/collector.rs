//! Reassembly of frames from the bytes of a wire.

use hopwise_codec::{Check, Decoded, Decoder, Error};

use crate::capacities::Array;
use crate::wire::FrameError;

/// The last frame, or the beginning of one, decoded.
#[derive(Clone, Debug)]
pub(super) struct Collector<F> {
    bytes: F,
    decoder: Decoder,
}

impl<F: Array<u8>> Collector<F> {
    pub(super) fn new() -> Self {
        Collector {
            bytes: F::default(),
            decoder: Decoder::new(),
        }
    }

    /// Maximum number of bytes of an encoded frame.
    pub(super) fn room(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_partial(&self) -> bool {
        self.decoder.length() > 0
    }

    /// The partial frame, padded with zeros, and the state of its decoding.
    pub(super) fn partial(&self) -> (F, Decoder) {
        let mut bytes = F::default();
        for (copy, byte) in bytes.iter_mut().zip(self.bytes.iter().take(self.decoder.length())) {
            *copy = *byte;
        }
        (bytes, self.decoder.clone())
    }

    /// Consumes bytes from the front of `input` up to the end of a frame, which is then in [`bytes`](Self::bytes). `None` when the
    /// input is used up.
    pub(super) fn next(&mut self, input: &mut &[u8], check: Check) -> Option<Result<Decoded, FrameError>> {
        let decoded = self.decoder.feed(input, check, &mut self.bytes)?;
        Some(decoded.map_err(|error| match error {
            Error::Encoding => FrameError::Encoding,
            Error::TooLong => FrameError::TooLong,
        }))
    }

    /// The bytes of the last frame, and what is left of earlier ones.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests;
