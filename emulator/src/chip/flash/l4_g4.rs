//! The flash controller of L4 and G4: RM0351 chapter 3, RM0440 chapter 3. Double words are programmed, once after each erase of their page, and
//! pages of 2 KiB are erased. One of the two banks can be changed while the core runs from the other.

use std::ops::Range;

use super::super::parts::FlashControl;
use super::super::peripheral::Peripheral;
use super::super::rules::Violation;
use super::{Account, Keys, Operation, Options, access, is_busy};
use crate::cpu::{Cycles, NEVER};
use crate::memory::{FLASH, Memory};

const PG: u32 = 1;
const PER: u32 = 1 << 1;
const MER1: u32 = 1 << 2;
const BKER: u32 = 1 << 11;
const MER2: u32 = 1 << 15;
const START: u32 = 1 << 16;
const OPTSTRT: u32 = 1 << 17;
const FSTPG: u32 = 1 << 18;
const EOPIE: u32 = 1 << 24;
const ERRIE: u32 = 1 << 25;
const OPTLOCK: u32 = 1 << 30;
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

#[derive(Default, Hash)]
pub(in crate::chip) struct FlashL4G4 {
    access_at_reset: u32,
    access: u32,
    status: u32,
    control: u32,
    ecc: u32,
    keys: Keys,
    options: Options,
    /// Whether it is two banks. One alone has pages of twice the size.
    dual_bank: bool,
    /// The first half of a double word: where, and what.
    first_half: Option<(u32, u32)>,
    operation: Option<Operation>,
    account: Account,
}

impl FlashL4G4 {
    /// ACR after a reset, how far times are from typical to longest in percent, and DBANK.
    pub(in crate::chip) fn new(access_at_reset: u32, wear: u32, dual_bank: bool) -> Self {
        FlashL4G4 {
            dual_bank,
            access_at_reset,
            access: access_at_reset,
            control: LOCK,
            // As delivered, but for DBANK.
            options: Options::new(0xffaf_f8aa | u32::from(dual_bank) << 22, 0),
            account: Account::new(wear),
            ..FlashL4G4::default()
        }
    }

    /// The core does not stand still: 0 microseconds.
    fn fail(&mut self, error: u32) -> u64 {
        self.account.breaks(match error {
            PROGERR => "a double word is programmed that is not erased (PROGERR)",
            PGAERR => "half a double word is followed by another address, or begins in its middle (PGAERR)",
            SIZERR => "a write that is no word (SIZERR)",
            _ => "a write or erase out of order (PGSERR)",
        });
        self.status |= error;
        self.first_half = None;
        0
    }

    /// Begins an operation on one place. Returns for how many microseconds the core stands still: not at all if that is in the second
    /// of two banks, since the program runs from the first.
    fn begin(&mut self, place: Range<u32>, microseconds: u64, now: Cycles, memory: &Memory) -> u64 {
        self.account.changed = Some(place.clone());
        let in_second = self.dual_bank && place.start >= FLASH + memory.flash_size() / 2;
        if !in_second {
            self.finish();
            return microseconds;
        }
        self.operation = Some(self.account.operation(place, microseconds, now));
        0
    }

    fn finish(&mut self) {
        if self.control & EOPIE != 0 {
            self.status |= EOP;
        }
    }

    fn set_control(&mut self, value: u32, now: Cycles) {
        if self.is_busy(now) {
            self.account.breaks("CR is written while the flash is busy");
        } else if self.control & LOCK != 0 {
            self.account.breaks("CR is written while it is locked");
        } else {
            self.control = value & !(OPTSTRT | OPTLOCK);
            self.options.lock |= u32::from(value & OPTLOCK != 0);
            if value & OPTSTRT != 0 {
                self.options.program(&mut self.account);
            }
        }
    }
}

impl FlashControl for FlashL4G4 {
    fn account(&mut self) -> &mut Account {
        &mut self.account
    }

    fn program(&mut self, address: u32, bytes: u32, value: u32, now: Cycles, memory: &mut Memory) -> u64 {
        if bytes != 4 {
            return self.fail(SIZERR);
        }
        if self.control & (PG | PER | MER1 | MER2 | FSTPG) != PG || self.status & ERRORS != 0 || self.is_busy(now) {
            return self.fail(PGSERR);
        }
        let Some((first, low)) = self.first_half.take() else {
            if !address.is_multiple_of(8) {
                return self.fail(PGAERR);
            }
            self.first_half = Some((address, value));
            return 0;
        };
        if address != first + 4 {
            return self.fail(PGAERR);
        }
        let double = u64::from(value) << 32 | u64::from(low);
        let is_erased = (0..8).all(|place| memory.byte(first + place) == Some(0xff)) && !memory.is_torn(first);
        if !is_erased && double != 0 {
            return self.fail(PROGERR);
        }
        for (place, byte) in (first..).zip(double.to_le_bytes()) {
            if memory.program_byte(place, byte).is_err() {
                return self.fail(PGSERR);
            }
        }
        self.begin(first..first + 8, self.account.time(PROGRAM), now, memory)
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
            PER if page < in_bank && !self.dual_bank => 2 * page..2 * page + 2,
            PER if page < in_bank => second + page..second + page + 1,
            MER1 => 0..in_bank,
            MER2 => in_bank..2 * in_bank,
            _ => {
                return self.fail(PGSERR);
            }
        };
        if self.status & ERRORS != 0 || self.is_busy(now) {
            return self.fail(PGSERR);
        }
        let place = memory.sector_range(pages.start).start..memory.sector_range(pages.end - 1).end;
        pages.for_each(|page| memory.erase_sector(page));
        self.begin(place, self.account.time(ERASE), now, memory)
    }

    fn access(&self) -> u32 {
        self.access
    }

    fn is_busy(&self, now: Cycles) -> bool {
        is_busy(&self.operation, now)
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
            0x00 => self.access = access(self.access, value & 0x0004_7f0f, &mut self.account.broken),
            0x08 => self.keys.take(value, &mut self.control, LOCK),
            0x0c => self.options.take_key(value),
            0x20 => self.options.want(value, &mut self.account),
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
            0x14 => self.control | if self.options.lock != 0 { OPTLOCK } else { 0 },
            0x20 => self.options.wanted,
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
        let account = self.account.after_reset(self.operation.take());
        *self = FlashL4G4 {
            account,
            options: self.options.after_reset(),
            ..FlashL4G4::new(self.access_at_reset, 0, self.dual_bank)
        };
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.account.broken)
    }
}
