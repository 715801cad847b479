//! What each operation does to registers, flags and memory: the pseudocode of manual chapter A7.

mod data;
mod dsp;
mod float;
mod memory;
mod system;

use super::arithmetic::shift_with_carry;
use super::fault::Fault;
use super::instruction::{Op, SetFlags, Width};
use super::{Bus, Cpu};

impl SetFlags {
    #[inline(always)]
    fn applies(self, in_it_block: bool) -> bool {
        match self {
            SetFlags::No => false,
            SetFlags::Yes => true,
            SetFlags::OutsideIt => !in_it_block,
        }
    }
}

impl<B: Bus> Cpu<B> {
    /// Executes one operation. The frequent ones are here, so that the compiler makes one jump table of them.
    #[inline(always)]
    pub(super) fn execute(&mut self, op: &Op, in_it_block: bool) -> Result<(), Fault> {
        match *op {
            Op::MoveImmediate { set, rd, value } => {
                if set.applies(in_it_block) {
                    self.set_nz(value);
                }
                self.set_r(rd, value);
            }
            Op::Move { rd, rm } => {
                let value = self.r(rm);
                self.set_or_jump(rd, value);
            }
            Op::Add { rd, rn, rm } => {
                let value = self.r(rn).wrapping_add(self.r(rm));
                self.set_or_jump(rd, value);
            }
            Op::AddOffset { rd, rn, offset } => {
                let value = self.r(rn).wrapping_add(offset as u32);
                self.set_r(rd, value);
            }
            Op::Immediate {
                alu,
                set,
                rd,
                rn,
                carry,
                value,
            } => {
                self.data_immediate(alu, set.applies(in_it_block), rd, rn, carry, value);
            }
            Op::Register { alu, set, rd, rn, m } => {
                self.data_register(alu, set.applies(in_it_block), rd, rn, m);
            }
            Op::Load(at) => return self.load_indexed(at),
            Op::Store(at) => return self.store_indexed(at),
            Op::LoadWord { rt, rn, offset } => {
                let value = self.load(self.r(rn).wrapping_add(offset as u32), Width::Word)?;
                self.set_r(rt, value);
            }
            Op::LoadByte { rt, rn, offset } => {
                let value = self.load(self.r(rn).wrapping_add(offset as u32), Width::Byte)?;
                self.set_r(rt, value);
            }
            Op::StoreWord { rt, rn, offset } => {
                return self.store(self.r(rn).wrapping_add(offset as u32), Width::Word, self.r(rt));
            }
            Op::StoreByte { rt, rn, offset } => {
                return self.store(self.r(rn).wrapping_add(offset as u32), Width::Byte, self.r(rt));
            }
            Op::CompareImmediate { rn, value } => _ = self.sum_flags(self.r(rn), !value, true),
            Op::CompareRegister { rn, rm } => _ = self.sum_flags(self.r(rn), !self.r(rm), true),
            Op::CompareImmediateBranch {
                rn,
                condition,
                value,
                to,
            } => {
                self.sum_flags(self.r(rn), !value, true);
                self.branch_after_comparison(in_it_block, condition, to);
            }
            Op::CompareRegisterBranch { rn, rm, condition, to } => {
                self.sum_flags(self.r(rn), !self.r(rm), true);
                self.branch_after_comparison(in_it_block, condition, to);
            }
            Op::SumRegister { set, rd, rn, rm } => {
                self.sum(set.applies(in_it_block), rd, self.r(rn), self.r(rm), false);
            }
            Op::LoadByteRegister { rt, rn, rm } => {
                let value = self.load(self.r(rn).wrapping_add(self.r(rm)), Width::Byte)?;
                self.set_r(rt, value);
            }
            Op::StoreByteRegister { rt, rn, rm } => {
                return self.store(self.r(rn).wrapping_add(self.r(rm)), Width::Byte, self.r(rt));
            }
            Op::SumImmediate {
                set,
                rd,
                rn,
                carry,
                value,
            } => self.sum(set.applies(in_it_block), rd, self.r(rn), value, carry),
            Op::ShiftImmediate { set, rd, m } => {
                let (value, carry) = shift_with_carry(self.r(m.rm), m.shift, u32::from(m.amount), self.c);
                self.logical(set.applies(in_it_block), rd, value, carry);
            }
            Op::Masked { rd, rm, mask } => self.set_r(rd, self.r(rm) & mask),
            Op::BitFieldExtract {
                signed,
                rd,
                rn,
                lsb,
                width,
            } => self.bit_field_extract(signed, rd, rn, lsb, width),
            Op::LoadRegister(at) => {
                let value = self.load(self.summed(at), at.width)?;
                return self.set_loaded(at.rt, value);
            }
            Op::StoreRegister(at) => return self.store(self.summed(at), at.width, self.r(at.rt)),
            Op::LoadLiteral { width, rt, address } => {
                let value = self.load(address, width)?;
                return self.set_loaded(rt, value);
            }
            Op::LoadMultiple(listed) => return self.load_multiple(listed),
            Op::StoreMultiple(listed) => return self.store_multiple(listed),
            Op::Branch { to } => self.jump(to),
            Op::BranchIf { condition, to } => {
                if self.condition(condition) {
                    self.jump(to);
                }
            }
            Op::BranchLink { to } => {
                self.r[14] = self.next | 1;
                self.jump(to);
            }
            Op::BranchExchange { rm } => {
                let target = self.r(rm);
                return self.branch_exchange(target);
            }
            Op::BranchLinkExchange { rm } => {
                let target = self.r(rm);
                self.r[14] = self.next | 1;
                return self.branch_exchange(target);
            }
            Op::CompareBranch { nonzero, rn, to } => {
                if (self.r(rn) != 0) == nonzero {
                    self.jump(to);
                }
            }
            Op::IfThen { state } => self.it = state,
            Op::MoveTop { rd, value } => self.set_r(rd, self.r(rd) & 0xffff | u32::from(value) << 16),
            Op::MultiplyAdd { subtract, of } => {
                let product = self.r(of.rn).wrapping_mul(self.r(of.rm));
                let product = if subtract { product.wrapping_neg() } else { product };
                self.set_r(of.rd, self.r(of.ra).wrapping_add(product));
            }
            Op::Nop => {}
            ref other => return self.execute_rest(other, in_it_block),
        }
        Ok(())
    }

    #[inline(never)]
    fn execute_rest(&mut self, op: &Op, in_it_block: bool) -> Result<(), Fault> {
        match *op {
            Op::ShiftByRegister { shift, set, rd, rn, rm } => {
                self.shift_by_register(shift, set.applies(in_it_block), rd, rn, rm);
            }
            Op::BitFieldInsert { rd, rn, lsb, width } => self.bit_field_insert(rd, self.r(rn), lsb, width),
            Op::BitFieldClear { rd, lsb, width } => self.bit_field_insert(rd, 0, lsb, width),
            Op::Saturate { signed, bits, rd, n } => self.saturate_shifted(signed, bits, rd, n),
            Op::SaturatePair { signed, bits, rd, rn } => self.saturate_pair(signed, bits, rd, rn),
            Op::Extend {
                extend,
                rd,
                rn,
                rm,
                rotate,
            } => self.extend(extend, rd, rn, rm, rotate),
            Op::Reorder { reorder, rd, rm } => self.reorder(reorder, rd, rm),
            Op::Multiply { set, rd, rn, rm } => {
                let value = self.r(rn).wrapping_mul(self.r(rm));
                if set.applies(in_it_block) {
                    self.set_nz(value);
                }
                self.set_r(rd, value);
            }
            Op::MultiplyLong { signed, accumulate, of } => self.multiply_long(signed, accumulate, of),
            Op::Divide { signed, rd, rn, rm } => return self.divide(signed, rd, rn, rm),
            Op::Dsp(ref dsp) => self.execute_dsp(dsp),
            Op::Float(ref float) => {
                self.begin_float()?;
                return self.execute_float(float);
            }
            Op::Dual {
                load,
                rt,
                rt2,
                rn,
                index,
                offset,
            } => return self.dual(load, (rt, rt2), rn, index, offset),
            Op::LoadExclusive { width, rt, rn, offset } => return self.load_exclusive(width, rt, rn, offset),
            Op::StoreExclusive {
                width,
                rd,
                rt,
                rn,
                offset,
            } => return self.store_exclusive(width, rd, rt, rn, offset),
            Op::ClearExclusive => self.exclusive = None,
            Op::TableBranch { half, rn, rm } => return self.table_branch(half, rn, rm),
            ref system => return self.execute_system(system),
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn r(&self, register: u8) -> u32 {
        self.r[register as usize & 15]
    }

    /// Writes a register that is not the program counter.
    #[inline(always)]
    fn set_r(&mut self, register: u8, value: u32) {
        self.r[register as usize & 15] = if register == 13 { value & !3 } else { value };
    }

    /// ALUWritePC of the manual if the register is the program counter.
    #[inline(always)]
    fn set_or_jump(&mut self, register: u8, value: u32) {
        if register == 15 {
            self.jump(value & !1);
        } else {
            self.set_r(register, value);
        }
    }

    #[inline(always)]
    fn set_nz(&mut self, value: u32) {
        self.n = value >> 31 != 0;
        self.z = value == 0;
    }

    /// BXWritePC of the manual: a code address with the Thumb bit, or an exception return.
    #[inline(always)]
    pub(super) fn branch_exchange(&mut self, target: u32) -> Result<(), Fault> {
        if target >= 0xf000_0000 && self.exception != 0 {
            return self.return_from_exception(target);
        }
        if target & 1 == 0 {
            // The next instruction will fail for it.
            self.scs.thumb = false;
            self.deadline = 0;
        }
        self.jump(target & !1);
        Ok(())
    }
}
