//! Entering and leaving exception handlers: manual section B1.5.

use super::cycles;
use super::fault::Fault;
use super::nvic::HARD_FAULT;
use super::scs::{ASPEN, LSPACT, LSPEN, SLEEPONEXIT};
use super::{Bus, Cpu, Sleep};

/// CONTROL.FPCA: floating-point registers are in use.
pub(super) const FPCA: u8 = 4;
/// CONTROL.SPSEL: thread mode uses the process stack.
pub(super) const SPSEL: u8 = 2;

/// Registers R0-R3, R12, LR, return address and xPSR.
const BASIC_FRAME: u32 = 0x20;
/// The same with S0-S15, FPSCR and a word for alignment.
const EXTENDED_FRAME: u32 = 0x68;
/// Bits of FPSCR that every new use of floating point takes from FPDSCR.
const DEFAULTED: u32 = 0x07c0_0000;

impl<B: Bus> Cpu<B> {
    /// The priority that an exception must exceed to interrupt what is executing now.
    pub(super) fn execution_priority(&self) -> i32 {
        let mut priority = self.nvic.active_priority();
        if self.basepri != 0 {
            priority = priority.min(self.nvic.mask_priority(self.basepri));
        }
        if self.primask {
            priority = priority.min(0);
        }
        if self.faultmask {
            priority = priority.min(-1);
        }
        priority
    }

    /// Enters the handler of the first waiting exception if that has priority; wakes up if it would but for PRIMASK.
    pub(super) fn take_exception(&mut self) {
        let Some((exception, priority)) = self.nvic.first_waiting() else {
            return;
        };
        if priority < self.execution_priority() {
            self.sleep = Sleep::Awake;
            self.enter_exception(exception);
        } else if self.sleep == Sleep::ForInterrupt {
            let primask = std::mem::take(&mut self.primask);
            if priority < self.execution_priority() {
                self.sleep = Sleep::Awake;
            }
            self.primask = primask;
        }
    }

    /// ExceptionEntry of the manual: pushes the registers and goes to the handler.
    pub(super) fn enter_exception(&mut self, exception: usize) {
        let stacked = self.push_frame();
        self.r[14] = self.return_code();
        if self.exception == 0 && self.uses_process_stack() {
            std::mem::swap(&mut self.r[13], &mut self.other_sp);
        }
        self.control &= !(FPCA | SPSEL);
        self.now += cycles::EXCEPTION_ENTRY;
        if let Err(fault) = stacked {
            self.enter_after_failed_stacking(exception, fault);
        } else {
            self.go_to_handler(exception);
        }
    }

    /// The failure to stack is a fault of its own, taken without stacking again: a hard fault, also on the way to a hard fault. Its
    /// handler begins with a stack pointer that leads nowhere, and locks up if it uses that.
    fn enter_after_failed_stacking(&mut self, exception: usize, fault: Fault) {
        self.scs.cfsr |= 1 << 12;
        self.scs.hfsr |= 1 << 30;
        if exception != HARD_FAULT {
            self.report(fault, self.next, false);
        }
        self.go_to_handler(HARD_FAULT);
    }

    /// EXC_RETURN: says to the return where to find the registers and what mode to return to.
    fn return_code(&self) -> u32 {
        let mode = match (self.exception, self.uses_process_stack()) {
            (0, true) => 0xffff_fffd,
            (0, false) => 0xffff_fff9,
            _ => 0xffff_fff1,
        };
        if self.control & FPCA != 0 { mode & !0x10 } else { mode }
    }

    /// PushStack of the manual.
    fn push_frame(&mut self) -> Result<(), Fault> {
        let with_float = self.control & FPCA != 0;
        let size = if with_float { EXTENDED_FRAME } else { BASIC_FRAME };
        let misaligned = self.r[13] >> 2 & 1;
        let sp = self.r[13].wrapping_sub(size) & !4;
        let r = &self.r;
        let frame = [
            r[0],
            r[1],
            r[2],
            r[3],
            r[12],
            r[14],
            self.next,
            self.xpsr() | misaligned << 9,
        ];
        self.r[13] = sp;
        let failed = |_| Fault::Stacking(sp);
        for (place, word) in (0..).zip(frame) {
            self.store_word(sp.wrapping_add(place * 4), word).map_err(failed)?;
        }
        if with_float {
            let address = sp.wrapping_add(BASIC_FRAME);
            if self.scs.fpccr & LSPEN != 0 {
                self.scs.fpcar = address;
                self.scs.fpccr |= LSPACT;
            } else {
                self.push_float(address).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn push_float(&mut self, address: u32) -> Result<(), Fault> {
        for place in 0..16 {
            self.store_word(address.wrapping_add(place * 4), self.s[place as usize])?;
        }
        self.store_word(address.wrapping_add(64), self.fpscr)
    }

    /// Before the first floating-point instruction of a handler its caller's registers go to the place kept for them.
    pub(super) fn save_float_now(&mut self) -> Result<(), Fault> {
        self.scs.fpccr &= !LSPACT;
        let address = self.scs.fpcar;
        self.push_float(address)
    }

    /// ExceptionTaken of the manual.
    fn go_to_handler(&mut self, exception: usize) {
        self.nvic.activate(exception);
        self.exception = exception as u16;
        self.it = 0;
        self.exclusive = None;
        self.event = true;
        self.exceptions += 1;
        self.deadline = 0;
        let vector = self.scs.vtor.wrapping_add(exception as u32 * 4);
        match self.load_word(vector) {
            Ok(address) => {
                self.next = address & !1;
                self.scs.thumb = address & 1 != 0;
            }
            Err(_) if exception == HARD_FAULT => {
                self.report(Fault::VectorTable(vector), self.next, true);
                self.lock_up();
            }
            Err(_) => {
                self.scs.hfsr |= 1 << 1;
                self.report(Fault::VectorTable(vector), self.next, false);
                self.go_to_handler(HARD_FAULT);
            }
        }
    }

    /// ExceptionReturn of the manual; `code` is what was written to the program counter.
    pub(super) fn return_from_exception(&mut self, code: u32) -> Result<(), Fault> {
        let to_handler = code & 0xf == 0x1;
        let legal = matches!(code & 0xf, 0x1 | 0x9 | 0xd) && code & 0xffff_ffe0 == 0xffff_ffe0;
        // Exactly one exception may be left when thread mode is returned to.
        let nested = self.nvic.active_count() > 1;
        let returning = usize::from(self.exception);
        if !legal || !self.nvic.is_active(returning) || to_handler != nested {
            return Err(Fault::InvalidReturn);
        }
        self.nvic.end_handler(returning, self.now);
        if returning != super::nvic::NMI {
            self.faultmask = false;
        }
        self.event = true;
        self.exclusive = None;
        self.deadline = 0;
        if let Some((next, priority)) = self.nvic.first_waiting()
            && priority < self.execution_priority()
        {
            // Tail-chaining: the frame on the stack serves the next handler too.
            self.r[14] = code;
            self.now += cycles::TAIL_CHAIN;
            self.go_to_handler(next);
            return Ok(());
        }
        if code & 4 != 0 {
            std::mem::swap(&mut self.r[13], &mut self.other_sp);
            self.control |= SPSEL;
        }
        self.now += cycles::EXCEPTION_RETURN;
        self.pop_frame(code & 0x10 == 0)?;
        if self.exception == 0 && self.scs.scr & SLEEPONEXIT != 0 {
            self.fall_asleep(Sleep::ForInterrupt);
        }
        Ok(())
    }

    /// PopStack of the manual.
    fn pop_frame(&mut self, with_float: bool) -> Result<(), Fault> {
        let sp = self.r[13];
        let mut frame = [0; 8];
        for (place, word) in (0..).zip(&mut frame) {
            *word = self
                .load_word(sp.wrapping_add(place * 4))
                .map_err(|_| Fault::Unstacking(sp))?;
        }
        if with_float {
            self.pop_float(sp.wrapping_add(BASIC_FRAME))
                .map_err(|_| Fault::Unstacking(sp))?;
        }
        let [r0, r1, r2, r3, r12, lr, pc, xpsr] = frame;
        self.r[..4].copy_from_slice(&[r0, r1, r2, r3]);
        (self.r[12], self.r[14]) = (r12, lr);
        self.next = pc & !1;
        self.set_xpsr_flags(xpsr);
        self.scs.thumb = xpsr >> 24 & 1 != 0;
        self.exception = (xpsr & 0x1ff) as u16;
        let size = if with_float { EXTENDED_FRAME } else { BASIC_FRAME };
        self.r[13] = sp.wrapping_add(size) | (xpsr >> 9 & 1) << 2;
        self.control = if with_float {
            self.control | FPCA
        } else {
            self.control & !FPCA
        };
        Ok(())
    }

    fn pop_float(&mut self, address: u32) -> Result<(), Fault> {
        if self.scs.fpccr & LSPACT != 0 {
            // The handler did not touch them: they are still in the registers.
            self.scs.fpccr &= !LSPACT;
            return Ok(());
        }
        for place in 0..16 {
            self.s[place as usize] = self.load_word(address.wrapping_add(place * 4))?;
        }
        self.fpscr = self.load_word(address.wrapping_add(64))?;
        Ok(())
    }

    /// Marks the floating-point registers as in use, so that exceptions save them.
    pub(super) fn begin_float(&mut self) -> Result<(), Fault> {
        if self.scs.cpacr >> 20 & 0xf != 0xf {
            return Err(Fault::NoCoprocessor);
        }
        if self.scs.fpccr & LSPACT != 0 {
            self.save_float_now()?;
        }
        if self.scs.fpccr & ASPEN != 0 && self.control & FPCA == 0 {
            self.control |= FPCA;
            self.fpscr = self.fpscr & !DEFAULTED | self.scs.fpdscr & DEFAULTED;
        }
        Ok(())
    }
}
