//! Images that break a rule of the chip: the exit status is 1 and the rule is named. They are assembled here, so that they are the
//! same with any compiler, or none.

use hopwise_testing::{elf, rows};

use crate::support::{Folder, json, like, words};

const FLASH: u32 = 0x0800_0000;
const STACK: u32 = 0x2000_2000;
const REGISTERS: [(&str, u32); 11] = [
    ("AHB1ENR", 0x4002_3830),
    ("APB1ENR", 0x4002_3840),
    ("DMA1_S0CR", 0x4002_6010),
    ("DMA1_S0M0AR", 0x4002_601c),
    ("FLASH_KEYR", 0x4002_3c04),
    ("GPIOA_MODER", 0x4002_0000),
    ("OPTCR", 0x4002_3c14),
    ("OPTKEYR", 0x4002_3c08),
    ("SCR", 0xe000_ed10),
    ("USART2_BRR", 0x4000_4408),
    ("VTOR", 0xe000_ed08),
];

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
    elf(FLASH, &bytes)
}

/// A write such as `AHB1ENR=1`, of a register by its name or by its address in hexadecimal.
fn write(text: &str) -> (u32, u32) {
    let (place, value) = text.split_once('=').expect("a register and its value");
    let number = |text| u32::from_str_radix(text, 16).expect("a number");
    let register = REGISTERS.iter().find(|(name, _)| *name == place);
    (
        register.map_or_else(|| number(place), |(_, address)| *address),
        number(value),
    )
}

/// What each program writes, and the rule that it breaks; or the register that is not modeled, which is an error unless one is lenient. Its
/// place is that of the fourth instruction at most: each write takes four halfwords.
#[test]
fn an_image_that_breaks_a_rule_is_told_by_its_name() {
    let folder = Folder::new("rules");
    let path = folder.path("image.elf");
    for (program, told) in rows(include_str!("rules.txt")) {
        let (_, writes) = program.split_once(": ").expect("a name");
        let writes: Vec<(u32, u32)> = writes.split(' ').map(write).collect();
        std::fs::write(&path, image(&writes)).unwrap();
        let line = words("emulate path(2) --elf {} --for 1ms --json", &[&path]);
        let (status, figures) = json(&line);
        if let Some(register) = told.strip_prefix("not modeled: ") {
            let found = (status, &figures["unmodelled"]);
            assert_eq!(found, (1, &serde_json::json!([register])), "{program}");
            let (status, lenient) = json(&[&line[..], &["--lenient"]].concat());
            assert_eq!((status, &lenient["unmodelled"]), (0, found.1), "{program}");
            continue;
        }
        assert_eq!(figures["faults"], 0, "{program}: {figures}");
        let violations = figures["violations"].as_array().expect("a list");
        match (told.as_str(), &violations[..]) {
            ("nothing", []) => assert_eq!(status, 0, "{program}"),
            (rule, [found]) if status == 1 => like(found.as_str().expect("text"), rule),
            _ => panic!("{program}: {status}, {violations:?}"),
        }
    }
}
