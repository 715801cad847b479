//! The flash controller: RM0390 chapter 3.

use super::Peripheral;
use crate::cpu::Cycles;
use crate::memory::Memory;

const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

const PG: u32 = 1;
const SER: u32 = 1 << 1;
const MER: u32 = 1 << 2;
const STRT: u32 = 1 << 16;
const EOPIE: u32 = 1 << 24;
const ERRIE: u32 = 1 << 25;
const LOCK: u32 = 1 << 31;

const EOP: u32 = 1;
const OPERR: u32 = 1 << 1;
const PGAERR: u32 = 1 << 5;
const PGPERR: u32 = 1 << 6;
const PGSERR: u32 = 1 << 7;
const ERRORS: u32 = 0xf2;

/// Typical times of the F446's data sheet in microseconds: one word, and sectors by their size in KiB.
const PROGRAM: u64 = 16;
const ERASE_SMALL: u64 = 250_000;
const ERASE_MEDIUM: u64 = 550_000;
const ERASE_LARGE: u64 = 1_000_000;

#[derive(Hash)]
pub(super) struct FlashController {
    access: u32,
    status: u32,
    control: u32,
    /// How many keys of the unlock sequence have been written.
    keys: usize,
}

impl Default for FlashController {
    fn default() -> Self {
        FlashController {
            access: 0,
            status: 0,
            control: LOCK,
            keys: 0,
        }
    }
}

impl FlashController {
    pub(super) fn latency(&self) -> u32 {
        self.access & 0xf
    }

    /// A store into the flash. Returns for how many microseconds the core stands still, since it executes from there.
    pub(super) fn program(&mut self, address: u32, bytes: u32, value: u32, memory: &mut Memory) -> u64 {
        if self.control & (PG | SER | MER) != PG {
            self.fail(PGSERR);
            return 0;
        }
        if address % 16 + bytes > 16 {
            self.fail(PGAERR);
            return 0;
        }
        if bytes != 1 << (self.control >> 8 & 3) {
            self.fail(PGPERR);
            return 0;
        }
        for (place, byte) in (0..bytes).zip(value.to_le_bytes()) {
            if memory.program_byte(address + place, byte).is_err() {
                self.fail(PGSERR);
                return 0;
            }
        }
        self.finish();
        PROGRAM
    }

    /// Does the erase that was started, if one was. Returns how many microseconds it takes.
    pub(super) fn start_erase(&mut self, memory: &mut Memory) -> u64 {
        if self.control & STRT == 0 {
            return 0;
        }
        self.control &= !STRT;
        let sector = (self.control >> 3 & 0xf) as usize;
        let sectors = match self.control & (PG | SER | MER) {
            MER => 0..memory.sectors(),
            SER if sector < memory.sectors() => sector..sector + 1,
            _ => {
                self.fail(PGSERR);
                return 0;
            }
        };
        let time = sectors
            .map(|sector| {
                memory.erase_sector(sector);
                match sector {
                    0..4 => ERASE_SMALL,
                    4 => ERASE_MEDIUM,
                    _ => ERASE_LARGE,
                }
            })
            .sum();
        self.finish();
        time
    }

    /// OPERR is only set if its interrupt is wanted.
    fn fail(&mut self, error: u32) {
        self.status |= error;
        if self.control & ERRIE != 0 {
            self.status |= OPERR;
        }
    }

    fn finish(&mut self) {
        if self.control & EOPIE != 0 {
            self.status |= EOP;
        }
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
}

impl Peripheral for FlashController {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        match offset {
            0x0c => self.status,
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        match offset {
            0x00 => self.access = value & 0x1f0f,
            0x04 => self.unlock(value),
            0x0c => self.status &= !(value & (EOP | ERRORS)),
            0x10 if self.control & LOCK == 0 => self.control = value & 0x8301_03ff,
            _ => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            0x00 => self.access,
            // SR is cleared by ones: bytes that are not written must be zeros.
            0x10 => self.control,
            // The option bytes as delivered, locked.
            0x14 => 0x0fff_aaed,
            _ => 0,
        }
    }

    fn interrupt(&self) -> bool {
        self.status & EOP != 0 && self.control & EOPIE != 0 || self.status & ERRORS != 0 && self.control & ERRIE != 0
    }
}
