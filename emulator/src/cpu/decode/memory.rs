//! 32-bit loads and stores: manual sections A5.3.5 to A5.3.10.

use super::{Fields, Row, encodings};
use crate::cpu::instruction::{Index, Indexed, Listed, Op, Summed, Width};

pub(super) const ROWS: &[Row] = encodings! { f:
    // A5.3.5: multiple registers. `w` is the write-back bit.
    "1110100 010 w 0 nnnn llllllllllllllll", "STM T2" => Op::StoreMultiple(wide_list(f, false));
    "1110100 010 w 1 nnnn llllllllllllllll", "LDM T2" => Op::LoadMultiple(wide_list(f, false));
    "1110100 100 w 0 nnnn llllllllllllllll", "STMDB" => Op::StoreMultiple(wide_list(f, true));
    "1110100 100 w 1 nnnn llllllllllllllll", "LDMDB" => Op::LoadMultiple(wide_list(f, true));
    // A5.3.6: dual and exclusive, table branch.
    "1110100 0010 0 nnnn tttt dddd iiiiiiii", "STREX" => store_exclusive(f, Width::Word);
    "1110100 0010 1 nnnn tttt xxxx iiiiiiii", "LDREX" => load_exclusive(f, Width::Word);
    "1110100 0110 0 nnnn tttt xxxx 0100 dddd", "STREXB" => store_exclusive(f, Width::Byte);
    "1110100 0110 0 nnnn tttt xxxx 0101 dddd", "STREXH" => store_exclusive(f, Width::Half);
    "1110100 0110 1 nnnn xxxx xxxx 0000 mmmm", "TBB" => table_branch(f, false);
    "1110100 0110 1 nnnn xxxx xxxx 0001 mmmm", "TBH" => table_branch(f, true);
    "1110100 0110 1 nnnn tttt xxxx 0100 xxxx", "LDREXB" => load_exclusive(f, Width::Byte);
    "1110100 0110 1 nnnn tttt xxxx 0101 xxxx", "LDREXH" => load_exclusive(f, Width::Half);
    // `a` says whether the offset is added. The rows above have taken the patterns with neither of P and W.
    "1110100 0 a 1 1 0 nnnn tttt uuuu iiiiiiii", "STRD, post-indexed" => dual(f, false, Index::Post);
    "1110100 0 a 1 1 1 nnnn tttt uuuu iiiiiiii", "LDRD, post-indexed" => dual(f, true, Index::Post);
    "1110100 1 a 1 0 0 nnnn tttt uuuu iiiiiiii", "STRD" => dual(f, false, Index::Offset);
    "1110100 1 a 1 0 1 nnnn tttt uuuu iiiiiiii", "LDRD" => dual(f, true, Index::Offset);
    "1110100 1 a 1 1 0 nnnn tttt uuuu iiiiiiii", "STRD, pre-indexed" => dual(f, false, Index::Pre);
    "1110100 1 a 1 1 1 nnnn tttt uuuu iiiiiiii", "LDRD, pre-indexed" => dual(f, true, Index::Pre);
    // A5.3.7 to A5.3.10: single items. Loads of bytes and halfwords to register 15 are memory hints.
    "1111100 p x 0x 1 1111 1111 iiiiiiiiiiii", "PLD, PLI (literal)" => Op::Nop;
    "1111100 x 1 0x 1 nnnn 1111 iiiiiiiiiiii", "PLD, PLI (immediate) T1" => Op::Nop;
    "1111100 x 0 0x 1 nnnn 1111 1100 iiiiiiii", "PLD, PLI (immediate) T2" => Op::Nop;
    "1111100 x 0 0x 1 nnnn 1111 000000 ii mmmm", "PLD, PLI (register)" => Op::Nop;
    "1111100 g a zz 1 1111 tttt iiiiiiiiiiii", "LDR and others (literal) T2" => literal(f);
    "1111100 0 a zz 0 1111 tttt iiiiiiiiiiii", "store to a literal" => Op::Undefined;
    "1111100 0 1 zz 0 nnnn tttt iiiiiiiiiiii", "STR and others (immediate) T3" =>
        indexed(f, Index::Offset, f.number('i') as i32).map_or(Op::Undefined, Op::Store);
    "1111100 g 1 zz 1 nnnn tttt iiiiiiiiiiii", "LDR and others (immediate) T3" =>
        indexed(f, Index::Offset, f.number('i') as i32).map_or(Op::Undefined, Op::Load);
    "1111100 0 0 zz 0 nnnn tttt 000000 ii mmmm", "STR and others (register) T2" =>
        width(f).map_or(Op::Undefined, |width| Op::StoreRegister(summed(f, width)));
    "1111100 g 0 zz 1 nnnn tttt 000000 ii mmmm", "LDR and others (register) T2" =>
        width(f).map_or(Op::Undefined, |width| Op::LoadRegister(summed(f, width)));
    // T4 of the manual: `p` pre-indexed, `u` upward, `w` with write-back; 1110 are the unprivileged forms.
    "1111100 0 0 zz 0 nnnn tttt 1 p u w iiiiiiii", "STR and others (immediate) T4" =>
        moved(f).map_or(Op::Undefined, Op::Store);
    "1111100 g 0 zz 1 nnnn tttt 1 p u w iiiiiiii", "LDR and others (immediate) T4" =>
        moved(f).map_or(Op::Undefined, Op::Load);
};

pub(super) fn listed(rn: u8, write_back: bool, decrement: bool, list: u32) -> Listed {
    let list = list as u16;
    Listed {
        rn,
        write_back,
        decrement,
        list,
    }
}

fn wide_list(f: &Fields, decrement: bool) -> Listed {
    listed(f.small('n'), f.is_set('w'), decrement, f.number('l'))
}

/// Only those of words have an offset; in the others `i` reads as zero.
fn load_exclusive(f: &Fields, width: Width) -> Op {
    let (rt, rn, offset) = (f.small('t'), f.small('n'), (f.number('i') << 2) as u16);
    Op::LoadExclusive { width, rt, rn, offset }
}

fn store_exclusive(f: &Fields, width: Width) -> Op {
    let ([rd, rn, _], rt, offset) = (f.dnm(), f.small('t'), (f.number('i') << 2) as u16);
    Op::StoreExclusive {
        width,
        rd,
        rt,
        rn,
        offset,
    }
}

fn table_branch(f: &Fields, half: bool) -> Op {
    let [_, rn, rm] = f.dnm();
    Op::TableBranch { half, rn, rm }
}

fn dual(f: &Fields, load: bool, index: Index) -> Op {
    let offset = (f.number('i') << 2) as i16;
    let offset = if f.is_set('a') { offset } else { -offset };
    Op::Dual {
        load,
        rt: f.small('t'),
        rt2: f.small('u'),
        rn: f.small('n'),
        index,
        offset,
    }
}

/// `zz` is the size, `g` says whether a load extends the sign. The rows of the stores have no `g`.
fn width(f: &Fields) -> Option<Width> {
    match (f.number('z'), f.is_set('g')) {
        (0, false) => Some(Width::Byte),
        (1, false) => Some(Width::Half),
        (2, false) => Some(Width::Word),
        (0, true) => Some(Width::SignedByte),
        (1, true) => Some(Width::SignedHalf),
        _ => None,
    }
}

fn literal(f: &Fields) -> Op {
    let (base, offset) = (f.aligned_pc(), f.number('i'));
    let (after, before) = (base.wrapping_add(offset), base.wrapping_sub(offset));
    let address = if f.is_set('a') { after } else { before };
    width(f).map_or(Op::Undefined, |width| Op::LoadLiteral {
        width,
        rt: f.small('t'),
        address,
    })
}

fn moved(f: &Fields) -> Option<Indexed> {
    let offset = f.number('i') as i32;
    let offset = if f.is_set('u') { offset } else { -offset };
    match (f.is_set('p'), f.is_set('w')) {
        (true, false) => indexed(f, Index::Offset, offset),
        (true, true) => indexed(f, Index::Pre, offset),
        (false, true) => indexed(f, Index::Post, offset),
        (false, false) => None,
    }
}

fn indexed(f: &Fields, index: Index, offset: i32) -> Option<Indexed> {
    Some(Indexed {
        width: width(f)?,
        rt: f.small('t'),
        rn: f.small('n'),
        index,
        offset,
    })
}

/// In the 16-bit encodings, which have no shift, `i` reads as zero.
pub(super) fn summed(f: &Fields, width: Width) -> Summed {
    Summed {
        width,
        rt: f.small('t'),
        rn: f.small('n'),
        rm: f.small('m'),
        shift: f.small('i'),
    }
}
