//! Register scripts for the calendar.

use super::*;
use crate::chip::peripheral::write_all;

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

fn rtc() -> Rtc {
    let mut rtc = Rtc::new(Layout::V2);
    rtc.set_clocks(SECOND, 32_768, 0);
    rtc
}

fn unlock(rtc: &mut Rtc, now: Cycles) {
    rtc.write(WPR, 0xca, now);
    rtc.write(WPR, 0x53, now);
}

fn set(rtc: &mut Rtc, time: u32, date: u32, now: Cycles) -> Cycles {
    unlock(rtc, now);
    rtc.write(ISR, INIT, now);
    let now = now + SYNCHRONIZATION * TICK;
    rtc.advance(now);
    for (register, value) in [(TR, time), (DR, date), (ISR, 0), (WPR, 0xff)] {
        rtc.write(register, value, now);
    }
    now
}

#[test]
fn a_second_is_a_second_and_a_leap_day_a_day() {
    let mut rtc = rtc();
    // 28 February 2024, a Wednesday, 23:59:59.
    let start = set(&mut rtc, 0x23_5959, 0x24_6228, 0);
    rtc.advance(start + SECOND - 1);
    assert_eq!((rtc.read(TR, 0), rtc.read(DR, 0)), (0x23_5959, 0x24_6228));
    rtc.advance(start + SECOND);
    assert_eq!((rtc.read(TR, 0), rtc.read(DR, 0)), (0, 0x24_8229));
    rtc.advance(start + (1 + 86_400) * SECOND);
    assert_eq!((rtc.read(TR, 0), rtc.read(DR, 0)), (0, 0x24_a301));
    // The last second of 2099 is followed by the first of 2000.
    let start = set(&mut rtc, 0x23_5959, 0x99_9231 | 0x1000, start + 90_000 * SECOND);
    rtc.advance(start + SECOND);
    assert_eq!(rtc.read(DR, 0) >> 16, 0);
    assert_eq!(rtc.take_broken(), []);
}

#[test]
fn subseconds_count_down_by_the_prescalers() {
    let mut rtc = rtc();
    let start = set(&mut rtc, 0, 0x24_6228, 0);
    rtc.advance(start + SECOND / 4);
    assert_eq!(rtc.read(SSR, 0), 255 - 64);
    rtc.read(DR, 0);
    // Half as fast with twice the prescaler.
    unlock(&mut rtc, 0);
    rtc.write(ISR, INIT, 0);
    rtc.advance(start + SECOND);
    rtc.write(PRER, 0x7f_01ff, 0);
    rtc.write(ISR, 0, 0);
    rtc.advance(start + 2 * SECOND);
    assert_eq!((rtc.read(SSR, 0), rtc.read(TR, 0)), (511 - 256, 0));
}

#[test]
fn nothing_is_written_without_the_keys_or_outside_of_the_initialization_mode() {
    let mut rtc = rtc();
    rtc.write(CR, BYPASS_SHADOW, 0);
    rtc.write(ISR, INIT, 0);
    assert_eq!((rtc.read(CR, 0), rtc.read(ISR, 0) & INIT), (0, 0));
    assert_eq!(rtc.take_broken()[0].rule, Rule::Rtc);
    write_all(&mut rtc, &[(WPR, 0xca), (WPR, 0x52), (CR, BYPASS_SHADOW)]);
    assert_eq!(rtc.read(CR, 0), 0, "a wrong key");
    unlock(&mut rtc, 0);
    rtc.take_broken();
    for (register, name) in [(TR, "TR"), (DR, "DR"), (PRER, "PRER")] {
        let before = rtc.rest(register);
        rtc.write(register, 0x12_3456, 0);
        assert_eq!(rtc.rest(register), before);
        assert!(rtc.take_broken()[0].how.starts_with(name));
    }
    rtc.write(ISR, INIT, 0);
    rtc.advance(TICK);
    assert_eq!(rtc.read(ISR, 0) & INITF, 0, "it takes two cycles");
    rtc.advance(2 * TICK);
    assert_eq!(rtc.read(ISR, 0) & INITF, INITF);
    rtc.write(TR, 0x12_3456, 0);
    assert_eq!((rtc.rest(TR), rtc.take_broken()), (0x12_3456, vec![]));
    // Backup registers are not protected by the keys.
    rtc.write(WPR, 0, 0);
    rtc.write(0x54, 7, 0);
    assert_eq!((rtc.read(0x54, 0), rtc.take_broken()), (7, vec![]));
}

#[test]
fn shadow_registers_are_waited_for_and_agree() {
    let mut rtc = rtc();
    let start = set(&mut rtc, 0x23_5959, 0x24_6228, 0);
    rtc.read(TR, 0);
    assert!(rtc.take_broken()[0].how.contains("RSF"));
    rtc.read(DR, 0);
    rtc.take_broken();
    rtc.advance(start + SYNCHRONIZATION * TICK);
    assert_eq!(rtc.read(ISR, 0) & RSF, RSF);
    // Midnight comes between the two.
    assert_eq!(rtc.read(TR, 0), 0x23_5959);
    rtc.advance(start + SECOND);
    assert_eq!(rtc.read(DR, 0), 0x24_6228, "locked");
    assert_eq!(rtc.read(DR, 0), 0x24_8229);
    rtc.advance(start + 86_400 * SECOND);
    rtc.read(SSR, 0);
    rtc.advance(start + 86_401 * SECOND);
    assert_eq!(rtc.read(TR, 0), 0x23_5959, "locked by SSR");
    rtc.reset(start + 86_401 * SECOND);
    assert_eq!((rtc.read(ISR, 0) & RSF, rtc.rest(TR)), (0, 0), "it goes on");
    unlock(&mut rtc, 0);
    rtc.write(CR, BYPASS_SHADOW, 0);
    rtc.take_broken();
    assert_eq!((rtc.read(TR, 0), rtc.take_broken()), (0, vec![]));
}

#[test]
fn without_its_clock_it_stands_still_and_a_change_of_the_cores_is_not_noticed() {
    let mut rtc = rtc();
    let start = set(&mut rtc, 0, 0x24_6228, 0);
    rtc.set_clocks(2 * SECOND, 32_768, start + SECOND / 2);
    rtc.advance(start + SECOND / 2 + SECOND - 1);
    assert_eq!(rtc.rest(TR), 0);
    rtc.advance(start + SECOND / 2 + SECOND);
    assert_eq!(rtc.rest(TR), 1);
    rtc.set_clocks(2 * SECOND, 0, start + 2 * SECOND);
    let before = rtc.rest(TR);
    rtc.advance(start + 200 * SECOND);
    assert_eq!(rtc.rest(TR), before);
    rtc.reset_domain();
    assert_eq!((rtc.rest(DR), rtc.rest(TR)), (0x2101, 0));
}

#[test]
fn the_g4_has_its_control_elsewhere_and_no_backup_registers() {
    let mut rtc = Rtc::new(Layout::V3);
    unlock(&mut rtc, 0);
    rtc.write(0x18, BYPASS_SHADOW, 0);
    assert_eq!((rtc.read(0x18, 0), rtc.read(0x08, 0)), (BYPASS_SHADOW, 255));
    rtc.write(0x50, 1, 0);
    assert_eq!(rtc.read(0x50, 0), 0);
    rtc.write(0x18, 1 << 8, 0);
    assert!(rtc.beyond_model().is_some());
}

#[test]
fn the_wakeup_timer_of_the_g4_has_a_register_for_its_flag_and_one_to_clear_it() {
    let mut rtc = Rtc::new(Layout::V3);
    rtc.set_clocks(SECOND, 32_768, 0);
    unlock(&mut rtc, 0);
    // Seconds, of which it counts two.
    rtc.write(0x14, 1, 0);
    rtc.write(0x18, 4 | WUTE | WUTIE, 0);
    assert_eq!((rtc.next_event(), rtc.read(0x0c, 0) & WUTWF), (2 * SECOND, 0));
    rtc.advance(2 * SECOND);
    assert_eq!(
        (rtc.read(0x50, 0), rtc.wakes(), rtc.read(0x0c, 0) & WUTF),
        (WUTF_V3, true, 0)
    );
    rtc.write(0x5c, WUTF_V3, 0);
    assert_eq!(
        (rtc.read(0x50, 0), rtc.wakes(), rtc.next_event()),
        (0, false, 4 * SECOND)
    );
}
