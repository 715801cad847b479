//! Branches of all kinds, forwards and backwards. Where a branch lands shows in a register: before and behind it stand
//! eight instructions that count.

use super::program::{Case, FAR_FUNCTION, Site};
use super::random::Random;

/// Counting instructions on each side.
const COUNTERS: u32 = 8;

const KINDS: [&str; 14] = [
    "B (conditional) T1",
    "B T2",
    "B (conditional) T3",
    "B T4",
    "BL",
    "BL far away",
    "BX T1",
    "BLX (register) T1",
    "CBZ, CBNZ T1",
    "TBB",
    "TBH",
    "TBB behind itself",
    "MOV (register) T1",
    "ADD (register) T2",
];

/// A case whose branch stands between two rows of counters.
struct Builder<'s, 'a> {
    case: Case,
    site: &'s mut Site<'a>,
    at: u32,
    /// The number of the register with the target or the index.
    register: u16,
}

/// One branch, under a condition where that is allowed.
pub(super) fn draw(random: &mut Random, site: &mut Site<'_>) -> Case {
    let mut case = Case::new(random.inputs());
    let kind = random.pick(&KINDS);
    // Over the first counters: b; eight times adds r6, #1; and from their end to the common end, filled in below.
    case.code.push(0xe008);
    case.code.extend([0x3601; COUNTERS as usize]);
    let way_out = case.code.len();
    case.code.push(0);
    let alone = matches!(kind, "B (conditional) T1" | "B (conditional) T3" | "CBZ, CBNZ T1");
    if !alone && random.below(3) == 0 {
        case.code.push(0xbf08 | random.condition() << 4);
        case.names.push("IT T1");
    }
    let at = site.code + case.code.len() as u32 * 2;
    let register = random.below(5) as u16;
    let mut builder = Builder {
        case,
        site,
        at,
        register,
    };
    builder.branch(kind, random);
    let mut case = builder.case;
    case.names.push(match kind {
        "BL far away" => "BL",
        "TBB behind itself" => "TBB",
        kind => kind,
    });
    case.code.extend([0x3701; COUNTERS as usize]);
    let to_end = (case.code.len() - way_out) * 2 - 4;
    case.code[way_out] = 0xe000 | (to_end / 2) as u16;
    case
}

impl Builder<'_, '_> {
    /// A place among the counters: `length` is that of the branch.
    fn target(&self, random: &mut Random, length: u32) -> u32 {
        if random.below(2) == 0 {
            self.site.code + 2 + random.below(COUNTERS) * 2
        } else {
            self.forward(random, length)
        }
    }

    fn forward(&self, random: &mut Random, length: u32) -> u32 {
        self.at + length + random.below(COUNTERS + 1) * 2
    }

    fn emit<const N: usize>(&mut self, code: [u16; N]) {
        self.case.code.extend(code);
    }

    fn set(&mut self, value: u32) {
        self.case.inputs.r[usize::from(self.register)] = value;
    }

    fn branch(&mut self, kind: &str, random: &mut Random) {
        let (at, register) = (self.at, self.register);
        let offset = |target: u32| target.wrapping_sub(at + 4);
        match kind {
            "B (conditional) T1" => {
                let offset = offset(self.target(random, 2));
                let condition = random.condition();
                self.emit([0xd000 | condition << 8 | (offset >> 1 & 0xff) as u16]);
            }
            "B T2" => {
                let offset = offset(self.target(random, 2));
                self.emit([0xe000 | (offset >> 1 & 0x7ff) as u16]);
            }
            "B (conditional) T3" => {
                let offset = offset(self.target(random, 4));
                let (sign, j1, j2) = (offset >> 20 & 1, offset >> 18 & 1, offset >> 19 & 1);
                let first = 0xf000 | sign << 10 | u32::from(random.condition()) << 6 | offset >> 12 & 0x3f;
                let second = 0x8000 | j1 << 13 | j2 << 11 | offset >> 1 & 0x7ff;
                self.emit([first as u16, second as u16]);
            }
            "B T4" => self.emit(far(offset(self.target(random, 4)), 0x9000)),
            "BL" => self.emit(far(offset(self.target(random, 4)), 0xd000)),
            "BL far away" => self.emit(far(offset(FAR_FUNCTION), 0xd000)),
            "BX T1" | "BLX (register) T1" => {
                let target = self.target(random, 2);
                self.set(target | 1);
                let opcode = if kind == "BX T1" { 0x4700 } else { 0x4780 };
                self.emit([opcode | register << 3]);
            }
            "CBZ, CBNZ T1" => {
                if random.below(2) == 0 {
                    self.set(0);
                }
                // It cannot reach the instruction right behind it.
                let offset = offset(self.forward(random, 4));
                let opcode = 0xb100 | (random.below(2) as u16) << 11;
                self.emit([opcode | ((offset >> 1 & 0x1f) as u16) << 3 | register]);
            }
            "MOV (register) T1" => {
                let target = self.target(random, 2);
                // The lowest bit is ignored.
                self.set(target | random.below(2));
                self.emit([0x4687 | register << 3]);
            }
            "ADD (register) T2" => {
                let offset = offset(self.target(random, 2));
                self.set(offset);
                self.emit([0x4487 | register << 3]);
            }
            "TBB behind itself" => self.table_behind(random),
            _ => self.table_in_memory(random, kind == "TBH"),
        }
    }

    /// TBB or TBH with a table in the arena.
    fn table_in_memory(&mut self, random: &mut Random, half: bool) {
        let (base, index) = (5 + random.below(3) as u16, random.below(16));
        let entry = random.below(COUNTERS + 1);
        let shift = if half { 16 * (index & 1) } else { 8 * (index & 3) };
        let mask = if half { 0xffff } else { 0xff };
        let word = &mut self.site.content[index as usize / if half { 2 } else { 4 }];
        *word = *word & !(mask << shift) | entry << shift;
        self.set(index);
        self.case.inputs.r[usize::from(base)] = self.site.arena;
        self.emit([0xe8d0 | base, 0xf000 | u16::from(half) << 4 | self.register]);
    }

    /// TBB relative to the program counter: its table of four bytes follows.
    fn table_behind(&mut self, random: &mut Random) {
        let index = random.below(4);
        self.set(index);
        let entries: [u16; 4] = std::array::from_fn(|_| 2 + random.below(COUNTERS + 1) as u16);
        self.emit([0xe8df, 0xf000 | self.register]);
        self.emit([entries[0] | entries[1] << 8, entries[2] | entries[3] << 8]);
    }
}

/// B T4 and BL, whose second halfword begins with `opcode`.
fn far(offset: u32, opcode: u32) -> [u16; 2] {
    let sign = offset >> 24 & 1;
    let bit = |place: u32| !(offset >> place ^ sign) & 1;
    let first = 0xf000 | sign << 10 | offset >> 12 & 0x3ff;
    let second = opcode | bit(23) << 13 | bit(22) << 11 | offset >> 1 & 0x7ff;
    [first as u16, second as u16]
}
