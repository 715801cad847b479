//! New firmware through the mesh: what is announced, what is sent, and what a board says about it.

use heapless::{String, Vec};
use serde::{Deserialize, Serialize};

use crate::boot::{HASH_BYTES, number_of, put, slot_of};
use crate::store::Slot;

/// Bytes of the image that one block carries: a multiple of what any supported flash programs at once.
pub const BLOCK: usize = 192;
/// An image has at most so many blocks, which is 240 KiB: more than that of any board has.
pub const MAX_BLOCKS: usize = 1_280;
/// So many missing blocks a board names at once.
pub const NAMED_BLOCKS: usize = 48;

/// Bytes of a board's name.
pub const NAME_BYTES: usize = 16;

/// Bytes of a plan.
pub const PLAN_BYTES: usize = NAME_BYTES + 12 + HASH_BYTES;

/// An image that is about to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdatePlan {
    /// The board that it is for: its name, and zeros.
    pub board: [u8; NAME_BYTES],
    /// The slot that it is linked for.
    pub slot: Slot,
    /// Its bytes: a multiple of [`RECORD`](crate::boot::RECORD).
    pub length: u32,
    /// Its CRC-32C, by which a board knows that it has all.
    pub crc: u32,
    /// Its SHA-256, which the boot loader checks before it starts the image.
    pub hash: [u8; HASH_BYTES],
}

impl UpdatePlan {
    /// As it is sent: name, slot, three zeros, length and CRC in little-endian order, hash.
    pub fn write(&self) -> [u8; PLAN_BYTES] {
        let slot = [number_of(self.slot), 0, 0, 0];
        let (length, crc) = (self.length.to_le_bytes(), self.crc.to_le_bytes());
        let mut bytes = [0; PLAN_BYTES];
        put(&mut bytes, &[&self.board, &slot, &length, &crc, &self.hash]);
        bytes
    }

    /// Reads it; `None` if it is none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (board, rest) = bytes.split_first_chunk()?;
        let (&[slot, 0, 0, 0], rest) = rest.split_first_chunk()? else {
            return None;
        };
        let (length, rest) = rest.split_first_chunk()?;
        let (crc, rest) = rest.split_first_chunk()?;
        Some(UpdatePlan {
            board: *board,
            slot: slot_of(slot)?,
            length: u32::from_le_bytes(*length),
            crc: u32::from_le_bytes(*crc),
            hash: rest.try_into().ok()?,
        })
    }

    /// The name of a board as it is in a plan.
    pub fn board_named(name: &str) -> [u8; NAME_BYTES] {
        let mut board = [0; NAME_BYTES];
        put(&mut board, &[name.as_bytes()]);
        board
    }

    /// How many blocks it has.
    pub fn blocks(&self) -> usize {
        (self.length as usize).div_ceil(BLOCK)
    }

    /// What its blocks are told by from those of another image.
    pub fn id(&self) -> u16 {
        self.crc as u16
    }
}

/// A piece of an image, as it is broadcast to [`AppPort::UPDATE`](super::AppPort::UPDATE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// Which image: [`UpdatePlan::id`].
    pub id: u16,
    /// Which piece, from 0.
    pub index: u16,
    /// [`BLOCK`] bytes, or fewer if it is the last.
    pub bytes: &'a [u8],
}

impl<'a> Block<'a> {
    /// Reads it; `None` if it is none.
    pub fn read(payload: &'a [u8]) -> Option<Self> {
        let &[i0, i1, n0, n1, ref bytes @ ..] = payload else {
            return None;
        };
        Some(Block {
            id: u16::from_le_bytes([i0, i1]),
            index: u16::from_le_bytes([n0, n1]),
            bytes,
        })
    }

    /// Writes it.
    pub fn write(&self) -> Vec<u8, { BLOCK + 4 }> {
        let mut payload = Vec::new();
        let _ = payload.extend_from_slice(&self.id.to_le_bytes());
        let _ = payload.extend_from_slice(&self.index.to_le_bytes());
        // A block that is too long is sent without its bytes, and nobody takes it.
        let _ = payload.extend_from_slice(self.bytes);
        payload
    }
}

/// How far a board is with a new image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpdatePhase {
    /// There is none.
    Idle,
    /// It makes room for it.
    Erasing,
    /// It takes blocks.
    Receiving,
    /// It has all of it, and what it has is right.
    Whole,
    /// It has all of it, and what it has is wrong, or could not be written: begin anew.
    Damaged,
}

/// The answer to [`Command::Update`](super::Command::Update).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateState {
    /// The board.
    pub board: String<NAME_BYTES>,
    /// The slot that it runs from. The next image must be linked for the other.
    pub slot: Slot,
    /// The image is on trial: a minute after its start the board goes back, unless it is [kept](super::Command::KeepImage).
    pub on_trial: bool,
    /// There is a boot loader: without one an image is flashed by a probe only.
    pub has_loader: bool,
    /// How far the next image is.
    pub phase: UpdatePhase,
    /// [`UpdatePlan::id`] of that one.
    pub id: u16,
    /// How many blocks of it are missing.
    pub missing: u16,
    /// The first of them.
    pub first_missing: Vec<u16, NAMED_BLOCKS>,
}
