//! Which bits of which registers there is a model of, and which do no harm without one: `known.txt` lists them. Whatever else firmware changes is
//! told, with the register and the bits: what silicon would do then is not known here.
//!
//! The registers of the core are in `cpu/scs.rs`. A peripheral of a chip that is not listed has no known registers. Those that were added to a board
//! from outside tell of themselves (`beyond_model`).

use std::sync::LazyLock;

use super::Chip;
use super::map::Kind;
use super::rcc::{Family, real_offset};
use super::slots::{Slot, Unit};

/// What is known of a register.
struct Register {
    name: &'static str,
    /// The bits that have a model, or do no harm.
    known: u32,
    #[cfg(test)]
    unit: &'static str,
    /// Why bits without a model do no harm, if there are any.
    #[cfg(test)]
    why: &'static str,
}

const UNITS: [&str; 20] = [
    "GPIO", "SYSCFG", "EXTI", "IWDG", "DBGMCU", "DMA", "DMAMUX", "USART", "PWR", "FLASH", "RCC", "TIM", "SPI", "I2C",
    "FMPI2C", "ADC", "DAC", "RNG", "CORDIC", "RTC",
];

/// In the order of their keys.
static REGISTERS: LazyLock<Vec<(u32, Register)>> = LazyLock::new(|| {
    let lines = include_str!("known.txt").lines().filter(|line| !line.starts_with('#'));
    let mut registers: Vec<(u32, Register)> = lines.flat_map(read).collect();
    registers.sort_unstable_by_key(|(key, _)| *key);
    registers
});

fn key(unit: &str, family: Family, offset: u32) -> Option<u32> {
    let unit = UNITS.iter().position(|name| *name == unit)?;
    Some((unit as u32) << 24 | (family as u32) << 16 | offset)
}

/// A line of the list: the register in each of its families, with all its offsets.
fn read(line: &'static str) -> Vec<(u32, Register)> {
    let fields: Vec<&str> = line.split(" | ").collect();
    let [unit, families, offset, name, modeled, harmless, _why @ ..] = &fields[..] else {
        panic!("{line}");
    };
    let number = |text: &str| u32::from_str_radix(text, 16).unwrap_or_else(|_| panic!("{line}"));
    let mut registers = Vec::new();
    for (_, family) in Family::NAMED
        .iter()
        .filter(|(name, _)| *families == "*" || families.contains(name))
    {
        // Where the registers of each begin, how far apart they are, and how many there are.
        let (first, step, count) = match (offset.strip_suffix('+'), *unit) {
            (None, _) => (0, 0, 1),
            (Some(_), "DMAMUX") => (0, 4, 16),
            (Some(_), "ADC") => (0, 0x100, 3),
            (Some(_), "RTC") => (0, 4, 20),
            (Some(_), _) if matches!(family, Family::L4 | Family::G4) => (0x08, 0x14, 8),
            (Some(_), _) => (0x10, 0x18, 8),
        };
        for place in 0..count {
            let offset = number(offset.trim_end_matches('+')) + first + place * step;
            let register = Register {
                name,
                known: number(modeled) | number(harmless),
                #[cfg(test)]
                unit,
                #[cfg(test)]
                why: _why.first().copied().unwrap_or_default(),
            };
            registers.extend(key(unit, *family, offset).map(|key| (key, register)));
        }
    }
    registers
}

/// The name in the list; `None` if it is nothing of the chip's own.
fn name(slot: &Slot) -> Option<&'static str> {
    Some(match slot.unit {
        Unit::Gpio(_) => "GPIO",
        Unit::Syscfg => "SYSCFG",
        Unit::Exti => "EXTI",
        Unit::Iwdg => "IWDG",
        Unit::Dbgmcu => "DBGMCU",
        Unit::Dma(2) => "DMAMUX",
        Unit::Dma(_) => "DMA",
        Unit::Uart(_) => "USART",
        Unit::Pwr => "PWR",
        Unit::Flash => "FLASH",
        Unit::Rcc => "RCC",
        Unit::Other(_) if !matches!(slot.entry.kind, Kind::Own(_) | Kind::Timer(_)) => return None,
        Unit::I2c(_) | Unit::Rtc | Unit::Other(_) => {
            let listed = UNITS.into_iter().find(|name| slot.entry.name.starts_with(name));
            listed.unwrap_or(slot.entry.name)
        }
        Unit::Unmodeled => return None,
    })
}

/// Resets and enables of peripherals.
fn is_gate(family: Family, offset: u32) -> bool {
    match family {
        Family::F4 => matches!(offset, 0x10..=0x24 | 0x30..=0x44),
        Family::L4 | Family::G4 => matches!(offset, 0x28..=0x40 | 0x48..=0x60),
        Family::H7 => matches!(offset, 0x7c..=0x9c | 0xd4..=0xf4),
    }
}

impl Chip {
    /// Tells of bits that were changed and have no model.
    pub(super) fn check_known(&mut self, at: usize, offset: u32, changed: u32) {
        let (slot, family) = (self.slots.at(at), self.rcc.family());
        let unit = slot.unit;
        if changed == 0 || unit == Unit::Rcc && is_gate(family, offset) {
            return;
        }
        // Both banks of an H7 have the same registers, and its RCC has some twice.
        let offset = match unit {
            Unit::Flash if family == Family::H7 => offset & 0xff,
            Unit::Rcc => real_offset(family, offset),
            _ => offset,
        };
        let Some(name) = name(slot) else { return };
        let found = key(name, family, offset).and_then(|key| {
            let found = REGISTERS.binary_search_by_key(&key, |(key, _)| *key);
            found.ok().map(|place| &REGISTERS[place].1)
        });
        let bits = changed & !found.map_or(0, |register| register.known);
        if bits != 0 {
            let unit = slot.entry.name;
            self.remark(match found {
                Some(register) => format!("bits {bits:#x} of {unit} {} are not modeled", register.name),
                None => format!("{unit}, register {offset:#x}, is not modeled"),
            });
        }
    }
}

/// The registers of a peripheral in which some bits have no model, and those bits.
#[cfg(test)]
pub(super) fn unlisted(family: Family, slot: &Slot) -> Vec<(u32, u32)> {
    let listed = REGISTERS
        .iter()
        .filter(|(key, register)| Some(register.unit) == name(slot) && *key >> 16 & 0xff == family as u32);
    let bits = listed.map(|(key, register)| (key & 0xffff, !register.known));
    bits.filter(|(_, bits)| *bits != 0).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn what_does_no_harm_is_listed_with_its_reason() {
        let mut reasons: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for pair in REGISTERS.windows(2) {
            assert!(pair[0].0 < pair[1].0, "twice: {} {}", pair[0].1.unit, pair[0].1.name);
        }
        for (_, register) in REGISTERS.iter().filter(|(_, register)| !register.why.is_empty()) {
            let name = format!("{} {}", register.unit, register.name);
            reasons.entry(register.why).or_default().insert(name);
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
