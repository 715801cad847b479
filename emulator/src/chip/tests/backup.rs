//! The backup domain: who may write there, and what the calendar runs with.

use super::*;

const RTC: u32 = 0x4000_2800;
const BDCR: u32 = RCC + 0x70;
/// LSEON, RTCSEL and RTCEN.
const CALENDAR_BY_LSE: u32 = 1 | 1 << 8 | 1 << 15;

#[test]
fn the_backup_domain_is_opened_first() {
    let mut script = Script::new(Model::F446);
    script.write(BDCR, CALENDAR_BY_LSE);
    script.write(RTC + 0x50, 7);
    assert_eq!((script.read(BDCR), script.read(RTC + 0x50)), (0, 0));
    assert_eq!(
        script.violations(),
        [
            "backup: BDCR is written while DBP of the PWR is 0",
            "backup: RTC is written while DBP of the PWR is 0"
        ]
    );
    let mut script = Script::new(Model::F446);
    script.write_all(&[(APB1ENR, 1 << 28), (PWR, DBP), (BDCR, CALENDAR_BY_LSE), (RTC + 0x50, 7)]);
    let found = (script.read(BDCR), script.read(RTC + 0x50));
    assert_eq!(found, (CALENDAR_BY_LSE | 1 << 1, 7));
    // Both stay; a reset of the domain clears them.
    script.chip.reset(ResetCause::PowerOn, script.now);
    assert_eq!(script.read(RTC + 0x50), 7);
    script.write_all(&[(APB1ENR, 1 << 28), (PWR, DBP), (BDCR, 1 << 16)]);
    assert_eq!(script.read(RTC + 0x50), 0);
    assert_eq!(script.violations(), [""; 0]);
}

/// Seconds that the calendar of a chip shows after so many, once it runs with a clock; the LSI is off by a part in 40.
fn seconds_shown(bdcr: u32, csr: u32, seconds: u64) -> u32 {
    let mut script = Script::new(Model::F446);
    script.write_all(&[(APB1ENR, 1 << 28), (PWR, DBP), (RCC + 0x74, csr), (BDCR, bdcr)]);
    // 32 kHz from the LSI as from the crystal.
    script.write_all(&[(RTC + 0x24, 0xca), (RTC + 0x24, 0x53), (RTC + 0x08, 1 << 5)]);
    script.run(16_000_000 * seconds / 2);
    // The second half at half the speed of the core.
    script.write(RCC + 0x08, 8 << 4);
    script.run(8_000_000 * seconds / 2);
    assert_eq!(script.violations(), [""; 0]);
    script.read(RTC)
}

#[test]
fn the_calendar_runs_with_the_clock_that_the_rcc_gives_it_whatever_the_core_does() {
    assert_eq!(seconds_shown(CALENDAR_BY_LSE, 0, 40), 0x40);
    // 32,000 Hz instead of 32,768.
    assert_eq!(seconds_shown(2 << 8 | 1 << 15, 1, 40), 0x39);
    assert_eq!(seconds_shown(2 << 8 | 1 << 15, 0, 40), 0, "the LSI is off");
    assert_eq!(seconds_shown(1 | 1 << 8, 0, 40), 0, "RTCEN is 0");
}

#[test]
fn reading_too_early_is_a_broken_rule() {
    let mut script = Script::new(Model::L476);
    script.read(RTC);
    assert_eq!(script.violations(), ["rtc: the calendar is read before RSF is set"]);
}
