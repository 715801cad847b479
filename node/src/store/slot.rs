//! The layout of one slot.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::{Flash, later};
use crate::key::{KEY_BYTES, Key, Secret};
use crate::signature::{Owner, OwnerKey};
use crate::wire::{CONFIG_BYTES, crc32c};

/// The unit of writing: a multiple of the program unit of any supported flash.
pub const RECORD: usize = 32;
/// The size of a config and its commit record.
pub const COMMITTED_BYTES: usize = CONFIG_BYTES + RECORD;
pub(super) const VERDICT: usize = COMMITTED_BYTES;
pub(super) const KEYS: usize = AFTER_VERDICT;
/// The offset of the keys, if there are any, or else of the first boot record.
const AFTER_VERDICT: usize = VERDICT + RECORD;
/// The size of a config, its commit record, the confirmation and the keys.
pub const KEYED_BYTES: usize = AFTER_VERDICT + RECORD;
pub(super) const OWNER: usize = KEYED_BYTES;
/// The size of all that and the owner's public key.
pub const OWNED_BYTES: usize = OWNER + RECORD;

const MAGIC: [u8; 4] = *b"SEAL";
/// The offset of a commit record's CRC.
const CRC_AT: usize = RECORD - 4;

/// One of the two slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Slot {
    /// The one with the lower address.
    First,
    /// The one with the higher address.
    Second,
}

impl Slot {
    pub(super) const BOTH: [Slot; 2] = [Slot::First, Slot::Second];

    /// The other one.
    pub fn other(self) -> Slot {
        match self {
            Slot::First => Slot::Second,
            Slot::Second => Slot::First,
        }
    }

    pub(super) fn of(self, [first, second]: &[Look; 2]) -> Look {
        match self {
            Slot::First => *first,
            Slot::Second => *second,
        }
    }
}

/// Values of byte 13 of a commit record, about the keys.
const NO_KEYS: u8 = 0;
const KEYS_FOR_LINKS: u8 = 1;
const KEYS_FOR_PAYLOADS: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommitRecord {
    pub(super) sequence: u32,
    pub(super) epoch: u32,
    pub(super) on_trial: bool,
    /// The config goes with keys.
    pub(super) keys: Option<Keys>,
    pub(super) owner: Option<Owner>,
}

impl CommitRecord {
    pub(super) fn write(&self, config: &[u8; CONFIG_BYTES]) -> [u8; RECORD] {
        let mut record = [0; RECORD];
        put_at(&mut record, 0, &MAGIC);
        put_at(&mut record, 4, &self.sequence.to_le_bytes());
        put_at(&mut record, 8, &self.epoch.to_le_bytes());
        let keys = match self.keys {
            None => NO_KEYS,
            Some(keys) if keys.mesh.encrypts => KEYS_FOR_PAYLOADS,
            Some(_) => KEYS_FOR_LINKS,
        };
        put_at(&mut record, 12, &[u8::from(self.on_trial), keys]);
        if let Some(owner) = &self.owner {
            owner.commit(&mut record);
        }
        let crc = crc_of(config, &record, self.keys);
        put_at(&mut record, CRC_AT, &crc);
        record
    }

    fn read(
        config: &[u8; CONFIG_BYTES],
        record: &[u8; RECORD],
        keys: &[u8; RECORD],
        owner: &[u8; RECORD],
    ) -> Option<Self> {
        let encrypts = match *record.get(13)? {
            KEYS_FOR_LINKS => Some(false),
            KEYS_FOR_PAYLOADS => Some(true),
            _ => None,
        };
        let keys = encrypts.map(|encrypts| Keys::read(keys, encrypts));
        let is_whole = record.starts_with(&MAGIC) && record.ends_with(&crc_of(config, record, keys));
        is_whole.then(|| CommitRecord {
            keys,
            sequence: number(record, 4),
            epoch: number(record, 8),
            on_trial: record.get(12) != Some(&0),
            owner: Owner::read(record, owner),
        })
    }
}

/// The CRC of a config, a commit record up to the CRC itself, and the keys.
fn crc_of(config: &[u8; CONFIG_BYTES], record: &[u8; RECORD], keys: Option<Keys>) -> [u8; 4] {
    let (fields, _) = record.split_at(CRC_AT);
    let keys = keys.map(|keys| keys.write());
    let keys = keys.as_ref().map_or(&[][..], |keys| keys);
    crc32c([config, fields, keys]).to_le_bytes()
}

/// The secrets of a board. They are written with its config, and no response contains them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The secret of the mesh, for links and payloads.
    pub mesh: Secret,
    /// The key of this board, for [commands](crate::authority) that change it.
    pub management: Key,
}

impl Keys {
    pub(super) fn write(&self) -> [u8; RECORD] {
        let mut record = [0; RECORD];
        put_at(&mut record, 0, self.mesh.key.bytes());
        put_at(&mut record, KEY_BYTES, self.management.bytes());
        record
    }

    fn read(record: &[u8; RECORD], encrypts: bool) -> Self {
        let key = |at: usize| {
            let bytes = record.get(at..at + KEY_BYTES).and_then(|bytes| bytes.try_into().ok());
            Key::new(bytes.unwrap_or_default())
        };
        Keys {
            mesh: Secret { key: key(0), encrypts },
            management: key(KEY_BYTES),
        }
    }
}

#[inline(never)]
pub(crate) fn put_at(bytes: &mut [u8], at: usize, what: &[u8]) {
    bytes.iter_mut().skip(at).zip(what).for_each(|(byte, new)| *byte = *new);
}

#[inline(never)]
pub(crate) fn number(record: &[u8; RECORD], at: usize) -> u32 {
    let bytes = record.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    u32::from_le_bytes(bytes.unwrap_or_default())
}

/// The bytes of a slot with a config, and keys and owner if there are any, for flashing from outside; the other slot must be erased.
pub fn committed(
    config: &[u8; CONFIG_BYTES],
    keys: Option<Keys>,
    owner: Option<OwnerKey>,
    epoch: u32,
) -> Vec<u8, OWNED_BYTES> {
    let commit = CommitRecord {
        sequence: 1,
        epoch,
        on_trial: false,
        keys,
        owner: owner.map(Owner::new),
    };
    let mut bytes = Vec::new();
    // Cannot fail: there is room for all of it.
    let _ = bytes.extend_from_slice(config);
    let _ = bytes.extend_from_slice(&commit.write(config));
    if keys.is_some() || owner.is_some() {
        // Nothing is on trial.
        let _ = bytes.extend_from_slice(&[0xff; RECORD]);
        let _ = bytes.extend_from_slice(&keys.map_or([0xff; RECORD], |keys| keys.write()));
    }
    if let Some(owner) = commit.owner {
        let _ = bytes.extend_from_slice(owner.key_bytes());
    }
    bytes
}

/// Commits the config in the bytes of a slot again, with this epoch if it is later: the board counts its boots on from there.
pub fn count_from(slot: &mut [u8], epoch: u32) -> Option<()> {
    let (config, rest) = slot.split_first_chunk_mut::<CONFIG_BYTES>()?;
    let (record, rest) = rest.split_first_chunk_mut::<RECORD>()?;
    let (_, rest) = rest.split_first_chunk::<RECORD>()?;
    let (keys, rest) = rest.split_first_chunk::<RECORD>()?;
    let mut commit = CommitRecord::read(config, record, keys, rest.first_chunk()?)?;
    commit.epoch = later(commit.epoch, epoch);
    *record = commit.write(config);
    Some(())
}

/// The last epoch of all commit and boot records in the bytes of both slots of a board, read from outside.
pub fn last_epoch_in(slots: &[u8]) -> Option<u32> {
    let records = slots.as_chunks::<RECORD>().0.iter();
    let epochs = records.filter_map(|record| match (number(record, 0), number(record, 4)) {
        _ if record.starts_with(&MAGIC) => Some(number(record, 8)),
        (epoch, complement) => (complement == !epoch).then_some(epoch),
    });
    epochs.reduce(later)
}

pub(super) fn mark(epoch: u32) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    put_at(&mut record, 0, &epoch.to_le_bytes());
    put_at(&mut record, 4, &(!epoch).to_le_bytes());
    record
}

/// The next epoch. Its low half differs from the last one's too, and is not 0.
pub const fn next_epoch(last: u32) -> u32 {
    let next = last.wrapping_add(1);
    if next & 0xffff == 0 { next | 1 } else { next }
}

/// The content of a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) commit: Option<CommitRecord>,
    /// That of the commit record, with the floors recorded since.
    pub(super) owner: Option<Owner>,
    pub(super) is_blank: bool,
    is_kept: bool,
    /// Number of boots with it.
    pub(super) starts: usize,
    /// The last epoch of its commit and boot records.
    pub(super) last_epoch: Option<u32>,
    /// The offset of the next boot record; `None` if there is no room.
    pub(super) free_mark: Option<usize>,
}

#[inline(never)]
fn record(flash: &impl Flash, slot: Slot, at: usize) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    flash.read(slot, at, &mut record);
    record
}

#[inline(never)]
fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0xff)
}

impl Look {
    pub(super) fn at(flash: &impl Flash, slot: Slot) -> Self {
        let mut config = [0; CONFIG_BYTES];
        flash.read(slot, 0, &mut config);
        let record = |at: usize| record(flash, slot, at);
        let append_crc = record(CONFIG_BYTES);
        let commit = CommitRecord::read(&config, &append_crc, &record(KEYS), &record(OWNER));
        let marks = match commit {
            Some(CommitRecord { owner: Some(_), .. }) => OWNED_BYTES,
            Some(CommitRecord { keys: Some(_), .. }) => KEYED_BYTES,
            _ => AFTER_VERDICT,
        };
        let mut look = Look {
            commit,
            owner: commit.and_then(|commit| commit.owner),
            is_blank: is_blank(&config) && is_blank(&append_crc),
            is_kept: !is_blank(&record(VERDICT)),
            starts: 0,
            last_epoch: commit.map(|commit| commit.epoch),
            free_mark: None,
        };
        if commit.is_none() {
            return look;
        }
        // Boot records are written in order: the first blank one is free, unless after a fault a later one is not.
        for at in (marks..flash.slot_bytes()).step_by(RECORD) {
            let mark = record(at);
            if is_blank(&mark) {
                look.free_mark = look.free_mark.or(Some(at));
                continue;
            }
            look.free_mark = None;
            let is_floor = look.owner.as_mut().is_some_and(|owner| owner.look(&mark));
            look.starts += usize::from(!is_floor);
            let epoch = number(&mark, 0);
            if number(&mark, 4) == !epoch {
                look.last_epoch = Some(epoch);
            }
        }
        look
    }

    /// The config is on trial and has not been kept.
    pub(super) fn is_on_trial(&self) -> bool {
        self.commit.is_some_and(|commit| commit.on_trial) && !self.is_kept
    }
}
