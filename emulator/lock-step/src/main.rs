//! Our core and rsemu's through the same run of a real firmware: after every instruction all registers must be equal.
//!
//! Our core runs the firmware with the chip around it. rsemu's core has flash and RAM of its own; what it reads from
//! peripherals is what our core has read there, and what it writes to them must be what ours has written. Interrupt
//! requests reach both before the same instruction, and each decides for itself which handler to enter. What DMA has
//! received is copied into rsemu's RAM. Waiting (WFI, WFE) changes no register and is left to our core.
//!
//! `tools/lock-step` builds the firmware and runs this.

mod ours;
mod theirs;

use std::process::ExitCode;

use ours::{Ours, REGISTERS};
use theirs::Theirs;

/// Instructions between two comparisons of the whole RAM.
const BETWEEN_MEMORIES: u64 = 50_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, instructions) = match arguments.as_slice() {
        [path] => (path, Some(5_000_000)),
        [path, count] => (path, count.parse().ok()),
        _ => return refuse("usage: lock-step ELF [INSTRUCTIONS]"),
    };
    let Some(instructions) = instructions else {
        return refuse("INSTRUCTIONS is a number");
    };
    let elf = match std::fs::read(path) {
        Ok(elf) => elf,
        Err(error) => return refuse(&format!("{path}: {error}")),
    };
    let ours = match Ours::new(&elf) {
        Ok(ours) => ours,
        Err(error) => return refuse(&format!("{path}: {error}")),
    };
    match run(ours, instructions) {
        Ok(()) => ExitCode::SUCCESS,
        Err(difference) => {
            println!("{difference}");
            ExitCode::FAILURE
        }
    }
}

fn refuse(sentence: &str) -> ExitCode {
    eprintln!("lock-step: {sentence}");
    ExitCode::from(2)
}

fn run(mut ours: Ours, instructions: u64) -> Result<(), String> {
    let mut theirs = Theirs::new(&ours);
    let mut memories = 0;
    same_registers(&ours, &theirs)?;
    while ours.instructions() < instructions {
        let pc = ours.next();
        let executed = ours.step();
        if let Some(fault) = ours.fault() {
            return Err(format!("our core stops: {fault}"));
        }
        theirs.follow(&ours, &executed);
        let compared = theirs.same_accesses().and_then(|()| same_registers(&ours, &theirs));
        compared.map_err(|difference| {
            format!(
                "after {} instructions, {}: {difference}",
                ours.instructions(),
                ours.place(pc)
            )
        })?;
        if ours.instructions() / BETWEEN_MEMORIES > memories {
            memories += 1;
            same_memory(&ours, &theirs)?;
        }
    }
    same_memory(&ours, &theirs)?;
    println!(
        "{} instructions and {} exceptions in lock step with rsemu, no difference in any register; \
         {} accesses to peripherals alike; RAM compared {} times; {} bytes received by DMA",
        ours.instructions(),
        ours.exceptions(),
        theirs.accesses_compared(),
        memories + 1,
        ours.received(),
    );
    Ok(())
}

fn same_registers(ours: &Ours, theirs: &Theirs) -> Result<(), String> {
    let (ours, theirs) = (ours.registers(), theirs.registers());
    if ours == theirs {
        return Ok(());
    }
    let line = |place| format!("{} ours {:08x} rsemu's {:08x}", name(place), ours[place], theirs[place]);
    let differing = (0..REGISTERS).filter(|place| ours[*place] != theirs[*place]);
    let differences: Vec<String> = differing.map(line).collect();
    Err(differences.join(", "))
}

fn name(place: usize) -> String {
    match place {
        0..15 => format!("r{place}"),
        15 => "pc".into(),
        16 => "xpsr".into(),
        17 => "fpscr".into(),
        _ => format!("s{}", place - 18),
    }
}

fn same_memory(ours: &Ours, theirs: &Theirs) -> Result<(), String> {
    let their_memory = theirs.ram();
    let mut bytes = ours.ram().iter().zip(&their_memory);
    match bytes.position(|(ours, theirs)| ours != theirs) {
        None => Ok(()),
        Some(place) => Err(format!(
            "after {} instructions the RAM differs at {:#010x}",
            ours.instructions(),
            0x2000_0000 + place
        )),
    }
}
