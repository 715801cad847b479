//! How many cycles an instruction takes: the table of the Cortex-M4 Technical Reference Manual, section 3.3.
//!
//! The counts assume memory without wait states, so they are a lower bound. A taken branch costs [`BRANCH`] more,
//! the middle of the one to three cycles that the manual gives for refilling the pipeline. Consecutive loads are
//! not overlapped as the real pipeline does in part.

use super::instruction::{Float, Op};

/// Time as the core counts it: cycles of its clock since the board was first powered.
pub type Cycles = u64;
/// A time that never comes.
pub const NEVER: Cycles = Cycles::MAX;

/// Refilling the pipeline after a taken branch.
pub(crate) const BRANCH: u64 = 2;
/// From the interrupt to the first instruction of its handler.
pub(crate) const EXCEPTION_ENTRY: u64 = 12;
/// From the end of a handler to the instruction that was interrupted.
pub(crate) const EXCEPTION_RETURN: u64 = 10;
/// From the end of a handler to the first instruction of the next one.
pub(crate) const TAIL_CHAIN: u64 = 6;

/// Cycles without those of a taken branch.
pub(super) fn of(op: &Op) -> u8 {
    match *op {
        Op::Load(_) | Op::LoadRegister(_) | Op::LoadLiteral { .. } | Op::Store(_) | Op::StoreRegister(_) => 2,
        Op::LoadExclusive { .. } | Op::StoreExclusive { .. } | Op::TableBranch { .. } => 2,
        Op::MultiplyAdd { .. } | Op::ReadSpecial { .. } | Op::WriteSpecial { .. } => 2,
        Op::Dual { .. } => 3,
        Op::LoadMultiple(listed) | Op::StoreMultiple(listed) => 1 + listed.list.count_ones() as u8,
        // Between 2 and 12, depending on the operands.
        Op::Divide { .. } => 7,
        Op::Float(float) => of_float(&float),
        _ => 1,
    }
}

fn of_float(op: &Float) -> u8 {
    match *op {
        Float::Divide(_) | Float::SquareRoot { .. } => 14,
        Float::MultiplyAdd { .. } | Float::FusedMultiplyAdd { .. } => 3,
        Float::PairToCore { .. } | Float::PairFromCore { .. } => 2,
        Float::Transfer { of, .. } | Float::Multiple { of, .. } => 1 + of.words,
        _ => 1,
    }
}
