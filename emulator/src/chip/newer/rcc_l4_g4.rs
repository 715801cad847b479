//! Reset and clock control of L4 and G4: RM0351 chapter 6, RM0440 chapter 7. The registers are at the same places; the L4 has the
//! oscillator MSI besides, which it begins with and which the crystal of the LSE keeps exact.

use std::hash::{Hash, Hasher};

use super::super::backup::{BackupControl, BackupDomain};
use super::super::clocks::{Clocks, Pll, Source};
use super::super::external_clock::{ExternalClock, HSE_ON, HSE_READY};
use super::super::map::{self, Gate, Place};
use super::super::peripheral::{ClockControl, Peripheral, ResetCause};
use super::super::rules::{Rule, Violation};
use crate::cpu::Cycles;

const HSI: u64 = 16_000_000;

const CR: u32 = 0x00;
const CFGR: u32 = 0x08;
const PLLCFGR: u32 = 0x0c;
const FIRST_RESET: u32 = 0x28;
const LAST_RESET: u32 = 0x40;
const FIRST_ENABLE: u32 = 0x48;
const AHB1ENR: u32 = 0x48;
const APB1ENR1: u32 = 0x58;
const APB1ENR2: u32 = 0x5c;
const APB2ENR: u32 = 0x60;
const CCIPR: u32 = 0x88;
const BDCR: u32 = 0x90;
const CSR: u32 = 0x94;
const CRRCR: u32 = 0x98;
const LAST: u32 = 0x9c;

const MSI_ON: u32 = 1;
const MSI_TRIMMED: u32 = 1 << 2;
const HSI_ON: u32 = 1 << 8;
const HSI_READY: u32 = 1 << 10;
const PLL_ON: u32 = 1 << 24;
const PLL_SAI1_ON: u32 = 1 << 26;
const PLL_SAI2_ON: u32 = 1 << 28;
const PLL_R_ON: u32 = 1 << 24;
#[cfg(test)]
const BACKUP_RESET: u32 = 1 << 16;
const REMOVE_FLAGS: u32 = 1 << 23;
const RESET_FLAGS: u32 = 0xff00_0000;

/// The MSI's frequencies by MSIRANGE.
const MSI_RANGES: [u64; 12] = [
    100_000, 200_000, 400_000, 800_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000, 24_000_000, 32_000_000,
    48_000_000,
];

/// Which of the two families.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::chip) enum Kind {
    L4,
    G4,
}

/// Where a clock comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Oscillator {
    Msi,
    Hsi,
    Hse,
}

#[derive(Hash)]
pub(in crate::chip) struct RccL4G4 {
    kind: Kind,
    registers: [u32; LAST as usize / 4 + 1],
    hse: ExternalClock,
    backup: BackupControl,
    resets: Vec<Gate>,
    broken: Vec<Violation>,
}

fn flags(cause: ResetCause) -> u32 {
    // Every reset pulls the reset pin too.
    match cause {
        ResetCause::PowerOn => 0b11 << 26,
        ResetCause::Pin => 1 << 26,
        ResetCause::Software => 1 << 26 | 1 << 28,
        ResetCause::Watchdog => 1 << 26 | 1 << 29,
    }
}

impl RccL4G4 {
    /// As it is after power-on.
    pub(in crate::chip) fn new(kind: Kind, hse: ExternalClock, lse: bool) -> Self {
        let mut rcc = RccL4G4 {
            kind,
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
        match self.kind {
            Kind::L4 => {
                *self.register(CR) = 0x63;
                *self.register(CSR) = 0x600 | flags;
            }
            Kind::G4 => {
                *self.register(CR) = HSI_ON | HSI_READY;
                *self.register(CFGR) = 0x5;
                *self.register(CSR) = flags;
            }
        }
        *self.register(PLLCFGR) = 0x1000;
        *self.register(AHB1ENR) = 0x100;
        if self.kind == Kind::G4 {
            // RTCAPBEN.
            *self.register(APB1ENR1) = 0x400;
        }
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

    fn hertz(&self, oscillator: Oscillator) -> u64 {
        match oscillator {
            Oscillator::Msi => {
                // Until MSIRGSEL is set the range is that of a standby in CSR.
                let range = if self.value(CR) & 1 << 3 != 0 {
                    self.value(CR) >> 4
                } else {
                    self.value(CSR) >> 8
                };
                MSI_RANGES.get(range as usize & 0xf).copied().unwrap_or(0)
            }
            Oscillator::Hsi => HSI,
            Oscillator::Hse => self.hse.hertz(),
        }
    }

    /// How exact it is. The trimmed MSI is as exact as a crystal.
    fn source(&self, oscillator: Oscillator) -> Source {
        match oscillator {
            Oscillator::Hse => Source::External,
            Oscillator::Msi if self.value(CR) & MSI_TRIMMED != 0 => Source::External,
            Oscillator::Msi | Oscillator::Hsi => Source::Internal,
        }
    }

    fn is_ready(&self, oscillator: Oscillator) -> bool {
        let bit = match oscillator {
            Oscillator::Msi => MSI_ON << 1,
            Oscillator::Hsi => HSI_READY,
            Oscillator::Hse => HSE_READY,
        };
        self.value(CR) & bit != 0
    }

    fn pll_oscillator(&self) -> Option<Oscillator> {
        match (self.value(PLLCFGR) & 3, self.kind) {
            (1, Kind::L4) => Some(Oscillator::Msi),
            (2, _) => Some(Oscillator::Hsi),
            (3, _) => Some(Oscillator::Hse),
            _ => None,
        }
    }

    fn pll(&self) -> Pll {
        let bits = self.value(PLLCFGR);
        let source = self.pll_oscillator().map_or(0, |oscillator| self.hertz(oscillator));
        let m = u64::from(bits >> 4 & if self.kind == Kind::L4 { 7 } else { 0xf }) + 1;
        let vco = source * u64::from(bits >> 8 & 0x7f) / m;
        Pll {
            input: source / m,
            vco,
            output: vco / (u64::from(bits >> 25 & 3) * 2 + 2),
        }
    }

    /// What feeds the system clock for a value of SW; none if that is not running.
    fn system_clock(&self, choice: u32) -> Option<(Source, u64)> {
        let oscillator = match (choice, self.kind) {
            (0, Kind::L4) => Oscillator::Msi,
            (1, _) => Oscillator::Hsi,
            (2, _) => Oscillator::Hse,
            (3, _) if self.value(CR) & PLL_ON << 1 != 0 && self.value(PLLCFGR) & PLL_R_ON != 0 => {
                return Some((self.source(self.pll_oscillator()?), self.pll().output));
            }
            _ => return None,
        };
        self.is_ready(oscillator)
            .then(|| (self.source(oscillator), self.hertz(oscillator)))
    }

    fn bus_divider(&self) -> u64 {
        match self.value(CFGR) >> 4 & 0xf {
            divided @ 8..=11 => 2 << (divided - 8),
            divided @ 12.. => 64 << (divided - 12),
            _ => 1,
        }
    }

    /// Each oscillator and PLL is ready as soon as it is on, but the HSE when it has started, and the PLL only if it is
    /// fed. The one that the system runs on cannot be switched off.
    fn set_control(&mut self, value: u32, now: Cycles) {
        let mut value = value
            & if self.kind == Kind::L4 {
                0x150d_0bfd
            } else {
                0x010d_0300
            };
        match self.value(CFGR) >> 2 & 3 {
            0 if self.kind == Kind::L4 => value |= MSI_ON,
            1 => value |= HSI_ON,
            2 => value |= HSE_ON,
            3 => value |= PLL_ON,
            _ => {}
        }
        // The hardware does not let the MSI be trimmed by an LSE that is not ready.
        if !self.backup.is_lse_ready() {
            value &= !MSI_TRIMMED;
        }
        let mut ready = 0;
        if value & MSI_ON != 0 {
            ready |= MSI_ON << 1;
        }
        if value & HSI_ON != 0 {
            ready |= HSI_READY;
        }
        let hclk = self.clocks().hclk;
        if let Some(broken) = self.hse.control(self.value(CR), value, now, hclk) {
            self.breaks(Rule::ExternalClock, broken);
        }
        ready |= self.hse.ready(now);
        *self.register(CR) = value | ready;
        let is_fed = self
            .pll_oscillator()
            .is_some_and(|oscillator| self.is_ready(oscillator));
        for pll in [PLL_ON, PLL_SAI1_ON, PLL_SAI2_ON] {
            if value & pll != 0 && is_fed {
                *self.register(CR) |= pll << 1;
            }
        }
    }

    /// The system clock changes to a source that is ready.
    fn set_configuration(&mut self, value: u32) {
        let chosen = value & 3;
        let status = if self.system_clock(chosen).is_some() {
            chosen << 2
        } else {
            self.value(CFGR) & 0xc
        };
        *self.register(CFGR) = value & !0xc | status;
    }

    fn set_backup(&mut self, value: u32) {
        self.backup.write(value);
        if !self.backup.is_lse_ready() {
            *self.register(CR) &= !MSI_TRIMMED;
        }
    }

    fn set_status(&mut self, value: u32) {
        let kept = if value & REMOVE_FLAGS != 0 {
            0
        } else {
            self.value(CSR) & RESET_FLAGS
        };
        *self.register(CSR) = kept | value & 0xf00 | ((value & 1) * 3);
    }

    /// How the clock of a serial or I2C port is chosen: its place in CCIPR.
    fn choice(&self, name: &str) -> Option<u32> {
        let place = [
            "USART1", "USART2", "USART3", "UART4", "UART5", "LPUART1", "I2C1", "I2C2", "I2C3",
        ]
        .iter()
        .position(|port| *port == name)?;
        Some(self.value(CCIPR) >> (2 * place) & 3)
    }
}

impl Peripheral for RccL4G4 {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        self.rest(offset)
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        match offset {
            CR => self.set_control(value, now),
            PLLCFGR if self.value(CR) & PLL_ON != 0 && (value ^ self.value(PLLCFGR)) & 0x0000_7ff3 != 0 => {
                self.breaks(Rule::ClockLimits, "PLLCFGR is changed while the PLL is on");
            }
            CFGR => self.set_configuration(value),
            BDCR => self.set_backup(value),
            CSR => self.set_status(value),
            // The HSI48 is ready when it is on.
            CRRCR => *self.register(CRRCR) = value & 1 | (value & 1) << 1,
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
            offset if offset > LAST => 0,
            offset => self.value(offset),
        }
    }

    fn beyond_model(&self) -> Option<&'static str> {
        (self.value(CCIPR) & 0x3_ffff & !0x1_5555 != 0).then_some("a serial or I2C port that is clocked by HSI or LSE")
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

impl ClockControl for RccL4G4 {
    fn reset_by(&mut self, cause: ResetCause) {
        let flags = self.value(CSR) & RESET_FLAGS | flags(cause);
        self.begin(flags);
    }

    fn clocks(&self) -> Clocks {
        let cfgr = self.value(CFGR);
        let (source, system) = self.system_clock(cfgr >> 2 & 3).unwrap_or((Source::Internal, HSI));
        let apb = |bits: u32| if bits & 4 == 0 { 1 } else { 2 << (bits & 3) };
        Clocks {
            source,
            hclk: (system / self.bus_divider()).max(1),
            ahb: 1,
            apb1: apb(cfgr >> 8 & 7),
            apb2: apb(cfgr >> 11 & 7),
        }
    }

    fn cycles_of(&self, place: &Place) -> u64 {
        let clocks = self.clocks();
        let bus = match place.gate.map(|gate| gate.register) {
            Some(APB1ENR1 | APB1ENR2) => clocks.apb1,
            Some(APB2ENR) => clocks.apb2,
            _ => 1,
        };
        if let map::Kind::Timer(_) = place.kind {
            Clocks::timer(bus)
        } else if self.choice(place.name) == Some(1) {
            // The system clock: at most that of the core, which a divided core would be slower than.
            1
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

    fn backup_domain(&self) -> BackupDomain {
        let is_on = self.is_ready(Oscillator::Hse);
        let hse = if is_on { self.hse.hertz() / 32 } else { 0 };
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
    use crate::chip::external_clock::HSE_BYPASS;

    #[test]
    fn the_g4_begins_with_its_hsi_and_goes_to_170_megahertz() {
        let mut rcc = RccL4G4::new(Kind::G4, ExternalClock::new(Hse::Crystal(24_000_000), 0), true);
        assert_eq!(rcc.clocks().hclk, 16_000_000);
        rcc.write(CR, HSI_ON | HSE_ON, 0);
        assert_ne!(rcc.read(CR, 0) & HSE_READY, 0);
        // 24 MHz / 6 * 85 / 2, first without the output R.
        rcc.write(PLLCFGR, 3 | 5 << 4 | 85 << 8, 0);
        rcc.write(CR, HSI_ON | HSE_ON | PLL_ON, 0);
        rcc.write(CFGR, 3, 0);
        assert_eq!(rcc.read(CFGR, 0) >> 2 & 3, 1, "the PLL's output is off");
        rcc.write(PLLCFGR, 3 | 5 << 4 | 85 << 8 | PLL_R_ON, 0);
        rcc.write(CFGR, 3, 0);
        assert_eq!(
            (rcc.clocks().source, rcc.clocks().hclk),
            (Source::External, 170_000_000)
        );
        assert_eq!(rcc.take_broken(), []);
        rcc.write(PLLCFGR, 3 | 5 << 4 | 86 << 8 | PLL_R_ON, 0);
        assert_eq!(rcc.take_broken().len(), 1, "the multiplier is changed while it is on");
        rcc.write(CR, 0, 0);
        assert_ne!(rcc.read(CR, 0) & PLL_ON, 0, "the system runs on it");
    }

    #[test]
    fn the_crystal_of_a_g4_is_not_a_clock_that_is_fed() {
        let mut rcc = RccL4G4::new(Kind::G4, ExternalClock::new(Hse::Crystal(24_000_000), 0), true);
        rcc.write(CR, HSI_ON | HSE_BYPASS | HSE_ON, 0);
        assert_eq!(rcc.read(CR, 0) & HSE_READY, 0);
        assert_eq!(rcc.take_broken()[0].rule, Rule::ExternalClock);
    }

    #[test]
    fn the_l4_begins_with_four_megahertz_that_an_lse_keeps_exact() {
        for lse in [true, false] {
            let mut rcc = RccL4G4::new(Kind::L4, ExternalClock::new(Hse::Absent, 0), lse);
            assert_eq!((rcc.clocks().source, rcc.clocks().hclk), (Source::Internal, 4_000_000));
            rcc.write(CR, 0x69 | MSI_TRIMMED, 0);
            assert_eq!(rcc.read(CR, 0) & MSI_TRIMMED, 0, "the LSE is off");
            rcc.write(BDCR, 1, 0);
            rcc.write(CR, 0x69 | MSI_TRIMMED, 0);
            assert_eq!(rcc.read(CR, 0) & MSI_TRIMMED != 0, lse);
            // 4 MHz * 40 / 2.
            rcc.write(PLLCFGR, 1 | 40 << 8 | PLL_R_ON, 0);
            rcc.write(CR, rcc.rest(CR) | PLL_ON, 0);
            rcc.write(CFGR, 3, 0);
            let source = if lse { Source::External } else { Source::Internal };
            assert_eq!((rcc.clocks().source, rcc.clocks().hclk), (source, 80_000_000));
        }
    }

    #[test]
    fn the_backup_domain_survives_a_reset_and_flags_add_up_until_removed() {
        let mut rcc = RccL4G4::new(Kind::L4, ExternalClock::new(Hse::Absent, 0), true);
        rcc.write(BDCR, 1, 0);
        rcc.reset_by(ResetCause::Software);
        assert_eq!((rcc.read(BDCR, 0), rcc.read(CSR, 0) >> 26), (3, 0b111));
        rcc.write(CSR, REMOVE_FLAGS, 0);
        rcc.reset_by(ResetCause::Watchdog);
        assert_eq!(rcc.read(CSR, 0) >> 26, 0b1001);
        rcc.write(BDCR, BACKUP_RESET, 0);
        rcc.write(BDCR, 0, 0);
        assert_eq!(rcc.read(BDCR, 0), 0);
    }

    #[test]
    fn peripherals_are_reset_by_the_bit_of_their_clock() {
        let mut rcc = RccL4G4::new(Kind::G4, ExternalClock::new(Hse::Absent, 0), true);
        let gate = Gate {
            register: APB1ENR1,
            bit: 17,
        };
        assert!(!rcc.is_on(gate));
        rcc.write(APB1ENR1, 1 << 17, 0);
        assert!(rcc.is_on(gate));
        rcc.write(0x38, 1 << 17, 0);
        assert_eq!(rcc.take_resets(), [gate]);
    }
}
