//! I2C ports at the pins of the chip.

use super::*;
use crate::chip::i2c::I2cMemory;

const I2C1: u32 = 0x4000_5400;
const GPIOB: u32 = 0x4002_0400;
const ADDRESS: u8 = 0x50;

/// A chip whose I2C1 is on, at PB8 and PB9 with these modes, output types and alternate functions.
fn script(mode: u32, open_drain: u32, functions: u32) -> Script {
    let mut script = Script::new(Model::F446);
    let memory = I2cMemory::new(16).with(&[0, 0, 0, 42]);
    assert!(script.chip.attach_i2c("I2C1", ADDRESS, Box::new(memory)));
    script.write(AHB1ENR, 2);
    script.write(APB1ENR, 1 << 21);
    script.write(GPIOB, mode << 16);
    script.write(GPIOB + 0x04, open_drain << 8);
    script.write(GPIOB + 0x24, functions);
    for (register, value) in [(0x04, 16), (0x1c, 80), (0x20, 17), (0x00, 1)] {
        script.write(I2C1 + register, value);
    }
    script
}

fn call(script: &mut Script, address: u32) -> u32 {
    script.write(I2C1, 0x101);
    script.run(160);
    script.read(I2C1 + 0x14);
    script.write(I2C1 + 0x10, address);
    script.run(9 * 160);
    let status = script.read(I2C1 + 0x14);
    script.read(I2C1 + 0x18);
    status
}

#[test]
fn a_memory_is_read_at_a_hundred_kilohertz() {
    let mut script = script(0b1010, 3, 0x44);
    assert_eq!(call(&mut script, 0xa0), 2);
    script.write(I2C1 + 0x10, 3);
    script.run(9 * 160);
    assert_eq!(call(&mut script, 0xa1), 2);
    script.write(I2C1 + 0x04, 16 | 3 << 9);
    assert!(!script.requested(31));
    script.run(9 * 160);
    assert!(script.requested(31), "I2C1_EV");
    assert_eq!(script.read(I2C1 + 0x10), 42);
    assert_eq!(call(&mut script, 0x22), 1 << 10, "nobody is there");
    script.write(I2C1 + 0x04, 16 | 1 << 8);
    script.run(1);
    assert!(script.requested(32), "I2C1_ER");
    assert_eq!((script.violations(), script.remarks()), (vec![], vec![]));
}

#[test]
fn both_wires_need_their_function_and_are_open_drain() {
    for (why, mode, open_drain, functions) in [
        ("an output", 0b0110, 3, 0x44),
        ("push-pull", 0b1010, 1, 0x44),
        ("another function", 0b1010, 3, 0x45),
    ] {
        let mut script = script(mode, open_drain, functions);
        script.write(I2C1, 0x101);
        script.run(10_000);
        assert_eq!(script.read(I2C1 + 0x14), 0, "{why}");
        let how = "pins: I2C1 begins a transfer, but no two pins are its clock and its data, open drain";
        assert_eq!(script.violations(), [how], "{why}");
    }
}

#[test]
fn there_is_no_port_of_another_name() {
    let mut script = Script::new(Model::F446);
    assert!(!script.chip.attach_i2c("I2C4", ADDRESS, Box::new(I2cMemory::new(1))));
}
