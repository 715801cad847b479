//! The interrupt controller: which exceptions are pending, enabled and active, and with what priority.
//!
//! Exceptions are numbered as in the manual: 1 to 15 are the core's own, 16 and above the interrupts of the chip.

use super::{Cycles, NEVER};
use crate::hash::mix;

/// Interrupt request lines of the chip, one bit each.
pub type InterruptLines = u128;

/// Exceptions there are room for: 16 of the core and 112 interrupts.
pub(super) const EXCEPTIONS: usize = 128;
/// The exceptions of the core.
pub(super) const NMI: usize = 2;
pub(super) const HARD_FAULT: usize = 3;
pub(super) const MEM_MANAGE: usize = 4;
pub(super) const BUS_FAULT: usize = 5;
pub(super) const USAGE_FAULT: usize = 6;
pub(super) const SV_CALL: usize = 11;
pub(super) const PEND_SV: usize = 14;
pub(super) const SYS_TICK: usize = 15;
pub(super) const FIRST_INTERRUPT: usize = 16;

/// Priority of code that no exception handler runs: lower than all.
pub(super) const THREAD_PRIORITY: i32 = 256;
/// STM32F4 implement the upper four bits of a priority.
pub(super) const PRIORITY_BITS: u8 = 0xf0;

/// Cycles for which the core still sees a request after it has written what clears it.
const WRITE_LATENCY: Cycles = 4;

/// Exceptions, a bit for each.
type Set = u128;

fn has(set: Set, exception: usize) -> bool {
    set >> exception & 1 != 0
}

fn put(set: &mut Set, exception: usize, is_member: bool) {
    let bit = 1 << exception;
    *set = if is_member { *set | bit } else { *set & !bit };
}

fn members(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let exception = set.trailing_zeros() as usize;
        set &= set.checked_sub(1)?;
        Some(exception)
    })
}

/// 32 interrupts, as the registers of the NVIC show them.
fn shown(set: Set, word: u32) -> u32 {
    (set >> FIRST_INTERRUPT).checked_shr(32 * word).unwrap_or(0) as u32
}

/// Interrupts come late, each by a time of its own below a bound, as those of a bus that others use do.
#[derive(Clone, Copy, Default, Hash)]
pub(super) struct InterruptLatency {
    pub(super) seed: u64,
    /// The longest time; 0 if they come at once.
    pub(super) bound: Cycles,
    /// Requests that are shown, and from when on the others are, if there are any.
    shown: InterruptLines,
    until: Option<Cycles>,
}

impl InterruptLatency {
    /// The requests that the core sees now, of those that there are, and when it may see more.
    pub(super) fn delay(&mut self, lines: InterruptLines, now: Cycles) -> (InterruptLines, Cycles) {
        self.shown &= lines;
        if self.bound == 0 || lines == self.shown {
            (self.shown, self.until) = (lines, None);
            return (lines, NEVER);
        }
        let until = *self.until.get_or_insert_with(|| {
            self.seed = mix(self.seed);
            now + self.seed % self.bound
        });
        if until > now {
            return (self.shown, until);
        }
        (self.shown, self.until) = (lines, None);
        (lines, NEVER)
    }
}

#[derive(Hash)]
pub(super) struct Nvic {
    pending: Set,
    enabled: Set,
    active: Set,
    /// Interrupt requests as they were last seen.
    lines: Set,
    /// Those that have fallen since the core last waited for what it had written.
    fallen: Set,
    fallen_at: Cycles,
    priority: [u8; EXCEPTIONS],
    /// PRIGROUP of AIRCR.
    pub(super) group: u32,
}

impl Default for Nvic {
    fn default() -> Self {
        Nvic {
            pending: 0,
            // The exceptions of the core cannot be disabled; the configurable faults are held back in `fault`.
            enabled: 0xffff,
            active: 0,
            lines: 0,
            fallen: 0,
            fallen_at: 0,
            priority: [0; EXCEPTIONS],
            group: 0,
        }
    }
}

impl Nvic {
    pub(super) fn pend(&mut self, exception: usize, pending: bool) {
        put(&mut self.pending, exception, pending);
    }

    pub(super) fn is_pending(&self, exception: usize) -> bool {
        has(self.pending, exception)
    }

    pub(super) fn is_active(&self, exception: usize) -> bool {
        has(self.active, exception)
    }

    /// An exception begins: it is active and no longer pending.
    pub(super) fn activate(&mut self, exception: usize) {
        put(&mut self.pending, exception, false);
        put(&mut self.active, exception, true);
    }

    pub(super) fn deactivate(&mut self, exception: usize) {
        put(&mut self.active, exception, false);
    }

    pub(super) fn active_count(&self) -> u32 {
        self.active.count_ones()
    }

    /// Takes over the requests of the chip: a rising one stays pending even if it falls again at once.
    /// Returns whether anything became pending.
    pub(super) fn see_lines(&mut self, lines: InterruptLines, now: Cycles) -> bool {
        let before = std::mem::replace(&mut self.lines, lines << FIRST_INTERRUPT);
        if before & !self.lines != 0 {
            (self.fallen, self.fallen_at) = (before & !self.lines, now);
        }
        let rising = self.lines & !before;
        self.pending |= rising;
        rising != 0
    }

    /// The core has waited until what it wrote has come where it was written to.
    pub(super) fn settle(&mut self) {
        self.fallen = 0;
    }

    /// The handler of an exception ends. A request that it has only just cleared is still seen, so the handler begins once more: what is written to a
    /// peripheral is on its way for a while.
    pub(super) fn end_handler(&mut self, exception: usize, now: Cycles) {
        self.deactivate(exception);
        if has(self.fallen, exception) && now < self.fallen_at + WRITE_LATENCY {
            self.pend(exception, true);
        }
    }

    /// All that waits for its handler: a request that is still there counts again once its handler is done.
    fn waiting(&self) -> Set {
        self.pending | self.lines & !self.active
    }

    pub(super) fn group_priority(&self, exception: usize) -> i32 {
        match exception {
            NMI => -2,
            HARD_FAULT => -1,
            _ => i32::from(self.priority[exception]) & -2 << self.group,
        }
    }

    /// The waiting exception to be handled first and its group priority.
    pub(super) fn first_waiting(&self) -> Option<(usize, i32)> {
        members(self.waiting() & self.enabled)
            .min_by_key(|&exception| (self.group_priority(exception), self.priority[exception], exception))
            .map(|exception| (exception, self.group_priority(exception)))
    }

    pub(super) fn active_priority(&self) -> i32 {
        members(self.active)
            .map(|exception| self.group_priority(exception))
            .min()
            .unwrap_or(THREAD_PRIORITY)
    }

    pub(super) fn mask_priority(&self, basepri: u8) -> i32 {
        i32::from(basepri) & -2 << self.group
    }

    pub(super) fn priority_byte(&self, exception: usize) -> u8 {
        self.priority.get(exception).copied().unwrap_or(0)
    }

    pub(super) fn set_priority(&mut self, exception: usize, priority: u8) {
        if let Some(entry) = self.priority.get_mut(exception) {
            *entry = priority & PRIORITY_BITS;
        }
    }

    /// The registers at 0xe000_e100 to 0xe000_e3ff; `offset` counts from there.
    pub(super) fn read(&self, offset: u32) -> u32 {
        let set = match offset {
            0x000..=0x0ff => self.enabled,
            0x100..=0x1ff => self.waiting(),
            0x200..=0x27f => self.active,
            _ => 0,
        };
        shown(set, (offset & 0x7f) / 4)
    }

    /// The same, written: each set bit enables, disables, pends or clears an interrupt.
    pub(super) fn write(&mut self, offset: u32, value: u32) {
        let word = (offset as usize & 0x7f) / 4;
        let (set, member) = match offset {
            0x000..=0x07f => (&mut self.enabled, true),
            0x080..=0x0ff => (&mut self.enabled, false),
            0x100..=0x17f => (&mut self.pending, true),
            0x180..=0x1ff => (&mut self.pending, false),
            _ => return,
        };
        for bit in (0..32).filter(|bit| value >> bit & 1 != 0) {
            let exception = FIRST_INTERRUPT + word * 32 + bit;
            if exception < EXCEPTIONS {
                put(set, exception, member);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_number_and_higher_priority_come_first() {
        let mut nvic = Nvic::default();
        nvic.write(0x000, 0b111);
        nvic.write(0x100, 0b111);
        assert_eq!(nvic.first_waiting(), Some((16, 0)));
        for (exception, priority) in [(16, 0x50), (17, 0x40), (18, 0x40)] {
            nvic.set_priority(exception, priority);
        }
        assert_eq!(nvic.first_waiting(), Some((17, 0x40)));
        nvic.pend(HARD_FAULT, true);
        assert_eq!(nvic.first_waiting(), Some((HARD_FAULT, -1)));
    }

    #[test]
    fn sub_priorities_do_not_preempt_but_order() {
        let mut nvic = Nvic {
            group: 5,
            ..Nvic::default()
        };
        nvic.write(0x000, 0b11);
        nvic.write(0x100, 0b11);
        nvic.set_priority(16, 0x50);
        nvic.set_priority(17, 0x40);
        assert_eq!(nvic.first_waiting(), Some((17, 0x40)));
        assert_eq!(nvic.group_priority(16), 0x40);
    }

    #[test]
    fn a_pulse_stays_pending_and_a_level_comes_again() {
        let mut nvic = Nvic::default();
        nvic.write(0x080 - 0x80, 1 << 5);
        assert!(nvic.see_lines(1 << 5, 0));
        nvic.see_lines(0, 0);
        assert_eq!(nvic.first_waiting().map(|first| first.0), Some(21));
        nvic.activate(21);
        assert_eq!(nvic.first_waiting(), None);
        nvic.see_lines(1 << 5, 0);
        nvic.pend(21, false);
        assert_eq!(nvic.first_waiting(), None, "not while its handler runs");
        nvic.deactivate(21);
        assert_eq!(nvic.first_waiting().map(|first| first.0), Some(21));
    }

    #[test]
    fn interrupts_cross_the_words_of_the_registers() {
        let mut nvic = Nvic::default();
        nvic.write(0x004, 1 << 31 | 1);
        let found = (nvic.read(0x000), nvic.read(0x004), nvic.read(0x084));
        assert_eq!(found, (0, 1 << 31 | 1, 1 << 31 | 1));
        nvic.write(0x084, 1);
        assert_eq!(nvic.read(0x004), 1 << 31);
    }
}
