//! A program of many cases: for each it loads all registers from a table, executes the instructions of the case, and
//! stores all registers. At the end it writes them, and the memory that the cases have used, to a file.

use std::path::Path;

pub(super) use crate::cpu::decode::is_wide as is_wide_code;
use crate::memory::SRAM;

pub(super) const CASES: usize = 250;
/// R1 to R12, LR, SP, R0, APSR, FPSCR, S0 to S31.
pub(super) const RESULTS: usize = 49;
/// Words of memory that each case has for itself, full of random numbers.
pub(super) const ARENA: usize = 32;
/// Where the table of inputs begins in the program.
const TABLE: u32 = 0x1_0000;
/// A function far from all branches: `adds r5, #1; bx lr`.
pub(super) const FAR_FUNCTION: u32 = TABLE - 16;
/// Where the arenas are; a case may reach over the ends of its own, so there is one more at both ends.
const ARENAS: u32 = SRAM + (CASES * RESULTS * 4) as u32;
/// Where the stack of the program itself begins.
const STACK: u32 = SRAM + 0x1_f000;
/// All that the program leaves behind.
pub(super) const LEFT: usize = CASES * RESULTS * 4 + (CASES + 2) * ARENA * 4;

/// What the registers hold before a case.
pub(super) struct Inputs {
    pub(super) s: [u32; 32],
    pub(super) fpscr: u32,
    pub(super) apsr: u32,
    pub(super) r: [u32; 15],
}

pub(super) struct Case {
    pub(super) inputs: Inputs,
    pub(super) code: Vec<u16>,
    /// The rows of the decoder that it is about.
    pub(super) names: Vec<&'static str>,
}

impl Case {
    pub(super) fn new(inputs: Inputs) -> Self {
        Case {
            inputs,
            code: Vec::new(),
            names: Vec::new(),
        }
    }
}

pub(super) struct Site<'a> {
    pub(super) code: u32,
    pub(super) arena: u32,
    pub(super) content: &'a mut [u32],
}

pub(super) struct Program {
    code: Vec<u16>,
    table: Vec<u32>,
    arenas: Vec<u32>,
    pub(super) cases: Vec<Case>,
}

/// MOVW and MOVT.
fn load_constant(code: &mut Vec<u16>, register: u16, value: u32) {
    for (opcode, half) in [(0xf240, value & 0xffff), (0xf2c0, value >> 16)] {
        let half = half as u16;
        code.push(opcode | (half >> 11 & 1) << 10 | half >> 12);
        code.push((half >> 8 & 7) << 12 | register << 8 | half & 0xff);
    }
}

impl Program {
    /// A program without cases. `arenas` is the first content of their memory, [`arena_words`](Self::arena_words) long.
    pub(super) fn new(arenas: Vec<u32>) -> Self {
        let mut code = vec![];
        load_constant(&mut code, 0, 0xe000_ed88);
        // ldr r1, [r0]; orr r1, r1, #0xf00000; str r1, [r0]; dsb; isb: floating point on.
        code.extend([0x6801, 0xf441, 0x0170, 0x6001, 0xf3bf, 0x8f4f, 0xf3bf, 0x8f6f]);
        load_constant(&mut code, 0, TABLE + (CASES * Self::INPUTS * 4) as u32);
        load_constant(&mut code, 1, ARENAS);
        load_constant(&mut code, 2, arenas.len() as u32);
        // again: ldr r3, [r0], #4; str r3, [r1], #4; subs r2, #1; bne again
        code.extend([0xf850, 0x3b04, 0xf841, 0x3b04, 0x3a01, 0xd1f9]);
        Program {
            code,
            table: Vec::new(),
            arenas,
            cases: Vec::new(),
        }
    }

    /// Words of the table for each case.
    const INPUTS: usize = 49;

    pub(super) fn arena_words() -> usize {
        (CASES + 2) * ARENA
    }

    /// Adds a case that is made for the place where it will stand.
    pub(super) fn add(&mut self, make: impl FnOnce(&mut Site<'_>) -> Case) {
        let number = self.cases.len();
        let entry = TABLE + (number * Self::INPUTS * 4) as u32;
        load_constant(&mut self.code, 0, entry);
        // vldmia r0!, {s0-s31}; ldmia r0!, {r1, r2, r3, r14}; vmsr fpscr, r1; msr apsr_nzcvqg, r2; mov sp, r3;
        // ldmia r0, {r0-r12}; clrex
        self.code.extend([
            0xecb0, 0x0a20, 0xe8b0, 0x400e, 0xeee1, 0x1a10, 0xf382, 0x8c00, 0x469d, 0xe890, 0x1fff, 0xf3bf, 0x8f2f,
        ]);
        let place = (number + 1) * ARENA;
        let case = make(&mut Site {
            code: 0x100 + self.code.len() as u32 * 2,
            arena: ARENAS + place as u32 * 4,
            content: &mut self.arenas[place..place + ARENA],
        });
        self.code.extend(&case.code);
        let Inputs { s, fpscr, apsr, r } = &case.inputs;
        self.table.extend(s);
        self.table.extend([*fpscr, *apsr, r[13], r[14]]);
        self.table.extend(&r[..13]);
        // R0 is kept in S0 or S31, which is not compared in this case.
        let (keep, back) = if number.is_multiple_of(2) {
            ([0xee00, 0x0a10], [0xee10, 0x2a10])
        } else {
            ([0xee0f, 0x0a90], [0xee1f, 0x2a90])
        };
        self.code.extend(keep);
        load_constant(&mut self.code, 0, SRAM + (number * RESULTS * 4) as u32);
        // stmia r0!, {r1-r12, r14}; mov r1, sp; vmov r2, s0 or s31; mrs r3, apsr; vmrs r4, fpscr; stmia r0!, {r1-r4};
        // vstmia r0!, {s0-s31}
        self.code.extend([0xe8a0, 0x5ffe, 0x4669]);
        self.code.extend(back);
        self.code
            .extend([0xf3ef, 0x8300, 0xeef1, 0x4a10, 0xc01e, 0xeca0, 0x0a20]);
        self.cases.push(case);
    }

    /// The image of the program. Its end writes the results to a file, which only QEMU does: for our core it is a
    /// breakpoint.
    pub(super) fn finish(&self, result_file: &Path) -> Vec<u8> {
        let mut code = self.code.clone();
        let mut name = result_file.to_str().expect("a path of text").as_bytes().to_vec();
        let length = name.len() as u32;
        name.resize((name.len() + 1).next_multiple_of(4), 0);
        let after_tables = TABLE + (self.table.len() + self.arenas.len()) as u32 * 4;
        let block = SRAM + LEFT as u32;
        let end = 0x100 + code.len() as u32 * 2;
        // Our core takes the breakpoints as faults: their frames go to where nothing is compared.
        load_constant(&mut code, 0, STACK);
        code.push(0x4685); // mov sp, r0
        load_constant(&mut code, 1, after_tables);
        code.extend([0x2001, 0xbeab]); // SYS_OPEN
        load_constant(&mut code, 1, block);
        code.push(0x6008); // str r0, [r1]
        load_constant(&mut code, 2, SRAM);
        code.push(0x604a); // str r2, [r1, #4]
        load_constant(&mut code, 2, LEFT as u32);
        code.push(0x608a); // str r2, [r1, #8]
        code.extend([0x2005, 0xbeab]); // SYS_WRITE
        load_constant(&mut code, 1, 0x2_0026);
        code.extend([0x2018, 0xbeab, 0xe7fe]); // SYS_EXIT
        let mut bytes = Vec::new();
        // The vectors: stack, reset and hard fault. An instruction that QEMU does not know leads to the end.
        for vector in 0..64u32 {
            let address = match vector {
                0 => STACK,
                1 => 0x101,
                3 => end | 1,
                _ => 0,
            };
            bytes.extend(address.to_le_bytes());
        }
        bytes.extend(code.iter().flat_map(|half| half.to_le_bytes()));
        assert!(bytes.len() <= FAR_FUNCTION as usize);
        bytes.resize(FAR_FUNCTION as usize, 0);
        bytes.extend([0x3501u16, 0x4770].iter().flat_map(|half| half.to_le_bytes()));
        bytes.resize(TABLE as usize, 0);
        let words = self.table.iter().chain(&self.arenas);
        bytes.extend(words.flat_map(|word| word.to_le_bytes()));
        // Mode 5 is "wb".
        let words = [after_tables + 12, 5, length];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(name);
        bytes
    }
}

pub(super) fn result_name(place: usize) -> String {
    match place {
        0..12 => format!("r{}", place + 1),
        12 => "lr".into(),
        13 => "sp".into(),
        14 => "r0".into(),
        15 => "apsr".into(),
        16 => "fpscr".into(),
        _ => format!("s{}", place - 17),
    }
}
