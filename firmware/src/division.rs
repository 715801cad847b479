//! Division of 64 bits, small rather than fast. Without a 64-bit division of its own: it is what the compiler calls for one.

/// The quotient, and what remains.
pub(crate) fn divide(number: u64, divisor: u64) -> (u64, u64) {
    if divisor >> 16 == 0 {
        by_digits(number, divisor as u32)
    } else {
        by_bits(number, divisor)
    }
}

/// Division by less than 2^16: digit by digit, where a digit has 16 bits.
fn by_digits(number: u64, divisor: u32) -> (u64, u64) {
    let (mut quotient, mut rest) = (number, 0);
    for _ in 0..4 {
        let part = rest << 16 | (quotient >> 48) as u32;
        // 0 goes into nothing; the compiler never asks for it.
        let digit = part.checked_div(divisor).unwrap_or(0);
        rest = part - digit * divisor;
        quotient = quotient << 16 | u64::from(digit);
    }
    (quotient, u64::from(rest))
}

/// Division by 2^16 or more: bit by bit, from the first place at which the divisor goes into the number.
fn by_bits(number: u64, divisor: u64) -> (u64, u64) {
    let (mut quotient, mut rest) = (0, number);
    let mut place = divisor.leading_zeros().saturating_sub(number.leading_zeros());
    let mut part = divisor << place;
    loop {
        quotient <<= 1;
        if rest >= part {
            rest -= part;
            quotient |= 1;
        }
        if place == 0 {
            return (quotient, rest);
        }
        place -= 1;
        part >>= 1;
    }
}
