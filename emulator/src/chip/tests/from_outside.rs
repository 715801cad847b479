//! Peripherals that are added from outside, and interrupts that several share.

use super::*;
use crate::cpu::NEVER;

/// Requests its interrupt so many cycles of its bus after that number was written.
#[derive(Default, Hash)]
struct Alarm {
    at: Option<Cycles>,
    rings: bool,
    cycles: u64,
}

impl Peripheral for Alarm {
    fn read(&mut self, _offset: u32, _now: Cycles) -> u32 {
        u32::from(std::mem::take(&mut self.rings))
    }

    fn write(&mut self, _offset: u32, value: u32, now: Cycles) {
        self.at = Some(now + u64::from(value) * self.cycles);
    }

    fn advance(&mut self, now: Cycles) {
        if self.at.is_some_and(|at| at <= now) {
            (self.at, self.rings) = (None, true);
        }
    }

    fn next_event(&self) -> Cycles {
        self.at.unwrap_or(NEVER)
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.rings) << 1
    }

    fn reset(&mut self, _now: Cycles) {
        (self.at, self.rings) = (None, false);
    }

    fn set_clock(&mut self, cycles: u64, _now: Cycles) {
        self.cycles = cycles;
    }
}

#[test]
fn a_peripheral_from_outside_has_clock_gate_events_interrupts_and_resets() {
    const ALARM: u32 = 0x4000_6400;
    let mut script = Script::new(Model::F446);
    let place = map::MapEntry {
        gate: Some(map::Gate {
            register: 0x40,
            bit: 21,
        }),
        interrupts: &[31, 96],
        ..map::MapEntry::unmodeled(ALARM, 0x400, "alarm")
    };
    let added = script.chip.add(place, Box::new(Alarm::default()));
    added.expect("not modeled until now");
    let found = script.chip.add(place, Box::new(Alarm::default()));
    assert_eq!(found, Err(CannotAdd::Taken { by: "alarm" }));
    script.write(ALARM, 100);
    assert_eq!(script.violations(), ["clocked: alarm is used while its clock is off"]);
    script.write(APB1ENR, 1 << 21);
    script.write(RCC + 0x08, 4 << 10); // the bus at half the core's clock
    script.write(ALARM, 100);
    script.run(199);
    assert!(!script.requested(96));
    script.run(1);
    assert!(script.requested(96) && !script.requested(31));
    assert_eq!(script.read(ALARM), 1);
    script.run(1);
    assert!(!script.requested(96));
    for reset in [
        (|script: &mut Script| script.write(APB1RSTR, 1 << 21)) as fn(&mut Script),
        |script| script.chip.reset(ResetCause::Pin, script.now),
    ] {
        script.write(APB1ENR, 1 << 21);
        script.write(ALARM, 1);
        reset(&mut script);
        script.run(10);
        assert!(!script.requested(96), "a reset stops it");
    }
}

#[test]
fn an_interrupt_that_two_share_is_requested_until_both_are_served() {
    let mut script = Script::new(Model::F446);
    for base in [0x6000_0000, 0x6000_1000] {
        let place = map::MapEntry {
            interrupts: &[31, 54],
            ..map::MapEntry::unmodeled(base, 4, "alarm")
        };
        script.chip.add(place, Box::new(Alarm::default())).expect("room");
        script.write(base, 10);
    }
    script.run(10);
    for (base, still) in [(0x6000_0000, true), (0x6000_1000, false)] {
        assert!(script.requested(54));
        assert_eq!(script.read(base), 1);
        script.run(1);
        assert_eq!(script.requested(54), still);
    }
}
