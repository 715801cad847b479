//! External interrupts: RM0390 chapter 10; on the H7 the registers are in another order, RM0433 chapter 20.

use super::peripheral::Peripheral;
use crate::cpu::Cycles;

/// Where its registers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// From IMR on, as on most chips.
    #[default]
    MaskFirst,
    /// From RTSR on, as on the H7.
    EdgesFirst,
}

#[derive(Clone, Copy)]
enum Register {
    Mask,
    EventMask,
    Rising,
    Falling,
    Software,
    Pending,
}

impl Layout {
    fn register(self, offset: u32) -> Option<Register> {
        Some(match (self, offset) {
            (Layout::MaskFirst, 0x00) | (Layout::EdgesFirst, 0x80) => Register::Mask,
            (Layout::MaskFirst, 0x04) | (Layout::EdgesFirst, 0x84) => Register::EventMask,
            (Layout::MaskFirst, 0x08) | (Layout::EdgesFirst, 0x00) => Register::Rising,
            (Layout::MaskFirst, 0x0c) | (Layout::EdgesFirst, 0x04) => Register::Falling,
            (Layout::MaskFirst, 0x10) | (Layout::EdgesFirst, 0x08) => Register::Software,
            (Layout::MaskFirst, 0x14) | (Layout::EdgesFirst, 0x88) => Register::Pending,
            _ => return None,
        })
    }
}

#[derive(Default, Hash)]
pub(super) struct Exti {
    layout: Layout,
    /// The line of the RTC's wakeup timer.
    wakeup: u32,
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
    pub(super) fn new(layout: Layout, wakeup: u32) -> Self {
        Exti {
            layout,
            wakeup,
            ..Exti::default()
        }
    }

    pub(super) fn wake_up(&mut self) {
        self.edge(self.wakeup, true);
    }

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
        match self.layout.register(offset) {
            Some(Register::Pending) => self.pending,
            _ => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        match self.layout.register(offset) {
            Some(Register::Mask) => self.mask = value,
            Some(Register::EventMask) => self.event_mask = value,
            Some(Register::Rising) => self.rising = value,
            Some(Register::Falling) => self.falling = value,
            // A software trigger acts on enabled lines, once until its pending bit has been cleared.
            Some(Register::Software) => {
                let new = value & !self.software & (self.mask | self.event_mask);
                self.software |= new;
                self.trigger(new);
            }
            Some(Register::Pending) => (self.pending, self.software) = (self.pending & !value, self.software & !value),
            None => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match self.layout.register(offset) {
            Some(Register::Mask) => self.mask,
            Some(Register::EventMask) => self.event_mask,
            Some(Register::Rising) => self.rising,
            Some(Register::Falling) => self.falling,
            Some(Register::Software) => self.software,
            // PR is cleared by ones: bytes that are not written must be zeros.
            Some(Register::Pending) | None => 0,
        }
    }

    /// Lines 0 to 4 have interrupts of their own; 5 to 9 share one, and so do 10 to 15. After them is the wakeup timer.
    fn interrupts(&self) -> u32 {
        let lines = self.pending & self.mask;
        lines & 0x1f
            | u32::from(lines & 0x03e0 != 0) << 5
            | u32::from(lines & 0xfc00 != 0) << 6
            | (lines >> self.wakeup & 1) << 7
    }

    fn reset(&mut self, _now: Cycles) {
        *self = Exti::new(self.layout, self.wakeup);
    }
}
