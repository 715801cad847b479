//! The digits that a base graph has by itself.

use crate::arith::Number;
use crate::graph::{Base, Kind, Line};

/// How many digits a base graph has by itself.
pub(super) fn digits_of(base: &Base) -> u64 {
    match &base.0 {
        Kind::Product(product) => product.sizes().len() as u64,
        Kind::Hypercube(cube) => u64::from(cube.bits),
        Kind::FoldedHypercube(cube) => u64::from(cube.bits),
        _ => 1,
    }
}

/// A digit of a base graph: its own graph, and its weight.
pub(super) fn digit_of(base: &Base, index: u64) -> Option<(Base, Number)> {
    let place = usize::try_from(index).ok()?;
    match &base.0 {
        Kind::Product(product) => {
            let sizes = product.sizes();
            let weight = sizes
                .get(..place)?
                .iter()
                .fold(1, |weight: Number, &size| weight.wrapping_mul(Number::from(size)));
            let line = Line {
                factor: product.factor,
                nodes: Number::from(*sizes.get(place)?),
            };
            Some((Base(Kind::Line(line)), weight))
        }
        Kind::Hypercube(_) | Kind::FoldedHypercube(_) => Some((Base::complete(2), power(2, index))),
        _ => (index == 0).then_some((*base, 1)),
    }
}

pub(super) fn power(base: Number, exponent: u64) -> Number {
    base.wrapping_pow(exponent.min(u64::from(Number::BITS)) as u32)
}
