//! Instructions that compute: registers and flags in, registers and flags out.

use super::program::{Case, is_wide_code};
use super::random::{Random, can_be, instance};
use crate::cpu::decode::{Row, decode};
use crate::cpu::instruction::{Float, Op};

/// Whether all that the operation reads and writes are registers and flags.
fn only_computes(op: &Op) -> bool {
    match op {
        Op::Nop | Op::Barrier | Op::MoveImmediate { .. } | Op::Move { .. } | Op::Add { .. } => true,
        Op::AddOffset { .. } => true,
        Op::Immediate { .. } | Op::Register { .. } | Op::ShiftByRegister { .. } | Op::MoveTop { .. } => true,
        Op::BitFieldInsert { .. } | Op::BitFieldClear { .. } | Op::BitFieldExtract { .. } => true,
        Op::Saturate { .. } | Op::SaturatePair { .. } | Op::Extend { .. } | Op::Reorder { .. } => true,
        Op::Multiply { .. } | Op::MultiplyAdd { .. } | Op::Divide { .. } | Op::Dsp(_) => true,
        // With one register for both halves of the result it is UNPREDICTABLE.
        Op::MultiplyLong { of, .. } => of.lo != of.hi,
        Op::Float(Float::Transfer { .. } | Float::Multiple { .. }) => false,
        Op::Float(Float::PairToCore { rt, rt2, .. }) => rt != rt2,
        Op::Float(Float::ReadStatus { .. }) => true,
        Op::Float(_) => true,
        _ => false,
    }
}

fn draw_one(random: &mut Random, rows: &[&'static Row]) -> (u16, u16, &'static str) {
    loop {
        let row = random.pick(rows);
        let drawn = instance(row, random, |_, random| random.register());
        if let Some((first, second)) = drawn
            && only_computes(&decode(0, first, second).op)
        {
            return (first, second, row.name);
        }
    }
}

pub(super) fn usable(rows: impl Iterator<Item = &'static Row>) -> Vec<&'static Row> {
    let computes = |row: &&'static Row| can_be(row, only_computes);
    // The ignored bits of the wide hints and barriers should be ones, not zeros as everywhere else.
    let is_hint = |row: &&'static Row| row.pattern.starts_with("11110 011101");
    rows.filter(|row| !is_hint(row)).filter(computes).collect()
}

/// One instruction, or an IT block of up to four of them, which may change each other's conditions.
pub(super) fn draw(random: &mut Random, rows: &[&'static Row]) -> Case {
    let mut case = Case::new(random.inputs());
    let count = if random.below(4) == 0 { 1 + random.below(4) } else { 0 };
    if count > 0 {
        let condition = random.condition();
        // Each further instruction has a bit: the lowest bit of its condition. A one ends the list.
        let mut mask = 0;
        for _ in 1..count {
            mask = mask << 1 | random.below(2) as u16;
        }
        let mask = (mask << 1 | 1) << (4 - count);
        case.code.push(0xbf00 | condition << 4 | mask);
        case.names.push("IT T1");
    }
    for _ in 0..count.max(1) {
        let (first, second, name) = draw_one(random, rows);
        case.code.push(first);
        if is_wide_code(first) {
            case.code.push(second);
        }
        case.names.push(name);
    }
    case
}
