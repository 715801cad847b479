//! The backup domain: BDCR with the LSE and the clock of the calendar (RM0390 section 6.3.20; the others have the same bits), and the bit DBP that lets
//! software write there.

const LSE_ON: u32 = 1;
const LSE_READY: u32 = 1 << 1;
const LSE_BYPASS: u32 = 1 << 2;
const RTC_SOURCE: u32 = 3 << 8;
const RTC_ON: u32 = 1 << 15;
const BACKUP_RESET: u32 = 1 << 16;

const LSE: u64 = 32_768;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RtcClock {
    Off,
    /// The oscillator that the watchdog has, too.
    Lsi,
    Hertz(u64),
}

impl RtcClock {
    /// In Hz; 0 if it is off.
    pub(super) fn hertz(self, lsi: u32) -> u64 {
        match self {
            RtcClock::Off => 0,
            RtcClock::Lsi => lsi.into(),
            RtcClock::Hertz(hertz) => hertz,
        }
    }
}

/// The state of the domain, as the RCC has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BackupDomain {
    pub(super) clock: RtcClock,
    pub(super) is_reset: bool,
}

/// BDCR. A reset of the chip leaves it alone; so does a power cut, as if the battery pin were supplied.
#[derive(Clone, Copy, Hash)]
pub(super) struct BackupControl {
    register: u32,
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
        let kept = value & !RTC_SOURCE | chosen;
        let value = if chosen == 0 { value } else { kept };
        let is_ready = self.has_crystal && value & (LSE_ON | LSE_BYPASS) == LSE_ON;
        self.register = value & !LSE_READY | if is_ready { LSE_READY } else { 0 };
    }

    /// With an LSI that runs or not, and what the HSE is divided to for the calendar.
    pub(super) fn domain(self, lsi: bool, hse: u64) -> BackupDomain {
        let clock = match (self.register & RTC_SOURCE) >> 8 {
            _ if self.register & RTC_ON == 0 => RtcClock::Off,
            1 if self.is_lse_ready() => RtcClock::Hertz(LSE),
            2 if lsi => RtcClock::Lsi,
            3 if hse > 0 => RtcClock::Hertz(hse),
            _ => RtcClock::Off,
        };
        BackupDomain {
            clock,
            is_reset: self.register & BACKUP_RESET != 0,
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
        assert_eq!(control.domain(true, 0).clock, RtcClock::Off, "RTCEN is 0");
        control.write(LSE_ON | 1 << 8 | RTC_ON);
        assert_eq!(control.domain(false, 0).clock, RtcClock::Hertz(LSE));
        control.write(LSE_ON | 2 << 8 | RTC_ON);
        assert_eq!(control.domain(true, 0).clock, RtcClock::Hertz(LSE), "it stays");
        control.write(BACKUP_RESET);
        assert!(control.domain(true, 0).is_reset);
        control.write(2 << 8 | RTC_ON);
        assert_eq!(control.domain(true, 0).clock, RtcClock::Lsi);
        assert_eq!(control.domain(false, 0).clock, RtcClock::Off);
    }

    #[test]
    fn without_a_crystal_the_lse_is_never_ready() {
        let mut control = BackupControl::new(false);
        control.write(LSE_ON | 1 << 8 | RTC_ON);
        assert!(!control.is_lse_ready());
        assert_eq!(control.domain(true, 0).clock, RtcClock::Off);
        control.write(BACKUP_RESET);
        control.write(3 << 8 | RTC_ON);
        assert_eq!(control.domain(false, 1_000_000).clock, RtcClock::Hertz(1_000_000));
    }
}
