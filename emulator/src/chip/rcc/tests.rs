//! Register scripts for the RCCs of all families.

use super::*;
use crate::chip::clocks::Hse;
use crate::chip::hse::{HSE_BYPASS, HSE_ON};

const PLL_R_ON: u32 = 1 << 24;

fn rcc(family: Family, hse: Hse) -> Rcc {
    Rcc::new(family, HseOscillator::new(hse, 0), true)
}

fn tree(rcc: &Rcc) -> (Source, u64) {
    (rcc.clocks().source, rcc.clocks().hclk)
}

#[test]
fn the_clock_tree_of_an_f4_nucleo() {
    const PLLCFGR: u32 = 0x04;
    const CFGR: u32 = 0x08;
    let mut rcc = rcc(Family::F4, Hse::Fed(8_000_000));
    let clocks = |source, hclk, apb1, apb2| Clocks {
        source,
        hclk,
        ahb: 1,
        apb1,
        apb2,
    };
    assert_eq!(rcc.clocks(), clocks(Source::Internal, 16_000_000, 1, 1));
    rcc.write(CR, 0x83 | HSE_ON | HSE_BYPASS, 0);
    assert_ne!(rcc.read(CR, 0) & HSE_READY, 0);
    // 8 MHz / 4 * 180 / 2.
    rcc.write(PLLCFGR, 4 | 180 << 6 | 1 << 22, 0);
    rcc.write(CR, 0x83 | HSE_ON | HSE_BYPASS | PLL_ON, 0);
    rcc.write(CFGR, 2 | 0b101 << 10 | 0b100 << 13, 0);
    assert_eq!(rcc.read(CFGR, 0) >> 2 & 3, 2);
    assert_eq!(rcc.clocks(), clocks(Source::External, 180_000_000, 4, 2));
    let kind = Kind::Timer(|| unreachable!());
    let timer = MapEntry::new(0, "TIM2", kind, Some(gate(0x40, 0)), &[]);
    let port = MapEntry {
        kind: Kind::Unmodeled,
        ..timer
    };
    assert_eq!((rcc.cycles_of(&timer), rcc.cycles_of(&port)), (2, 4));
}

fn gate(register: u32, bit: u32) -> Gate {
    Gate { register, bit }
}

#[test]
fn without_a_crystal_nothing_gets_ready() {
    let mut rcc = rcc(Family::F4, Hse::Absent);
    rcc.write(CR, 0x83 | HSE_ON, 0);
    assert_eq!(rcc.read(CR, 0) & HSE_READY, 0);
    rcc.write(0x08, 1, 0);
    assert_eq!(rcc.read(0x08, 0) >> 2 & 3, 0, "the system clock stays");
}

#[test]
fn the_g4_begins_with_its_hsi_and_goes_to_170_megahertz() {
    const CFGR: u32 = 0x08;
    const PLLCFGR: u32 = 0x0c;
    const HSI_ON: u32 = 1 << 8;
    let mut rcc = rcc(Family::G4, Hse::Crystal(24_000_000));
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
    assert_eq!(tree(&rcc), (Source::External, 170_000_000));
    assert_eq!(rcc.take_broken(), []);
    rcc.write(PLLCFGR, 3 | 5 << 4 | 86 << 8 | PLL_R_ON, 0);
    assert_eq!(rcc.take_broken().len(), 1, "the multiplier is changed while it is on");
    rcc.write(CR, 0, 0);
    assert_ne!(rcc.read(CR, 0) & PLL_ON, 0, "the system runs on it");
}

#[test]
fn the_l4_begins_with_four_megahertz_that_an_lse_keeps_exact() {
    for lse in [true, false] {
        let mut rcc = Rcc::new(Family::L4, HseOscillator::new(Hse::Absent, 0), lse);
        assert_eq!(tree(&rcc), (Source::Internal, 4_000_000));
        rcc.write(CR, 0x69 | MSI_TRIMMED, 0);
        assert_eq!(rcc.read(CR, 0) & MSI_TRIMMED, 0, "the LSE is off");
        rcc.write(0x90, 1, 0);
        rcc.write(CR, 0x69 | MSI_TRIMMED, 0);
        assert_eq!(rcc.read(CR, 0) & MSI_TRIMMED != 0, lse);
        // 4 MHz * 40 / 2.
        rcc.write(0x0c, 1 | 40 << 8 | PLL_R_ON, 0);
        rcc.write(CR, rcc.rest(CR) | PLL_ON, 0);
        rcc.write(0x08, 3, 0);
        let source = if lse { Source::External } else { Source::Internal };
        assert_eq!(tree(&rcc), (source, 80_000_000));
    }
}

#[test]
fn the_h7_begins_with_its_hsi_and_goes_to_400_megahertz() {
    const CFGR: u32 = 0x10;
    let fed = 1 | HSE_BYPASS | HSE_ON;
    let mut rcc = rcc(Family::H7, Hse::Fed(8_000_000));
    assert_eq!((rcc.clocks().hclk, rcc.clocks().apb1), (64_000_000, 1));
    rcc.write(CR, fed, 0);
    // 8 MHz / 1 * 100 / 2.
    rcc.write(PLLCKSELR, 2 | 1 << 4, 0);
    rcc.write(PLL1DIVR, 99 | 1 << 9, 0);
    rcc.write(CR, fed | PLL_ON, 0);
    rcc.write(D1CFGR, 8, 0);
    rcc.write(D2CFGR, 4 << 4 | 4 << 8, 0);
    rcc.write(CFGR, 3, 0);
    assert_eq!(rcc.read(CFGR, 0) >> 3 & 7, 3);
    assert_eq!(tree(&rcc), (Source::External, 400_000_000));
    let clocks = rcc.clocks();
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
fn a_clock_that_is_fed_is_no_crystal_and_a_crystal_is_not_fed() {
    for (family, hse, control) in [
        (Family::H7, Hse::Fed(8_000_000), 1 | HSE_ON),
        (Family::G4, Hse::Crystal(24_000_000), 1 << 8 | HSE_BYPASS | HSE_ON),
    ] {
        let mut rcc = rcc(family, hse);
        rcc.write(CR, control, 0);
        assert_eq!(rcc.read(CR, 0) & HSE_READY, 0, "{family:?}");
        assert_eq!(rcc.take_broken()[0].rule, Rule::ExternalClock, "{family:?}");
    }
}

/// The register with the flags, what it has after power-on and after a software reset, and what watchdog and pin leave once they were removed.
#[test]
fn reset_flags_add_up_until_removed() {
    for (family, register, flags, power, software, watchdog, pin) in [
        (
            Family::F4,
            0x74,
            0xfe00_0000,
            0b111 << 25,
            0b1111 << 25,
            0b1_0010 << 25,
            1 << 26,
        ),
        (
            Family::L4,
            0x94,
            0xff00_0000,
            0b11 << 26,
            0b111 << 26,
            0b1001 << 26,
            1 << 26,
        ),
        (Family::H7, 0xd0, 7 << 23 | 1 << 26, 1 << 23, 3 << 23, 1 << 26, 0),
    ] {
        let mut rcc = rcc(family, Hse::Absent);
        assert_eq!(rcc.read(register, 0) & flags, power, "{family:?}");
        rcc.reset_by(ResetCause::Software);
        assert_eq!(rcc.read(register, 0) & flags, software, "{family:?}");
        rcc.write(register, family.layout().remove_flags, 0);
        assert_eq!(rcc.read(register, 0) & flags, 0, "{family:?}");
        rcc.reset_by(ResetCause::Watchdog);
        assert_eq!(rcc.read(register, 0) & flags, watchdog, "{family:?}");
        rcc.write(register, family.layout().remove_flags, 0);
        rcc.reset_by(ResetCause::Pin);
        assert_eq!(rcc.read(register, 0) & flags, pin, "{family:?}");
        if family == Family::H7 {
            assert_eq!(rcc.read(0x130, 0), rcc.read(register, 0), "its alias");
        }
    }
}

#[test]
fn the_backup_domain_survives_a_reset() {
    const BDCR: u32 = 0x90;
    let mut rcc = rcc(Family::L4, Hse::Absent);
    rcc.write(BDCR, 1, 0);
    rcc.reset_by(ResetCause::Software);
    assert_eq!(rcc.read(BDCR, 0), 3);
    rcc.write(BDCR, 1 << 16, 0);
    rcc.write(BDCR, 0, 0);
    assert_eq!(rcc.read(BDCR, 0), 0);
}

#[test]
fn peripherals_are_reset_by_the_bit_of_their_clock() {
    for (family, enable, reset) in [
        (Family::F4, 0x40, 0x20),
        (Family::G4, 0x58, 0x38),
        (Family::H7, 0xe8, 0x90),
    ] {
        let mut rcc = rcc(family, Hse::Absent);
        let gate = gate(enable, 17);
        assert!(!rcc.is_on(gate));
        rcc.write(enable, 1 << 17, 0);
        assert!(rcc.is_on(gate));
        rcc.write(reset, 1 << 17, 0);
        assert_eq!(rcc.take_resets(), [gate]);
    }
}
