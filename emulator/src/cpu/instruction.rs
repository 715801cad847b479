//! What an instruction does, in the form in which it is executed.
//!
//! Decoding turns the encodings of the manual into these operations once, when a firmware image is loaded. Several
//! encodings become one operation; whatever depends only on the instruction and its address is worked out here:
//! branch targets, expanded immediates, literal addresses. Registers are numbers from 0 to 15.

mod dsp;
mod float;
mod frequent;

pub(crate) use dsp::{Dsp, LaneResult, Lanes, LongProduct, Product};
pub(crate) use float::{FixedPoint, Float, Moved, Negated, Singles};

/// The sixteen two-operand functions of the data-processing instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alu {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Add,
    Adc,
    Sbc,
    Sub,
    Rsb,
    Mov,
    Mvn,
    Tst,
    Teq,
    Cmn,
    Cmp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetFlags {
    No,
    Yes,
    /// Unless it is inside an IT block: the rule of most 16-bit encodings.
    OutsideIt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    Lsl,
    /// Right, filling with zeros.
    Lsr,
    /// Right, filling with the sign.
    Asr,
    Ror,
    /// Rotated right by one through the carry.
    Rrx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shifted {
    pub(crate) rm: u8,
    pub(crate) shift: Shift,
    pub(crate) amount: u8,
}

/// Size of a memory access; the signed ones are loads only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Byte,
    Half,
    Word,
    SignedByte,
    SignedHalf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    /// Base plus offset; the base stays.
    Offset,
    /// Base plus offset, which the base becomes.
    Pre,
    /// The base alone; afterward the offset is added to it.
    Post,
}

/// A register that is loaded or stored, and where: a base and an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Indexed {
    pub(crate) width: Width,
    pub(crate) rt: u8,
    pub(crate) rn: u8,
    pub(crate) index: Index,
    pub(crate) offset: i32,
}

/// The same where the offset is a register, shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summed {
    pub(crate) width: Width,
    pub(crate) rt: u8,
    pub(crate) rn: u8,
    pub(crate) rm: u8,
    pub(crate) shift: u8,
}

/// Registers that are loaded or stored together, one bit each, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) rn: u8,
    pub(crate) write_back: bool,
    pub(crate) decrement: bool,
    pub(crate) list: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extend {
    SignedHalf,
    Half,
    /// Two signed bytes to two halfwords.
    SignedBytePair,
    /// Two unsigned bytes to two halfwords.
    BytePair,
    SignedByte,
    Byte,
}

/// The one-operand reorderings of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reorder {
    /// REV: bytes of the word.
    Bytes,
    /// REV16: bytes of each halfword.
    BytesOfHalves,
    /// RBIT: bits of the word.
    Bits,
    /// REVSH: bytes of the low halfword, sign-extended.
    SignedHalf,
    /// CLZ: number of leading zeros.
    LeadingZeros,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// One line an operation.
#[rustfmt::skip]
pub(crate) enum Op {
    /// No encoding of the manual, or one that is UNPREDICTABLE.
    Undefined,

    // Data processing.
    MoveImmediate { set: SetFlags, rd: u8, value: u32 },
    Move { rd: u8, rm: u8 },
    Add { rd: u8, rn: u8, rm: u8 },
    /// ADDW, SUBW and the SP-relative sums: a 12-bit offset, no flags.
    AddOffset { rd: u8, rn: u8, offset: i32 },
    /// `carry` is what the carry flag becomes, unless it stays.
    Immediate { alu: Alu, set: SetFlags, rd: u8, rn: u8, carry: Option<bool>, value: u32 },
    Register { alu: Alu, set: SetFlags, rd: u8, rn: u8, m: Shifted },
    ShiftByRegister { shift: Shift, set: SetFlags, rd: u8, rn: u8, rm: u8 },
    MoveTop { rd: u8, value: u16 },
    BitFieldInsert { rd: u8, rn: u8, lsb: u8, width: u8 },
    BitFieldClear { rd: u8, lsb: u8, width: u8 },
    BitFieldExtract { signed: bool, rd: u8, rn: u8, lsb: u8, width: u8 },
    Saturate { signed: bool, bits: u8, rd: u8, n: Shifted },
    SaturatePair { signed: bool, bits: u8, rd: u8, rn: u8 },
    /// `rn` 15 means nothing is added.
    Extend { extend: Extend, rd: u8, rn: u8, rm: u8, rotate: u8 },
    Reorder { reorder: Reorder, rd: u8, rm: u8 },

    // Multiplication and division.
    Multiply { set: SetFlags, rd: u8, rn: u8, rm: u8 },
    MultiplyAdd { subtract: bool, of: Product },
    MultiplyLong { signed: bool, accumulate: bool, of: LongProduct },
    Divide { signed: bool, rd: u8, rn: u8, rm: u8 },
    Dsp(Dsp),

    // Memory.
    Load(Indexed),
    Store(Indexed),
    LoadRegister(Summed),
    StoreRegister(Summed),
    LoadLiteral { width: Width, rt: u8, address: u32 },
    Dual { load: bool, rt: u8, rt2: u8, rn: u8, index: Index, offset: i16 },
    LoadMultiple(Listed),
    StoreMultiple(Listed),
    LoadExclusive { width: Width, rt: u8, rn: u8, offset: u16 },
    StoreExclusive { width: Width, rd: u8, rt: u8, rn: u8, offset: u16 },
    ClearExclusive,

    // Branches.
    Branch { to: u32 },
    BranchIf { condition: u8, to: u32 },
    BranchLink { to: u32 },
    BranchExchange { rm: u8 },
    BranchLinkExchange { rm: u8 },
    CompareBranch { nonzero: bool, rn: u8, to: u32 },
    TableBranch { half: bool, rn: u8, rm: u8 },
    IfThen { state: u8 },

    // System.
    Nop,
    Barrier,
    WaitForEvent,
    WaitForInterrupt,
    SendEvent,
    ChangeMasks { disable: bool, primask: bool, faultmask: bool },
    ReadSpecial { rd: u8, special: u8 },
    WriteSpecial { rn: u8, special: u8, mask: u8 },
    SupervisorCall,
    Breakpoint,
    Float(Float),

    // Frequent forms of the above, made by [`Op::frequent`].
    LoadWord { rt: u8, rn: u8, offset: i32 },
    LoadByte { rt: u8, rn: u8, offset: i32 },
    StoreWord { rt: u8, rn: u8, offset: i32 },
    StoreByte { rt: u8, rn: u8, offset: i32 },
    CompareImmediate { rn: u8, value: u32 },
    CompareRegister { rn: u8, rm: u8 },
    /// A sum, or a difference: then `value` is the complement and `carry` is set.
    SumImmediate { set: SetFlags, rd: u8, rn: u8, carry: bool, value: u32 },
    ShiftImmediate { set: SetFlags, rd: u8, m: Shifted },
    /// The bits of a mask.
    Masked { rd: u8, rm: u8, mask: u32 },
    SumRegister { set: SetFlags, rd: u8, rn: u8, rm: u8 },
    LoadByteRegister { rt: u8, rn: u8, rm: u8 },
    StoreByteRegister { rt: u8, rn: u8, rm: u8 },

    // A comparison with the branch of two bytes that follows it, made by [`Decoded::with_branch`].
    CompareImmediateBranch { rn: u8, condition: u8, value: u32, to: u32 },
    CompareRegisterBranch { rn: u8, rm: u8, condition: u8, to: u32 },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoded {
    pub(crate) op: Op,
    /// Its length in bytes, 2 or 4.
    pub(crate) length: u8,
    /// Cycles it takes if it does not branch; see [`cycles`](super::cycles).
    pub(crate) cycles: u8,
}
