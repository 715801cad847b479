//! A Cortex-M4F as GDB sees it: its registers and their description. With it GDB unwinds through exception handlers.

use gdbstub::arch::{Arch, BreakpointKind, Registers};

/// The architecture.
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
    /// xPSR.
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
        let places = self
            .r
            .iter_mut()
            .chain([&mut self.xpsr])
            .chain(&mut self.s)
            .chain([&mut self.fpscr]);
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

const DESCRIPTION: &str = r#"<?xml version="1.0"?>
<!DOCTYPE target SYSTEM "gdb-target.dtd">
<target version="1.0">
  <architecture>arm</architecture>
  <feature name="org.gnu.gdb.arm.m-profile">
    <reg name="r0" bitsize="32"/>
    <reg name="r1" bitsize="32"/>
    <reg name="r2" bitsize="32"/>
    <reg name="r3" bitsize="32"/>
    <reg name="r4" bitsize="32"/>
    <reg name="r5" bitsize="32"/>
    <reg name="r6" bitsize="32"/>
    <reg name="r7" bitsize="32"/>
    <reg name="r8" bitsize="32"/>
    <reg name="r9" bitsize="32"/>
    <reg name="r10" bitsize="32"/>
    <reg name="r11" bitsize="32"/>
    <reg name="r12" bitsize="32"/>
    <reg name="sp" bitsize="32" type="data_ptr"/>
    <reg name="lr" bitsize="32"/>
    <reg name="pc" bitsize="32" type="code_ptr"/>
    <reg name="xpsr" bitsize="32"/>
  </feature>
  <feature name="org.gnu.gdb.arm.vfp">
    <reg name="d0" bitsize="64" type="ieee_double"/>
    <reg name="d1" bitsize="64" type="ieee_double"/>
    <reg name="d2" bitsize="64" type="ieee_double"/>
    <reg name="d3" bitsize="64" type="ieee_double"/>
    <reg name="d4" bitsize="64" type="ieee_double"/>
    <reg name="d5" bitsize="64" type="ieee_double"/>
    <reg name="d6" bitsize="64" type="ieee_double"/>
    <reg name="d7" bitsize="64" type="ieee_double"/>
    <reg name="d8" bitsize="64" type="ieee_double"/>
    <reg name="d9" bitsize="64" type="ieee_double"/>
    <reg name="d10" bitsize="64" type="ieee_double"/>
    <reg name="d11" bitsize="64" type="ieee_double"/>
    <reg name="d12" bitsize="64" type="ieee_double"/>
    <reg name="d13" bitsize="64" type="ieee_double"/>
    <reg name="d14" bitsize="64" type="ieee_double"/>
    <reg name="d15" bitsize="64" type="ieee_double"/>
    <reg name="fpscr" bitsize="32" type="int" group="float"/>
  </feature>
</target>"#;

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
        assert_eq!(bytes.len(), DESCRIPTION.matches("bitsize=\"32\"").count() * 4 + 16 * 8);
        let mut copy = CortexMRegisters::default();
        assert_eq!((copy.gdb_deserialize(&bytes), copy), (Ok(()), registers.clone()));
        assert_eq!(registers.gdb_deserialize(&bytes[1..]), Err(()));
    }
}
