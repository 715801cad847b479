//! The discrete Fourier transform, digit by digit.
//!
//! Read n = sum of n_j W_j with W_j the product of the sizes below j, and k = sum of k_j V_j with V_j the product of the sizes above j.
//! Then n k is, up to multiples of N, the sum over i <= j of n_i k_j W_i V_j. So the sum over the highest n_j needs k_j only, and each
//! further one the k of the digits done before: from the highest digit down, every node can sum over a digit once it has the items
//! along it. Digits may have any sizes. In the end the node whose digits are k_j has term k, its digits in reverse.

use std::f64::consts::TAU;
use std::ops::{Add, Mul};
use std::sync::Arc;

use hopwise_core::Node;
use hopwise_core::collective::{Axis, Lend, Lent, Mesh};

use crate::program::Held;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

impl Complex {
    /// e^(-2 pi i part / whole).
    fn unit(part: u64, whole: u64) -> Self {
        let (im, re) = (-TAU * part as f64 / whole as f64).sin_cos();
        Complex { re, im }
    }

    pub fn distance(self, other: Complex) -> f64 {
        (self.re - other.re).hypot(self.im - other.im)
    }
}

impl Add for Complex {
    type Output = Complex;

    fn add(self, other: Complex) -> Complex {
        Complex {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl Mul for Complex {
    type Output = Complex;

    fn mul(self, other: Complex) -> Complex {
        Complex {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

/// The transform by its definition.
pub fn direct(values: &[i64]) -> Vec<Complex> {
    let nodes = values.len() as u64;
    let factors: Vec<Complex> = (0..nodes).map(|part| Complex::unit(part, nodes)).collect();
    let term = |k: u64| {
        let terms = (0..nodes).zip(values).map(|(n, &value)| {
            let real = Complex {
                re: value as f64,
                im: 0.0,
            };
            real * factors[(n * k % nodes) as usize]
        });
        terms.fold(Complex::default(), Add::add)
    };
    (0..nodes).map(term).collect()
}

/// The digits of node numbers, the lowest first.
#[derive(Clone, Debug)]
pub struct Digits {
    sizes: Vec<u64>,
    nodes: u64,
}

impl Digits {
    /// Of a network whose numbers have digits.
    pub fn of_mesh(mesh: &Mesh) -> Self {
        let sizes: Vec<u64> = (0..).map_while(|dimension| mesh.size(dimension)).collect();
        Digits {
            nodes: sizes.iter().product(),
            sizes,
        }
    }

    fn below(&self, digit: usize) -> u64 {
        self.sizes[..digit].iter().product()
    }

    fn above(&self, digit: usize) -> u64 {
        self.sizes[digit + 1..].iter().product()
    }

    fn of(&self, node: Node, digit: usize) -> u64 {
        node / self.below(digit) % self.sizes[digit]
    }

    /// The term that the node at a place has in the end.
    pub fn reversed(&self, place: Node) -> u64 {
        let digits = 0..self.sizes.len();
        digits.map(|digit| self.of(place, digit) * self.above(digit)).sum()
    }
}

/// The sums so far that a node holds: its own, and at times those of others.
#[derive(Clone, Debug)]
pub struct Terms {
    digits: Arc<Digits>,
    /// The digits that are still to be summed over.
    left: usize,
    /// Of a unit: its items come together first, and its digits, the lowest, are summed over where all of them are.
    unit: Option<Unit>,
    /// The place of each, and the sum. All have the same digits left.
    sums: Vec<(Node, Complex)>,
}

#[derive(Clone, Copy, Debug)]
struct Unit {
    own: Node,
    digits: usize,
}

impl Terms {
    pub fn new(digits: Arc<Digits>, place: Node, value: f64) -> Self {
        Terms {
            left: digits.sizes.len(),
            digits,
            unit: None,
            sums: vec![(place, Complex { re: value, im: 0.0 })],
        }
    }

    pub fn of_unit(self, digits: usize) -> Self {
        let own = self.sums[0].0;
        Terms {
            unit: Some(Unit { own, digits }),
            ..self
        }
    }

    /// The node's own, once it has nothing else.
    pub fn own(&self) -> Option<Complex> {
        match self.sums[..] {
            [(_, sum)] => Some(sum),
            _ => None,
        }
    }

    /// The sum over the highest digit that is left, of the terms along it, for a place.
    fn sum(&self, place: Node, terms: impl Iterator<Item = Complex>) -> Complex {
        let (digits, digit, nodes) = (&self.digits, self.left - 1, self.digits.nodes);
        let done = digit..digits.sizes.len();
        let known: u64 = done.map(|digit| digits.of(place, digit) * digits.above(digit)).sum();
        let weight = digits.below(digit);
        let turned = (0..).zip(terms).map(|(n, term)| {
            let part = u128::from(n * weight) * u128::from(known) % u128::from(nodes);
            term * Complex::unit(part as u64, nodes)
        });
        turned.fold(Complex::default(), Add::add)
    }

    /// Sums over a digit along which all terms are here.
    fn sum_here(&mut self) {
        let (digit, size) = (self.left - 1, self.digits.sizes[self.left - 1]);
        let weight = self.digits.below(digit);
        let find = |place: Node| self.sums.iter().find(|sum| sum.0 == place).map(|sum| sum.1);
        let sum = |&(place, _): &(Node, Complex)| {
            let first = place - self.digits.of(place, digit) * weight;
            let along = (0..size).filter_map(|n| find(first + n * weight));
            (place, self.sum(place, along))
        };
        self.sums = self.sums.iter().map(sum).collect();
        self.left -= 1;
    }
}

impl Held for Terms {
    type Item = Vec<(Node, Complex)>;

    fn item(&self) -> Self::Item {
        self.sums.clone()
    }

    fn item_bytes(item: &Self::Item) -> u64 {
        16 * item.len() as u64
    }

    fn bytes(&self) -> u64 {
        Self::item_bytes(&self.sums)
    }

    fn learn(&mut self, _: usize, items: Vec<Self::Item>, axis: &Axis) {
        if self.unit.is_some() && !axis.is_at_pivots() {
            self.sums = items.concat();
            return;
        }
        let sum = |(index, &(place, _)): (usize, &(Node, Complex))| {
            let along = items.iter().map(|item| item[index].1);
            (place, self.sum(place, along))
        };
        self.sums = self.sums.iter().enumerate().map(sum).collect();
        self.left -= 1;
    }

    fn take(&mut self, pivot: &Self) {
        self.left = pivot.left;
        self.sums.clone_from(&pivot.sums);
    }

    fn settle(&mut self) {
        let Some(unit) = self.unit else { return };
        (0..unit.digits).for_each(|_| self.sum_here());
        self.sums.retain(|sum| sum.0 == unit.own);
    }

    fn lend(&mut self, lend: &Lend) -> Self {
        match lend.lent() {
            Lent::Join | Lent::Cross => self.clone(),
            Lent::Part => {
                let sums = self.sums.split_off(self.sums.len() / 2);
                Terms { sums, ..self.clone() }
            }
        }
    }

    fn borrow(&mut self, lend: &Lend, lent: Self) {
        match lend.lent() {
            Lent::Join => {
                self.sums.splice(..0, lent.sums);
                self.sum_here();
            }
            Lent::Cross | Lent::Part => (self.left, self.sums) = (lent.left, lent.sums),
        }
    }
}
