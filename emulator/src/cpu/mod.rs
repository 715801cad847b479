//! A Cortex-M4F: registers, instructions, exceptions and the system control space.
//!
//! The path of an instruction: `decode` looks up its encoding once, `run` fetches the decoded form, `execute` does
//! what it says, `access` carries its loads and stores to memory or to the [`Bus`]. Whatever interrupts that path is
//! in `exceptions`, `escalation` and [`fault`]; `nvic`, `systick` and `scs` hold the registers of the system control space.

mod access;
mod arithmetic;
mod art;
mod bus;
#[cfg(test)]
mod comparison;
mod cycles;
pub(crate) mod decode;
mod escalation;
mod exceptions;
mod execute;
pub mod fault;
pub(crate) mod instruction;
mod mpu;
mod nvic;
mod rounding;
mod run;
// Knows `Cpu` and is known by it: its registers are those of the core, and so what a write to them does is done to the core.
mod scs;
mod systick;
#[cfg(test)]
mod tests;

use std::hash::{Hash, Hasher};

use crate::memory::Memory;
use art::Art;
use fault::FaultReport;
use mpu::Mpu;
use nvic::{InterruptLatency, Nvic};
use scs::SystemControl;
use systick::SysTick;

pub use art::FlashReading;
pub use bus::{Bus, Notice, Stop};
pub use cycles::{Cycles, NEVER};
pub use nvic::InterruptLines;

/// Why the core executes nothing at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sleep {
    /// It does execute.
    Awake,
    /// WFI: an interrupt wakes it.
    ForInterrupt,
    /// WFE: an event or an interrupt wakes it.
    ForEvent,
    /// A fault inside a fault handler: only a reset helps.
    LockedUp,
    /// A debug probe has stopped it, or it has no power.
    Halted,
}

/// The processor with its memory and what is around it.
pub struct Cpu<B: Bus> {
    /// R0 to R15. R15 holds what an instruction reads as the program counter: its own address plus 4.
    pub r: [u32; 16],
    /// Address of the next instruction.
    pub next: u32,
    n: bool,
    z: bool,
    c: bool,
    v: bool,
    q: bool,
    ge: u8,
    /// State of the IT block, ITSTATE of the manual.
    it: u8,
    /// Number of the exception being handled; 0 in thread mode.
    exception: u16,
    primask: bool,
    faultmask: bool,
    basepri: u8,
    control: u8,
    /// The stack pointer that is not in R13 at the moment.
    other_sp: u32,
    /// Floating-point registers.
    pub s: [u32; 32],
    /// Floating-point status.
    pub fpscr: u32,
    /// The event register of WFE.
    event: bool,
    /// Whether and why it sleeps.
    pub sleep: Sleep,
    /// The address that an exclusive load has marked.
    exclusive: Option<u32>,
    nvic: Nvic,
    latency: InterruptLatency,
    scs: SystemControl,
    mpu: Mpu,
    systick: SysTick,
    art: Art,
    /// The present time.
    pub now: Cycles,
    /// When the run loop looks up from executing; 0 makes it look at once.
    deadline: Cycles,
    /// Until when the core stands still because the flash is busy.
    stalled_until: Cycles,
    /// When something is due while it sleeps, as of the last time it looked.
    next_look: Cycles,
    /// Instructions executed so far.
    pub instructions: u64,
    /// Exceptions entered so far.
    pub exceptions: u64,
    /// Set by a write to AIRCR; the owner of the core resets it.
    reset_request: bool,
    /// Faults so far, the first [`fault::KEPT`] of them in full.
    pub faults: Vec<FaultReport>,
    /// How many faults there were.
    pub fault_count: u64,
    /// Executions per halfword of the image, if counted, and in the last place those of all that is elsewhere.
    pub profile: Vec<u64>,
    /// Flash and RAM.
    pub memory: Memory,
    /// The chip around the core.
    pub bus: B,
}

impl<B: Bus> Cpu<B> {
    /// A core as it comes out of power-on reset at time 0.
    pub fn new(memory: Memory, bus: B) -> Self {
        let mut cpu = Cpu {
            r: [0; 16],
            next: 0,
            n: false,
            z: false,
            c: false,
            v: false,
            q: false,
            ge: 0,
            it: 0,
            exception: 0,
            primask: false,
            faultmask: false,
            basepri: 0,
            control: 0,
            other_sp: 0,
            s: [0; 32],
            fpscr: 0,
            event: false,
            sleep: Sleep::Awake,
            exclusive: None,
            nvic: Nvic::default(),
            latency: InterruptLatency::default(),
            scs: SystemControl::new(),
            mpu: Mpu::default(),
            systick: SysTick::default(),
            art: Art::new(FlashReading::F4, 0),
            now: 0,
            deadline: 0,
            stalled_until: 0,
            next_look: 0,
            instructions: 0,
            exceptions: 0,
            reset_request: false,
            faults: Vec::new(),
            fault_count: 0,
            profile: Vec::new(),
            memory,
            bus,
        };
        cpu.reset();
        cpu
    }

    /// TakeReset of the manual. Time, counters, memory and what is around the core stay as they are.
    pub fn reset(&mut self) {
        self.r = [0; 16];
        (self.n, self.z, self.c, self.v, self.q) = (false, false, false, false, false);
        (self.ge, self.it, self.exception) = (0, 0, 0);
        (self.primask, self.faultmask, self.basepri, self.control) = (false, false, 0, 0);
        (self.other_sp, self.s, self.fpscr) = (0, [0; 32], 0);
        (self.event, self.sleep, self.exclusive) = (false, Sleep::Awake, None);
        self.nvic = Nvic::default();
        self.scs = SystemControl::new();
        self.mpu = Mpu::default();
        self.systick = SysTick::default();
        self.art = Art::new(self.bus.flash_reading(), self.bus.flash_access());
        (self.deadline, self.next_look, self.reset_request) = (0, 0, false);
        self.stalled_until = 0;
        self.r[14] = 0xffff_ffff;
        self.r[13] = self.memory.boot_word(0) & !3;
        self.next = self.memory.boot_word(4) & !1;
        // Without the Thumb bit the first instruction faults, as on silicon.
        self.scs.thumb = self.memory.boot_word(4) & 1 != 0;
    }

    /// Starts what has its vectors at an address, as a debug probe starts a program in RAM.
    pub(crate) fn start_at(&mut self, vectors: u32) {
        let [stack, entry] = [0, 4].map(|offset| self.memory.word(vectors.wrapping_add(offset)).unwrap_or(0));
        (self.r[13], self.next) = (stack & !3, entry & !1);
        (self.scs.vtor, self.scs.thumb) = (vectors, entry & 1 != 0);
    }

    /// Has interrupts come late from now on, each by less than a number of cycles, as the seed says.
    pub fn delay_interrupts(&mut self, seed: u64, bound: Cycles) {
        (self.latency.seed, self.latency.bound) = (seed, bound);
    }

    /// Executes nothing until it is [resumed](Self::resume) or reset.
    pub fn halt(&mut self) {
        (self.sleep, self.deadline) = (Sleep::Halted, 0);
    }

    /// Goes on after a [halt](Self::halt), also if it was waiting before.
    pub fn resume(&mut self) {
        if self.is_halted() {
            (self.sleep, self.next_look) = (Sleep::Awake, 0);
        }
    }

    /// Whether it was halted.
    pub fn is_halted(&self) -> bool {
        self.sleep == Sleep::Halted
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.now < self.stalled_until
    }

    /// The power fails: what the flash has not done by now is torn.
    pub(crate) fn tear_flash(&mut self, seed: u64) {
        if self.is_stalled() {
            self.memory.tear_interrupted(seed);
        }
        self.memory.finish();
    }

    /// Whether the owner of the core has something to do before it goes on.
    fn wants_stop(&self) -> Option<Stop> {
        if self.reset_request {
            Some(Stop::Reset)
        } else {
            self.bus.wants_stop()
        }
    }

    /// Whether a write to AIRCR has asked for a reset.
    pub fn asked_for_reset(&self) -> bool {
        self.reset_request
    }

    /// Number of the exception being handled; 0 in thread mode.
    pub fn exception(&self) -> u16 {
        self.exception
    }

    /// The program status register.
    pub fn xpsr(&self) -> u32 {
        u32::from(self.n) << 31
            | u32::from(self.z) << 30
            | u32::from(self.c) << 29
            | u32::from(self.v) << 28
            | u32::from(self.q) << 27
            | u32::from(self.it & 3) << 25
            | u32::from(self.scs.thumb) << 24
            | u32::from(self.ge) << 16
            | u32::from(self.it >> 2) << 10
            | u32::from(self.exception)
    }

    /// Sets the flags, the GE bits and the IT state from a program status register.
    pub fn set_xpsr_flags(&mut self, value: u32) {
        self.set_condition_flags(value);
        self.q = value >> 27 & 1 != 0;
        self.ge = (value >> 16 & 15) as u8;
        self.it = (value >> 25 & 3 | value >> 8 & 0xfc) as u8;
    }

    fn set_condition_flags(&mut self, value: u32) {
        self.n = value >> 31 & 1 != 0;
        self.z = value >> 30 & 1 != 0;
        self.c = value >> 29 & 1 != 0;
        self.v = value >> 28 & 1 != 0;
    }

    /// Tells something of the present instruction.
    fn notice(&mut self, notice: Notice) {
        self.bus.notice(notice);
        self.bus.done_at(self.r[15].wrapping_sub(4));
    }

    fn uses_process_stack(&self) -> bool {
        self.control & 2 != 0
    }
}

/// Everything that decides what core, memory and chip will do.
impl<B: Bus + Hash> Hash for Cpu<B> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (&self.r[..15], self.next, self.xpsr(), self.other_sp).hash(hasher);
        (self.s, self.fpscr).hash(hasher);
        (self.primask, self.faultmask, self.basepri, self.control).hash(hasher);
        (self.event, self.sleep, self.exclusive, self.reset_request).hash(hasher);
        (&self.nvic, self.latency, &self.scs, &self.mpu, &self.systick, &self.art).hash(hasher);
        (self.now, self.stalled_until, self.instructions).hash(hasher);
        (self.exceptions, self.fault_count).hash(hasher);
        self.memory.changeable().for_each(|memory| hasher.write(memory));
        self.memory.data_cache().hash(hasher);
        self.bus.hash(hasher);
    }
}
