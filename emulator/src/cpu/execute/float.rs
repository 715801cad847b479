//! The floating-point extension: moves, loads and stores here, arithmetic in [`rounding`](crate::cpu::rounding).

use crate::cpu::fault::Fault;
use crate::cpu::instruction::{Float, Moved, Singles};
use crate::cpu::rounding::{self, Status};
use crate::cpu::{Bus, Cpu};

const SIGN: u32 = 0x8000_0000;

impl<B: Bus> Cpu<B> {
    fn s(&self, register: u8) -> u32 {
        self.s[register as usize & 31]
    }

    fn set_s(&mut self, register: u8, value: u32) {
        self.s[register as usize & 31] = value;
    }

    /// Computes with the modes of FPSCR and collects its exception flags.
    fn compute(&mut self, d: u8, function: impl FnOnce(&mut Status) -> u32) {
        let mut status = Status::new(self.fpscr);
        let value = function(&mut status);
        self.fpscr |= status.raised;
        self.set_s(d, value);
    }

    pub(super) fn execute_float(&mut self, op: &Float) -> Result<(), Fault> {
        match *op {
            Float::Add(of) => self.binary(of, rounding::add),
            Float::Subtract(of) => self.binary(of, rounding::subtract),
            Float::Divide(of) => self.binary(of, rounding::divide),
            Float::Multiply { negate: false, of } => self.binary(of, rounding::multiply),
            Float::Multiply { negate: true, of } => {
                self.binary(of, |n, m, status| rounding::multiply(n, m, status) ^ SIGN);
            }
            Float::MultiplyAdd { negated, of } => {
                let (addend, n, m) = (self.s(of.d), self.s(of.n), self.s(of.m));
                self.compute(of.d, |status| {
                    // VNMLA negates addend and product, VNMLS the addend alone.
                    let product = rounding::multiply(n, m, status);
                    rounding::add(
                        negate_if(negated.addend, addend),
                        negate_if(negated.product, product),
                        status,
                    )
                });
            }
            Float::FusedMultiplyAdd { negated, of } => {
                let (addend, n, m) = (self.s(of.d), self.s(of.n), self.s(of.m));
                let (addend, n) = (negate_if(negated.addend, addend), negate_if(negated.product, n));
                self.compute(of.d, |status| rounding::fused_multiply_add(addend, n, m, status));
            }
            Float::SquareRoot { d, m } => {
                let m = self.s(m);
                self.compute(d, |status| rounding::square_root(m, status));
            }
            Float::Half { widen, top, d, m } => self.convert_half(widen, top, d, m),
            Float::Compare {
                with_zero,
                signal_quiet,
                d,
                m,
            } => {
                let (a, b) = (self.s(d), if with_zero { 0 } else { self.s(m) });
                let mut status = Status::new(self.fpscr);
                let flags = rounding::compare(a, b, signal_quiet, &mut status);
                self.fpscr = (self.fpscr | status.raised) & 0x0fff_ffff | flags << 28;
            }
            Float::FromInteger { signed, d, m } => {
                let bits = self.s(m);
                let value = if signed {
                    f64::from(bits as i32)
                } else {
                    f64::from(bits)
                };
                self.compute(d, |status| rounding::from_exact(value, status));
            }
            Float::ToInteger {
                signed,
                toward_zero,
                d,
                m,
            } => {
                let value = self.s(m);
                self.compute(d, |status| rounding::to_integer(value, signed, toward_zero, status));
            }
            Float::FromFixed(of) => {
                let value = rounding::fixed_value(self.s(of.d), of.signed, of.wide, of.fraction);
                self.compute(of.d, |status| rounding::from_fixed(value, status));
            }
            Float::ToFixed(of) => {
                let value = self.s(of.d);
                self.compute(of.d, |status| {
                    rounding::to_fixed(value, of.signed, of.wide, of.fraction, status)
                });
            }
            ref other => return self.move_float(other),
        }
        Ok(())
    }

    fn binary(&mut self, of: Singles, function: fn(u32, u32, &mut Status) -> u32) {
        let (n, m) = (self.s(of.n), self.s(of.m));
        self.compute(of.d, |status| function(n, m, status));
    }

    fn convert_half(&mut self, widen: bool, top: bool, d: u8, m: u8) {
        let (source, target, shift) = (self.s(m), self.s(d), if top { 16 } else { 0 });
        self.compute(d, |status| {
            if widen {
                rounding::widen((source >> shift) as u16, status)
            } else {
                target & !(0xffff << shift) | u32::from(rounding::narrow(source, status)) << shift
            }
        });
    }

    fn move_float(&mut self, op: &Float) -> Result<(), Fault> {
        match *op {
            Float::Immediate { d, value } => self.set_s(d, expand(value)),
            Float::Move { d, m } => self.set_s(d, self.s(m)),
            Float::Absolute { d, m } => self.set_s(d, self.s(m) & !SIGN),
            Float::Negate { d, m } => self.set_s(d, self.s(m) ^ SIGN),
            Float::ToCore { rt, s } => self.set_r(rt, self.s(s)),
            Float::FromCore { rt, s } => self.set_s(s, self.r(rt)),
            Float::PairToCore { rt, rt2, s } => {
                self.set_r(rt, self.s(s));
                self.set_r(rt2, self.s(s + 1));
            }
            Float::PairFromCore { rt, rt2, s } => {
                self.set_s(s, self.r(rt));
                self.set_s(s + 1, self.r(rt2));
            }
            Float::ReadStatus { rt: 15 } => self.set_condition_flags(self.fpscr),
            Float::ReadStatus { rt } => self.set_r(rt, self.fpscr),
            Float::WriteStatus { rt } => self.fpscr = self.r(rt) & 0xf7c0_009f,
            Float::Transfer { of, add, offset } => {
                let address = self.float_address(of.rn, add, offset);
                return self.transfer_floats(of, address);
            }
            Float::Multiple {
                of,
                step,
                decrement,
                write_back,
            } => {
                let (address, base) = self.span(of.rn, step.into(), decrement);
                self.transfer_floats(of, address)?;
                if write_back {
                    self.set_r(of.rn, base);
                }
            }
            _ => return Err(Fault::Undefined),
        }
        Ok(())
    }

    fn float_address(&self, rn: u8, add: bool, offset: u8) -> u32 {
        let base = if rn == 15 { self.r[15] & !3 } else { self.r(rn) };
        let offset = u32::from(offset) * 4;
        if add {
            base.wrapping_add(offset)
        } else {
            base.wrapping_sub(offset)
        }
    }

    fn transfer_floats(&mut self, of: Moved, address: u32) -> Result<(), Fault> {
        for place in 0..of.words {
            let address = address.wrapping_add(u32::from(place) * 4);
            if of.load {
                let value = self.load_word(address)?;
                self.set_s(of.s + place, value);
            } else {
                self.store_word(address, self.s(of.s + place))?;
            }
        }
        Ok(())
    }
}

fn negate_if(is_negated: bool, value: u32) -> u32 {
    if is_negated { value ^ SIGN } else { value }
}

/// VFPExpandImm: sign, an exponent of three bits, four bits of mantissa.
fn expand(value: u8) -> u32 {
    let value = u32::from(value);
    let exponent = if value & 0x40 != 0 { 0x3e00_0000 } else { 0x4000_0000 };
    (value & 0x80) << 24 | exponent | (value & 0x3f) << 19
}
