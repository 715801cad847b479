//! 32-bit data processing: manual sections A5.3.1, A5.3.3, A5.3.11 and A5.3.12.

use super::{Fields, Row, encodings};
use crate::cpu::arithmetic::expand_immediate;
use crate::cpu::instruction::{Alu, Extend, Op, Reorder, SetFlags, Shift, Shifted};

pub(super) const ROWS: &[Row] = encodings! { f:
    // A5.3.1: modified immediate.
    "11110 i 0 0000 1 nnnn 0 iii 1111 iiiiiiii", "TST (immediate)" => immediate(f, Alu::Tst);
    "11110 i 0 0000 s nnnn 0 iii dddd iiiiiiii", "AND (immediate)" => immediate(f, Alu::And);
    "11110 i 0 0001 s nnnn 0 iii dddd iiiiiiii", "BIC (immediate)" => immediate(f, Alu::Bic);
    "11110 i 0 0010 s 1111 0 iii dddd iiiiiiii", "MOV (immediate) T2" => immediate(f, Alu::Mov);
    "11110 i 0 0010 s nnnn 0 iii dddd iiiiiiii", "ORR (immediate)" => immediate(f, Alu::Orr);
    "11110 i 0 0011 s 1111 0 iii dddd iiiiiiii", "MVN (immediate)" => immediate(f, Alu::Mvn);
    "11110 i 0 0011 s nnnn 0 iii dddd iiiiiiii", "ORN (immediate)" => immediate(f, Alu::Orn);
    "11110 i 0 0100 1 nnnn 0 iii 1111 iiiiiiii", "TEQ (immediate)" => immediate(f, Alu::Teq);
    "11110 i 0 0100 s nnnn 0 iii dddd iiiiiiii", "EOR (immediate)" => immediate(f, Alu::Eor);
    "11110 i 0 1000 1 nnnn 0 iii 1111 iiiiiiii", "CMN (immediate)" => immediate(f, Alu::Cmn);
    "11110 i 0 1000 s nnnn 0 iii dddd iiiiiiii", "ADD (immediate) T3" => immediate(f, Alu::Add);
    "11110 i 0 1010 s nnnn 0 iii dddd iiiiiiii", "ADC (immediate)" => immediate(f, Alu::Adc);
    "11110 i 0 1011 s nnnn 0 iii dddd iiiiiiii", "SBC (immediate)" => immediate(f, Alu::Sbc);
    "11110 i 0 1101 1 nnnn 0 iii 1111 iiiiiiii", "CMP (immediate) T2" => immediate(f, Alu::Cmp);
    "11110 i 0 1101 s nnnn 0 iii dddd iiiiiiii", "SUB (immediate) T3" => immediate(f, Alu::Sub);
    "11110 i 0 1110 s nnnn 0 iii dddd iiiiiiii", "RSB (immediate) T2" => immediate(f, Alu::Rsb);
    // A5.3.3: plain binary immediate.
    "11110 i 1 0000 0 1111 0 iii dddd iiiiiiii", "ADR T3" => move_immediate(f, SetFlags::No, f.aligned_pc().wrapping_add(f.number('i')));
    "11110 i 1 0000 0 nnnn 0 iii dddd iiiiiiii", "ADD (immediate) T4" => add_offset(f, f.small('n'), f.number('i') as i32);
    // The letters read `imm4:i:imm3:imm8`, as the manual joins them; `j` stands for imm4.
    "11110 i 1 0010 0 jjjj 0 iii dddd iiiiiiii", "MOV (immediate) T3" => move_immediate(f, SetFlags::No, f.number('j') << 12 | f.number('i'));
    "11110 i 1 0101 0 1111 0 iii dddd iiiiiiii", "ADR T2" => move_immediate(f, SetFlags::No, f.aligned_pc().wrapping_sub(f.number('i')));
    "11110 i 1 0101 0 nnnn 0 iii dddd iiiiiiii", "SUB (immediate) T4" => add_offset(f, f.small('n'), -(f.number('i') as i32));
    "11110 i 1 0110 0 jjjj 0 iii dddd iiiiiiii", "MOVT" => Op::MoveTop {
        rd: f.small('d'),
        value: (f.number('j') << 12 | f.number('i')) as u16,
    };
    "11110 0 1 1001 0 nnnn 0 000 dddd 00 0 bbbbb", "SSAT16" => saturate_pair(f, true);
    "11110 0 1 100 k 0 nnnn 0 iii dddd ii 0 bbbbb", "SSAT" => saturate(f, true);
    "11110 0 1 1010 0 nnnn 0 iii dddd ii 0 wwwww", "SBFX" => extract(f, true);
    "11110 0 1 1011 0 1111 0 iii dddd ii 0 wwwww", "BFC" => insert(f, true);
    "11110 0 1 1011 0 nnnn 0 iii dddd ii 0 wwwww", "BFI" => insert(f, false);
    "11110 0 1 1101 0 nnnn 0 000 dddd 00 0 bbbbb", "USAT16" => saturate_pair(f, false);
    "11110 0 1 110 k 0 nnnn 0 iii dddd ii 0 bbbbb", "USAT" => saturate(f, false);
    "11110 0 1 1110 0 nnnn 0 iii dddd ii 0 wwwww", "UBFX" => extract(f, false);
    // A5.3.11: shifted register.
    "1110101 0000 1 nnnn 0 iii 1111 ii kk mmmm", "TST (register) T2" => register(f, Alu::Tst);
    "1110101 0000 s nnnn 0 iii dddd ii kk mmmm", "AND (register) T2" => register(f, Alu::And);
    "1110101 0001 s nnnn 0 iii dddd ii kk mmmm", "BIC (register) T2" => register(f, Alu::Bic);
    "1110101 0010 s 1111 0 iii dddd ii kk mmmm", "MOV, shifts (immediate) T2" => register(f, Alu::Mov);
    "1110101 0010 s nnnn 0 iii dddd ii kk mmmm", "ORR (register) T2" => register(f, Alu::Orr);
    "1110101 0011 s 1111 0 iii dddd ii kk mmmm", "MVN (register) T2" => register(f, Alu::Mvn);
    "1110101 0011 s nnnn 0 iii dddd ii kk mmmm", "ORN (register)" => register(f, Alu::Orn);
    "1110101 0100 1 nnnn 0 iii 1111 ii kk mmmm", "TEQ (register)" => register(f, Alu::Teq);
    "1110101 0100 s nnnn 0 iii dddd ii kk mmmm", "EOR (register) T2" => register(f, Alu::Eor);
    "1110101 1000 1 nnnn 0 iii 1111 ii kk mmmm", "CMN (register) T2" => register(f, Alu::Cmn);
    "1110101 1000 s nnnn 0 iii dddd ii kk mmmm", "ADD (register) T3" => register(f, Alu::Add);
    "1110101 1010 s nnnn 0 iii dddd ii kk mmmm", "ADC (register) T2" => register(f, Alu::Adc);
    "1110101 1011 s nnnn 0 iii dddd ii kk mmmm", "SBC (register) T2" => register(f, Alu::Sbc);
    "1110101 1101 1 nnnn 0 iii 1111 ii kk mmmm", "CMP (register) T3" => register(f, Alu::Cmp);
    "1110101 1101 s nnnn 0 iii dddd ii kk mmmm", "SUB (register) T2" => register(f, Alu::Sub);
    "1110101 1110 s nnnn 0 iii dddd ii kk mmmm", "RSB (register)" => register(f, Alu::Rsb);
    // A5.3.12: register. An Rn of 15 in the extensions means that nothing is added.
    "11111010 0 kk s nnnn 1111 dddd 0000 mmmm", "shifts (register) T2" => {
        let (shift, set, [rd, rn, rm]) = (kind(f.number('k')), flags(f), f.dnm());
        Op::ShiftByRegister { shift, set, rd, rn, rm }
    };
    "11111010 0000 nnnn 1111 dddd 1 x rr mmmm", "SXTAH, SXTH" => extend(f, Extend::SignedHalf);
    "11111010 0001 nnnn 1111 dddd 1 x rr mmmm", "UXTAH, UXTH" => extend(f, Extend::Half);
    "11111010 0010 nnnn 1111 dddd 1 x rr mmmm", "SXTAB16, SXTB16" => extend(f, Extend::SignedBytePair);
    "11111010 0011 nnnn 1111 dddd 1 x rr mmmm", "UXTAB16, UXTB16" => extend(f, Extend::BytePair);
    "11111010 0100 nnnn 1111 dddd 1 x rr mmmm", "SXTAB, SXTB" => extend(f, Extend::SignedByte);
    "11111010 0101 nnnn 1111 dddd 1 x rr mmmm", "UXTAB, UXTB" => extend(f, Extend::Byte);
    "11111010 1001 nnnn 1111 dddd 1000 mmmm", "REV T2" => reorder(f, Reorder::Bytes);
    "11111010 1001 nnnn 1111 dddd 1001 mmmm", "REV16 T2" => reorder(f, Reorder::BytesOfHalves);
    "11111010 1001 nnnn 1111 dddd 1010 mmmm", "RBIT" => reorder(f, Reorder::Bits);
    "11111010 1001 nnnn 1111 dddd 1011 mmmm", "REVSH T2" => reorder(f, Reorder::SignedHalf);
    "11111010 1011 nnnn 1111 dddd 1000 mmmm", "CLZ" => reorder(f, Reorder::LeadingZeros);
};

pub(super) fn move_immediate(f: &Fields, set: SetFlags, value: u32) -> Op {
    let rd = f.small('d');
    Op::MoveImmediate { set, rd, value }
}

pub(super) fn add_offset(f: &Fields, rn: u8, offset: i32) -> Op {
    let rd = f.small('d');
    Op::AddOffset { rd, rn, offset }
}

fn flags(f: &Fields) -> SetFlags {
    if f.is_set('s') { SetFlags::Yes } else { SetFlags::No }
}

/// The rows of the comparisons have no S field: they set the flags always, inside an IT block too.
pub(super) fn flags_of(alu: Alu, of_others: SetFlags) -> SetFlags {
    match alu {
        Alu::Tst | Alu::Teq | Alu::Cmn | Alu::Cmp => SetFlags::Yes,
        _ => of_others,
    }
}

fn immediate(f: &Fields, alu: Alu) -> Op {
    let ((value, carry), set, [rd, rn, _]) = (expand_immediate(f.number('i')), flags_of(alu, flags(f)), f.dnm());
    Op::Immediate {
        alu,
        set,
        rd,
        rn,
        carry,
        value,
    }
}

fn kind(bits: u32) -> Shift {
    [Shift::Lsl, Shift::Lsr, Shift::Asr, Shift::Ror][bits as usize & 3]
}

/// DecodeImmShift of the manual: some shifts by zero mean something else.
fn immediate_shift(f: &Fields) -> Shifted {
    let (shift, amount) = match (kind(f.number('k')), f.small('i')) {
        (Shift::Lsr, 0) => (Shift::Lsr, 32),
        (Shift::Asr, 0) => (Shift::Asr, 32),
        (Shift::Ror, 0) => (Shift::Rrx, 1),
        plain => plain,
    };
    let rm = f.small('m');
    Shifted { rm, shift, amount }
}

fn register(f: &Fields, alu: Alu) -> Op {
    let (rd, rn, m) = (f.small('d'), f.small('n'), immediate_shift(f));
    let (set, rm) = (flags_of(alu, flags(f)), m.rm);
    match (alu, set, m.shift, m.amount) {
        (Alu::Mov, SetFlags::No, Shift::Lsl, 0) => Op::Move { rd, rm },
        (Alu::Add, SetFlags::No, Shift::Lsl, 0) => Op::Add { rd, rn, rm },
        _ => Op::Register { alu, set, rd, rn, m },
    }
}

fn saturate(f: &Fields, signed: bool) -> Op {
    let n = Shifted {
        rm: f.small('n'),
        shift: if f.is_set('k') { Shift::Asr } else { Shift::Lsl },
        amount: f.small('i'),
    };
    let (bits, rd) = (f.small('b') + u8::from(signed), f.small('d'));
    Op::Saturate { signed, bits, rd, n }
}

fn saturate_pair(f: &Fields, signed: bool) -> Op {
    let (bits, [rd, rn, _]) = (f.small('b') + u8::from(signed), f.dnm());
    match bits {
        0..=16 => Op::SaturatePair { signed, bits, rd, rn },
        _ => Op::Undefined,
    }
}

fn extract(f: &Fields, signed: bool) -> Op {
    let (lsb, width, [rd, rn, _]) = (f.small('i'), f.small('w') + 1, f.dnm());
    match lsb + width {
        0..=32 => Op::BitFieldExtract {
            signed,
            rd,
            rn,
            lsb,
            width,
        },
        _ => Op::Undefined,
    }
}

fn insert(f: &Fields, clear: bool) -> Op {
    let (lsb, msb, [rd, rn, _]) = (f.small('i'), f.small('w'), f.dnm());
    match (msb + 1).saturating_sub(lsb) {
        0 => Op::Undefined,
        width if clear => Op::BitFieldClear { rd, lsb, width },
        width => Op::BitFieldInsert { rd, rn, lsb, width },
    }
}

fn extend(f: &Fields, extend: Extend) -> Op {
    let ([rd, rn, rm], rotate) = (f.dnm(), f.small('r') * 8);
    Op::Extend {
        extend,
        rd,
        rn,
        rm,
        rotate,
    }
}

pub(super) fn reorder(f: &Fields, reorder: Reorder) -> Op {
    let [rd, _, rm] = f.dnm();
    Op::Reorder { reorder, rd, rm }
}
