//! Our core against QEMU's: random instructions with random operands, all registers and flags compared.
//!
//! A run is a program for QEMU's mps2-an386 machine, which has a Cortex-M4F: for each case it loads all registers from a
//! table, executes one instruction, and stores all registers. At the end it writes them to a file by semihosting. Our
//! core executes the same program and must have left the same in memory.
//!
//! Instructions are drawn from the decoder's own table, so every encoding that computes gets its turn. Without QEMU
//! (Debian package qemu-system-arm) nothing is compared, and that is said. `HOPWISE_QEMU_RUNS=1000 cargo test -p
//! hopwise-emulator qemu` makes it a campaign; a failure prints the seed and the case.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use super::decode::{Row, decode, name, rows};
use super::instruction::{Float, Op};
use super::{Bus, Cpu, Cycles, Lines, NEVER};
use crate::chip::Model;
use crate::chip::line::mix;
use crate::image::Image;
use crate::memory::{Memory, SRAM};

const CASES: usize = 500;
/// S0-S31, FPSCR, APSR, R0-R12 go in; R0-R12, APSR, FPSCR, S0-S31 come out.
const WORDS: usize = 47;
const RUNS: u64 = 6;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = mix(self.0);
        (self.0 >> 32) as u32
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }

    /// A number that is likely to sit on some edge.
    fn integer(&mut self) -> u32 {
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

    fn float(&mut self) -> u32 {
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
}

/// Whether all that the operation reads and writes are registers and flags.
fn only_computes(op: &Op) -> bool {
    match op {
        Op::MoveImmediate { .. } | Op::Move { .. } | Op::Add { .. } => true,
        // The stack pointer is the place in the table.
        Op::AddOffset { rd, .. } => *rd != 13,
        Op::Immediate { .. } | Op::Register { .. } | Op::ShiftByRegister { .. } | Op::MoveTop { .. } => true,
        Op::BitFieldInsert { .. } | Op::BitFieldClear { .. } | Op::BitFieldExtract { .. } => true,
        Op::Saturate { .. } | Op::SaturatePair { .. } | Op::Extend { .. } | Op::Reorder { .. } => true,
        Op::Multiply { .. } | Op::MultiplyAdd { .. } | Op::Divide { .. } | Op::Dsp(_) => true,
        // With one register for both halves of the result it is UNPREDICTABLE.
        Op::MultiplyLong { lo, hi, .. } => lo != hi,
        Op::Float(Float::Load { .. } | Float::Store { .. }) => false,
        Op::Float(Float::LoadMultiple { .. } | Float::StoreMultiple { .. }) => false,
        Op::Float(Float::PairToCore { rt, rt2, .. }) => rt != rt2,
        Op::Float(Float::ReadStatus { .. }) => true,
        Op::Float(_) => true,
        _ => false,
    }
}

/// A random instruction of a row: registers 0 to 12 in fields of four bits, anything in the others.
fn instance(row: &Row, random: &mut Random) -> Option<(u16, u16)> {
    let symbols: Vec<char> = row.pattern.chars().filter(|symbol| *symbol != ' ').collect();
    let mut fields = [0u32; 26];
    let mut widths = [0u32; 26];
    for symbol in symbols.iter().filter(|symbol| symbol.is_ascii_lowercase()) {
        widths[(*symbol as u8 - b'a') as usize] += 1;
    }
    for (letter, field) in fields.iter_mut().enumerate() {
        let is_register = widths[letter] == 4 && "dnmtuahl".contains((letter as u8 + b'a') as char);
        *field = if is_register { random.below(13) } else { random.next() };
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
    let drawn = decode(0, first, second);
    // Another row may have caught it, one of a special case with register 15.
    let accepted = only_computes(&drawn.op) && name(first, second) == row.name && drawn.op != Op::Undefined;
    accepted.then_some((first, second))
}

fn draw(random: &mut Random, rows: &[&'static Row]) -> (u16, u16) {
    loop {
        let row = random.pick(rows);
        if let Some(drawn) = instance(row, random) {
            return drawn;
        }
    }
}

/// MOVW and MOVT.
fn load_constant(code: &mut Vec<u16>, register: u16, value: u32) {
    for (opcode, half) in [(0xf240, value & 0xffff), (0xf2c0, value >> 16)] {
        let half = half as u16;
        code.push(opcode | (half >> 11 & 1) << 10 | half >> 12);
        code.push((half >> 8 & 7) << 12 | register << 8 | half & 0xff);
    }
}

struct Program {
    bytes: Vec<u8>,
    instructions: Vec<(u16, u16)>,
}

/// Where the table of inputs begins in the program.
const TABLE: u32 = 0x1_0000;

fn program(seed: u64, result_file: &Path) -> Program {
    let mut random = Random(seed);
    // Rows for which no instance is ever accepted do not compute.
    let usable: Vec<&'static Row> = rows()
        .filter(|row| (0..50).any(|try_| instance(row, &mut Random(try_)).is_some()))
        .collect();
    let mut code: Vec<u16> = vec![];
    load_constant(&mut code, 0, 0xe000_ed88);
    // ldr r1, [r0]; orr r1, r1, #0xf00000; str r1, [r0]; dsb; isb: floating point on.
    code.extend([0x6801, 0xf441, 0x0170, 0x6001, 0xf3bf, 0x8f4f, 0xf3bf, 0x8f6f]);
    load_constant(&mut code, 0, TABLE);
    code.push(0x4685); // mov sp, r0
    load_constant(&mut code, 14, SRAM);
    let (mut table, mut instructions) = (Vec::new(), Vec::new());
    for _ in 0..CASES {
        // vldmia sp!, {s0-s31}; pop {r0}; vmsr fpscr, r0; pop {r0}; msr apsr_nzcvqg, r0; ldmia sp!, {r0-r12}
        code.extend([
            0xecbd, 0x0a20, 0xbc01, 0xeee1, 0x0a10, 0xbc01, 0xf380, 0x8c00, 0xe8bd, 0x1fff,
        ]);
        let (first, second) = draw(&mut random, &usable);
        let in_it_block = random.below(4) == 0;
        if in_it_block {
            code.push(0xbf08 | (random.below(14) as u16) << 4); // it
        }
        code.push(first);
        if super::decode::is_wide(first) {
            code.push(second);
        }
        instructions.push((first, second));
        // stmia lr!, {r0-r12}; mrs r0, apsr; vmrs r1, fpscr; stmia lr!, {r0, r1}; vstmia lr!, {s0-s31}
        code.extend([
            0xe8ae, 0x1fff, 0xf3ef, 0x8000, 0xeef1, 0x1a10, 0xe8ae, 0x0003, 0xecae, 0x0a20,
        ]);
        table.extend((0..32).map(|_| random.float()));
        let modes = if random.below(2) == 0 {
            0
        } else {
            random.next() & 0x07c0_0000
        };
        table.extend([modes, random.next() & 0xf80f_0000]);
        table.extend((0..13).map(|_| random.integer()));
    }
    finish(code, table, instructions, result_file)
}

/// The end of the program writes the results to a file, which only QEMU does: for our core it is a breakpoint.
fn finish(mut code: Vec<u16>, table: Vec<u32>, instructions: Vec<(u16, u16)>, result_file: &Path) -> Program {
    let mut name = result_file.to_str().expect("a path of text").as_bytes().to_vec();
    let length = name.len() as u32;
    name.resize((name.len() + 1).next_multiple_of(4), 0);
    let after_table = TABLE + table.len() as u32 * 4;
    let name_at = after_table + 12;
    let results = (CASES * WORDS * 4) as u32;
    let block = SRAM + results;
    let end = 0x100 + code.len() as u32 * 2;
    load_constant(&mut code, 1, after_table);
    code.extend([0x2001, 0xbeab]); // SYS_OPEN
    load_constant(&mut code, 1, block);
    code.push(0x6008); // str r0, [r1]
    load_constant(&mut code, 2, SRAM);
    code.push(0x604a); // str r2, [r1, #4]
    load_constant(&mut code, 2, results);
    code.push(0x608a); // str r2, [r1, #8]
    code.extend([0x2005, 0xbeab]); // SYS_WRITE
    load_constant(&mut code, 1, 0x2_0026);
    code.extend([0x2018, 0xbeab, 0xe7fe]); // SYS_EXIT
    let mut bytes = Vec::new();
    // The vectors: stack, reset and hard fault. An instruction that QEMU does not know leads to the end, too.
    for vector in 0..64u32 {
        let address = match vector {
            0 => SRAM + 0x1_f000,
            1 => 0x101,
            3 => end | 1,
            _ => 0,
        };
        bytes.extend(address.to_le_bytes());
    }
    bytes.extend(code.iter().flat_map(|half| half.to_le_bytes()));
    assert!(bytes.len() <= TABLE as usize);
    bytes.resize(TABLE as usize, 0);
    bytes.extend(table.iter().flat_map(|word| word.to_le_bytes()));
    // Mode 5 is "wb".
    bytes.extend([name_at, 5, length].iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend(name);
    Program { bytes, instructions }
}

struct NoBus;

impl Bus for NoBus {
    fn read(&mut self, _: u32, _: u32, _: Cycles, _: &mut Memory) -> Option<u32> {
        None
    }
    fn write(&mut self, _: u32, _: u32, _: u32, _: Cycles, _: &mut Memory) -> Option<()> {
        None
    }
    fn poll(&mut self, _: Cycles, _: &mut Memory) -> Cycles {
        NEVER
    }
    fn lines(&self) -> Lines {
        [0; 4]
    }
}

/// The results in our core's memory.
fn ours(program: &Program) -> Vec<u8> {
    let image = Arc::new(Image::from_bytes(program.bytes.clone()));
    let mut cpu = Cpu::new(Memory::new(Model::F446.memory(), image), NoBus);
    // The program is linked for address 0, where the flash appears too.
    while cpu.fault_count == 0 {
        cpu.step();
    }
    assert_eq!(cpu.faults[0].instruction, "BKPT T1", "{}", cpu.faults[0]);
    cpu.memory.sram[..CASES * WORDS * 4].to_vec()
}

fn qemus(program: &Program, directory: &Path, result_file: &Path) -> Vec<u8> {
    let image = directory.join("program.bin");
    std::fs::write(&image, &program.bytes).expect("a place for the program");
    let status = Command::new("qemu-system-arm")
        .args([
            "-M",
            "mps2-an386",
            "-display",
            "none",
            "-monitor",
            "none",
            "-serial",
            "none",
        ])
        .args(["-semihosting-config", "enable=on,target=native"])
        .arg("-device")
        .arg(format!("loader,file={},addr=0", image.display()))
        .status()
        .expect("qemu-system-arm");
    assert!(status.success());
    std::fs::read(result_file).expect("QEMU's results")
}

/// What differs in one case, in words.
fn difference(case: usize, (first, second): (u16, u16), ours: &[u32], theirs: &[u32]) -> Option<String> {
    let register = |place: usize| match place {
        0..13 => format!("r{place}"),
        13 => "apsr".into(),
        14 => "fpscr".into(),
        place => format!("s{}", place - 15),
    };
    let list: Vec<String> = (0..WORDS)
        .filter(|place| ours[*place] != theirs[*place])
        .map(|place| {
            format!(
                "{} ours {:08x} QEMU's {:08x}",
                register(place),
                ours[place],
                theirs[place]
            )
        })
        .collect();
    let op = decode(0, first, second).op;
    (!list.is_empty()).then(|| format!("case {case}: {first:04x} {second:04x} {op:?}: {}", list.join(", ")))
}

#[test]
fn qemu_computes_the_same() {
    if Command::new("qemu-system-arm").arg("--version").output().is_err() {
        let _ = writeln!(
            std::io::stderr(),
            "\n*** NOT TESTED: no qemu-system-arm to compare the core with ***\n"
        );
        return;
    }
    let directory = std::env::temp_dir().join(format!("hopwise-qemu-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let result_file = directory.join("results.bin");
    let runs = std::env::var("HOPWISE_QEMU_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(RUNS);
    let first = std::env::var("HOPWISE_QEMU_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    let mut differences = Vec::new();
    for seed in first..first + runs {
        let program = program(seed, &result_file);
        let words = |bytes: Vec<u8>| -> Vec<u32> {
            bytes
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect()
        };
        let (ours, theirs) = (words(ours(&program)), words(qemus(&program, &directory, &result_file)));
        assert_eq!(ours.len(), theirs.len());
        for (case, instruction) in program.instructions.iter().enumerate() {
            let (ours, theirs) = (&ours[case * WORDS..][..WORDS], &theirs[case * WORDS..][..WORDS]);
            let found = difference(case, *instruction, ours, theirs);
            differences.extend(found.map(|found| format!("HOPWISE_QEMU_SEED={seed} {found}")));
            if theirs.iter().all(|word| *word == 0) {
                // QEMU does not know the instruction and has gone to the end.
                break;
            }
        }
    }
    let _ = std::fs::remove_dir_all(&directory);
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}
