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
use hopwise_core::collective::Axis;

use crate::program::Held;

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl Complex {
    /// e^(-2 pi i part / whole).
    fn unit(part: u64, whole: u64) -> Self {
        let (im, re) = (-TAU * part as f64 / whole as f64).sin_cos();
        Complex { re, im }
    }

    /// How far two numbers are apart.
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
    /// Of these sizes.
    pub fn new(sizes: Vec<u64>) -> Self {
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

    /// The term that a node has in the end.
    pub fn reversed(&self, node: Node) -> u64 {
        let digits = 0..self.sizes.len();
        digits.map(|digit| self.of(node, digit) * self.above(digit)).sum()
    }
}

/// A node's sum so far.
#[derive(Clone, Debug)]
pub struct Term {
    digits: Arc<Digits>,
    /// The digits that are still to be summed over.
    left: usize,
    home: Node,
    /// The sum.
    pub value: Complex,
}

impl Term {
    /// The value of one node.
    pub fn new(digits: Arc<Digits>, home: Node, value: i64) -> Self {
        Term {
            left: digits.sizes.len(),
            digits,
            home,
            value: Complex {
                re: value as f64,
                im: 0.0,
            },
        }
    }
}

impl Held for Term {
    type Item = Complex;

    fn item(&self) -> Complex {
        self.value
    }

    fn item_bytes(_: &Complex) -> u64 {
        16
    }

    fn bytes(&self) -> u64 {
        16
    }

    fn learn(&mut self, _: usize, items: Vec<Complex>, _: &Axis) {
        self.left -= 1;
        let (digits, nodes) = (&self.digits, self.digits.nodes);
        let done = self.left..digits.sizes.len();
        let known: u64 = done
            .map(|digit| digits.of(self.home, digit) * digits.above(digit))
            .sum();
        let weight = digits.below(self.left);
        let terms = (0..).zip(items).map(|(n, item)| {
            let part = u128::from(n * weight) * u128::from(known) % u128::from(nodes);
            item * Complex::unit(part as u64, nodes)
        });
        self.value = terms.fold(Complex::default(), Add::add);
    }

    fn meet(&mut self, _: u64, _: Self) {}

    fn take(&mut self, _: &Self) {}
}
