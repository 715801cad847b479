//! The RTC: its calendar, and the backup registers that it has on F4, L4 and H7. RM0390 chapter 22, RM0351 chapter 38, RM0433 chapter 46; on the G4 (RM0440
//! chapter 35) some registers are elsewhere, and the backup registers belong to the TAMP. Alarms, time stamps, calibration and twelve hours are not
//! modeled.

use super::peripheral::Peripheral;
use super::rules::{Rule, Violation};
use crate::cpu::{Cycles, NEVER};

const BYPASS_SHADOW: u32 = 1 << 5;
const TWELVE_HOURS: u32 = 1 << 6;
/// The wakeup timer, its interrupt, and what counts it: the clock of the RTC divided, or seconds.
const WUTE: u32 = 1 << 10;
const WUTIE: u32 = 1 << 14;
const WUCKSEL: u32 = 7;
/// WUTF in ISR, or in SR and SCR.
const WUTF: u32 = 1 << 10;
const WUTF_V3: u32 = 1 << 2;
/// Its registers may be written.
const WUTWF: u32 = 1 << 2;

const INITS: u32 = 1 << 4;
const RSF: u32 = 1 << 5;
const INITF: u32 = 1 << 6;
const INIT: u32 = 1 << 7;

const KEYS: [u32; 2] = [0xca, 0x53];
/// Cycles of its clock until it is in initialization mode, and until what it shows is up to date.
const SYNCHRONIZATION: u64 = 2;
const BACKUP_REGISTERS: usize = 20;
const FIRST_BACKUP: u32 = 0x50;

/// Where its registers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// F4, L4 and H7.
    #[default]
    V2,
    /// G4.
    V3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    Time,
    Date,
    Subseconds,
    Control,
    Status,
    Prescaler,
    Protection,
    Wakeup,
    Flags,
    ClearedFlags,
    Calibration,
    Shift,
    Backup(usize),
}

impl Layout {
    fn register(self, offset: u32) -> Option<Register> {
        Some(match (offset, self) {
            (0x00, _) => Register::Time,
            (0x04, _) => Register::Date,
            (0x08, Layout::V2) | (0x18, Layout::V3) => Register::Control,
            (0x28, Layout::V2) | (0x08, Layout::V3) => Register::Subseconds,
            (0x0c, _) => Register::Status,
            (0x10, _) => Register::Prescaler,
            (0x14, _) => Register::Wakeup,
            (0x50, Layout::V3) => Register::Flags,
            (0x5c, Layout::V3) => Register::ClearedFlags,
            (0x24, _) => Register::Protection,
            (0x3c, Layout::V2) | (0x28, Layout::V3) => Register::Calibration,
            (0x2c, _) => Register::Shift,
            (FIRST_BACKUP.., Layout::V2) => {
                let register = (offset - FIRST_BACKUP) as usize / 4;
                return (register < BACKUP_REGISTERS).then_some(Register::Backup(register));
            }
            _ => return None,
        })
    }
}

/// Two decimal digits, from a place on.
fn digits(bits: u32, place: u32, mask: u32) -> u32 {
    let bits = bits >> place & mask;
    (bits >> 4) * 10 + (bits & 0xf)
}

fn coded(number: u32, place: u32) -> u32 {
    (((number / 10) << 4) | (number % 10)) << place
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Date {
    second: u32,
    minute: u32,
    hour: u32,
    weekday: u32,
    day: u32,
    month: u32,
    year: u32,
}

impl Default for Date {
    /// What a reset of the backup domain leaves.
    fn default() -> Self {
        Date {
            second: 0,
            minute: 0,
            hour: 0,
            weekday: 1,
            day: 1,
            month: 1,
            year: 0,
        }
    }
}

impl Date {
    fn time_register(&self) -> u32 {
        coded(self.second, 0) | coded(self.minute, 8) | coded(self.hour, 16)
    }

    fn date_register(&self) -> u32 {
        coded(self.day, 0) | coded(self.month, 8) | self.weekday << 13 | coded(self.year, 16)
    }

    fn set_time(&mut self, bits: u32) {
        self.second = digits(bits, 0, 0x7f);
        self.minute = digits(bits, 8, 0x7f);
        self.hour = digits(bits, 16, 0x3f);
    }

    fn set_date(&mut self, bits: u32) {
        self.day = digits(bits, 0, 0x3f);
        self.month = digits(bits, 8, 0x1f);
        self.weekday = bits >> 13 & 7;
        self.year = digits(bits, 16, 0xff);
    }

    fn days_of_month(&self) -> u32 {
        match self.month {
            2 if self.year.is_multiple_of(4) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    fn tick(&mut self) {
        let next = |value: &mut u32, first: u32, last: u32| {
            *value = if *value >= last { first } else { *value + 1 };
            *value == first
        };
        if !(next(&mut self.second, 0, 59) && next(&mut self.minute, 0, 59) && next(&mut self.hour, 0, 23)) {
            return;
        }
        next(&mut self.weekday, 1, 7);
        let days = self.days_of_month();
        if next(&mut self.day, 1, days) && next(&mut self.month, 1, 12) {
            next(&mut self.year, 0, 99);
        }
    }
}

#[derive(Default, Hash)]
pub(super) struct Rtc {
    layout: Layout,
    date: Date,
    control: u32,
    prescaler: u32,
    /// INIT, INITF and RSF.
    status: u32,
    keys: usize,
    backup: [u32; BACKUP_REGISTERS],
    /// WUTR, and cycles of its clock until the wakeup timer has counted that down.
    wakeup: u32,
    until_wakeup: u64,
    calibration: u32,
    /// What TR and DR go on to show until DR has been read.
    locked_time: Option<u32>,
    locked_date: Option<u32>,
    /// Cycles of its clock since the last second.
    fraction: u64,
    /// Cycles of its clock until INITF or RSF is set.
    until_ready: u64,
    /// How far it has come, in cycles of the core, and what is left of one of its own.
    at: Cycles,
    rest: u64,
    core: u64,
    clock: u64,
    broken: Vec<Violation>,
}

impl Rtc {
    pub(super) fn new(layout: Layout) -> Self {
        Rtc {
            layout,
            prescaler: 0x7f_00ff,
            wakeup: 0xffff,
            until_ready: SYNCHRONIZATION,
            core: 1,
            ..Rtc::default()
        }
    }

    /// Clocks of the core and of its own, 0 if that is off, in Hz.
    pub(super) fn set_clocks(&mut self, core: u64, clock: u64, now: Cycles) {
        self.advance(now);
        (self.core, self.clock) = (core.max(1), clock);
    }

    pub(super) fn reset_domain(&mut self) {
        *self = Rtc {
            at: self.at,
            core: self.core,
            clock: self.clock,
            ..Rtc::new(self.layout)
        };
    }

    fn asynchronous(&self) -> u64 {
        u64::from(self.prescaler >> 16 & 0x7f) + 1
    }

    fn synchronous(&self) -> u64 {
        u64::from(self.prescaler & 0x7fff) + 1
    }

    fn pass(&mut self, cycles: u64) {
        if cycles > 0 && cycles >= self.until_ready {
            self.status |= if self.status & INIT != 0 { INITF } else { RSF };
        }
        self.until_ready = self.until_ready.saturating_sub(cycles);
        if self.control & WUTE != 0 {
            if cycles >= self.until_wakeup {
                self.status |= WUTF;
                let period = self.wakeup_period();
                self.until_wakeup += (cycles - self.until_wakeup) / period * period + period;
            }
            self.until_wakeup -= cycles;
        }
        // It stands still while it is being set.
        if self.status & INITF != 0 {
            return;
        }
        self.fraction += cycles;
        let second = self.asynchronous() * self.synchronous();
        while self.fraction >= second {
            self.fraction -= second;
            self.date.tick();
        }
    }

    fn wakeup_period(&self) -> u64 {
        let (select, counts) = (self.control & WUCKSEL, u64::from(self.wakeup) + 1);
        match select {
            0..4 => counts * (16 >> select),
            4 | 5 => counts * self.asynchronous() * self.synchronous(),
            _ => (counts + 0x1_0000) * self.asynchronous() * self.synchronous(),
        }
    }

    /// Whether it requests the interrupt of its wakeup timer, which goes by way of the EXTI.
    pub(super) fn wakes(&self) -> bool {
        self.status & WUTF != 0 && self.control & WUTIE != 0
    }

    fn subseconds(&self) -> u32 {
        (self.synchronous() - 1).saturating_sub(self.fraction / self.asynchronous()) as u32
    }

    fn breaks(&mut self, how: &str) {
        self.broken.push(Violation::new(Rule::Rtc, how));
    }

    /// Before the calendar is read through its shadow registers. Says whether they are used.
    fn look(&mut self) -> bool {
        let shadows = self.control & BYPASS_SHADOW == 0;
        if shadows && self.status & RSF == 0 {
            self.breaks("the calendar is read before RSF is set");
        }
        shadows
    }

    fn set_status(&mut self, value: u32) {
        if self.layout == Layout::V2 {
            self.status &= value | !WUTF;
        }
        match (self.status & INIT != 0, value & INIT != 0) {
            (false, true) => {
                self.status = self.status & !RSF | INIT;
                self.until_ready = SYNCHRONIZATION;
            }
            (true, false) => {
                self.status &= WUTF;
                self.until_ready = SYNCHRONIZATION;
            }
            _ if value & RSF == 0 && self.status & INIT == 0 => {
                self.status &= !RSF;
                self.until_ready = SYNCHRONIZATION;
            }
            _ => {}
        }
    }

    /// What can only be set in initialization mode.
    fn set_up(&mut self, register: Register, value: u32) {
        if self.status & INITF == 0 {
            self.breaks(match register {
                Register::Time => "TR is written outside of the initialization mode",
                Register::Date => "DR is written outside of the initialization mode",
                _ => "PRER is written outside of the initialization mode",
            });
            return;
        }
        match register {
            Register::Time => self.date.set_time(value),
            Register::Date => self.date.set_date(value),
            _ => self.prescaler = value & 0x7f_7fff,
        }
        self.fraction = 0;
    }

    fn set_control(&mut self, value: u32) {
        let is_counting = self.control & value & WUTE != 0;
        if is_counting && (self.control ^ value) & WUCKSEL != 0 {
            self.breaks("WUCKSEL is changed while the wakeup timer is on");
        }
        if (value ^ self.control) & TWELVE_HOURS != 0 && self.status & INITF == 0 {
            self.breaks("FMT is changed outside of the initialization mode");
            self.control = value ^ TWELVE_HOURS;
        } else {
            self.control = value;
        }
        if !is_counting {
            self.until_wakeup = self.wakeup_period();
        }
    }
}

impl Peripheral for Rtc {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        let (time, date) = (self.date.time_register(), self.date.date_register());
        match self.layout.register(offset) {
            // Reading SSR or TR locks what changes less often, until DR is read.
            Some(Register::Subseconds) => {
                if self.look() {
                    self.locked_time.get_or_insert(time);
                    self.locked_date.get_or_insert(date);
                }
                self.subseconds()
            }
            Some(Register::Time) => {
                if self.look() {
                    self.locked_date.get_or_insert(date);
                }
                self.locked_time.unwrap_or(time)
            }
            Some(Register::Date) => {
                self.look();
                self.locked_time = None;
                self.locked_date.take().unwrap_or(date)
            }
            _ => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        let Some(register) = self.layout.register(offset) else {
            return;
        };
        match register {
            Register::Backup(register) => self.backup[register] = value,
            // The right key is one more; a wrong one locks.
            Register::Protection if KEYS.get(self.keys) == Some(&(value & 0xff)) => self.keys += 1,
            Register::Protection => self.keys = usize::from(value & 0xff == KEYS[0]),
            // Flags of the G4 are not protected.
            Register::ClearedFlags if value & WUTF_V3 != 0 => self.status &= !WUTF,
            Register::ClearedFlags => {}
            _ if self.keys < KEYS.len() => self.breaks("a register is written while WPR protects it"),
            Register::Time | Register::Date | Register::Prescaler => self.set_up(register, value),
            Register::Status => self.set_status(value),
            Register::Control => self.set_control(value),
            Register::Wakeup if self.control & WUTE != 0 => self.breaks("WUTR is written while the wakeup timer is on"),
            Register::Wakeup => self.wakeup = value & 0xffff,
            Register::Calibration => self.calibration = value,
            Register::Subseconds | Register::Flags | Register::Shift => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match self.layout.register(offset) {
            Some(Register::Time) => self.date.time_register(),
            Some(Register::Date) => self.date.date_register(),
            Some(Register::Control) => self.control,
            Some(Register::Prescaler) => self.prescaler,
            // ALRAWF, ALRBWF and WUTWF: what is off may be written.
            Some(Register::Status) => {
                let flags = if self.layout == Layout::V3 { !WUTF } else { !0 };
                let writable = if self.control & WUTE == 0 { WUTWF } else { 0 };
                self.status & flags | 3 | writable | if self.date.year == 0 { 0 } else { INITS }
            }
            Some(Register::Wakeup) => self.wakeup,
            Some(Register::Flags) => u32::from(self.status & WUTF != 0) * WUTF_V3,
            Some(Register::Calibration) => self.calibration,
            Some(Register::Backup(register)) => self.backup[register],
            Some(Register::Subseconds | Register::Protection | Register::Shift | Register::ClearedFlags) | None => 0,
        }
    }

    fn advance(&mut self, now: Cycles) {
        let elapsed = u128::from(now.saturating_sub(self.at));
        self.at = self.at.max(now);
        let passed = elapsed * u128::from(self.clock) + u128::from(self.rest);
        self.rest = (passed % u128::from(self.core)) as u64;
        self.pass((passed / u128::from(self.core)) as u64);
    }

    fn next_event(&self) -> Cycles {
        if self.control & (WUTE | WUTIE) != WUTE | WUTIE || self.status & WUTF != 0 || self.clock == 0 {
            return NEVER;
        }
        let cycles = u128::from(self.until_wakeup) * u128::from(self.core) - u128::from(self.rest);
        self.at + cycles.div_ceil(u128::from(self.clock)) as u64
    }

    /// The calendar goes on and its protection stays as it is; what it shows is not up to date.
    fn reset(&mut self, now: Cycles) {
        self.advance(now);
        (self.locked_time, self.locked_date) = (None, None);
        self.status &= !RSF;
        if self.status & INIT == 0 {
            self.until_ready = SYNCHRONIZATION;
        }
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.broken)
    }
}
