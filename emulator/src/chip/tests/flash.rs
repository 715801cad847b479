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

#[test]
fn an_erase_takes_its_time_by_parallelism_and_wear() {
    // PSIZE, wear in percent, milliseconds for 128 KiB.
    for (parallelism, flash_wear, time) in [
        (0, 0, 2000),
        (0, 100, 4000),
        (1, 0, 1300),
        (1, 100, 2600),
        (2, 0, 1000),
        (2, 50, 1500),
        (2, 100, 2000),
    ] {
        let individual = Individual {
            flash_wear,
            ..individual(Hse::Absent)
        };
        let mut script = Script::of(Model::F446, individual);
        unlock(&mut script);
        script.write(FLASH_REGISTERS + 0x10, 1 << 1 | 7 << 3 | parallelism << 8 | 1 << 16);
        assert_eq!(script.chip.take_stall(), time * 16_000, "{parallelism} {flash_wear}");
        assert!(script.violations().is_empty());
    }
    let mut script = Script::new(Model::F446);
    unlock(&mut script);
    script.write(FLASH_REGISTERS + 0x10, 1 << 1 | 7 << 3 | 3 << 8 | 1 << 16);
    let how = "flash-order: an erase with 64 bits at once (PSIZE is 3) without a programming voltage";
    assert_eq!(script.violations(), [how]);
}

#[test]
fn a_cache_is_emptied_only_while_it_is_off() {
    let mut script = Script::new(Model::F446);
    script.write(FLASH_REGISTERS, 0x705);
    script.write(FLASH_REGISTERS, 0x305 | 1 << 12);
    assert_eq!(script.violations(), ["flash-cache: DCRST is set while the cache is on"]);
    assert_eq!(script.read(FLASH_REGISTERS), 0x305);
    script.write(FLASH_REGISTERS, 0x305 | 1 << 12);
    assert_eq!(script.violations().len(), 1);
}

fn unlock(script: &mut Script) {
    script.write(FLASH_REGISTERS + 0x04, 0x4567_0123);
    script.write(FLASH_REGISTERS + 0x04, 0xcdef_89ab);
}

#[test]
fn sectors_of_all_sizes_are_erased_alone_and_take_their_time() {
    // Sector, first address, last address, milliseconds.
    for (sector, first, last, time) in [
        (1, 0x0800_4000, 0x0800_7fff, 250),
        (3, 0x0800_c000, 0x0800_ffff, 250),
        (4, 0x0801_0000, 0x0801_ffff, 550),
        (5, 0x0802_0000, 0x0803_ffff, 1000),
        (7, 0x0806_0000, 0x0807_ffff, 1000),
    ] {
        let mut script = Script::new(Model::F446);
        let neighbors = [first - 1, last + 1].into_iter().filter(|place| *place < 0x0808_0000);
        let neighbors: Vec<u32> = neighbors.collect();
        for place in [first, last].iter().chain(&neighbors) {
            script.memory.write_flash(*place, &[0]).expect("flash");
        }
        unlock(&mut script);
        script.write(FLASH_REGISTERS + 0x10, 1 << 1 | sector << 3 | 2 << 8);
        script.write(FLASH_REGISTERS + 0x10, 1 << 1 | sector << 3 | 2 << 8 | 1 << 16);
        assert_eq!(script.chip.take_stall(), time * 16_000, "sector {sector}");
        assert_eq!(script.read(FLASH_REGISTERS + 0x0c), 0);
        let byte = |place: u32| script.memory.byte(place);
        assert_eq!((byte(first), byte(last)), (Some(0xff), Some(0xff)), "sector {sector}");
        assert!(neighbors.iter().all(|place| byte(*place) == Some(0)), "sector {sector}");
    }
}

#[test]
fn the_flash_refuses_what_is_out_of_order() {
    const PGSERR: u32 = 1 << 7;
    let mut script = Script::new(Model::F446);
    script.write(FLASH_REGISTERS + 0x10, 1);
    assert_eq!(script.read(FLASH_REGISTERS + 0x10), 1 << 31, "locked");
    unlock(&mut script);
    for (control, what) in [
        (1 << 16, "a start of nothing"),
        (1 << 1 | 9 << 3 | 1 << 16, "a sector that is not there"),
        (1 | 1 << 1 | 1 << 16, "programming and erasing at once"),
    ] {
        script.write(FLASH_REGISTERS + 0x10, control);
        assert_eq!(script.read(FLASH_REGISTERS + 0x0c), PGSERR, "{what}");
        script.write(FLASH_REGISTERS + 0x0c, PGSERR);
    }
    script.write(FLASH_REGISTERS + 0x10, 1 << 31);
    script.write(FLASH_REGISTERS + 0x10, 1);
    assert_eq!(script.read(FLASH_REGISTERS + 0x10), 1 << 31, "locked again");
    script.write(FLASH_REGISTERS + 0x04, 1);
    unlock(&mut script);
    let found = script.read(FLASH_REGISTERS + 0x10);
    assert_eq!(found, 1 << 31, "a wrong key locks until reset");
    assert_eq!(script.chip.take_stall(), 0);
}
