//! Reset and clock control of the F4: RM0390 chapter 6.

use std::hash::{Hash, Hasher};

use super::backup::{BackupControl, BackupDomain};
use super::clocks::{Clocks, Pll, Source};
use super::external_clock::{ExternalClock, HSE_READY};
use super::map::{Gate, Kind, Place};
use super::model::{APB1, APB2};
use super::peripheral::{ClockControl, Peripheral, ResetCause};
use super::rules::{Rule, Violation};
use crate::cpu::Cycles;

const HSI: u64 = 16_000_000;

const CR: u32 = 0x00;
const PLLCFGR: u32 = 0x04;
const CFGR: u32 = 0x08;
const FIRST_RESET: u32 = 0x10;
const FIRST_ENABLE: u32 = 0x30;
const BDCR: u32 = 0x70;
const CSR: u32 = 0x74;
const LAST: u32 = 0x94;

const HSI_ON: u32 = 1;
const PLL_ON: u32 = 1 << 24;
const PLLI2S_ON: u32 = 1 << 26;
const PLLSAI_ON: u32 = 1 << 28;
const PLL_FROM_HSE: u32 = 1 << 22;
const REMOVE_FLAGS: u32 = 1 << 24;

/// The flags in CSR. Every reset pulls the reset pin too.
fn flags(cause: ResetCause) -> u32 {
    match cause {
        ResetCause::PowerOn => 0b111 << 25,
        ResetCause::Pin => 1 << 26,
        ResetCause::Software => 1 << 26 | 1 << 28,
        ResetCause::Watchdog => 1 << 26 | 1 << 29,
    }
}

#[derive(Hash)]
pub(super) struct Rcc {
    registers: [u32; LAST as usize / 4 + 1],
    hse: ExternalClock,
    backup: BackupControl,
    resets: Vec<Gate>,
    broken: Vec<Violation>,
}

impl Rcc {
    /// As it is after power-on.
    pub(super) fn new(hse: ExternalClock, lse: bool) -> Self {
        Self::after(ResetCause::PowerOn, hse, BackupControl::new(lse))
    }

    fn after(cause: ResetCause, hse: ExternalClock, backup: BackupControl) -> Self {
        let mut rcc = Rcc {
            registers: [0; LAST as usize / 4 + 1],
            hse,
            backup,
            resets: Vec::new(),
            broken: Vec::new(),
        };
        rcc.hse.reset();
        *rcc.register(CR) = 0x83;
        *rcc.register(PLLCFGR) = 0x2400_3010;
        *rcc.register(CSR) = flags(cause);
        rcc
    }

    fn register(&mut self, offset: u32) -> &mut u32 {
        &mut self.registers[offset as usize / 4]
    }

    fn value(&self, offset: u32) -> u32 {
        self.registers[offset as usize / 4]
    }

    fn breaks(&mut self, how: &str) {
        self.broken.push(Violation {
            rule: Rule::ExternalClock,
            how: how.into(),
        });
    }

    fn pll(&self) -> Pll {
        let bits = self.value(PLLCFGR);
        let source = if bits & PLL_FROM_HSE != 0 {
            self.hse.hertz()
        } else {
            HSI
        };
        let m = u64::from(bits & 0x3f);
        let input = source.checked_div(m).unwrap_or(0);
        let vco = (source * u64::from(bits >> 6 & 0x1ff)).checked_div(m).unwrap_or(0);
        let output = vco / (u64::from(bits >> 16 & 3) * 2 + 2);
        Pll { input, vco, output }
    }

    /// Each oscillator and PLL is ready as soon as it is on, but the HSE when it has started, and the PLL only if it is fed.
    fn set_control(&mut self, value: u32, now: Cycles) {
        let hclk = self.clocks().hclk;
        if let Some(broken) = self.hse.control(self.value(CR), value, now, hclk) {
            self.breaks(broken);
        }
        let mut ready = self.hse.ready(now);
        for on in [HSI_ON, PLL_ON, PLLI2S_ON, PLLSAI_ON] {
            let from_hse = self.value(PLLCFGR) & PLL_FROM_HSE != 0;
            let fed = match on {
                PLL_ON => self.pll().output > 0 && (!from_hse || ready & HSE_READY != 0),
                _ => true,
            };
            if value & on != 0 && fed {
                ready |= on << 1;
            }
        }
        let writable = 0x150d_00f9;
        *self.register(CR) = value & writable | ready | self.value(CR) & 0xff00;
    }

    /// The system clock changes to a source that is ready.
    fn set_configuration(&mut self, value: u32) {
        let ready = match value & 3 {
            0 => self.value(CR) & HSI_ON << 1 != 0,
            1 => self.value(CR) & HSE_READY != 0,
            2 => self.value(CR) & PLL_ON << 1 != 0,
            _ => false,
        };
        let status = if ready {
            (value & 3) << 2
        } else {
            self.value(CFGR) & 0xc
        };
        *self.register(CFGR) = value & !0xc | status;
    }
}

impl Peripheral for Rcc {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        self.rest(offset)
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        match offset {
            CR => self.set_control(value, now),
            PLLCFGR if self.value(CR) & PLL_ON != 0 && value != self.value(PLLCFGR) => self.broken.push(Violation {
                rule: Rule::ClockLimits,
                how: "PLLCFGR is changed while the PLL is on".into(),
            }),
            CFGR => self.set_configuration(value),
            BDCR => self.backup.write(value),
            CSR => {
                let flags = if value & REMOVE_FLAGS != 0 {
                    0
                } else {
                    self.value(CSR) & 0xfe00_0000
                };
                *self.register(CSR) = flags | ((value & 1) * 3);
            }
            offset if offset > LAST => {}
            offset => {
                *self.register(offset) = value;
                if (FIRST_RESET..FIRST_ENABLE).contains(&offset) {
                    // The enable registers follow in the same order.
                    let register = offset + FIRST_ENABLE - FIRST_RESET;
                    let bits = (0..32).filter(|bit| value >> bit & 1 != 0);
                    self.resets.extend(bits.map(|bit| Gate { register, bit }));
                }
            }
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            BDCR => self.backup.value(),
            offset if offset > LAST => 0,
            offset => self.value(offset),
        }
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

impl ClockControl for Rcc {
    /// The flags of earlier resets stay until software removes them; so does the backup domain.
    fn reset_by(&mut self, cause: ResetCause) {
        let mut fresh = Rcc::after(cause, self.hse, self.backup);
        // Power-on leaves nothing of before but the backup domain.
        if !matches!(cause, ResetCause::PowerOn) {
            *fresh.register(CSR) |= self.value(CSR) & 0xfe00_0000;
        }
        *self = fresh;
    }

    fn clocks(&self) -> Clocks {
        let cfgr = self.value(CFGR);
        let external_pll = self.value(PLLCFGR) & PLL_FROM_HSE != 0;
        let (source, system) = match cfgr >> 2 & 3 {
            1 => (Source::External, self.hse.hertz()),
            2 if external_pll => (Source::External, self.pll().output),
            2 => (Source::Internal, self.pll().output),
            _ => (Source::Internal, HSI),
        };
        let ahb = match cfgr >> 4 & 0xf {
            divided @ 8..=11 => 2 << (divided - 8),
            divided @ 12.. => 64 << (divided - 12),
            _ => 1,
        };
        let apb = |bits: u32| if bits & 4 == 0 { 1 } else { 2 << (bits & 3) };
        Clocks {
            source,
            hclk: (system / ahb).max(1),
            ahb: 1,
            apb1: apb(cfgr >> 10 & 7),
            apb2: apb(cfgr >> 13 & 7),
        }
    }

    fn cycles_of(&self, place: &Place) -> u64 {
        let clocks = self.clocks();
        let bus = match place.gate.map(|gate| gate.register) {
            Some(APB1) => clocks.apb1,
            Some(APB2) => clocks.apb2,
            _ => return 1,
        };
        // A timer counts twice as fast as its bus unless that is undivided.
        match place.kind {
            Kind::Timer(_) => Clocks::timer(bus),
            _ => bus,
        }
    }

    fn is_on(&self, gate: Gate) -> bool {
        self.value(gate.register) >> gate.bit & 1 != 0
    }

    fn take_resets(&mut self) -> Vec<Gate> {
        std::mem::take(&mut self.resets)
    }

    /// RTCPRE divides the HSE by 2 to 31.
    fn backup_domain(&self) -> BackupDomain {
        let divider = u64::from(self.value(CFGR) >> 16 & 0x1f);
        let is_on = divider > 1 && self.value(CR) & HSE_READY != 0;
        let hse = if is_on { self.hse.hertz() / divider } else { 0 };
        self.backup.domain(self.value(CSR) & 2 != 0, hse)
    }

    fn backup_register(&self) -> u32 {
        BDCR
    }

    fn running_pll(&self) -> Option<Pll> {
        (self.value(CR) & PLL_ON << 1 != 0).then(|| self.pll())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::clocks::Hse;
    use crate::chip::external_clock::{HSE_BYPASS, HSE_ON};

    #[test]
    fn the_clock_tree_of_a_nucleo() {
        let mut rcc = Rcc::new(ExternalClock::new(Hse::Fed(8_000_000), 0), true);
        assert_eq!(
            rcc.clocks(),
            Clocks {
                source: Source::Internal,
                hclk: 16_000_000,
                ahb: 1,
                apb1: 1,
                apb2: 1
            }
        );
        rcc.write(CR, 0x83 | HSE_ON | 1 << 18, 0);
        assert_ne!(rcc.read(CR, 0) & HSE_READY, 0);
        // 8 MHz / 4 * 180 / 2.
        rcc.write(PLLCFGR, 4 | 180 << 6 | PLL_FROM_HSE, 0);
        rcc.write(CR, 0x83 | HSE_ON | HSE_BYPASS | PLL_ON, 0);
        rcc.write(CFGR, 2 | 0b101 << 10 | 0b100 << 13, 0);
        assert_eq!(rcc.read(CFGR, 0) >> 2 & 3, 2);
        let clocks = rcc.clocks();
        assert_eq!(
            clocks,
            Clocks {
                source: Source::External,
                hclk: 180_000_000,
                ahb: 1,
                apb1: 4,
                apb2: 2
            }
        );
        assert_eq!(Clocks::timer(clocks.apb1), 2);
    }

    #[test]
    fn without_a_crystal_nothing_gets_ready() {
        let mut rcc = Rcc::new(ExternalClock::new(Hse::Absent, 0), true);
        rcc.write(CR, 0x83 | HSE_ON, 0);
        assert_eq!(rcc.read(CR, 0) & HSE_READY, 0);
        rcc.write(CFGR, 1, 0);
        assert_eq!(rcc.read(CFGR, 0) >> 2 & 3, 0, "the system clock stays");
    }

    #[test]
    fn reset_flags_add_up_until_removed() {
        let mut rcc = Rcc::new(ExternalClock::new(Hse::Absent, 0), true);
        rcc.reset_by(ResetCause::Software);
        assert_eq!(rcc.read(CSR, 0) >> 25, 0b1111);
        rcc.write(CSR, REMOVE_FLAGS, 0);
        rcc.reset_by(ResetCause::Watchdog);
        assert_eq!(rcc.read(CSR, 0) >> 25, 0b10010);
    }
}
