//! The hash by which two runs are compared.

use hopwise_core::Node;
use hopwise_node::router::Event;
use postcard::ser_flavors::Flavor;
use sha2::{Digest, Sha256};

use crate::line::Nanos;

/// Bytes are hashed in pieces of this size.
const PIECE: usize = 1 << 16;
/// An event takes no more: 10 bytes each for its time and its node, and fewer than 64 for its fields.
const LONGEST: usize = 128;

/// The hash of a trace, whether or not that is written down: SHA-256 over the nanoseconds since the line before, the node and the
/// event of each line, in order, in postcard's encoding.
pub struct TraceHash {
    hash: Sha256,
    piece: Box<[u8; PIECE]>,
    used: usize,
    last: Nanos,
}

impl Default for TraceHash {
    fn default() -> Self {
        TraceHash {
            hash: Sha256::new(),
            piece: Box::new([0; PIECE]),
            used: 0,
            last: 0,
        }
    }
}

impl TraceHash {
    pub fn add(&mut self, at: Nanos, node: Node, event: &Event) {
        if self.used > PIECE - LONGEST {
            self.hash.update(&self.piece[..self.used]);
            self.used = 0;
        }
        let since = at.wrapping_sub(std::mem::replace(&mut self.last, at));
        let bytes = Bytes {
            piece: &mut self.piece,
            used: self.used,
        };
        let written = postcard::serialize_with_flavor(&(since, node, event), bytes);
        self.used = written.expect("an event has fewer than 128 bytes");
    }

    /// The hash, in hexadecimal.
    pub fn finish(mut self) -> String {
        self.hash.update(&self.piece[..self.used]);
        self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Writes into a piece, byte by byte: numbers have one or two, for which copying blocks takes twice as long.
struct Bytes<'a> {
    piece: &'a mut [u8; PIECE],
    used: usize,
}

impl Flavor for Bytes<'_> {
    type Output = usize;

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        let place = self.piece.get_mut(self.used);
        *place.ok_or(postcard::Error::SerializeBufferFull)? = byte;
        self.used += 1;
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        bytes.iter().try_for_each(|byte| self.try_push(*byte))
    }

    fn finalize(self) -> postcard::Result<usize> {
        Ok(self.used)
    }
}
