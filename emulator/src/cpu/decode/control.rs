//! 32-bit branches and miscellaneous control: manual section A5.3.4.

use super::{Fields, Row, encodings};
use crate::cpu::instruction::Op;

pub(super) const ROWS: &[Row] = encodings! { f:
    "11110 011100 x nnnn 10x0 mm 00 ssssssss", "MSR" => Op::WriteSpecial {
        rn: f.small('n'),
        special: f.small('s'),
        mask: f.small('m'),
    };
    "11110 011111 x xxxx 10x0 dddd ssssssss", "MRS" => Op::ReadSpecial { rd: f.small('d'), special: f.small('s') };
    "11110 011101 0 xxxx 10x0 x 000 00000010", "WFE T2" => Op::WaitForEvent;
    "11110 011101 0 xxxx 10x0 x 000 00000011", "WFI T2" => Op::WaitForInterrupt;
    "11110 011101 0 xxxx 10x0 x 000 00000100", "SEV T2" => Op::SendEvent;
    "11110 011101 0 xxxx 10x0 x 000 xxxxxxxx", "NOP and other hints T2" => Op::Nop;
    "11110 011101 1 xxxx 10x0 xxxx 0010 xxxx", "CLREX" => Op::ClearExclusive;
    // Every access here is done before the next instruction begins, but for what the NVIC learns of it.
    "11110 011101 1 xxxx 10x0 xxxx 0100 xxxx", "DSB" => Op::Barrier;
    "11110 011101 1 xxxx 10x0 xxxx 01xx xxxx", "DMB, ISB" => Op::Nop;
    "11110 x111xxx xxxx 10x0 xxxxxxxxxxxx", "undefined control" => Op::Undefined;
    // The parts of the offset are not in order here, hence the letters: s, j (J1), k (J2), h (upper) and l (lower).
    "11110 s cccc hhhhhh 10 j 0 k lllllllllll", "B (conditional) T3" => Op::BranchIf {
        condition: f.small('c'),
        to: f.target(
            f.number('s') << 20
                | f.number('k') << 19
                | f.number('j') << 18
                | f.number('h') << 12
                | f.number('l') << 1,
            21,
        ),
    };
    "11110 s hhhhhhhhhh 10 j 1 k lllllllllll", "B T4" => Op::Branch { to: far(f) };
    "11110 s hhhhhhhhhh 11 j 1 k lllllllllll", "BL" => Op::BranchLink { to: far(f) };
};

/// The 25-bit offset of B T4 and BL: two of its bits are stored exclusive-ored with the sign.
fn far(f: &Fields) -> u32 {
    let sign = f.number('s');
    let bit = |letter| !(f.number(letter) ^ sign) & 1;
    f.target(
        sign << 24 | bit('j') << 23 | bit('k') << 22 | f.number('h') << 12 | f.number('l') << 1,
        25,
    )
}
