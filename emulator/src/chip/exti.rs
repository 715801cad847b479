//! External interrupts: RM0390 chapter 10.

use std::hash::{Hash, Hasher};

use super::peripheral::Peripheral;
use crate::cpu::Cycles;

#[derive(Default, Hash)]
pub(super) struct Exti {
    mask: u32,
    event_mask: u32,
    rising: u32,
    falling: u32,
    pending: u32,
    /// Written to SWIER and not yet cleared in PR.
    software: u32,
    /// An event has come that the core has not been told of.
    event: bool,
}

impl Exti {
    /// The line has changed to `level`.
    pub(super) fn edge(&mut self, line: u32, level: bool) {
        let trigger = if level { self.rising } else { self.falling };
        self.trigger(trigger & 1 << line);
    }

    /// The trigger of a line sets its pending bit, masked or not; the mask decides about the interrupt.
    fn trigger(&mut self, lines: u32) {
        self.pending |= lines;
        self.event |= lines & self.event_mask != 0;
    }

    /// Whether an event for the core has come since the last call.
    pub(super) fn take_event(&mut self) -> bool {
        std::mem::take(&mut self.event)
    }
}

impl Peripheral for Exti {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        match offset {
            0x14 => self.pending,
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        match offset {
            0x00 => self.mask = value,
            0x04 => self.event_mask = value,
            0x08 => self.rising = value,
            0x0c => self.falling = value,
            // A software trigger acts on enabled lines, once until its pending bit has been cleared.
            0x10 => {
                let new = value & !self.software & (self.mask | self.event_mask);
                self.software |= new;
                self.trigger(new);
            }
            0x14 => (self.pending, self.software) = (self.pending & !value, self.software & !value),
            _ => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            0x00 => self.mask,
            0x04 => self.event_mask,
            0x08 => self.rising,
            0x0c => self.falling,
            0x10 => self.software,
            // PR is cleared by ones: bytes that are not written must be zeros.
            _ => 0,
        }
    }

    /// Lines 0 to 4 have interrupts of their own; 5 to 9 share one, and so do 10 to 15.
    fn interrupts(&self) -> u32 {
        let lines = self.pending & self.mask;
        lines & 0x1f | u32::from(lines & 0x03e0 != 0) << 5 | u32::from(lines & 0xfc00 != 0) << 6
    }

    fn reset(&mut self, _now: Cycles) {
        *self = Exti::default();
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}
