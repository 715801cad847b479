//! Data processing, shifts, bit fields, saturation, multiplication and division.

use crate::cpu::arithmetic::{add_with_carry, saturate, shift_with_carry};
use crate::cpu::fault::Fault;
use crate::cpu::instruction::{Alu, Extend, LongProduct, Reorder, Shift, Shifted};
use crate::cpu::scs::DIV_0_TRP;
use crate::cpu::{Bus, Cpu};

impl<B: Bus> Cpu<B> {
    #[inline(always)]
    pub(super) fn data_immediate(&mut self, alu: Alu, set: bool, rd: u8, rn: u8, carry: Option<bool>, value: u32) {
        self.data(alu, set, rd, self.r(rn), value, carry.unwrap_or(self.c));
    }

    #[inline(always)]
    pub(super) fn data_register(&mut self, alu: Alu, set: bool, rd: u8, rn: u8, m: Shifted) {
        let (value, carry) = match m.amount {
            0 => (self.r(m.rm), self.c),
            amount => shift_with_carry(self.r(m.rm), m.shift, u32::from(amount), self.c),
        };
        self.data(alu, set, rd, self.r(rn), value, carry);
    }

    /// `carry` is what the shift of the second operand makes the carry flag.
    #[inline(always)]
    fn data(&mut self, alu: Alu, set: bool, rd: u8, a: u32, b: u32, carry: bool) {
        match alu {
            Alu::And => self.logical(set, rd, a & b, carry),
            Alu::Bic => self.logical(set, rd, a & !b, carry),
            Alu::Orr => self.logical(set, rd, a | b, carry),
            Alu::Orn => self.logical(set, rd, a | !b, carry),
            Alu::Eor => self.logical(set, rd, a ^ b, carry),
            Alu::Mov => self.logical(set, rd, b, carry),
            Alu::Mvn => self.logical(set, rd, !b, carry),
            Alu::Tst => self.logical_flags(a & b, carry),
            Alu::Teq => self.logical_flags(a ^ b, carry),
            Alu::Add => self.sum(set, rd, a, b, false),
            Alu::Adc => self.sum(set, rd, a, b, self.c),
            Alu::Sbc => self.sum(set, rd, a, !b, self.c),
            Alu::Sub => self.sum(set, rd, a, !b, true),
            Alu::Rsb => self.sum(set, rd, !a, b, true),
            Alu::Cmn => _ = self.sum_flags(a, b, false),
            Alu::Cmp => _ = self.sum_flags(a, !b, true),
        }
    }

    #[inline(always)]
    fn logical_flags(&mut self, value: u32, carry: bool) {
        self.set_nz(value);
        self.c = carry;
    }

    #[inline(always)]
    pub(super) fn logical(&mut self, set: bool, rd: u8, value: u32, carry: bool) {
        if set {
            self.logical_flags(value, carry);
        }
        self.set_r(rd, value);
    }

    #[inline(always)]
    pub(super) fn sum_flags(&mut self, a: u32, b: u32, carry: bool) -> u32 {
        let (value, carry, overflow) = add_with_carry(a, b, carry);
        self.set_nz(value);
        (self.c, self.v) = (carry, overflow);
        value
    }

    #[inline(always)]
    pub(super) fn sum(&mut self, set: bool, rd: u8, a: u32, b: u32, carry: bool) {
        let value = if set {
            self.sum_flags(a, b, carry)
        } else {
            add_with_carry(a, b, carry).0
        };
        self.set_r(rd, value);
    }

    pub(super) fn shift_by_register(&mut self, shift: Shift, set: bool, rd: u8, rn: u8, rm: u8) {
        let (value, carry) = shift_with_carry(self.r(rn), shift, self.r(rm) & 0xff, self.c);
        self.logical(set, rd, value, carry);
    }

    pub(super) fn bit_field_insert(&mut self, rd: u8, source: u32, lsb: u8, width: u8) {
        let mask = (u32::MAX >> (32 - width)) << lsb;
        self.set_r(rd, self.r(rd) & !mask | source << lsb & mask);
    }

    #[inline(always)]
    pub(super) fn bit_field_extract(&mut self, signed: bool, rd: u8, rn: u8, lsb: u8, width: u8) {
        let left = self.r(rn) << (32 - lsb - width);
        let value = if signed {
            (left as i32 >> (32 - width)) as u32
        } else {
            left >> (32 - width)
        };
        self.set_r(rd, value);
    }

    pub(super) fn saturate_shifted(&mut self, signed: bool, bits: u8, rd: u8, n: Shifted) {
        let (value, _) = shift_with_carry(self.r(n.rm), n.shift, u32::from(n.amount), self.c);
        let (value, saturated) = saturate(i64::from(value as i32), u32::from(bits), signed);
        self.q |= saturated;
        self.set_r(rd, value);
    }

    pub(super) fn saturate_pair(&mut self, signed: bool, bits: u8, rd: u8, rn: u8) {
        let value = self.r(rn);
        let (low, first) = saturate(i64::from(value as i16), u32::from(bits), signed);
        let (high, second) = saturate(i64::from((value >> 16) as i16), u32::from(bits), signed);
        self.q |= first | second;
        self.set_r(rd, high << 16 | low & 0xffff);
    }

    pub(super) fn extend(&mut self, extend: Extend, rd: u8, rn: u8, rm: u8, rotate: u8) {
        let value = self.r(rm).rotate_right(u32::from(rotate));
        let base = if rn == 15 { 0 } else { self.r(rn) };
        let pair = |low: u32, high: u32| base.wrapping_add(low) & 0xffff | (base >> 16).wrapping_add(high) << 16;
        let result = match extend {
            Extend::SignedHalf => base.wrapping_add(value as i16 as u32),
            Extend::Half => base.wrapping_add(value & 0xffff),
            Extend::SignedByte => base.wrapping_add(value as i8 as u32),
            Extend::Byte => base.wrapping_add(value & 0xff),
            Extend::SignedBytePair => pair(value as i8 as u32, (value >> 16) as i8 as u32),
            Extend::BytePair => pair(value & 0xff, value >> 16 & 0xff),
        };
        self.set_r(rd, result);
    }

    pub(super) fn reorder(&mut self, reorder: Reorder, rd: u8, rm: u8) {
        let value = self.r(rm);
        let result = match reorder {
            Reorder::Bytes => value.swap_bytes(),
            Reorder::BytesOfHalves => value.swap_bytes().rotate_left(16),
            Reorder::Bits => value.reverse_bits(),
            Reorder::SignedHalf => (value as u16).swap_bytes() as i16 as u32,
            Reorder::LeadingZeros => value.leading_zeros(),
        };
        self.set_r(rd, result);
    }

    pub(super) fn multiply_long(&mut self, signed: bool, accumulate: bool, of: LongProduct) {
        let product = if signed {
            (i64::from(self.r(of.rn) as i32) * i64::from(self.r(of.rm) as i32)) as u64
        } else {
            u64::from(self.r(of.rn)) * u64::from(self.r(of.rm))
        };
        let addend = if accumulate { self.pair(of) } else { 0 };
        self.set_pair(of, product.wrapping_add(addend));
    }

    pub(super) fn pair(&self, of: LongProduct) -> u64 {
        u64::from(self.r(of.hi)) << 32 | u64::from(self.r(of.lo))
    }

    pub(super) fn set_pair(&mut self, of: LongProduct, value: u64) {
        self.set_r(of.lo, value as u32);
        self.set_r(of.hi, (value >> 32) as u32);
    }

    pub(super) fn divide(&mut self, signed: bool, rd: u8, rn: u8, rm: u8) -> Result<(), Fault> {
        let (dividend, divisor) = (self.r(rn), self.r(rm));
        let quotient = match divisor {
            0 if self.scs.ccr & DIV_0_TRP != 0 => return Err(Fault::DivideByZero),
            0 => 0,
            _ if signed => (dividend as i32).wrapping_div(divisor as i32) as u32,
            _ => dividend / divisor,
        };
        self.set_r(rd, quotient);
        Ok(())
    }
}
