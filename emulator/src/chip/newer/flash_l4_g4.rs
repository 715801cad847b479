//! The flash controller of L4 and G4: RM0351 chapter 3, RM0440 chapter 3. Double words are programmed, once after each erase of their page, and
//! pages of 2 KiB are erased. One of the two banks can be changed while the core runs from the other.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use super::super::peripheral::{FlashControl, Peripheral};
use super::super::rules::{Rule, Violation};
use crate::cpu::{Cycles, NEVER};
use crate::memory::{FLASH, Memory};

const ICEN: u32 = 1 << 9;
const DCEN: u32 = 1 << 10;
const ICRST: u32 = 1 << 11;
const DCRST: u32 = 1 << 12;

const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

const PG: u32 = 1;
const PER: u32 = 1 << 1;
const MER1: u32 = 1 << 2;
const BKER: u32 = 1 << 11;
const MER2: u32 = 1 << 15;
const START: u32 = 1 << 16;
const FSTPG: u32 = 1 << 18;
const EOPIE: u32 = 1 << 24;
const ERRIE: u32 = 1 << 25;
const LOCK: u32 = 1 << 31;

const EOP: u32 = 1;
const PROGERR: u32 = 1 << 3;
const PGAERR: u32 = 1 << 5;
const SIZERR: u32 = 1 << 6;
const PGSERR: u32 = 1 << 7;
const ERRORS: u32 = 0xc3fa;
const BSY: u32 = 1 << 16;

/// Typical and longest times of the data sheets in microseconds.
const PROGRAM: [u64; 2] = [82, 91];
const ERASE: [u64; 2] = [22_020, 24_470];

/// An operation that goes on while the core does.
#[derive(Clone, Hash)]
struct Operation {
    until: Cycles,
    /// What is changed.
    place: Range<u32>,
}

/// The controller.
#[derive(Hash)]
pub(in crate::chip) struct FlashL4G4 {
    /// FLASH_ACR after reset.
    access_at_reset: u32,
    access: u32,
    status: u32,
    control: u32,
    ecc: u32,
    keys: usize,
    /// How far its times are from typical to longest, in percent.
    wear: u32,
    hertz: u64,
    /// The first half of a double word: where, and what.
    first_half: Option<(u32, u32)>,
    operation: Option<Operation>,
    changed: Option<Range<u32>>,
    /// What a reset has cut off, until the memory is told.
    torn: Option<Range<u32>>,
    broken: Vec<Violation>,
}

impl FlashL4G4 {
    pub(in crate::chip) fn new(access_at_reset: u32, wear: u32) -> Self {
        FlashL4G4 {
            access_at_reset,
            access: access_at_reset,
            status: 0,
            control: LOCK,
            ecc: 0,
            keys: 0,
            wear,
            hertz: 1,
            first_half: None,
            operation: None,
            changed: None,
            torn: None,
            broken: Vec::new(),
        }
    }

    fn breaks(&mut self, rule: Rule, how: &str) {
        self.broken.push(Violation { rule, how: how.into() });
    }

    fn time(&self, [typical, longest]: [u64; 2]) -> u64 {
        typical + (longest - typical) * u64::from(self.wear) / 100
    }

    fn fail(&mut self, error: u32) {
        self.breaks(
            Rule::FlashOrder,
            match error {
                PROGERR => "a double word is programmed that is not erased (PROGERR)",
                PGAERR => "half a double word is followed by another address, or begins in its middle (PGAERR)",
                SIZERR => "a write that is no word (SIZERR)",
                _ => "a write or erase out of order (PGSERR)",
            },
        );
        self.status |= error;
        self.first_half = None;
    }

    fn is_busy(&self, now: Cycles) -> bool {
        self.operation.as_ref().is_some_and(|operation| now < operation.until)
    }

    /// Begins an operation on one place. Returns for how many microseconds the core stands still: not at all if that is in the second
    /// bank, since the program runs from the first.
    fn begin(&mut self, place: Range<u32>, microseconds: u64, now: Cycles, memory: &Memory) -> u64 {
        self.changed = Some(place.clone());
        let in_second = place.start >= FLASH + memory.flash_size() / 2;
        if !in_second {
            self.finish();
            return microseconds;
        }
        let until = now + self.hertz * microseconds / 1_000_000;
        self.operation = Some(Operation { until, place });
        0
    }

    fn finish(&mut self) {
        if self.control & EOPIE != 0 {
            self.status |= EOP;
        }
    }

    /// A cache is emptied only while it is off.
    fn set_access(&mut self, value: u32) {
        let mut taken = value;
        for (name, enable, reset) in [("ICRST", ICEN, ICRST), ("DCRST", DCEN, DCRST)] {
            if value & reset != 0 && self.access & enable != 0 {
                self.breaks(Rule::FlashCache, &format!("{name} is set while the cache is on"));
                taken &= !reset;
            }
        }
        self.access = taken;
    }

    fn unlock(&mut self, key: u32) {
        if KEYS.get(self.keys) == Some(&key) {
            self.keys += 1;
        } else {
            // A wrong key locks until the next reset.
            self.keys = KEYS.len() + 1;
        }
        if self.keys == KEYS.len() {
            self.control &= !LOCK;
            self.keys = 0;
        }
    }

    fn set_control(&mut self, value: u32, now: Cycles) {
        if self.is_busy(now) {
            self.breaks(Rule::FlashOrder, "CR is written while the flash is busy");
        } else if self.control & LOCK != 0 {
            self.breaks(Rule::FlashOrder, "CR is written while it is locked");
        } else {
            self.control = value;
        }
    }
}

impl FlashControl for FlashL4G4 {
    fn set_core_clock(&mut self, hertz: u64) {
        self.hertz = hertz;
    }

    fn program(&mut self, address: u32, bytes: u32, value: u32, now: Cycles, memory: &mut Memory) -> u64 {
        if bytes != 4 {
            self.fail(SIZERR);
            return 0;
        }
        if self.control & (PG | PER | MER1 | MER2 | FSTPG) != PG || self.status & ERRORS != 0 || self.is_busy(now) {
            self.fail(PGSERR);
            return 0;
        }
        let Some((first, low)) = self.first_half.take() else {
            match address % 8 {
                0 => self.first_half = Some((address, value)),
                _ => self.fail(PGAERR),
            }
            return 0;
        };
        if address != first + 4 {
            self.fail(PGAERR);
            return 0;
        }
        let double = u64::from(value) << 32 | u64::from(low);
        let is_erased = (0..8).all(|place| memory.byte(first + place) == Some(0xff)) && !memory.is_torn(first);
        if !is_erased && double != 0 {
            self.fail(PROGERR);
            return 0;
        }
        for (place, byte) in (first..).zip(double.to_le_bytes()) {
            if memory.program_byte(place, byte).is_err() {
                self.fail(PGSERR);
                return 0;
            }
        }
        self.begin(first..first + 8, self.time(PROGRAM), now, memory)
    }

    fn start_erase(&mut self, now: Cycles, memory: &mut Memory) -> u64 {
        if self.control & START == 0 {
            return 0;
        }
        self.control &= !START;
        let in_bank = memory.sectors() / 2;
        let page = (self.control >> 3 & 0xff) as usize;
        let second = usize::from(self.control & BKER != 0) * in_bank;
        let pages = match self.control & (PG | PER | MER1 | MER2) {
            PER if page < in_bank => second + page..second + page + 1,
            MER1 => 0..in_bank,
            MER2 => in_bank..2 * in_bank,
            _ => {
                self.fail(PGSERR);
                return 0;
            }
        };
        if self.status & ERRORS != 0 || self.is_busy(now) {
            self.fail(PGSERR);
            return 0;
        }
        let place = memory.sector_range(pages.start).start..memory.sector_range(pages.end - 1).end;
        pages.for_each(|page| memory.erase_sector(page));
        self.begin(place, self.time(ERASE), now, memory)
    }

    fn access(&self) -> u32 {
        self.access
    }

    fn take_change(&mut self) -> Option<Range<u32>> {
        self.changed.take()
    }

    fn take_torn(&mut self) -> Option<Range<u32>> {
        self.torn.take()
    }

    fn meet_torn(&mut self, address: u32) -> bool {
        const ECCD: u32 = 1 << 31;
        self.ecc = ECCD | (address - FLASH) >> 3;
        false
    }
}

impl Peripheral for FlashL4G4 {
    fn read(&mut self, offset: u32, now: Cycles) -> u32 {
        match offset {
            0x10 => self.status | if self.is_busy(now) { BSY } else { 0 },
            0x18 => self.ecc,
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        match offset {
            0x00 => self.set_access(value & 0x0004_7f0f),
            0x08 => self.unlock(value),
            0x10 => self.status &= !(value & (EOP | ERRORS)),
            0x14 => self.set_control(value, now),
            0x18 => self.ecc &= !(value & 0xc000_0000),
            _ => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            0x00 => self.access,
            // SR and ECCR are cleared by ones: bytes that are not written must be zeros.
            0x14 => self.control,
            // The option bytes as delivered, with two banks.
            0x20 => 0xffef_f8aa,
            _ => 0,
        }
    }

    fn advance(&mut self, now: Cycles) {
        if self.operation.is_some() && !self.is_busy(now) {
            self.operation = None;
            self.finish();
        }
    }

    fn next_event(&self) -> Cycles {
        self.operation.as_ref().map_or(NEVER, |operation| operation.until)
    }

    fn interrupts(&self) -> u32 {
        let ended = self.status & EOP != 0 && self.control & EOPIE != 0;
        let failed = self.status & ERRORS != 0 && self.control & ERRIE != 0;
        u32::from(ended || failed)
    }

    /// What was being programmed or erased is torn.
    fn reset(&mut self, now: Cycles) {
        self.advance(now);
        let torn = self.operation.take().map(|operation| operation.place).or(self.torn.take());
        *self = FlashL4G4 {
            hertz: self.hertz,
            torn,
            ..FlashL4G4::new(self.access_at_reset, self.wear)
        };
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.broken)
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}
