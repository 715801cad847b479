//! The chips that there are. Each is a file of data.

mod f4;
mod f401;
mod f405;
mod f411;
mod f446;
mod g474;
mod h743;
mod l476;
mod newer;

use super::i2c::Port;
use super::map::{Kind, Place};
use super::peripheral::Parts;
use super::pins::Function;
use super::{Individual, calendar, exti};
use crate::cpu::FlashReading;
use crate::memory::MemorySizes;

/// Which chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// STM32F401xE: 512 KiB flash, 96 KiB RAM, up to 84 MHz.
    F401,
    /// STM32F405xG: 1 MiB flash, 128 KiB RAM and 64 KiB core-coupled memory, up to 168 MHz.
    F405,
    /// STM32F411xE: 512 KiB flash, 128 KiB RAM, up to 100 MHz.
    F411,
    /// STM32F446xE: 512 KiB flash, 128 KiB RAM, up to 180 MHz.
    F446,
    /// STM32G474xE: 512 KiB flash in two banks, 128 KiB RAM, up to 170 MHz.
    G474,
    /// STM32H743xI: a Cortex-M7 with 2 MiB flash in two banks, 512 KiB RAM, up to 400 MHz.
    H743,
    /// STM32L476xG: 1 MiB flash in two banks, 96 KiB RAM and 32 KiB more, up to 80 MHz.
    L476,
}

/// All that is known of a chip.
pub struct Description {
    /// Its name.
    pub name: &'static str,
    /// DBGMCU_IDCODE.
    pub id_code: u32,
    /// Its memories.
    pub memory: MemorySizes,
    /// How its flash is read.
    pub flash_reading: FlashReading,
    /// Peripherals by address.
    pub places: &'static [Place],
    /// What the pins can be to the serial ports.
    pub functions: &'static [Function],
    /// Words of the system memory that can be read: first address, last address, what they are. The unique number and the
    /// size of the flash come from elsewhere.
    pub constants: &'static [(u32, u32, u32)],
    /// Where the number is that is unique to each chip.
    pub unique_id: u32,
    /// Where the size of the flash in KiB is, a halfword.
    pub flash_size: u32,
    /// Makes the parts that differ by family.
    pub parts: fn(&Individual) -> Parts,
}

impl Description {
    /// Where the registers of its RTC are.
    pub(super) fn calendar(&self) -> calendar::Layout {
        let found = self.places.iter().find_map(|place| match place.kind {
            Kind::Calendar(layout) => Some(layout),
            _ => None,
        });
        found.unwrap_or(calendar::Layout::Older)
    }

    /// Where those of its EXTI are.
    pub(super) fn exti(&self) -> exti::Layout {
        let found = self.places.iter().find_map(|place| match place.kind {
            Kind::Exti(layout) => Some(layout),
            _ => None,
        });
        found.unwrap_or(exti::Layout::MaskFirst)
    }

    /// Its I2C ports, in the order of their places.
    pub(super) fn i2c(&self) -> Vec<Box<dyn Port>> {
        let ports = self.places.iter().filter_map(|place| place.i2c());
        ports.map(|(registers, _)| registers.port()).collect()
    }

    /// Where a peripheral is.
    pub fn place(&self, name: &str) -> Option<&'static Place> {
        self.places.iter().find(|place| place.name == name)
    }
}

pub(super) use f4::{APB1, APB2};
pub(crate) use f4::{F4, Request};

impl Model {
    /// The chips.
    pub const ALL: [Model; 7] = [
        Model::F401,
        Model::F405,
        Model::F411,
        Model::F446,
        Model::G474,
        Model::H743,
        Model::L476,
    ];

    /// All that is known of it.
    pub fn description(self) -> &'static Description {
        match self {
            Model::F401 => &f401::CHIP,
            Model::F405 => &f405::CHIP,
            Model::F411 => &f411::CHIP,
            Model::F446 => &f446::CHIP,
            Model::G474 => &g474::CHIP,
            Model::H743 => &h743::CHIP,
            Model::L476 => &l476::CHIP,
        }
    }

    /// The memories of the chip.
    pub fn memory(self) -> MemorySizes {
        self.description().memory
    }
}

/// The facts of a chip, if it is an F4.
#[cfg(test)]
pub(crate) fn facts(model: Model) -> Option<&'static F4> {
    let all = [
        (Model::F401, &f401::FACTS),
        (Model::F405, &f405::FACTS),
        (Model::F411, &f411::FACTS),
        (Model::F446, &f446::FACTS),
    ];
    all.into_iter().find(|(of, _)| *of == model).map(|(_, facts)| facts)
}
