//! Reset and clock control of the H7: RM0433 chapter 8. The core runs with the system clock divided by D1CPRE, buses and flash with that divided
//! by HPRE.

use std::hash::{Hash, Hasher};

use super::super::backup::{BackupControl, BackupDomain};
use super::super::clocks::{Clocks, Pll, Source};
use super::super::external_clock::{ExternalClock, HSE_ON, HSE_READY};
use super::super::map::{Gate, Kind, Place};
use super::super::peripheral::{ClockControl, Peripheral, ResetCause};
use super::super::rules::{Rule, Violation};
use crate::cpu::Cycles;

const HSI: u64 = 64_000_000;
const CSI: u64 = 4_000_000;

const CR: u32 = 0x00;
const CFGR: u32 = 0x10;
const D1CFGR: u32 = 0x18;
const D2CFGR: u32 = 0x1c;
const D3CFGR: u32 = 0x20;
const PLLCKSELR: u32 = 0x28;
const PLLCFGR: u32 = 0x2c;
const PLL1DIVR: u32 = 0x30;
const PLL1FRACR: u32 = 0x34;
const D2CCIP2R: u32 = 0x54;
const D3CCIPR: u32 = 0x58;
const BDCR: u32 = 0x70;
const CSR: u32 = 0x74;
const FIRST_RESET: u32 = 0x7c;
const LAST_RESET: u32 = 0x9c;
const RSR: u32 = 0xd0;
const FIRST_ENABLE: u32 = 0xd4;
const APB3ENR: u32 = 0xe4;
const APB1LENR: u32 = 0xe8;
const APB1HENR: u32 = 0xec;
const APB2ENR: u32 = 0xf0;
const APB4ENR: u32 = 0xf4;
const LAST: u32 = 0x11c;
/// The same registers once more, for the one core that there is.
const ALIAS: u32 = 0x60;

const HSI_ON: u32 = 1;
const HSI_READY: u32 = 1 << 2;
const CSI_ON: u32 = 1 << 7;
const HSI48_ON: u32 = 1 << 12;
const PLL1_ON: u32 = 1 << 24;
const PLLS_ON: [u32; 3] = [PLL1_ON, 1 << 26, 1 << 28];
const PLL1_FRACTION_ON: u32 = 1;
const PLL1_P_ON: u32 = 1 << 16;
const REMOVE_FLAGS: u32 = 1 << 16;
const RESET_FLAGS: u32 = 0x57fe_0000;

#[derive(Hash)]
pub(in crate::chip) struct RccH7 {
    registers: [u32; LAST as usize / 4 + 1],
    hse: ExternalClock,
    backup: BackupControl,
    resets: Vec<Gate>,
    broken: Vec<Violation>,
}

fn flags(cause: ResetCause) -> u32 {
    // CPU, D1 and D2 are reset by every reset; every reset pulls the reset pin too.
    let all = 1 << 17 | 1 << 19 | 1 << 20 | 1 << 22;
    all | match cause {
        ResetCause::PowerOn => 1 << 21 | 1 << 23,
        ResetCause::Pin => 0,
        ResetCause::Software => 1 << 24,
        ResetCause::Watchdog => 1 << 26,
    }
}

/// What HPRE and D1CPRE divide by.
fn divided(bits: u32) -> u64 {
    match bits & 0xf {
        bits @ 8..=11 => 2 << (bits - 8),
        bits @ 12.. => 64 << (bits - 12),
        _ => 1,
    }
}

/// What the prescalers of the peripheral buses divide by.
fn bus(bits: u32) -> u64 {
    if bits & 4 == 0 { 1 } else { 2 << (bits & 3) }
}

impl RccH7 {
    /// As it is after power-on.
    pub(in crate::chip) fn new(hse: ExternalClock, lse: bool) -> Self {
        let mut rcc = RccH7 {
            registers: [0; LAST as usize / 4 + 1],
            hse,
            backup: BackupControl::new(lse),
            resets: Vec::new(),
            broken: Vec::new(),
        };
        rcc.begin(flags(ResetCause::PowerOn));
        rcc
    }

    /// Registers as they are after a reset with these flags; the backup domain stays as it is.
    fn begin(&mut self, flags: u32) {
        self.registers = [0; LAST as usize / 4 + 1];
        self.hse.reset();
        // D1CKRDY and D2CKRDY besides the HSI.
        *self.register(CR) = 0xc025;
        *self.register(PLLCKSELR) = 0x0202_0200;
        *self.register(PLLCFGR) = 0x01ff_0000;
        for pll in 0..3 {
            *self.register(PLL1DIVR + 8 * pll) = 0x0101_0280;
        }
        *self.register(RSR) = flags;
        // RTCAPBEN.
        *self.register(APB4ENR) = 1 << 16;
    }

    fn register(&mut self, offset: u32) -> &mut u32 {
        &mut self.registers[offset as usize / 4]
    }

    fn value(&self, offset: u32) -> u32 {
        self.registers[offset as usize / 4]
    }

    fn breaks(&mut self, rule: Rule, how: &str) {
        self.broken.push(Violation { rule, how: how.into() });
    }

    fn hsi(&self) -> u64 {
        HSI >> (self.value(CR) >> 3 & 3)
    }

    /// What the PLLs are fed: how exact, how fast, and whether it runs.
    fn pll_source(&self) -> (Source, u64, bool) {
        let cr = self.value(CR);
        match self.value(PLLCKSELR) & 3 {
            0 => (Source::Internal, self.hsi(), cr & HSI_READY != 0),
            1 => (Source::Internal, CSI, cr & CSI_ON << 1 != 0),
            2 => (Source::External, self.hse.hertz(), cr & HSE_READY != 0),
            _ => (Source::Internal, 0, false),
        }
    }

    fn pll(&self) -> Pll {
        let (_, source, _) = self.pll_source();
        let m = u64::from(self.value(PLLCKSELR) >> 4 & 0x3f);
        let dividers = self.value(PLL1DIVR);
        // In 8192ths.
        let fraction = if self.value(PLLCFGR) & PLL1_FRACTION_ON != 0 {
            u64::from(self.value(PLL1FRACR) >> 3 & 0x1fff)
        } else {
            0
        };
        let n = (u64::from(dividers & 0x1ff) + 1) * 8192 + fraction;
        let vco = (source * n).checked_div(m * 8192).unwrap_or(0);
        Pll {
            input: source.checked_div(m).unwrap_or(0),
            vco,
            output: vco / (u64::from(dividers >> 9 & 0x7f) + 1),
        }
    }

    /// What feeds the system clock for a value of SW; none if that is not running.
    fn system_clock(&self, choice: u32) -> Option<(Source, u64)> {
        let cr = self.value(CR);
        match choice {
            0 if cr & HSI_READY != 0 => Some((Source::Internal, self.hsi())),
            1 if cr & CSI_ON << 1 != 0 => Some((Source::Internal, CSI)),
            2 if cr & HSE_READY != 0 => Some((Source::External, self.hse.hertz())),
            3 if cr & PLL1_ON << 1 != 0 && self.value(PLLCFGR) & PLL1_P_ON != 0 => {
                Some((self.pll_source().0, self.pll().output))
            }
            _ => None,
        }
    }

    /// Each oscillator and PLL is ready as soon as it is on, but the HSE when it has started, and the PLLs only if they are
    /// fed. The one that the system runs on cannot be switched off.
    fn set_control(&mut self, value: u32, now: Cycles) {
        let mut value = value & 0x150d_129b;
        value |= match self.value(CFGR) >> 3 & 7 {
            0 => HSI_ON,
            1 => CSI_ON,
            2 => HSE_ON,
            _ => PLL1_ON,
        };
        // HSIDIVF, D1CKRDY and D2CKRDY.
        let mut ready = 0xc020;
        if value & HSI_ON != 0 {
            ready |= HSI_READY;
        }
        for on in [CSI_ON, HSI48_ON] {
            ready |= (value & on) << 1;
        }
        let hclk = self.clocks().hclk;
        if let Some(broken) = self.hse.control(self.value(CR), value, now, hclk) {
            self.breaks(Rule::ExternalClock, broken);
        }
        ready |= self.hse.ready(now);
        *self.register(CR) = value | ready;
        if self.pll_source().2 {
            let plls = PLLS_ON.iter().sum::<u32>();
            *self.register(CR) |= (value & plls) << 1;
        }
    }

    /// The system clock changes to a source that is ready.
    fn set_configuration(&mut self, value: u32) {
        let status = if self.system_clock(value & 7).is_some() {
            (value & 7) << 3
        } else {
            self.value(CFGR) & 0x38
        };
        *self.register(CFGR) = value & !0x38 | status;
    }

    /// The source of the PLLs and the divider of PLL1 are protected by the hardware while PLL1 is on.
    fn choose_pll_source(&mut self, value: u32) {
        let kept = if self.value(CR) & PLL1_ON != 0 { 0x3f3 } else { 0 };
        *self.register(PLLCKSELR) = value & !kept | self.value(PLLCKSELR) & kept;
    }

    /// Whether a register of the PLL that is on would be changed: only the fraction and the outputs may be.
    fn changes_running_pll(&self, offset: u32, value: u32) -> bool {
        let fixed = match offset {
            PLLCFGR => 0xe,
            PLL1DIVR => u32::MAX,
            _ => 0,
        };
        self.value(CR) & PLL1_ON != 0 && (value ^ self.value(offset)) & fixed != 0
    }
}

impl Peripheral for RccH7 {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        self.rest(offset)
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        let offset = if (0x130..=0x17c).contains(&offset) {
            offset - ALIAS
        } else {
            offset
        };
        match offset {
            CR => self.set_control(value, now),
            CFGR => self.set_configuration(value),
            PLLCKSELR => self.choose_pll_source(value),
            PLLCFGR | PLL1DIVR if self.changes_running_pll(offset, value) => {
                self.breaks(Rule::ClockLimits, "PLL1 is changed while it is on");
            }
            BDCR => self.backup.write(value),
            CSR => *self.register(CSR) = (value & 1) * 3,
            RSR => {
                if value & REMOVE_FLAGS != 0 {
                    *self.register(RSR) = 0;
                }
            }
            offset if offset > LAST => {}
            offset => {
                *self.register(offset) = value;
                if (FIRST_RESET..=LAST_RESET).contains(&offset) {
                    let register = offset - FIRST_RESET + FIRST_ENABLE;
                    let gates = (0..32).filter(|bit| value >> bit & 1 != 0);
                    self.resets.extend(gates.map(|bit| Gate { register, bit }));
                }
            }
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            BDCR => self.backup.value(),
            0x130..=0x17c => self.value(offset - ALIAS),
            offset if offset > LAST => 0,
            offset => self.value(offset),
        }
    }

    fn beyond_model(&self) -> Option<&'static str> {
        let chosen = self.value(D2CCIP2R) & 0x3f | self.value(D3CCIPR) & 7;
        (chosen != 0).then_some("a serial port that is clocked by anything but its bus")
    }

    /// The HSE has started.
    fn advance(&mut self, now: Cycles) {
        if self.hse.ready(now) & !self.value(CR) != 0 {
            self.set_control(self.value(CR), now);
        }
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.broken)
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl ClockControl for RccH7 {
    fn reset_by(&mut self, cause: ResetCause) {
        let flags = self.value(RSR) & RESET_FLAGS | flags(cause);
        self.begin(flags);
    }

    fn clocks(&self) -> Clocks {
        let (source, system) = self
            .system_clock(self.value(CFGR) >> 3 & 7)
            .unwrap_or((Source::Internal, HSI));
        let (d1, d2) = (self.value(D1CFGR), self.value(D2CFGR));
        let ahb = divided(d1);
        Clocks {
            source,
            hclk: (system / divided(d1 >> 8)).max(1),
            ahb,
            apb1: ahb * bus(d2 >> 4),
            apb2: ahb * bus(d2 >> 8),
        }
    }

    fn cycles_of(&self, place: &Place) -> u64 {
        let clocks = self.clocks();
        let bus = match place.gate.map(|gate| gate.register) {
            Some(APB1LENR | APB1HENR) => clocks.apb1,
            Some(APB2ENR) => clocks.apb2,
            Some(APB3ENR) => clocks.ahb * bus(self.value(D1CFGR) >> 4),
            Some(APB4ENR) => clocks.ahb * bus(self.value(D3CFGR) >> 4),
            _ => clocks.ahb,
        };
        if let Kind::Timer(_) = place.kind {
            // Twice as fast as the bus unless that is undivided.
            (bus / 2).max(clocks.ahb)
        } else {
            bus
        }
    }

    fn is_on(&self, gate: Gate) -> bool {
        self.rest(gate.register) >> gate.bit & 1 != 0
    }

    fn take_resets(&mut self) -> Vec<Gate> {
        std::mem::take(&mut self.resets)
    }

    /// RTCPRE divides the HSE by 2 to 63.
    fn backup_domain(&self) -> BackupDomain {
        let divider = u64::from(self.value(CFGR) >> 8 & 0x3f);
        let is_on = divider > 1 && self.value(CR) & HSE_READY != 0;
        let hse = if is_on { self.hse.hertz() / divider } else { 0 };
        self.backup.domain(self.value(CSR) & 2 != 0, hse)
    }

    fn backup_register(&self) -> u32 {
        BDCR
    }

    fn running_pll(&self) -> Option<Pll> {
        (self.value(CR) & PLL1_ON << 1 != 0).then(|| self.pll())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::clocks::Hse;
    use crate::chip::external_clock::HSE_BYPASS;

    #[test]
    fn it_begins_with_its_hsi_and_goes_to_400_megahertz() {
        let mut rcc = RccH7::new(ExternalClock::new(Hse::Fed(8_000_000), 0), true);
        assert_eq!((rcc.clocks().hclk, rcc.clocks().apb1), (64_000_000, 1));
        rcc.write(CR, HSI_ON | HSE_BYPASS | HSE_ON, 0);
        // 8 MHz / 1 * 100 / 2.
        rcc.write(PLLCKSELR, 2 | 1 << 4, 0);
        rcc.write(PLL1DIVR, 99 | 1 << 9, 0);
        rcc.write(CR, HSI_ON | HSE_BYPASS | HSE_ON | PLL1_ON, 0);
        rcc.write(D1CFGR, 8, 0);
        rcc.write(D2CFGR, 4 << 4 | 4 << 8, 0);
        rcc.write(CFGR, 3, 0);
        assert_eq!(rcc.read(CFGR, 0) >> 3 & 7, 3);
        let clocks = rcc.clocks();
        assert_eq!((clocks.source, clocks.hclk), (Source::External, 400_000_000));
        assert_eq!((clocks.ahb, clocks.apb1, clocks.apb2), (2, 4, 4));
        assert_eq!(rcc.take_broken(), []);
        rcc.write(PLL1DIVR, 100 | 1 << 9, 0);
        assert_eq!(rcc.take_broken()[0].rule, Rule::ClockLimits);
        assert_eq!(rcc.clocks().hclk, 400_000_000);
        rcc.write(PLLCKSELR, 0, 0);
        assert_eq!(rcc.clocks().hclk, 400_000_000, "protected");
        assert_eq!(rcc.read(PLLCKSELR, 0), 2 | 1 << 4);
    }

    #[test]
    fn a_clock_that_is_fed_is_no_crystal() {
        let mut rcc = RccH7::new(ExternalClock::new(Hse::Fed(8_000_000), 0), true);
        rcc.write(CR, HSI_ON | HSE_ON, 0);
        assert_eq!(rcc.read(CR, 0) & HSE_READY, 0);
        assert_eq!(rcc.take_broken()[0].rule, Rule::ExternalClock);
    }

    #[test]
    fn reset_flags_add_up_until_removed() {
        let mut rcc = RccH7::new(ExternalClock::new(Hse::Absent, 0), true);
        assert_ne!(rcc.read(RSR, 0) & 1 << 23, 0);
        rcc.write(RSR, REMOVE_FLAGS, 0);
        assert_eq!(rcc.read(RSR, 0), 0);
        rcc.reset_by(ResetCause::Watchdog);
        assert_eq!(rcc.read(RSR, 0) & (1 << 26 | 1 << 24 | 1 << 23), 1 << 26);
        assert_eq!(rcc.read(0x130, 0), rcc.read(RSR, 0), "its alias");
    }
}
