//! The floating-point extension FPv4-SP: manual sections A6.4 to A6.7.
//!
//! A single register is a four-bit field and one more bit elsewhere, which is the lowest: `ddddD` in the manual. Both
//! have one letter here; [`single`] puts the bits in order. A double register is the pair of singles with the number
//! `2 * field`; its extra bit must be zero because FPv4-SP has sixteen doubles.

use super::{Fields, Row, encodings};
use crate::cpu::instruction::{FixedPoint, Float, Moved, Negated, Op, Singles};

pub(super) const ROWS: &[Row] = encodings! { f:
    // A6.4: data processing. In these rows the lone letter (D, N, M of the manual) is `e`, `o`, `l`.
    "11101110 0 e 00 nnnn dddd 101 0 o p l 0 mmmm", "VMLA, VMLS" =>
        Op::Float(Float::MultiplyAdd { negated: negated(f, false), of: singles(f) });
    "11101110 0 e 01 nnnn dddd 101 0 o p l 0 mmmm", "VNMLA, VNMLS" =>
        Op::Float(Float::MultiplyAdd { negated: negated(f, true), of: singles(f) });
    "11101110 0 e 10 nnnn dddd 101 0 o p l 0 mmmm", "VMUL, VNMUL" =>
        Op::Float(Float::Multiply { negate: f.is_set('p'), of: singles(f) });
    "11101110 0 e 11 nnnn dddd 101 0 o 0 l 0 mmmm", "VADD" => Op::Float(Float::Add(singles(f)));
    "11101110 0 e 11 nnnn dddd 101 0 o 1 l 0 mmmm", "VSUB" => Op::Float(Float::Subtract(singles(f)));
    "11101110 1 e 00 nnnn dddd 101 0 o 0 l 0 mmmm", "VDIV" => Op::Float(Float::Divide(singles(f)));
    "11101110 1 e 01 nnnn dddd 101 0 o p l 0 mmmm", "VFNMA, VFNMS" =>
        Op::Float(Float::FusedMultiplyAdd { negated: negated(f, true), of: singles(f) });
    "11101110 1 e 10 nnnn dddd 101 0 o p l 0 mmmm", "VFMA, VFMS" =>
        Op::Float(Float::FusedMultiplyAdd { negated: negated(f, false), of: singles(f) });
    "11101110 1 e 11 iiii dddd 101 0 x 0 x 0 iiii", "VMOV (immediate)" =>
        Op::Float(Float::Immediate { d: single(f, 'd', 'e'), value: f.small('i') });
    "11101110 1 e 11 0000 dddd 101 0 0 1 l 0 mmmm", "VMOV (register)" => unary(f, |d, m| Float::Move { d, m });
    "11101110 1 e 11 0000 dddd 101 0 1 1 l 0 mmmm", "VABS" => unary(f, |d, m| Float::Absolute { d, m });
    "11101110 1 e 11 0001 dddd 101 0 0 1 l 0 mmmm", "VNEG" => unary(f, |d, m| Float::Negate { d, m });
    "11101110 1 e 11 0001 dddd 101 0 1 1 l 0 mmmm", "VSQRT" => unary(f, |d, m| Float::SquareRoot { d, m });
    "11101110 1 e 11 001 o dddd 101 0 t 1 l 0 mmmm", "VCVTB, VCVTT" => {
        let (widen, top, d, m) = (!f.is_set('o'), f.is_set('t'), single(f, 'd', 'e'), single(f, 'm', 'l'));
        Op::Float(Float::Half { widen, top, d, m })
    };
    "11101110 1 e 11 0100 dddd 101 0 s 1 l 0 mmmm", "VCMP, VCMPE" => compare(f, false);
    "11101110 1 e 11 0101 dddd 101 0 s 1 0 0 0000", "VCMP, VCMPE with zero" => compare(f, true);
    "11101110 1 e 11 1000 dddd 101 0 s 1 l 0 mmmm", "VCVT from integer" => {
        let (signed, d, m) = (f.is_set('s'), single(f, 'd', 'e'), single(f, 'm', 'l'));
        Op::Float(Float::FromInteger { signed, d, m })
    };
    "11101110 1 e 11 110 s dddd 101 0 z 1 l 0 mmmm", "VCVT, VCVTR to integer" => {
        let (signed, toward_zero, d, m) = (f.is_set('s'), f.is_set('z'), single(f, 'd', 'e'), single(f, 'm', 'l'));
        Op::Float(Float::ToInteger { signed, toward_zero, d, m })
    };
    // `u` unsigned, `w` 32 bits instead of 16; the fraction bits are the size less `imm4:i`.
    "11101110 1 e 11 101 u dddd 101 0 w 1 l 0 iiii", "VCVT from fixed point" =>
        fixed_point(f).map_or(Op::Undefined, |of| Op::Float(Float::FromFixed(of)));
    "11101110 1 e 11 111 u dddd 101 0 w 1 l 0 iiii", "VCVT to fixed point" =>
        fixed_point(f).map_or(Op::Undefined, |of| Op::Float(Float::ToFixed(of)));
    // A6.6: transfers of 32 bits. VMOV of half a double register is a VMOV of one of its singles.
    "11101110 000 0 nnnn tttt 1010 o 00 1 0000", "VMOV to single" => core(f, false);
    "11101110 000 1 nnnn tttt 1010 o 00 1 0000", "VMOV from single" => core(f, true);
    "11101110 00 o 0 nnnn tttt 1011 0 00 1 0000", "VMOV to half of a double" => core(f, false);
    "11101110 00 o 1 nnnn tttt 1011 0 00 1 0000", "VMOV from half of a double" => core(f, true);
    "11101110 111 0 0001 tttt 1010 0 00 1 0000", "VMSR" => Op::Float(Float::WriteStatus { rt: f.small('t') });
    "11101110 111 1 0001 tttt 1010 0 00 1 0000", "VMRS" => Op::Float(Float::ReadStatus { rt: f.small('t') });
    // A6.7: transfers of 64 bits.
    "11101100 010 0 uuuu tttt 1010 00 l 1 mmmm", "VMOV to two singles" => pair(f, single(f, 'm', 'l'), false);
    "11101100 010 1 uuuu tttt 1010 00 l 1 mmmm", "VMOV from two singles" => pair(f, single(f, 'm', 'l'), true);
    "11101100 010 0 uuuu tttt 1011 00 0 1 mmmm", "VMOV to double" => pair(f, f.small('m') << 1, false);
    "11101100 010 1 uuuu tttt 1011 00 0 1 mmmm", "VMOV from double" => pair(f, f.small('m') << 1, true);
    // A6.5: loads and stores. `a` adds the offset, `w` writes back.
    "1110110 1 a e 0 0 nnnn dddd 1010 iiiiiiii", "VSTR (single)" => transfer(f, false, single(f, 'd', 'e'), 1);
    "1110110 1 a 0 0 0 nnnn dddd 1011 iiiiiiii", "VSTR (double)" => transfer(f, false, f.small('d') << 1, 2);
    "1110110 1 a e 0 1 nnnn dddd 1010 iiiiiiii", "VLDR (single)" => transfer(f, true, single(f, 'd', 'e'), 1);
    "1110110 1 a 0 0 1 nnnn dddd 1011 iiiiiiii", "VLDR (double)" => transfer(f, true, f.small('d') << 1, 2);
    "1110110 0 1 e w 0 nnnn dddd 1010 iiiiiiii", "VSTMIA (single)" => many(f, false, First::single(f), false);
    "1110110 0 1 0 w 0 nnnn dddd 1011 iiiiiiii", "VSTMIA (double)" => many(f, false, First::double(f), false);
    "1110110 0 1 e w 1 nnnn dddd 1010 iiiiiiii", "VLDMIA (single)" => many(f, true, First::single(f), false);
    "1110110 0 1 0 w 1 nnnn dddd 1011 iiiiiiii", "VLDMIA (double)" => many(f, true, First::double(f), false);
    "1110110 1 0 e w 0 nnnn dddd 1010 iiiiiiii", "VSTMDB (single)" => many(f, false, First::single(f), true);
    "1110110 1 0 0 w 0 nnnn dddd 1011 iiiiiiii", "VSTMDB (double)" => many(f, false, First::double(f), true);
    "1110110 1 0 e w 1 nnnn dddd 1010 iiiiiiii", "VLDMDB (single)" => many(f, true, First::single(f), true);
    "1110110 1 0 0 w 1 nnnn dddd 1011 iiiiiiii", "VLDMDB (double)" => many(f, true, First::double(f), true);
};

fn single(f: &Fields, field: char, lowest: char) -> u8 {
    f.small(field) << 1 | f.small(lowest)
}

fn singles(f: &Fields) -> Singles {
    Singles {
        d: single(f, 'd', 'e'),
        n: single(f, 'n', 'o'),
        m: single(f, 'm', 'l'),
    }
}

fn unary(f: &Fields, make: fn(u8, u8) -> Float) -> Op {
    Op::Float(make(single(f, 'd', 'e'), single(f, 'm', 'l')))
}

/// `p` is op of the manual: VMLS negates the product; of the two that negate the addend, VNMLA negates it too.
fn negated(f: &Fields, addend: bool) -> Negated {
    let product = f.is_set('p');
    Negated { product, addend }
}

fn compare(f: &Fields, with_zero: bool) -> Op {
    let (signal_quiet, d, m) = (f.is_set('s'), single(f, 'd', 'e'), single(f, 'm', 'l'));
    Op::Float(Float::Compare {
        with_zero,
        signal_quiet,
        d,
        m,
    })
}

fn fixed_point(f: &Fields) -> Option<FixedPoint> {
    let size: u8 = if f.is_set('w') { 32 } else { 16 };
    Some(FixedPoint {
        signed: !f.is_set('u'),
        wide: f.is_set('w'),
        fraction: size.checked_sub(f.small('i') << 1 | f.small('l'))?,
        d: single(f, 'd', 'e'),
    })
}

fn core(f: &Fields, to_core: bool) -> Op {
    let (rt, s) = (f.small('t'), single(f, 'n', 'o'));
    Op::Float(if to_core {
        Float::ToCore { rt, s }
    } else {
        Float::FromCore { rt, s }
    })
}

fn pair(f: &Fields, s: u8, to_core: bool) -> Op {
    let (rt, rt2) = (f.small('t'), f.small('u'));
    match (s, to_core) {
        (31, _) => Op::Undefined,
        (s, true) => Op::Float(Float::PairToCore { rt, rt2, s }),
        (s, false) => Op::Float(Float::PairFromCore { rt, rt2, s }),
    }
}

fn transfer(f: &Fields, load: bool, s: u8, words: u8) -> Op {
    let rn = f.small('n');
    Op::Float(Float::Transfer {
        of: Moved { load, s, words, rn },
        add: f.is_set('a'),
        offset: f.small('i'),
    })
}

/// The first register of a list, as the number of its single register.
enum First {
    Single(u8),
    Double(u8),
}

impl First {
    fn single(f: &Fields) -> Self {
        First::Single(single(f, 'd', 'e'))
    }

    fn double(f: &Fields) -> Self {
        First::Double(f.small('d') << 1)
    }
}

/// A list that runs past the last register is UNPREDICTABLE.
fn many(f: &Fields, load: bool, first: First, decrement: bool) -> Op {
    let (rn, step, write_back) = (f.small('n'), f.small('i'), f.is_set('w'));
    // The odd counts of the double forms are the old FLDMX and FSTMX: one word of the step is not transferred.
    let (s, words) = match first {
        First::Single(s) => (s, step),
        First::Double(s) => (s, step & !1),
    };
    if words == 0 || u32::from(s) + u32::from(words) > 32 || decrement && !write_back {
        return Op::Undefined;
    }
    Op::Float(Float::Multiple {
        of: Moved { load, s, words, rn },
        step,
        decrement,
        write_back,
    })
}
