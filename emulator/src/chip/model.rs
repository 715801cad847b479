//! The chips that there are.

use crate::memory::MemorySizes;

/// Which chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// 512 KiB flash, 128 KiB RAM, up to 180 MHz: the Nucleo-F446RE.
    F446,
    /// 1 MiB flash, 128 KiB RAM and 64 KiB core-coupled memory, up to 168 MHz.
    F405,
}

impl Model {
    /// The memories of the chip.
    pub fn memory(self) -> MemorySizes {
        const K: u32 = 1024;
        match self {
            Model::F446 => MemorySizes {
                sectors: &[16 * K, 16 * K, 16 * K, 16 * K, 64 * K, 128 * K, 128 * K, 128 * K],
                sram: 128 * 1024,
                ccm: 0,
            },
            Model::F405 => MemorySizes {
                sectors: &[
                    16 * K,
                    16 * K,
                    16 * K,
                    16 * K,
                    64 * K,
                    128 * K,
                    128 * K,
                    128 * K,
                    128 * K,
                    128 * K,
                    128 * K,
                    128 * K,
                ],
                sram: 128 * 1024,
                ccm: 64 * 1024,
            },
        }
    }

    /// DBGMCU_IDCODE.
    pub(super) fn id_code(self) -> u32 {
        match self {
            Model::F446 => 0x1000_6421,
            Model::F405 => 0x100f_6413,
        }
    }

    pub(super) fn has_overdrive(self) -> bool {
        self == Model::F446
    }
}
