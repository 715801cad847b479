//! Reset and clock control, the RCC. What it does is the same in all families; where its registers and bits are is a table of [`layout`].

pub(super) mod layout;

use super::backup::{BackupControl, BackupDomain};
use super::clocks::{Clocks, Pll, Source};
use super::hse::{HSE_READY, HseOscillator};
use super::map::{Gate, Kind, MapEntry};
use super::peripheral::{Peripheral, ResetCause};
use super::rules::{Rule, Violation};
use crate::cpu::Cycles;
pub(super) use layout::Family;
use layout::{CSI_ON, Input, Layout, MSI_ON, MSI_TRIMMED, PLL_ON};

const CR: u32 = 0x00;
const CSI: u64 = 4_000_000;

// Of L4 and G4.
const CCIPR: u32 = 0x88;
const CRRCR: u32 = 0x98;

// Of the H7.
const D1CFGR: u32 = 0x18;
const D2CFGR: u32 = 0x1c;
const D3CFGR: u32 = 0x20;
const PLLCKSELR: u32 = 0x28;
const PLL1DIVR: u32 = 0x30;
const PLL1FRACR: u32 = 0x34;
const D2CCIP2R: u32 = 0x54;
const D3CCIPR: u32 = 0x58;
const PLL1_FRACTION_ON: u32 = 1;
/// Some registers stand twice: once more for the one core that there is.
const ALIASES: std::ops::RangeInclusive<u32> = 0x130..=0x17c;
const ALIAS: u32 = 0x60;

const MSI_RANGES: [u64; 12] = [
    100_000, 200_000, 400_000, 800_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000, 24_000_000, 32_000_000,
    48_000_000,
];

/// What HPRE and D1CPRE divide by.
fn bus_divider(bits: u32) -> u64 {
    match bits & 0xf {
        bits @ 8..=11 => 2 << (bits - 8),
        bits @ 12.. => 64 << (bits - 12),
        _ => 1,
    }
}

/// What the prescalers of the peripheral buses divide by.
fn apb_divider(bits: u32) -> u64 {
    if bits & 4 == 0 { 1 } else { 2 << (bits & 3) }
}

pub(super) fn real_offset(family: Family, offset: u32) -> u32 {
    let is_alias = family == Family::H7 && ALIASES.contains(&offset);
    if is_alias { offset - ALIAS } else { offset }
}

#[derive(Hash)]
pub(super) struct Rcc {
    family: Family,
    registers: [u32; 0x120 / 4],
    hse: HseOscillator,
    backup: BackupControl,
    resets: Vec<Gate>,
    broken: Vec<Violation>,
}

impl Rcc {
    pub(super) fn new(family: Family, hse: HseOscillator, lse: bool) -> Self {
        let mut rcc = Rcc {
            family,
            registers: [0; 0x120 / 4],
            hse,
            backup: BackupControl::new(lse),
            resets: Vec::new(),
            broken: Vec::new(),
        };
        rcc.begin(family.layout().causes[0]);
        rcc
    }

    pub(super) fn family(&self) -> Family {
        self.family
    }

    fn layout(&self) -> &'static Layout {
        self.family.layout()
    }

    /// Registers as they are after a reset with these flags; the backup domain stays as it is.
    fn begin(&mut self, flags: u32) {
        self.registers = [0; 0x120 / 4];
        self.hse.reset();
        for (offset, value) in self.layout().after_reset {
            *self.register(*offset) = *value;
        }
        *self.register(self.layout().flags) |= flags;
    }

    fn register(&mut self, offset: u32) -> &mut u32 {
        &mut self.registers[offset as usize / 4]
    }

    fn value(&self, offset: u32) -> u32 {
        self.registers[offset as usize / 4]
    }

    fn cfgr(&self) -> u32 {
        self.value(self.layout().cfgr)
    }

    fn chosen(&self) -> u32 {
        self.cfgr() >> self.layout().status_shift & self.layout().switch
    }

    fn hsi(&self) -> u64 {
        match self.family {
            Family::H7 => 64_000_000 >> (self.value(CR) >> 3 & 3),
            _ => 16_000_000,
        }
    }

    /// How exact and how fast it is. The trimmed MSI is as exact as a crystal.
    fn rate(&self, input: Input) -> (Source, u64) {
        match input {
            Input::Msi => {
                // Until MSIRGSEL is set the range is that of a standby in CSR.
                let range = if self.value(CR) & 1 << 3 != 0 {
                    self.value(CR) >> 4
                } else {
                    self.value(self.layout().csr) >> 8
                };
                let hertz = MSI_RANGES.get(range as usize & 0xf).copied().unwrap_or(0);
                let is_exact = self.value(CR) & MSI_TRIMMED != 0;
                (if is_exact { Source::External } else { Source::Internal }, hertz)
            }
            Input::Hsi => (Source::Internal, self.hsi()),
            Input::Csi => (Source::Internal, CSI),
            Input::Hse => (Source::External, self.hse.hertz()),
            Input::Pll => {
                let source = self.pll_input().map_or(Source::Internal, |input| self.rate(input).0);
                (source, self.pll().output)
            }
        }
    }

    fn is_ready(&self, input: Input) -> bool {
        let layout = self.layout();
        let bit = match input {
            Input::Msi => MSI_ON << 1,
            Input::Hsi => layout.hsi.1,
            Input::Csi => CSI_ON << 1,
            Input::Hse => HSE_READY,
            Input::Pll => PLL_ON << 1,
        };
        let has_output = input != Input::Pll || self.value(layout.pllcfgr) & layout.pll_output == layout.pll_output;
        self.value(CR) & bit != 0 && has_output
    }

    fn pll_input(&self) -> Option<Input> {
        let choice = match self.family {
            Family::F4 => self.value(self.layout().pllcfgr) >> 22 & 1,
            Family::L4 | Family::G4 => self.value(self.layout().pllcfgr) & 3,
            Family::H7 => self.value(PLLCKSELR) & 3,
        };
        self.layout().pll_inputs[choice as usize]
    }

    /// What the PLL divides its input by, what it multiplies that by in 8192ths, and what it divides its output by.
    fn pll_factors(&self) -> (u64, u64, u64) {
        let bits = self.value(self.layout().pllcfgr);
        let (m, n, p) = match self.family {
            Family::F4 => (bits & 0x3f, bits >> 6 & 0x1ff, (bits >> 16 & 3) * 2 + 2),
            Family::L4 => ((bits >> 4 & 7) + 1, bits >> 8 & 0x7f, (bits >> 25 & 3) * 2 + 2),
            Family::G4 => ((bits >> 4 & 0xf) + 1, bits >> 8 & 0x7f, (bits >> 25 & 3) * 2 + 2),
            Family::H7 => {
                let dividers = self.value(PLL1DIVR);
                (
                    self.value(PLLCKSELR) >> 4 & 0x3f,
                    (dividers & 0x1ff) + 1,
                    (dividers >> 9 & 0x7f) + 1,
                )
            }
        };
        let has_fraction = self.family == Family::H7 && bits & PLL1_FRACTION_ON != 0;
        let fraction = self.value(PLL1FRACR) >> 3 & 0x1fff;
        let fraction = if has_fraction { fraction } else { 0 };
        (m.into(), u64::from(n) * 8192 + u64::from(fraction), p.into())
    }

    fn pll(&self) -> Pll {
        let source = self.pll_input().map_or(0, |input| self.rate(input).1);
        let (m, n, p) = self.pll_factors();
        let vco = (source * n).checked_div(m * 8192).unwrap_or(0);
        Pll {
            input: source.checked_div(m).unwrap_or(0),
            vco,
            output: vco / p,
        }
    }

    fn is_pll_fed(&self) -> bool {
        let is_ready = |input| self.family == Family::F4 && input == Input::Hsi || self.is_ready(input);
        self.pll_input().is_some_and(is_ready) && (self.family != Family::F4 || self.pll().output > 0)
    }

    /// What the system clock is for a value of SW.
    fn input(&self, choice: u32) -> Option<Input> {
        *self.layout().inputs.get(choice as usize)?
    }

    /// Each oscillator and PLL is ready as soon as it is on, but the HSE when it has started, and the PLLs only if they are fed.
    fn set_control(&mut self, value: u32, now: Cycles) {
        let layout = self.layout();
        let mut value = value & layout.writable | layout.kept_on[self.chosen() as usize & 3];
        // The hardware does not let the MSI be trimmed by an LSE that is not ready.
        if self.family == Family::L4 && !self.backup.is_lse_ready() {
            value &= !MSI_TRIMMED;
        }
        let mut ready = layout.always_ready;
        for (on, is_ready) in layout.others.iter().chain([&layout.hsi]) {
            ready |= if value & on != 0 { *is_ready } else { 0 };
        }
        let hclk = self.clocks().hclk;
        if let Some(broken) = self.hse.control(self.value(CR), value, now, hclk) {
            self.broken.push(Violation::new(Rule::ExternalClock, broken));
        }
        *self.register(CR) = value | ready | self.hse.ready(now);
        if self.is_pll_fed() {
            *self.register(CR) |= (value & layout.plls) << 1;
        }
    }

    /// The system clock changes to a source that is ready.
    fn set_configuration(&mut self, value: u32) {
        let layout = self.layout();
        let status = layout.switch << layout.status_shift;
        let wanted = value & layout.switch;
        let taken = if self.input(wanted).is_some_and(|input| self.is_ready(input)) {
            wanted << layout.status_shift
        } else {
            self.cfgr() & status
        };
        *self.register(layout.cfgr) = value & !status | taken;
    }

    fn set_backup(&mut self, value: u32) {
        self.backup.write(value);
        if self.family == Family::L4 && !self.backup.is_lse_ready() {
            *self.register(CR) &= !MSI_TRIMMED;
        }
    }

    /// CSR: the LSI, which is ready when it is on, the range of the MSI, and on most chips the flags of resets.
    fn set_status(&mut self, value: u32) {
        let layout = self.layout();
        let has_flags = layout.flags == layout.csr && value & layout.remove_flags == 0;
        let flags = self.value(layout.csr) & layout.all_flags;
        let flags = if has_flags { flags } else { 0 };
        let range = match self.family {
            Family::L4 | Family::G4 => value & 0xf00,
            Family::F4 | Family::H7 => 0,
        };
        *self.register(layout.csr) = flags | range | ((value & 1) * 3);
    }

    /// The source of the H7's PLLs and the divider of PLL1 are protected by the hardware while PLL1 is on.
    fn choose_pll_source(&mut self, value: u32) {
        let kept = if self.value(CR) & PLL_ON != 0 { 0x3f3 } else { 0 };
        *self.register(PLLCKSELR) = value & !kept | self.value(PLLCKSELR) & kept;
    }

    /// Whether a write would change the PLL while it is on.
    fn changes_running_pll(&self, offset: u32, value: u32) -> bool {
        let mut fixed = self.layout().pll_fixed.iter();
        let changes = |(register, mask): &(u32, u32)| *register == offset && (value ^ self.value(offset)) & mask != 0;
        self.value(CR) & PLL_ON != 0 && fixed.any(changes)
    }

    fn write_other(&mut self, offset: u32, value: u32) {
        *self.register(offset) = value;
        let (first, last) = self.layout().resets;
        if (first..=last).contains(&offset) {
            // The enable registers follow in the same order.
            let register = offset - first + self.layout().enables;
            let gates = (0..32).filter(|bit| value >> bit & 1 != 0);
            self.resets.extend(gates.map(|bit| Gate { register, bit }));
        }
    }

    /// How the clock of a serial or I2C port of L4 and G4 is chosen: its place in CCIPR.
    fn kernel_clock(&self, name: &str) -> Option<u32> {
        const PORTS: [&str; 9] = [
            "USART1", "USART2", "USART3", "UART4", "UART5", "LPUART1", "I2C1", "I2C2", "I2C3",
        ];
        if !matches!(self.family, Family::L4 | Family::G4) {
            return None;
        }
        let place = PORTS.iter().position(|port| *port == name)?;
        Some(self.value(CCIPR) >> (2 * place) & 3)
    }
}

impl Peripheral for Rcc {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        self.rest(offset)
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        let (layout, family) = (self.layout(), self.family);
        match real_offset(family, offset) {
            CR => self.set_control(value, now),
            offset if offset > layout.last => {}
            offset if self.changes_running_pll(offset, value) => {
                self.broken.push(Violation::new(Rule::ClockLimits, layout.pll_changed));
            }
            offset if offset == layout.cfgr => self.set_configuration(value),
            offset if offset == layout.bdcr => self.set_backup(value),
            offset if offset == layout.csr => self.set_status(value),
            offset if offset == layout.flags => {
                if value & layout.remove_flags != 0 {
                    *self.register(offset) = 0;
                }
            }
            PLLCKSELR if family == Family::H7 => self.choose_pll_source(value),
            // The HSI48 is ready when it is on.
            CRRCR if matches!(family, Family::L4 | Family::G4) => *self.register(CRRCR) = (value & 1) * 3,
            offset => self.write_other(offset, value),
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            offset if offset == self.layout().bdcr => self.backup.value(),
            offset => match real_offset(self.family, offset) {
                offset if offset > self.layout().last => 0,
                offset => self.value(offset),
            },
        }
    }

    fn beyond_model(&self) -> Option<&'static str> {
        let (chosen, what) = match self.family {
            Family::F4 => return None,
            Family::L4 | Family::G4 => (
                self.value(CCIPR) & 0x3_ffff & !0x1_5555,
                "a serial or I2C port that is clocked by HSI or LSE",
            ),
            Family::H7 => (
                self.value(D2CCIP2R) & 0x3f | self.value(D3CCIPR) & 7,
                "a serial port that is clocked by anything but its bus",
            ),
        };
        (chosen != 0).then_some(what)
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
}

impl Rcc {
    /// The flags of earlier resets stay until software removes them; but on the F4 power-on leaves none.
    pub(super) fn reset_by(&mut self, cause: ResetCause) {
        let layout = self.layout();
        let is_fresh = self.family == Family::F4 && cause == ResetCause::PowerOn;
        let before = self.value(layout.flags) & layout.all_flags;
        let before = if is_fresh { 0 } else { before };
        self.begin(before | layout.causes[cause as usize]);
    }

    pub(super) fn clocks(&self) -> Clocks {
        let layout = self.layout();
        // The F4 goes on as if nothing had stopped.
        let runs = |input: &Input| self.family == Family::F4 || self.is_ready(*input);
        let input = self.input(self.chosen()).filter(runs);
        let stopped = (
            Source::Internal,
            if self.family == Family::H7 {
                64_000_000
            } else {
                16_000_000
            },
        );
        let (source, system) = input.map_or(stopped, |input| self.rate(input));
        let cfgr = self.cfgr();
        let (core, ahb, apbs) = match self.family {
            Family::H7 => {
                let d1 = self.value(D1CFGR);
                (bus_divider(d1 >> 8), bus_divider(d1), self.value(D2CFGR))
            }
            _ => (bus_divider(cfgr >> 4), 1, cfgr),
        };
        Clocks {
            source,
            hclk: (system / core).max(1),
            ahb,
            apb1: ahb * apb_divider(apbs >> layout.prescalers.0),
            apb2: ahb * apb_divider(apbs >> layout.prescalers.1),
        }
    }

    /// Cycles of the core for one cycle of the clock that a peripheral runs with.
    pub(super) fn cycles_of(&self, entry: &MapEntry) -> u64 {
        let (clocks, layout) = (self.clocks(), self.layout());
        let d_bus = |register: u32| clocks.ahb * apb_divider(self.value(register) >> 4);
        let enabled_by = |(_, register): &&(&str, u32)| entry.gate.is_some_and(|gate| gate.register == *register);
        let bus = match layout.buses.iter().find(enabled_by).map_or("", |(name, _)| name) {
            "APB1" | "APB1_2" => clocks.apb1,
            "APB2" => clocks.apb2,
            "APB3" => d_bus(D1CFGR),
            "APB4" => d_bus(D3CFGR),
            _ => clocks.ahb,
        };
        if let Kind::Timer(_) = entry.kind {
            // Twice as fast as the bus unless that is undivided.
            (bus / 2).max(clocks.ahb)
        } else if self.kernel_clock(entry.name) == Some(1) {
            // The system clock: at most that of the core, which a divided core would be slower than.
            1
        } else {
            bus
        }
    }

    pub(super) fn is_on(&self, gate: Gate) -> bool {
        self.value(gate.register) >> gate.bit & 1 != 0
    }

    /// The gates whose peripherals software has reset since the last call.
    pub(super) fn take_resets(&mut self) -> Vec<Gate> {
        std::mem::take(&mut self.resets)
    }

    pub(super) fn backup_domain(&self) -> BackupDomain {
        let layout = self.layout();
        let divider = layout
            .rtcpre
            .map_or(32, |(place, mask)| u64::from(self.cfgr() >> place & mask));
        let is_on = divider > 1 && self.is_ready(Input::Hse);
        let hse = if is_on { self.hse.hertz() / divider } else { 0 };
        self.backup.domain(self.value(layout.csr) & 2 != 0, hse)
    }

    pub(super) fn backup_register(&self) -> u32 {
        self.layout().bdcr
    }

    pub(super) fn running_pll(&self) -> Option<Pll> {
        (self.value(CR) & PLL_ON << 1 != 0).then(|| self.pll())
    }
}
