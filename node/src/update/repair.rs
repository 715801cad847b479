//! Missing blocks, asked of neighbors: those have the same image, or get it too.
//!
//! A board that lacks blocks while none comes asks one neighbor for the first of them, and for the next when it has come; whoever does not
//! have it says so, and another is asked a moment later. So there is one question under way, and one answer to each. Nobody vouches for an
//! answer but the image's checksums: a board whose image turned out wrong asks no neighbor until its next start, and has only the
//! host's blocks.

use super::{Flash, Stage, Update};
use crate::boot::RECORD;
use crate::limits::BODY;
use crate::wire::{BLOCK, Body, MAX_BLOCKS};

/// A neighbor is asked when no block has come for so many [looks](Update::look), and again after as many.
const QUIET: u8 = 3;

impl Update {
    /// To be called every eighth of a second: what to ask a neighbor by [`ReadBlock`](crate::wire::Command::ReadBlock), if it is time to.
    pub fn look(&mut self) -> Option<[u8; 4]> {
        let missing = self.count_missing();
        if core::mem::replace(&mut self.missed, missing) != missing {
            self.quiet = 0;
            return None;
        }
        self.quiet = (self.quiet + 1) % QUIET;
        self.wanted().filter(|_| self.quiet == 0)
    }

    /// The block to ask a neighbor for.
    fn wanted(&self) -> Option<[u8; 4]> {
        let id = self
            .plan
            .filter(|_| self.stage == Stage::Receiving && !self.was_damaged)?
            .id();
        let index = (0..MAX_BLOCKS).find(|block| self.is_missing(*block))? as u16;
        Some(beginning(id, index))
    }

    /// A neighbor has answered: takes the block, and returns what to ask it next. While another block is being written none is taken.
    pub fn take_answer(&mut self, payload: &[u8], flash: &mut impl Flash) -> Option<[u8; 4]> {
        let missing = self.count_missing();
        if self.written > 0 || self.wanted().is_none() {
            return None;
        }
        // Pieces of a block, and more than there are.
        let _ = (0..BLOCK / RECORD).find(|_| self.take(payload, flash));
        self.wanted().filter(|_| self.count_missing() < missing)
    }

    /// A block that a neighbor asks for, if it is here.
    pub fn block(&self, id: u16, index: u16, flash: &impl Flash) -> Option<Body<BODY>> {
        let plan = self.plan.filter(|plan| plan.id() == id)?;
        let is_here = matches!(self.stage, Stage::Receiving | Stage::Whole) && !self.is_missing(index.into());
        let at = usize::from(index) * BLOCK;
        let end = (plan.length as usize).min(at + BLOCK);
        if !is_here || at >= end {
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

/// By which a block is known: it begins with that.
fn beginning(id: u16, index: u16) -> [u8; 4] {
    let ([i0, i1], [n0, n1]) = (id.to_le_bytes(), index.to_le_bytes());
    [i0, i1, n0, n1]
}
