//! Flash and RAM of one board.
//!
//! The flash of all boards that run one image is that image; a board gets a copy of its own of a sector when it is
//! programmed or erased. The part of the image below the first such sector is read without asking.

use crate::hash::mix;
use std::sync::Arc;

use crate::cpu::decode::decode;
use crate::cpu::instruction::{Decoded, Op};
use crate::image::Image;

pub use crate::image::FLASH;

/// Where RAM begins.
pub const SRAM: u32 = 0x2000_0000;
/// Where the core-coupled memory begins, on chips that have it.
pub const CCM: u32 = 0x1000_0000;

/// Sizes of a chip's memories in bytes.
#[derive(Clone, Copy, Debug)]
pub struct MemorySizes {
    /// The sectors of the flash in order.
    pub sectors: &'static [u32],
    /// RAM.
    pub sram: usize,
    /// Core-coupled memory; 0 if there is none.
    pub ccm: usize,
}

/// Flash and RAM of one board.
pub struct Memory {
    sizes: MemorySizes,
    image: Arc<Image>,
    /// Sectors that differ from the image.
    own: Vec<Option<Box<[u8]>>>,
    /// Bytes of the image from its beginning that no sector of our own replaces.
    shared: usize,
    /// RAM; DMA reaches it too.
    pub sram: Vec<u8>,
    /// Core-coupled memory.
    pub ccm: Vec<u8>,
}

impl Memory {
    /// RAM as it is after power-on: it holds anything, here by a seed.
    pub(crate) fn scramble(&mut self, seed: u64) {
        let mut state = seed;
        for bytes in self.sram.chunks_mut(8).chain(self.ccm.chunks_mut(8)) {
            state = mix(state.wrapping_add(1));
            let noise = state.to_le_bytes();
            bytes.copy_from_slice(&noise[..bytes.len()]);
        }
    }

    /// RAM full of zeros and the flash of `image`.
    pub fn new(sizes: MemorySizes, image: Arc<Image>) -> Self {
        Memory {
            sizes,
            shared: image.bytes().len(),
            image,
            own: vec![None; sizes.sectors.len()],
            sram: vec![0; sizes.sram],
            ccm: vec![0; sizes.ccm],
        }
    }

    /// The image it was made with.
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// The decoded instructions that this board still shares with the image.
    pub(crate) fn shared_code(&self) -> usize {
        // The last halfword may be half of an instruction that ends in another sector.
        (self.shared / 2).saturating_sub(1)
    }

    /// A word of the vector table at reset, which is at the beginning of the flash.
    pub(crate) fn boot_word(&self, offset: u32) -> u32 {
        self.flash_word(FLASH + offset).unwrap_or(0)
    }

    /// Four bytes of the part of the flash that is shared with the image.
    #[inline(always)]
    pub(crate) fn shared_word(&self, address: u32) -> Option<u32> {
        let offset = address.wrapping_sub(FLASH) as usize;
        if offset + 4 > self.shared {
            return None;
        }
        word_at(self.image.bytes(), offset)
    }

    /// Four bytes of RAM.
    #[inline(always)]
    pub(crate) fn sram_word(&self, address: u32) -> Option<u32> {
        word_at(&self.sram, address.wrapping_sub(SRAM) as usize)
    }

    fn flash_word(&self, address: u32) -> Option<u32> {
        let mut word = 0;
        for byte in 0..4 {
            word |= u32::from(self.flash_byte(address.wrapping_sub(FLASH).checked_add(byte)?)?) << (8 * byte);
        }
        Some(word)
    }

    /// Size of the whole flash.
    pub fn flash_size(&self) -> u32 {
        self.sizes.sectors.iter().sum()
    }

    /// The sector that holds an offset into the flash, and where the sector begins.
    fn sector_of(&self, offset: u32) -> Option<(usize, u32)> {
        let mut begin = 0;
        for (sector, size) in self.sizes.sectors.iter().enumerate() {
            if offset < begin + size {
                return Some((sector, begin));
            }
            begin += size;
        }
        None
    }

    fn flash_byte(&self, offset: u32) -> Option<u8> {
        let (sector, begin) = self.sector_of(offset)?;
        Some(match &self.own[sector] {
            Some(bytes) => bytes[(offset - begin) as usize],
            None => self.image.bytes().get(offset as usize).copied().unwrap_or(0xff),
        })
    }

    /// One byte of any memory; `None` if there is none at that address. Address 0 is an alias of the flash.
    pub fn byte(&self, address: u32) -> Option<u8> {
        match address {
            SRAM.. => self.sram.get((address - SRAM) as usize).copied(),
            CCM.. => self.ccm.get((address - CCM) as usize).copied(),
            FLASH.. => self.flash_byte(address - FLASH),
            _ => self.flash_byte(address),
        }
    }

    /// The byte of RAM at an address.
    pub fn ram_byte_mut(&mut self, address: u32) -> Option<&mut u8> {
        match address {
            SRAM.. => self.sram.get_mut((address - SRAM) as usize),
            CCM.. => self.ccm.get_mut((address - CCM) as usize),
            _ => None,
        }
    }

    /// Some consecutive bytes of any memory.
    pub fn bytes(&self, address: u32, length: usize) -> Option<Vec<u8>> {
        (0..length as u32)
            .map(|offset| self.byte(address.checked_add(offset)?))
            .collect()
    }

    /// The instruction at an address that is not in the shared part of the flash.
    pub(crate) fn instruction(&self, address: u32) -> Option<Decoded> {
        let half = |address: u32| {
            Some(u16::from_le_bytes([
                self.byte(address)?,
                self.byte(address.checked_add(1)?)?,
            ]))
        };
        let first = half(address)?;
        let decoded = decode(address, first, half(address.checked_add(2)?).unwrap_or(0));
        debug_assert!(decoded.length == 2 || decoded.length == 4);
        Some(decoded)
    }

    fn own_sector(&mut self, sector: usize, begin: u32) -> &mut [u8] {
        self.shared = self.shared.min(begin as usize);
        let (size, image) = (self.sizes.sectors[sector] as usize, self.image.bytes());
        self.own[sector].get_or_insert_with(|| {
            let mut bytes = vec![0xff; size].into_boxed_slice();
            let present = image.get(begin as usize..).unwrap_or(&[]);
            let present = &present[..present.len().min(size)];
            bytes[..present.len()].copy_from_slice(present);
            bytes
        })
    }

    /// Replaces bytes of the flash as a debug probe does.
    pub fn write_flash(&mut self, address: u32, bytes: &[u8]) -> Result<(), NotFlash> {
        for (place, byte) in bytes.iter().enumerate() {
            let offset = address.wrapping_sub(FLASH).wrapping_add(place as u32);
            let (sector, begin) = self.sector_of(offset).ok_or(NotFlash {
                address: FLASH.wrapping_add(offset),
            })?;
            self.own_sector(sector, begin)[(offset - begin) as usize] = *byte;
        }
        Ok(())
    }

    /// Programs one byte: bits only go from 1 to 0.
    pub(crate) fn program_byte(&mut self, address: u32, byte: u8) -> Result<(), NotFlash> {
        let offset = address.wrapping_sub(FLASH);
        let (sector, begin) = self.sector_of(offset).ok_or(NotFlash { address })?;
        self.own_sector(sector, begin)[(offset - begin) as usize] &= byte;
        Ok(())
    }

    /// Erases a sector; there is nothing to do for one that does not exist.
    pub(crate) fn erase_sector(&mut self, sector: usize) {
        if sector < self.own.len() {
            let begin = self.sizes.sectors[..sector].iter().sum();
            self.own_sector(sector, begin).fill(0xff);
        }
    }

    /// The addresses of a sector.
    pub(crate) fn sector_range(&self, sector: usize) -> std::ops::Range<u32> {
        let begin: u32 = FLASH + self.sizes.sectors.iter().take(sector).sum::<u32>();
        begin..begin + self.sizes.sectors.get(sector).copied().unwrap_or(0)
    }

    /// How many sectors the flash has.
    pub(crate) fn sectors(&self) -> usize {
        self.own.len()
    }

    /// The contents of everything that can change, in a fixed order, for a hash.
    pub(crate) fn changeable(&self) -> impl Iterator<Item = &[u8]> {
        self.own
            .iter()
            .flatten()
            .map(|sector| &sector[..])
            .chain([&self.sram[..], &self.ccm[..]])
    }
}

/// An address outside the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFlash {
    /// Which.
    pub address: u32,
}

impl std::fmt::Display for NotFlash {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "there is no flash at {:#010x}", self.address)
    }
}

impl std::error::Error for NotFlash {}

#[inline(always)]
fn word_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let bytes = bytes.get(offset..offset.wrapping_add(4))?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// What is executed where there is no instruction.
pub(crate) const NOTHING: Decoded = Decoded {
    op: Op::Undefined,
    length: 2,
    cycles: 1,
};
