//! The decoder: the encoding diagrams of the ARMv7-M Architecture Reference Manual, chapter A7, as tables.
//!
//! A row is an encoding as the manual draws it, most significant bit first: `0` and `1` are fixed bits, a letter is a
//! bit of the field of that name, `x` is a bit that is ignored. Bits of one letter are joined in reading order, so
//! the immediate `i:imm3:imm8` of the manual is simply the letter `i` in three places. Letters used throughout:
//! `d n m t u a` are the registers Rd, Rn, Rm, Rt, Rt2 and Ra, `i` an immediate, `s` the S bit, `k` a kind of shift.
//!
//! The first row that matches decides, so special cases stand above the general ones.

mod control;
mod data;
mod dsp;
mod float;
mod memory;
mod narrow;

use std::sync::LazyLock;

use super::cycles;
use super::instruction::{Decoded, Op};

/// One encoding of the manual.
pub(crate) struct Row {
    pub(crate) pattern: &'static str,
    /// The name of the instruction and its encoding, for reports.
    pub(crate) name: &'static str,
    pub(crate) build: fn(&Fields) -> Op,
}

/// Rows, each with what it makes of the fields `f`.
macro_rules! encodings {
    ($f:ident: $($pattern:literal, $name:literal => $op:expr;)*) => {
        &[$(Row {
            pattern: $pattern,
            name: $name,
            build: |$f| {
                let _ = $f;
                $op
            },
        }),*]
    };
}
use encodings;

pub(crate) struct Fields {
    values: [u32; 26],
    address: u32,
}

impl Fields {
    /// The number that the bits of `letter` make.
    fn number(&self, letter: char) -> u32 {
        self.values[(letter as u8 - b'a') as usize]
    }

    /// The same as a register or another small number.
    fn small(&self, letter: char) -> u8 {
        self.number(letter) as u8
    }

    /// Rd, Rn and Rm.
    fn dnm(&self) -> [u8; 3] {
        ['d', 'n', 'm'].map(|letter| self.small(letter))
    }

    fn is_set(&self, letter: char) -> bool {
        self.number(letter) != 0
    }

    /// What the program counter reads as: two halfwords ahead.
    fn pc(&self) -> u32 {
        self.address.wrapping_add(4)
    }

    /// The base of PC-relative addresses.
    fn aligned_pc(&self) -> u32 {
        self.pc() & !3
    }

    /// A branch target: `value` is a signed number of `bits` bits.
    fn target(&self, value: u32, bits: u32) -> u32 {
        self.pc().wrapping_add(sign_extend(value, bits) as u32)
    }
}

/// The number made of the lowest `bits` bits, with its sign.
fn sign_extend(value: u32, bits: u32) -> i32 {
    ((value << (32 - bits)) as i32) >> (32 - bits)
}

struct Piece {
    letter: usize,
    shift: u32,
    width: u32,
}

/// A row with its pattern taken apart. 16-bit encodings stand in the upper half of the word.
struct Compiled {
    mask: u32,
    value: u32,
    pieces: Vec<Piece>,
    row: &'static Row,
}

impl Compiled {
    fn new(row: &'static Row) -> Self {
        let symbols: Vec<char> = row.pattern.chars().filter(|symbol| *symbol != ' ').collect();
        let bits = symbols.len();
        assert!(bits == 16 || bits == 32, "{}: {bits} bits", row.name);
        let mut compiled = Compiled {
            mask: 0,
            value: 0,
            pieces: Vec::new(),
            row,
        };
        for (place, symbol) in symbols.into_iter().enumerate() {
            let bit = 31 - place as u32;
            match symbol {
                '0' | '1' => {
                    compiled.mask |= 1 << bit;
                    compiled.value |= u32::from(symbol == '1') << bit;
                }
                'x' => {}
                letter => compiled.add_bit((letter as u8 - b'a') as usize, bit),
            }
        }
        compiled
    }

    fn add_bit(&mut self, letter: usize, bit: u32) {
        match self.pieces.last_mut() {
            Some(piece) if piece.letter == letter && piece.shift == bit + 1 => {
                piece.shift = bit;
                piece.width += 1;
            }
            _ => self.pieces.push(Piece {
                letter,
                shift: bit,
                width: 1,
            }),
        }
    }

    fn fields(&self, word: u32, address: u32) -> Fields {
        let mut values = [0; 26];
        for piece in &self.pieces {
            let bits = word >> piece.shift & ((1 << piece.width) - 1);
            values[piece.letter] = values[piece.letter] << piece.width | bits;
        }
        Fields { values, address }
    }
}

/// All rows, listed under each value of the first byte that they can match.
static INDEX: LazyLock<Vec<Vec<Compiled>>> = LazyLock::new(|| {
    (0..256u32)
        .map(|byte| {
            rows()
                .map(Compiled::new)
                .filter(|compiled| (byte << 24 ^ compiled.value) & compiled.mask & 0xff00_0000 == 0)
                .collect()
        })
        .collect()
});

pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    [
        narrow::ROWS,
        data::ROWS,
        control::ROWS,
        memory::ROWS,
        dsp::ROWS,
        float::ROWS,
    ]
    .into_iter()
    .flatten()
}

/// Whether an instruction that begins with this halfword has a second one.
pub(crate) fn is_wide(first: u16) -> bool {
    first >> 11 >= 0b11101
}

fn find(word: u32) -> Option<&'static Compiled> {
    INDEX[(word >> 24) as usize]
        .iter()
        .find(|compiled| word & compiled.mask == compiled.value)
}

fn join(first: u16, second: u16) -> u32 {
    u32::from(first) << 16 | if is_wide(first) { u32::from(second) } else { 0 }
}

/// Decodes the instruction of one or two halfwords at `address`.
pub(crate) fn decode(address: u32, first: u16, second: u16) -> Decoded {
    let word = join(first, second);
    let op = find(word).map_or(Op::Undefined, |compiled| {
        (compiled.row.build)(&compiled.fields(word, address))
    });
    Decoded {
        op,
        length: if is_wide(first) { 4 } else { 2 },
        cycles: cycles::of(&op),
    }
}

pub(crate) fn name(first: u16, second: u16) -> &'static str {
    find(join(first, second)).map_or("undefined instruction", |compiled| compiled.row.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_in_several_places_are_joined_in_reading_order() {
        let word = 0b1111_0100_0000_0011_0010_0100_1010_1010;
        let compiled = find(word).unwrap();
        let fields = compiled.fields(word, 0);
        assert_eq!(compiled.row.name, "AND (immediate)");
        let found = (fields.number('i'), fields.number('n'), fields.number('d'));
        assert_eq!(found, (0b1010_1010_1010, 3, 4));
    }

    /// A row that an earlier one hides would never be used.
    #[test]
    fn every_row_matches_itself() {
        for row in rows() {
            let compiled = Compiled::new(row);
            let free = !compiled.mask
                & if row.pattern.replace(' ', "").len() == 16 {
                    0xffff_0000
                } else {
                    !0
                };
            let mut state = 1u64;
            let found = (0..4096).any(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let word = compiled.value | (state >> 32) as u32 & free;
                find(word).is_some_and(|other| std::ptr::eq(other.row, row))
            });
            assert!(found, "{} {} is never reached", row.name, row.pattern);
        }
    }

    #[test]
    fn first_halfword_tells_the_length() {
        assert!(!is_wide(0xe7fe));
        assert!(is_wide(0xe800));
        assert!(is_wide(0xf000));
    }

    #[test]
    fn a_decoded_instruction_stays_small() {
        assert_eq!(size_of::<Decoded>(), 16);
    }
}
