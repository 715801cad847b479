//! The hash by which two runs are compared.

use hopwise_core::Node;
use hopwise_core::router::Event;
use sha2::{Digest, Sha256};

use crate::line::Nanos;

/// Bytes are hashed in pieces of this size.
const PIECE: usize = 1 << 16;
/// An event takes no more: 10 bytes each for its time and its node, and fewer than 64 for its fields.
const LONGEST: usize = 128;

/// The hash of a trace, whether or not that is written down: SHA-256 over the time in nanoseconds, the node and the event of
/// each line, in order, in postcard's encoding.
pub struct TraceHash {
    hash: Sha256,
    piece: Box<[u8]>,
    used: usize,
}

impl Default for TraceHash {
    fn default() -> Self {
        TraceHash {
            hash: Sha256::new(),
            piece: vec![0; PIECE].into(),
            used: 0,
        }
    }
}

impl TraceHash {
    /// Adds an event.
    pub fn add(&mut self, at: Nanos, node: Node, event: &Event) {
        if self.used > PIECE - LONGEST {
            self.hash.update(&self.piece[..self.used]);
            self.used = 0;
        }
        let written = postcard::to_slice(&(at, node, event), &mut self.piece[self.used..]);
        self.used += written.expect("an event has fewer than 128 bytes").len();
    }

    /// The hash, in hexadecimal.
    pub fn finish(mut self) -> String {
        self.hash.update(&self.piece[..self.used]);
        self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
