//! A Cortex-M4F as GDB sees it: its registers and their description. With it GDB unwinds through exception handlers.

use gdbstub::arch::{Arch, BreakpointKind, Registers};

pub enum CortexM {}

/// R0 to R12, SP, LR, PC and xPSR.
const CORE: usize = 17;
/// S0 to S31, which GDB takes as D0 to D15, and FPSCR.
const FLOAT: usize = 33;

/// All registers in GDB's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CortexMRegisters {
    /// R0 to R15; the last is the address of the next instruction.
    pub r: [u32; 16],
    pub xpsr: u32,
    /// Floating-point registers.
    pub s: [u32; 32],
    /// Their status.
    pub fpscr: u32,
}

impl Registers for CortexMRegisters {
    type ProgramCounter = u32;

    fn pc(&self) -> u32 {
        self.r[15]
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        let words = self.r.iter().chain([&self.xpsr]).chain(&self.s).chain([&self.fpscr]);
        words
            .flat_map(|word| word.to_le_bytes())
            .for_each(|byte| write_byte(Some(byte)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        if bytes.len() != (CORE + FLOAT) * 4 {
            return Err(());
        }
        let words = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        let core = self.r.iter_mut().chain([&mut self.xpsr]);
        let places = core.chain(&mut self.s).chain([&mut self.fpscr]);
        places.zip(words).for_each(|(place, word)| *place = word);
        Ok(())
    }
}

/// Breakpoints are addresses here; of which length the instruction is does not matter.
#[derive(Debug)]
pub struct AnyKind;

impl BreakpointKind for AnyKind {
    fn from_usize(_: usize) -> Option<Self> {
        Some(AnyKind)
    }
}

impl Arch for CortexM {
    type Usize = u32;
    type Registers = CortexMRegisters;
    type RegId = ();
    type BreakpointKind = AnyKind;

    fn target_description_xml() -> Option<&'static str> {
        Some(DESCRIPTION)
    }
}

/// The registers, in the order in which they are sent.
const DESCRIPTION: &str = include_str!("cortex_m.xml");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_come_back_as_they_went() {
        let mut registers = CortexMRegisters {
            r: std::array::from_fn(|number| number as u32 + 1),
            xpsr: 7,
            s: std::array::from_fn(|number| number as u32 + 100),
            fpscr: 8,
        };
        let mut bytes = Vec::new();
        registers.gdb_serialize(|byte| bytes.extend(byte));
        let found = bytes.len();
        assert_eq!(found, DESCRIPTION.matches("bitsize=\"32\"").count() * 4 + 16 * 8);
        let mut copy = CortexMRegisters::default();
        assert_eq!((copy.gdb_deserialize(&bytes), copy), (Ok(()), registers.clone()));
        assert_eq!(registers.gdb_deserialize(&bytes[1..]), Err(()));
    }
}
