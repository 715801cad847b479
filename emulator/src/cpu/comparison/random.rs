//! Instructions and operands by chance, from a seed.

use super::program::Inputs;
use crate::cpu::decode::{Row, decode, name};
use crate::cpu::instruction::Op;
use crate::hash::mix;

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u32 {
        self.0 = mix(self.0);
        (self.0 >> 32) as u32
    }

    pub(super) fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }

    /// A number that is likely to sit on some edge.
    pub(super) fn integer(&mut self) -> u32 {
        match self.below(4) {
            0 => self.pick(&[
                0,
                1,
                2,
                0x7f,
                0x80,
                0xff,
                0x7fff,
                0x8000,
                0xffff,
                0x7fff_ffff,
                0x8000_0000,
                0xffff_ffff,
            ]),
            1 => self.below(64),
            _ => self.next(),
        }
    }

    pub(super) fn float(&mut self) -> u32 {
        match self.below(6) {
            0 => self.pick(&[
                0,
                0x8000_0000,
                0x3f80_0000,
                0xbf80_0000,
                0x7f80_0000,
                0xff80_0000,
                0x7f7f_ffff,
                0x0080_0000,
            ]),
            1 => self.pick(&[
                0x7fc0_0000,
                0x7fa0_1234,
                0xffc0_4321,
                0xff81_0000,
                1,
                0x8000_0001,
                0x007f_ffff,
                0x4f00_0000,
            ]),
            // Numbers of a few bits, whose sums and products are exact, and near ones, which cancel.
            2 => (self.below(4096) as f32 / 16.0).to_bits(),
            3 => 0x3f80_0000 | self.next() & 0x8080_00ff,
            4 => self.next() & 0x80ff_ffff,
            _ => self.next(),
        }
    }

    pub(super) fn inputs(&mut self) -> Inputs {
        let is_default = self.below(2) == 0;
        let modes = if is_default { 0 } else { self.next() & 0x07c0_0000 };
        let mut inputs = Inputs {
            s: std::array::from_fn(|_| self.float()),
            fpscr: modes,
            apsr: self.next() & 0xf80f_0000,
            r: std::array::from_fn(|_| self.integer()),
        };
        inputs.r[13] &= !3;
        inputs
    }

    /// A register: mostly any of R0 to R12, now and then the link register.
    pub(super) fn register(&mut self) -> u32 {
        if self.below(16) == 0 { 14 } else { self.below(13) }
    }

    /// A condition other than "always".
    pub(super) fn condition(&mut self) -> u16 {
        self.below(14) as u16
    }
}

/// A random instruction of a row: anything in the fields, but registers as `choose` says for their letter.
pub(super) fn instance(
    row: &Row,
    random: &mut Random,
    choose: impl Fn(char, &mut Random) -> u32,
) -> Option<(u16, u16)> {
    let symbols: Vec<char> = row.pattern.chars().filter(|symbol| *symbol != ' ').collect();
    let mut fields = [0u32; 26];
    let mut widths = [0u32; 26];
    for symbol in symbols.iter().filter(|symbol| symbol.is_ascii_lowercase()) {
        widths[(*symbol as u8 - b'a') as usize] += 1;
    }
    for (place, field) in (0u8..).zip(&mut fields) {
        let letter = (place + b'a') as char;
        let is_register = widths[usize::from(place)] == 4 && "dnmtuahl".contains(letter);
        *field = if is_register {
            choose(letter, random)
        } else {
            random.next()
        };
    }
    let mut word = 0u32;
    for symbol in &symbols {
        let bit = match symbol {
            '0' | '1' => u32::from(*symbol == '1'),
            // Bits that should be zero.
            'x' => 0,
            letter => {
                let letter = (*letter as u8 - b'a') as usize;
                widths[letter] -= 1;
                fields[letter] >> widths[letter] & 1
            }
        };
        word = word << 1 | bit;
    }
    let (first, second) = if symbols.len() == 16 {
        (word as u16, 0)
    } else {
        ((word >> 16) as u16, word as u16)
    };
    // Another row may have caught it, one of a special case with register 15.
    (name(first, second) == row.name).then_some((first, second))
}

/// Whether some instruction of a row is as wanted.
pub(super) fn can_be(row: &Row, is_wanted: impl Fn(&Op) -> bool) -> bool {
    (0..50).any(|seed| {
        let drawn = instance(row, &mut Random(seed), |_, random| random.register());
        drawn.is_some_and(|(first, second)| is_wanted(&decode(0, first, second).op))
    })
}
