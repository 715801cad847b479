//! Integer helpers that cannot panic.

use core::num::{NonZeroU32, NonZeroU64};

/// Quotient and remainder. Nothing is divided by zero: no size in a checked network is zero, and `(0, a)` leaves no panic
/// behind.
///
/// Addresses of the networks people wire fit 32 bits, and a Cortex-M divides those in one instruction but calls a
/// routine for 64; so the short way is tried first.
#[inline]
pub(crate) fn div_rem(a: u64, b: u64) -> (u64, u64) {
    if (a | b) >> 32 == 0 {
        div_rem_short(a, b)
    } else {
        NonZeroU64::new(b).map_or((0, a), |b| (a / b, a % b))
    }
}

/// [`div_rem`] of numbers known to fit 32 bits.
#[inline]
pub(crate) fn div_rem_short(a: u64, b: u64) -> (u64, u64) {
    let a = a as u32;
    NonZeroU32::new(b as u32).map_or((0, u64::from(a)), |b| (u64::from(a / b), u64::from(a % b)))
}

/// `a mod n` for `a` below `2n`.
#[inline]
pub(crate) fn wrap(a: u64, n: u64) -> u64 {
    if a >= n { a - n } else { a }
}

/// `(a - b) mod n` for `a` and `b` below `n`.
#[inline]
pub(crate) fn sub_mod(a: u64, b: u64, n: u64) -> u64 {
    if a >= b { a - b } else { a + n - b }
}

/// The `n` lowest bits set; all of them for `n >= 64`.
#[inline]
pub(crate) fn ones(n: u64) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// The positions of the set bits, lowest first.
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = u64> {
    core::iter::from_fn(move || {
        let lowest = u64::from(mask.trailing_zeros());
        mask &= mask.checked_sub(1)?;
        Some(lowest)
    })
}
