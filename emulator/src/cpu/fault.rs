//! Faults: how an instruction can fail, which exception that becomes, and what is reported about it.
//! Manual section B1.5.14.

use std::fmt;

use super::decode;
use super::nvic::{BUS_FAULT, HARD_FAULT, MEM_MANAGE, USAGE_FAULT};
use super::{Bus, Cpu, Cycles, Sleep};

/// How many faults of a board are kept in full.
pub const KEPT: usize = 8;
/// How many return addresses a report lists.
const STACK_DEPTH: usize = 16;
/// How many words of the stack are searched for them.
const STACK_SEARCHED: u32 = 256;

/// Why an instruction could not be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No such instruction.
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
    fn kind(self) -> (usize, u32) {
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
    /// When.
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

impl<B: Bus> Cpu<B> {
    /// Makes an exception of a fault of the instruction at `pc`: its own if that is enabled and not masked, else a hard
    /// fault, else lockup.
    pub(super) fn take_fault(&mut self, fault: Fault, pc: u32) {
        self.next = pc;
        let (exception, status) = fault.kind();
        self.scs.cfsr |= status;
        match fault {
            Fault::DataBus(address) => {
                self.scs.bfar = address;
                self.scs.cfsr |= 1 << 15;
            }
            Fault::Breakpoint => self.scs.hfsr |= 1 << 31,
            Fault::VectorTable(_) => self.scs.hfsr |= 1 << 1,
            _ => {}
        }
        let priority = self.execution_priority();
        let locked_up = priority <= -1;
        self.report(fault, pc, locked_up);
        if locked_up {
            self.lock_up();
            return;
        }
        let enabled = exception != HARD_FAULT && self.scs.shcsr >> (exception + 12) & 1 != 0;
        if enabled && self.nvic.priority_of(exception) < priority {
            self.enter_exception(exception);
        } else {
            self.scs.hfsr |= if exception == HARD_FAULT { 0 } else { 1 << 30 };
            self.enter_exception(HARD_FAULT);
        }
    }

    pub(super) fn lock_up(&mut self) {
        self.sleep = Sleep::LockedUp;
        self.deadline = 0;
        if let Some(report) = self.faults.last_mut() {
            report.locked_up = true;
        }
    }

    pub(super) fn report(&mut self, fault: Fault, pc: u32, locked_up: bool) {
        self.fault_count += 1;
        if self.faults.len() >= KEPT {
            return;
        }
        let half = |address: u32| {
            let bytes = self.memory.bytes(address, 2)?;
            Some(u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        let instruction = match half(pc) {
            Some(first) => decode::name(first, half(pc.wrapping_add(2)).unwrap_or(0)),
            None => "no memory",
        };
        let mut registers = [0; 15];
        registers.copy_from_slice(&self.r[..15]);
        let stack = self.stack_trace(pc);
        let (at, xpsr, cfsr) = (self.now, self.xpsr(), self.scs.cfsr);
        self.faults.push(FaultReport {
            fault,
            at,
            registers,
            pc,
            xpsr,
            instruction,
            locked_up,
            cfsr,
            stack,
        });
    }

    /// The functions of `pc`, of the link register and of all words on the stack that look like return addresses.
    pub fn stack_trace(&self, pc: u32) -> Vec<(u32, String)> {
        let sp = self.r[13] & !3;
        let on_stack = (0..STACK_SEARCHED).map_while(|word| {
            let bytes = self.memory.bytes(sp.checked_add(word * 4)?, 4)?;
            Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        });
        let returns = std::iter::once(self.r[14])
            .chain(on_stack)
            .filter(|word| self.follows_a_call(*word));
        std::iter::once(pc)
            .chain(returns.map(|word| word & !1))
            .filter_map(|address| Some((address, self.memory.image().function_at(address)?.name.clone())))
            .take(STACK_DEPTH)
            .collect()
    }

    /// Whether the instruction before this address is a BL or BLX.
    fn follows_a_call(&self, word: u32) -> bool {
        let half = |address: u32| {
            let bytes = self.memory.bytes(address, 2)?;
            Some(u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        let Some(before) = (word & !1).checked_sub(4) else {
            return false;
        };
        if word & 1 == 0 {
            return false;
        }
        match (half(before), half(before + 2)) {
            (Some(first), Some(second)) => {
                first & 0xf800 == 0xf000 && second & 0xd000 == 0xd000 || second & 0xff87 == 0x4780
            }
            _ => false,
        }
    }
}
