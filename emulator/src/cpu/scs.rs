//! The system control space: system control block, debug registers and the addresses of NVIC and SysTick.
//! Manual sections B3.2, B3.4 and C1.8.

use super::nvic::{FIRST_INTERRUPT, NMI, PEND_SV, SYS_TICK};
use super::{Bus, Cpu, Cycles, Notice};
use crate::data_cache::Maintenance;

/// CPUID of a Cortex-M4 r0p1.
const CPUID: u32 = 0x410f_c241;
/// CPUID of a Cortex-M7 r1p1.
const CPUID_M7: u32 = 0x411f_c271;
/// CCR: the caches of a Cortex-M7 are on; its branch prediction always is.
const INSTRUCTION_CACHE: u32 = 1 << 17;
const DATA_CACHE: u32 = 1 << 16;
const BRANCH_PREDICTION: u32 = 1 << 18;
const VECTKEY: u32 = 0x05fa;
/// Bits of CCR.
pub(super) const UNALIGN_TRP: u32 = 1 << 3;
/// CCR: data bus faults of handlers of faults are ignored.
pub(super) const BFHFNMIGN: u32 = 1 << 8;
/// CFSR: a data bus fault whose instruction is known, and whose address is in BFAR.
pub(super) const PRECISERR: u32 = 1 << 9;
/// See [`PRECISERR`].
pub(super) const BFARVALID: u32 = 1 << 15;
pub(super) const DIV_0_TRP: u32 = 1 << 4;
const STKALIGN: u32 = 1 << 9;
/// Bits of SCR.
pub(super) const SLEEPONEXIT: u32 = 1 << 1;
pub(super) const SLEEPDEEP: u32 = 1 << 2;
pub(super) const SEVONPEND: u32 = 1 << 4;
/// Bits of FPCCR.
pub(super) const LSPACT: u32 = 1;
pub(super) const LSPEN: u32 = 1 << 30;
pub(super) const ASPEN: u32 = 1 << 31;
/// Bits of DEMCR and DWT_CTRL.
const TRCENA: u32 = 1 << 24;
const CYCCNTENA: u32 = 1;

/// What may be written on the private peripheral bus: the first address and the last, a name, and the bits that are modeled, or do no harm.
/// Locks of debug units do none: nothing else of this is without a model.
const KNOWN: &[(u32, u32, &str, u32)] = &[
    (0xe000_0fb0, 0xe000_0fb0, "ITM_LAR", u32::MAX),
    (0xe000_1000, 0xe000_1000, "DWT_CTRL", CYCCNTENA),
    (0xe000_1004, 0xe000_1004, "DWT_CYCCNT", u32::MAX),
    (0xe000_1fb0, 0xe000_1fb0, "DWT_LAR", u32::MAX),
    (0xe000_e010, 0xe000_e010, "SYST_CSR", 7),
    (0xe000_e014, 0xe000_e018, "SYST_RVR or SYST_CVR", 0xff_ffff),
    (0xe000_e100, 0xe000_e4ef, "NVIC", u32::MAX),
    (0xe000_ed04, 0xe000_ed04, "ICSR", 0x9e00_0000),
    (0xe000_ed08, 0xe000_ed08, "VTOR", u32::MAX),
    (0xe000_ed0c, 0xe000_ed0c, "AIRCR", 0xffff_0704),
    (0xe000_ed10, 0xe000_ed10, "SCR", SLEEPONEXIT | SLEEPDEEP | SEVONPEND),
    (0xe000_ed14, 0xe000_ed14, "CCR", CONFIGURATION),
    (0xe000_ed18, 0xe000_ed23, "SHPR", u32::MAX),
    (0xe000_ed24, 0xe000_ed24, "SHCSR", 0x7_0000),
    (0xe000_ed28, 0xe000_ed2f, "CFSR or HFSR", u32::MAX),
    (0xe000_ed34, 0xe000_ed38, "MMFAR or BFAR", u32::MAX),
    (0xe000_ed88, 0xe000_ed88, "CPACR", 0x00f0_0000),
    (0xe000_ed90, 0xe000_edb8, "MPU", 0),
    (0xe000_edfc, 0xe000_edfc, "DEMCR", TRCENA),
    (0xe000_ef00, 0xe000_ef00, "STIR", 0x1ff),
    (0xe000_ef34, 0xe000_ef34, "FPCCR", ASPEN | LSPEN),
    (0xe000_ef38, 0xe000_ef3c, "FPCAR or FPDSCR", u32::MAX),
];

/// The same of a Cortex-M7 alone.
const KNOWN_M7: &[(u32, u32, &str, u32)] = &[
    (
        0xe000_ed14,
        0xe000_ed14,
        "CCR",
        CONFIGURATION | INSTRUCTION_CACHE | DATA_CACHE | BRANCH_PREDICTION,
    ),
    (0xe000_ed94, 0xe000_edb8, "MPU", u32::MAX),
    (0xe000_ed84, 0xe000_ed84, "CSSELR", 0xf),
    (0xe000_ef50, 0xe000_ef78, "a cache's maintenance", u32::MAX),
];

/// CCR of every core.
const CONFIGURATION: u32 = 0x31b;

/// Registers of the system control block and of the debug units.
#[derive(Default, Hash)]
pub(super) struct SystemControl {
    pub(super) vtor: u32,
    pub(super) scr: u32,
    pub(super) ccr: u32,
    pub(super) shcsr: u32,
    pub(super) cfsr: u32,
    pub(super) hfsr: u32,
    pub(super) mmfar: u32,
    pub(super) bfar: u32,
    pub(super) cpacr: u32,
    pub(super) fpccr: u32,
    pub(super) fpcar: u32,
    pub(super) fpdscr: u32,
    demcr: u32,
    dwt_ctrl: u32,
    /// The cycle counter is the time less this while it runs, and this alone while it stands.
    cycle_base: Cycles,
    /// EPSR.T: the core executes Thumb instructions only.
    pub(super) thumb: bool,
}

impl SystemControl {
    pub(super) fn new() -> Self {
        SystemControl {
            ccr: STKALIGN,
            fpccr: ASPEN | LSPEN,
            dwt_ctrl: 0x4000_0000,
            thumb: true,
            ..SystemControl::default()
        }
    }

    fn counts_cycles(&self) -> bool {
        self.demcr & TRCENA != 0 && self.dwt_ctrl & CYCCNTENA != 0
    }

    fn cycle_count(&self, now: Cycles) -> u32 {
        if self.counts_cycles() {
            now.wrapping_sub(self.cycle_base) as u32
        } else {
            self.cycle_base as u32
        }
    }

    fn set_cycle_count(&mut self, now: Cycles, count: u32) {
        let count = u64::from(count);
        self.cycle_base = if self.counts_cycles() {
            now.wrapping_sub(count)
        } else {
            count
        };
    }

    /// Changes DEMCR or DWT_CTRL and keeps the cycle count.
    fn set_debug(&mut self, now: Cycles, change: impl FnOnce(&mut Self)) {
        let count = self.cycle_count(now);
        change(self);
        self.set_cycle_count(now, count);
    }
}

impl<B: Bus> Cpu<B> {
    /// Reads a register of the private peripheral bus; those that are not modeled read as zero.
    pub(super) fn read_system(&mut self, address: u32) -> u32 {
        match address & !3 {
            0xe000_1000 => self.scs.dwt_ctrl,
            0xe000_1004 => self.scs.cycle_count(self.now),
            address @ 0xe000_e010..=0xe000_e01c => {
                self.systick.advance(self.now);
                self.systick.read(address - 0xe000_e010, self.now)
            }
            // ICTR: four words of interrupts.
            0xe000_e004 => 3,
            address @ 0xe000_e100..=0xe000_e3ff => self.nvic.read(address - 0xe000_e100),
            address @ 0xe000_e400..=0xe000_e4ef => self.read_priorities(FIRST_INTERRUPT, address - 0xe000_e400),
            0xe000_ed00 if self.art.is_in_core() => CPUID_M7,
            0xe000_ed00 => CPUID,
            0xe000_ed04 => self.interrupt_state(),
            0xe000_ed08 => self.scs.vtor,
            0xe000_ed0c => 0xfa05_0000 | self.nvic.group << 8,
            0xe000_ed10 => self.scs.scr,
            0xe000_ed14 => self.scs.ccr,
            address @ 0xe000_ed18..=0xe000_ed20 => self.read_priorities(4, address - 0xe000_ed18),
            0xe000_ed24 => self.scs.shcsr | self.handler_state(),
            0xe000_ed28 => self.scs.cfsr,
            0xe000_ed2c => self.scs.hfsr,
            0xe000_ed34 => self.scs.mmfar,
            0xe000_ed38 => self.scs.bfar,
            // CCSIDR of the data cache: 128 sets of 4 ways of 32 bytes.
            0xe000_ed80 if self.art.is_in_core() => 0xf00f_e019,
            0xe000_ed88 => self.scs.cpacr,
            address @ 0xe000_ed90..=0xe000_edb8 if self.art.is_in_core() => self.mpu.read(address - 0xe000_ed90),
            0xe000_edfc => self.scs.demcr,
            0xe000_ef34 => self.scs.fpccr,
            0xe000_ef38 => self.scs.fpcar,
            0xe000_ef3c => self.scs.fpdscr,
            // MVFR0 and MVFR1: single precision, with fused multiply and half precision.
            0xe000_ef40 => 0x1011_0021,
            0xe000_ef44 => 0x1100_0011,
            _ => 0,
        }
    }

    /// Tells of what a write would change that there is no model of.
    fn check_system(&mut self, address: u32, value: u32) {
        let of_m7 = if self.art.is_in_core() { KNOWN_M7 } else { &[] };
        let mut all = of_m7.iter().chain(KNOWN);
        let known = all.find(|(first, last, ..)| (*first..=*last).contains(&address));
        let (register, known) = known.map_or(("a register of the core", 0), |known| (known.2, known.3));
        if value & !known == 0 {
            return;
        }
        let bits = (value ^ self.read_system(address)) & !known;
        if bits != 0 {
            self.notice(Notice::Unmodeled { register, bits });
        }
    }

    fn set_vector_table(&mut self, address: u32) {
        // As many words as there are exceptions, up to a power of two: 98 to 118 on the chips with a Cortex-M4, 166 on the H743.
        let multiple = if self.art.is_in_core() { 0x400 } else { 0x200 };
        if !address.is_multiple_of(multiple) {
            self.notice(Notice::Vectors { address, multiple });
        }
        self.scs.vtor = address & !0x7f;
    }

    /// Writes a register of the private peripheral bus. Only priorities and the fault status are written in parts.
    pub(super) fn write_system(&mut self, address: u32, bytes: u32, value: u32) {
        self.check_system(address, value);
        match address {
            0xe000_1000 => self.scs.set_debug(self.now, |scs| {
                scs.dwt_ctrl = scs.dwt_ctrl & !CYCCNTENA | value & CYCCNTENA;
            }),
            0xe000_1004 => self.scs.set_cycle_count(self.now, value),
            0xe000_e010..=0xe000_e018 => {
                if self.systick.advance(self.now) {
                    self.nvic.pend(SYS_TICK, true);
                }
                self.systick.write(address - 0xe000_e010, value, self.now);
            }
            0xe000_e100..=0xe000_e3ff => {
                let before = self.nvic.first_waiting().is_some();
                self.nvic.write(address - 0xe000_e100, value);
                self.event |= self.scs.scr & SEVONPEND != 0 && !before && self.nvic.first_waiting().is_some();
            }
            0xe000_e400..=0xe000_e4ef => self.write_priorities(FIRST_INTERRUPT, address - 0xe000_e400, bytes, value),
            0xe000_ed04 => self.set_interrupt_state(value),
            0xe000_ed08 => self.set_vector_table(value),
            0xe000_ed0c if value >> 16 == VECTKEY => {
                self.nvic.group = value >> 8 & 7;
                self.reset_request |= value & 1 << 2 != 0;
            }
            0xe000_ed10 => self.scs.scr = value & (SLEEPONEXIT | SLEEPDEEP | SEVONPEND),
            0xe000_ed14 if self.art.is_in_core() => {
                self.scs.ccr = value & (CONFIGURATION | INSTRUCTION_CACHE | DATA_CACHE) | BRANCH_PREDICTION;
                self.art.switch_core_cache(value & INSTRUCTION_CACHE != 0);
                self.memory.switch_data_cache(value & DATA_CACHE != 0);
                self.memory.set_regions(self.mpu.regions());
            }
            0xe000_ed14 => self.scs.ccr = value & CONFIGURATION,
            0xe000_ed18..=0xe000_ed23 => self.write_priorities(4, address - 0xe000_ed18, bytes, value),
            // Only the enables of the faults are kept; the state of the handlers is shown from the NVIC.
            0xe000_ed24 => self.scs.shcsr = value & 0x7_0000,
            // Write one to clear, in any size and place.
            0xe000_ed28..=0xe000_ed2b => self.scs.cfsr &= !(value << (8 * (address & 3))),
            0xe000_ed2c => self.scs.hfsr &= !value,
            0xe000_ed34 => self.scs.mmfar = value,
            0xe000_ed38 => self.scs.bfar = value,
            0xe000_ed88 => self.scs.cpacr = value & 0x00f0_0000,
            0xe000_edfc => self.scs.set_debug(self.now, |scs| scs.demcr = value),
            0xe000_ef00 => self.nvic.write(0x100 + (value & 0x1e0) / 8, 1 << (value & 31)),
            0xe000_ed94..=0xe000_edb8 if self.art.is_in_core() => self.write_mpu(address - 0xe000_ed90, value),
            // DCIMVAC, DCISW, DCCMVAU, DCCMVAC, DCCSW, DCCIMVAC, DCCISW.
            0xe000_ef5c..=0xe000_ef74 => {
                let by_address = matches!(address & 0xff, 0x5c | 0x64 | 0x68 | 0x70);
                let what = match address & 0xff {
                    0x5c | 0x60 => Maintenance::Invalidate,
                    0x64..=0x6c => Maintenance::Clean,
                    _ => Maintenance::CleanAndInvalidate,
                };
                self.memory.maintain_data_cache(what, by_address, value);
            }
            // ICIALLU, ICIMVAU: what the core knows of its instructions.
            0xe000_ef50 | 0xe000_ef58 if self.art.is_in_core() => self.art.forget_instructions(),
            0xe000_ef34 => self.scs.fpccr = self.scs.fpccr & LSPACT | value & (ASPEN | LSPEN),
            0xe000_ef38 => self.scs.fpcar = value & !7,
            0xe000_ef3c => self.scs.fpdscr = value & 0x07c0_0000,
            _ => {}
        }
    }

    fn read_priorities(&self, first: usize, offset: u32) -> u32 {
        let bytes = [0, 1, 2, 3].map(|byte| self.nvic.priority_byte(first + offset as usize + byte));
        u32::from_le_bytes(bytes)
    }

    fn write_priorities(&mut self, first: usize, offset: u32, bytes: u32, value: u32) {
        for byte in 0..bytes {
            self.nvic
                .set_priority(first + (offset + byte) as usize, (value >> (8 * byte)) as u8);
        }
    }

    /// ICSR.
    fn interrupt_state(&self) -> u32 {
        let pending = |exception, bit: u32| u32::from(self.nvic.is_pending(exception)) << bit;
        let first = self.nvic.first_waiting().map_or(0, |(exception, _)| exception as u32);
        u32::from(self.exception)
            | u32::from(self.nvic.active_count() <= 1) << 11
            | first << 12
            | u32::from(first >= FIRST_INTERRUPT as u32) << 22
            | pending(NMI, 31)
            | pending(PEND_SV, 28)
            | pending(SYS_TICK, 26)
    }

    fn set_interrupt_state(&mut self, value: u32) {
        for (bit, exception, pending) in [
            (31, NMI, true),
            (28, PEND_SV, true),
            (27, PEND_SV, false),
            (26, SYS_TICK, true),
            (25, SYS_TICK, false),
        ] {
            if value >> bit & 1 != 0 {
                self.nvic.pend(exception, pending);
            }
        }
    }

    /// The active bits of SHCSR.
    fn handler_state(&self) -> u32 {
        [(0, 4), (1, 5), (3, 6), (7, 11), (8, 12), (10, 14), (11, 15)]
            .iter()
            .map(|&(bit, exception)| u32::from(self.nvic.is_active(exception)) << bit)
            .sum()
    }
}
