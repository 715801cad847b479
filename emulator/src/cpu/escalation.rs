//! Which exception a fault becomes, and the report of it: manual section B1.5.14.

use super::decode;
use super::fault::{Fault, FaultReport, KEPT};
use super::nvic::HARD_FAULT;
use super::{Bus, Cpu, Sleep};

/// How many return addresses a report lists.
const STACK_DEPTH: usize = 16;
/// How many words of the stack are searched for them.
const STACK_SEARCHED: u32 = 256;

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
        if enabled && self.nvic.group_priority(exception) < priority {
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
        let instruction = match self.memory.half(pc) {
            Some(first) => decode::name(first, self.memory.half(pc.wrapping_add(2)).unwrap_or(0)),
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
        let on_stack = (0..STACK_SEARCHED).map_while(|word| self.memory.word(sp.checked_add(word * 4)?));
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
        let Some(before) = (word & !1).checked_sub(4) else {
            return false;
        };
        if word & 1 == 0 {
            return false;
        }
        match (self.memory.half(before), self.memory.half(before + 2)) {
            (Some(first), Some(second)) => {
                first & 0xf800 == 0xf000 && second & 0xd000 == 0xd000 || second & 0xff87 == 0x4780
            }
            _ => false,
        }
    }
}
