//! Timers: RM0390 chapters 16 to 18. Counting upward or downward, with update and four compare
//! channels; without inputs, outputs and triggers.

use super::peripheral::{Peripheral, load, store};
use crate::cpu::{Cycles, NEVER};

const CEN: u32 = 1;
const UDIS: u32 = 1 << 1;
const URS: u32 = 1 << 2;
const OPM: u32 = 1 << 3;
const DIR: u32 = 1 << 4;
const ARPE: u32 = 1 << 7;
const UIF: u32 = 1;
const COMPARES: u32 = 0x1e;
const INTERRUPTS: u32 = 0x5f;

#[derive(Default, Hash)]
pub(super) struct Timer {
    /// Largest count: 32 bits in TIM2 and TIM5, 16 in the others.
    limit: u32,
    /// Whether it has two interrupts, for updates and for compares, as TIM1 and TIM8 have.
    is_advanced: bool,
    /// Core cycles for one cycle of the timer's clock.
    clock: u64,
    control: u32,
    enable: u32,
    status: u32,
    /// As written, and as in use since the last update.
    prescaler: (u32, u32),
    /// The same; without ARPE it is in use at once.
    reload: (u32, u32),
    compare: [u32; 4],
    /// Registers without effect here: CR2, SMCR, CCMR1, CCMR2, CCER, RCR, BDTR, DCR, OR.
    plain: [u32; 32],
    /// Counts since the last update, in whatever direction, and when the last of them began.
    counted: u64,
    counted_at: Cycles,
}

impl Timer {
    pub(super) fn new(is_wide: bool) -> Self {
        let limit = if is_wide { u32::MAX } else { 0xffff };
        Timer {
            limit,
            clock: 1,
            reload: (limit, limit),
            ..Timer::default()
        }
    }

    /// TIM1 or TIM8.
    pub(super) fn advanced() -> Self {
        Timer {
            is_advanced: true,
            ..Timer::new(false)
        }
    }

    fn is_running(&self) -> bool {
        self.control & CEN != 0
    }

    /// Core cycles for one count.
    fn step(&self) -> u64 {
        (u64::from(self.prescaler.1) + 1) * self.clock
    }

    fn period(&self) -> u64 {
        u64::from(self.reload.1) + 1
    }

    /// What the counter shows after that many counts, and the other way round.
    fn turned(&self, count: u64) -> u64 {
        if self.control & DIR != 0 {
            u64::from(self.reload.1).saturating_sub(count)
        } else {
            count
        }
    }

    fn count(&self) -> u32 {
        self.turned(self.counted) as u32
    }

    fn set_count(&mut self, count: u32, now: Cycles) {
        self.counted = self.turned(u64::from(count)) % self.period();
        self.counted_at = now;
    }

    /// Counts until the counter shows `value` next, at least one.
    fn counts_to(&self, value: u32) -> Option<u64> {
        let period = self.period();
        if u64::from(value) >= period {
            return None;
        }
        let ahead = (self.turned(u64::from(value)) + period - self.counted) % period;
        Some(if ahead == 0 { period } else { ahead })
    }

    fn counts_to_update(&self) -> u64 {
        self.period() - self.counted
    }

    /// Counts on, at most to the next update if that changes how it counts. Returns the counts that are left.
    fn count_on(&mut self, counts: u64) -> u64 {
        let to_update = self.counts_to_update();
        let changes = self.prescaler.0 != self.prescaler.1 || self.reload.0 != self.reload.1 || self.control & OPM != 0;
        let now = if changes { counts.min(to_update) } else { counts };
        for channel in 0..4 {
            if self.counts_to(self.compare[channel]).is_some_and(|ahead| ahead <= now) {
                self.status |= 2 << channel;
            }
        }
        self.counted_at += now * self.step();
        self.counted = (self.counted + now) % self.period();
        if to_update <= now && self.control & UDIS == 0 {
            self.status |= UIF;
            self.update();
            if self.control & OPM != 0 {
                self.control &= !CEN;
            }
        }
        counts - now
    }

    /// What is written takes effect.
    fn update(&mut self) {
        self.prescaler.1 = self.prescaler.0;
        self.reload.1 = self.reload.0;
    }

    /// The update event by software: counter and prescaler begin anew.
    fn generate(&mut self, value: u32, now: Cycles) {
        if value & UIF != 0 {
            self.update();
            (self.counted, self.counted_at) = (0, now);
            if self.control & (URS | UDIS) == 0 {
                self.status |= UIF;
            }
        }
        self.status |= value & 0x1e;
    }
}

impl Peripheral for Timer {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        match offset {
            0x10 => self.status,
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        match offset {
            0x00 => {
                if value & CEN != 0 && !self.is_running() {
                    self.counted_at = now;
                }
                let count = self.count();
                self.control = value;
                self.set_count(count, self.counted_at);
            }
            0x0c => self.enable = value,
            0x10 => self.status &= value,
            0x14 => self.generate(value, now),
            0x24 => self.set_count(value & self.limit, now),
            0x28 => self.prescaler.0 = value & 0xffff,
            0x2c => {
                let count = self.count();
                self.reload.0 = value & self.limit;
                if self.control & ARPE == 0 {
                    self.reload.1 = self.reload.0;
                    // A counter beyond the new end runs on to its own; that is left out.
                    self.set_count(count.min(self.reload.1), self.counted_at);
                }
            }
            0x34..=0x40 => self.compare[(offset as usize - 0x34) / 4] = value & self.limit,
            offset => store(&mut self.plain, offset, value),
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            0x00 => self.control,
            0x0c => self.enable,
            // Flags are cleared by writing zero: bytes that are not written must not clear any.
            0x10 => u32::MAX,
            0x24 => self.count(),
            0x28 => self.prescaler.0,
            0x2c => self.reload.0,
            0x34..=0x40 => self.compare[(offset as usize - 0x34) / 4],
            offset => load(&self.plain, offset),
        }
    }

    fn advance(&mut self, now: Cycles) {
        // Twice at most: the first update changes how it counts, then nothing does.
        while self.is_running() {
            let counts = now.saturating_sub(self.counted_at) / self.step();
            if counts == 0 || self.count_on(counts) == 0 {
                break;
            }
        }
    }

    fn next_event(&self) -> Cycles {
        if !self.is_running() {
            return NEVER;
        }
        let wanted = self.enable & !self.status;
        let update = (wanted & UIF != 0).then(|| self.counts_to_update());
        let compares = (0..4).filter(|channel| wanted & 2 << channel != 0);
        let compares = compares.filter_map(|channel| self.counts_to(self.compare[channel]));
        match update.into_iter().chain(compares).min() {
            Some(counts) => self.counted_at + counts * self.step(),
            None => NEVER,
        }
    }

    fn interrupts(&self) -> u32 {
        let requested = self.status & self.enable & INTERRUPTS;
        if self.is_advanced {
            u32::from(requested & UIF != 0) | u32::from(requested & COMPARES != 0) << 1
        } else {
            u32::from(requested != 0)
        }
    }

    fn reset(&mut self, _now: Cycles) {
        *self = Timer {
            clock: self.clock,
            is_advanced: self.is_advanced,
            ..Timer::new(self.limit == u32::MAX)
        };
    }

    fn set_clock(&mut self, cycles: u64, now: Cycles) {
        self.advance(now);
        self.counted_at = now;
        self.clock = cycles;
    }
}
