//! What values are folded with.

use hopwise_core::named;

named! {
    /// An associative operator on whole numbers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Operator {
        /// The sum, modulo 2^64.
        Sum = "sum",
        /// The product, modulo 2^64.
        Product = "product",
        Min = "min",
        Max = "max",
        And = "and",
        Or = "or",
        Xor = "xor",
        /// A number is the map x -> a x + b modulo 2^32, a its upper 32 bits and b its lower; the map of the lower node comes first.
        /// Not commutative.
        Affine = "affine",
    }
}

impl Operator {
    pub fn identity(self) -> i64 {
        match self {
            Operator::Sum | Operator::Or | Operator::Xor => 0,
            Operator::Product => 1,
            Operator::Min => i64::MAX,
            Operator::Max => i64::MIN,
            Operator::And => -1,
            Operator::Affine => 1 << 32,
        }
    }

    pub fn is_commutative(self) -> bool {
        self != Operator::Affine
    }

    pub fn fold(self, a: i64, b: i64) -> i64 {
        match self {
            Operator::Sum => a.wrapping_add(b),
            Operator::Product => a.wrapping_mul(b),
            Operator::Min => a.min(b),
            Operator::Max => a.max(b),
            Operator::And => a & b,
            Operator::Or => a | b,
            Operator::Xor => a ^ b,
            Operator::Affine => {
                let parts = |map: i64| ((map as u64 >> 32) as u32, map as u32);
                let ((first, add_first), (second, add_second)) = (parts(a), parts(b));
                let factor = first.wrapping_mul(second);
                let add = second.wrapping_mul(add_first).wrapping_add(add_second);
                (u64::from(factor) << 32 | u64::from(add)) as i64
            }
        }
    }

    pub fn fold_all(self, values: impl IntoIterator<Item = i64>) -> i64 {
        values.into_iter().fold(self.identity(), |a, b| self.fold(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_associative_and_have_identities() {
        let values = [0, 1, -1, 7, 5 << 32 | 3, i64::MIN, i64::MAX, -(9 << 32) + 11];
        for operator in Operator::ALL {
            for a in values {
                assert_eq!(operator.fold(a, operator.identity()), a, "{operator:?}");
                assert_eq!(operator.fold(operator.identity(), a), a, "{operator:?}");
                for b in values {
                    for c in values {
                        let left = operator.fold(operator.fold(a, b), c);
                        assert_eq!(left, operator.fold(a, operator.fold(b, c)), "{operator:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn maps_do_not_commute() {
        let (double, add) = (2 << 32, 1 << 32 | 1);
        assert_ne!(Operator::Affine.fold(double, add), Operator::Affine.fold(add, double));
    }
}
