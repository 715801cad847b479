//! The integers that graphs and networks compute with, and helpers that cannot panic.

use core::num::{NonZeroU32, NonZeroU64};

use crate::limits;

/// Integer type of vertices, ports, hops and digits inside graphs and families.
///
/// 32 bits are enough for any mesh of boards, and take a Cortex-M half the code and less than half the time of 64. The feature
/// `huge-networks` makes it 64. [`Network`](crate::Network) has 64-bit nodes and ports in either case and converts them once.
#[cfg(feature = "huge-networks")]
pub(crate) type Number = u64;
/// Integer type of vertices, ports, hops and digits inside graphs and families.
#[cfg(not(feature = "huge-networks"))]
pub(crate) type Number = u32;

pub(crate) type Vertex = Number;

pub(crate) const MAX_NODES: Number = limits::MAX_NODES as Number;

/// Counts a step toward [`limits::STEPS_PER_QUERY`] in this crate's own tests and compiles to nothing elsewhere. Everything that takes
/// time calls it: divisions, reductions, bits of a set, queries of base graphs, and the innermost loops of searches.
#[inline(always)]
pub(crate) fn count_step() {
    #[cfg(test)]
    crate::steps::count();
}

/// Quotient and remainder. No size in a checked network is zero; division by zero returns `(0, a)` so that no panic code is generated.
///
/// The addresses of real networks fit 32 bits, which a Cortex-M divides in one instruction, so the short division is tried first.
#[inline]
pub(crate) fn div_rem(a: Number, b: Number) -> (Number, Number) {
    if fits_short(a | b) {
        div_rem_short(a, b)
    } else {
        count_step();
        let (a, b) = (wide(a), NonZeroU64::new(wide(b)));
        b.map_or((0, a as Number), |b| ((a / b) as Number, (a % b) as Number))
    }
}

/// [`div_rem`] of numbers known to fit 32 bits.
#[inline]
pub(crate) fn div_rem_short(a: Number, b: Number) -> (Number, Number) {
    count_step();
    let a = a as u32;
    NonZeroU32::new(b as u32).map_or((0, Number::from(a)), |b| (Number::from(a / b), Number::from(a % b)))
}

#[inline]
pub(crate) fn fits_short(number: Number) -> bool {
    Number::BITS == 32 || wide(number) >> 32 == 0
}

/// Widens to the 64 bits of the public API.
#[inline]
#[allow(clippy::useless_conversion, reason = "numbers have 32 bits on a board")]
pub(crate) fn wide(number: Number) -> u64 {
    u64::from(number)
}

/// Converts a number from the public API; `None` if it is too large.
#[inline]
#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_fallible_conversions,
    reason = "numbers have 32 bits on a board"
)]
pub(crate) fn narrow(number: u64) -> Option<Number> {
    Number::try_from(number).ok()
}

/// `a mod n` for `a` below `2n`.
#[inline]
pub(crate) fn wrap(a: Number, n: Number) -> Number {
    count_step();
    if a >= n { a - n } else { a }
}

/// `(a - b) mod n` for `a` and `b` below `n`.
#[inline]
pub(crate) fn sub_mod(a: Number, b: Number, n: Number) -> Number {
    count_step();
    if a >= b { a - b } else { a + n - b }
}

/// The `n` lowest bits set; all of them for `n >= 64`.
#[inline]
pub(crate) fn ones(n: Number) -> Number {
    if n >= Number::from(Number::BITS) {
        Number::MAX
    } else {
        (1 << n) - 1
    }
}

/// The positions of the set bits, lowest first.
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = Number> {
    core::iter::from_fn(move || {
        count_step();
        let lowest = Number::from(mask.trailing_zeros());
        mask &= mask.checked_sub(1)?;
        Some(lowest)
    })
}
