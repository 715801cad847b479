//! The arithmetic functions of the manual's pseudocode: sections A2.2.1, A5.3.2 and A7.4.2.

use super::instruction::Shift;

/// AddWithCarry: sum, carry and overflow.
#[inline(always)]
pub(super) fn add_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry as u32);
    (sum, first | second, (a ^ sum) & (b ^ sum) & 0x8000_0000 != 0)
}

/// ThumbExpandImm_C: the value of a 12-bit modified immediate, and what the carry flag becomes, unless it stays.
pub(super) fn expand_immediate(bits: u32) -> (u32, Option<bool>) {
    let byte = bits & 0xff;
    match bits >> 8 {
        0 => (byte, None),
        1 => (byte << 16 | byte, None),
        2 => (byte << 24 | byte << 8, None),
        3 => (byte * 0x0101_0101, None),
        _ => {
            let value = (0x80 | bits & 0x7f).rotate_right(bits >> 7);
            (value, Some(value >> 31 == 1))
        }
    }
}

/// Shift_C: `amount` may be anything from 0 to 255.
#[inline(always)]
pub(super) fn shift_with_carry(value: u32, shift: Shift, amount: u32, carry: bool) -> (u32, bool) {
    if amount == 0 {
        return (value, carry);
    }
    match shift {
        Shift::Lsl if amount < 32 => (value << amount, value >> (32 - amount) & 1 != 0),
        Shift::Lsl => (0, amount == 32 && value & 1 != 0),
        Shift::Lsr if amount < 32 => (value >> amount, value >> (amount - 1) & 1 != 0),
        Shift::Lsr => (0, amount == 32 && value >> 31 != 0),
        Shift::Asr if amount < 32 => (((value as i32) >> amount) as u32, value >> (amount - 1) & 1 != 0),
        Shift::Asr => (((value as i32) >> 31) as u32, value >> 31 != 0),
        Shift::Ror => {
            let rotated = value.rotate_right(amount & 31);
            (rotated, rotated >> 31 != 0)
        }
        Shift::Rrx => ((carry as u32) << 31 | value >> 1, value & 1 != 0),
    }
}

/// SatQ: the nearest number of `bits` bits and whether that is another one.
pub(super) fn saturate(value: i64, bits: u32, signed: bool) -> (u32, bool) {
    let (low, high) = if signed {
        (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
    } else {
        (0, (1i64 << bits) - 1)
    };
    let nearest = value.clamp(low, high);
    (nearest as u32, nearest != value)
}
