//! Special registers, masks, waiting and supervisor calls.

use crate::cpu::exceptions::{FPCA, SPSEL};
use crate::cpu::fault::Fault;
use crate::cpu::instruction::Op;
use crate::cpu::nvic::{PRIORITY_BITS, SV_CALL};
use crate::cpu::{Bus, Cpu, Notice, Sleep};

/// The special registers by their SYSm numbers, manual section B5.1.1.
const MSP: u8 = 8;
const PSP: u8 = 9;
const PRIMASK: u8 = 16;
const BASEPRI: u8 = 17;
const BASEPRI_MAX: u8 = 18;
const FAULTMASK: u8 = 19;
const CONTROL: u8 = 20;
/// CONTROL: code that is no handler has no privileges.
const NPRIV: u8 = 1;

impl<B: Bus> Cpu<B> {
    pub(super) fn execute_system(&mut self, op: &Op) -> Result<(), Fault> {
        match *op {
            Op::Nop => {}
            Op::Barrier => self.nvic.settle(),
            Op::WaitForEvent => {
                if !std::mem::take(&mut self.event) {
                    self.fall_asleep(Sleep::ForEvent);
                }
            }
            Op::WaitForInterrupt => self.fall_asleep(Sleep::ForInterrupt),
            Op::SendEvent => self.event = true,
            Op::ChangeMasks {
                disable,
                primask,
                faultmask,
            } => {
                if primask {
                    self.primask = disable;
                }
                if faultmask && (!disable || self.execution_priority() > -1) {
                    self.faultmask = disable;
                }
                self.deadline = 0;
            }
            Op::ReadSpecial { rd, special } => {
                let value = self.special(special);
                self.set_r(rd, value);
            }
            Op::WriteSpecial { rn, special, mask } => self.set_special(special, mask, self.r(rn)),
            Op::SupervisorCall => return self.supervisor_call(),
            Op::Breakpoint => return Err(Fault::Breakpoint),
            _ => return Err(Fault::Undefined),
        }
        Ok(())
    }

    /// A call that cannot be taken at once becomes a hard fault.
    fn supervisor_call(&mut self) -> Result<(), Fault> {
        if self.nvic.group_priority(SV_CALL) < self.execution_priority() {
            self.enter_exception(SV_CALL);
            return Ok(());
        }
        Err(Fault::Undefined)
    }

    /// The stack pointer of the given stack, which is R13 if that stack is in use.
    fn stack_pointer(&mut self, process: bool) -> &mut u32 {
        if process == self.uses_process_stack() {
            &mut self.r[13]
        } else {
            &mut self.other_sp
        }
    }

    fn special(&mut self, special: u8) -> u32 {
        match special {
            0..=7 => {
                // IPSR, EPSR and APSR are the parts of xPSR; EPSR reads as zero.
                let exception = if special & 1 != 0 { u32::from(self.exception) } else { 0 };
                let flags = if special & 4 == 0 { self.xpsr() & 0xf80f_0000 } else { 0 };
                exception | flags
            }
            MSP => *self.stack_pointer(false),
            PSP => *self.stack_pointer(true),
            PRIMASK => u32::from(self.primask),
            BASEPRI | BASEPRI_MAX => u32::from(self.basepri),
            FAULTMASK => u32::from(self.faultmask),
            CONTROL => u32::from(self.control),
            _ => 0,
        }
    }

    fn set_special(&mut self, special: u8, mask: u8, value: u32) {
        self.deadline = 0;
        let priority = value as u8 & PRIORITY_BITS;
        match special {
            0..=3 => {
                if mask & 2 != 0 {
                    self.set_condition_flags(value);
                    self.q = value >> 27 & 1 != 0;
                }
                if mask & 1 != 0 {
                    self.ge = (value >> 16 & 15) as u8;
                }
            }
            MSP => *self.stack_pointer(false) = value & !3,
            PSP => *self.stack_pointer(true) = value & !3,
            PRIMASK => self.primask = value & 1 != 0,
            BASEPRI => self.basepri = priority,
            BASEPRI_MAX if priority != 0 && (self.basepri == 0 || priority < self.basepri) => self.basepri = priority,
            FAULTMASK if value & 1 == 0 || self.execution_priority() > -1 => self.faultmask = value & 1 != 0,
            CONTROL => self.set_control(value as u8),
            _ => {}
        }
    }

    /// Handlers always use the main stack, so they cannot change the choice.
    fn set_control(&mut self, value: u8) {
        let changes_stack = (value ^ self.control) & SPSEL != 0 && self.exception == 0;
        if changes_stack {
            std::mem::swap(&mut self.r[13], &mut self.other_sp);
            self.control ^= SPSEL;
        }
        if value & !self.control & NPRIV != 0 {
            let (register, bits) = ("CONTROL", NPRIV.into());
            self.notice(Notice::Unmodeled { register, bits });
        }
        self.control = self.control & SPSEL | value & (NPRIV | FPCA);
    }
}
