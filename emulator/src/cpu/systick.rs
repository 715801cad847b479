//! The system timer: manual section B3.3.

use super::cycles::{Cycles, NEVER};

const ENABLE: u32 = 1;
const TICKINT: u32 = 2;
const CLKSOURCE: u32 = 4;
const COUNTFLAG: u32 = 1 << 16;

/// A counter that runs down from `load` to 0 and begins again.
#[derive(Default, Hash)]
pub(super) struct SysTick {
    control: u32,
    load: u32,
    loaded_at: Cycles,
    loaded: u32,
    count_flag: bool,
}

impl SysTick {
    /// Cycles a count takes: the external clock of STM32F4 is an eighth of the core's.
    fn step(&self) -> u64 {
        if self.control & CLKSOURCE != 0 { 1 } else { 8 }
    }

    fn is_running(&self) -> bool {
        self.control & ENABLE != 0 && (self.load != 0 || self.loaded != 0)
    }

    /// When it reaches 0 next. A counter of 0 takes one step to be loaded.
    fn expires_at(&self) -> Cycles {
        let counts = if self.loaded == 0 {
            u64::from(self.load) + 1
        } else {
            u64::from(self.loaded)
        };
        self.loaded_at + counts * self.step()
    }

    /// Counts up to `now`; true if an interrupt becomes pending.
    pub(super) fn advance(&mut self, now: Cycles) -> bool {
        if !self.is_running() || now < self.expires_at() {
            return false;
        }
        let expired = self.expires_at();
        self.count_flag = true;
        self.loaded = 0;
        self.loaded_at = expired;
        if self.load != 0 {
            let period = (u64::from(self.load) + 1) * self.step();
            self.loaded_at += (now - expired) / period * period;
        }
        self.control & TICKINT != 0
    }

    pub(super) fn next_event(&self) -> Cycles {
        if self.is_running() && self.control & TICKINT != 0 {
            self.expires_at()
        } else {
            NEVER
        }
    }

    fn count(&self, now: Cycles) -> u32 {
        if self.control & ENABLE == 0 {
            return self.loaded;
        }
        let steps = (now - self.loaded_at) / self.step();
        match (self.loaded, steps) {
            (0, 0) => 0,
            (0, steps) if self.load != 0 => self.load - (steps - 1) as u32,
            (0, _) => 0,
            (loaded, steps) => loaded.saturating_sub(steps as u32),
        }
    }

    pub(super) fn read(&mut self, register: u32, now: Cycles) -> u32 {
        match register {
            0x0 => {
                let flag = std::mem::take(&mut self.count_flag);
                self.control | if flag { COUNTFLAG } else { 0 }
            }
            0x4 => self.load,
            0x8 => self.count(now),
            // 10 ms of the external clock at 168 MHz, as ST calibrates it; NOREF is 0.
            _ => 0x4000_0000 | 18_750,
        }
    }

    pub(super) fn write(&mut self, register: u32, value: u32, now: Cycles) {
        match register {
            0x0 => {
                let count = self.count(now);
                self.control = value & (ENABLE | TICKINT | CLKSOURCE);
                (self.loaded, self.loaded_at) = (count, now);
            }
            0x4 => self.load = value & 0xff_ffff,
            0x8 => (self.loaded, self.loaded_at, self.count_flag) = (0, now, false),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_down_reloads_and_interrupts() {
        let mut timer = SysTick::default();
        timer.write(4, 99, 0);
        timer.write(8, 0, 0);
        timer.write(0, ENABLE | TICKINT | CLKSOURCE, 0);
        assert_eq!((timer.read(8, 0), timer.read(8, 1), timer.read(8, 100)), (0, 99, 0));
        assert_eq!(timer.next_event(), 100);
        assert!(!timer.advance(99));
        assert!(timer.advance(100));
        assert_eq!(timer.read(0, 100) & COUNTFLAG, COUNTFLAG);
        assert_eq!(timer.read(0, 100) & COUNTFLAG, 0, "reading clears it");
        assert_eq!(timer.next_event(), 200);
        assert!(timer.advance(555));
        assert_eq!(timer.next_event(), 600);
    }

    #[test]
    fn the_external_clock_is_eight_times_slower() {
        let mut timer = SysTick::default();
        timer.write(4, 9, 0);
        timer.write(0, ENABLE | TICKINT, 0);
        assert_eq!(timer.next_event(), 80);
    }
}
