//! Hierarchical swapped networks, `hsn(l,G)`.
//!
//! C.-H. Yeh, B. Parhami, Hierarchical Swapped Networks: Efficient Low-Degree Alternatives to Hypercubes and Generalized
//! Hypercubes, I-SPAN 1996.
//!
//! A node is l digits (x_l..x_1), x_1 least significant, each a node of the nucleus G. Links of the nucleus change x_1; the
//! link of level i exchanges x_1 and x_i, and is there if they differ.
//!
//! Ports: those of the nucleus, then the swaps from level 2 up, as far as the node has them.

use core::fmt;

use heapless::Vec;

use crate::arith::{Number, Vertex, count_step, div_rem, wide};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::graph::Base;
use crate::limits::{MAX_DIGITS, MAX_PERMUTED};
use crate::network::expression::{BrokenRule, Reader};
use crate::topology::{Method, Rule, Topology};

/// A hierarchical swapped network over a nucleus graph.
///
/// A route carries every wrong digit to some position of the destination, so it is a permutation p of the
/// positions: the hops are the distances from x_i to y_p(i) in the nucleus, one swap for every position above 1 that
/// differs, and one more for every cycle of p among them that does not pass position 1. Digits that are right already stay
/// where they are, by the triangle inequality. The exact routing function takes the shortest, on a tie the first in lexicographic order.
/// The paper's routing function sets the highest wrong digit first.
///
/// Time: the permutations of the wrong digits, cut short where they cannot become the best; memory O(l). If more than
/// [`MAX_PERMUTED`] digits above x_1 are wrong, only the lowest of these are permuted, the others
/// corrected one by one, and [`method`](crate::Network::method) is [`Method::BestTried`].
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "hsn(3,ring(4))".parse()?;
/// assert_eq!(network.address(6)?.to_string(), "(0,1,2)");
/// assert_eq!(network.distance(6, 16 * 2)?, Some(3)); // to (2,0,0)
/// assert_eq!(network.next_hop(6, 16 * 2, Rule::Exact)?, 16 * 2 + 4); // 2 goes to its place
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hsn {
    nucleus: Base,
    levels: u8,
}

/// The wrong positions, position 1 always first: the current and the wanted digits.
#[derive(Default)]
struct Wrong {
    /// Counted from 0.
    positions: Vec<u8, { MAX_PERMUTED + 1 }>,
    have: Vec<Vertex, { MAX_PERMUTED + 1 }>,
    want: Vec<Vertex, { MAX_PERMUTED + 1 }>,
    /// Hops for the wrong digits beyond these, corrected one by one.
    beyond: Number,
}

/// A permutation that sets all digits.
struct Order {
    hops: Number,
    /// The position, counted from 0, that the digit of position 1 goes to.
    first: u8,
    /// The digit wanted there.
    becomes: Vertex,
}

/// A search through the permutations: one wrong position after the other gets a place for its digit. Positions
/// and places are numbered as in [`Wrong`].
struct Search<'a> {
    wrong: &'a Wrong,
    /// By position and place, the hops in the nucleus from the current digit to the wanted one.
    hops: [[Number; MAX_PERMUTED + 1]; MAX_PERMUTED + 1],
    /// By position, a lower bound of the hops in the nucleus for it and the later ones, wherever they go.
    at_least: [Number; MAX_PERMUTED + 2],
    /// By position so far.
    chosen: Vec<Choice, { MAX_PERMUTED + 1 }>,
}

/// The place a position got.
struct Choice {
    place: usize,
    /// The hops in the nucleus for this and the positions before it.
    hops: Number,
}

impl<'a> Search<'a> {
    fn new(nucleus: &Base, wrong: &'a Wrong) -> Self {
        let mut hops = [[Number::MAX; MAX_PERMUTED + 1]; MAX_PERMUTED + 1];
        for (row, &have) in hops.iter_mut().zip(&wrong.have) {
            for (slot, &want) in row.iter_mut().zip(&wrong.want) {
                *slot = nucleus.hops(have, want);
            }
        }
        let mut search = Search {
            wrong,
            hops,
            at_least: [0; MAX_PERMUTED + 2],
            chosen: Vec::new(),
        };
        let places = search.places();
        let mut at_least = 0;
        for position in (0..places).rev() {
            at_least += (0..places).map(|place| search.hops(position, place)).min().unwrap_or(0);
            if let Some(slot) = search.at_least.get_mut(position) {
                *slot = at_least;
            }
        }
        search
    }

    fn places(&self) -> usize {
        self.wrong.positions.len()
    }

    /// Hops in the nucleus from the digit of a position to the one wanted at a place.
    fn hops(&self, position: usize, place: usize) -> Number {
        count_step();
        let row = self.hops.get(position);
        row.and_then(|row| row.get(place)).copied().unwrap_or(Number::MAX)
    }

    /// Hops in the nucleus for the positions that have a place.
    fn hops_so_far(&self) -> Number {
        self.chosen.last().map_or(0, |choice| choice.hops)
    }

    /// The first place from `untried` on that is free for the next position and with which fewer hops than `best` are still
    /// possible.
    fn next_place(&self, untried: usize, best: Number) -> Option<usize> {
        let position = self.chosen.len();
        if position == self.places() {
            return None;
        }
        let later = self.at_least.get(position + 1).copied().unwrap_or(0);
        let is_free = |place: usize| self.chosen.iter().all(|choice| choice.place != place);
        let can_win = |place: usize| self.hops_so_far() + self.hops(position, place) + later < best;
        (untried..self.places()).find(|&place| is_free(place) && can_win(place))
    }

    fn choose(&mut self, place: usize) {
        let hops = self.hops_so_far() + self.hops(self.chosen.len(), place);
        // There is room: at most one a position.
        let _ = self.chosen.push(Choice { place, hops });
    }

    fn take_back(&mut self) -> Option<usize> {
        self.chosen.pop().map(|choice| choice.place)
    }

    /// Where the first position goes.
    fn first_choice(&self) -> usize {
        self.chosen.first().map_or(0, |choice| choice.place)
    }

    /// Once every position has a place: the hops in the nucleus and the extra swaps of this permutation.
    fn hops_if_complete(&self) -> Option<Number> {
        (self.chosen.len() == self.places()).then(|| self.hops_so_far() + self.detached_cycles())
    }

    /// The cycles of the permutation that do not pass position 0: each takes one extra swap to go through it.
    fn detached_cycles(&self) -> Number {
        let mut seen = 0u32;
        let mut cycles = 0;
        for start in 0..self.chosen.len() {
            let is_new = seen >> start & 1 == 0;
            cycles += Number::from(is_new && start > 0);
            let mut place = start;
            while seen >> place & 1 == 0 {
                seen |= 1 << place;
                place = self.chosen.get(place).map_or(0, |choice| choice.place) & 31;
            }
        }
        cycles
    }
}

enum Hop {
    /// In the nucleus, from x_1 toward this.
    Within(Vertex),
    /// Swap with this position, counted from 0.
    Swap(u8),
}

impl Hsn {
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        const LEVELS: &str = "l of hsn(l,G)";
        const NUCLEUS: &str = "G of hsn(l,G)";
        let levels = reader.first_number(LEVELS, 2, Number::MAX)?;
        if levels > MAX_DIGITS as Number {
            return reader.refuse(LEVELS, BrokenRule::TooManyNodes);
        }
        reader.comma(NUCLEUS)?;
        let nucleus = reader.base(NUCLEUS)?;
        (1..levels).try_fold(nucleus.nodes(), |nodes, _| {
            reader.product(nodes, nucleus.nodes(), LEVELS)
        })?;
        reader.close(NUCLEUS)?;
        Some(Hsn {
            nucleus,
            levels: levels as u8,
        })
    }

    /// The graph that the network begins with.
    pub fn nucleus(&self) -> &Base {
        &self.nucleus
    }

    /// The number of digits, l.
    pub fn levels(&self) -> u64 {
        u64::from(self.levels)
    }

    /// The largest distance, l (D+1) - 1 over a nucleus of diameter D: from a repeated digit to another at distance D. It is never
    /// larger, since one cycle through all positions takes l - 1 swaps.
    fn diameter(&self) -> Number {
        (self.nucleus.diameter() + 1).saturating_mul(Number::from(self.levels)) - 1
    }

    /// The digits, x_1 first.
    fn digits(&self, node: Vertex) -> impl Iterator<Item = Vertex> + '_ {
        let mut rest = node;
        (0..self.levels).map(move |_| {
            let (above, digit) = div_rem(rest, self.nucleus.nodes());
            rest = above;
            digit
        })
    }

    /// The node with x_1 and the digit at a position, counted from 0, exchanged; `None` if they are the same.
    fn swapped(&self, node: Vertex, position: u8) -> Option<Vertex> {
        let base = self.nucleus.nodes();
        let weight = (0..position).fold(1 as Number, |weight, _| weight.wrapping_mul(base));
        let (_, low) = div_rem(node, base);
        let (_, high) = div_rem(div_rem(node, weight).0, base);
        let others = node - low - high * weight;
        (low != high && position > 0).then(|| others + high + low * weight)
    }

    fn swaps(&self, node: Vertex) -> impl Iterator<Item = Vertex> + '_ {
        (1..self.levels).filter_map(move |position| self.swapped(node, position))
    }

    fn wrong(&self, from: Vertex, to: Vertex) -> Wrong {
        let mut wrong = Wrong::default();
        for (position, (have, want)) in (0..).zip(self.digits(from).zip(self.digits(to))) {
            if position > 0 && have == want {
                continue;
            }
            if wrong.positions.push(position).is_ok() {
                // As long as the positions.
                let _ = (wrong.have.push(have), wrong.want.push(want));
            } else {
                wrong.beyond += 2 + self.nucleus.hops(have, want);
            }
        }
        wrong
    }

    /// The best permutation, the first in lexicographic order.
    fn order(&self, wrong: &Wrong) -> Order {
        let mut search = Search::new(&self.nucleus, wrong);
        let (mut best, mut best_first) = (Number::MAX, 0);
        // Depth first: places before this one have been tried for the next position.
        let mut untried = 0;
        loop {
            if let Some(place) = search.next_place(untried, best) {
                search.choose(place);
                untried = 0;
                if let Some(hops) = search.hops_if_complete().filter(|&hops| hops < best) {
                    best = hops;
                    best_first = search.first_choice();
                }
            } else if let Some(place) = search.take_back() {
                untried = place + 1;
            } else {
                break;
            }
        }
        let swaps = wrong.positions.len() as Number - 1;
        Order {
            hops: best + swaps + wrong.beyond,
            first: wrong.positions.get(best_first).copied().unwrap_or(0),
            becomes: wrong.want.get(best_first).copied().unwrap_or(0),
        }
    }

    fn hop(&self, here: Vertex, dest: Vertex, rule: Rule) -> Hop {
        let (_, first) = div_rem(here, self.nucleus.nodes());
        let wrong_positions = || {
            let pairs = (0..).zip(self.digits(here).zip(self.digits(dest)));
            pairs.filter(|(position, (have, want))| *position > 0 && have != want)
        };
        let (target, becomes) = match rule {
            Rule::Exact => {
                let order = self.order(&self.wrong(here, dest));
                (order.first, order.becomes)
            }
            Rule::Paper => match wrong_positions().last() {
                Some((position, (_, want))) => (position, want),
                None => (0, div_rem(dest, self.nucleus.nodes()).1),
            },
        };
        if first != becomes {
            Hop::Within(becomes)
        } else if target > 0 {
            Hop::Swap(target)
        } else {
            // The digit at position 1 belongs there, so the lowest wrong digit has to come down.
            match wrong_positions().next() {
                Some((position, _)) => Hop::Swap(position),
                None => Hop::Within(becomes),
            }
        }
    }
}

impl Topology for Hsn {
    fn nodes(&self) -> Number {
        (0..self.levels).fold(1, |nodes: Number, _| nodes.wrapping_mul(self.nucleus.nodes()))
    }

    fn degree(&self, node: Vertex) -> Number {
        self.nucleus.degree(div_rem(node, self.nucleus.nodes()).1) + self.swaps(node).count() as Number
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let (_, first) = div_rem(node, self.nucleus.nodes());
        match port.checked_sub(self.nucleus.degree(first)) {
            None => Some(node - first + self.nucleus.neighbor(first, port)?),
            Some(swap) => self.swaps(node).nth(usize::try_from(swap).ok()?),
        }
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        let (rest, first) = div_rem(node, self.nucleus.nodes());
        let (other_rest, other) = div_rem(neighbor, self.nucleus.nodes());
        if rest == other_rest {
            return self.nucleus.port_to(first, other);
        }
        let swap = self.swaps(node).position(|swapped| swapped == neighbor)?;
        Some(self.nucleus.degree(first) + swap as Number)
    }

    fn next(&self, here: Vertex, dest: Vertex, rule: Rule) -> Vertex {
        match self.hop(here, dest, rule) {
            Hop::Within(target) => {
                let (_, first) = div_rem(here, self.nucleus.nodes());
                here - first + self.nucleus.step(first, target)
            }
            Hop::Swap(position) => self.swapped(here, position).unwrap_or(here),
        }
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        let wrong = self.wrong(from, to);
        (wrong.beyond == 0).then(|| self.order(&wrong).hops)
    }

    fn method(&self, here: Vertex, dest: Vertex, rule: Rule) -> Method {
        match rule {
            Rule::Paper => Method::Paper,
            Rule::Exact if self.wrong(here, dest).beyond == 0 => Method::Shortest,
            Rule::Exact => Method::BestTried,
        }
    }

    fn longest_route(&self, rule: Rule) -> Number {
        let one_by_one = match rule {
            Rule::Exact => Number::from(self.levels).saturating_sub(MAX_PERMUTED as Number + 1),
            Rule::Paper => 0,
        };
        self.diameter().saturating_add(one_by_one)
    }

    fn known_diameter(&self) -> Option<Number> {
        Some(self.diameter())
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits: Vec<Vertex, MAX_DIGITS> = Vec::new();
        for digit in self.digits(node) {
            // There is room: a network has no more digits.
            let _ = digits.push(digit);
        }
        out.write_str("(")?;
        while let Some(digit) = digits.pop() {
            self.nucleus.write_address(digit, out)?;
            out.write_str(if digits.is_empty() { ")" } else { "," })?;
        }
        Ok(())
    }

    /// The links of the nucleus first, in its own order from where the broadcast entered it, then the swaps from low to high.
    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        let (_, first) = div_rem(here, self.nucleus.nodes());
        if let Some(swap) = port.checked_sub(self.nucleus.degree(first)) {
            return wide(Number::from(self.levels).saturating_sub(swap));
        }
        let entry = match self.hop(here, source, Rule::Exact) {
            Hop::Within(entry) => entry,
            Hop::Swap(_) => first,
        };
        self.nucleus
            .send_priority(first, port, entry)
            .saturating_add(u64::from(self.levels) + 1)
    }
}

impl WriteExpr for Hsn {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        out.text("hsn(").number(self.levels);
        out.text(",").part(&self.nucleus).text(")");
    }
}
