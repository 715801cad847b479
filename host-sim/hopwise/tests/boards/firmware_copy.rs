//! The firmware's own copying and dividing, by itself: every length and alignment, numbers of all sizes, on an emulated processor.

use crate::firmware_support::{Rig, firmware};
use hopwise_node::wire::CONFIG_BYTES;

/// RAM that a board that has not started yet does not use.
const SOURCE: u32 = 0x2001_0000;
const DEST: u32 = 0x2001_1000;
/// Bytes looked at before and after a copy.
const MARGIN: u32 = 8;

fn call(rig: &mut Rig, function: u32, arguments: [u32; 4]) -> [u32; 4] {
    let cpu = &mut rig.world.boards_mut()[0].cpu;
    let (back, stack) = (cpu.next, cpu.r[13]);
    cpu.r[..4].copy_from_slice(&arguments);
    cpu.r[14] = back | 1;
    cpu.next = function & !1;
    let kept = cpu.r[4..12].to_vec();
    for _ in 0..1000 {
        if cpu.next == back {
            break;
        }
        cpu.step();
    }
    let found = (cpu.next, cpu.r[13]);
    assert_eq!(found, (back, stack), "{arguments:x?}: it does not return");
    assert_eq!(cpu.r[4..12], kept, "{arguments:x?}: registers of the caller");
    [cpu.r[0], cpu.r[1], cpu.r[2], cpu.r[3]]
}

/// Calls a function that writes `count` bytes at `dest`, and checks that it writes those of `source`, or the byte `value`, and no others.
fn writes(rig: &mut Rig, function: u32, dest: u32, count: u32, content: &Content) {
    let memory = |rig: &mut Rig, start: u32, count: u32| {
        let bytes = rig.world.boards()[0].cpu.memory.bytes(start, count as usize);
        bytes.expect("RAM")
    };
    let (source, arguments) = match *content {
        Content::Copied(source) => (source, [dest, source, count, 0]),
        Content::Filled(value) => (SOURCE, [dest, count, value, 0]),
    };
    for address in dest.min(source) - MARGIN..dest.max(source) + count + MARGIN {
        let byte = rig.world.boards_mut()[0].cpu.memory.ram_byte_mut(address);
        *byte.expect("RAM") = (address * 7 + 1) as u8;
    }
    let mut expected = memory(rig, dest - MARGIN, count + 2 * MARGIN);
    let written = match *content {
        Content::Copied(source) => memory(rig, source, count),
        Content::Filled(value) => vec![value as u8; count as usize],
    };
    expected[MARGIN as usize..][..count as usize].copy_from_slice(&written);
    call(rig, function, arguments);
    let found = memory(rig, dest - MARGIN, count + 2 * MARGIN);
    assert_eq!(found, expected, "{arguments:x?}");
}

enum Content {
    Copied(u32),
    Filled(u32),
}

#[test]
fn every_length_and_alignment_is_copied() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::single(firmware, &[0xff; CONFIG_BYTES]);
    let address = |name: &str| firmware.image.address_of(name).unwrap_or_else(|| panic!("no {name}"));
    let [any, words, pairs] = ["", "4", "8"].map(|bytes| address(&format!("__aeabi_memcpy{bytes}")));
    let mut copies = |function, dest, source, count| writes(&mut rig, function, dest, count, &Content::Copied(source));
    for count in 0..=70 {
        for (dest, source) in alignments() {
            copies(any, DEST + dest, SOURCE + source, count);
        }
        copies(words, DEST + 4, SOURCE, count);
        copies(pairs, DEST, SOURCE + 8, count);
    }
}

#[test]
fn overlapping_bytes_are_moved_and_any_are_filled() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::single(firmware, &[0xff; CONFIG_BYTES]);
    let address = |name: &str| firmware.image.address_of(name).unwrap_or_else(|| panic!("no {name}"));
    let (moving, filling) = (address("__aeabi_memmove"), address("__aeabi_memset"));
    for count in 0..=40 {
        for (from, by) in (0..4).flat_map(|from| (0..=44).map(move |by| (from, by))) {
            let (low, high) = (SOURCE + from, SOURCE + from + by);
            writes(&mut rig, moving, low, count, &Content::Copied(high));
            writes(&mut rig, moving, high, count, &Content::Copied(low));
        }
        for (dest, value) in alignments().map(|(dest, value)| (dest, 0x1234_5600 + 85 * value)) {
            writes(&mut rig, filling, DEST + dest, count, &Content::Filled(value));
        }
    }
}

#[test]
fn numbers_of_all_sizes_are_divided() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::single(firmware, &[0xff; CONFIG_BYTES]);
    let address = |name: &str| firmware.image.address_of(name).unwrap_or_else(|| panic!("no {name}"));
    let [unsigned, signed] = ["__aeabi_uldivmod", "__aeabi_ldivmod"].map(address);
    let words = |number: u64| [number as u32, (number >> 32) as u32];
    let mut divide = |function, [a, b]: [u64; 2]| {
        let [a, b] = [a, b].map(words);
        let result = call(&mut rig, function, [a[0], a[1], b[0], b[1]]);
        [[result[0], result[1]], [result[2], result[3]]]
    };
    // Around every power of two, and bits of all kinds below it.
    let sizes = (0..64).flat_map(|size| [1, (1 << size) - 1, 1 << size, 0xa5a5_5a5a_c3c3_3c3c >> size]);
    let numbers: Vec<u64> = sizes.chain([1_000, 1_000_000, u64::MAX]).collect();
    for [a, b] in numbers.iter().flat_map(|a| numbers.iter().map(move |b| [*a, *b])) {
        let Some(quotient) = a.checked_div(b) else { continue };
        assert_eq!(divide(unsigned, [a, b]), [quotient, a % b].map(words), "{a} / {b}");
        let signed_result = [(a as i64).wrapping_div(b as i64), (a as i64).wrapping_rem(b as i64)];
        assert_eq!(
            divide(signed, [a, b]),
            signed_result.map(|number| words(number as u64)),
            "{a} / {b}, signed"
        );
    }
}

fn alignments() -> impl Iterator<Item = (u32, u32)> {
    (0..4).flat_map(|dest| (0..4).map(move |source| (dest, source)))
}
