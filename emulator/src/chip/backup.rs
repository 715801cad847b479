//! The backup domain: BDCR with the LSE and the clock of the calendar (RM0390 section 6.3.20; the others have the same bits), and the bit DBP that lets
//! software write there.

use super::Chip;
use super::rules::Rule;
use super::slots::Unit;
use crate::cpu::Cycles;

const LSE_ON: u32 = 1;
const LSE_READY: u32 = 1 << 1;
const LSE_BYPASS: u32 = 1 << 2;
const RTC_SOURCE: u32 = 3 << 8;
const RTC_ON: u32 = 1 << 15;
const BACKUP_RESET: u32 = 1 << 16;

/// Frequency of the crystal.
const LSE: u64 = 32_768;

/// What the calendar runs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalendarClock {
    /// Nothing.
    Off,
    /// The oscillator that the watchdog has, too.
    Lsi,
    /// So many Hz.
    Hertz(u64),
}

/// The state of the domain, as the RCC has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupDomain {
    /// The clock of the calendar.
    pub clock: CalendarClock,
    /// Whether the domain is held in reset.
    pub is_reset: bool,
}

/// BDCR. A reset of the chip leaves it alone; so does a power cut, as if the battery pin were supplied.
#[derive(Clone, Copy, Hash)]
pub(super) struct BackupControl {
    register: u32,
    /// Whether there is a crystal of 32 kHz.
    has_crystal: bool,
}

impl BackupControl {
    pub(super) fn new(has_crystal: bool) -> Self {
        BackupControl {
            register: 0,
            has_crystal,
        }
    }

    pub(super) fn value(self) -> u32 {
        self.register
    }

    pub(super) fn is_lse_ready(self) -> bool {
        self.register & LSE_READY != 0
    }

    /// The clock of the calendar is chosen once: the hardware protects it until the domain is reset.
    pub(super) fn write(&mut self, value: u32) {
        if value & BACKUP_RESET != 0 {
            self.register = BACKUP_RESET;
            return;
        }
        let chosen = self.register & RTC_SOURCE;
        let value = if chosen == 0 {
            value
        } else {
            value & !RTC_SOURCE | chosen
        };
        let is_ready = self.has_crystal && value & (LSE_ON | LSE_BYPASS) == LSE_ON;
        self.register = value & !LSE_READY | if is_ready { LSE_READY } else { 0 };
    }

    /// With an LSI that runs or not, and what the HSE is divided to for the calendar.
    pub(super) fn domain(self, lsi: bool, hse: u64) -> BackupDomain {
        let clock = match (self.register & RTC_SOURCE) >> 8 {
            _ if self.register & RTC_ON == 0 => CalendarClock::Off,
            1 if self.is_lse_ready() => CalendarClock::Hertz(LSE),
            2 if lsi => CalendarClock::Lsi,
            3 if hse > 0 => CalendarClock::Hertz(hse),
            _ => CalendarClock::Off,
        };
        BackupDomain {
            clock,
            is_reset: self.register & BACKUP_RESET != 0,
        }
    }
}

impl Chip {
    /// Whether a write goes to the backup domain and is lost, because DBP is 0.
    pub(super) fn is_backup_locked(&mut self, at: usize, unit: Unit, offset: u32) -> bool {
        let is_there = match unit {
            Unit::Calendar => true,
            Unit::Clock => offset & !3 == self.clock.backup_register(),
            _ => false,
        };
        let is_locked = is_there && !self.power.opens_backup_domain();
        if is_locked {
            let name = self.slots.place(at).name;
            let what = if unit == Unit::Clock { "BDCR" } else { name };
            self.violate(Rule::Backup, format!("{what} is written while DBP of the PWR is 0"));
        }
        is_locked
    }

    /// The calendar gets the clock that the RCC has for it.
    pub(super) fn update_backup_domain(&mut self, now: Cycles) {
        let domain = self.clock.backup_domain();
        let hertz = match domain.clock {
            CalendarClock::Off => 0,
            CalendarClock::Lsi => u64::from(self.lsi),
            CalendarClock::Hertz(hertz) => hertz,
        };
        self.calendar.set_clocks(self.clocks.hclk, hertz, now);
        if domain.is_reset {
            self.calendar.reset_domain();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_the_calendar_is_chosen_once_and_needs_its_oscillator() {
        let mut control = BackupControl::new(true);
        control.write(LSE_ON | 1 << 8);
        assert_eq!(control.domain(true, 0).clock, CalendarClock::Off, "RTCEN is 0");
        control.write(LSE_ON | 1 << 8 | RTC_ON);
        assert_eq!(control.domain(false, 0).clock, CalendarClock::Hertz(LSE));
        control.write(LSE_ON | 2 << 8 | RTC_ON);
        assert_eq!(control.domain(true, 0).clock, CalendarClock::Hertz(LSE), "it stays");
        control.write(BACKUP_RESET);
        assert!(control.domain(true, 0).is_reset);
        control.write(2 << 8 | RTC_ON);
        assert_eq!(control.domain(true, 0).clock, CalendarClock::Lsi);
        assert_eq!(control.domain(false, 0).clock, CalendarClock::Off);
    }

    #[test]
    fn without_a_crystal_the_lse_is_never_ready() {
        let mut control = BackupControl::new(false);
        control.write(LSE_ON | 1 << 8 | RTC_ON);
        assert!(!control.is_lse_ready());
        assert_eq!(control.domain(true, 0).clock, CalendarClock::Off);
        control.write(BACKUP_RESET);
        control.write(3 << 8 | RTC_ON);
        assert_eq!(control.domain(false, 1_000_000).clock, CalendarClock::Hertz(1_000_000));
    }
}
