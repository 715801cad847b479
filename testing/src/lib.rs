//! What tests of several crates share.

#![forbid(unsafe_code)]

use std::io::Write;

#[cfg(unix)]
mod folder;
pub mod fuzz;
mod networks;

#[cfg(unix)]
pub use folder::Folder;
pub use networks::{audited_groups, figures, networks};

/// How often a property is tried: `HOPWISE_CASES` percent of `cases`, at least once.
pub fn cases(cases: u32) -> u32 {
    let percent = std::env::var("HOPWISE_CASES").ok().and_then(|text| text.parse().ok());
    (cases * percent.unwrap_or(100) / 100).max(1)
}

/// Says on the terminal, even where tests are quiet, that this machine lacks what a test needs.
pub fn not_tested(why: &str) {
    let _ = writeln!(std::io::stderr(), "\n*** NOT TESTED: {why} ***\n");
}

/// A generator of numbers, the same for the same seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }
}

/// The rows of a table, a line each: what is given and what is expected, with `=>` between. `\n` in what is given is the end of a line.
pub fn rows(table: &str) -> Vec<(String, String)> {
    let row = |line: &str| {
        let (given, expected) = line.split_once("=>").unwrap_or((line, ""));
        assert!(!expected.is_empty(), "{line}: nothing is expected");
        (given.trim().replace("\\n", "\n"), expected.trim().into())
    };
    table.trim().lines().map(row).collect()
}

/// Whether a text is as a pattern says, in which `[..]` stands for any text.
pub fn is_like(text: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once("[..]") else {
        return text == pattern;
    };
    text.strip_prefix(first).is_some_and(|text| {
        let mut places = text.char_indices().map(|(place, _)| place).chain([text.len()]);
        places.any(|place| is_like(&text[place..], rest))
    })
}

/// An ELF file for ARM with one piece, which is for this address and begins with its vectors: stack pointer and entry.
pub fn elf(address: u32, piece: &[u8]) -> Vec<u8> {
    const HEADERS: u32 = 52 + 32;
    let length = piece.len() as u32;
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    // Executable, ARM, version 1, where it starts; where its table of pieces is, and how large that is.
    let header = [
        40 << 16 | 2,
        1,
        address + 9,
        52,
        0,
        0x0500_0000,
        32 << 16 | 52,
        40 << 16 | 1,
        0,
    ];
    // To be loaded, to be read, written and executed.
    let piece_header = [1, HEADERS, address, address, length, length, 7, 4];
    file.extend(header.into_iter().chain(piece_header).flat_map(u32::to_le_bytes));
    file.extend(piece);
    file
}
