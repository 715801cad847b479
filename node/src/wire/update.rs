//! Firmware updates through the mesh: the announcement, the blocks, and the state.

use heapless::{String, Vec};
use serde::{Deserialize, Serialize};

use crate::boot::{HASH_BYTES, number_of, put, slot_of};
use crate::store::Slot;

/// Number of bytes of the image in one block: a multiple of the program unit of any supported flash.
pub const BLOCK: usize = 192;
/// Maximum number of blocks of an image, which is 240 KiB: more than that of any board.
pub const MAX_BLOCKS: usize = 1_280;
/// Maximum number of missing blocks that a board names at once.
pub const NAMED_BLOCKS: usize = 48;

/// Bytes of a board's name.
pub const NAME_BYTES: usize = 16;

/// Bytes of a plan.
pub const PLAN_BYTES: usize = NAME_BYTES + 12 + HASH_BYTES;

/// The announcement of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdatePlan {
    /// The name of the board that it is for, padded with zeros.
    pub board: [u8; NAME_BYTES],
    /// The slot that it is linked for.
    pub slot: Slot,
    /// The length of the image in bytes: a multiple of [`RECORD`](crate::boot::RECORD).
    pub length: u32,
    /// The CRC-32C, by which a board checks that it is complete.
    pub crc: u32,
    /// The SHA-256, which the boot loader checks before it starts the image.
    pub hash: [u8; HASH_BYTES],
}

impl UpdatePlan {
    /// The wire layout: name, slot, three zeros, length and CRC in little-endian order, hash.
    pub fn write(&self) -> [u8; PLAN_BYTES] {
        let slot = [number_of(self.slot), 0, 0, 0];
        let (length, crc) = (self.length.to_le_bytes(), self.crc.to_le_bytes());
        let mut bytes = [0; PLAN_BYTES];
        put(&mut bytes, &[&self.board, &slot, &length, &crc, &self.hash]);
        bytes
    }

    /// Parses a plan; `None` if it is malformed.
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

    /// The name of a board in the layout of a plan.
    pub fn board_named(name: &str) -> [u8; NAME_BYTES] {
        let mut board = [0; NAME_BYTES];
        put(&mut board, &[name.as_bytes()]);
        board
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        (self.length as usize).div_ceil(BLOCK)
    }

    /// The ID that distinguishes its blocks from those of another image.
    pub fn id(&self) -> u16 {
        self.crc as u16
    }
}

/// A block of an image, as it is broadcast to [`AppPort::UPDATE`](super::AppPort::UPDATE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// The image: [`UpdatePlan::id`].
    pub id: u16,
    /// The index of the block, from 0.
    pub index: u16,
    /// [`BLOCK`] bytes, or fewer if it is the last.
    pub bytes: &'a [u8],
}

impl<'a> Block<'a> {
    /// Parses a block; `None` if it is malformed.
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

    /// Writes the block as a payload.
    pub fn write(&self) -> Vec<u8, { BLOCK + 4 }> {
        let mut payload = Vec::new();
        let _ = payload.extend_from_slice(&self.id.to_le_bytes());
        let _ = payload.extend_from_slice(&self.index.to_le_bytes());
        // A block that is too long is sent without its bytes, and rejected by all.
        let _ = payload.extend_from_slice(self.bytes);
        payload
    }
}

/// The phase of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpdatePhase {
    /// There is no update.
    Idle,
    /// The slot is being erased.
    Erasing,
    /// Blocks are being received.
    Receiving,
    /// The image is complete and valid.
    Whole,
    /// The image is complete and wrong, or could not be written: start over.
    Damaged,
}

/// The response to [`Command::Update`](super::Command::Update).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateState {
    /// The name of the board type.
    pub board: String<NAME_BYTES>,
    /// The running slot. The next image must be linked for the other.
    pub slot: Slot,
    /// The image is on trial: a minute after its boot the board reverts, unless it is [kept](super::Command::KeepImage).
    pub on_trial: bool,
    /// Whether there is a boot loader: without one an image can only be flashed by a probe.
    pub has_loader: bool,
    /// The phase of the next image.
    pub phase: UpdatePhase,
    /// The [`UpdatePlan::id`] of that image.
    pub id: u16,
    /// The number of its missing blocks.
    pub missing: u16,
    /// The first missing blocks.
    pub first_missing: Vec<u16, NAMED_BLOCKS>,
}
