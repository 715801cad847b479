//! The independent watchdog: RM0390 chapter 20. It counts a clock of its own, the LSI, of 17 to 47 kHz.

use super::peripheral::Peripheral;
use crate::cpu::{Cycles, NEVER};

const START: u32 = 0xcccc;
const RELOAD: u32 = 0xaaaa;
const UNLOCK: u32 = 0x5555;

#[derive(Default, Hash)]
pub(super) struct Iwdg {
    prescaler: u32,
    reload: u32,
    unlocked: bool,
    expires_at: Option<Cycles>,
    expired: bool,
    hclk: u64,
    lsi: u64,
}

impl Iwdg {
    pub(super) fn new(lsi: u32) -> Self {
        Iwdg {
            reload: 0xfff,
            hclk: 1,
            lsi: u64::from(lsi.max(1)),
            ..Iwdg::default()
        }
    }

    pub(super) fn set_core_clock(&mut self, hclk: u64) {
        self.hclk = hclk;
    }

    /// Keeps the time that is left when the core's clock changes.
    pub(super) fn rescale(&mut self, now: Cycles, before: u64, after: u64) {
        if let Some(expires_at) = &mut self.expires_at {
            let left = u128::from(expires_at.saturating_sub(now)) * u128::from(after) / u128::from(before);
            *expires_at = now + left as u64;
        }
    }

    pub(super) fn has_expired(&self) -> bool {
        self.expired
    }

    fn timeout(&self) -> Cycles {
        let ticks = (u64::from(self.reload) + 1) * (4 << self.prescaler.min(6));
        ticks * self.hclk / self.lsi
    }
}

impl Peripheral for Iwdg {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        match offset {
            0x4 => self.prescaler,
            0x8 => self.reload,
            _ => 0,
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        if offset == 0 {
            self.unlocked = value == UNLOCK;
        }
        match (offset, value) {
            (0x0, START) => self.expires_at = Some(now + self.timeout()),
            (0x0, RELOAD) if self.expires_at.is_some() => self.expires_at = Some(now + self.timeout()),
            (0x4, prescaler) if self.unlocked => self.prescaler = prescaler & 7,
            (0x8, reload) if self.unlocked => self.reload = reload & 0xfff,
            _ => {}
        }
    }

    fn advance(&mut self, now: Cycles) {
        self.expired |= self.expires_at.is_some_and(|then| then <= now);
    }

    fn next_event(&self) -> Cycles {
        let expires = self.expires_at.unwrap_or(NEVER);
        if self.expired { NEVER } else { expires }
    }

    /// Its clock goes on.
    fn reset(&mut self, _now: Cycles) {
        *self = Iwdg {
            reload: 0xfff,
            hclk: self.hclk,
            lsi: self.lsi,
            ..Iwdg::default()
        };
    }
}
