//! Which bits of which registers there is a model of, and which do no harm without one. Whatever else firmware changes is told, with the register
//! and the bits: what silicon would do then is not known here.
//!
//! These are the registers of RCC, PWR, FLASH, GPIO, SYSCFG, EXTI, IWDG, DBGMCU, DMA, its multiplexer and the serial ports; those of the core are in
//! `cpu/scs.rs`. The other peripherals tell of modes that they do not have (`beyond_model`).

use super::Chip;
use super::rcc::Family;
use super::slots::Unit;

/// What is known of a register.
struct Register {
    /// From the beginning of the peripheral.
    offset: u32,
    name: &'static str,
    modeled: u32,
    harmless: u32,
    /// Why the latter do no harm.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares it with docs/emulator.md"))]
    why: &'static str,
}

impl Register {
    const fn or(self, harmless: u32, why: &'static str) -> Self {
        Register { harmless, why, ..self }
    }
}

const fn register(offset: u32, name: &'static str, modeled: u32) -> Register {
    Register {
        offset,
        name,
        modeled,
        harmless: 0,
        why: "",
    }
}

/// Registers that are there again and again: where the first of them begin, how far they are from each other, and where they end.
type Repeated = (u32, u32, u32, &'static [Register]);

struct Table {
    registers: &'static [Register],
    repeated: Option<Repeated>,
}

const fn table(registers: &'static [Register]) -> Table {
    Table {
        registers,
        repeated: None,
    }
}

const ALL: u32 = u32::MAX;

const NO_STOP: &str = "of use only with SLEEPDEEP, which breaks the rule `sleep`";
const IDEAL_EDGES: &str = "edges are as fast as they need be";
const OWN_ERROR: &str = "each oscillator has the error of its board";
const HSE_STAYS: &str = "an HSE that runs does not fail";
const NOT_THERE: &str = "what it clocks has no model, which its use tells, or runs without it";
const NO_REQUESTS: &str = "the interrupts that it clears have no model, which enabling them tells";
const NO_CONTENTION: &str = "buses are never contended";
const PROBE_ONLY: &str = "of use only while a probe holds the core";

/// The F4's, which the others have too.
const GPIO: &[Register] = &[
    register(0x00, "MODER", ALL),
    register(0x04, "OTYPER", 0xffff),
    register(0x08, "OSPEEDR", 0).or(ALL, IDEAL_EDGES),
    register(0x0c, "PUPDR", ALL),
    register(0x14, "ODR", 0xffff),
    register(0x18, "BSRR", ALL),
    register(0x20, "AFRL", ALL),
    register(0x24, "AFRH", ALL),
    register(0x28, "BRR", 0),
];
const GPIO_L4_G4: &[Register] = &[
    register(0x28, "BRR", 0xffff),
    register(0x2c, "ASCR", 0).or(0xffff, "converters have their pins anyway"),
];

const SYSCFG: &[Register] = &[
    register(0x08, "EXTICR1", 0xffff),
    register(0x0c, "EXTICR2", 0xffff),
    register(0x10, "EXTICR3", 0xffff),
    register(0x14, "EXTICR4", 0xffff),
    register(0x20, "CMPCR", 0).or(1, IDEAL_EDGES),
];

/// Only the lines of pins have a source.
const EXTI: &[Register] = &[
    register(0x00, "IMR", 0xffff),
    register(0x04, "EMR", 0xffff),
    register(0x08, "RTSR", 0xffff),
    register(0x0c, "FTSR", 0xffff),
    register(0x10, "SWIER", 0xffff),
    register(0x14, "PR", ALL),
];
const EXTI_H7: &[Register] = &[
    register(0x00, "RTSR1", 0xffff),
    register(0x04, "FTSR1", 0xffff),
    register(0x08, "SWIER1", 0xffff),
    register(0x80, "CPUIMR1", 0xffff),
    register(0x84, "CPUEMR1", 0xffff),
    register(0x88, "CPUPR1", ALL),
];

const IWDG: &[Register] = &[
    register(0x00, "KR", ALL),
    register(0x04, "PR", 0x7),
    register(0x08, "RLR", 0xfff),
];

const DBGMCU: &[Register] = &[
    register(0x04, "CR", 0).or(0x0070_01ff, PROBE_ONLY),
    register(0x08, "APB1FZ", 0).or(ALL, PROBE_ONLY),
    register(0x0c, "APB2FZ or APB1FZR2", 0).or(ALL, PROBE_ONLY),
    register(0x10, "APB2FZR", 0).or(ALL, PROBE_ONLY),
];
const DBGMCU_H7: &[Register] = &[
    register(0x04, "CR", 0).or(0x0070_01ff, PROBE_ONLY),
    register(0x34, "APB3FZ1", 0).or(ALL, PROBE_ONLY),
    register(0x3c, "APB1LFZ1", 0).or(ALL, PROBE_ONLY),
    register(0x4c, "APB2FZ1", 0).or(ALL, PROBE_ONLY),
    register(0x54, "APB4FZ1", 0).or(ALL, PROBE_ONLY),
];

/// Without PFCTRL, PINCOS and bursts; DMEIE waits for an error that does not come, and MSIZE counts only with the FIFO.
const STREAM: &[Register] = &[
    register(0x00, "CR", 0x0e0c_1fdd).or(0x0003_6002, NO_CONTENTION),
    register(0x04, "NDTR", 0xffff),
    register(0x08, "PAR", ALL),
    register(0x0c, "M0AR", ALL),
    register(0x10, "M1AR", ALL),
    // FS is read only.
    register(0x14, "FCR", 0x38).or(0x3, "of use only with the FIFO, which DMDIS tells"),
];
/// With TRBUFF, and without the F4's choice of a request.
const STREAM_H7: &[Register] = &[register(0x00, "CR", 0x001c_1fdd).or(0x0003_6002, NO_CONTENTION)];
const STREAMS: &[Register] = &[register(0x08, "LIFCR", ALL), register(0x0c, "HIFCR", ALL)];

const CHANNEL: &[Register] = &[
    register(0x00, "CCR", 0x4fff).or(0x3000, NO_CONTENTION),
    register(0x04, "CNDTR", 0xffff),
    register(0x08, "CPAR", ALL),
    register(0x0c, "CMAR", ALL),
];
const CHANNELS: &[Register] = &[register(0x04, "IFCR", ALL), register(0xa8, "CSELR", ALL)];
const MUX: &[Register] =
    &[register(0x00, "CCR", 0x7f).or(0x200, "events of a channel are of use only to generators of requests")];

/// Modes that the model does not have are told in words.
const USART_V2: &[Register] = &[
    register(0x00, "SR", ALL),
    register(0x04, "DR", ALL),
    register(0x08, "BRR", 0xffff),
    register(0x0c, "CR1", 0xb7fd),
    register(0x10, "CR2", 0x7800),
    register(0x14, "CR3", 0x0beb),
];
/// Without the wake-up from stop mode, the matching of characters, the times of the driver enable, and the timeout.
const USART_V3: &[Register] = &[
    register(0x00, "CR1", 0x3000_b7fd),
    register(0x04, "CR2", 0x001f_7800),
    register(0x08, "CR3", 0x0000_7beb),
    register(0x0c, "BRR", 0x000f_ffff),
    register(0x18, "RQR", 0x1e),
    register(0x20, "ICR", ALL),
    register(0x28, "TDR", 0x1ff),
    register(0x2c, "PRESC", 0xf),
];

const PWR_F4: &[Register] = &[
    register(0x0, "CR", 0x0003_c100).or(0x003c_2e0f, NO_STOP),
    register(0x4, "CSR", 0x200).or(0x100, NO_STOP),
];
const PWR_L4_G4: &[Register] = &[
    register(0x00, "CR1", 0x700).or(0x1f, NO_STOP),
    register(0x04, "CR2", 0).or(0x600, "what it supplies is supplied anyway"),
    register(0x08, "CR3", 0).or(0x4000, "no pin of a serial port is pulled down by UCPD"),
    register(0x18, "SCR", ALL),
    register(0x80, "CR5", 0x100),
];
const PWR_H7: &[Register] = &[
    register(0x00, "CR1", 0x100).or(0xc201, NO_STOP),
    register(0x0c, "CR3", 0x7).or(0x0100_0000, "what it supplies is supplied anyway"),
    register(0x10, "CPUCR", 0).or(0x807, NO_STOP),
    // VOSRDY is read only.
    register(0x18, "D3CR", 0xe000),
];

const FLASH_F4: &[Register] = &[
    register(0x00, "ACR", 0x1f0f),
    register(0x04, "KEYR", ALL),
    register(0x08, "OPTKEYR", ALL),
    register(0x0c, "SR", ALL),
    register(0x10, "CR", 0x8301_037f),
    register(0x14, "OPTCR", ALL),
];
const FLASH_L4_G4: &[Register] = &[
    register(0x00, "ACR", 0x1f0f),
    register(0x08, "KEYR", ALL),
    register(0x0c, "OPTKEYR", ALL),
    register(0x10, "SR", ALL),
    register(0x14, "CR", 0xc303_8fff),
    // The address in it is read only.
    register(0x18, "ECCR", 0xc03f_ffff),
    register(0x20, "OPTR", ALL),
];
const FLASH_H7: &[Register] = &[
    register(0x00, "ACR", 0x3f),
    register(0x04, "KEYR", ALL),
    register(0x08, "OPTKEYR", ALL),
    register(0x0c, "CR", 0x0001_07bf),
    // Read only.
    register(0x10, "SR", ALL),
    register(0x14, "CCR", ALL),
    register(0x18, "OPTCR", 0x3),
    register(0x20, "OPTSR_PRG", ALL),
];

const RCC_F4: &[Register] = &[
    register(0x00, "CR", 0x1505_0001).or(
        0x0008_00f8,
        "the error of the HSI is its board's, and an HSE that runs does not fail",
    ),
    register(0x04, "PLLCFGR", 0x0043_7fff).or(0x7f00_0000, NOT_THERE),
    register(0x08, "CFGR", 0x001f_fcf3).or(0xffe0_0000, "a clock that is put out leads nowhere"),
    register(0x0c, "CIR", 0).or(0x00ff_0000, NO_REQUESTS),
    register(0x70, "BDCR", 0x0001_8305).or(0x8, "the crystal starts in either mode"),
    register(0x74, "CSR", 0x0100_0001),
    register(0x84, "PLLI2SCFGR", 0).or(ALL, NOT_THERE),
    register(0x88, "PLLSAICFGR", 0).or(ALL, NOT_THERE),
];
const RCC_L4_G4: &[Register] = &[
    register(0x00, "CR", 0x1505_0bfd).or(0x0008_0000, HSE_STAYS),
    register(0x04, "ICSCR", 0).or(ALL, OWN_ERROR),
    register(0x08, "CFGR", 0x3ff3).or(
        0x7f00_8000,
        "a clock that is put out leads nowhere, and no stop mode ends",
    ),
    register(0x0c, "PLLCFGR", 0x0700_7fff).or(0xf833_0000, NOT_THERE),
    register(0x10, "PLLSAI1CFGR", 0).or(ALL, NOT_THERE),
    register(0x14, "PLLSAI2CFGR", 0).or(ALL, NOT_THERE),
    register(0x20, "CICR", 0).or(ALL, NO_REQUESTS),
    register(0x88, "CCIPR", 0x3_ffff).or(0xfffc_0000, NOT_THERE),
    register(0x90, "BDCR", 0x0001_8305).or(0x18, "the crystal starts in either mode"),
    register(0x94, "CSR", 0x0080_0f01),
    register(0x98, "CRRCR", 1),
];
const RCC_H7: &[Register] = &[
    register(0x00, "CR", 0x1505_109b).or(0x0008_0200, HSE_STAYS),
    register(0x04, "HSICFGR", 0).or(ALL, OWN_ERROR),
    register(0x10, "CFGR", 0x3f07).or(
        0xffff_00c0,
        "a clock that is put out leads nowhere, and no stop mode ends",
    ),
    register(0x18, "D1CFGR", 0xf7f),
    register(0x1c, "D2CFGR", 0x770),
    register(0x20, "D3CFGR", 0x70),
    register(0x28, "PLLCKSELR", 0x3f3).or(0x03f3_f000, NOT_THERE),
    register(0x2c, "PLLCFGR", 0x0001_000f).or(0x01fe_0ff0, NOT_THERE),
    register(0x30, "PLL1DIVR", 0xffff).or(0x7f7f_0000, NOT_THERE),
    register(0x34, "PLL1FRACR", 0xfff8),
    register(0x38, "PLL2DIVR", 0).or(ALL, NOT_THERE),
    register(0x3c, "PLL2FRACR", 0).or(ALL, NOT_THERE),
    register(0x40, "PLL3DIVR", 0).or(ALL, NOT_THERE),
    register(0x44, "PLL3FRACR", 0).or(ALL, NOT_THERE),
    register(0x4c, "D1CCIPR", 0).or(ALL, NOT_THERE),
    register(0x54, "D2CCIP2R", 0x3f).or(0x7030_0300, NOT_THERE),
    register(0x58, "D3CCIPR", 0x7).or(0x00ff_fc00, NOT_THERE),
    register(0x68, "CICR", 0).or(ALL, NO_REQUESTS),
    register(0x70, "BDCR", 0x0001_8305).or(0x18, "the crystal starts in either mode"),
    register(0x74, "CSR", 1),
    register(0xd0, "RSR", 1 << 16),
];

/// Resets and enables of peripherals.
fn is_gate(family: Family, offset: u32) -> bool {
    match family {
        Family::F4 => matches!(offset, 0x10..=0x24 | 0x30..=0x44),
        Family::L4 | Family::G4 => matches!(offset, 0x28..=0x40 | 0x48..=0x60),
        Family::H7 => matches!(offset, 0x7c..=0x9c | 0xd4..=0xf4),
    }
}

/// The tables of a unit: the first that has a register counts. `None` if it has none, and tells by itself.
fn tables(unit: Unit, family: Family) -> Option<[Table; 2]> {
    const NONE: Table = table(&[]);
    let repeated = |registers, first, step, last, all: &'static [Register]| Table {
        registers,
        repeated: Some((first, step, last, all)),
    };
    let is_l4_g4 = matches!(family, Family::L4 | Family::G4);
    Some(match unit {
        Unit::Gpio(_) if is_l4_g4 => [table(GPIO_L4_G4), table(GPIO)],
        Unit::Gpio(_) => [table(GPIO), NONE],
        Unit::Syscfg => [table(SYSCFG), NONE],
        Unit::Exti if family == Family::H7 => [table(EXTI_H7), NONE],
        Unit::Exti => [table(EXTI), NONE],
        Unit::Iwdg => [table(IWDG), NONE],
        Unit::Dbgmcu if family == Family::H7 => [table(DBGMCU_H7), NONE],
        Unit::Dbgmcu => [table(DBGMCU), NONE],
        Unit::Dma(2) => [repeated(&[], 0x00, 0x04, 0x40, MUX), NONE],
        Unit::Dma(_) if is_l4_g4 => [repeated(CHANNELS, 0x08, 0x14, 0xa8, CHANNEL), NONE],
        Unit::Dma(_) if family == Family::H7 => [
            repeated(STREAMS, 0x10, 0x18, 0xd0, STREAM_H7),
            repeated(&[], 0x10, 0x18, 0xd0, STREAM),
        ],
        Unit::Dma(_) => [repeated(STREAMS, 0x10, 0x18, 0xd0, STREAM), NONE],
        Unit::Uart(_) if family == Family::F4 => [table(USART_V2), NONE],
        Unit::Uart(_) => [table(USART_V3), NONE],
        Unit::Pwr => [
            table(match family {
                Family::F4 => PWR_F4,
                Family::L4 | Family::G4 => PWR_L4_G4,
                Family::H7 => PWR_H7,
            }),
            NONE,
        ],
        Unit::Flash => [
            table(match family {
                Family::F4 => FLASH_F4,
                Family::L4 | Family::G4 => FLASH_L4_G4,
                Family::H7 => FLASH_H7,
            }),
            NONE,
        ],
        Unit::Rcc => [
            table(match family {
                Family::F4 => RCC_F4,
                Family::L4 | Family::G4 => RCC_L4_G4,
                Family::H7 => RCC_H7,
            }),
            NONE,
        ],
        Unit::I2c(_) | Unit::Rtc | Unit::Other(_) | Unit::Unmodeled => return None,
    })
}

impl Table {
    fn find(&self, offset: u32) -> Option<&'static Register> {
        let at = |list: &'static [Register], offset| list.iter().find(|register| register.offset == offset);
        let single = at(self.registers, offset);
        single.or_else(|| {
            let (first, step, last, all) = self.repeated?;
            let place = offset.checked_sub(first).filter(|_| offset < last)?;
            at(all, place % step)
        })
    }
}

impl Chip {
    /// Tells of bits that were changed and have no model.
    pub(super) fn check_known(&mut self, at: usize, offset: u32, changed: u32) {
        let (unit, family) = (self.slots.unit(at), self.rcc.family());
        if unit == Unit::Rcc && is_gate(family, offset) {
            return;
        }
        // Both banks of an H7 have the same registers, and its RCC has some twice.
        let offset = match unit {
            Unit::Flash if family == Family::H7 => offset & 0xff,
            Unit::Rcc => super::rcc::real_offset(family, offset),
            _ => offset,
        };
        let Some(tables) = tables(unit, family) else { return };
        let found = tables.iter().find_map(|table| table.find(offset));
        let bits = changed & !found.map_or(0, |register| register.modeled | register.harmless);
        if bits != 0 {
            let name = self.slots.entry(at).name;
            self.remark(match found {
                Some(register) => format!("bits {bits:#x} of {name} {} are not modeled", register.name),
                None => format!("{name}, register {offset:#x}, is not modeled"),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    const UNITS: [(&str, Unit); 11] = [
        ("DBGMCU", Unit::Dbgmcu),
        ("DMA", Unit::Dma(0)),
        ("DMAMUX", Unit::Dma(2)),
        ("EXTI", Unit::Exti),
        ("FLASH", Unit::Flash),
        ("GPIO", Unit::Gpio(0)),
        ("IWDG", Unit::Iwdg),
        ("PWR", Unit::Pwr),
        ("RCC", Unit::Rcc),
        ("SYSCFG", Unit::Syscfg),
        ("USART", Unit::Uart(0)),
    ];

    #[test]
    fn what_does_no_harm_is_listed_with_its_reason() {
        let mut reasons: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (name, unit) in UNITS {
            for family in [Family::F4, Family::L4, Family::G4, Family::H7] {
                for table in tables(unit, family).expect("it has tables") {
                    let repeated = table.repeated.map_or(&[][..], |(.., all)| all);
                    for register in table.registers.iter().chain(repeated) {
                        assert_eq!(
                            register.harmless == 0,
                            register.why.is_empty(),
                            "{name} {}",
                            register.name
                        );
                        assert_eq!(register.harmless & register.modeled, 0, "{name} {}", register.name);
                        if register.harmless != 0 {
                            let name = format!("{name} {}", register.name);
                            reasons.entry(register.why).or_default().insert(name);
                        }
                    }
                }
            }
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/emulator.md");
        let docs = std::fs::read_to_string(path).expect("the docs");
        let rows = reasons.into_iter().map(|(why, names)| {
            let names: Vec<String> = names.into_iter().collect();
            format!("| {why} | {} |", names.join(", "))
        });
        let missing: Vec<String> = rows.filter(|row| !docs.contains(row)).collect();
        assert!(
            missing.is_empty(),
            "docs/emulator.md lacks these rows:\n{}",
            missing.join("\n")
        );
    }
}
