//! The chips that there are: `chips.txt` lists the peripherals, pins and DMA requests of all.

mod f4;
mod h743;
mod kinds;
mod l4_g4;
mod listed;

use super::dma::Request;
use super::dma::dmamux::Requests;
use super::gpio::Pins;
use super::map::MapEntry;
use super::parts::{Individual, Parts};
use super::pins::UartPins;
use crate::cpu::FlashReading;
use crate::memory::MemorySizes;

use listed::{LISTED, Listed};

/// The chips that can be emulated.
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
    /// The name that ST gives it.
    pub name: &'static str,
    /// DBGMCU_IDCODE.
    pub id_code: u32,
    /// Flash and RAM.
    pub memory: MemorySizes,
    /// How its flash is read.
    pub flash_reading: FlashReading,
    /// How its pins are after a reset.
    pub(crate) pins: Pins,
    /// What can be read of the system memory.
    pub system: SystemMemory,
    /// Makes the parts that differ by family.
    pub(super) parts: fn(&Individual) -> Parts,
}

/// What can be read of the system memory.
pub struct SystemMemory {
    /// First address, last address, and the word that is read there.
    pub constants: &'static [(u32, u32, u32)],
    /// Where the number is that is unique to each chip.
    pub unique_id: u32,
    /// Where the size of the flash in KiB is, a halfword.
    pub flash_size: u32,
}

impl Description {
    /// Where a peripheral is.
    pub fn entry(&self, name: &str) -> Option<&'static MapEntry> {
        self.map().iter().find(|entry| entry.name == name)
    }

    fn listed(&self) -> &'static Listed {
        &LISTED[self.name.trim_start_matches("STM32")]
    }

    /// Peripherals by address.
    pub fn map(&self) -> &'static [MapEntry] {
        &self.listed().map
    }

    /// What the pins can be to the serial ports.
    pub fn functions(&self) -> &'static [UartPins] {
        &self.listed().functions
    }

    /// Which DMA streams or channels the serial ports can ask, where no multiplexer lets them ask any.
    pub(crate) fn requests(&self) -> &'static [Request] {
        &self.listed().requests
    }

    /// Their requests at the multiplexer, where there is one.
    pub(super) fn mux(&self) -> Requests {
        &self.listed().mux
    }
}

impl Model {
    /// Every chip, by name.
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
            Model::F401 => &f4::F401,
            Model::F405 => &f4::F405,
            Model::F411 => &f4::F411,
            Model::F446 => &f4::F446,
            Model::G474 => &l4_g4::G474,
            Model::H743 => &h743::CHIP,
            Model::L476 => &l4_g4::L476,
        }
    }

    /// The memories of the chip.
    pub fn memory(self) -> MemorySizes {
        self.description().memory
    }
}

#[cfg(test)]
mod tests {
    use super::super::clocks::Hse;
    use super::super::parts::PowerControl;
    use super::super::tests::individual;
    use super::*;

    const ODEN: u32 = 1 << 16;
    const ODSWEN: u32 = 1 << 17;

    fn power(model: Model) -> Box<dyn PowerControl> {
        (model.description().parts)(&individual(Hse::Absent)).power
    }

    #[test]
    fn scale_and_over_drive_decide_the_limit_of_an_f4() {
        for (chip, scale, over_drive, megahertz) in [
            (Model::F446, 3, ODEN | ODSWEN, 180),
            (Model::F446, 3, ODEN, 168),
            (Model::F446, 3, 0, 168),
            (Model::F446, 2, ODEN | ODSWEN, 168),
            (Model::F446, 2, 0, 144),
            (Model::F446, 1, 0, 120),
            (Model::F405, 1, 0, 168),
            (Model::F405, 0, 0, 144),
            (Model::F405, 1, ODEN | ODSWEN, 168),
            (Model::F411, 3, 0, 100),
            (Model::F411, 2, 0, 84),
            (Model::F411, 1, 0, 64),
            (Model::F401, 3, 0, 84),
            (Model::F401, 2, 0, 84),
            (Model::F401, 1, 0, 60),
        ] {
            let mut power = power(chip);
            power.write(0, scale << 14 | over_drive, 0);
            let hclk = power.limits().hclk;
            assert_eq!(hclk, megahertz * 1_000_000, "{chip:?} {scale} {over_drive:x}");
        }
    }

    #[test]
    fn each_f4_begins_with_a_scale_of_its_own() {
        let begin = [
            (Model::F446, 168),
            (Model::F405, 168),
            (Model::F411, 84),
            (Model::F401, 84),
        ];
        for (chip, megahertz) in begin {
            assert_eq!(power(chip).limits().hclk, megahertz * 1_000_000, "{chip:?}");
        }
    }
}
