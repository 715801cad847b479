//! Persistent state of a board: its config, and a unique number for each boot.
//!
//! It is kept in two slots of flash that are erased as a whole and written alternately, so that there is always one to fall back to. A
//! slot holds, in records of [`RECORD`] bytes after the config:
//!
//! | bytes | what, numbers little-endian |
//! |---|---|
//! | 0..192 | the [config](crate::wire::BoardConfig), or only `0xff`: the board was told to forget its own |
//! | 192..224 | the commit record, written after the config: `SEAL`, the slot's sequence number, the epoch of writing, 1 if on trial or else 0, zeros, and the CRC-32C of all before |
//! | 224..256 | the confirmation: not `0xff` if a config that was on trial is kept |
//! | 256..288 | the [keys](Keys), if byte 13 of the commit record, 0 without them, is 1, or 2 if payloads are encrypted; its CRC covers them too |
//! | 288..320 | the public key of the [owner](Owner), if byte 14 of the commit record is 1; bytes 16..20 are then the floor, and 20..24 the CRC-32C of the key |
//! | then | a boot record for each boot: its epoch, the complement of the epoch, zeros |
//! | among them | a record for each floor: epoch and complement, `FLOR`, or `NEXT` for that of an image to be tried, the floor and its complement, zeros |
//!
//! Power may fail at any moment. A slot is valid only with its commit record, so a partly written or partly erased config
//! is ignored; of two valid slots the one with the later number is used. A boot is recorded before the board sends anything, so a torn
//! boot record belongs to a boot that no other board has heard of.

pub(crate) mod slot;

#[cfg(test)]
pub(crate) mod tests;

pub use slot::{
    COMMITTED_BYTES, KEYED_BYTES, Keys, OWNED_BYTES, RECORD, Slot, committed, count_from, last_epoch_in, next_epoch,
};
use slot::{CommitRecord, KEYS, Look, OWNER, VERDICT, mark};

use crate::signature::Owner;
use crate::wire::CONFIG_BYTES;

/// Number of boots within which a config on trial must be confirmed.
const TRIAL_STARTS: usize = 3;

/// Maximum number of records of floors that follow the record of a boot: one in force, and one of an image to be tried.
const FLOORS_PER_BOOT: usize = 2;

/// Two slots of flash. What is written must have been erased before.
pub trait Flash {
    /// The size of a slot in bytes: at least 1,024 and a multiple of [`RECORD`].
    fn slot_bytes(&self) -> usize;

    /// Reads from an offset of a slot.
    fn read(&self, slot: Slot, at: usize, bytes: &mut [u8]);

    /// Erases a slot: every byte is `0xff`.
    fn erase(&mut self, slot: Slot) -> Result<(), FlashFailed>;

    /// Writes at an offset of a slot. Offset and length are multiples of [`RECORD`].
    fn write(&mut self, slot: Slot, at: usize, bytes: &[u8]) -> Result<(), FlashFailed>;
}

/// The error of a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashFailed;

/// The state that a board boots with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The config, if there is one.
    pub config: Option<[u8; CONFIG_BYTES]>,
    /// The keys. They survive a change of the config: only flashing from outside changes them.
    pub keys: Option<Keys>,
    /// The owner, which survives too.
    pub owner: Option<Owner>,
    /// Whether the slots hold data, but no valid config.
    pub is_damaged: bool,
    /// The epoch of this boot.
    pub epoch: u32,
    /// The config is on trial: it must be [kept](Store::keep), or the board [reverts](Store::go_back).
    pub on_trial: bool,
    /// Whether the boot is recorded in flash.
    pub is_marked: bool,
}

/// The slots of a board.
pub struct Store<F> {
    flash: F,
}

impl<F: Flash> Store<F> {
    /// Wraps a flash without accessing it.
    pub fn new(flash: F) -> Self {
        Store { flash }
    }

    fn look(&self) -> [Look; 2] {
        Slot::BOTH.map(|slot| Look::at(&self.flash, slot))
    }

    /// Starts a boot: returns the config and the epoch. A board that has none in its flash takes `otherwise`.
    pub fn start(&mut self, otherwise: u32) -> Start {
        let looks = self.look();
        let epoch = last_epoch(&looks).map_or(otherwise, next_epoch);
        let Some((slot, look)) = current(&looks) else {
            return Start {
                config: None,
                keys: None,
                owner: None,
                is_damaged: looks.iter().any(|look| !look.is_blank),
                epoch,
                on_trial: false,
                is_marked: false,
            };
        };
        let config = self.config_of(slot);
        let on_trial = look.is_on_trial();
        let keys = look.commit.and_then(|commit| commit.keys);
        let is_marked = match self.free_mark(&look) {
            Some(at) => self.flash.write(slot, at, &mark(epoch)).is_ok(),
            // The slot is full of boot records: the other one starts empty.
            None => self.write(slot.other(), &config, keys, on_trial, epoch).is_ok(),
        };
        Start {
            keys,
            owner: look.owner,
            config: Some(config).filter(|config| *config != [0xff; CONFIG_BYTES]),
            is_damaged: false,
            epoch,
            on_trial,
            is_marked,
        }
    }

    /// Writes another config beside the current one. On trial, it must be [kept](Self::keep) after the next boot.
    pub fn write_config(&mut self, config: &[u8; CONFIG_BYTES], on_trial: bool, epoch: u32) -> Result<(), FlashFailed> {
        let current = current(&self.look());
        let slot = current.map_or(Slot::First, |(slot, _)| slot.other());
        let keys = current.and_then(|(_, look)| look.commit?.keys);
        self.write(slot, config, keys, on_trial, epoch)
    }

    fn write(
        &mut self,
        slot: Slot,
        config: &[u8; CONFIG_BYTES],
        keys: Option<Keys>,
        on_trial: bool,
        epoch: u32,
    ) -> Result<(), FlashFailed> {
        let looks = self.look();
        let last = looks
            .iter()
            .filter_map(|look| look.commit)
            .map(|commit| commit.sequence);
        let sequence = last.reduce(later).unwrap_or(0).wrapping_add(1);
        let commit = CommitRecord {
            sequence,
            epoch,
            on_trial,
            keys,
            owner: current(&looks).and_then(|(_, look)| look.owner).map(Owner::committed),
        };
        self.flash.erase(slot)?;
        self.flash.write(slot, 0, config)?;
        if let Some(keys) = keys {
            self.flash.write(slot, KEYS, &keys.write())?;
        }
        if let Some(owner) = commit.owner {
            self.flash.write(slot, OWNER, owner.key_bytes())?;
        }
        self.flash.write(slot, CONFIG_BYTES, &commit.write(config))?;
        match Look::at(&self.flash, slot).commit {
            Some(written) if written == commit && self.config_of(slot) == *config => Ok(()),
            _ => Err(FlashFailed),
        }
    }

    /// Confirms the config, on behalf of the host.
    pub fn keep(&mut self) -> Result<(), FlashFailed> {
        match current(&self.look()) {
            Some((slot, look)) if look.is_on_trial() => self.flash.write(slot, VERDICT, &[0; RECORD]),
            _ => Ok(()),
        }
    }

    /// Reverts the config that was not confirmed: the previous one is used at the next boot.
    pub fn go_back(&mut self, epoch: u32) -> Result<(), FlashFailed> {
        let looks = self.look();
        let Some((slot, _)) = current(&looks).filter(|(_, look)| look.is_on_trial()) else {
            return Ok(());
        };
        // The boot records of this slot are lost with it.
        let other = slot.other();
        if let Some(at) = other.of(&looks).free_mark {
            self.flash.write(other, at, &mark(epoch))?;
        }
        self.flash.erase(slot)
    }

    /// The place of the next boot record. If the board has an owner, there is room for floors behind it until the next boot.
    fn free_mark(&self, look: &Look) -> Option<usize> {
        let room = if look.owner.is_some() {
            FLOORS_PER_BOOT * RECORD
        } else {
            0
        };
        look.free_mark.filter(|at| at + room < self.flash.slot_bytes())
    }

    /// Records a floor for good: that in force, or that of the image that is tried next. Not while a config is on trial: if it is given up, the
    /// board reverts to a slot that does not know the floor.
    #[cfg(feature = "signed")]
    pub fn write_floor(&mut self, floor: u32, is_next: bool, epoch: u32) -> Result<(), FlashFailed> {
        let (slot, look) = current(&self.look())
            .filter(|(_, look)| !look.is_on_trial())
            .ok_or(FlashFailed)?;
        let mut record = mark(epoch);
        Owner::mark(&mut record, floor, is_next);
        self.flash.write(slot, look.free_mark.ok_or(FlashFailed)?, &record)?;
        let found = Look::at(&self.flash, slot).owner.ok_or(FlashFailed)?;
        let is_written = if is_next {
            found.next_floor == floor
        } else {
            found.floor >= floor
        };
        is_written.then_some(()).ok_or(FlashFailed)
    }

    /// The bytes of the current config, or `0xff`.
    pub fn config(&self) -> [u8; CONFIG_BYTES] {
        current(&self.look()).map_or([0xff; CONFIG_BYTES], |(slot, _)| self.config_of(slot))
    }

    fn config_of(&self, slot: Slot) -> [u8; CONFIG_BYTES] {
        let mut config = [0xff; CONFIG_BYTES];
        self.flash.read(slot, 0, &mut config);
        config
    }
}

/// The later of two numbers, with wrapping.
fn later(one: u32, other: u32) -> u32 {
    if (other.wrapping_sub(one) as i32) > 0 {
        other
    } else {
        one
    }
}

fn last_epoch(looks: &[Look; 2]) -> Option<u32> {
    looks.iter().filter_map(|look| look.last_epoch).reduce(later)
}

/// The slot that counts.
fn current(looks: &[Look; 2]) -> Option<(Slot, Look)> {
    let counts = |slot: Slot| {
        let look = slot.of(looks);
        let tried_in_vain = look.is_on_trial() && look.starts >= TRIAL_STARTS;
        let commit = look.commit.filter(|_| !tried_in_vain)?;
        Some((slot, look, commit.sequence))
    };
    let newer = |one: (Slot, Look, u32), other: (Slot, Look, u32)| {
        if later(one.2, other.2) == one.2 { one } else { other }
    };
    let newest = Slot::BOTH.into_iter().filter_map(counts).reduce(newer)?;
    Some((newest.0, newest.1))
}
