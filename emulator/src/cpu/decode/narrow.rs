//! The 16-bit encodings: manual section A5.2.

use super::data::{add_offset, flags_of, move_immediate, reorder};
use super::memory::{listed, summed};
use super::{Fields, Row, encodings};
use crate::cpu::instruction::{Alu, Extend, Index, Indexed, Op, Reorder, SetFlags, Shift, Shifted, Width};

pub(super) const ROWS: &[Row] = encodings! { f:
    // A5.2.1: shift by immediate, add, subtract, move and compare.
    "00000 iiiii mmm ddd", "LSL (immediate) T1" => shift(f, Shift::Lsl, f.small('i'));
    "00001 iiiii mmm ddd", "LSR (immediate) T1" => shift(f, Shift::Lsr, zero_is_32(f));
    "00010 iiiii mmm ddd", "ASR (immediate) T1" => shift(f, Shift::Asr, zero_is_32(f));
    "0001100 mmm nnn ddd", "ADD (register) T1" => register(f, Alu::Add, 'n', 'd');
    "0001101 mmm nnn ddd", "SUB (register) T1" => register(f, Alu::Sub, 'n', 'd');
    "0001110 iii nnn ddd", "ADD (immediate) T1" => immediate(f, Alu::Add, 'n', 'd');
    "0001111 iii nnn ddd", "SUB (immediate) T1" => immediate(f, Alu::Sub, 'n', 'd');
    "00100 ddd iiiiiiii", "MOV (immediate) T1" => move_immediate(f, SetFlags::OutsideIt, f.number('i'));
    "00101 nnn iiiiiiii", "CMP (immediate) T1" => immediate(f, Alu::Cmp, 'n', 'n');
    "00110 ddd iiiiiiii", "ADD (immediate) T2" => immediate(f, Alu::Add, 'd', 'd');
    "00111 ddd iiiiiiii", "SUB (immediate) T2" => immediate(f, Alu::Sub, 'd', 'd');
    // A5.2.2: data processing.
    "010000 0000 mmm ddd", "AND (register) T1" => register(f, Alu::And, 'd', 'd');
    "010000 0001 mmm ddd", "EOR (register) T1" => register(f, Alu::Eor, 'd', 'd');
    "010000 0010 mmm ddd", "LSL (register) T1" => shift_by_register(f, Shift::Lsl);
    "010000 0011 mmm ddd", "LSR (register) T1" => shift_by_register(f, Shift::Lsr);
    "010000 0100 mmm ddd", "ASR (register) T1" => shift_by_register(f, Shift::Asr);
    "010000 0101 mmm ddd", "ADC (register) T1" => register(f, Alu::Adc, 'd', 'd');
    "010000 0110 mmm ddd", "SBC (register) T1" => register(f, Alu::Sbc, 'd', 'd');
    "010000 0111 mmm ddd", "ROR (register) T1" => shift_by_register(f, Shift::Ror);
    "010000 1000 mmm ddd", "TST (register) T1" => register(f, Alu::Tst, 'd', 'd');
    // There is no immediate field, so `i` reads as zero.
    "010000 1001 nnn ddd", "RSB (immediate) T1" => immediate(f, Alu::Rsb, 'n', 'd');
    "010000 1010 mmm ddd", "CMP (register) T1" => register(f, Alu::Cmp, 'd', 'd');
    "010000 1011 mmm ddd", "CMN (register) T1" => register(f, Alu::Cmn, 'd', 'd');
    "010000 1100 mmm ddd", "ORR (register) T1" => register(f, Alu::Orr, 'd', 'd');
    "010000 1101 nnn ddd", "MUL T1" => Op::Multiply {
        set: SetFlags::OutsideIt,
        rd: f.small('d'),
        rn: f.small('n'),
        rm: f.small('d'),
    };
    "010000 1110 mmm ddd", "BIC (register) T1" => register(f, Alu::Bic, 'd', 'd');
    "010000 1111 mmm ddd", "MVN (register) T1" => register(f, Alu::Mvn, 'd', 'd');
    // A5.2.3: special data instructions, branch and exchange.
    "010001 00 d mmmm ddd", "ADD (register) T2" => Op::Add { rd: f.small('d'), rn: f.small('d'), rm: f.small('m') };
    "010001 01 n mmmm nnn", "CMP (register) T2" => register(f, Alu::Cmp, 'n', 'n');
    "010001 10 d mmmm ddd", "MOV (register) T1" => Op::Move { rd: f.small('d'), rm: f.small('m') };
    "010001 110 mmmm xxx", "BX T1" => Op::BranchExchange { rm: f.small('m') };
    "010001 111 mmmm xxx", "BLX (register) T1" => Op::BranchLinkExchange { rm: f.small('m') };
    "01001 ttt iiiiiiii", "LDR (literal) T1" => Op::LoadLiteral {
        width: Width::Word,
        rt: f.small('t'),
        address: f.aligned_pc().wrapping_add(f.number('i') << 2),
    };
    // A5.2.4: load and store single.
    "0101 000 mmm nnn ttt", "STR (register) T1" => Op::StoreRegister(summed(f, Width::Word));
    "0101 001 mmm nnn ttt", "STRH (register) T1" => Op::StoreRegister(summed(f, Width::Half));
    "0101 010 mmm nnn ttt", "STRB (register) T1" => Op::StoreRegister(summed(f, Width::Byte));
    "0101 011 mmm nnn ttt", "LDRSB (register) T1" => Op::LoadRegister(summed(f, Width::SignedByte));
    "0101 100 mmm nnn ttt", "LDR (register) T1" => Op::LoadRegister(summed(f, Width::Word));
    "0101 101 mmm nnn ttt", "LDRH (register) T1" => Op::LoadRegister(summed(f, Width::Half));
    "0101 110 mmm nnn ttt", "LDRB (register) T1" => Op::LoadRegister(summed(f, Width::Byte));
    "0101 111 mmm nnn ttt", "LDRSH (register) T1" => Op::LoadRegister(summed(f, Width::SignedHalf));
    "0110 0 iiiii nnn ttt", "STR (immediate) T1" => Op::Store(indexed(f, Width::Word, f.small('n'), 2));
    "0110 1 iiiii nnn ttt", "LDR (immediate) T1" => Op::Load(indexed(f, Width::Word, f.small('n'), 2));
    "0111 0 iiiii nnn ttt", "STRB (immediate) T1" => Op::Store(indexed(f, Width::Byte, f.small('n'), 0));
    "0111 1 iiiii nnn ttt", "LDRB (immediate) T1" => Op::Load(indexed(f, Width::Byte, f.small('n'), 0));
    "1000 0 iiiii nnn ttt", "STRH (immediate) T1" => Op::Store(indexed(f, Width::Half, f.small('n'), 1));
    "1000 1 iiiii nnn ttt", "LDRH (immediate) T1" => Op::Load(indexed(f, Width::Half, f.small('n'), 1));
    "1001 0 ttt iiiiiiii", "STR (immediate) T2" => Op::Store(indexed(f, Width::Word, 13, 2));
    "1001 1 ttt iiiiiiii", "LDR (immediate) T2" => Op::Load(indexed(f, Width::Word, 13, 2));
    "1010 0 ddd iiiiiiii", "ADR T1" => move_immediate(f, SetFlags::No, f.aligned_pc().wrapping_add(f.number('i') << 2));
    "1010 1 ddd iiiiiiii", "ADD (SP plus immediate) T1" => add_offset(f, 13, (f.number('i') << 2) as i32);
    // A5.2.5: miscellaneous.
    "1011 0000 0 iiiiiii", "ADD (SP plus immediate) T2" => move_stack(f.number('i') as i32);
    "1011 0000 1 iiiiiii", "SUB (SP minus immediate) T1" => move_stack(-(f.number('i') as i32));
    "1011 o0i1 iiiii nnn", "CBZ, CBNZ T1" => Op::CompareBranch {
        nonzero: f.is_set('o'),
        rn: f.small('n'),
        to: f.pc().wrapping_add(f.number('i') << 1),
    };
    "1011 0010 00 mmm ddd", "SXTH T1" => extend(f, Extend::SignedHalf);
    "1011 0010 01 mmm ddd", "SXTB T1" => extend(f, Extend::SignedByte);
    "1011 0010 10 mmm ddd", "UXTH T1" => extend(f, Extend::Half);
    "1011 0010 11 mmm ddd", "UXTB T1" => extend(f, Extend::Byte);
    "1011 010 r llllllll", "PUSH T1" => Op::StoreMultiple(listed(13, true, true, f.number('r') << 14 | f.number('l')));
    "1011 110 r llllllll", "POP T1" => Op::LoadMultiple(listed(13, true, false, f.number('r') << 15 | f.number('l')));
    "1011 0110 011 e 0 x p f", "CPS T1" => Op::ChangeMasks {
        disable: f.is_set('e'),
        primask: f.is_set('p'),
        faultmask: f.is_set('f'),
    };
    "1011 1010 00 mmm ddd", "REV T1" => reorder(f, Reorder::Bytes);
    "1011 1010 01 mmm ddd", "REV16 T1" => reorder(f, Reorder::BytesOfHalves);
    "1011 1010 11 mmm ddd", "REVSH T1" => reorder(f, Reorder::SignedHalf);
    "1011 1110 xxxxxxxx", "BKPT T1" => Op::Breakpoint;
    "1011 1111 0010 0000", "WFE T1" => Op::WaitForEvent;
    "1011 1111 0011 0000", "WFI T1" => Op::WaitForInterrupt;
    "1011 1111 0100 0000", "SEV T1" => Op::SendEvent;
    "1011 1111 xxxx 0000", "NOP and other hints T1" => Op::Nop;
    "1011 1111 cccc mmmm", "IT T1" => Op::IfThen { state: f.small('c') << 4 | f.small('m') };
    "1100 0 nnn llllllll", "STM T1" => Op::StoreMultiple(listed(f.small('n'), true, false, f.number('l')));
    "1100 1 nnn llllllll", "LDM T1" =>
        Op::LoadMultiple(listed(f.small('n'), f.number('l') >> f.number('n') & 1 == 0, false, f.number('l')));
    // A5.2.6: conditional branch and supervisor call.
    "1101 1110 xxxxxxxx", "UDF T1" => Op::Undefined;
    "1101 1111 xxxxxxxx", "SVC T1" => Op::SupervisorCall;
    "1101 cccc iiiiiiii", "B (conditional) T1" => Op::BranchIf {
        condition: f.small('c'),
        to: f.target(f.number('i') << 1, 9),
    };
    "11100 iiiiiiiiiii", "B T2" => Op::Branch { to: f.target(f.number('i') << 1, 12) };
};

/// Right shifts by 32 are encoded as shifts by zero.
fn zero_is_32(f: &Fields) -> u8 {
    match f.small('i') {
        0 => 32,
        amount => amount,
    }
}

fn shift(f: &Fields, shift: Shift, amount: u8) -> Op {
    let rm = f.small('m');
    Op::Register {
        alu: Alu::Mov,
        set: SetFlags::OutsideIt,
        rd: f.small('d'),
        rn: 0,
        m: Shifted { rm, shift, amount },
    }
}

fn register(f: &Fields, alu: Alu, n: char, d: char) -> Op {
    let (rm, shift, amount) = (f.small('m'), Shift::Lsl, 0);
    Op::Register {
        alu,
        set: flags_of(alu, SetFlags::OutsideIt),
        rd: f.small(d),
        rn: f.small(n),
        m: Shifted { rm, shift, amount },
    }
}

fn immediate(f: &Fields, alu: Alu, n: char, d: char) -> Op {
    let (rd, rn, value) = (f.small(d), f.small(n), f.number('i'));
    let (set, carry) = (flags_of(alu, SetFlags::OutsideIt), None);
    Op::Immediate {
        alu,
        set,
        rd,
        rn,
        carry,
        value,
    }
}

fn shift_by_register(f: &Fields, shift: Shift) -> Op {
    let ([rd, _, rm], set) = (f.dnm(), SetFlags::OutsideIt);
    Op::ShiftByRegister {
        shift,
        set,
        rd,
        rn: rd,
        rm,
    }
}

fn indexed(f: &Fields, width: Width, rn: u8, scale: u32) -> Indexed {
    Indexed {
        width,
        rt: f.small('t'),
        rn,
        index: Index::Offset,
        offset: (f.number('i') << scale) as i32,
    }
}

fn move_stack(words: i32) -> Op {
    let (rd, rn, offset) = (13, 13, words * 4);
    Op::AddOffset { rd, rn, offset }
}

fn extend(f: &Fields, extend: Extend) -> Op {
    let ([rd, _, rm], rn, rotate) = (f.dnm(), 15, 0);
    Op::Extend {
        extend,
        rd,
        rn,
        rm,
        rotate,
    }
}
