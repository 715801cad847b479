//! Single instructions, to be held against the manual: `instructions.txt` is a table of what they do to registers and
//! flags. Columns: the instruction, its code, what is set before, what is there afterward. Numbers are hexadecimal. A
//! word of the letters NZCVQ is the set of flags (`-` is none of them); no such word on the right means that they stay.
//! So do all registers that the right column does not name.

use super::{CODE, core};
use crate::cpu::Cpu;
use crate::cpu::decode::is_wide;
use crate::memory::FLASH;

const TABLE: &str = include_str!("instructions.txt");

#[derive(Clone, Debug, PartialEq)]
struct State {
    r: Vec<u32>,
    s: Vec<u32>,
    fpscr: u32,
    flags: u32,
    ge: u32,
    pc: u32,
}

const FLAGS: &str = "NZCVQ";

impl State {
    fn of(cpu: &Cpu<super::Pins>) -> Self {
        State {
            r: cpu.r[..15].to_vec(),
            s: cpu.s.to_vec(),
            fpscr: cpu.fpscr,
            flags: cpu.xpsr() >> 27,
            ge: cpu.xpsr() >> 16 & 15,
            pc: cpu.next,
        }
    }

    fn apply(&mut self, column: &str) -> Option<()> {
        for word in column.split_whitespace() {
            let Some((name, value)) = word.split_once('=') else {
                let letters = word.trim_matches('-').chars();
                self.flags = letters
                    .map(|letter| Some(16 >> FLAGS.find(letter)?))
                    .sum::<Option<u32>>()?;
                continue;
            };
            let value = u32::from_str_radix(value, 16).ok()?;
            match name {
                "fpscr" => self.fpscr = value,
                "ge" => self.ge = value,
                "pc" => self.pc = value,
                "lr" => self.r[14] = value,
                name => {
                    let number: usize = name[1..].parse().ok()?;
                    let is_core = name.starts_with('r');
                    let file = if is_core { &mut self.r } else { &mut self.s };
                    *file.get_mut(number)? = value;
                }
            }
        }
        Some(())
    }
}

fn count(code: &[u16]) -> usize {
    let (mut place, mut count) = (0, 0);
    while place < code.len() {
        place += if is_wide(code[place]) { 2 } else { 1 };
        count += 1;
    }
    count
}

/// What a row says and what the core makes of it.
fn run(row: &str) -> Option<(State, State)> {
    let mut columns = row.split('|');
    let (_, code, before, after) = (columns.next()?, columns.next()?, columns.next()?, columns.next()?);
    let halves = code.split_whitespace();
    let code: Option<Vec<u16>> = halves.map(|half| u16::from_str_radix(half, 16).ok()).collect();
    let code = code?;
    let mut cpu = core(&code, &[]);
    cpu.scs.cpacr = 0xf0_0000;
    let mut expected = State::of(&cpu);
    expected.apply(before)?;
    cpu.r[..15].copy_from_slice(&expected.r);
    cpu.s.copy_from_slice(&expected.s);
    cpu.fpscr = expected.fpscr;
    // The default modes of the context are those of the row.
    cpu.scs.fpdscr = expected.fpscr & 0x07c0_0000;
    cpu.set_xpsr_flags(expected.flags << 27 | expected.ge << 16);
    for _ in 0..count(&code) {
        cpu.step();
    }
    assert_eq!(cpu.fault_count, 0, "{row}: {}", cpu.faults[0]);
    expected.pc = FLASH + CODE as u32 + code.len() as u32 * 2;
    expected.apply(after)?;
    Some((expected, State::of(&cpu)))
}

#[test]
fn instructions_do_what_the_manual_says() {
    let mut wrong = Vec::new();
    let rows = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut tested = 0;
    for row in rows {
        let (expected, found) = run(row).unwrap_or_else(|| panic!("not a row of the table: {row}"));
        tested += 1;
        if expected != found {
            wrong.push(format!("{row}\n  expected {expected:x?}\n  found    {found:x?}"));
        }
    }
    assert!(tested > 250, "only {tested} rows");
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}
