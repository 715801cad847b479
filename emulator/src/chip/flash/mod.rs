//! Flash controllers, and what they have in common.

pub(super) mod f4;
pub(super) mod h7;
pub(super) mod l4_g4;

use std::ops::Range;

use super::rules::{Rule, Violation};
use crate::cpu::Cycles;

const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];
/// Those of the option bytes.
const OPTION_KEYS: [u32; 2] = [0x0819_2a3b, 0x4c5d_6e7f];

/// How many keys of the unlock sequence have come.
#[derive(Default, Hash)]
struct Keys(usize);

impl Keys {
    /// Takes a key; the last one clears the bit LOCK. A wrong one locks until the next reset.
    fn take(&mut self, key: u32, control: &mut u32, lock: u32) {
        self.take_of(KEYS, key, control, lock);
    }

    fn take_of(&mut self, keys: [u32; 2], key: u32, control: &mut u32, lock: u32) {
        let is_next = keys.get(self.0) == Some(&key);
        self.0 = if is_next { self.0 + 1 } else { KEYS.len() + 1 };
        if self.0 == KEYS.len() {
            *control &= !lock;
            self.0 = 0;
        }
    }
}

/// What FLASH_ACR of F4, L4 and G4 becomes: a cache is emptied only while it is off.
fn access(before: u32, value: u32, broken: &mut Vec<Violation>) -> u32 {
    let mut taken = value;
    for (name, enable, reset) in [("ICRST", 1 << 9, 1 << 11), ("DCRST", 1 << 10, 1 << 12)] {
        if value & reset != 0 && before & enable != 0 {
            let how = format!("{name} is set while the cache is on");
            broken.push(Violation::new(Rule::FlashCache, how));
            taken &= !reset;
        }
    }
    taken
}

/// The option bytes: their lock, what the chip has loaded, and what it is to have. A board whose firmware programs them is another board for
/// good, so that is always told; what they change is not modeled.
#[derive(Default, Hash)]
struct Options {
    keys: Keys,
    /// Not 0 while they are locked.
    lock: u32,
    loaded: u32,
    wanted: u32,
    /// Where the read protection stands, from its lowest bit.
    protection: u32,
}

impl Options {
    fn new(loaded: u32, protection: u32) -> Self {
        Options {
            lock: 1,
            loaded,
            wanted: loaded,
            protection,
            ..Options::default()
        }
    }

    fn take_key(&mut self, key: u32) {
        self.keys.take_of(OPTION_KEYS, key, &mut self.lock, 1);
    }

    fn want(&mut self, value: u32, account: &mut Account) {
        match self.lock {
            0 => self.wanted = value,
            _ if value == self.wanted => {}
            _ => account.breaks_options("they are written while they are locked".into()),
        }
    }

    /// Level 2 of the read protection is refused: it could never be undone, and no probe would reach the board again.
    fn program(&mut self, account: &mut Account) {
        const LEVEL_2: u32 = 0xcc;
        let (from, to) = (self.loaded, self.wanted);
        if self.lock != 0 {
            account.breaks_options("they are programmed while they are locked".into());
        } else if to >> self.protection & 0xff == LEVEL_2 {
            account.breaks_options("read protection of level 2, which nothing undoes, is refused".into());
            self.wanted = from;
        } else {
            account.breaks_options(format!("they are programmed: {to:#010x} in place of {from:#010x}"));
            self.loaded = to;
        }
    }

    fn after_reset(&self) -> Self {
        Options::new(self.loaded, self.protection)
    }
}

/// What every controller keeps besides its registers.
#[derive(Default, Hash)]
pub(super) struct Account {
    /// How far its times are from typical to longest, in percent.
    wear: u32,
    /// The clock of the core, in Hz.
    pub(super) hertz: u64,
    /// The addresses that were programmed or erased, until they are asked for.
    pub(super) changed: Option<Range<u32>>,
    /// What a reset has cut off, until the memory is told.
    pub(super) torn: Option<Range<u32>>,
    broken: Vec<Violation>,
}

impl Account {
    fn new(wear: u32) -> Self {
        Account {
            wear,
            hertz: 1,
            ..Account::default()
        }
    }

    /// The same after a reset, which has cut off an operation or not.
    fn after_reset(&mut self, cut_off: Option<Operation>) -> Self {
        Account {
            hertz: self.hertz,
            torn: cut_off.map(|operation| operation.place).or(self.torn.take()),
            ..Account::new(self.wear)
        }
    }

    fn breaks(&mut self, how: &str) {
        self.broken.push(Violation::new(Rule::FlashOrder, how));
    }

    fn breaks_options(&mut self, how: String) {
        self.broken.push(Violation::new(Rule::OptionBytes, how));
    }

    /// A time between typical and longest, in microseconds.
    fn time(&self, [typical, longest]: [u64; 2]) -> u64 {
        typical + (longest - typical) * u64::from(self.wear) / 100
    }

    /// An operation that begins now, while the core goes on.
    fn operation(&self, place: Range<u32>, microseconds: u64, now: Cycles) -> Operation {
        let until = now + self.hertz * microseconds / 1_000_000;
        Operation { until, place }
    }
}

#[derive(Hash)]
struct Operation {
    until: Cycles,
    place: Range<u32>,
}

fn is_busy(operation: &Option<Operation>, now: Cycles) -> bool {
    operation.as_ref().is_some_and(|operation| now < operation.until)
}
