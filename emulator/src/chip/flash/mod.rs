//! Flash controllers, and what they have in common.

pub(super) mod f4;
pub(super) mod h7;
pub(super) mod l4_g4;

use std::ops::Range;

use super::rules::{Rule, Violation};
use crate::cpu::Cycles;

const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

/// How many keys of the unlock sequence have come.
#[derive(Default, Hash)]
struct Keys(usize);

impl Keys {
    /// Takes a key; the last one clears the bit LOCK. A wrong one locks until the next reset.
    fn take(&mut self, key: u32, control: &mut u32, lock: u32) {
        let is_next = KEYS.get(self.0) == Some(&key);
        self.0 = if is_next { self.0 + 1 } else { KEYS.len() + 1 };
        if self.0 == KEYS.len() {
            *control &= !lock;
            self.0 = 0;
        }
    }
}

/// A time between typical and longest, by how worn the flash is in percent.
fn worn([typical, longest]: [u64; 2], wear: u32) -> u64 {
    typical + (longest - typical) * u64::from(wear) / 100
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

#[derive(Hash)]
struct Operation {
    until: Cycles,
    place: Range<u32>,
}

fn is_busy(operation: &Option<Operation>, now: Cycles) -> bool {
    operation.as_ref().is_some_and(|operation| now < operation.until)
}
