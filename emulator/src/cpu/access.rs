//! Loads and stores: from the address to the memory, the register or the bit that it means.

use super::fault::Fault;
use super::instruction::Width;
use super::nvic::NMI;
use super::scs::{BFARVALID, BFHFNMIGN, PRECISERR, UNALIGN_TRP};
use super::{Bus, Cpu, Notice};

/// The private peripheral bus: registers of the core itself.
const SYSTEM: std::ops::RangeInclusive<u32> = 0xe000_0000..=0xe003_ffff;

impl Width {
    #[inline(always)]
    pub(super) fn bytes(self) -> u32 {
        match self {
            Width::Byte | Width::SignedByte => 1,
            Width::Half | Width::SignedHalf => 2,
            Width::Word => 4,
        }
    }

    /// Shifted up and down again: the same for all, so that the processor has no jump to guess.
    #[inline(always)]
    fn extend(self, word: u32) -> u32 {
        let unused = 32 - 8 * self.bytes();
        let left = word << unused;
        if matches!(self, Width::SignedByte | Width::SignedHalf) {
            (left as i32 >> unused) as u32
        } else {
            left >> unused
        }
    }
}

/// The byte and the bit that a bit-band address stands for: each bit of the first megabyte of RAM and of the peripherals
/// has a word of its own.
fn bit_band(address: u32) -> Option<(u32, u32)> {
    let base = match address {
        0x2200_0000..=0x23ff_ffff => 0x2000_0000,
        0x4200_0000..=0x43ff_ffff => 0x4000_0000,
        _ => return None,
    };
    let bit = (address & 0x1ff_ffff) >> 2;
    Some((base + (bit >> 3), bit & 7))
}

impl<B: Bus> Cpu<B> {
    #[inline(always)]
    pub(super) fn load(&mut self, address: u32, width: Width) -> Result<u32, Fault> {
        let bytes = width.bytes();
        if address & (bytes - 1) == 0 || self.scs.ccr & UNALIGN_TRP == 0 {
            if let Some(word) = self.memory.sram_word(address) {
                return Ok(width.extend(word));
            }
            if let Some(word) = self.memory.shared_word(address) {
                self.wait_for_data(address);
                return Ok(width.extend(word));
            }
        }
        self.load_elsewhere(address, bytes).map(|word| width.extend(word))
    }

    #[inline(always)]
    fn wait_for_data(&mut self, address: u32) {
        let (wait, is_stale) = self.art.load(address);
        self.now += wait;
        if is_stale {
            self.notice(Notice::StaleData(address));
        }
    }

    /// The flash cannot correct what it reads.
    fn meet_torn_flash(&mut self, address: u32) -> Result<(), Fault> {
        if self.bus.meets_torn_flash(address) {
            return self.data_bus_fault(address);
        }
        self.nvic.pend(NMI, true);
        self.deadline = 0;
        Ok(())
    }

    /// Nothing answers as it should. Software whose priority is that of a fault handler, or above, can have that told by the status
    /// registers only (BFHFNMIGN): it goes on then, with anything.
    fn data_bus_fault(&mut self, address: u32) -> Result<(), Fault> {
        if self.scs.ccr & BFHFNMIGN == 0 || self.execution_priority() > -1 {
            return Err(Fault::DataBus(address));
        }
        self.scs.cfsr |= PRECISERR | BFARVALID;
        self.scs.bfar = address;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn load_word(&mut self, address: u32) -> Result<u32, Fault> {
        if address & 3 != 0 {
            return Err(Fault::Unaligned(address));
        }
        self.load(address, Width::Word)
    }

    #[inline(always)]
    pub(super) fn store(&mut self, address: u32, width: Width, value: u32) -> Result<(), Fault> {
        let bytes = width.bytes();
        if (address & (bytes - 1) == 0 || self.scs.ccr & UNALIGN_TRP == 0)
            && let Some(place) = self.memory.sram_bytes_mut(address, bytes)
        {
            match place {
                [a, b, c, d] => [*a, *b, *c, *d] = value.to_le_bytes(),
                [a, b] => [*a, *b] = (value as u16).to_le_bytes(),
                place => place[0] = value as u8,
            }
            return Ok(());
        }
        self.store_elsewhere(address, bytes, value)
    }

    #[inline(always)]
    pub(super) fn store_word(&mut self, address: u32, value: u32) -> Result<(), Fault> {
        if address & 3 != 0 {
            return Err(Fault::Unaligned(address));
        }
        self.store(address, Width::Word, value)
    }

    /// What a word of the core's or the chip's registers reads as, with what reading it does.
    pub fn read_register(&mut self, address: u32) -> Option<u32> {
        self.load_elsewhere(address, 4).ok()
    }

    /// Writes a word to a register of the core's or the chip's, with what writing it does.
    pub fn write_register(&mut self, address: u32, value: u32) -> Option<()> {
        self.store_elsewhere(address, 4, value).ok()
    }

    fn check_alignment(&self, address: u32, bytes: u32) -> Result<(), Fault> {
        if address & (bytes - 1) != 0 && self.scs.ccr & UNALIGN_TRP != 0 {
            return Err(Fault::Unaligned(address));
        }
        Ok(())
    }

    #[inline(never)]
    fn load_elsewhere(&mut self, address: u32, bytes: u32) -> Result<u32, Fault> {
        self.check_alignment(address, bytes)?;
        if let Some(content) = self.memory.bytes(address, bytes as usize) {
            self.wait_for_data(address);
            if self.memory.is_torn(address) {
                self.meet_torn_flash(address)?;
            }
            return Ok(content.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
        }
        if let Some((byte, bit)) = bit_band(address) {
            return Ok(self.load_elsewhere(byte, 1)? >> bit & 1);
        }
        if address & (bytes - 1) != 0 {
            return Err(Fault::Unaligned(address));
        }
        if SYSTEM.contains(&address) {
            self.deadline = 0;
            return Ok(self.read_system(address) >> (8 * (address & 3)));
        }
        let word = self.bus.read(address, bytes, self.now, &mut self.memory);
        // A read comes after what was written before.
        self.nvic.settle();
        self.bus.done_at(self.r[15].wrapping_sub(4));
        if self.bus.wants_poll() {
            self.deadline = 0;
        }
        match word {
            Some(word) => Ok(word),
            None => self.data_bus_fault(address).map(|()| 0),
        }
    }

    #[inline(never)]
    fn store_elsewhere(&mut self, address: u32, bytes: u32, value: u32) -> Result<(), Fault> {
        self.check_alignment(address, bytes)?;
        if (0..bytes).all(|place| self.memory.ram_byte_mut(address.wrapping_add(place)).is_some()) {
            for place in 0..bytes {
                if let Some(byte) = self.memory.ram_byte_mut(address.wrapping_add(place)) {
                    *byte = (value >> (8 * place)) as u8;
                }
            }
            return Ok(());
        }
        if let Some((byte, bit)) = bit_band(address) {
            let content = self.load(byte, Width::Byte)?;
            return self.store(byte, Width::Byte, content & !(1 << bit) | (value & 1) << bit);
        }
        if address & (bytes - 1) != 0 {
            return Err(Fault::Unaligned(address));
        }
        self.deadline = 0;
        if SYSTEM.contains(&address) {
            self.write_system(address, bytes, value);
            return Ok(());
        }
        if self.now >= self.stalled_until {
            self.memory.finish();
        }
        if self
            .bus
            .write(address, bytes, value, self.now, &mut self.memory)
            .is_none()
        {
            self.data_bus_fault(address)?;
        }
        self.bus.done_at(self.r[15].wrapping_sub(4));
        self.art.configure(self.bus.flash_access());
        if let Some(changed) = self.bus.take_flash_change() {
            self.art.flash_changed(&changed);
        }
        let stall = self.bus.take_stall();
        if stall > 0 {
            self.stalled_until = self.stalled_until.max(self.now) + stall;
            self.next_look = 0;
        }
        Ok(())
    }
}
