//! The arithmetic functions of the manual's pseudocode: sections A2.2.1, A5.3.2 and A7.4.2.

use super::instruction::{ImmediateCarry, Shift};

/// AddWithCarry: sum, carry and overflow.
#[inline(always)]
pub(super) fn add_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry as u32);
    (sum, first | second, (a ^ sum) & (b ^ sum) & 0x8000_0000 != 0)
}

/// ThumbExpandImm_C: the value of a 12-bit modified immediate and what it does to the carry flag.
pub(super) fn expand_immediate(bits: u32) -> (u32, ImmediateCarry) {
    let byte = bits & 0xff;
    match bits >> 8 {
        0 => (byte, ImmediateCarry::Keep),
        1 => (byte << 16 | byte, ImmediateCarry::Keep),
        2 => (byte << 24 | byte << 8, ImmediateCarry::Keep),
        3 => (byte * 0x0101_0101, ImmediateCarry::Keep),
        _ => {
            let value = (0x80 | bits & 0x7f).rotate_right(bits >> 7);
            (
                value,
                if value >> 31 == 1 {
                    ImmediateCarry::Set
                } else {
                    ImmediateCarry::Clear
                },
            )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carry_and_overflow_of_a_sum() {
        assert_eq!(add_with_carry(0x7fff_ffff, 1, false), (0x8000_0000, false, true));
        assert_eq!(add_with_carry(0xffff_ffff, 0, true), (0, true, false));
        let found = add_with_carry(0xffff_ffff, 0xffff_ffff, true);
        assert_eq!(found, (0xffff_ffff, true, false));
        // A subtraction adds the complement and one: no borrow is a carry.
        assert_eq!(add_with_carry(5, !5, true), (0, true, false));
        assert_eq!(add_with_carry(0x8000_0000, !1, true), (0x7fff_ffff, true, true));
    }

    #[test]
    fn modified_immediates() {
        assert_eq!(expand_immediate(0x0ab), (0xab, ImmediateCarry::Keep));
        assert_eq!(expand_immediate(0x1ab), (0x00ab_00ab, ImmediateCarry::Keep));
        assert_eq!(expand_immediate(0x2ab), (0xab00_ab00, ImmediateCarry::Keep));
        assert_eq!(expand_immediate(0x3ab), (0xabab_abab, ImmediateCarry::Keep));
        assert_eq!(expand_immediate(0x400), (0x8000_0000, ImmediateCarry::Set));
        assert_eq!(expand_immediate(0xfff), (0x0000_01fe, ImmediateCarry::Clear));
    }

    #[test]
    fn shifts_by_a_word_and_more() {
        assert_eq!(shift_with_carry(0x8000_0001, Shift::Lsl, 32, false), (0, true));
        assert_eq!(shift_with_carry(0x8000_0001, Shift::Lsl, 33, true), (0, false));
        assert_eq!(shift_with_carry(0x8000_0001, Shift::Lsr, 32, false), (0, true));
        let found = shift_with_carry(0x8000_0001, Shift::Asr, 200, false);
        assert_eq!(found, (0xffff_ffff, true));
        let found = shift_with_carry(0x8000_0001, Shift::Ror, 32, false);
        assert_eq!(found, (0x8000_0001, true));
        assert_eq!(shift_with_carry(1, Shift::Rrx, 1, true), (0x8000_0000, true));
        assert_eq!(shift_with_carry(7, Shift::Lsr, 0, true), (7, true));
    }

    #[test]
    fn saturation() {
        assert_eq!(saturate(200, 8, true), (127, true));
        assert_eq!(saturate(-200, 8, true), (-128i32 as u32, true));
        assert_eq!(saturate(-1, 8, false), (0, true));
        assert_eq!(saturate(255, 8, false), (255, false));
        assert_eq!(saturate(5, 0, false), (0, true));
    }
}
