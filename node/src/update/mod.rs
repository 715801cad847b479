//! The update of a board's image: announced by an [`UpdatePlan`], in [`Block`]s of any order, into the slot that is not running.
//!
//! A board with an owner takes an announcement only if the owner has [signed](crate::signature) it. All that follows is for the announced image:
//! blocks make up one with its checksum, and the boot loader tries only one with its SHA-256.
//!
//! The order of flash operations ensures that a board boots whenever the power fails:
//!
//! 1. The boot log confirms the running image before anything else is touched. So the boot loader ignores the other slot, whatever
//!    its content.
//! 2. The other slot is erased, sector by sector.
//! 3. If the log is nearly full it is erased and started over: the other slot is blank now, so that without a log the loader finds only the
//!    running image.
//! 4. Blocks are written as they arrive, a piece at a time, except for the first bytes of the image, without which it is invalid. Blocks
//!    missing in the end are requested from neighbors.
//! 5. When all have arrived and their CRC is right, the first bytes are written. The image can be [tried](crate::boot::Trial).
//! 6. On trial, the new image writes its confirmation into the log on command. The slot of the previous one is untouched until
//!    the next update begins.

mod repair;
#[cfg(test)]
mod tests;

use crate::boot::{Log, RECORD, Trial, record};
use crate::signature::{Gate, Job, Owner, Signature};
use crate::store::{FlashFailed, Slot};
use crate::wire::{
    BLOCK, Block, CommandResult, MAX_BLOCKS, NAMED_BLOCKS, UpdatePhase, UpdatePlan, UpdateState, crc32c,
};

/// Minimum number of free records, some of which may get torn; with fewer the log is started over.
const ROOM: usize = 8;

/// Number of bytes written at a time: 16 words, which stall the processor of an F4 for 0.3 to 1.6 ms.
const PIECE: usize = 64;

/// The board, and the parts of its flash that an update changes.
pub trait Flash {
    /// The board's name.
    fn board(&self) -> &'static str;

    /// Whether there is a boot loader.
    fn has_loader(&self) -> bool;

    /// The slot of the running image.
    fn own_slot(&self) -> Slot;

    /// The capacity of the log in records.
    fn log_records(&self) -> usize;

    /// A record of the log.
    fn read_record(&self, place: usize) -> [u8; RECORD];

    /// Erases the log.
    fn erase_log(&mut self) -> Result<(), FlashFailed>;

    /// Writes a record of the log, which must be blank.
    fn write_record(&mut self, place: usize, record: &[u8; RECORD]) -> Result<(), FlashFailed>;

    /// The size of the other slot in bytes.
    fn slot_bytes(&self) -> usize;

    /// Erases the sector of the other slot that begins at `at`; returns where the next begins.
    fn erase_sector(&mut self, at: usize) -> Result<usize, FlashFailed>;

    /// Reads from the other slot.
    fn read(&self, at: usize) -> [u8; RECORD];

    /// Writes into a blank part of the other slot. Offset and length are multiples of [`RECORD`].
    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), FlashFailed>;
}

fn log(flash: &impl Flash) -> Log {
    Log::read((0..flash.log_records()).map(|place| flash.read_record(place)))
}

/// The update state of a board.
#[derive(Clone, Debug)]
pub struct Update {
    /// The log as it was at the start, and what has been written into it since.
    log: Log,
    on_trial: bool,
    stage: Stage,
    /// What announcements must pass first.
    gate: Gate,
    plan: Option<UpdatePlan>,
    /// The missing blocks, one bit each.
    missing: [u32; MAX_BLOCKS / 32],
    /// The beginning of the image, which is written last.
    head: [u8; RECORD],
    /// Number of written bytes of the present block.
    written: u8,
    /// Whether an image since boot was wrong, or could not be written.
    was_damaged: bool,
    /// The number of missing blocks at the last [look](Self::look), and for how many looks it has been so.
    missed: u16,
    quiet: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Idle,
    /// The log must confirm the running image.
    Protecting,
    /// The sector at this offset is next.
    Erasing(usize),
    /// The log is nearly full.
    Tidying,
    Receiving,
    Whole,
    Damaged,
}

impl Update {
    /// No update so far. The log is read here: it may have thousands of records, too many to read once neighbors
    /// wait for this board.
    pub fn new(flash: &impl Flash, owner: Option<Owner>) -> Self {
        // A partly erased log may still name an image that is not there.
        let has_other = flash.read(0) != [0xff; RECORD];
        let log = log(flash);
        Update {
            log,
            on_trial: has_other && log.kept == Some(flash.own_slot().other()),
            stage: Stage::Idle,
            gate: Gate::new(owner),
            plan: None,
            missing: [0; MAX_BLOCKS / 32],
            head: [0xff; RECORD],
            written: 0,
            was_damaged: false,
            missed: 0,
            quiet: 0,
        }
    }

    /// Whether the running image is on trial: another one is confirmed, and is there to fall back to.
    pub fn is_on_trial(&self) -> bool {
        self.on_trial
    }

    /// Confirms the running image, on behalf of the host.
    pub fn keep(&mut self, flash: &mut impl Flash) -> Result<(), FlashFailed> {
        self.confirm(flash)?;
        self.on_trial = false;
        Ok(())
    }

    /// Makes the log name the running image, and reads that back.
    fn confirm(&mut self, flash: &mut impl Flash) -> Result<(), FlashFailed> {
        let own = flash.own_slot();
        if self.log.kept == Some(own) {
            return Ok(());
        }
        if self.log.used >= flash.log_records() {
            // Without a log either image is good: the other one is complete, or absent.
            self.erase_log(flash)?;
        }
        let place = self.log.used;
        self.log.used += 1;
        flash.write_record(place, &record(own))?;
        if flash.read_record(place) != record(own) {
            return Err(FlashFailed);
        }
        self.log.kept = Some(own);
        Ok(())
    }

    fn erase_log(&mut self, flash: &mut impl Flash) -> Result<(), FlashFailed> {
        // Nobody knows what an erase leaves that fails: it is repeated before the next record.
        self.log = Log {
            kept: None,
            used: flash.log_records(),
        };
        flash.erase_log()?;
        self.log = Log::default();
        Ok(())
    }

    /// Starts an update. [`step`](Self::step) erases the slot for it. A board with an owner first has the signature verified: it says
    /// [`Busy`](CommandResult::Busy) until that is [done](Self::finish_job), and the update in progress goes on meanwhile.
    pub fn begin(&mut self, plan: UpdatePlan, signature: Option<&Signature>, flash: &impl Flash) -> CommandResult {
        let length = plan.length as usize;
        if plan.board != UpdatePlan::board_named(flash.board()) {
            return CommandResult::OtherBoard;
        }
        if !flash.has_loader() {
            return CommandResult::NoLoader;
        }
        if plan.slot == flash.own_slot() {
            return CommandResult::OtherSlot;
        }
        if length > flash.slot_bytes().min(MAX_BLOCKS * BLOCK) {
            return CommandResult::TooLarge;
        }
        if length <= RECORD || !length.is_multiple_of(RECORD) {
            return CommandResult::Unknown;
        }
        if self.on_trial {
            return CommandResult::OnTrial;
        }
        if self.has(&plan) && self.gate.has_admitted(signature) {
            return CommandResult::Done;
        }
        if let Err(refusal) = self.gate.admit(&plan, signature) {
            return refusal;
        }
        self.start(plan);
        CommandResult::Done
    }

    /// The announcement whose signature is to be verified, if there is one.
    pub fn job(&self) -> Option<&Job> {
        self.gate.job()
    }

    /// Takes the verdict about the [job](Self::job).
    pub fn finish_job(&mut self, is_valid: bool) {
        if let Some(plan) = self.gate.finish(is_valid) {
            self.start(plan);
        }
    }

    /// The floors to record, and the note that one is.
    pub fn gate(&mut self) -> &mut Gate {
        &mut self.gate
    }

    fn has(&self, plan: &UpdatePlan) -> bool {
        self.plan == Some(*plan) && self.stage != Stage::Damaged
    }

    fn start(&mut self, plan: UpdatePlan) {
        if self.has(&plan) {
            return;
        }
        self.plan = Some(plan);
        self.stage = Stage::Protecting;
        self.written = 0;
        self.missing = [0; MAX_BLOCKS / 32];
        (0..plan.blocks()).for_each(|block| self.mark(block, true));
    }

    /// Whether [`step`](Self::step) has something to do.
    pub fn is_making_room(&self) -> bool {
        matches!(self.stage, Stage::Protecting | Stage::Erasing(_) | Stage::Tidying)
    }

    /// Erases, a step at a time: none takes longer than the erase of a sector.
    pub fn step(&mut self, flash: &mut impl Flash) {
        let length = self.plan.map_or(0, |plan| plan.length as usize);
        let next = match self.stage {
            Stage::Protecting => self.confirm(flash).map(|()| Stage::Erasing(0)),
            Stage::Erasing(at) => flash.erase_sector(at).map(|next| match next.max(at + 1) {
                next if next < length => Stage::Erasing(next),
                _ if self.log.used.saturating_add(ROOM) <= flash.log_records() => Stage::Receiving,
                _ => Stage::Tidying,
            }),
            // Started over with its last confirmation.
            Stage::Tidying => (self.erase_log(flash).and_then(|()| self.confirm(flash))).map(|()| Stage::Receiving),
            other => Ok(other),
        };
        self.stage = next.unwrap_or(Stage::Damaged);
    }

    /// Writes a piece of a received block. Must be called with the same block until it returns `true`. A block of another image,
    /// or a duplicate, is ignored.
    pub fn take(&mut self, payload: &[u8], flash: &mut impl Flash) -> bool {
        let (Some(plan), Some(block)) = (self.plan, Block::read(payload)) else {
            return true;
        };
        let index = usize::from(block.index);
        let at = index * BLOCK;
        let expected = (plan.length as usize).saturating_sub(at).min(BLOCK);
        let is_wanted = self.stage == Stage::Receiving && block.id == plan.id() && self.is_missing(index);
        if !is_wanted || block.bytes.len() != expected {
            return true;
        }
        let before = usize::from(self.written);
        let rest = block.bytes.get(before..).unwrap_or_default();
        let piece = rest.get(..PIECE).unwrap_or(rest);
        let written = match piece.split_first_chunk() {
            Some((head, rest)) if at + before == 0 => {
                self.head = *head;
                flash.write(RECORD, rest)
            }
            _ => flash.write(at + before, piece),
        };
        self.written = 0;
        if written.is_err() {
            self.is_damaged();
            return true;
        }
        if piece.len() < rest.len() {
            self.written = (before + PIECE) as u8;
            return false;
        }
        self.mark(index, false);
        if self.missing == [0; MAX_BLOCKS / 32] {
            match self.finish(&plan, flash) {
                Ok(()) => self.stage = Stage::Whole,
                Err(FlashFailed) => self.is_damaged(),
            }
        }
        true
    }

    fn is_damaged(&mut self) {
        self.stage = Stage::Damaged;
        self.was_damaged = true;
    }

    /// All blocks are there: if the image is right, its first bytes are written.
    fn finish(&self, plan: &UpdatePlan, flash: &mut impl Flash) -> Result<(), FlashFailed> {
        let rest = (RECORD..plan.length as usize).step_by(RECORD).map(|at| flash.read(at));
        if crc32c(core::iter::once(self.head).chain(rest)) != plan.crc {
            return Err(FlashFailed);
        }
        flash.write(0, &self.head)?;
        if flash.read(0) == self.head {
            Ok(())
        } else {
            Err(FlashFailed)
        }
    }

    /// The request to leave in RAM before a restart that tries the image of this hash; `None` if it is not there.
    pub fn trial(&self, hash: &[u8]) -> Option<Trial> {
        let plan = self
            .plan
            .filter(|plan| self.stage == Stage::Whole && plan.hash == *hash)?;
        Some(Trial {
            slot: plan.slot,
            length: plan.length,
            hash: plan.hash,
        })
    }

    /// The state of the update.
    pub fn state(&self, flash: &impl Flash) -> UpdateState {
        let missing = || (0..MAX_BLOCKS).filter(|block| self.is_missing(*block));
        UpdateState {
            board: flash.board().try_into().unwrap_or_default(),
            slot: flash.own_slot(),
            on_trial: self.on_trial,
            has_loader: flash.has_loader(),
            phase: match self.stage {
                Stage::Idle => UpdatePhase::Idle,
                Stage::Protecting | Stage::Erasing(_) | Stage::Tidying => UpdatePhase::Erasing,
                Stage::Receiving => UpdatePhase::Receiving,
                Stage::Whole => UpdatePhase::Whole,
                Stage::Damaged => UpdatePhase::Damaged,
            },
            id: self.plan.map_or(0, |plan| plan.id()),
            missing: self.count_missing(),
            first_missing: missing().take(NAMED_BLOCKS).map(|block| block as u16).collect(),
        }
    }

    fn count_missing(&self) -> u16 {
        self.missing.iter().map(|bits| bits.count_ones() as u16).sum()
    }

    fn is_missing(&self, block: usize) -> bool {
        self.missing
            .get(block / 32)
            .is_some_and(|bits| bits >> (block % 32) & 1 == 1)
    }

    fn mark(&mut self, block: usize, is_missing: bool) {
        if let Some(bits) = self.missing.get_mut(block / 32) {
            let bit = 1 << (block % 32);
            *bits = if is_missing { *bits | bit } else { *bits & !bit };
        }
    }
}
