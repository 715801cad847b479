//! The firmware's own copying, by itself: every length and alignment, on an emulated processor.

use crate::firmware_support::{Rig, firmware};
use hopwise_node::wire::CONFIG_BYTES;

/// RAM that a board that has not started yet does not use.
const SOURCE: u32 = 0x2001_0000;
const DEST: u32 = 0x2001_1000;
/// Bytes looked at before and after a copy.
const MARGIN: u32 = 8;

/// Calls a function of the image that copies, and checks that it copies just what it is told to.
fn copies(rig: &mut Rig, function: u32, dest: u32, source: u32, count: u32) {
    let cpu = &mut rig.world.boards_mut()[0].cpu;
    let around = dest - MARGIN..dest + count + MARGIN;
    for address in around.clone() {
        *cpu.memory.ram_byte_mut(address).expect("RAM") = 0xaa;
    }
    for at in 0..count {
        *cpu.memory.ram_byte_mut(source + at).expect("RAM") = (at * 7 + 1) as u8;
    }
    let (back, stack) = (cpu.next, cpu.r[13]);
    cpu.r[..3].copy_from_slice(&[dest, source, count]);
    cpu.r[14] = back | 1;
    cpu.next = function & !1;
    let kept = cpu.r[4..12].to_vec();
    for _ in 0..1000 {
        if cpu.next == back {
            break;
        }
        cpu.step();
    }
    assert_eq!(
        (cpu.next, cpu.r[13]),
        (back, stack),
        "{count} bytes: it does not return"
    );
    assert_eq!(cpu.r[4..12], kept, "{count} bytes: registers of the caller");
    let expected: Vec<u8> = around
        .clone()
        .map(|address| match address.checked_sub(dest) {
            Some(at) if at < count => (at * 7 + 1) as u8,
            _ => 0xaa,
        })
        .collect();
    let found = cpu.memory.bytes(around.start, around.len());
    assert_eq!(found, Some(expected), "{count} bytes from {source:#x} to {dest:#x}");
}

#[test]
fn every_length_and_alignment_is_copied() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::single(firmware, &[0xff; CONFIG_BYTES]);
    let address = |name: &str| firmware.image.address_of(name).unwrap_or_else(|| panic!("no {name}"));
    let (any, words, pairs) = (
        address("__aeabi_memcpy"),
        address("__aeabi_memcpy4"),
        address("__aeabi_memcpy8"),
    );
    for count in 0..=70 {
        for (dest, source) in (0..4).flat_map(|dest| (0..4).map(move |source| (dest, source))) {
            copies(&mut rig, any, DEST + dest, SOURCE + source, count);
        }
        copies(&mut rig, words, DEST + 4, SOURCE, count);
        copies(&mut rig, pairs, DEST, SOURCE + 8, count);
    }
}
