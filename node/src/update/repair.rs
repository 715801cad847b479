//! Requests for missing blocks to neighbors, which have the same image, or get it too.
//!
//! A board that lacks blocks while none arrives requests the first of them from one neighbor, and the next when it has come; a neighbor
//! without it reports that, and another is asked a moment later. So there is one request in flight, and one response to each. Only the
//! image's checksums vouch for a response: a board whose image turned out wrong asks no neighbor until its next boot, and uses only the
//! host's blocks.

use super::{Flash, Stage, Update};
use crate::boot::RECORD;
use crate::limits::BODY;
use crate::wire::{BLOCK, Body, Bytes, MAX_BLOCKS};

/// Number of [looks](Update::look) without a block after which a neighbor is asked, and asked again.
const QUIET: u8 = 3;

impl Update {
    /// Must be called every eighth of a second: the payload of a [`ReadBlock`](crate::wire::Command::ReadBlock) to a neighbor, if one is due.
    pub fn look(&mut self) -> Option<[u8; 4]> {
        let missing = self.count_missing();
        if core::mem::replace(&mut self.missed, missing) != missing {
            self.quiet = 0;
            return None;
        }
        self.quiet = (self.quiet + 1) % QUIET;
        self.wanted().filter(|_| self.quiet == 0)
    }

    /// The block to request from a neighbor.
    fn wanted(&self) -> Option<[u8; 4]> {
        let id = self
            .plan
            .filter(|_| self.stage == Stage::Receiving && !self.was_damaged)?
            .id();
        let index = (0..MAX_BLOCKS).find(|block| self.is_missing(*block))? as u16;
        Some(beginning(id, index))
    }

    /// Processes a neighbor's response: takes the block, and returns the next request. While another block is being written none is taken.
    pub fn take_response(&mut self, payload: &[u8], flash: &mut impl Flash) -> Option<[u8; 4]> {
        let missing = self.count_missing();
        if self.written > 0 || self.wanted().is_none() {
            return None;
        }
        // An upper bound of the pieces of a block.
        let _ = (0..BLOCK / RECORD).find(|_| self.take(payload, flash));
        self.wanted().filter(|_| self.count_missing() < missing)
    }

    /// A block that a neighbor requests, if it is here.
    pub fn block(&self, id: u16, index: u16, flash: &impl Flash) -> Option<Body<BODY>> {
        let plan = self.plan.filter(|plan| plan.id() == id)?;
        let heartbeat = matches!(self.stage, Stage::Receiving | Stage::Whole) && !self.is_missing(index.into());
        let at = usize::from(index) * BLOCK;
        let end = (plan.length as usize).min(at + BLOCK);
        if !heartbeat || at >= end {
            return None;
        }
        let mut block = Body::new();
        block.extend_from_slice(&beginning(id, index)).ok()?;
        for at in (at..end).step_by(RECORD) {
            // The beginning of the image is not in the flash yet.
            let record = if at == 0 { self.head } else { flash.read(at) };
            block.extend_from_slice(&record).ok()?;
        }
        Some(block)
    }
}

fn beginning(id: u16, index: u16) -> [u8; 4] {
    let ([i0, i1], [n0, n1]) = (id.to_le_bytes(), index.to_le_bytes());
    [i0, i1, n0, n1]
}
