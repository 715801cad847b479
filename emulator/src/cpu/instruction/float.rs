/// The registers of a result and of its two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Singles {
    pub(crate) d: u8,
    pub(crate) n: u8,
    pub(crate) m: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Negated {
    pub(crate) product: bool,
    pub(crate) addend: bool,
}

/// A number with bits of a fraction, 16 or 32 in all, in register `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FixedPoint {
    pub(crate) signed: bool,
    pub(crate) wide: bool,
    pub(crate) fraction: u8,
    pub(crate) d: u8,
}

/// Consecutive single registers that are loaded or stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) load: bool,
    pub(crate) s: u8,
    pub(crate) words: u8,
    pub(crate) rn: u8,
}

/// The FPv4-SP extension. Single registers are numbered 0 to 31; a double register is its lower single.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// One line an operation.
#[rustfmt::skip]
pub(crate) enum Float {
    /// VMLA, VMLS, VNMLA, VNMLS: rounded after the product and after the sum.
    MultiplyAdd { negated: Negated, of: Singles },
    /// VFMA, VFMS, VFNMA, VFNMS: rounded once.
    FusedMultiplyAdd { negated: Negated, of: Singles },
    Multiply { negate: bool, of: Singles },
    Add(Singles),
    Subtract(Singles),
    Divide(Singles),
    /// VMOV of an immediate, in its eight-bit form.
    Immediate { d: u8, value: u8 },
    Move { d: u8, m: u8 },
    Absolute { d: u8, m: u8 },
    Negate { d: u8, m: u8 },
    SquareRoot { d: u8, m: u8 },
    /// VCVTB and VCVTT: to or from half precision in the lower or upper half of a register.
    Half { widen: bool, top: bool, d: u8, m: u8 },
    Compare { with_zero: bool, signal_quiet: bool, d: u8, m: u8 },
    FromInteger { signed: bool, d: u8, m: u8 },
    ToInteger { signed: bool, toward_zero: bool, d: u8, m: u8 },
    FromFixed(FixedPoint),
    ToFixed(FixedPoint),
    /// VMOV between a core register and a single register.
    ToCore { rt: u8, s: u8 },
    FromCore { rt: u8, s: u8 },
    /// VMOV between two core registers and two consecutive single registers.
    PairToCore { rt: u8, rt2: u8, s: u8 },
    PairFromCore { rt: u8, rt2: u8, s: u8 },
    /// VMRS; `rt` 15 copies the condition flags.
    ReadStatus { rt: u8 },
    WriteStatus { rt: u8 },
    /// VLDR and VSTR; the offset counts words.
    Transfer { of: Moved, add: bool, offset: u8 },
    /// VLDM, VPOP, VSTM, VPUSH; `step` words are added to or taken from the base.
    Multiple { of: Moved, step: u8, decrement: bool, write_back: bool },
}
