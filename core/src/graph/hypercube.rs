//! The hypercube and the folded hypercube: bit `i` of a node's number is its place in dimension `i`.

use crate::arith::{Number, Vertex};

pub(super) fn neighbor(bits: u32, node: Vertex, port: Number) -> Option<Vertex> {
    (port < Number::from(bits)).then(|| node ^ (1 << port))
}

pub(super) fn port_to(bits: u32, node: Vertex, neighbor: Vertex) -> Option<Number> {
    let changed = node ^ neighbor;
    let port = changed.trailing_zeros();
    (changed.is_power_of_two() && port < bits).then_some(Number::from(port))
}

/// The lowest differing bit first.
#[inline]
pub(crate) fn next(here: Vertex, dest: Vertex) -> Vertex {
    let changed = here ^ dest;
    here ^ (changed & changed.wrapping_neg())
}

pub(super) fn distance(from: Vertex, to: Vertex) -> Number {
    Number::from((from ^ to).count_ones())
}

/// A node with the least sum of distances to four: every bit as in most of them.
pub(super) fn median([a, b, c, d]: [Vertex; 4]) -> Vertex {
    a & b & (c | d) | c & d & (a | b)
}

/// Distance sum over ordered pairs of the hypercube.
pub(super) fn distance_sum(bits: u32) -> Option<u128> {
    // Each bit differs in half of the 4^n pairs.
    u128::from(bits).checked_mul(1 << (2 * bits - 1))
}

pub(super) mod folded {
    //! With one more link, at port `n`, from every node to its complement.

    use super::*;
    use crate::arith::ones;

    pub(in crate::graph) fn neighbor(bits: u32, node: Vertex, port: Number) -> Option<Vertex> {
        if port == Number::from(bits) {
            Some(complement(bits, node))
        } else {
            super::neighbor(bits, node, port)
        }
    }

    pub(in crate::graph) fn port_to(bits: u32, node: Vertex, neighbor: Vertex) -> Option<Number> {
        if neighbor == complement(bits, node) {
            Some(Number::from(bits))
        } else {
            super::port_to(bits, node, neighbor)
        }
    }

    fn complement(bits: u32, node: Vertex) -> Vertex {
        node ^ ones(Number::from(bits))
    }

    /// Through the complement first, and only if that is strictly shorter.
    pub(in crate::graph) fn next(bits: u32, here: Vertex, dest: Vertex) -> Vertex {
        let plain = super::distance(here, dest);
        if Number::from(bits) - plain + 1 < plain {
            complement(bits, here)
        } else {
            super::next(here, dest)
        }
    }

    pub(in crate::graph) fn distance(bits: u32, from: Vertex, to: Vertex) -> Number {
        let plain = super::distance(from, to);
        plain.min(Number::from(bits) - plain + 1)
    }

    /// Each of the four is reached either directly or through its complement, and for every choice the sum is that of a
    /// hypercube, so one of the 16 medians is the best.
    pub(in crate::graph) fn median(bits: u32, points: [Vertex; 4]) -> Vertex {
        let sum = |node: &Vertex| points.iter().map(|&point| distance(bits, *node, point)).sum::<Number>();
        let choices = (0..16u32).map(|choice| {
            let mut sides = points;
            for (place, side) in sides.iter_mut().enumerate() {
                if choice >> place & 1 == 1 {
                    *side = complement(bits, *side);
                }
            }
            super::median(sides)
        });
        choices.min_by_key(sum).unwrap_or(0)
    }

    pub(in crate::graph) fn distance_sum(bits: u32) -> Option<u128> {
        let n = u128::from(bits);
        let mut at_distance = 1u128;
        let mut sum = 0u128;
        for h in 0..=n {
            sum += at_distance * h.min(n - h + 1);
            at_distance = at_distance * (n - h) / (h + 1);
        }
        sum.checked_mul(1 << bits)
    }
}
