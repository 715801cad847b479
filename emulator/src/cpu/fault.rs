//! Faults: how an instruction can fail, and what is reported about it. Manual section B1.5.14.

use std::fmt;

use super::cycles::Cycles;
use super::nvic::{BUS_FAULT, HARD_FAULT, MEM_MANAGE, USAGE_FAULT};

/// How many faults of a board are kept in full.
pub const KEPT: usize = 8;

/// Why an instruction could not be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentences say what they are")]
pub enum Fault {
    #[error("undefined instruction")]
    Undefined,
    /// There is no ARM instruction set.
    #[error("jump to an even address")]
    InvalidState,
    #[error("invalid exception return")]
    InvalidReturn,
    /// CPACR forbids it.
    #[error("floating point is switched off")]
    NoCoprocessor,
    #[error("unaligned access to {0:#010x}")]
    Unaligned(u32),
    /// CCR makes that a fault.
    #[error("division by zero")]
    DivideByZero,
    #[error("execution at {0:#010x}, where no code can be")]
    ExecuteNever(u32),
    #[error("execution at {0:#010x}, where there is no memory")]
    InstructionBus(u32),
    #[error("access to {0:#010x}, where nothing answers")]
    DataBus(u32),
    #[error("no stack at {0:#010x} for an exception")]
    Stacking(u32),
    #[error("no stack at {0:#010x} to return to")]
    Unstacking(u32),
    #[error("no handler address at {0:#010x}")]
    VectorTable(u32),
    #[error("breakpoint instruction without a debugger")]
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
