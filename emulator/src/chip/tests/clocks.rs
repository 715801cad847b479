//! Limits of clocks, the HSE, and wait states.

use super::*;

const PWR: u32 = 0x4000_7000;

fn over_drive(script: &mut Script) {
    script.write_all(&[(APB1ENR, 1 << 28), (PWR, 3 << 14 | 1 << 16), (PWR, 3 << 14 | 3 << 16)]);
}

/// The PLL from the 8 MHz that are fed, in MHz, with the two buses divided by the bits of PPRE1 and PPRE2.
fn full_speed(script: &mut Script, megahertz: u32, ppre1: u32, ppre2: u32) {
    script.write(RCC, 0x83 | 1 << 16 | 1 << 18);
    script.write(RCC + 0x04, 4 | megahertz << 6 | 1 << 22);
    script.write(RCC, 0x83 | 1 << 16 | 1 << 18 | 1 << 24);
    script.write(RCC + 0x08, 2 | ppre1 << 10 | ppre2 << 13);
}

#[test]
fn core_buses_and_pll_have_their_limits() {
    let too_fast = |prepare: fn(&mut Script)| {
        let mut script = Script::new(Model::F446);
        script.write(FLASH_REGISTERS, 5);
        prepare(&mut script);
        script.violations()
    };
    let found = too_fast(|script| {
        over_drive(script);
        full_speed(script, 180, 5, 4);
    });
    assert!(found.is_empty());
    assert_eq!(
        too_fast(|script| full_speed(script, 180, 5, 4)),
        [
            "clock-limits: HCLK at 180000000 Hz, at most 168000000 as it is powered",
            "clock-limits: APB1 at 45000000 Hz, at most 42000000 as it is powered",
            "clock-limits: APB2 at 90000000 Hz, at most 84000000 as it is powered",
        ]
    );
    let found = too_fast(|script| {
        over_drive(script);
        full_speed(script, 180, 4, 4);
    });
    assert_eq!(
        found,
        ["clock-limits: APB1 at 90000000 Hz, at most 45000000 as it is powered"]
    );
    assert_eq!(
        too_fast(|script| {
            // 8 MHz into the PLL, undivided but for 2, then an oscillator that is too slow, and not used.
            script.write(RCC, 0x83 | 1 << 16 | 1 << 18);
            script.write(RCC + 0x04, 2 | 20 << 6 | 1 << 22);
            script.write(RCC, 0x83 | 1 << 16 | 1 << 18 | 1 << 24);
            script.write(RCC + 0x04, 4 | 180 << 6 | 1 << 22);
        }),
        [
            "clock-limits: the PLL's input at 4000000 Hz, not in 950000..=2100000",
            "clock-limits: the PLL's oscillator at 80000000 Hz, not in 100000000..=432000000",
            "clock-limits: PLLCFGR is changed while the PLL is on",
        ]
    );
}

#[test]
fn the_hse_runs_only_in_the_mode_that_the_board_has() {
    const BYPASS: u32 = 1 << 18;
    for (hse, control, ready, violations) in [
        (Hse::Fed(8_000_000), BYPASS, true, vec![]),
        (Hse::Crystal(8_000_000), 0, true, vec![]),
        (Hse::Absent, BYPASS, false, vec![]),
        (
            Hse::Fed(8_000_000),
            0,
            false,
            vec!["external-clock: the HSE is on for a crystal (HSEBYP is 0), but the board feeds a clock"],
        ),
        (
            Hse::Crystal(8_000_000),
            BYPASS,
            false,
            vec!["external-clock: the HSE is on for a clock that is fed (HSEBYP is 1), but the board has a crystal"],
        ),
    ] {
        let mut script = Script::of(Model::F446, individual(hse));
        script.write(RCC, 0x83 | control);
        script.write(RCC, 0x83 | control | 1 << 16);
        assert_eq!(script.read(RCC) >> 17 & 1 != 0, ready, "{hse:?} {control:x}");
        assert_eq!(script.violations(), violations, "{hse:?} {control:x}");
    }
    let mut script = Script::new(Model::F446);
    script.write(RCC, 0x83 | 1 << 16 | BYPASS);
    script.write(RCC, 0x83 | 1 << 16);
    let found = &script.violations()[0];
    assert_eq!(found, "external-clock: HSEBYP is changed while the HSE is on");
}

#[test]
fn a_faster_clock_needs_wait_states_and_its_notice() {
    let mut script = Script::new(Model::F446);
    over_drive(&mut script);
    full_speed(&mut script, 180, 5, 4);
    assert_eq!(script.violations(), ["wait-states: 0 at 180000000 Hz, which needs 5"]);
    assert_eq!(script.chip.wants_stop(), Some(Stop::Clock));
    assert_eq!(script.chip.clocks().hclk, 180_000_000);
}
