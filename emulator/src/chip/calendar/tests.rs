//! Register scripts for the calendar.

use super::*;

const TR: u32 = 0x00;
const DR: u32 = 0x04;
const CR: u32 = 0x08;
const ISR: u32 = 0x0c;
const PRER: u32 = 0x10;
const WPR: u32 = 0x24;
const SSR: u32 = 0x28;

/// 1024 cycles of the core are one of the crystal's.
const TICK: u64 = 1024;
const SECOND: u64 = TICK * 32_768;

fn calendar() -> Calendar {
    let mut calendar = Calendar::new(Layout::Older);
    calendar.set_clocks(SECOND, 32_768, 0);
    calendar
}

fn unlock(calendar: &mut Calendar, now: Cycles) {
    calendar.write(WPR, 0xca, now);
    calendar.write(WPR, 0x53, now);
}

fn set(calendar: &mut Calendar, time: u32, date: u32, now: Cycles) -> Cycles {
    unlock(calendar, now);
    calendar.write(ISR, INIT, now);
    let now = now + SYNCHRONISATION * TICK;
    calendar.advance(now);
    calendar.write(TR, time, now);
    calendar.write(DR, date, now);
    calendar.write(ISR, 0, now);
    calendar.write(WPR, 0xff, now);
    now
}

#[test]
fn a_second_is_a_second_and_a_leap_day_a_day() {
    let mut calendar = calendar();
    // 28 February 2024, a Wednesday, 23:59:59.
    let start = set(&mut calendar, 0x23_5959, 0x24_6228, 0);
    calendar.advance(start + SECOND - 1);
    assert_eq!((calendar.read(TR, 0), calendar.read(DR, 0)), (0x23_5959, 0x24_6228));
    calendar.advance(start + SECOND);
    assert_eq!((calendar.read(TR, 0), calendar.read(DR, 0)), (0, 0x24_8229));
    calendar.advance(start + (1 + 86_400) * SECOND);
    assert_eq!((calendar.read(TR, 0), calendar.read(DR, 0)), (0, 0x24_a301));
    // The last second of 2099 is followed by the first of 2000.
    let start = set(&mut calendar, 0x23_5959, 0x99_9231 | 0x1000, start + 90_000 * SECOND);
    calendar.advance(start + SECOND);
    assert_eq!(calendar.read(DR, 0) >> 16, 0);
    assert_eq!(calendar.take_broken(), []);
}

#[test]
fn subseconds_count_down_by_the_prescalers() {
    let mut calendar = calendar();
    let start = set(&mut calendar, 0, 0x24_6228, 0);
    calendar.advance(start + SECOND / 4);
    assert_eq!(calendar.read(SSR, 0), 255 - 64);
    calendar.read(DR, 0);
    // Half as fast with twice the prescaler.
    unlock(&mut calendar, 0);
    calendar.write(ISR, INIT, 0);
    calendar.advance(start + SECOND);
    calendar.write(PRER, 0x7f_01ff, 0);
    calendar.write(ISR, 0, 0);
    calendar.advance(start + 2 * SECOND);
    assert_eq!((calendar.read(SSR, 0), calendar.read(TR, 0)), (511 - 256, 0));
}

#[test]
fn nothing_is_written_without_the_keys_or_outside_of_the_initialization_mode() {
    let mut calendar = calendar();
    calendar.write(CR, BYPASS_SHADOW, 0);
    calendar.write(ISR, INIT, 0);
    assert_eq!((calendar.read(CR, 0), calendar.read(ISR, 0) & INIT), (0, 0));
    assert_eq!(calendar.take_broken()[0].rule, Rule::Rtc);
    calendar.write(WPR, 0xca, 0);
    calendar.write(WPR, 0x52, 0);
    calendar.write(CR, BYPASS_SHADOW, 0);
    assert_eq!(calendar.read(CR, 0), 0, "a wrong key");
    unlock(&mut calendar, 0);
    calendar.take_broken();
    for (register, name) in [(TR, "TR"), (DR, "DR"), (PRER, "PRER")] {
        let before = calendar.rest(register);
        calendar.write(register, 0x12_3456, 0);
        assert_eq!(calendar.rest(register), before);
        assert!(calendar.take_broken()[0].how.starts_with(name));
    }
    calendar.write(ISR, INIT, 0);
    calendar.advance(TICK);
    assert_eq!(calendar.read(ISR, 0) & INITF, 0, "it takes two cycles");
    calendar.advance(2 * TICK);
    assert_eq!(calendar.read(ISR, 0) & INITF, INITF);
    calendar.write(TR, 0x12_3456, 0);
    assert_eq!((calendar.rest(TR), calendar.take_broken()), (0x12_3456, vec![]));
    // Backup registers are not protected by the keys.
    calendar.write(WPR, 0, 0);
    calendar.write(0x54, 7, 0);
    assert_eq!((calendar.read(0x54, 0), calendar.take_broken()), (7, vec![]));
}

#[test]
fn shadow_registers_are_waited_for_and_agree() {
    let mut calendar = calendar();
    let start = set(&mut calendar, 0x23_5959, 0x24_6228, 0);
    calendar.read(TR, 0);
    assert!(calendar.take_broken()[0].how.contains("RSF"));
    calendar.read(DR, 0);
    calendar.take_broken();
    calendar.advance(start + SYNCHRONISATION * TICK);
    assert_eq!(calendar.read(ISR, 0) & RSF, RSF);
    // Midnight comes between the two.
    assert_eq!(calendar.read(TR, 0), 0x23_5959);
    calendar.advance(start + SECOND);
    assert_eq!(calendar.read(DR, 0), 0x24_6228, "locked");
    assert_eq!(calendar.read(DR, 0), 0x24_8229);
    calendar.advance(start + 86_400 * SECOND);
    calendar.read(SSR, 0);
    calendar.advance(start + 86_401 * SECOND);
    assert_eq!(calendar.read(TR, 0), 0x23_5959, "locked by SSR");
    calendar.reset(start + 86_401 * SECOND);
    assert_eq!((calendar.read(ISR, 0) & RSF, calendar.rest(TR)), (0, 0), "it goes on");
    unlock(&mut calendar, 0);
    calendar.write(CR, BYPASS_SHADOW, 0);
    calendar.take_broken();
    assert_eq!((calendar.read(TR, 0), calendar.take_broken()), (0, vec![]));
}

#[test]
fn without_its_clock_it_stands_still_and_a_change_of_the_cores_is_not_noticed() {
    let mut calendar = calendar();
    let start = set(&mut calendar, 0, 0x24_6228, 0);
    calendar.set_clocks(2 * SECOND, 32_768, start + SECOND / 2);
    calendar.advance(start + SECOND / 2 + SECOND - 1);
    assert_eq!(calendar.rest(TR), 0);
    calendar.advance(start + SECOND / 2 + SECOND);
    assert_eq!(calendar.rest(TR), 1);
    calendar.set_clocks(2 * SECOND, 0, start + 2 * SECOND);
    let before = calendar.rest(TR);
    calendar.advance(start + 200 * SECOND);
    assert_eq!(calendar.rest(TR), before);
    calendar.reset_domain();
    assert_eq!((calendar.rest(DR), calendar.rest(TR)), (0x2101, 0));
}

#[test]
fn the_g4_has_its_control_elsewhere_and_no_backup_registers() {
    let mut calendar = Calendar::new(Layout::Newer);
    unlock(&mut calendar, 0);
    calendar.write(0x18, BYPASS_SHADOW, 0);
    assert_eq!((calendar.read(0x18, 0), calendar.read(0x08, 0)), (BYPASS_SHADOW, 255));
    calendar.write(0x50, 1, 0);
    assert_eq!(calendar.read(0x50, 0), 0);
    calendar.write(0x18, 1 << 10, 0);
    assert!(calendar.beyond_model().is_some());
}
