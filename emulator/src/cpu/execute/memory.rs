//! Loads, stores and table branches.

use crate::cpu::fault::Fault;
use crate::cpu::instruction::{Index, Indexed, Listed, Summed, Width};
use crate::cpu::{Bus, Cpu};

impl<B: Bus> Cpu<B> {
    /// Writes a loaded value; to the program counter that is a jump.
    #[inline(always)]
    pub(super) fn set_loaded(&mut self, rt: u8, value: u32) -> Result<(), Fault> {
        if rt == 15 {
            return self.branch_exchange(value);
        }
        self.set_r(rt, value);
        Ok(())
    }

    /// The address to access and what the base register becomes.
    #[inline(always)]
    fn indexed(&self, rn: u8, index: Index, offset: i32) -> (u32, Option<u32>) {
        let base = self.r(rn);
        let moved = base.wrapping_add(offset as u32);
        match index {
            Index::Offset => (moved, None),
            Index::Pre => (moved, Some(moved)),
            Index::Post => (base, Some(moved)),
        }
    }

    #[inline(always)]
    pub(super) fn load_indexed(&mut self, at: Indexed) -> Result<(), Fault> {
        let (address, base) = self.indexed(at.rn, at.index, at.offset);
        let value = self.load(address, at.width)?;
        if let Some(base) = base {
            self.set_r(at.rn, base);
        }
        self.set_loaded(at.rt, value)
    }

    #[inline(always)]
    pub(super) fn store_indexed(&mut self, at: Indexed) -> Result<(), Fault> {
        let (address, base) = self.indexed(at.rn, at.index, at.offset);
        self.store(address, at.width, self.r(at.rt))?;
        if let Some(base) = base {
            self.set_r(at.rn, base);
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn summed(&self, at: Summed) -> u32 {
        self.r(at.rn).wrapping_add(self.r(at.rm) << at.shift)
    }

    pub(super) fn dual(
        &mut self,
        load: bool,
        (rt, rt2): (u8, u8),
        rn: u8,
        index: Index,
        offset: i16,
    ) -> Result<(), Fault> {
        let (address, base) = self.indexed(rn, index, i32::from(offset));
        let loaded = if load {
            // Relative to the program counter means relative to it rounded down to a word.
            let address = if rn == 15 { address & !3 } else { address };
            Some((self.load_word(address)?, self.load_word(address.wrapping_add(4))?))
        } else {
            self.store_word(address, self.r(rt))?;
            self.store_word(address.wrapping_add(4), self.r(rt2))?;
            None
        };
        if let Some(base) = base {
            self.set_r(rn, base);
        }
        if let Some((first, second)) = loaded {
            self.set_r(rt, first);
            self.set_r(rt2, second);
        }
        Ok(())
    }

    /// The lowest address of consecutive words, and what the base register becomes.
    #[inline(always)]
    pub(super) fn span(&self, rn: u8, words: u32, decrement: bool) -> (u32, u32) {
        let (base, size) = (self.r(rn), words * 4);
        if decrement {
            (base.wrapping_sub(size), base.wrapping_sub(size))
        } else {
            (base, base.wrapping_add(size))
        }
    }

    #[inline(always)]
    pub(super) fn load_multiple(&mut self, listed: Listed) -> Result<(), Fault> {
        let Listed { rn, list, .. } = listed;
        let (mut address, base) = self.span(rn, list.count_ones(), listed.decrement);
        let mut loaded = self.r;
        let mut rest = list;
        while rest != 0 {
            loaded[rest.trailing_zeros() as usize & 15] = self.load_word(address)?;
            address = address.wrapping_add(4);
            rest &= rest - 1;
        }
        let target = loaded[15];
        self.r[..15].copy_from_slice(&loaded[..15]);
        if listed.write_back && list >> rn & 1 == 0 {
            self.set_r(rn, base);
        }
        if list >> 15 != 0 {
            self.branch_exchange(target)
        } else {
            Ok(())
        }
    }

    #[inline(always)]
    pub(super) fn store_multiple(&mut self, listed: Listed) -> Result<(), Fault> {
        let Listed { rn, list, .. } = listed;
        let (mut address, base) = self.span(rn, list.count_ones(), listed.decrement);
        let mut rest = list;
        while rest != 0 {
            self.store_word(address, self.r[rest.trailing_zeros() as usize & 15])?;
            address = address.wrapping_add(4);
            rest &= rest - 1;
        }
        if listed.write_back {
            self.set_r(rn, base);
        }
        Ok(())
    }

    pub(super) fn load_exclusive(&mut self, width: Width, rt: u8, rn: u8, offset: u16) -> Result<(), Fault> {
        let address = self.r(rn).wrapping_add(u32::from(offset));
        self.check_exclusive(address, width)?;
        let value = self.load(address, width)?;
        self.exclusive = Some(address);
        self.set_r(rt, value);
        Ok(())
    }

    /// One core alone: the store succeeds if nothing has cleared the mark, whatever address that was for. That is how
    /// a Cortex-M4 without a global monitor does it.
    pub(super) fn store_exclusive(&mut self, width: Width, rd: u8, rt: u8, rn: u8, offset: u16) -> Result<(), Fault> {
        let address = self.r(rn).wrapping_add(u32::from(offset));
        self.check_exclusive(address, width)?;
        if self.exclusive.is_some() {
            self.store(address, width, self.r(rt))?;
        }
        let failed = self.exclusive.take().is_none();
        self.set_r(rd, u32::from(failed));
        Ok(())
    }

    fn check_exclusive(&self, address: u32, width: Width) -> Result<(), Fault> {
        if address & (width.bytes() - 1) != 0 {
            return Err(Fault::Unaligned(address));
        }
        Ok(())
    }

    pub(super) fn table_branch(&mut self, half: bool, rn: u8, rm: u8) -> Result<(), Fault> {
        let (base, index) = (self.r(rn), self.r(rm));
        let width = if half { Width::Half } else { Width::Byte };
        let entry = self.load(base.wrapping_add(index << u32::from(half)), width)?;
        self.jump(self.r[15].wrapping_add(entry * 2));
        Ok(())
    }
}
