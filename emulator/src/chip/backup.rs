//! The twenty backup registers, which survive every reset: RM0390 section 22.6.20. The calendar is not modelled: its
//! registers read as zero.

use std::hash::{Hash, Hasher};

use super::peripheral::Peripheral;
use crate::cpu::Cycles;

const FIRST: u32 = 0x50;

#[derive(Default, Hash)]
pub(super) struct Backup {
    registers: [u32; 20],
}

impl Peripheral for Backup {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        self.rest(offset)
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        if let Some(register) = offset
            .checked_sub(FIRST)
            .and_then(|place| self.registers.get_mut(place as usize / 4))
        {
            *register = value;
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        offset
            .checked_sub(FIRST)
            .and_then(|place| self.registers.get(place as usize / 4))
            .copied()
            .unwrap_or(0)
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}
