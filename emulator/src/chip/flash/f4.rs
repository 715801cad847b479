//! The flash controller of the F4: RM0390 chapter 3.

use super::super::parts::FlashControl;
use super::super::peripheral::Peripheral;
use super::super::rules::Violation;
use super::{Account, Keys, Options, access};
use crate::cpu::Cycles;
use crate::memory::Memory;

const PG: u32 = 1;
const SER: u32 = 1 << 1;
const MER: u32 = 1 << 2;
const STRT: u32 = 1 << 16;
const EOPIE: u32 = 1 << 24;
const ERRIE: u32 = 1 << 25;
const LOCK: u32 = 1 << 31;

/// Bits of OPTCR.
const OPTLOCK: u32 = 1;
const OPTSTRT: u32 = 1 << 1;

const EOP: u32 = 1;
const OPERR: u32 = 1 << 1;
const PGAERR: u32 = 1 << 5;
const PGPERR: u32 = 1 << 6;
const PGSERR: u32 = 1 << 7;
const ERRORS: u32 = 0xf2;

/// Typical and longest times of the F446's data sheet, in microseconds: one item; then sectors of 16, 64 and 128 KiB, for
/// each with a parallelism (PSIZE) of 8, 16 and 32 bits.
const PROGRAM: [u64; 2] = [16, 100];
const ERASE: [[[u64; 2]; 3]; 3] = [
    [[400_000, 800_000], [300_000, 600_000], [250_000, 500_000]],
    [[1_200_000, 2_400_000], [700_000, 1_400_000], [550_000, 1_100_000]],
    [[2_000_000, 4_000_000], [1_300_000, 2_600_000], [1_000_000, 2_000_000]],
];

#[derive(Default, Hash)]
pub(in crate::chip) struct FlashF4 {
    access: u32,
    status: u32,
    control: u32,
    keys: Keys,
    options: Options,
    account: Account,
}

impl FlashF4 {
    pub(in crate::chip) fn new(wear: u32) -> Self {
        FlashF4 {
            control: LOCK,
            account: Account::new(wear),
            // As delivered.
            options: Options::new(0x0fff_aaec, 8),
            ..FlashF4::default()
        }
    }

    fn parallelism(&self) -> usize {
        (self.control >> 8 & 3) as usize
    }

    /// OPERR is only set if its interrupt is wanted. The core does not stand still: 0 microseconds.
    fn fail(&mut self, error: u32) -> u64 {
        self.account.breaks(match error {
            PGAERR => "a write across the end of 16 bytes (PGAERR)",
            PGPERR => "a write in another width than PSIZE announces (PGPERR)",
            _ => "a write or erase out of order (PGSERR)",
        });
        self.status |= error;
        if self.control & ERRIE != 0 {
            self.status |= OPERR;
        }
        0
    }

    /// OPTCR has its lock and its start below the option bytes.
    fn set_options(&mut self, value: u32) {
        self.options.want(value & !(OPTLOCK | OPTSTRT), &mut self.account);
        if value & OPTSTRT != 0 {
            self.options.program(&mut self.account);
        }
        self.options.lock |= value & OPTLOCK;
    }

    fn finish(&mut self) {
        if self.control & EOPIE != 0 {
            self.status |= EOP;
        }
    }
}

impl Peripheral for FlashF4 {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        match offset {
            0x0c => self.status,
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        match offset {
            0x00 => self.access = access(self.access, value & 0x1f0f, &mut self.account.broken),
            0x04 => self.keys.take(value, &mut self.control, LOCK),
            0x08 => self.options.take_key(value),
            0x0c => self.status &= !(value & (EOP | ERRORS)),
            0x14 => self.set_options(value),
            0x10 if self.control & LOCK == 0 => self.control = value & 0x8301_03ff,
            _ => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            0x00 => self.access,
            // SR is cleared by ones: bytes that are not written must be zeros.
            0x10 => self.control,
            0x14 => self.options.wanted | self.options.lock,
            _ => 0,
        }
    }

    fn interrupts(&self) -> u32 {
        let done = self.status & EOP != 0 && self.control & EOPIE != 0;
        let failed = self.status & ERRORS != 0 && self.control & ERRIE != 0;
        u32::from(done || failed)
    }

    fn reset(&mut self, _now: Cycles) {
        *self = FlashF4 {
            account: self.account.after_reset(None),
            options: self.options.after_reset(),
            ..Self::new(0)
        };
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.account.broken)
    }
}

impl FlashControl for FlashF4 {
    /// A store into the flash. Returns for how many microseconds the core stands still, since it executes from there.
    fn program(&mut self, address: u32, bytes: u32, value: u32, _now: Cycles, memory: &mut Memory) -> u64 {
        if self.control & (PG | SER | MER) != PG {
            return self.fail(PGSERR);
        }
        if address % 16 + bytes > 16 {
            return self.fail(PGAERR);
        }
        if bytes != 1 << self.parallelism() {
            return self.fail(PGPERR);
        }
        for (place, byte) in (0..bytes).zip(value.to_le_bytes()) {
            let place_before = memory.byte(address + place).unwrap_or(0xff);
            if byte & !place_before != 0 {
                let place = address + place;
                self.account.breaks(&format!(
                    "{byte:#04x} is written over {place_before:#04x} at {place:#010x} without an erase"
                ));
            }
            if memory.program_byte(address + place, byte).is_err() {
                return self.fail(PGSERR);
            }
        }
        self.account.changed = Some(address..address + bytes);
        self.finish();
        self.account.time(PROGRAM)
    }

    /// Does the erase that was started, if one was. Returns how many microseconds it takes.
    fn start_erase(&mut self, _now: Cycles, memory: &mut Memory) -> u64 {
        if self.control & STRT == 0 {
            return 0;
        }
        self.control &= !STRT;
        let sector = (self.control >> 3 & 0xf) as usize;
        let sectors = match self.control & (PG | SER | MER) {
            MER => 0..memory.sectors(),
            SER if sector < memory.sectors() => sector..sector + 1,
            _ => {
                return self.fail(PGSERR);
            }
        };
        if self.parallelism() == 3 {
            self.account
                .breaks("an erase with 64 bits at once (PSIZE is 3) without a programming voltage");
        }
        let (first, last) = (memory.sector_range(sectors.start), memory.sector_range(sectors.end - 1));
        self.account.changed = Some(first.start..last.end);
        let time = sectors
            .map(|sector| {
                memory.erase_sector(sector);
                let size = match sector {
                    0..4 => 0,
                    4 => 1,
                    _ => 2,
                };
                self.account.time(ERASE[size][self.parallelism().min(2)])
            })
            .sum();
        self.finish();
        time
    }

    fn access(&self) -> u32 {
        self.access
    }

    fn lowest_millivolts(&self) -> u64 {
        [1_700, 2_100, 2_700][self.parallelism().min(2)]
    }

    fn account(&mut self) -> &mut Account {
        &mut self.account
    }
}
