//! The memory protection unit of the Cortex-M7, as far as it says what the data cache keeps. Who may access a region has no model: what would refuse an
//! access of privileged code is told.

use std::ops::Range;

use super::{Bus, Cpu, Notice};

const ENABLE: u32 = 1;
/// CTRL: what is in no region is as without the unit.
const PRIVDEFENA: u32 = 1 << 2;
/// RBAR: the number of the region is in the lowest four bits.
const VALID: u32 = 1 << 4;
/// RASR: parts of the region that do not belong to it, who may access it, and nothing is executed there.
const SRD: u32 = 0xff << 8;
const AP: u32 = 7 << 24;
const ALL_MAY: u32 = 3 << 24;
const XN: u32 = 1 << 28;
/// RASR: S, C and B, and the bit of TEX with which C and B are the policy of the cache in the core: nothing is kept if both are 0.
const S: u32 = 1 << 18;
const C: u32 = 1 << 17;
const B: u32 = 1 << 16;
const TEX_2: u32 = 1 << 21;
/// Nothing of the image is executed from here on.
const DATA: u32 = 0x2000_0000;

#[derive(Default, Hash)]
pub(super) struct Mpu {
    control: u32,
    number: u32,
    /// RBAR and RASR of each.
    regions: [(u32, u32); 16],
}

impl Mpu {
    pub(super) fn read(&self, offset: u32) -> u32 {
        let (base, attributes) = self.regions[self.number as usize];
        match offset {
            0x0 => 16 << 8,
            0x4 => self.control,
            0x8 => self.number,
            0xc | 0x14 | 0x1c | 0x24 => base | self.number,
            0x10 | 0x18 | 0x20 | 0x28 => attributes,
            _ => 0,
        }
    }

    fn write(&mut self, offset: u32, value: u32) {
        match offset {
            0x4 => self.control = value & 7,
            0x8 => self.number = value & 0xf,
            0xc | 0x14 | 0x1c | 0x24 => {
                if value & VALID != 0 {
                    self.number = value & 0xf;
                }
                self.regions[self.number as usize].0 = value & !0x1f;
            }
            0x10 | 0x18 | 0x20 | 0x28 => self.regions[self.number as usize].1 = value,
            _ => {}
        }
    }

    fn in_force(&self) -> impl Iterator<Item = (u32, u32)> {
        let all = self.regions.iter().filter(|_| self.control & ENABLE != 0);
        all.copied().filter(|(_, attributes)| attributes & ENABLE != 0)
    }

    /// The regions, and whether the data cache keeps what is there. A Cortex-M7 keeps nothing that is shareable.
    pub(super) fn regions(&self) -> impl Iterator<Item = (Range<u32>, bool)> {
        self.in_force().map(|(base, attributes)| {
            let last = u32::MAX >> (31 - (attributes >> 1 & 31));
            let is_cacheable = attributes & C != 0 || attributes & (TEX_2 | B) == TEX_2 | B;
            let range = base & !last..(base | last).saturating_add(1);
            (range, is_cacheable && attributes & S == 0)
        })
    }

    /// What of this has no model.
    fn unmodeled(&self) -> Option<(&'static str, u32)> {
        if self.control & (ENABLE | PRIVDEFENA) == ENABLE {
            return Some(("MPU_CTRL", PRIVDEFENA));
        }
        let bits = self.in_force().map(|(base, attributes)| {
            let refused = if attributes & AP == ALL_MAY { 0 } else { AP };
            let never = if base < DATA { attributes & XN } else { 0 };
            // Write-through: RAM has what the core writes at once.
            let through = if attributes & (C | B) == C { C } else { 0 };
            attributes & SRD | refused | never | through
        });
        let bits = bits.fold(0, |all, bits| all | bits);
        (bits != 0).then_some(("MPU_RASR", bits))
    }
}

impl<B: Bus> Cpu<B> {
    pub(super) fn write_mpu(&mut self, offset: u32, value: u32) {
        self.mpu.write(offset, value);
        if let Some((register, bits)) = self.mpu.unmodeled() {
            self.notice(Notice::Unmodeled { register, bits });
        }
        self.memory.set_regions(self.mpu.regions());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::boards::find;
    use crate::image::Image;
    use crate::world::{Board, BoardOptions};

    const CCR: u32 = 0xe000_ed14;
    const DATA_CACHE: u32 = 1 << 16;
    const RAM: u32 = 0x2400_0000;
    const LINES: u32 = 64;

    /// A board of a kind whose code is a branch to itself, after writes to registers.
    fn board(name: &str, writes: &[(u32, u32)]) -> Board {
        let mut flash = 0x2400_1000u32.to_le_bytes().to_vec();
        flash.extend(0x0800_0009u32.to_le_bytes());
        flash.extend([0xfe, 0xe7]);
        let kind = find(name).expect("a board");
        let mut board = Board::new(&Arc::new(Image::from_bytes(flash)), BoardOptions::of(kind));
        for (register, value) in writes {
            board.cpu.write_register(*register, *value).expect("a register");
        }
        board
    }

    /// Of so many words that the core writes, how many DMA reads as they are, after the core has done something to each line.
    fn sent(writes: &[(u32, u32)], maintenance: Option<u32>) -> usize {
        let mut board = board("nucleo-h743zi", writes);
        let words = (0..LINES).map(|line| RAM + line * 32);
        for (number, word) in words.clone().enumerate() {
            board.cpu.store_word(word, 0x5555_0000 | number as u32).expect("RAM");
            if let Some(register) = maintenance {
                board.cpu.write_register(register, word).expect("a register");
            }
        }
        assert_eq!(board.remarks(), []);
        let read = words
            .enumerate()
            .map(|(number, word)| board.cpu.memory.dma_load(word, 4) == Some(0x5555_0000 | number as u32));
        read.filter(|is_right| *is_right).count()
    }

    #[test]
    fn what_dma_sends_must_be_cleaned_or_uncached() {
        const DCIMVAC: u32 = 0xe000_ef5c;
        const DCCMVAC: u32 = 0xe000_ef68;
        const RBAR: u32 = 0xe000_ed9c;
        const RASR: u32 = 0xe000_eda0;
        const CTRL: u32 = 0xe000_ed94;
        let all = LINES as usize;
        let on = (CCR, DATA_CACHE);
        assert_eq!(sent(&[], None), all);
        assert!((1..all).contains(&sent(&[on], None)));
        assert_eq!(sent(&[on], Some(DCCMVAC)), all);
        assert_eq!(sent(&[on], Some(DCIMVAC)), 0, "that is lost");
        // 64 KiB that everyone may access: normal memory, not cacheable; cacheable and shareable; cacheable, in two ways; not cacheable in the core.
        for (attributes, is_uncached) in [
            (0x0308_001f, true),
            (0x0307_001f, true),
            (0x0303_001f, false),
            (0x0321_001f, false),
            (0x0320_001f, true),
        ] {
            let regions = [(RBAR, RAM | 0x10), (RASR, attributes), (CTRL, 5), on];
            assert_eq!(sent(&regions, None) == all, is_uncached, "{attributes:x}");
        }
    }

    #[test]
    fn protection_is_not_modeled() {
        // Read only; nothing but the regions; nothing executed in the flash; a part left out; write-through.
        for (base, attributes, control) in [
            (RAM, 0x0603_001f, 5),
            (RAM, 0x0303_001f, 1),
            (0x0800_0000, 0x1303_001f, 5),
            (RAM, 0x0303_011f, 5),
            (RAM, 0x0302_001f, 5),
        ] {
            let writes = [
                (0xe000_ed9c, base | 0x10),
                (0xe000_eda0, attributes),
                (0xe000_ed94, control),
            ];
            let told = board("nucleo-h743zi", &writes);
            assert_ne!(told.remarks(), [], "{attributes:x}");
        }
        assert_ne!(board("nucleo-f446re", &[(0xe000_ed94, 5)]).remarks(), []);
    }
}
