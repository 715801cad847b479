//! The controller of the F4's flash.

use super::*;

#[test]
fn flash_is_unlocked_programmed_and_erased() {
    let mut script = Script::new(Model::F446);
    let page = 0x0806_0000;
    script.write(page, 0x1234_5678);
    assert_eq!(script.read(FLASH_REGISTERS + 0x0c), 1 << 7, "locked: a sequence error");
    unlock(&mut script);
    script.write(FLASH_REGISTERS + 0x10, 1 | 2 << 8);
    script.write(page, 0x1234_5678);
    script.write(page, 0xffff_0000);
    let found = script.memory.bytes(page, 4).expect("flash");
    assert_eq!(found, [0, 0, 0x34, 0x12], "bits only go to zero");
    assert!(script.chip.take_stall() > 0, "the core stands still");
    script.write(FLASH_REGISTERS + 0x10, 1 << 1 | 7 << 3 | 2 << 8 | 1 << 16);
    assert_eq!(script.memory.bytes(page, 4).expect("flash"), [0xff; 4]);
    // A second of the 16 MHz that the chip starts with.
    assert_eq!(script.chip.take_stall(), 16_000_000);
    script.write(FLASH_REGISTERS + 0x10, 1 | 2 << 8);
    script.chip.write(page, 1, 0, 0, &mut script.memory).expect("flash");
    let found = script.read(FLASH_REGISTERS + 0x0c) & 1 << 6;
    assert_eq!(found, 1 << 6, "a byte where words were announced");
    assert_eq!(
        script.violations(),
        [
            "flash-order: a write or erase out of order (PGSERR)",
            "flash-order: 0xff is written over 0x34 at 0x08060002 without an erase",
            "flash-order: 0xff is written over 0x12 at 0x08060003 without an erase",
            "flash-order: a write in another width than PSIZE announces (PGPERR)",
        ]
    );
}

fn unlock(script: &mut Script) {
    script.write(FLASH_REGISTERS + 0x04, 0x4567_0123);
    script.write(FLASH_REGISTERS + 0x04, 0xcdef_89ab);
}
