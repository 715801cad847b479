//! Images that break a rule of the chip: the exit status is 1 and the rule is named. They are assembled here, so that they are the
//! same with any compiler, or none.

use crate::support::{Folder, json};

const FLASH: u32 = 0x0800_0000;
const STACK: u32 = 0x2000_2000;
/// The clocks of AHB1 and APB1.
const AHB1ENR: u32 = 0x4002_3830;
const APB1ENR: u32 = 0x4002_3840;
const USART2_BRR: u32 = 0x4000_4408;
const FLASH_KEYR: u32 = 0x4002_3c04;
const DMA1_S0M0AR: u32 = 0x4002_601c;
const DMA1_S0CR: u32 = 0x4002_6010;

/// An image that writes words to addresses, one after the other, and then waits for interrupts for ever.
fn image(writes: &[(u32, u32)]) -> Vec<u8> {
    // For each write: ldr r0, address; ldr r1, value; str r1, [r0]; nop. In the end wfi, and a branch to it.
    let code_bytes = 8 * writes.len() as u32 + 4;
    let mut code = Vec::new();
    let mut literals = Vec::new();
    let mut load = |code: &mut Vec<u16>, register: u16, value: u32| {
        let here = 2 * code.len() as u32;
        let from = (here + 4) & !3;
        let offset = (code_bytes + 4 * literals.len() as u32 - from) / 4;
        code.push(0x4800 | register << 8 | u16::try_from(offset).unwrap());
        literals.push(value);
    };
    for (address, value) in writes {
        load(&mut code, 0, *address);
        load(&mut code, 1, *value);
        code.extend([0x6001, 0xbf00]);
    }
    code.extend([0xbf30, 0xe7fd]);
    let vectors = [STACK, FLASH + 8 + 1];
    let mut bytes: Vec<u8> = vectors.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.extend(code.into_iter().flat_map(u16::to_le_bytes));
    bytes.extend(literals.into_iter().flat_map(u32::to_le_bytes));
    elf(&bytes)
}

/// An ELF file for ARM with one piece, for the beginning of the flash.
fn elf(bytes: &[u8]) -> Vec<u8> {
    const HEADER: u32 = 52;
    const PROGRAM_HEADER: u32 = 32;
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let mut halves = |values: &[u16]| file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    let words = |value: u32| [value as u16, (value >> 16) as u16];
    // Executable, ARM, version 1.
    halves(&[2, 40, 1, 0]);
    for value in [FLASH + 9, HEADER, 0, 0x0500_0000] {
        halves(&words(value));
    }
    halves(&[HEADER as u16, PROGRAM_HEADER as u16, 1, 40, 0, 0]);
    let (offset, size) = (HEADER + PROGRAM_HEADER, bytes.len() as u32);
    // To be loaded, to be read and executed.
    for value in [1, offset, FLASH, FLASH, size, size, 5, 4] {
        halves(&words(value));
    }
    file.extend(bytes);
    file
}

/// A program that writes these values to these addresses, and the rule that it breaks.
type Case = (&'static str, &'static [(u32, u32)], Option<&'static str>);

/// Runs each program, and compares what was told.
fn check(folder: &Folder, cases: &[Case]) {
    let path = folder.path("image.elf");
    for &(name, writes, rule) in cases {
        std::fs::write(&path, image(writes)).unwrap();
        let (status, figures) = json(&["emulate", "path(2)", "--elf", &path, "--for", "1ms", "--json"]);
        let violations = figures["violations"].as_array().expect(name);
        let named = violations.iter().map(|violation| violation.as_str().unwrap());
        let named: Vec<&str> = named.collect();
        assert_eq!(figures["faults"], 0, "{name}: {figures}");
        match rule {
            None => assert_eq!((status, &named[..]), (0, &[][..]), "{name}"),
            Some(rule) => {
                assert_eq!((status, named.len()), (1, 1), "{name}: {named:?}");
                assert!(named[0].starts_with(rule), "{name}: {named:?}");
            }
        }
    }
}

#[test]
fn an_image_that_breaks_a_rule_is_told_by_its_name() {
    let folder = Folder::new("rules");
    const USART2_CLOCK: (u32, u32) = (APB1ENR, 1 << 17);
    const DMA1_CLOCK: (u32, u32) = (AHB1ENR, 1 << 21);
    const BRR: (u32, u32) = (USART2_BRR, 0x8b);
    const UNLOCK: [(u32, u32); 2] = [(FLASH_KEYR, 0x4567_0123), (FLASH_KEYR, 0xcdef_89ab)];
    let cases: [Case; 5] = [
        ("clock on", &[USART2_CLOCK, BRR], None),
        ("clock off", &[BRR], Some("clocked: ")),
        (
            "flash written without PG",
            &[UNLOCK[0], UNLOCK[1], (FLASH + 0x6_0000, 0)],
            Some("flash-order: "),
        ),
        (
            "DMA off",
            &[DMA1_CLOCK, (DMA1_S0M0AR, STACK), (DMA1_S0M0AR, STACK + 4)],
            None,
        ),
        (
            "DMA to a place that is moved while it runs",
            &[
                DMA1_CLOCK,
                (DMA1_S0M0AR, STACK),
                (DMA1_S0CR, 1),
                (DMA1_S0M0AR, STACK + 4),
            ],
            Some("dma: "),
        ),
    ];
    check(&folder, &cases);
}

/// What harms a board, or makes another board of it, and was accepted in silence once.
#[test]
fn an_image_that_harms_its_board_is_told_so() {
    const GPIOA_CLOCK: (u32, u32) = (AHB1ENR, 1);
    const SCR: u32 = 0xe000_ed10;
    const VTOR: u32 = 0xe000_ed08;
    const MODER: u32 = 0x4002_0000;
    const OPTKEYR: u32 = 0x4002_3c08;
    const OPTCR: u32 = 0x4002_3c14;
    const OPTION_KEYS: [(u32, u32); 2] = [(OPTKEYR, 0x0819_2a3b), (OPTKEYR, 0x4c5d_6e7f)];
    let folder = Folder::new("harm");
    let cases: [Case; 8] = [
        ("sleep", &[(SCR, 1 << 1)], None),
        ("deep sleep", &[(SCR, 1 << 2)], Some("sleep: ")),
        ("a table in its place", &[(VTOR, FLASH + 0x200)], None),
        (
            "a table between places",
            &[(VTOR, FLASH + 0x180)],
            Some("vector-table: "),
        ),
        ("an LED", &[GPIOA_CLOCK, (MODER, 0xa800_0400)], None),
        (
            "SWDIO as an output",
            &[GPIOA_CLOCK, (MODER, 0xa400_0000)],
            Some("debug-pins: "),
        ),
        ("locked option bytes", &[(OPTCR, 0x0fff_ccec)], Some("option-bytes: ")),
        (
            "a board that no probe reaches any more",
            &[
                OPTION_KEYS[0],
                OPTION_KEYS[1],
                (OPTCR, 0x0fff_ccec),
                (OPTCR, 0x0fff_ccee),
            ],
            Some("option-bytes: read protection of level 2"),
        ),
    ];
    check(&folder, &cases);
}

/// Registers that the emulator has, with bits that it does not have.
#[test]
fn what_is_not_modeled_is_an_error_unless_one_is_lenient() {
    let folder = Folder::new("unknown");
    let path = folder.path("image.elf");
    // The place is that of the fourth instruction at most: each write takes four halfwords.
    for (name, writes, told) in [
        (
            "MPU",
            &[(0xe000_ed94, 5)][..],
            "bits 0x5 of MPU are not modeled, at 0x0800000c",
        ),
        (
            "timers at twice their rate",
            &[(0x4002_388c, 1 << 24)],
            "RCC, register 0x8c, is not modeled, at 0x0800000c",
        ),
        (
            "a pin that is locked",
            &[(AHB1ENR, 1), (0x4002_001c, 1)],
            "GPIOA, register 0x1c, is not modeled, at 0x08000014",
        ),
        (
            "the voltage detector",
            &[(APB1ENR, 1 << 28), (0x4000_7000, 0xc010)],
            "bits 0x10 of PWR CR are not modeled, at 0x08000014",
        ),
        ("CAN", &[(0x4000_6400, 0)], "CAN1 is not modeled, at 0x0800000c"),
    ] {
        std::fs::write(&path, image(writes)).unwrap();
        let line = ["emulate", "path(2)", "--elf", &path, "--for", "1ms", "--json"];
        let (status, figures) = json(&line);
        assert_eq!(
            (status, &figures["unmodelled"]),
            (1, &serde_json::json!([told])),
            "{name}"
        );
        let (status, lenient) = json(&[&line[..], &["--lenient"]].concat());
        assert_eq!((status, &lenient["unmodelled"]), (0, &figures["unmodelled"]), "{name}");
    }
}
