//! The HSE.

use super::*;

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
