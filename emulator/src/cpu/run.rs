//! The run loop: fetch, execute, and in between whatever the chip and the interrupt controller want.

use std::ops::Range;

use super::fault::Fault;
use super::instruction::Decoded;
use super::nvic::SYS_TICK;
use super::scs::{SEVONPEND, SLEEPDEEP};
use super::{Bus, Cpu, Cycles, NEVER, Notice, Sleep, Stop, cycles};
use crate::memory::{FLASH, NOTHING};

/// Some of a list, nothing if it is not that long. Not inlined: the loop that uses it is to know a slice, not where it comes from.
#[inline(never)]
fn part(code: &[Decoded], wanted: Range<usize>) -> &[Decoded] {
    code.get(wanted).unwrap_or(&[])
}

/// For each condition code of the manual (section A7.3) a bit for each value of the flags N, Z, C and V.
const HOLDS: [u16; 16] = holds();

const fn holds() -> [u16; 16] {
    let mut table = [0; 16];
    let mut place = 0;
    while place < 256 {
        let (code, flags) = (place / 16, place % 16);
        let [n, z, c, v] = [flags & 8 != 0, flags & 4 != 0, flags & 2 != 0, flags & 1 != 0];
        let holds = match code >> 1 {
            0 => z,
            1 => c,
            2 => n,
            3 => v,
            4 => c && !z,
            5 => n == v,
            6 => n == v && !z,
            _ => true,
        };
        // The last code of all, 15, means always too.
        if holds != (code & 1 != 0 && code != 15) {
            table[code] |= 1 << flags;
        }
        place += 1;
    }
    table
}

impl<B: Bus> Cpu<B> {
    /// Lets the chip and the timers do what is due. Returns when that is again.
    fn sense(&mut self) -> Cycles {
        let next = self.bus.poll(self.now, &mut self.memory);
        let (lines, more) = self.latency.delay(self.bus.interrupt_lines(), self.now);
        let next = next.min(more);
        let mut newly_pending = self.nvic.see_lines(lines, self.now);
        if self.systick.advance(self.now) {
            self.nvic.pend(SYS_TICK, true);
            newly_pending = true;
        }
        if self.bus.take_event() || newly_pending && self.scs.scr & SEVONPEND != 0 {
            self.event = true;
        }
        next.min(self.systick.next_event())
    }

    /// The same, and takes an exception if one is due.
    fn look_up(&mut self) -> Cycles {
        let next = self.sense();
        if !matches!(self.sleep, Sleep::LockedUp | Sleep::Halted) {
            self.take_exception();
            if self.sleep == Sleep::ForEvent && std::mem::take(&mut self.event) {
                self.sleep = Sleep::Awake;
            }
        }
        if !self.scs.thumb && self.sleep == Sleep::Awake {
            self.take_fault(Fault::InvalidState, self.next);
        }
        next
    }

    /// While the flash is busy the chip goes on and the core does not. Returns whether that is so, with the time taken to
    /// where something happens, at most to `limit`.
    fn stand_still(&mut self, limit: Cycles) -> bool {
        if self.now >= self.stalled_until {
            return false;
        }
        let next = self.sense().min(self.stalled_until);
        self.next_look = next;
        self.now = self.now.max(next.min(limit));
        true
    }

    /// When this core has something to do next: now if it is awake, else when something is due that can wake it. It only
    /// says so: what is due at this very moment may depend on things that its owner has still to bring.
    pub fn next_activity(&self) -> Cycles {
        if self.now < self.stalled_until {
            self.next_look.clamp(self.now, self.stalled_until)
        } else if self.sleep == Sleep::Awake {
            self.now
        } else {
            self.next_look.max(self.now)
        }
    }

    /// Says that something is due at a time, which may be earlier than the core knew when it went to sleep.
    pub(crate) fn look_by(&mut self, due: Cycles) {
        self.next_look = self.next_look.min(due);
    }

    /// Runs until the time `limit`, or a few cycles more if an instruction takes that long.
    pub fn run_until(&mut self, limit: Cycles) -> Stop {
        if self.profile.is_empty() {
            self.run::<false>(limit)
        } else {
            self.run::<true>(limit)
        }
    }

    /// Counts the executions of every instruction from now on.
    pub fn start_profile(&mut self) {
        self.profile = vec![0; self.memory.image().code().len() + 1];
    }

    fn count(&mut self, pc: u32) {
        if let Some(last) = self.profile.len().checked_sub(1) {
            let place = (pc.wrapping_sub(FLASH) >> 1) as usize;
            self.profile[place.min(last)] += 1;
        }
    }

    fn run<const PROFILE: bool>(&mut self, limit: Cycles) -> Stop {
        let image = self.memory.image().clone();
        loop {
            if let Some(stop) = self.wants_stop() {
                return stop;
            }
            if self.now >= limit {
                return Stop::Time;
            }
            if self.stand_still(limit) {
                continue;
            }
            let next = self.look_up();
            self.next_look = next;
            if self.sleep != Sleep::Awake {
                if next >= limit {
                    self.now = limit;
                    return self.wants_stop().unwrap_or(Stop::Time);
                }
                self.now = self.now.max(next);
                continue;
            }
            self.deadline = next.min(limit);
            let shared = self.memory.shared_code();
            let code = part(image.code(), shared.clone());
            let first = FLASH + shared.start as u32 * 2;
            // `next` is read only after a jump: where it goes on otherwise does not wait for what the instruction has stored.
            let mut pc = self.next;
            let shift = self.art.shift;
            while self.now < self.deadline {
                if PROFILE {
                    self.count(pc);
                }
                let decoded = match code.get((pc.wrapping_sub(first) >> 1) as usize) {
                    Some(decoded) => decoded,
                    None => &self.fetch(pc),
                };
                // Each instruction is counted where it is.
                let decoded = if PROFILE { &decoded.alone() } else { decoded };
                let following = pc.wrapping_add(u32::from(decoded.length));
                self.instructions += 1;
                self.step_decoded(pc, following, decoded, shift);
                pc = if self.next == following {
                    following
                } else {
                    self.jumped_to()
                };
            }
        }
    }

    /// Where it goes on. Not inlined: the compiler would see that this is what it is compared with, and compare nothing.
    #[inline(never)]
    fn jumped_to(&self) -> u32 {
        self.next
    }

    /// Waits until something comes.
    pub(super) fn fall_asleep(&mut self, sleep: Sleep) {
        if self.scs.scr & SLEEPDEEP != 0 {
            self.notice(Notice::DeepSleep);
        }
        self.sleep = sleep;
        (self.deadline, self.next_look) = (0, 0);
    }

    /// Executes exactly one instruction or enters one exception handler, for debuggers and comparisons. A sleeping core
    /// is taken to the time at which it wakes.
    pub fn step(&mut self) {
        while self.stand_still(NEVER) {}
        let exceptions = self.exceptions;
        let next = self.look_up();
        if self.exceptions != exceptions {
            return;
        }
        if self.sleep != Sleep::Awake {
            if next != NEVER {
                self.now = self.now.max(next);
                self.look_up();
            }
            return;
        }
        let pc = self.next;
        let decoded = self.fetch(pc);
        self.count(pc);
        self.instructions += 1;
        let following = pc.wrapping_add(u32::from(decoded.length));
        self.step_decoded(pc, following, &decoded, self.art.shift);
    }

    /// The instruction at any address; where there is none, one that cannot be executed.
    #[inline(never)]
    fn fetch(&mut self, pc: u32) -> Decoded {
        if pc >= 0x4000_0000 {
            NOTHING
        } else {
            self.memory.instruction(pc).unwrap_or(NOTHING)
        }
    }

    /// `shift` is that of the accelerator's lines.
    #[inline(always)]
    fn step_decoded(&mut self, pc: u32, following: u32, decoded: &Decoded, shift: u32) {
        let line = pc >> (shift & 31);
        if line != self.art.line {
            self.now += self.art.enter(line, self.now);
        }
        self.now += u64::from(decoded.cycles);
        self.r[15] = pc.wrapping_add(4);
        self.next = following;
        let it = self.it;
        if it != 0 {
            self.it = if it & 7 == 0 { 0 } else { it & 0xe0 | it << 1 & 0x1f };
            if !self.condition(it >> 4) {
                return;
            }
        }
        if let Err(fault) = self.execute(&decoded.op, it != 0) {
            self.fail(fault, pc, it);
        }
    }

    #[inline(never)]
    fn fail(&mut self, fault: Fault, pc: u32, it: u8) {
        // The instruction has not happened; if it is tried again it is at the same place of its IT block.
        self.it = it;
        let fault = match fault {
            Fault::Undefined if pc >= 0xe000_0000 || (0x4000_0000..0x6000_0000).contains(&pc) => {
                Fault::ExecuteNever(pc)
            }
            Fault::Undefined if self.memory.byte(pc).is_none() => Fault::InstructionBus(pc),
            other => other,
        };
        self.take_fault(fault, pc);
    }

    /// Whether a condition code of the manual holds. Looked up: the processor cannot guess a jump for each code well.
    #[inline(always)]
    pub(super) fn condition(&self, code: u8) -> bool {
        let flags = u32::from(self.n) << 3 | u32::from(self.z) << 2 | u32::from(self.c) << 1 | u32::from(self.v);
        HOLDS[usize::from(code & 15)] >> flags & 1 != 0
    }

    /// Executes the branch after a comparison that has just been executed, unless something comes in between: something is due, or
    /// the branch is in another line of the flash.
    #[inline(always)]
    pub(super) fn branch_after_comparison(&mut self, in_it_block: bool, condition: u8, to: u32) {
        let branch = self.next;
        if in_it_block || self.now >= self.deadline || branch >> (self.art.shift & 31) != self.art.line {
            return;
        }
        self.instructions += 1;
        self.now += 1;
        self.r[15] = branch.wrapping_add(4);
        self.next = branch.wrapping_add(2);
        if self.condition(condition) {
            self.jump(to);
        }
    }

    #[inline(always)]
    pub(super) fn jump(&mut self, to: u32) {
        self.next = to;
        self.now += cycles::BRANCH;
    }
}
