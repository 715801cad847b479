//! The star graph `nstar(n)`: permutations of `0..n`, numbered in lexicographic order; a link swaps the first symbol
//! with another. Port `i` swaps it with the symbol at position `i + 1`.
//!
//! S. B. Akers, D. Harel, B. Krishnamurthy, The star graph: an attractive alternative to the n-cube, ICPP 1987.

use core::fmt;

use super::Graph;
use crate::arith::{Number, Vertex, count_step, div_rem};
use crate::limits::MAX_SYMBOLS;

/// A permutation of `0..n` in the first `n` places.
#[derive(Clone, Copy)]
struct Permutation {
    symbols: [u8; MAX_SYMBOLS],
    n: usize,
}

impl Permutation {
    fn get(&self, place: usize) -> u8 {
        count_step();
        self.symbols.get(place).copied().unwrap_or(0)
    }

    /// The permutation with number `rank` in lexicographic order.
    fn unrank(n: usize, mut rank: Vertex) -> Self {
        let mut symbols = [0; MAX_SYMBOLS];
        let mut unused = (1u32 << n) - 1;
        let mut block = factorial(n);
        for (place, symbol) in symbols.iter_mut().take(n).enumerate() {
            block = div_rem(block, (n - place) as Number).0;
            let (index, rest) = div_rem(rank, block);
            rank = rest;
            let mut candidates = unused;
            for _ in 0..index {
                candidates &= candidates.wrapping_sub(1);
            }
            let lowest = candidates.trailing_zeros() as u8;
            unused &= !(1 << (lowest & 31));
            *symbol = lowest;
        }
        Permutation { symbols, n }
    }

    fn rank(&self) -> Vertex {
        let mut unused = (1u32 << self.n) - 1;
        self.symbols
            .iter()
            .take(self.n)
            .enumerate()
            .fold(0, |rank, (place, &symbol)| {
                let bit = 1u32 << (symbol & 31);
                let smaller = (unused & (bit - 1)).count_ones();
                unused &= !bit;
                // Horner's rule in the factorial number system.
                rank * (self.n - place) as Number + Number::from(smaller)
            })
    }

    fn swapped(&self, place: usize) -> Self {
        let mut swapped = *self;
        let (first, other) = (self.get(0), self.get(place));
        if let Some(slot) = swapped.symbols.first_mut() {
            *slot = other;
        }
        if let Some(slot) = swapped.symbols.get_mut(place) {
            *slot = first;
        }
        swapped
    }

    /// For each place, the place where `target` has the symbol that stands here.
    fn relative_to(&self, target: &Permutation) -> Permutation {
        let mut place_of = [0u8; MAX_SYMBOLS];
        for place in 0..self.n {
            if let Some(slot) = place_of.get_mut(usize::from(target.get(place))) {
                *slot = place as u8;
            }
        }
        let mut symbols = [0; MAX_SYMBOLS];
        for (place, slot) in symbols.iter_mut().take(self.n).enumerate() {
            *slot = place_of.get(usize::from(self.get(place))).copied().unwrap_or(0);
        }
        Permutation { symbols, n: self.n }
    }

    /// Swaps with the first place that sort it: a cycle of length L takes L-1 if it holds the first place, else L+1.
    fn distance_to_sorted(&self) -> Number {
        let mut seen = 0u32;
        let mut distance = 0;
        for start in 0..self.n {
            let mut length = 0;
            let mut place = start;
            while seen >> place & 1 == 0 {
                seen |= 1 << place;
                place = usize::from(self.get(place)) & 31;
                length += 1;
            }
            if length > 1 {
                distance += if start == 0 { length - 1 } else { length + 1 };
            }
        }
        distance
    }
}

fn factorial(n: usize) -> Number {
    (1..=n as Number).product()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NStar {
    pub(crate) symbols: u8,
}

impl NStar {
    fn permutation(&self, node: Vertex) -> Permutation {
        Permutation::unrank(usize::from(self.symbols), node)
    }

    /// The places that the first symbol can be swapped with.
    fn places(&self) -> core::ops::Range<usize> {
        1..usize::from(self.symbols)
    }
}

impl Graph for NStar {
    fn nodes(&self) -> Number {
        factorial(usize::from(self.symbols))
    }

    fn degree(&self, _node: Vertex) -> Number {
        Number::from(self.symbols) - 1
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let place = usize::try_from(port).ok()?.checked_add(1)?;
        let place = Some(place).filter(|place| self.places().contains(place))?;
        Some(self.permutation(node).swapped(place).rank())
    }

    /// Among the closer neighbors the lowest-numbered, which is the one that brings the smallest symbol to the front.
    fn step(&self, here: Vertex, dest: Vertex) -> Vertex {
        if here == dest {
            return here;
        }
        let from = self.permutation(here);
        let to = self.permutation(dest);
        let distance = from.relative_to(&to).distance_to_sorted();
        let closer = self
            .places()
            .map(|place| from.swapped(place))
            .filter(|next| next.relative_to(&to).distance_to_sorted() < distance)
            .min_by_key(|next| next.get(0));
        closer.map_or(here, |next| next.rank())
    }

    /// The symbol that comes to the front tells the neighbors apart, and it is never the one that is there.
    fn rank(&self, node: Vertex, neighbor: Vertex) -> Number {
        let (front, other) = (self.permutation(node).get(0), self.permutation(neighbor).get(0));
        Number::from(other - u8::from(other > front))
    }

    fn ranked(&self, node: Vertex, rank: Number) -> Option<Vertex> {
        let permutation = self.permutation(node);
        let symbol = rank.saturating_add(Number::from(rank >= Number::from(permutation.get(0))));
        let place = self
            .places()
            .find(|&place| Number::from(permutation.get(place)) == symbol)?;
        Some(permutation.swapped(place).rank())
    }

    fn hops(&self, from: Vertex, to: Vertex) -> Number {
        self.permutation(from)
            .relative_to(&self.permutation(to))
            .distance_to_sorted()
    }

    fn diameter(&self) -> Number {
        3 * (Number::from(self.symbols) - 1) / 2
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let permutation = self.permutation(node);
        for place in 0..usize::from(self.symbols) {
            let gap = if place > 0 && self.symbols > 10 { "." } else { "" };
            write!(out, "{gap}{}", permutation.get(place))?;
        }
        Ok(())
    }

    /// Routes bring the smallest symbol to the front first, so the small symbols still at home are what can be moved
    /// further down the tree. On a tie the smaller front symbol comes first. n(n-1)/2 steps.
    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        let child = self.permutation(here).swapped(port as usize + 1);
        let home = self.permutation(source);
        let front = child.get(0);
        let movable = self
            .places()
            .filter(|&place| child.get(place) == home.get(place) && child.get(place) < front)
            .count();
        (movable as u64) << 8 | u64::from(u8::MAX - front)
    }

    fn broadcast_steps(&self) -> Number {
        Number::from(self.symbols) * (Number::from(self.symbols) - 1) / 2
    }
}
