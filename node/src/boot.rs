//! The choice of the image that a board boots.
//!
//! A board has two image slots. Each image is linked for its slot, so nothing is copied or swapped: the boot loader jumps to one of them. It
//! only reads. Two things determine the choice:
//!
//! - the boot log, in flash that is used for nothing else: records of [`RECORD`] bytes, each written once, one after the other. The last valid
//!   record names the confirmed image. An image writes it itself after the host has confirmed it;
//! - a [`Trial`], in a no-init RAM section: the previous image requests a trial boot of the other one. The loader clears the request before
//!   it obeys, so an image on trial gets one boot. However that ends, by a crash, a power cut or without confirmation, the next boot is
//!   that of the confirmed image.
//!
//! Torn records and torn requests are ignored. Without any record the loader takes the first slot with an image: [`has_image`].
//! [`update`](crate::update) ensures that such an image is complete.

use crate::store::Slot;
use crate::wire::crc32c;

pub use crate::store::RECORD;

/// The size of a [`Trial`].
pub const TRIAL_BYTES: usize = 48;
/// The size of a SHA-256.
pub const HASH_BYTES: usize = 32;

const KEPT: [u8; 4] = *b"KEPT";
const TRY: [u8; 4] = *b"TRY1";
const CRC_BYTES: usize = 4;

/// The record that confirms a slot's image.
pub fn record(slot: Slot) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    put(&mut record, &[&KEPT, &[number_of(slot)]]);
    seal(&mut record);
    record
}

/// The content of the boot log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The slot whose image was confirmed last.
    pub kept: Option<Slot>,
    /// The number of written records, including torn ones: the next is appended after them.
    pub used: usize,
}

impl Log {
    /// Reads all records, from the first to the end of the log.
    pub fn read(records: impl Iterator<Item = [u8; RECORD]>) -> Self {
        let mut log = Log::default();
        for (place, record) in (1..).zip(records) {
            if record != [0xff; RECORD] {
                log.used = place;
            }
            if let Some(slot) = read_record(&record) {
                log.kept = Some(slot);
            }
        }
        log
    }
}

fn read_record(record: &[u8; RECORD]) -> Option<Slot> {
    let rest = record.strip_prefix(&KEPT)?;
    slot_of(*rest.first()?).filter(|_| is_sealed(record))
}

/// A request for a trial boot of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The slot of the image.
    pub slot: Slot,
    /// The length of the image in bytes.
    pub length: u32,
    /// The SHA-256 of the image.
    pub hash: [u8; HASH_BYTES],
}

impl Trial {
    /// The layout in RAM.
    pub fn write(&self) -> [u8; TRIAL_BYTES] {
        let mut bytes = [0; TRIAL_BYTES];
        let slot = [number_of(self.slot), 0, 0, 0];
        put(&mut bytes, &[&TRY, &slot, &self.length.to_le_bytes(), &self.hash]);
        seal(&mut bytes);
        bytes
    }

    /// Parses a request; `None` if the bytes are not one.
    pub fn read(bytes: &[u8; TRIAL_BYTES]) -> Option<Self> {
        let (&[slot, 0, 0, 0], rest) = bytes.strip_prefix(&TRY)?.split_first_chunk()? else {
            return None;
        };
        let (length, rest) = rest.split_first_chunk()?;
        let (hash, _) = rest.split_first_chunk()?;
        let trial = Trial {
            slot: slot_of(slot)?,
            length: u32::from_le_bytes(*length),
            hash: *hash,
        };
        is_sealed(bytes).then_some(trial)
    }
}

/// The slot to boot: that of an image on trial whose hash is right, else the confirmed one, else the first with an image. `None` if there
/// is none.
pub fn choose(on_trial: Option<Slot>, kept: Option<Slot>, has_image: impl Fn(Slot) -> bool) -> Option<Slot> {
    let candidates = [on_trial, kept, Some(Slot::First), Some(Slot::Second)];
    candidates.into_iter().flatten().find(|slot| has_image(*slot))
}

/// Whether an image may begin with these two words, stack pointer and entry point, in a slot at `begin` of `bytes`. They are written last.
pub fn has_image([stack, entry]: [u32; 2], begin: u32, bytes: u32) -> bool {
    let in_ram = (0x2000_0000..0x4000_0000).contains(&stack) && stack.is_multiple_of(8);
    in_ram && entry % 2 == 1 && entry.wrapping_sub(begin) < bytes
}

/// The number of a slot on the wire and in flash.
pub(crate) fn number_of(slot: Slot) -> u8 {
    match slot {
        Slot::First => 0,
        Slot::Second => 1,
    }
}

pub(crate) fn slot_of(number: u8) -> Option<Slot> {
    match number {
        0 => Some(Slot::First),
        1 => Some(Slot::Second),
        _ => None,
    }
}

#[inline(never)]
pub(crate) fn put(bytes: &mut [u8], parts: &[&[u8]]) {
    let new = parts.iter().flat_map(|part| part.iter());
    bytes.iter_mut().zip(new).for_each(|(byte, new)| *byte = *new);
}

/// The CRC of all but the last four bytes.
fn crc_of(bytes: &[u8]) -> [u8; CRC_BYTES] {
    let (fields, _) = bytes
        .split_at_checked(bytes.len().saturating_sub(CRC_BYTES))
        .unwrap_or_default();
    crc32c([fields]).to_le_bytes()
}

fn seal(bytes: &mut [u8]) {
    let crc = crc_of(bytes);
    if let Some(last) = bytes.last_chunk_mut() {
        *last = crc;
    }
}

fn is_sealed(bytes: &[u8]) -> bool {
    bytes.ends_with(&crc_of(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIAL: Trial = Trial {
        slot: Slot::Second,
        length: 154_464,
        hash: [7; HASH_BYTES],
    };

    #[test]
    fn the_last_whole_record_counts() {
        let blank = [0xff; RECORD];
        let torn = |slot| {
            let mut torn = record(slot);
            torn[20] |= 1;
            torn
        };
        let read = |records: &[[u8; RECORD]]| Log::read(records.iter().copied());
        let log = |kept, used| Log { kept, used };
        let (first, second) = (record(Slot::First), record(Slot::Second));
        assert_eq!(read(&[blank; 3]), log(None, 0));
        assert_eq!(read(&[first, second, blank]), log(Some(Slot::Second), 2));
        assert_eq!(read(&[second, torn(Slot::First), blank]), log(Some(Slot::Second), 2));
        assert_eq!(read(&[second, torn(Slot::First), first]), log(Some(Slot::First), 3));
    }

    /// The linker puts it into the log of an image that a probe flashes: `firmware/memory/boot.x`.
    #[test]
    fn the_first_record_is_known_to_the_linker() {
        let words: [u32; RECORD / 4] = [0x5450_454b, 0, 0, 0, 0, 0, 0, 0x8d4f_663b];
        assert_eq!(
            record(Slot::First).as_slice(),
            words.map(u32::to_le_bytes).as_flattened()
        );
    }

    #[test]
    fn a_wrong_bit_makes_it_none() {
        assert_eq!(Trial::read(&TRIAL.write()), Some(TRIAL));
        for bit in 0..TRIAL_BYTES * 8 {
            let mut bytes = TRIAL.write();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Trial::read(&bytes), None, "bit {bit}");
        }
        for bit in 0..RECORD * 8 {
            let mut bytes = record(Slot::First);
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read_record(&bytes), None, "bit {bit}");
        }
    }

    #[test]
    fn an_image_on_trial_comes_first_and_one_that_is_not_there_never() {
        let (first, second) = (Some(Slot::First), Some(Slot::Second));
        let all = |_| true;
        assert_eq!(choose(second, first, all), second);
        assert_eq!(choose(None, second, all), second);
        assert_eq!(choose(None, None, all), first);
        assert_eq!(choose(None, second, |slot| slot == Slot::First), first);
        assert_eq!(choose(None, None, |slot| slot == Slot::Second), second);
        assert_eq!(choose(first, second, |_| false), None);
    }

    #[test]
    fn an_image_begins_with_a_stack_and_an_entry() {
        let begins = |stack, entry| has_image([stack, entry], 0x0801_0000, 0x3_0000);
        assert!(begins(0x2001_4000, 0x0801_0201));
        assert!(!begins(u32::MAX, u32::MAX), "nothing is there");
        assert!(!begins(0x2001_4000, 0x0801_0200), "no code of this processor");
        assert!(!begins(0x2001_4000, 0x0804_0201), "in the other slot");
        assert!(!begins(0x0801_4000, 0x0801_0201), "no RAM");
    }
}
