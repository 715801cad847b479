//! Faults: how an instruction can fail, and what is reported about it. Manual section B1.5.14.

use std::fmt;

use super::cycles::Cycles;
use super::nvic::{BUS_FAULT, HARD_FAULT, MEM_MANAGE, USAGE_FAULT};

/// How many faults of a board are kept in full.
pub const KEPT: usize = 8;

/// Why an instruction could not be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The instruction does not exist.
    Undefined,
    /// A jump to an even address: there is no ARM instruction set.
    InvalidState,
    /// An exception return that fits no active exception.
    InvalidReturn,
    /// A floating-point instruction while CPACR forbids it.
    NoCoprocessor,
    /// An address that is no multiple of what the access needs.
    Unaligned(u32),
    /// Division by zero, where CCR makes that a fault.
    DivideByZero,
    /// Execution from an address that can never hold instructions.
    ExecuteNever(u32),
    /// Execution from an address where nothing answers.
    InstructionBus(u32),
    /// A load or store where nothing answers.
    DataBus(u32),
    /// The stack could not take the registers at exception entry.
    Stacking(u32),
    /// The stack did not give the registers back at exception return.
    Unstacking(u32),
    /// The address of a handler could not be read.
    VectorTable(u32),
    /// A breakpoint instruction without a debugger.
    Breakpoint,
}

impl Fault {
    /// The exception it is, and its bit in CFSR.
    pub(super) fn kind(self) -> (usize, u32) {
        match self {
            Fault::ExecuteNever(_) => (MEM_MANAGE, 1),
            Fault::InstructionBus(_) => (BUS_FAULT, 1 << 8),
            Fault::DataBus(_) => (BUS_FAULT, 1 << 9),
            Fault::Unstacking(_) => (BUS_FAULT, 1 << 11),
            Fault::Stacking(_) => (BUS_FAULT, 1 << 12),
            Fault::Undefined => (USAGE_FAULT, 1 << 16),
            Fault::InvalidState => (USAGE_FAULT, 1 << 17),
            Fault::InvalidReturn => (USAGE_FAULT, 1 << 18),
            Fault::NoCoprocessor => (USAGE_FAULT, 1 << 19),
            Fault::Unaligned(_) => (USAGE_FAULT, 1 << 24),
            Fault::DivideByZero => (USAGE_FAULT, 1 << 25),
            Fault::VectorTable(_) | Fault::Breakpoint => (HARD_FAULT, 0),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Undefined => out.write_str("undefined instruction"),
            Fault::InvalidState => out.write_str("jump to an even address"),
            Fault::InvalidReturn => out.write_str("invalid exception return"),
            Fault::NoCoprocessor => out.write_str("floating point is switched off"),
            Fault::Unaligned(address) => write!(out, "unaligned access to {address:#010x}"),
            Fault::DivideByZero => out.write_str("division by zero"),
            Fault::ExecuteNever(address) => write!(out, "execution at {address:#010x}, where no code can be"),
            Fault::InstructionBus(address) => write!(out, "execution at {address:#010x}, where there is no memory"),
            Fault::DataBus(address) => write!(out, "access to {address:#010x}, where nothing answers"),
            Fault::Stacking(address) => write!(out, "no stack at {address:#010x} for an exception"),
            Fault::Unstacking(address) => write!(out, "no stack at {address:#010x} to return to"),
            Fault::VectorTable(address) => write!(out, "no handler address at {address:#010x}"),
            Fault::Breakpoint => out.write_str("breakpoint instruction without a debugger"),
        }
    }
}

/// A fault as it is shown to a person.
#[derive(Clone, Debug)]
pub struct FaultReport {
    /// What happened.
    pub fault: Fault,
    /// When it happened.
    pub at: Cycles,
    /// R0 to R14.
    pub registers: [u32; 15],
    /// Address of the instruction.
    pub pc: u32,
    /// The program status register.
    pub xpsr: u32,
    /// The manual's name of the instruction.
    pub instruction: &'static str,
    /// Whether the core stands still from here on.
    pub locked_up: bool,
    /// The configurable fault status register.
    pub cfsr: u32,
    /// Functions on the stack, innermost first: addresses and names. Found by searching the stack for return
    /// addresses, so functions that have already returned can be among them.
    pub stack: Vec<(u32, String)>,
}

impl fmt::Display for FaultReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.locked_up { "; the core is locked up" } else { "" };
        writeln!(out, "{} at {:#010x} ({}){end}", self.fault, self.pc, self.instruction)?;
        for (number, value) in self.registers.iter().enumerate() {
            let separator = if number % 5 == 4 { '\n' } else { ' ' };
            write!(out, "  r{number:<2} {value:08x}{separator}")?;
        }
        writeln!(out, "  xpsr {:08x} cfsr {:08x}", self.xpsr, self.cfsr)?;
        for (address, name) in &self.stack {
            writeln!(out, "  {address:#010x} {name}")?;
        }
        Ok(())
    }
}
