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

#[cfg(test)]
mod tests {
    use super::super::peripheral::write_all;
    use super::*;

    #[test]
    fn runs_out_unless_it_is_reloaded() {
        let mut iwdg = Iwdg::new(32_000);
        iwdg.set_core_clock(32_000_000);
        iwdg.write(0x8, 9, 0);
        assert_eq!(iwdg.read(0x8, 0), 0xfff, "locked");
        write_all(&mut iwdg, &[(0x0, UNLOCK), (0x8, 9), (0x0, START), (0x8, 5)]);
        assert_eq!(iwdg.read(0x8, 0), 9, "any other key locks again");
        // Ten counts of four ticks of 31.25 us: 1.25 ms.
        assert_eq!(iwdg.next_event(), 40_000);
        iwdg.write(0x0, RELOAD, 30_000);
        iwdg.advance(69_999);
        assert!(!iwdg.has_expired());
        iwdg.rescale(50_000, 32_000_000, 16_000_000);
        assert_eq!(iwdg.next_event(), 60_000);
        iwdg.advance(60_000);
        assert!(iwdg.has_expired());
        iwdg.reset(0);
        assert_eq!((iwdg.has_expired(), iwdg.next_event()), (false, NEVER));
    }

    #[test]
    fn its_clock_is_anything_but_exact() {
        for (lsi, milliseconds) in [(17_000, 7_529), (32_000, 4_000), (47_000, 2_723)] {
            let mut iwdg = Iwdg::new(lsi);
            iwdg.set_core_clock(1_000_000);
            write_all(&mut iwdg, &[(0, UNLOCK), (4, 5), (8, 999), (0, START)]);
            assert_eq!(iwdg.next_event() / 1000, milliseconds);
        }
    }
}
