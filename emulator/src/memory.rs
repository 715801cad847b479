//! Flash and RAM of one board.
//!
//! The flash of all boards that run one image is that image; a board gets a copy of its own of a sector when it is
//! programmed or erased. The largest piece of the image without such a sector is read without asking.

use std::ops::Range;
use std::sync::Arc;

use crate::cpu::decode::decode;
use crate::cpu::instruction::{Decoded, Op};
use crate::data_cache::{DataCache, Maintenance};
use crate::hash::mix;
use crate::image::Image;
use crate::interrupted_flash_op::InterruptedFlashOp;

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
    /// Where RAM begins: [`SRAM`] on most.
    pub sram_base: u32,
    /// Bytes of RAM.
    pub sram: usize,
    /// Where the core-coupled memory begins: [`CCM`] on most. Below RAM.
    pub ccm_base: u32,
    /// Core-coupled memory, or what there is besides; 0 if there is none.
    pub ccm: usize,
    /// Whether DMA reaches it.
    pub dma_reaches_ccm: bool,
    /// Whether RAM is corrected in words of 64 bits: what writes less than one is kept beside it until another is written to.
    pub corrects_ram: bool,
}

/// What is left of a piece without a part, on the side where more is left.
fn larger_part(whole: &Range<usize>, without: Range<usize>) -> Range<usize> {
    let before = whole.start..whole.end.min(without.start);
    let after = whole.start.max(without.end)..whole.end;
    if before.len() >= after.len() { before } else { after }
}

/// Flash and RAM of one board.
pub struct Memory {
    sizes: MemorySizes,
    image: Arc<Image>,
    /// Sectors that differ from the image.
    own: Vec<Option<Box<[u8]>>>,
    /// The instructions of such sectors, once one of them was executed since the last change.
    own_code: Vec<Option<Box<[Decoded]>>>,
    /// The largest piece of the image, in bytes from the beginning of the flash, that no sector of our own replaces.
    shared: Range<usize>,
    /// Offsets into the flash that can no longer be programmed.
    worn_out: Vec<u32>,
    /// What the flash is doing, or was until it did something else.
    interrupted: Vec<InterruptedFlashOp>,
    /// RAM; DMA reaches it too.
    pub sram: Vec<u8>,
    /// Core-coupled memory.
    pub ccm: Vec<u8>,
    /// Places of the flash whose programming or erase was cut off: their error correction tells so.
    torn: Vec<Range<u32>>,
    /// On a Cortex-M7, while it is on.
    cache: Option<Box<DataCache>>,
    /// The word of RAM that was last written in part, by its offset, and what it holds until another is.
    unwritten: Option<(usize, [u8; 8])>,
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
            shared: 0..image.bytes().len(),
            image,
            own: vec![None; sizes.sectors.len()],
            own_code: (0..sizes.sectors.len()).map(|_| None).collect(),
            worn_out: Vec::new(),
            interrupted: Vec::new(),
            sram: vec![0; sizes.sram],
            ccm: vec![0; sizes.ccm],
            torn: Vec::new(),
            cache: None,
            unwritten: None,
        }
    }

    /// Where RAM begins.
    pub fn sram_base(&self) -> u32 {
        self.sizes.sram_base
    }

    /// The image it was made with.
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// The instructions of the image that this board still shares with it, one for every halfword from the beginning of the flash.
    pub(crate) fn shared_code(&self) -> Range<usize> {
        // The last halfword may be half of an instruction that ends in another sector.
        self.shared.start / 2..(self.shared.end / 2).saturating_sub(1)
    }

    /// A word of the vector table at reset, which is at the beginning of the flash.
    pub(crate) fn boot_word(&self, offset: u32) -> u32 {
        self.word(FLASH + offset).unwrap_or(0)
    }

    /// Four bytes of the part of the flash that is shared with the image.
    #[inline(always)]
    pub(crate) fn shared_word(&self, address: u32) -> Option<u32> {
        let offset = address.wrapping_sub(FLASH) as usize;
        if offset < self.shared.start || offset + 4 > self.shared.end {
            return None;
        }
        word_at(self.image.bytes(), offset)
    }

    #[inline(always)]
    pub(crate) fn sram_word(&self, address: u32) -> Option<u32> {
        word_at(&self.sram, address.wrapping_sub(self.sizes.sram_base) as usize)
    }

    /// Four bytes of any memory.
    pub(crate) fn word(&self, address: u32) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(address, 4)?.try_into().ok()?))
    }

    /// Two bytes of any memory.
    pub(crate) fn half(&self, address: u32) -> Option<u16> {
        let bytes = [self.byte(address)?, self.byte(address.checked_add(1)?)?];
        Some(u16::from_le_bytes(bytes))
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
        if address >= self.sizes.sram_base {
            return self.sram.get((address - self.sizes.sram_base) as usize).copied();
        }
        if address >= self.sizes.ccm_base {
            return self.ccm.get((address - self.sizes.ccm_base) as usize).copied();
        }
        self.flash_byte(if address >= FLASH { address - FLASH } else { address })
    }

    /// The byte of RAM at an address.
    pub fn ram_byte_mut(&mut self, address: u32) -> Option<&mut u8> {
        if address >= self.sizes.sram_base {
            return self.sram_byte_mut(address);
        }
        self.ccm_byte_mut(address)
    }

    fn ccm_byte_mut(&mut self, address: u32) -> Option<&mut u8> {
        self.ccm.get_mut(address.checked_sub(self.sizes.ccm_base)? as usize)
    }

    /// What DMA reads at an address, in the order of memory; `None` where it does not reach.
    pub(crate) fn dma_load(&mut self, address: u32, bytes: u32) -> Option<u32> {
        let in_ccm = (self.sizes.ccm_base..self.sizes.sram_base).contains(&address);
        if in_ccm && !self.sizes.dma_reaches_ccm {
            return None;
        }
        (0..bytes).rev().try_fold(0, |word, place| {
            let address = address.wrapping_add(place);
            let byte = match &mut self.cache {
                Some(cache) if address >= self.sizes.sram_base => {
                    cache.dma_load((address - self.sizes.sram_base) as usize, &mut self.sram)
                }
                _ => self.byte(address),
            };
            Some(word << 8 | u32::from(byte?))
        })
    }

    /// The data cache goes on or off. What is in it when it goes off is lost.
    pub(crate) fn switch_data_cache(&mut self, on: bool) {
        if let Some(cache) = self.cache.take_if(|_| !on) {
            self.sram.copy_from_slice(cache.behind());
        }
        if on && self.cache.is_none() {
            self.cache = Some(Box::new(DataCache::new(&self.sram)));
        }
    }

    /// Regions, and whether the data cache, if it is on, keeps what is there from now on.
    pub(crate) fn set_regions(&mut self, regions: impl Iterator<Item = (Range<u32>, bool)>) {
        let base = self.sizes.sram_base;
        let offset = |address: u32| address.saturating_sub(base) as usize;
        if let Some(cache) = &mut self.cache {
            let regions = regions.map(|(range, is_cached)| (offset(range.start)..offset(range.end), is_cached));
            cache.regions = regions.collect();
        }
    }

    /// Maintains the data cache by an address, or by set and way.
    pub(crate) fn maintain_data_cache(&mut self, what: Maintenance, by_address: bool, value: u32) {
        let offset = value.wrapping_sub(self.sizes.sram_base) as usize;
        match &mut self.cache {
            Some(cache) if by_address => cache.maintain(what, offset, &mut self.sram),
            Some(cache) => cache.maintain_set(what, value, &mut self.sram),
            None => {}
        }
    }

    /// DMA writes to RAM; `None` where it does not reach.
    pub(crate) fn dma_store(&mut self, address: u32, bytes: u32, value: u32) -> Option<()> {
        for place in 0..bytes {
            let address = address.wrapping_add(place);
            if let (Some(cache), Some(offset)) = (&mut self.cache, address.checked_sub(self.sizes.sram_base)) {
                cache.dma_store(offset as usize, (value >> (8 * place)) as u8, &mut self.sram)?;
                continue;
            }
            let byte = if self.sizes.dma_reaches_ccm && address < self.sizes.sram_base {
                self.ccm_byte_mut(address)
            } else {
                self.sram_byte_mut(address)
            };
            *byte? = (value >> (8 * place)) as u8;
        }
        Some(())
    }

    /// Says that some of the flash was being changed when a reset cut that off.
    pub(crate) fn tear(&mut self, place: Range<u32>) {
        self.torn.push(place);
    }

    /// Whether reading an address is an error of the flash.
    pub(crate) fn is_torn(&self, address: u32) -> bool {
        self.torn.iter().any(|place| place.contains(&address))
    }

    /// The byte at an address of the RAM that DMA reaches too.
    pub fn sram_byte_mut(&mut self, address: u32) -> Option<&mut u8> {
        self.sram.get_mut(address.wrapping_sub(self.sizes.sram_base) as usize)
    }

    #[inline(always)]
    pub(crate) fn sram_bytes_mut(&mut self, address: u32, length: u32) -> Option<&mut [u8]> {
        let offset = address.wrapping_sub(self.sizes.sram_base) as usize;
        if self.sizes.corrects_ram {
            self.keep_unwritten(offset & !7);
        }
        self.sram.get_mut(offset..offset.wrapping_add(length as usize))
    }

    #[inline(never)]
    fn keep_unwritten(&mut self, word: usize) {
        let is_other = self.unwritten.is_none_or(|(at, _)| at != word);
        // The address may be that of something else.
        if is_other && let Some(held) = self.sram.get(word..).and_then(|bytes| bytes.first_chunk()) {
            self.unwritten = Some((word, *held));
        }
    }

    /// A reset: what RAM was about to write, and what was in the data cache alone, is lost.
    pub(crate) fn lose_unwritten(&mut self) {
        self.switch_data_cache(false);
        if let Some((word, held)) = self.unwritten.take() {
            self.sram[word..word + 8].copy_from_slice(&held);
        }
    }

    /// Some consecutive bytes of any memory.
    pub fn bytes(&self, address: u32, length: usize) -> Option<Vec<u8>> {
        (0..length as u32)
            .map(|offset| self.byte(address.checked_add(offset)?))
            .collect()
    }

    /// The instruction at an address that is not in the shared part of the flash.
    pub(crate) fn instruction(&mut self, address: u32) -> Option<Decoded> {
        let own = self.sector_of(address.wrapping_sub(FLASH));
        let Some((sector, begin)) = own.filter(|(sector, _)| self.own[*sector].is_some()) else {
            return self.decoded(address);
        };
        if self.own_code[sector].is_none() {
            let all = self.sector_range(sector).step_by(2);
            self.own_code[sector] = all.map(|place| self.decoded(place)).collect();
        }
        let code = self.own_code[sector].as_ref()?;
        code.get(((address - FLASH - begin) / 2) as usize).copied()
    }

    fn decoded(&self, address: u32) -> Option<Decoded> {
        let first = self.half(address)?;
        let decoded = decode(address, first, self.half(address.checked_add(2)?).unwrap_or(0)).frequent();
        debug_assert!(decoded.length == 2 || decoded.length == 4);
        Some(decoded)
    }

    /// The bytes of a sector, of which those from an offset of the flash on are about to change.
    fn own_sector(&mut self, sector: usize, begin: u32, from: u32) -> &mut [u8] {
        let (size, image) = (self.sizes.sectors[sector] as usize, self.image.bytes());
        self.shared = larger_part(&self.shared, begin as usize..begin as usize + size);
        // The last instruction of the sector before may end in this one, but no further than in its first half word.
        let first = sector.saturating_sub(usize::from(from < begin + 2));
        self.own_code[first..=sector].fill_with(|| None);
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
        let written = address..address.saturating_add(bytes.len() as u32);
        self.torn.retain(|place| !written.contains(&place.start));
        for (place, byte) in bytes.iter().enumerate() {
            let offset = address.wrapping_sub(FLASH).wrapping_add(place as u32);
            let (sector, begin) = self.sector_of(offset).ok_or(NotFlash {
                address: FLASH.wrapping_add(offset),
            })?;
            self.own_sector(sector, begin, offset)[(offset - begin) as usize] = *byte;
        }
        Ok(())
    }

    /// Programs one byte: bits only go from 1 to 0.
    pub(crate) fn program_byte(&mut self, address: u32, byte: u8) -> Result<(), NotFlash> {
        let offset = address.wrapping_sub(FLASH);
        let (sector, begin) = self.sector_of(offset).ok_or(NotFlash { address })?;
        let byte = if self.worn_out.contains(&offset) { 0xff } else { byte };
        let place = &mut self.own_sector(sector, begin, offset)[(offset - begin) as usize];
        let before = std::mem::replace(place, *place & byte);
        self.interrupted
            .push(InterruptedFlashOp::new(offset, vec![before], false));
        Ok(())
    }

    /// A byte of the flash can no longer be programmed.
    pub(crate) fn wear_out(&mut self, address: u32) {
        self.worn_out.push(address.wrapping_sub(FLASH));
    }

    /// Erases a sector; there is nothing to do for one that does not exist.
    pub(crate) fn erase_sector(&mut self, sector: usize) {
        if sector < self.own.len() {
            let begin = self.sizes.sectors[..sector].iter().sum();
            let erased = self.sector_range(sector);
            self.torn
                .retain(|place| place.start < erased.start || place.end > erased.end);
            let bytes = self.own_sector(sector, begin, begin);
            let before = bytes.to_vec();
            bytes.fill(0xff);
            self.interrupted.push(InterruptedFlashOp::new(begin, before, true));
        }
    }

    /// What the flash was told to do is done.
    pub(crate) fn finish(&mut self) {
        self.interrupted.clear();
    }

    /// The power has failed before what the flash was told to do was done.
    pub(crate) fn tear_interrupted(&mut self, seed: u64) {
        for (place, interrupted) in (1..).zip(std::mem::take(&mut self.interrupted)) {
            let address = FLASH + interrupted.offset;
            let after = self.bytes(address, interrupted.before.len()).unwrap_or_default();
            let torn = interrupted.torn(&after, mix(seed ^ mix(place)));
            // It was changed before, so it is there.
            let _ = self.write_flash(address, &torn);
        }
    }

    pub(crate) fn sector_range(&self, sector: usize) -> std::ops::Range<u32> {
        let begin: u32 = FLASH + self.sizes.sectors.iter().take(sector).sum::<u32>();
        begin..begin + self.sizes.sectors.get(sector).copied().unwrap_or(0)
    }

    pub(crate) fn sectors(&self) -> usize {
        self.own.len()
    }

    pub(crate) fn data_cache(&self) -> Option<&DataCache> {
        self.cache.as_deref()
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no flash at {address:#010x}")]
pub struct NotFlash {
    /// The address that is not in the flash.
    pub address: u32,
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Model;

    fn only_flash(sectors: &'static [u32]) -> MemorySizes {
        MemorySizes {
            sectors,
            sram: 0,
            ..Model::F446.memory()
        }
    }

    #[test]
    fn a_board_reads_its_own_sectors_and_shares_the_rest() {
        const KIB: usize = 1024;
        let sizes = only_flash(&[1024, 1024, 1024, 4096]);
        let image = Arc::new(Image::from_bytes(vec![7; 6 * KIB]));
        let mut memory = Memory::new(sizes, image);
        assert_eq!(memory.shared_code(), 0..3 * KIB - 1);
        memory.write_flash(FLASH + 1024, &[1, 2, 3, 4]).unwrap();
        // More is left above the sector than below it.
        assert_eq!(memory.shared, 2 * KIB..6 * KIB);
        assert_eq!(memory.shared_word(FLASH + 1024), None);
        assert_eq!(memory.word(FLASH + 1024), Some(0x0403_0201));
        assert_eq!(memory.word(FLASH + 1020), Some(0x0707_0707));
        assert_eq!(memory.shared_word(FLASH + 2048), Some(0x0707_0707));
        memory.erase_sector(3);
        assert_eq!(memory.shared, 2 * KIB..3 * KIB);
        assert_eq!(memory.shared_word(FLASH + 3 * 1024 - 3), None);
        assert_eq!(memory.word(FLASH + 3 * 1024), Some(u32::MAX));
        // What a probe writes is whole again.
        memory.tear(FLASH + 1032..FLASH + 1040);
        memory.write_flash(FLASH + 1024, &[5; 16]).unwrap();
        assert!(!memory.is_torn(FLASH + 1032));
    }

    #[test]
    fn what_is_written_is_executed_at_once() {
        const NOP: [u8; 2] = [0x00, 0xbf];
        const WIDE_NOP: [u8; 4] = [0xaf, 0xf3, 0x00, 0x80];
        let mut memory = Memory::new(only_flash(&[1024, 1024]), Arc::new(Image::from_bytes(Vec::new())));
        let length = |memory: &mut Memory, place: u32| memory.instruction(FLASH + place).expect("flash").length;
        for place in [0, 1_022, 1_024] {
            memory.write_flash(FLASH + place, &NOP).unwrap();
            assert_eq!(length(&mut memory, place), 2);
        }
        // From one sector into the next, which alone is changed.
        memory.write_flash(FLASH + 1_022, &WIDE_NOP).unwrap();
        assert_eq!(length(&mut memory, 1_022), 4);
        let before = memory.instruction(FLASH + 1_022).expect("flash");
        memory.write_flash(FLASH + 1_024, &[0xff, 0xff]).unwrap();
        let after = memory.instruction(FLASH + 1_022).expect("flash");
        assert_ne!(format!("{:?}", before.op), format!("{:?}", after.op));
        memory.erase_sector(0);
        assert_eq!(memory.decoded(FLASH).expect("flash").length, length(&mut memory, 0));
    }
}
