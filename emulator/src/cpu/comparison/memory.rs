//! Loads and stores: the address registers are made to point into the memory of the case.

use super::program::{ARENA, Case, Site, is_wide_code};
use super::random::{Random, can_be, instance};
use crate::cpu::decode::{Row, decode};
use crate::cpu::instruction::{Float, Index, Indexed, Listed, Op, Summed, Width};

struct Reach {
    rn: u8,
    /// A register that is added to the base, with its shift.
    rm: Option<(u8, u8)>,
    /// From the base to the lowest byte.
    lowest: i32,
    bytes: u32,
    /// What the lowest address must be a multiple of.
    align: u32,
    writes_back: bool,
    is_load: bool,
    /// The core registers that are loaded or stored, one bit each.
    list: u16,
}

fn single(at: Indexed, is_load: bool) -> Reach {
    Reach {
        rn: at.rn,
        rm: None,
        lowest: if at.index == Index::Post { 0 } else { at.offset },
        bytes: at.width.bytes(),
        align: 1,
        writes_back: at.index != Index::Offset,
        is_load,
        list: 1 << at.rt,
    }
}

/// A base alone.
fn at_base(width: Width, rt: u8, rn: u8) -> Indexed {
    Indexed {
        width,
        rt,
        rn,
        index: Index::Offset,
        offset: 0,
    }
}

fn summed(at: Summed, is_load: bool) -> Reach {
    Reach {
        rm: Some((at.rm, at.shift)),
        ..single(at_base(at.width, at.rt, at.rn), is_load)
    }
}

fn dual(at: Indexed, rt2: u8, is_load: bool) -> Option<Reach> {
    (at.rt != rt2).then_some(Reach {
        bytes: 8,
        align: 4,
        list: 1 << at.rt | 1 << rt2,
        ..single(at, is_load)
    })
}

fn many(rn: u8, words: u32, decrement: bool, writes_back: bool, is_load: bool, list: u16) -> Reach {
    Reach {
        rn,
        rm: None,
        lowest: if decrement { -(words as i32 * 4) } else { 0 },
        bytes: words * 4,
        align: 4,
        writes_back,
        is_load,
        list,
    }
}

fn many_listed(listed: Listed, is_load: bool) -> Reach {
    let (words, Listed { rn, list, .. }) = (listed.list.count_ones(), listed);
    many(rn, words, listed.decrement, listed.write_back, is_load, list)
}

/// What an instruction accesses; `None` if it is none of memory.
fn reach(op: &Op) -> Option<Reach> {
    Some(match *op {
        Op::Load(at) => single(at, true),
        Op::Store(at) => single(at, false),
        Op::LoadRegister(at) => summed(at, true),
        Op::StoreRegister(at) => summed(at, false),
        Op::LoadLiteral { width, rt, .. } => single(at_base(width, rt, 15), true),
        Op::Dual {
            load,
            rt,
            rt2,
            rn,
            index,
            offset,
        } => {
            let offset = offset.into();
            let at = Indexed {
                index,
                offset,
                ..at_base(Width::Word, rt, rn)
            };
            dual(at, rt2, load)?
        }
        Op::LoadMultiple(listed) => many_listed(listed, true),
        Op::StoreMultiple(listed) => many_listed(listed, false),
        Op::Float(Float::Transfer { of, add, offset }) => {
            let offset = i32::from(offset) * 4;
            Reach {
                lowest: if add { offset } else { -offset },
                ..many(of.rn, u32::from(of.words), false, false, of.load, 0)
            }
        }
        Op::Float(Float::Multiple {
            of,
            step,
            decrement,
            write_back,
        }) => Reach {
            bytes: u32::from(of.words) * 4,
            ..many(of.rn, u32::from(step), decrement, write_back, of.load, 0)
        },
        _ => return None,
    })
}

fn is_defined(op: &Op, reach: &Reach, is_wide: bool) -> bool {
    let is_list = matches!(op, Op::LoadMultiple(_) | Op::StoreMultiple(_));
    let is_float_list = matches!(op, Op::Float(Float::Multiple { .. }));
    let (list, base) = (reach.list, 1u16 << reach.rn);
    let clashes = reach.writes_back && list & base != 0 || list & 1 << 13 != 0;
    let jumps = list & 1 << 15 != 0 && (!reach.is_load || list & 1 << 14 != 0 || !is_list && reach.bytes != 4);
    let short = is_list && list.count_ones() < if is_wide { 2 } else { 1 };
    let from_code = reach.rn == 15 && (!reach.is_load || reach.writes_back || is_list || is_float_list);
    !(clashes || jumps || short || from_code || reach.bytes == 0 || reach.bytes as usize > ARENA * 4)
}

pub(super) fn usable(rows: impl Iterator<Item = &'static Row>) -> Vec<&'static Row> {
    let accesses = |row: &&'static Row| can_be(row, |op| reach(op).is_some());
    rows.filter(accesses).collect()
}

pub(super) fn draw(random: &mut Random, rows: &[&'static Row], site: &mut Site<'_>) -> Case {
    loop {
        let row = random.pick(rows);
        let drawn = instance(row, random, |letter, random| match (letter, random.below(12)) {
            ('n', 0) => 13,
            ('n' | 't', 1) => 15,
            _ => random.register(),
        });
        let Some((first, second)) = drawn else { continue };
        let mut case = Case::new(random.inputs());
        if random.below(4) == 0 {
            case.code.push(0xbf08 | random.condition() << 4);
        }
        let at = site.code + case.code.len() as u32 * 2;
        let op = decode(at, first, second).op;
        let Some(reach) = reach(&op) else { continue };
        if !is_defined(&op, &reach, is_wide_code(first)) {
            continue;
        }
        case.code.push(first);
        if is_wide_code(first) {
            case.code.push(second);
        }
        case.names.push(row.name);
        let placed = if reach.rn == 15 {
            literal_is_inside(&op, &reach, at)
        } else {
            place(random, &reach, &mut case, site)
        };
        if placed {
            return case;
        }
    }
}

/// Whether a load relative to the program counter stays inside the program.
fn literal_is_inside(op: &Op, reach: &Reach, at: u32) -> bool {
    let address = match op {
        Op::LoadLiteral { address, .. } => *address as i32,
        _ => ((at as i32 + 4) & !3) + reach.lowest,
    };
    reach.list & 1 << 15 == 0 && (0..0x1_0000).contains(&address)
}

/// Makes the registers point into the arena; what is loaded into the program counter becomes an address to go on at.
fn place(random: &mut Random, reach: &Reach, case: &mut Case, site: &mut Site<'_>) -> bool {
    let jumps = reach.list & 1 << 15 != 0;
    let align = if jumps { 4 } else { reach.align };
    let low = random.below(ARENA as u32 * 4 - reach.bytes + 1) / align * align;
    let mut base = site.arena.wrapping_add(low).wrapping_sub(reach.lowest as u32);
    if let Some((rm, shift)) = reach.rm {
        if rm == reach.rn || rm > 12 {
            return false;
        }
        base = base.wrapping_sub(case.inputs.r[usize::from(rm)] << shift);
    }
    if reach.rn == 13 && base & 3 != 0 {
        return false;
    }
    case.inputs.r[usize::from(reach.rn)] = base;
    if jumps {
        // It skips `adds r7, #1`.
        case.code.push(0x3701);
        let word = (low + reach.bytes) as usize / 4 - 1;
        site.content[word] = (site.code + case.code.len() as u32 * 2) | 1;
    }
    true
}

/// An exclusive load and store of one address, with or without something in between that makes the store fail.
pub(super) fn draw_exclusive(random: &mut Random, site: &Site<'_>) -> Case {
    let mut case = Case::new(random.inputs());
    let (rn, rt) = (random.below(3) as u16, 3 + random.below(5) as u16);
    let (stored, failed) = (random.below(8) as u16, 8 + random.below(5) as u16);
    let (width, offset) = (random.below(3), random.below(8) as u16);
    let (load, store, names) = match width {
        0 => (0xf4f | rt << 12, 0xf40 | failed | stored << 12, ["LDREXB", "STREXB"]),
        1 => (0xf5f | rt << 12, 0xf50 | failed | stored << 12, ["LDREXH", "STREXH"]),
        _ => (
            0xf00 | rt << 12 | offset,
            stored << 12 | failed << 8 | offset,
            ["LDREX", "STREX"],
        ),
    };
    let codes = if width == 2 { [0xe850, 0xe840] } else { [0xe8d0, 0xe8c0] };
    case.inputs.r[usize::from(rn)] = site.arena + random.below(16) * 4;
    if random.below(4) > 0 {
        case.code.extend([codes[0] | rn, load]);
        case.names.push(names[0]);
    }
    if random.below(4) == 0 {
        case.code.extend([0xf3bf, 0x8f2f]);
        case.names.push("CLREX");
    }
    case.code.extend([codes[1] | rn, store]);
    case.names.push(names[1]);
    case
}
