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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Model;

    const CR: u32 = 0x14;
    const SR: u32 = 0x10;
    /// In the second bank.
    const PLACE: u32 = 0x080f_e000;

    fn unlocked() -> (FlashL4G4, Memory) {
        super::super::unlocked(FlashL4G4::new(0x600, 0, true), Model::L476, 0x08)
    }

    /// A double word, at one time.
    fn program(flash: &mut FlashL4G4, memory: &mut Memory, halves: [u32; 2], now: Cycles) -> u64 {
        let first = flash.program(PLACE, 4, halves[0], now, memory);
        first + flash.program(PLACE + 4, 4, halves[1], now, memory)
    }

    fn rules(flash: &mut FlashL4G4) -> usize {
        flash.take_broken().len()
    }

    #[test]
    fn a_double_word_is_programmed_while_the_core_runs_from_the_other_bank() {
        let (mut flash, mut memory) = unlocked();
        flash.write(CR, PG, 0);
        assert_eq!(flash.program(PLACE, 4, 0x0403_0201, 0, &mut memory), 0);
        assert_eq!(memory.byte(PLACE), Some(0xff), "half of it waits");
        assert_eq!(flash.program(PLACE + 4, 4, 0x0807_0605, 0, &mut memory), 0);
        assert_eq!(memory.bytes(PLACE, 8), Some(vec![1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!((flash.read(SR, 81) & BSY, flash.read(SR, 82) & BSY), (BSY, 0));
        assert_eq!(rules(&mut flash), 0);
        // In the bank that the core runs from it stands still.
        let busy = flash.program(FLASH + 0x8000, 4, 0, 100, &mut memory)
            + flash.program(FLASH + 0x8004, 4, 0, 100, &mut memory);
        assert_eq!((busy, flash.read(SR, 100) & BSY), (82, 0));
    }

    #[test]
    fn writes_in_the_wrong_way_are_refused() {
        type Deed = fn(&mut FlashL4G4, &mut Memory);
        let deeds: [(u32, Deed); 6] = [
            (SIZERR, |flash, memory| _ = flash.program(PLACE, 1, 0, 0, memory)),
            (PGAERR, |flash, memory| _ = flash.program(PLACE + 4, 4, 0, 0, memory)),
            (PGAERR, |flash, memory| {
                flash.program(PLACE, 4, 0, 0, memory);
                flash.program(PLACE + 12, 4, 0, 0, memory);
            }),
            (PROGERR, |flash, memory| {
                for value in [1, 2] {
                    program(flash, memory, [value; 2], value.into());
                    flash.operation = None;
                }
            }),
            (PGSERR, |flash, memory| {
                flash.write(CR, 0, 0);
                flash.program(PLACE, 4, 0, 0, memory);
            }),
            (PGSERR, |flash, memory| {
                flash.program(PLACE, 1, 0, 0, memory);
                flash.program(PLACE, 4, 0, 0, memory);
            }),
        ];
        for (place, (error, deed)) in deeds.iter().enumerate() {
            let (mut flash, mut memory) = unlocked();
            flash.write(CR, PG, 0);
            deed(&mut flash, &mut memory);
            assert_eq!(flash.read(SR, 0) & error, *error, "{place}");
            assert_ne!(rules(&mut flash), 0, "{place}");
        }
    }

    #[test]
    fn zeros_may_be_written_over_anything() {
        let (mut flash, mut memory) = unlocked();
        flash.write(CR, PG, 0);
        for (value, now) in [(7, 0), (0, 100)] {
            program(&mut flash, &mut memory, [value; 2], now);
        }
        assert_eq!((rules(&mut flash), memory.bytes(PLACE, 8)), (0, Some(vec![0; 8])));
    }

    #[test]
    fn a_page_of_either_bank_is_erased() {
        for (bank, page, address) in [(0, 3, FLASH + 3 * 2048), (BKER, 252, PLACE)] {
            let (mut flash, mut memory) = unlocked();
            memory.write_flash(address, &[0; 2048]).unwrap();
            memory.write_flash(address - 1, &[0]).unwrap();
            flash.write(CR, PER | page << 3 | bank | START, 0);
            let stall = flash.start_erase(0, &mut memory);
            assert_eq!(stall, if bank == 0 { 22_020 } else { 0 });
            let found = (memory.byte(address), memory.byte(address + 2047));
            assert_eq!(found, (Some(0xff), Some(0xff)));
            assert_eq!(memory.byte(address - 1), Some(0), "the page before");
            assert_eq!(rules(&mut flash), 0);
        }
        let (mut flash, mut memory) = unlocked();
        flash.write(CR, START, 0);
        flash.start_erase(0, &mut memory);
        assert_eq!((flash.read(SR, 0) & PGSERR, rules(&mut flash)), (PGSERR, 1));
    }

    #[test]
    fn it_is_left_alone_while_it_is_busy_or_locked() {
        let (mut flash, mut memory) = unlocked();
        flash.write(CR, PER | 252 << 3 | BKER | START, 0);
        flash.start_erase(0, &mut memory);
        flash.write(CR, 0, 100);
        assert_eq!((rules(&mut flash), flash.read(CR, 0) & PER), (1, PER));
        let mut locked = FlashL4G4::new(0x600, 0, true);
        locked.write(CR, PG, 0);
        assert_eq!((rules(&mut locked), locked.read(CR, 0)), (1, LOCK | OPTLOCK));
    }

    #[test]
    fn what_a_reset_cuts_off_is_torn_until_it_is_erased() {
        let (mut flash, mut memory) = unlocked();
        flash.write(CR, PG, 0);
        program(&mut flash, &mut memory, [1, 2], 0);
        flash.reset(81);
        let torn = flash.account.torn.take().expect("it was being programmed");
        assert_eq!(torn, PLACE..PLACE + 8);
        memory.tear(torn);
        assert!(memory.is_torn(PLACE + 7) && !memory.is_torn(PLACE + 8));
        assert!(!flash.meet_torn(PLACE));
        assert_eq!(flash.read(0x18, 0) >> 31, 1);
        memory.erase_sector(memory.sectors() - 4);
        assert!(!memory.is_torn(PLACE));
        // After its time it is whole.
        let (mut flash, mut memory) = unlocked();
        flash.write(CR, PG, 0);
        program(&mut flash, &mut memory, [1, 2], 0);
        flash.reset(82);
        assert_eq!(flash.account.torn.take(), None);
    }

    #[test]
    fn a_cache_is_emptied_only_while_it_is_off() {
        const ICEN: u32 = 1 << 9;
        const DCRST: u32 = 1 << 12;
        let (mut flash, _) = unlocked();
        flash.write(0x00, 0x600 | DCRST, 0);
        assert_eq!((rules(&mut flash), flash.access() & DCRST), (1, 0));
        flash.write(0x00, ICEN, 0);
        flash.write(0x00, ICEN | DCRST, 0);
        assert_eq!((rules(&mut flash), flash.access() & DCRST), (0, DCRST));
    }
}
