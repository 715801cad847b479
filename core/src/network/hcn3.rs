//! Three-level hierarchical cubic networks, `hcn3(n)`.
//!
//! C.-H. Yeh, B. Parhami, Parallel Algorithms on Three-Level Hierarchical Cubic Networks, High Performance Computing
//! Symposium 1996.
//!
//! A node is three digits (x3,x2,x1) of n bits, x1 least significant. Links flip a bit of x1, exchange x1 with x2 or with x3
//! where these differ, and where x1 = x2 complement both: `hsn(3,hypercube(n))` with diameter links at level 2.
//!
//! Ports: the bits of x1 from the lowest, the link of level 2, and where there is one that of level 3.

use core::fmt;

use crate::arith::{Number, Vertex, count_step, ones};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::graph::next_in_hypercube;
use crate::network::expression::Reader;
use crate::topology::{Rule, Topology, lowest_closer};

/// A three-level hierarchical cubic network.
///
/// Once the order of the links between nuclei is fixed, as a word of the letters 2, 3 and D, bits are independent:
/// for each there is a least number of flips that takes it from its three values to the three it
/// should have, and all bits with the same six values cost the same. A word is useless if another is no longer and
/// costs no bit more; appending a letter preserves that order, so all useful words are found by extending useful words
/// until nothing new appears. That ends with 65 words of up to 8 letters, for every n. The distance is the minimum over them of
/// the letters plus each bit's flips, from a table of 32 cases (complementing all digits makes no difference).
///
/// The next hop is the lowest-numbered neighbor that is one closer. The paper's routing function sets x3, then x2, then x1, with one swap
/// each and without diameter links. Time O(65 n) per distance, n+3 distances per hop; a table of 1 KiB.
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "hcn3(2)".parse()?;
/// assert_eq!(network.address(0b10_01_11)?.to_string(), "(10,01,11)");
/// assert_eq!(network.distance(0, 0b00_11_11)?, Some(1)); // a diameter link
/// assert_eq!(network.next_hop(0b00_00_10, 0b10_00_00, Rule::Exact)?, 0b10_00_00); // a swap
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hcn3 {
    bits: u8,
}

/// The useful words: 2 and 3 swap x1 with x2 or x3, D complements x1 and x2.
const WORDS: [&str; 65] = [
    "", "2", "3", "D", "22", "23", "2D", "32", "33", "3D", "D2", "D3", "223", "232", "233", "23D", "2D2", "2D3", "32D",
    "33D", "3D2", "3D3", "D23", "D32", "2233", "233D", "23D2", "23D3", "2D23", "2D32", "32D2", "32D3", "33D2", "3D23",
    "3D32", "D23D", "233D2", "23D23", "23D32", "2D23D", "32D23", "32D32", "3D23D", "D23D2", "D23D3", "23D23D",
    "2D23D2", "2D23D3", "32D23D", "3D23D2", "3D23D3", "D23D23", "D23D32", "23D23D2", "23D23D3", "2D23D23", "2D23D32",
    "32D23D2", "32D23D3", "3D23D23", "3D23D32", "23D23D23", "23D23D32", "32D23D23", "32D23D32",
];

/// `hcn3(21)` has 2^63 nodes.
const MAX_BITS: usize = crate::limits::MAX_BITS as usize / 3;

/// More flips than any word needs: the word cannot reach the value.
const IMPOSSIBLE: u8 = u8::MAX;

/// What each word costs: its letters, and the flips of each case, with one of their three bits in each of the other numbers: at the place that
/// the bits x2, x1, y3, y2, y1 of the case make from high to low, x3 being 0. All are set where the word cannot reach the value.
static COSTS: [[u32; 4]; WORDS.len()] = {
    let mut table = [[0; 4]; WORDS.len()];
    let mut word = 0;
    while word < WORDS.len() {
        table[word][0] = WORDS[word].len() as u32;
        let mut case = 0;
        while case < 32 {
            let flips = flips_from(WORDS[word].as_bytes(), case >> 3)[case & 7];
            assert!(flips == IMPOSSIBLE || flips < 7, "three bits are enough");
            let mut bit = 0;
            while bit < 3 {
                table[word][1 + bit] |= (flips as u32 >> bit & 1) << case;
                bit += 1;
            }
            case += 1;
        }
        word += 1;
    }
    table
};

/// The least flips of x1 with which one bit of (x3,x2,x1) gets from `start` to each of its 8 values along a word.
const fn flips_from(word: &[u8], start: usize) -> [u8; 8] {
    let mut flips = [IMPOSSIBLE; 8];
    flips[start] = 0;
    flips = with_a_flip(flips);
    let mut letter = 0;
    while letter < word.len() {
        let mut after = [IMPOSSIBLE; 8];
        let mut bits = 0;
        while bits < 8 {
            let (x3, x2, x1) = (bits >> 2, bits >> 1 & 1, bits & 1);
            match word[letter] {
                b'2' => after[x3 << 2 | x1 << 1 | x2] = flips[bits],
                b'3' => after[x1 << 2 | x2 << 1 | x3] = flips[bits],
                // Only where x1 = x2.
                _ => {
                    if x1 == x2 {
                        after[bits ^ 3] = flips[bits];
                    }
                }
            }
            bits += 1;
        }
        flips = with_a_flip(after);
        letter += 1;
    }
    flips
}

const fn with_a_flip(flips: [u8; 8]) -> [u8; 8] {
    let mut after = flips;
    let mut bits = 0;
    while bits < 8 {
        let flipped = flips[bits ^ 1].saturating_add(1);
        if flipped < after[bits] {
            after[bits] = flipped;
        }
        bits += 1;
    }
    after
}

impl Hcn3 {
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        let bits = reader.size("n of hcn3(n)", 1, MAX_BITS as Number)?;
        Some(Hcn3 { bits: bits as u8 })
    }

    /// Bits of a digit, n.
    pub fn bits(&self) -> u64 {
        u64::from(self.bits)
    }

    /// x1, x2, x3.
    fn split(&self, node: Vertex) -> [Vertex; 3] {
        let mask = ones(Number::from(self.bits));
        [node & mask, node >> self.bits & mask, node >> (2 * self.bits) & mask]
    }

    fn join(&self, [x1, x2, x3]: [Vertex; 3]) -> Vertex {
        x3 << (2 * self.bits) | x2 << self.bits | x1
    }

    /// The other end of the link of level 2: a swap, or a leader's diameter link.
    fn across_2(&self, node: Vertex) -> Vertex {
        let [x1, x2, x3] = self.split(node);
        if x1 == x2 {
            let image = x1 ^ ones(Number::from(self.bits));
            self.join([image, image, x3])
        } else {
            self.join([x2, x1, x3])
        }
    }

    /// The other end of the link of level 3.
    fn across_3(&self, node: Vertex) -> Option<Vertex> {
        let [x1, x2, x3] = self.split(node);
        (x1 != x3).then(|| self.join([x3, x2, x1]))
    }

    fn hops(&self, from: Vertex, to: Vertex) -> Number {
        let [x1, x2, x3] = self.split(from);
        let [y1, y2, y3] = self.split(to);
        // With x3 = 0: otherwise everything is complemented.
        let digits = [y1, y2, y3, x1, x2].map(|digit| digit ^ x3);
        let mut cases = [0u8; MAX_BITS];
        for (bit, case) in cases.iter_mut().take(usize::from(self.bits)).enumerate() {
            let values = digits.iter().zip(0..);
            *case = values.fold(0, |case, (digit, place)| case | ((digit >> bit & 1) as u8) << place);
        }
        let cost = |&[letters, ones, twos, fours]: &[u32; 4]| {
            let mut cases = cases.iter().take(usize::from(self.bits));
            cases.try_fold(Number::from(letters), |hops, &case| {
                count_step();
                let flips = (ones >> case & 1) | (twos >> case & 1) << 1 | (fours >> case & 1) << 2;
                (flips != 7).then(|| hops + Number::from(flips))
            })
        };
        COSTS.iter().filter_map(cost).min().unwrap_or(Number::MAX)
    }
}

impl Topology for Hcn3 {
    const HAS_PAPER_RULE: bool = true;

    fn nodes(&self) -> Number {
        1 << (3 * self.bits)
    }

    fn degree(&self, node: Vertex) -> Number {
        Number::from(self.bits) + 1 + Number::from(self.across_3(node).is_some())
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        match port.checked_sub(Number::from(self.bits)) {
            None => Some(node ^ 1 << port),
            Some(0) => Some(self.across_2(node)),
            Some(1) => self.across_3(node),
            Some(_) => None,
        }
    }

    fn next(&self, here: Vertex, dest: Vertex, rule: Rule) -> Vertex {
        if rule == Rule::Exact {
            return lowest_closer(self, here, |node| self.hops(node, dest));
        }
        let [x1, x2, x3] = self.split(here);
        let [y1, y2, y3] = self.split(dest);
        let (target, across) = if x3 != y3 {
            (y3, self.across_3(here))
        } else if x2 != y2 {
            (y2, Some(self.across_2(here)))
        } else {
            (y1, None)
        };
        match across {
            Some(next) if x1 == target => next,
            _ => self.join([next_in_hypercube(x1, target), x2, x3]),
        }
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        Some(self.hops(from, to))
    }

    /// Three digits and a swap for two of them.
    fn longest_route(&self, _rule: Rule) -> Number {
        3 * Number::from(self.bits) + 2
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x1, x2, x3] = self.split(node);
        let width = usize::from(self.bits);
        write!(out, "({x3:0width$b},{x2:0width$b},{x1:0width$b})")
    }
}

impl WriteExpr for Hcn3 {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        out.text("hcn3(").number(self.bits).text(")");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flips(word: &str) -> [[u8; 8]; 8] {
        core::array::from_fn(|start| flips_from(word.as_bytes(), start))
    }

    /// `word` takes no more letters and no more flips for any bit than `other`.
    fn is_as_good(word: &str, other: &str) -> bool {
        let (flips, others) = (flips(word), flips(other));
        word.len() <= other.len() && flips.iter().flatten().zip(others.iter().flatten()).all(|(a, b)| a <= b)
    }

    #[test]
    fn no_word_is_missing() {
        for word in WORDS {
            for letter in ["2", "3", "D"] {
                let longer = std::format!("{word}{letter}");
                let matched = WORDS.iter().any(|known| is_as_good(known, &longer));
                assert!(matched, "{longer} is of use and not among the words");
            }
        }
    }

    #[test]
    fn no_word_is_matched_by_another() {
        for word in WORDS {
            let others = WORDS.iter().filter(|other| **other != word);
            for other in others {
                assert!(!is_as_good(other, word), "{word} is of no use: {other} is as good");
            }
        }
    }
}
