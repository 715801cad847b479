//! Reads a board's log as a debug probe does: SEGGER's real-time transfer, from the board's memory.
//!
//! The control block begins with the text `SEGGER RTT`, then the numbers of up and down channels, then for each up
//! channel six words: name, buffer, size, write offset, read offset, flags.

use crate::memory::Memory;

const MARK: &[u8; 10] = b"SEGGER RTT";
const CHANNEL: usize = 24;
const BLOCKING: u32 = 2;

#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Rtt {
    block: u32,
    /// Whether the mode has been set.
    attached: bool,
}

impl Rtt {
    pub(crate) fn new(block: u32) -> Self {
        Rtt { block, attached: false }
    }

    /// After a reset the firmware makes a new block.
    pub(crate) fn detach(&mut self) {
        self.attached = false;
    }

    /// Takes all that was written since the last call. The first time it asks the firmware to wait for room instead of
    /// throwing away.
    pub(crate) fn read(&mut self, memory: &mut Memory) -> Option<Vec<u8>> {
        let base = memory.sram_base();
        let ram = &mut memory.sram;
        let block = self.block.checked_sub(base)? as usize;
        if ram.get(block..block + MARK.len())? != MARK {
            return None;
        }
        let channel = block + CHANNEL;
        let words = ram.get(channel..channel + 24)?;
        let word = |place: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| words[place * 4 + byte]));
        let (buffer, size, written, read, flags) = (word(1), word(2), word(3), word(4), word(5));
        if !self.attached {
            self.attached = true;
            ram[channel + 20..channel + 24].copy_from_slice(&(flags & !3 | BLOCKING).to_le_bytes());
        }
        if written == read || written >= size || read >= size {
            return None;
        }
        let begin = buffer.checked_sub(base)? as usize;
        let ring = ram.get(begin..begin + size as usize)?;
        let (written, read) = (written as usize, read as usize);
        let bytes = if written > read {
            ring[read..written].to_vec()
        } else {
            [&ring[read..], &ring[..written]].concat()
        };
        ram[channel + 16..channel + 20].copy_from_slice(&(written as u32).to_le_bytes());
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chip::Model;
    use crate::image::Image;
    use crate::memory::SRAM;

    #[test]
    fn the_ring_is_read_across_its_end_and_the_mode_set_once() {
        let mut memory = Memory::new(Model::F446.memory(), Arc::new(Image::from_bytes(vec![0; 8])));
        let words = [0, SRAM + 100, 8, 6, 6, 0u32];
        memory.sram[..10].copy_from_slice(MARK);
        for (place, word) in words.into_iter().enumerate() {
            memory.sram[24 + place * 4..28 + place * 4].copy_from_slice(&word.to_le_bytes());
        }
        let mut rtt = Rtt::new(SRAM);
        assert_eq!(rtt.read(&mut memory), None);
        assert_eq!(memory.sram[44], 2);
        memory.sram[100..108].copy_from_slice(b"cdefghab");
        memory.sram[36] = 3;
        assert_eq!(rtt.read(&mut memory).as_deref(), Some(&b"abcde"[..]));
        assert_eq!(memory.sram[40], 3);
        assert_eq!(rtt.read(&mut memory), None);
    }

    #[test]
    fn nonsense_in_memory_is_no_log() {
        let mut memory = Memory::new(Model::F446.memory(), Arc::new(Image::from_bytes(vec![0; 8])));
        for value in 0..=255 {
            memory.sram[10..64].fill(value);
            memory.sram[..10].copy_from_slice(MARK);
            assert_eq!(Rtt::new(SRAM).read(&mut memory), None);
        }
        for address in [0x0800_0000, u32::MAX] {
            assert_eq!(Rtt::new(address).read(&mut memory), None);
        }
    }
}
