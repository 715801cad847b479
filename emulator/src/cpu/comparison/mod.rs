//! Our core against QEMU's: random instructions with random operands, all registers, flags and memory compared.
//!
//! A run is a program for QEMU's mps2-an386 machine, which has a Cortex-M4F, of many cases. At the end it writes what
//! is left in registers and memory to a file by semihosting. Our core executes the same program and must have left the
//! same in memory.
//!
//! Instructions are drawn from the decoder's own table, so every encoding gets its turn. Without QEMU (Debian package
//! qemu-system-arm) nothing is compared, and that is said. `HOPWISE_QEMU_RUNS=1000 cargo test -p hopwise-emulator qemu`
//! makes it a campaign; a failure prints the seed and the case.

mod branches;
mod computing;
mod memory;
mod program;
mod random;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use self::program::{ARENA, CASES, Case, LEFT, Program, RESULTS, result_name};
use self::random::Random;
use super::Cpu;
use super::decode::{decode, rows};
use super::tests::Pins;
use crate::chip::Model;
use crate::image::Image;
use crate::memory::Memory;

/// Runs of the short comparison.
const RUNS: u64 = 8;

fn program(seed: u64) -> Program {
    let mut random = Random(seed);
    let (computing, accessing) = (computing::usable(rows()), memory::usable(rows()));
    let arenas = (0..Program::arena_words()).map(|_| random.next()).collect();
    let mut program = Program::new(arenas);
    for _ in 0..CASES {
        program.add(|site| match random.below(20) {
            0..8 => computing::draw(&mut random, &computing),
            8..15 => memory::draw(&mut random, &accessing, site),
            15 => memory::draw_exclusive(&mut random, site),
            _ => branches::draw(&mut random, site),
        });
    }
    program
}

fn ours(bytes: &[u8]) -> Vec<u8> {
    let image = Arc::new(Image::from_bytes(bytes.to_vec()));
    let mut cpu = Cpu::new(Memory::new(Model::F446.memory(), image), Pins::default());
    // The program is linked for address 0, where the flash appears too.
    while cpu.fault_count == 0 {
        cpu.step();
    }
    assert_eq!(cpu.faults[0].instruction, "BKPT T1", "{}", cpu.faults[0]);
    cpu.memory.sram[..LEFT].to_vec()
}

fn qemus(bytes: &[u8], directory: &Path, result_file: &Path) -> Vec<u8> {
    let image = directory.join("program.bin");
    std::fs::write(&image, bytes).expect("a place for the program");
    let status = Command::new("qemu-system-arm")
        .args(["-M", "mps2-an386", "-display", "none", "-monitor", "none"])
        .args(["-serial", "none", "-semihosting-config", "enable=on,target=native"])
        .arg("-device")
        .arg(format!("loader,file={},addr=0", image.display()))
        .status()
        .expect("qemu-system-arm");
    assert!(status.success());
    std::fs::read(result_file).expect("QEMU's results")
}

fn describe(case: &Case) -> String {
    let code: Vec<String> = case.code.iter().map(|half| format!("{half:04x}")).collect();
    let op = decode(0, case.code[0], case.code.get(1).copied().unwrap_or(0)).op;
    format!("{} ({op:?}): {}", case.names.join("; "), code.join(" "))
}

/// What differs in the registers of one case, in words.
fn difference(ours: &[u32], theirs: &[u32]) -> Option<String> {
    let list: Vec<String> = (0..RESULTS)
        .filter(|place| ours[*place] != theirs[*place])
        .map(|place| {
            let (name, ours, theirs) = (result_name(place), ours[place], theirs[place]);
            format!("{name} ours {ours:08x} QEMU's {theirs:08x}")
        })
        .collect();
    (!list.is_empty()).then(|| list.join(", "))
}

fn compare(program: &Program, ours: &[u8], theirs: &[u8]) -> Vec<String> {
    let words = |bytes: &[u8]| -> Vec<u32> {
        let words = bytes.chunks_exact(4);
        words
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect()
    };
    let (ours, theirs) = (words(ours), words(theirs));
    assert_eq!(ours.len(), theirs.len());
    let mut found = Vec::new();
    for (number, case) in program.cases.iter().enumerate() {
        let place = number * RESULTS..(number + 1) * RESULTS;
        let (ours, theirs) = (&ours[place.clone()], &theirs[place]);
        if let Some(difference) = difference(ours, theirs) {
            found.push(format!("case {number}, {}: {difference}", describe(case)));
            if theirs.iter().all(|word| *word == 0) {
                found.push("QEMU has faulted there".into());
                return found;
            }
        }
    }
    let arenas = CASES * RESULTS;
    for place in (arenas..ours.len()).filter(|place| ours[*place] != theirs[*place]) {
        let (arena, word) = ((place - arenas) / ARENA, (place - arenas) % ARENA);
        let case = arena.checked_sub(1).and_then(|number| program.cases.get(number));
        let (ours, theirs) = (ours[place], theirs[place]);
        found.push(format!(
            "memory of case {}, {}: word {word} ours {ours:08x} QEMU's {theirs:08x}",
            arena as i64 - 1,
            case.map_or(String::new(), describe)
        ));
    }
    found
}

fn from_environment(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
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
    let first = from_environment("HOPWISE_QEMU_SEED", 1);
    let mut differences = Vec::new();
    for seed in first..first + from_environment("HOPWISE_QEMU_RUNS", RUNS) {
        let program = program(seed);
        let bytes = program.finish(&result_file);
        let (ours, theirs) = (ours(&bytes), qemus(&bytes, &directory, &result_file));
        let found = compare(&program, &ours, &theirs);
        let found = found.into_iter();
        differences.extend(found.map(|found| format!("HOPWISE_QEMU_SEED={seed} {found}")));
    }
    let _ = std::fs::remove_dir_all(&directory);
    let (count, all) = (differences.len(), differences.join("\n"));
    assert!(differences.is_empty(), "{count} differences:\n{all}");
}

/// Encodings that no case contains: what waits, traps, changes masks or is undefined.
const NOT_COMPARED: [&str; 17] = [
    "CPS T1",
    "BKPT T1",
    "WFE T1",
    "WFI T1",
    "SEV T1",
    "UDF T1",
    "SVC T1",
    "MSR",
    "MRS",
    "WFE T2",
    "WFI T2",
    "SEV T2",
    "NOP and other hints T2",
    "DSB",
    "DMB, ISB",
    "undefined control",
    "store to a literal",
];

#[test]
fn every_encoding_is_compared_or_listed() {
    let cases = (1..=50).flat_map(|seed| program(seed).cases);
    let drawn: BTreeSet<&str> = cases.flat_map(|case| case.names).collect();
    let names = rows().map(|row| row.name);
    let missing: Vec<&str> = names.filter(|name| !drawn.contains(name)).collect();
    assert_eq!(missing, NOT_COMPARED);
}
