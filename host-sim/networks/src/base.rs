//! Figures of base graphs, by formula.

use hopwise_core::graph::{Factor, Lift, Shape};
use hopwise_core::{Base, Network, Node};

/// What is known of a base graph by formula. Sums are over ordered pairs, and `None` if they need more than 128 bits.
pub trait Formulas {
    fn nodes(&self) -> u64;

    fn diameter(&self) -> u64;

    fn vertex_transitive(&self) -> bool;

    fn degree_range(&self) -> (u64, u64);

    fn edges(&self) -> u128;

    fn distance_sum(&self) -> Option<u128>;

    fn distance_sum_from_zero(&self) -> Option<u128>;
}

impl Formulas for Base {
    fn nodes(&self) -> u64 {
        Network::from(*self).nodes()
    }

    fn diameter(&self) -> u64 {
        Network::from(*self).diameter().expect("every base graph has a formula")
    }

    fn vertex_transitive(&self) -> bool {
        Network::from(*self).vertex_transitive()
    }

    fn degree_range(&self) -> (u64, u64) {
        match self.shape() {
            Shape::Line(Factor::Path, n) => (1, 2.min(n - 1)),
            Shape::Product(Factor::Path, sizes) => (
                sizes.len() as u64,
                sizes.iter().map(|&size| u64::from(2.min(size - 1))).sum(),
            ),
            Shape::Star(n) => (1, n - 1),
            Shape::Lift(lift) => {
                let degrees = || orbit_degrees(self, lift);
                (degrees().min().unwrap_or(0), degrees().max().unwrap_or(0))
            }
            _ => {
                let degree = Network::from(*self).unchecked().degree(0);
                (degree, degree)
            }
        }
    }

    fn edges(&self) -> u128 {
        let nodes = u128::from(self.nodes());
        match self.shape() {
            Shape::Line(Factor::Path, n) | Shape::Star(n) => u128::from(n - 1),
            Shape::Product(Factor::Path, sizes) => sizes
                .iter()
                .map(|&size| nodes / u128::from(size) * u128::from(size - 1))
                .sum(),
            Shape::Lift(lift) => {
                let ends: u64 = orbit_degrees(self, lift).sum();
                u128::from(ends * lift.places() / 2)
            }
            _ => nodes * u128::from(self.degree_range().0) / 2,
        }
    }

    fn distance_sum(&self) -> Option<u128> {
        match self.shape() {
            Shape::Line(factor, n) => along(factor, n),
            Shape::Product(factor, sizes) => {
                let nodes = u128::from(self.nodes());
                sizes.iter().try_fold(0u128, |sum, &size| {
                    let copies = nodes / u128::from(size);
                    let all = along(factor, size.into())?.checked_mul(copies)?.checked_mul(copies)?;
                    sum.checked_add(all)
                })
            }
            Shape::Star(n) => Some(2 * u128::from(n - 1) * u128::from(n - 1)),
            // Each bit differs in half of the 4^n pairs.
            Shape::Hypercube(bits) => u128::from(bits).checked_mul(1 << (2 * bits - 1)),
            Shape::FoldedHypercube(bits) => {
                let n = u128::from(bits);
                let (mut at_distance, mut sum) = (1u128, 0u128);
                for differing in 0..=n {
                    sum += at_distance * differing.min(n - differing + 1);
                    at_distance = at_distance * (n - differing) / (differing + 1);
                }
                sum.checked_mul(1 << bits)
            }
            // The mean distance, the node itself included, is n - 4 + 2/n + H_n.
            Shape::NStar(symbols) => {
                let (nodes, n) = (u128::from(self.nodes()), u128::from(symbols));
                let harmonic: u128 = (1..=n).map(|i| nodes / i).sum();
                let from_one = (nodes * n + 2 * nodes / n + harmonic).checked_sub(4 * nodes)?;
                nodes.checked_mul(from_one)
            }
            // All nodes are alike: one at distance 0, three at 1, six at 2, and of the Heawood graph four at 3.
            Shape::Petersen => Some(10 * (3 + 6 * 2)),
            Shape::Heawood => Some(14 * (3 + 6 * 2 + 4 * 3)),
            // All places of an orbit are alike.
            Shape::Lift(lift) => {
                let from_orbit = |orbit| distance_sum_from(self, orbit * lift.places());
                let sum: u128 = (0..lift.orbits()).map(from_orbit).sum();
                sum.checked_mul(u128::from(lift.places()))
            }
        }
    }

    fn distance_sum_from_zero(&self) -> Option<u128> {
        let nodes = u128::from(self.nodes());
        match self.shape() {
            Shape::Line(Factor::Path, _) => Some(nodes * (nodes - 1) / 2),
            Shape::Product(Factor::Path, sizes) => {
                Some(nodes * sizes.iter().map(|&size| u128::from(size - 1)).sum::<u128>() / 2)
            }
            Shape::Star(_) => Some(nodes - 1),
            Shape::Lift(_) => Some(distance_sum_from(self, 0)),
            // All nodes are alike.
            _ => self.distance_sum().map(|sum| sum / nodes),
        }
    }
}

fn orbit_degrees<'a>(base: &Base, lift: &'a Lift) -> impl Iterator<Item = u64> + 'a {
    let network = Network::from(*base);
    (0..lift.orbits()).map(move |orbit| network.unchecked().degree(orbit * lift.places()))
}

fn distance_sum_from(base: &Base, node: Node) -> u128 {
    let network = Network::from(*base);
    let distances = (0..network.nodes()).filter_map(|other| network.unchecked().distance(node, other));
    distances.map(u128::from).sum()
}

fn along(factor: Factor, n: u64) -> Option<u128> {
    let n = u128::from(n);
    match factor {
        Factor::Ring => n.checked_mul(n * n / 4),
        Factor::Path => n.checked_mul(n * n - 1).map(|sum| sum / 3),
        Factor::Complete => Some(n * (n - 1)),
    }
}
