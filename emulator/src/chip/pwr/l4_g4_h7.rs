//! Power control of L4 (RM0351 chapter 5), G4 (RM0440 chapter 6) and H7 (RM0433 chapter 6). Flags follow what is set at once.

use super::super::clocks::{Limits, megahertz};
use super::super::parts::{PowerControl, Pvd};
use super::super::peripheral::{Peripheral, load, store};
use super::super::rcc::Family;
use super::super::rules::{Rule, Violation};
use super::DBP;
use super::f4::PVDE;
use crate::cpu::Cycles;

const MHZ: u64 = 1_000_000;

/// Voltage ranges of the L4, RM0351 table 9.
const L4_PLL: ((u64, u64), (u64, u64)) = ((4 * MHZ, 16 * MHZ), (64 * MHZ, 344 * MHZ));
const L4_RANGE_1: Limits = Limits::new([80; 4], L4_PLL, &megahertz([16, 32, 48, 64, 80]));
const L4_SLOW_PLL: ((u64, u64), (u64, u64)) = (L4_PLL.0, (64 * MHZ, 128 * MHZ));
const L4_RANGE_2: Limits = Limits::new([26; 4], L4_SLOW_PLL, &megahertz([6, 12, 18, 26]));

/// Voltage ranges of the G4, RM0440 table 9.
const G4_PLL: ((u64, u64), (u64, u64)) = ((2_660_000, 16 * MHZ), (96 * MHZ, 344 * MHZ));
const G4_BOOST: Limits = Limits::new([170; 4], G4_PLL, &megahertz([34, 68, 102, 136, 170]));
const G4_RANGE_1: Limits = Limits::new([150; 4], G4_PLL, &megahertz([30, 60, 90, 120, 150]));
const G4_SLOW_PLL: ((u64, u64), (u64, u64)) = (G4_PLL.0, (96 * MHZ, 128 * MHZ));
const G4_RANGE_2: Limits = Limits::new([26; 4], G4_SLOW_PLL, &megahertz([12, 24, 26]));

/// Voltage scales of the H743 from the lowest: core, HCLK, peripheral buses, and the highest HCLK for each number of wait states. RM0433 table
/// 17, and the data sheet.
const H7_SCALES: [Limits; 3] = [
    // 50 MHz for the peripheral buses in the data sheet; but it comes out of reset with 64.
    Limits::new([200, 100, 64, 64], H7_PLL, &megahertz([45, 90, 135, 180, 225])),
    Limits::new([300, 150, 75, 75], H7_PLL, &megahertz([55, 110, 165, 225])),
    Limits::new([400, 200, 100, 100], H7_PLL, &megahertz([70, 140, 210, 225])),
];
const H7_PLL: ((u64, u64), (u64, u64)) = ((MHZ, 16 * MHZ), (192 * MHZ, 836 * MHZ));

const CR5: u32 = 0x80;
const NORMAL: u32 = 1 << 8;

#[derive(Hash)]
pub(in crate::chip) struct PwrL4G4 {
    family: Family,
    registers: [u32; 0x84 / 4],
}

impl PwrL4G4 {
    pub(in crate::chip) fn new(family: Family) -> Self {
        let mut registers = [0; 0x84 / 4];
        registers[0] = 0x200;
        registers[2] = 0x8000;
        registers[CR5 as usize / 4] = NORMAL;
        PwrL4G4 { family, registers }
    }
}

impl PowerControl for PwrL4G4 {
    fn opens_backup_domain(&self) -> bool {
        self.registers[CR1] & DBP != 0
    }

    fn limits(&self) -> Limits {
        let is_range_1 = self.registers[0] >> 9 & 3 == 1;
        let is_boosted = self.registers[CR5 as usize / 4] & NORMAL == 0;
        match (self.family, is_range_1) {
            (Family::L4, true) => L4_RANGE_1,
            (Family::L4, false) => L4_RANGE_2,
            (_, true) if is_boosted => G4_BOOST,
            (_, true) => G4_RANGE_1,
            (_, false) => G4_RANGE_2,
        }
    }

    fn pvd(&self) -> Option<Pvd> {
        // The last is a pin.
        const LEVELS: [u64; 8] = [2_000, 2_200, 2_400, 2_500, 2_600, 2_800, 2_900, 0];
        let control = self.registers[CR2];
        (control & 1 != 0).then(|| Pvd {
            millivolts: LEVELS[(control >> 1 & 7) as usize],
            offset: 0x14,
            bit: 1 << 11,
        })
    }
}

impl Peripheral for PwrL4G4 {
    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        match offset {
            // SR1 and SR2 are read only; SCR only clears flags, of which there are none.
            0x10..=0x18 => {}
            CR5 if self.family == Family::L4 => {}
            offset => store(&mut self.registers, offset, value),
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            // REGLPS: the low-power regulator is ready. Neither it nor a change of voltage is under way.
            0x14 => 1 << 8,
            CR5 if self.family == Family::L4 => 0,
            offset => load(&self.registers, offset),
        }
    }

    fn reset(&mut self, _now: Cycles) {
        *self = PwrL4G4::new(self.family);
    }
}

const CR1: usize = 0;
const CR2: usize = 1;
const CR3: usize = 0x0c / 4;
const D3CR: usize = 0x18 / 4;
/// BYPASS, LDOEN and SCUEN.
const SUPPLY: u32 = 7;
const READY: u32 = 1 << 13;

/// PWR of the H7. How the core is supplied is chosen once after power-on, before its voltage is changed.
#[derive(Hash)]
pub(in crate::chip) struct PwrH7 {
    registers: [u32; 0x30 / 4],
    is_supply_chosen: bool,
    broken: Vec<Violation>,
}

impl PwrH7 {
    pub(in crate::chip) fn new() -> Self {
        let mut registers = [0; 0x30 / 4];
        registers[CR1] = 0xf000_c000;
        registers[CR3] = 0x6;
        registers[D3CR] = 0x4000;
        PwrH7 {
            registers,
            is_supply_chosen: false,
            broken: Vec::new(),
        }
    }

    fn scale(&self) -> u32 {
        self.registers[D3CR] >> 14 & 3
    }

    fn breaks(&mut self, how: &str) {
        self.broken.push(Violation::new(Rule::ClockLimits, how));
    }

    /// The Nucleo supplies the core by the LDO.
    fn choose_supply(&mut self, value: u32) {
        if self.is_supply_chosen {
            // Only the first write counts.
            let supply = self.registers[CR3] & SUPPLY;
            self.registers[CR3] = value & !SUPPLY | supply;
            return;
        }
        if value & 3 != 2 {
            self.breaks("the core is to be supplied by something else than the LDO (PWR_CR3)");
        }
        self.is_supply_chosen = true;
        self.registers[CR3] = value;
    }

    fn set_scale(&mut self, value: u32) {
        if !self.is_supply_chosen && (value ^ self.registers[D3CR]) >> 14 & 3 != 0 {
            self.breaks("the voltage scale is changed before the supply is chosen (PWR_CR3)");
        }
        self.registers[D3CR] = value & 0xc000;
    }
}

impl PowerControl for PwrH7 {
    fn opens_backup_domain(&self) -> bool {
        self.registers[CR1] & DBP != 0
    }

    fn limits(&self) -> Limits {
        H7_SCALES[self.scale().saturating_sub(1) as usize]
    }

    fn pvd(&self) -> Option<Pvd> {
        const LEVELS: [u64; 8] = [1_950, 2_100, 2_250, 2_400, 2_550, 2_700, 2_850, 0];
        let control = self.registers[CR1];
        (control & PVDE != 0).then(|| Pvd {
            millivolts: LEVELS[(control >> 5 & 7) as usize],
            offset: 4,
            bit: 1 << 4,
        })
    }
}

impl Peripheral for PwrH7 {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        match offset {
            // The voltage is what was asked for, at once.
            0x04 => READY | self.scale() << 14,
            0x18 => READY | self.registers[D3CR],
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        match offset {
            0x04 => {}
            0x0c => self.choose_supply(value),
            0x18 => self.set_scale(value),
            offset => store(&mut self.registers, offset, value),
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        load(&self.registers, offset)
    }

    /// The supply stays as it was chosen.
    fn reset(&mut self, _now: Cycles) {
        let (supply, is_chosen) = (self.registers[CR3], self.is_supply_chosen);
        *self = PwrH7::new();
        (self.registers[CR3], self.is_supply_chosen) = (supply, is_chosen);
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.broken)
    }
}
