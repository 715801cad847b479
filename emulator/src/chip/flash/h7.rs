//! The flash controller of the H7: RM0433 chapter 4. Words of 256 bits are programmed, once after each erase of their sector; sectors have
//! 128 KiB. Each of the two banks has registers of its own, and can be changed while the core runs from the other.

use std::ops::Range;

use super::super::parts::FlashControl;
use super::super::peripheral::Peripheral;
use super::super::rules::Violation;
use super::{Account, Keys, Operation, Options, is_busy};
use crate::cpu::{Cycles, NEVER};
use crate::memory::{FLASH, Memory};

const LOCK: u32 = 1;
/// Bits of OPTCR.
const OPTLOCK: u32 = 1;
const OPTSTART: u32 = 1 << 1;
const PG: u32 = 1 << 1;
const SER: u32 = 1 << 2;
const BER: u32 = 1 << 3;
const START: u32 = 1 << 7;
const EOPIE: u32 = 1 << 16;

const BSY: u32 = 1;
const WBNE: u32 = 1 << 1;
const QW: u32 = 1 << 2;
const EOP: u32 = 1 << 16;
const PGSERR: u32 = 1 << 18;
const INCERR: u32 = 1 << 21;
const DBECCERR: u32 = 1 << 26;
const ERRORS: u32 = 0x07ee_0000;

/// Bytes of a flash word.
const WORD: u32 = 32;
/// Typical and longest times of the data sheet in microseconds, by PSIZE: a flash word; a sector.
const PROGRAM: [[u64; 2]; 4] = [[290, 580], [180, 360], [130, 260], [100, 200]];
const ERASE: [[u64; 2]; 4] = [
    [2_000_000, 4_000_000],
    [1_800_000, 3_600_000],
    [1_100_000, 2_200_000],
    [1_000_000, 2_000_000],
];

/// The highest HCLK in Hz for each delay between two writes (WRHIGHFREQ), at voltage scale 1.
const WRITE_DELAYS: [u64; 3] = [70_000_000, 185_000_000, 285_000_000];

#[derive(Default, Hash)]
struct Bank {
    status: u32,
    control: u32,
    keys: Keys,
    /// The flash word that is being filled: where, and its first bytes.
    buffer: Option<(u32, Vec<u8>)>,
    operation: Option<Operation>,
}

impl Bank {
    fn new() -> Self {
        Bank {
            control: LOCK | 3 << 4,
            ..Bank::default()
        }
    }

    fn is_busy(&self, now: Cycles) -> bool {
        is_busy(&self.operation, now)
    }

    fn parallelism(&self) -> usize {
        (self.control >> 4 & 3) as usize
    }

    fn finish(&mut self) {
        if self.control & EOPIE != 0 {
            self.status |= EOP;
        }
    }
}

#[derive(Hash)]
pub(in crate::chip) struct FlashH7 {
    access: u32,
    banks: [Bank; 2],
    options: Options,
    account: Account,
}

impl FlashH7 {
    pub(in crate::chip) fn new(wear: u32) -> Self {
        FlashH7 {
            access: 0x37,
            banks: [Bank::new(), Bank::new()],
            // As delivered.
            options: Options::new(0x1bc6_aaf0, 8),
            account: Account::new(wear),
        }
    }

    /// The core does not stand still: 0 microseconds.
    fn fail(&mut self, bank: usize, error: u32) -> u64 {
        self.account.breaks(match error {
            INCERR => "a flash word is left before it is full (INCERR)",
            _ => "a write or erase out of order (PGSERR)",
        });
        self.banks[bank].status |= error;
        self.banks[bank].buffer = None;
        0
    }

    /// Begins an operation. Returns for how many microseconds the core stands still: not at all in the second bank, since the program
    /// runs from the first.
    fn begin(&mut self, bank: usize, place: Range<u32>, microseconds: u64, now: Cycles) -> u64 {
        self.account.changed = Some(place.clone());
        if bank == 0 {
            self.banks[bank].finish();
            return microseconds;
        }
        self.banks[bank].operation = Some(self.account.operation(place, microseconds, now));
        0
    }

    fn program_word(&mut self, bank: usize, at: u32, bytes: &[u8], now: Cycles, memory: &mut Memory) -> u64 {
        let is_erased = (0..WORD).all(|place| memory.byte(at + place) == Some(0xff)) && !memory.is_torn(at);
        if !is_erased {
            // Silicon programs it, with an ECC that belongs to neither.
            self.account.breaks(&format!(
                "the flash word at {at:#010x} is programmed twice without an erase"
            ));
            memory.tear(at..at + WORD);
        }
        for (place, byte) in (at..).zip(bytes) {
            if memory.program_byte(place, *byte).is_err() {
                return self.fail(bank, PGSERR);
            }
        }
        let time = self.account.time(PROGRAM[self.banks[bank].parallelism()]);
        self.begin(bank, at..at + WORD, time, now)
    }

    fn set_options(&mut self, value: u32) {
        if value & OPTSTART != 0 {
            self.options.program(&mut self.account);
        }
        self.options.lock |= value & OPTLOCK;
    }

    fn write_bank(&mut self, bank: usize, offset: u32, value: u32, now: Cycles) {
        let is_busy = self.banks[bank].is_busy(now);
        let registers = &mut self.banks[bank];
        match offset {
            0x04 => registers.keys.take(value, &mut registers.control, LOCK),
            0x0c if is_busy => self.account.breaks("CR is written while the flash is busy"),
            0x0c if registers.control & LOCK != 0 && value == registers.control => {}
            0x0c if registers.control & LOCK != 0 => self.account.breaks("CR is written while it is locked"),
            0x0c => registers.control = value & 0x0fff_8fff,
            // CCR; SR itself is read only.
            0x14 => registers.status &= !(value & (EOP | ERRORS)),
            0x08 => self.options.take_key(value),
            0x18 => self.set_options(value),
            0x20 => self.options.want(value, &mut self.account),
            _ => {}
        }
    }
}

impl FlashControl for FlashH7 {
    fn account(&mut self) -> &mut Account {
        &mut self.account
    }

    fn program(&mut self, address: u32, bytes: u32, value: u32, now: Cycles, memory: &mut Memory) -> u64 {
        let bank = usize::from(address >= FLASH + memory.flash_size() / 2);
        let registers = &mut self.banks[bank];
        if registers.control & (PG | SER | BER) != PG || registers.status & ERRORS != 0 || registers.is_busy(now) {
            return self.fail(bank, PGSERR);
        }
        let (at, mut filled) = registers.buffer.take().unwrap_or((address, Vec::new()));
        if at % WORD != 0 || address != at + filled.len() as u32 {
            return self.fail(bank, INCERR);
        }
        filled.extend(&value.to_le_bytes()[..bytes as usize]);
        if filled.len() < WORD as usize {
            registers.buffer = Some((at, filled));
            return 0;
        }
        self.program_word(bank, at, &filled, now, memory)
    }

    fn start_erase(&mut self, now: Cycles, memory: &mut Memory) -> u64 {
        let in_bank = memory.sectors() / 2;
        let Some(bank) = (0..2).find(|bank| self.banks[*bank].control & START != 0) else {
            return 0;
        };
        let registers = &mut self.banks[bank];
        registers.control &= !START;
        let sector = (registers.control >> 8 & 7) as usize;
        let sectors = match registers.control & (PG | SER | BER) {
            SER if sector < in_bank => sector..sector + 1,
            BER => 0..in_bank,
            _ => {
                return self.fail(bank, PGSERR);
            }
        };
        if registers.status & ERRORS != 0 || registers.is_busy(now) {
            return self.fail(bank, PGSERR);
        }
        let first = bank * in_bank;
        let place = memory.sector_range(first + sectors.start).start..memory.sector_range(first + sectors.end - 1).end;
        let time = self.account.time(ERASE[self.banks[bank].parallelism()]) * sectors.len() as u64;
        sectors.for_each(|sector| memory.erase_sector(first + sector));
        self.begin(bank, place, time, now)
    }

    /// The caches are in the core.
    fn access(&self) -> u32 {
        self.access & 0xf
    }

    fn is_busy(&self, now: Cycles) -> bool {
        self.banks.iter().any(|bank| bank.is_busy(now))
    }

    fn meet_torn(&mut self, address: u32) -> bool {
        let bank = usize::from(address >= FLASH + 0x10_0000);
        self.banks[bank].status |= DBECCERR;
        true
    }

    fn highest_writing(&self) -> u64 {
        let delay = (self.access >> 4 & 3) as usize;
        WRITE_DELAYS[delay.min(2)]
    }
}

impl Peripheral for FlashH7 {
    fn read(&mut self, offset: u32, now: Cycles) -> u32 {
        let bank = &self.banks[usize::from(offset >= 0x100)];
        match offset & 0xff {
            0x10 => {
                let working = if bank.is_busy(now) { BSY | QW } else { 0 };
                let filling = if bank.buffer.is_some() { WBNE } else { 0 };
                bank.status | working | filling
            }
            _ => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        match offset {
            0x000 | 0x100 => self.access = value & 0x3f,
            offset => self.write_bank(usize::from(offset >= 0x100), offset & 0xff, value, now),
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        let bank = &self.banks[usize::from(offset >= 0x100)];
        match offset & 0xff {
            0x00 => self.access,
            0x0c => bank.control,
            0x18 => self.options.lock,
            0x1c => self.options.loaded,
            0x20 => self.options.wanted,
            _ => 0,
        }
    }

    fn advance(&mut self, now: Cycles) {
        for bank in &mut self.banks {
            if bank.operation.is_some() && !bank.is_busy(now) {
                bank.operation = None;
                bank.finish();
            }
        }
    }

    fn next_event(&self) -> Cycles {
        let ends = self.banks.iter().filter_map(|bank| bank.operation.as_ref());
        ends.map(|operation| operation.until).min().unwrap_or(NEVER)
    }

    fn interrupts(&self) -> u32 {
        // The enables stand where the flags do.
        let wants = |bank: &Bank| bank.status & bank.control & (EOP | ERRORS) != 0;
        u32::from(self.banks.iter().any(wants))
    }

    /// What was being programmed or erased is torn.
    fn reset(&mut self, now: Cycles) {
        self.advance(now);
        let cut_off = self.banks.iter_mut().find_map(|bank| bank.operation.take());
        *self = FlashH7 {
            account: self.account.after_reset(cut_off),
            options: self.options.after_reset(),
            ..FlashH7::new(0)
        };
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.account.broken)
    }
}
