//! 32-bit data processing: manual sections A5.3.1, A5.3.3, A5.3.11 and A5.3.12.

use super::{Fields, Row, row};
use crate::cpu::arithmetic::expand_immediate;
use crate::cpu::instruction::{Alu, Extend, Op, Reorder, SetFlags, Shift};

pub(super) const ROWS: &[Row] = &[
    // A5.3.1: modified immediate.
    row("11110 i 0 0000 1 nnnn 0 iii 1111 iiiiiiii", "TST (immediate)", |f| {
        immediate(f, Alu::Tst)
    }),
    row("11110 i 0 0000 s nnnn 0 iii dddd iiiiiiii", "AND (immediate)", |f| {
        immediate(f, Alu::And)
    }),
    row("11110 i 0 0001 s nnnn 0 iii dddd iiiiiiii", "BIC (immediate)", |f| {
        immediate(f, Alu::Bic)
    }),
    row("11110 i 0 0010 s 1111 0 iii dddd iiiiiiii", "MOV (immediate) T2", |f| {
        immediate(f, Alu::Mov)
    }),
    row("11110 i 0 0010 s nnnn 0 iii dddd iiiiiiii", "ORR (immediate)", |f| {
        immediate(f, Alu::Orr)
    }),
    row("11110 i 0 0011 s 1111 0 iii dddd iiiiiiii", "MVN (immediate)", |f| {
        immediate(f, Alu::Mvn)
    }),
    row("11110 i 0 0011 s nnnn 0 iii dddd iiiiiiii", "ORN (immediate)", |f| {
        immediate(f, Alu::Orn)
    }),
    row("11110 i 0 0100 1 nnnn 0 iii 1111 iiiiiiii", "TEQ (immediate)", |f| {
        immediate(f, Alu::Teq)
    }),
    row("11110 i 0 0100 s nnnn 0 iii dddd iiiiiiii", "EOR (immediate)", |f| {
        immediate(f, Alu::Eor)
    }),
    row("11110 i 0 1000 1 nnnn 0 iii 1111 iiiiiiii", "CMN (immediate)", |f| {
        immediate(f, Alu::Cmn)
    }),
    row("11110 i 0 1000 s nnnn 0 iii dddd iiiiiiii", "ADD (immediate) T3", |f| {
        immediate(f, Alu::Add)
    }),
    row("11110 i 0 1010 s nnnn 0 iii dddd iiiiiiii", "ADC (immediate)", |f| {
        immediate(f, Alu::Adc)
    }),
    row("11110 i 0 1011 s nnnn 0 iii dddd iiiiiiii", "SBC (immediate)", |f| {
        immediate(f, Alu::Sbc)
    }),
    row("11110 i 0 1101 1 nnnn 0 iii 1111 iiiiiiii", "CMP (immediate) T2", |f| {
        immediate(f, Alu::Cmp)
    }),
    row("11110 i 0 1101 s nnnn 0 iii dddd iiiiiiii", "SUB (immediate) T3", |f| {
        immediate(f, Alu::Sub)
    }),
    row("11110 i 0 1110 s nnnn 0 iii dddd iiiiiiii", "RSB (immediate) T2", |f| {
        immediate(f, Alu::Rsb)
    }),
    // A5.3.3: plain binary immediate.
    row("11110 i 1 0000 0 1111 0 iii dddd iiiiiiii", "ADR T3", |f| {
        Op::MoveImmediate {
            set: SetFlags::No,
            rd: f.small('d'),
            value: f.aligned_pc().wrapping_add(f.number('i')),
        }
    }),
    row("11110 i 1 0000 0 nnnn 0 iii dddd iiiiiiii", "ADD (immediate) T4", |f| {
        Op::AddOffset {
            rd: f.small('d'),
            rn: f.small('n'),
            offset: f.number('i') as i32,
        }
    }),
    // The letters read `imm4:i:imm3:imm8`, as the manual joins them; `j` stands for imm4.
    row("11110 i 1 0010 0 jjjj 0 iii dddd iiiiiiii", "MOV (immediate) T3", |f| {
        Op::MoveImmediate {
            set: SetFlags::No,
            rd: f.small('d'),
            value: f.number('j') << 12 | f.number('i'),
        }
    }),
    row("11110 i 1 0101 0 1111 0 iii dddd iiiiiiii", "ADR T2", |f| {
        Op::MoveImmediate {
            set: SetFlags::No,
            rd: f.small('d'),
            value: f.aligned_pc().wrapping_sub(f.number('i')),
        }
    }),
    row("11110 i 1 0101 0 nnnn 0 iii dddd iiiiiiii", "SUB (immediate) T4", |f| {
        Op::AddOffset {
            rd: f.small('d'),
            rn: f.small('n'),
            offset: -(f.number('i') as i32),
        }
    }),
    row("11110 i 1 0110 0 jjjj 0 iii dddd iiiiiiii", "MOVT", |f| Op::MoveTop {
        rd: f.small('d'),
        value: (f.number('j') << 12 | f.number('i')) as u16,
    }),
    row("11110 0 1 1001 0 nnnn 0 000 dddd 00 0 bbbbb", "SSAT16", |f| {
        saturate_pair(f, true)
    }),
    row("11110 0 1 100 k 0 nnnn 0 iii dddd ii 0 bbbbb", "SSAT", |f| {
        saturate(f, true)
    }),
    row("11110 0 1 1010 0 nnnn 0 iii dddd ii 0 wwwww", "SBFX", |f| {
        extract(f, true)
    }),
    row("11110 0 1 1011 0 1111 0 iii dddd ii 0 wwwww", "BFC", |f| {
        insert(f, true)
    }),
    row("11110 0 1 1011 0 nnnn 0 iii dddd ii 0 wwwww", "BFI", |f| {
        insert(f, false)
    }),
    row("11110 0 1 1101 0 nnnn 0 000 dddd 00 0 bbbbb", "USAT16", |f| {
        saturate_pair(f, false)
    }),
    row("11110 0 1 110 k 0 nnnn 0 iii dddd ii 0 bbbbb", "USAT", |f| {
        saturate(f, false)
    }),
    row("11110 0 1 1110 0 nnnn 0 iii dddd ii 0 wwwww", "UBFX", |f| {
        extract(f, false)
    }),
    // A5.3.11: shifted register.
    row("1110101 0000 1 nnnn 0 iii 1111 ii kk mmmm", "TST (register) T2", |f| {
        register(f, Alu::Tst)
    }),
    row("1110101 0000 s nnnn 0 iii dddd ii kk mmmm", "AND (register) T2", |f| {
        register(f, Alu::And)
    }),
    row("1110101 0001 s nnnn 0 iii dddd ii kk mmmm", "BIC (register) T2", |f| {
        register(f, Alu::Bic)
    }),
    row(
        "1110101 0010 s 1111 0 iii dddd ii kk mmmm",
        "MOV, shifts (immediate) T2",
        |f| register(f, Alu::Mov),
    ),
    row("1110101 0010 s nnnn 0 iii dddd ii kk mmmm", "ORR (register) T2", |f| {
        register(f, Alu::Orr)
    }),
    row("1110101 0011 s 1111 0 iii dddd ii kk mmmm", "MVN (register) T2", |f| {
        register(f, Alu::Mvn)
    }),
    row("1110101 0011 s nnnn 0 iii dddd ii kk mmmm", "ORN (register)", |f| {
        register(f, Alu::Orn)
    }),
    row("1110101 0100 1 nnnn 0 iii 1111 ii kk mmmm", "TEQ (register)", |f| {
        register(f, Alu::Teq)
    }),
    row("1110101 0100 s nnnn 0 iii dddd ii kk mmmm", "EOR (register) T2", |f| {
        register(f, Alu::Eor)
    }),
    row("1110101 1000 1 nnnn 0 iii 1111 ii kk mmmm", "CMN (register) T2", |f| {
        register(f, Alu::Cmn)
    }),
    row("1110101 1000 s nnnn 0 iii dddd ii kk mmmm", "ADD (register) T3", |f| {
        register(f, Alu::Add)
    }),
    row("1110101 1010 s nnnn 0 iii dddd ii kk mmmm", "ADC (register) T2", |f| {
        register(f, Alu::Adc)
    }),
    row("1110101 1011 s nnnn 0 iii dddd ii kk mmmm", "SBC (register) T2", |f| {
        register(f, Alu::Sbc)
    }),
    row("1110101 1101 1 nnnn 0 iii 1111 ii kk mmmm", "CMP (register) T3", |f| {
        register(f, Alu::Cmp)
    }),
    row("1110101 1101 s nnnn 0 iii dddd ii kk mmmm", "SUB (register) T2", |f| {
        register(f, Alu::Sub)
    }),
    row("1110101 1110 s nnnn 0 iii dddd ii kk mmmm", "RSB (register)", |f| {
        register(f, Alu::Rsb)
    }),
    // A5.3.12: register. An Rn of 15 in the extensions means that nothing is added.
    row(
        "11111010 0 kk s nnnn 1111 dddd 0000 mmmm",
        "shifts (register) T2",
        |f| Op::ShiftByRegister {
            shift: kind(f.number('k')),
            set: flags(f),
            rd: f.small('d'),
            rn: f.small('n'),
            rm: f.small('m'),
        },
    ),
    row("11111010 0000 nnnn 1111 dddd 1 x rr mmmm", "SXTAH, SXTH", |f| {
        extend(f, Extend::SignedHalf)
    }),
    row("11111010 0001 nnnn 1111 dddd 1 x rr mmmm", "UXTAH, UXTH", |f| {
        extend(f, Extend::Half)
    }),
    row("11111010 0010 nnnn 1111 dddd 1 x rr mmmm", "SXTAB16, SXTB16", |f| {
        extend(f, Extend::SignedBytePair)
    }),
    row("11111010 0011 nnnn 1111 dddd 1 x rr mmmm", "UXTAB16, UXTB16", |f| {
        extend(f, Extend::BytePair)
    }),
    row("11111010 0100 nnnn 1111 dddd 1 x rr mmmm", "SXTAB, SXTB", |f| {
        extend(f, Extend::SignedByte)
    }),
    row("11111010 0101 nnnn 1111 dddd 1 x rr mmmm", "UXTAB, UXTB", |f| {
        extend(f, Extend::Byte)
    }),
    row("11111010 1001 nnnn 1111 dddd 1000 mmmm", "REV T2", |f| {
        reorder(f, Reorder::Bytes)
    }),
    row("11111010 1001 nnnn 1111 dddd 1001 mmmm", "REV16 T2", |f| {
        reorder(f, Reorder::BytesOfHalves)
    }),
    row("11111010 1001 nnnn 1111 dddd 1010 mmmm", "RBIT", |f| {
        reorder(f, Reorder::Bits)
    }),
    row("11111010 1001 nnnn 1111 dddd 1011 mmmm", "REVSH T2", |f| {
        reorder(f, Reorder::SignedHalf)
    }),
    row("11111010 1011 nnnn 1111 dddd 1000 mmmm", "CLZ", |f| {
        reorder(f, Reorder::LeadingZeros)
    }),
];

fn flags(f: &Fields) -> SetFlags {
    if f.is_set('s') { SetFlags::Yes } else { SetFlags::No }
}

/// The rows of the comparisons have no S field: they set the flags always.
fn flags_of(f: &Fields, alu: Alu) -> SetFlags {
    match alu {
        Alu::Tst | Alu::Teq | Alu::Cmn | Alu::Cmp => SetFlags::Yes,
        _ => flags(f),
    }
}

fn immediate(f: &Fields, alu: Alu) -> Op {
    let (value, carry) = expand_immediate(f.number('i'));
    Op::Immediate {
        alu,
        set: flags_of(f, alu),
        rd: f.small('d'),
        rn: f.small('n'),
        carry,
        value,
    }
}

fn kind(bits: u32) -> Shift {
    [Shift::Lsl, Shift::Lsr, Shift::Asr, Shift::Ror][bits as usize & 3]
}

/// DecodeImmShift of the manual: some shifts by zero mean something else.
fn immediate_shift(f: &Fields) -> (Shift, u8) {
    match (kind(f.number('k')), f.small('i')) {
        (Shift::Lsr, 0) => (Shift::Lsr, 32),
        (Shift::Asr, 0) => (Shift::Asr, 32),
        (Shift::Ror, 0) => (Shift::Rrx, 1),
        plain => plain,
    }
}

fn register(f: &Fields, alu: Alu) -> Op {
    let (rd, rn, rm) = (f.small('d'), f.small('n'), f.small('m'));
    let (shift, amount) = immediate_shift(f);
    match (alu, flags_of(f, alu), shift, amount) {
        (Alu::Mov, SetFlags::No, Shift::Lsl, 0) => Op::Move { rd, rm },
        (Alu::Add, SetFlags::No, Shift::Lsl, 0) => Op::Add { rd, rn, rm },
        (alu, set, shift, amount) => Op::Register {
            alu,
            set,
            rd,
            rn,
            rm,
            shift,
            amount,
        },
    }
}

fn saturate(f: &Fields, signed: bool) -> Op {
    let shift = if f.is_set('k') { Shift::Asr } else { Shift::Lsl };
    let bits = f.small('b') + u8::from(signed);
    Op::Saturate {
        signed,
        bits,
        rd: f.small('d'),
        rn: f.small('n'),
        shift,
        amount: f.small('i'),
    }
}

fn saturate_pair(f: &Fields, signed: bool) -> Op {
    let bits = f.small('b') + u8::from(signed);
    if bits > 16 {
        return Op::Undefined;
    }
    Op::SaturatePair {
        signed,
        bits,
        rd: f.small('d'),
        rn: f.small('n'),
    }
}

fn extract(f: &Fields, signed: bool) -> Op {
    let (lsb, width) = (f.small('i'), f.small('w') + 1);
    if lsb + width > 32 {
        return Op::Undefined;
    }
    Op::BitFieldExtract {
        signed,
        rd: f.small('d'),
        rn: f.small('n'),
        lsb,
        width,
    }
}

fn insert(f: &Fields, clear: bool) -> Op {
    let (lsb, msb, rd) = (f.small('i'), f.small('w'), f.small('d'));
    match msb.checked_sub(lsb) {
        None => Op::Undefined,
        Some(below) if clear => Op::BitFieldClear {
            rd,
            lsb,
            width: below + 1,
        },
        Some(below) => Op::BitFieldInsert {
            rd,
            rn: f.small('n'),
            lsb,
            width: below + 1,
        },
    }
}

fn extend(f: &Fields, extend: Extend) -> Op {
    Op::Extend {
        extend,
        rd: f.small('d'),
        rn: f.small('n'),
        rm: f.small('m'),
        rotate: f.small('r') * 8,
    }
}

fn reorder(f: &Fields, reorder: Reorder) -> Op {
    Op::Reorder {
        reorder,
        rd: f.small('d'),
        rm: f.small('m'),
    }
}
