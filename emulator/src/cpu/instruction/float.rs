//! The operations of the floating-point extension.

/// The FPv4-SP extension. Single registers are numbered 0 to 31; a double register is its lower single.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Float {
    /// VMLA, VMLS, VNMLA, VNMLS: rounded after the product and after the sum.
    MultiplyAdd {
        negate_product: bool,
        negate_addend: bool,
        d: u8,
        n: u8,
        m: u8,
    },
    /// VFMA, VFMS, VFNMA, VFNMS: rounded once.
    FusedMultiplyAdd {
        negate_product: bool,
        negate_addend: bool,
        d: u8,
        n: u8,
        m: u8,
    },
    Multiply {
        negate: bool,
        d: u8,
        n: u8,
        m: u8,
    },
    Add {
        d: u8,
        n: u8,
        m: u8,
    },
    Subtract {
        d: u8,
        n: u8,
        m: u8,
    },
    Divide {
        d: u8,
        n: u8,
        m: u8,
    },
    /// VMOV of an immediate, in its eight-bit form.
    Immediate {
        d: u8,
        value: u8,
    },
    Move {
        d: u8,
        m: u8,
    },
    Absolute {
        d: u8,
        m: u8,
    },
    Negate {
        d: u8,
        m: u8,
    },
    SquareRoot {
        d: u8,
        m: u8,
    },
    /// VCVTB and VCVTT: to or from half precision in the lower or upper half of a register.
    Half {
        widen: bool,
        top: bool,
        d: u8,
        m: u8,
    },
    /// VCMP and VCMPE.
    Compare {
        with_zero: bool,
        signal_quiet: bool,
        d: u8,
        m: u8,
    },
    FromInteger {
        signed: bool,
        d: u8,
        m: u8,
    },
    ToInteger {
        signed: bool,
        toward_zero: bool,
        d: u8,
        m: u8,
    },
    FromFixed {
        signed: bool,
        wide: bool,
        fraction: u8,
        d: u8,
    },
    ToFixed {
        signed: bool,
        wide: bool,
        fraction: u8,
        d: u8,
    },
    /// VMOV between a core register and a single register.
    ToCore {
        rt: u8,
        s: u8,
    },
    FromCore {
        rt: u8,
        s: u8,
    },
    /// VMOV between two core registers and two consecutive single registers.
    PairToCore {
        rt: u8,
        rt2: u8,
        s: u8,
    },
    PairFromCore {
        rt: u8,
        rt2: u8,
        s: u8,
    },
    /// VMRS; `rt` 15 copies the condition flags.
    ReadStatus {
        rt: u8,
    },
    WriteStatus {
        rt: u8,
    },
    /// VLDR and VSTR of `words` consecutive single registers; the offset counts words.
    Load {
        s: u8,
        words: u8,
        rn: u8,
        add: bool,
        offset: u8,
    },
    Store {
        s: u8,
        words: u8,
        rn: u8,
        add: bool,
        offset: u8,
    },
    /// VLDM, VPOP; `words` registers are loaded, `step` words are added to or taken from the base.
    LoadMultiple {
        s: u8,
        words: u8,
        step: u8,
        rn: u8,
        decrement: bool,
        write_back: bool,
    },
    StoreMultiple {
        s: u8,
        words: u8,
        step: u8,
        rn: u8,
        decrement: bool,
        write_back: bool,
    },
}
