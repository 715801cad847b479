//! What a board accepts in silence and never gets over: each must have a name.

use super::*;

const OTYPER: u32 = 0x04;
const PUPDR: u32 = 0x0c;

#[test]
fn an_open_drain_without_a_pull_up_never_drives_its_line_high() {
    // OTYPER and PUPDR of PA2, and whether it can send.
    for (open_drain, pull, sends) in [(0, 0, true), (1, 1, true), (1, 0, false), (1, 2, false)] {
        let mut script = Script::serial(1 << 13 | 1 << 3, 0);
        script.write(GPIOA + PUPDR, 0x6400_0000 | pull << 4);
        script.write(GPIOA + OTYPER, open_drain << 2);
        script.write(USART2 + 0x04, 0x55);
        script.run(400);
        let broken = "pins: USART2 sends while PA2 is open drain without a pull-up: it never drives its line high";
        let expected: &[&str] = if sends { &[] } else { &[broken] };
        assert_eq!(
            (script.violations(), sent(&script, 1)),
            (expected.iter().map(ToString::to_string).collect(), sends.into())
        );
    }
}

#[test]
fn a_board_whose_debug_pins_are_something_else_has_lost_its_probe() {
    // MODER and AFRH of port A, and the pins that are lost.
    for (modes, functions, lost) in [
        (DEBUG_PINS | 1, 0, &[][..]),
        (DEBUG_PINS & !(3 << 26) | 1 << 26, 0, &[13]),
        (DEBUG_PINS | 3 << 28, 0, &[14]),
        (DEBUG_PINS, 7 << 24, &[14]),
        (0, 0, &[13, 14]),
    ] {
        let mut script = Script::new(Model::F446);
        script.write(AHB1ENR, 1);
        script.write_all(&[(GPIOA + 0x24, functions), (GPIOA, modes)]);
        let told = script.violations();
        assert_eq!(told.len(), lost.len(), "{modes:x} {functions:x}: {told:?}");
        for (rule, pin) in told.iter().zip(lost) {
            assert!(
                rule.starts_with(&format!("debug-pins: PA{pin} is no longer SW")),
                "{rule}"
            );
        }
    }
}

#[test]
fn pins_are_after_a_reset_as_the_chip_has_them() {
    // The enable register of the ports, the first port, MODER of A, B and C, and the level of a pin of C that is driven high.
    for (model, enable, first, modes, level) in [
        (Model::F446, AHB1ENR, GPIOA, [DEBUG_PINS, 0x280, 0], 1),
        (
            Model::L476,
            0x4002_104c,
            0x4800_0000,
            [0xabff_ffff, 0xffff_febf, u32::MAX],
            0,
        ),
        (
            Model::H743,
            0x5802_44e0,
            0x5802_0000,
            [0xabff_ffff, 0xffff_febf, u32::MAX],
            0,
        ),
    ] {
        let mut script = Script::new(model);
        script.chip.drive_pin(2, 0, Some(true));
        script.write(enable, 7);
        for _ in 0..2 {
            let found = [0, 1, 2].map(|port| script.read(first + 0x400 * port));
            assert_eq!(found, modes, "{model:?}");
            assert_eq!(script.read(first + PUPDR), 0x6400_0000, "{model:?}");
            assert_eq!(
                script.read(first + 0x810) & 1,
                level,
                "{model:?}: an analog pin reads as low"
            );
            script.write_all(&[(first, 0), (first + 0x800, 0)]);
            assert_eq!(script.read(first + 0x810) & 1, 1, "{model:?}: an input");
            script.chip.reset(ResetCause::Software, 0);
            script.write(enable, 7);
        }
    }
}

/// For each family: a script that unlocks, the register with the option bytes, its bits of the read protection, and what starts the programming.
#[test]
fn option_bytes_are_never_programmed_unheard_and_read_protection_for_ever_is_refused() {
    const KEYS: [u32; 2] = [0x0819_2a3b, 0x4c5d_6e7f];
    const FLASH_KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];
    for (model, keys, option_keys, options, shift, start) in [
        (Model::F446, 0x4002_3c04, 0x4002_3c08, 0x4002_3c14, 8, (0x4002_3c14, 2)),
        (
            Model::L476,
            0x4002_2008,
            0x4002_200c,
            0x4002_2020,
            0,
            (0x4002_2014, 1 << 17),
        ),
        (
            Model::G474,
            0x4002_2008,
            0x4002_200c,
            0x4002_2020,
            0,
            (0x4002_2014, 1 << 17),
        ),
        (Model::H743, 0x5200_2004, 0x5200_2008, 0x5200_2020, 8, (0x5200_2018, 2)),
    ] {
        let program = |script: &mut Script, level: u32| {
            let lock = u32::from(model == Model::F446);
            let value = script.read(options) & !(0xff << shift | lock) | level << shift;
            script.write(options, value);
            let (register, bit) = start;
            let before = if register == options { value } else { 0 };
            script.write(register, before | bit);
            script.read(options) >> shift & 0xff
        };
        let mut locked = Script::new(model);
        program(&mut locked, 0xbb);
        assert!(
            locked.violations().iter().any(|rule| rule.contains("locked")),
            "{model:?}"
        );
        let mut script = Script::new(model);
        FLASH_KEYS.into_iter().for_each(|key| script.write(keys, key));
        KEYS.into_iter().for_each(|key| script.write(option_keys, key));
        assert_eq!(script.violations(), [""; 0], "{model:?}: unlocking changes nothing");
        assert_eq!(program(&mut script, 0xcc), 0xaa, "{model:?}");
        let refused = "option-bytes: read protection of level 2, which nothing undoes, is refused";
        assert_eq!(script.violations(), [refused], "{model:?}");
        assert_eq!(program(&mut script, 0xbb), 0xbb, "{model:?}");
        let told = script.violations();
        assert!(
            told.len() == 2 && told[1].starts_with("option-bytes: they are programmed: "),
            "{model:?}: {told:?}"
        );
        script.chip.reset(ResetCause::Software, 0);
        assert_eq!(script.read(options) >> shift & 0xff, 0xbb, "{model:?}: they stay");
    }
}

#[test]
fn modes_of_a_serial_port_without_a_model_are_told_by_their_bits() {
    let mut script = Script::serial(1 << 13 | 1 << 3, 1 << 7);
    assert_eq!(script.remarks(), [""; 0]);
    // LIN, and half duplex.
    script.write_all(&[(USART2 + 0x10, 1 << 14), (USART2 + 0x14, 1 << 7 | 1 << 3)]);
    let expected = [
        "bits 0x4000 of USART2 CR2 are not modeled",
        "bits 0x8 of USART2 CR3 are not modeled",
    ];
    assert_eq!(script.remarks(), expected);
}
