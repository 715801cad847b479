//! WK-recursive networks, `wk(N,t)`, and symmetric hypernets, `symmetric-hypernet(n,t)`.
//!
//! G. Della Vecchia, C. Sanges, A Recursively Scalable Network VLSI Implementation, FGCS 4(3), 1988.
//! R. P. Kaushal, J. S. Bedi, Comparison of Hypercube, Hypernet, and Symmetric Hypernet Architectures, Computer
//! Architecture News 20(5), 1992.
//! C.-H. Yeh, B. Parhami, Swapped Networks: Unifying the Architectures and Algorithms of a Wide Class of Hierarchical
//! Parallel Processors, ICPADS 1996, where both are partially linked swapped networks.
//!
//! The same construction over two nuclei, complete(N) and hypercube(n). A node is t digits, each a node of the nucleus;
//! links of the nucleus change the last digit. A cluster of s digits has a corner c, the node c..c, for every c, and every
//! two of the clusters that differ in the digit s alone are joined, corner to corner: x c..c to c x..x.
//! So every node but the outermost corners has just one link of this kind.
//!
//! Ports: those of the nucleus, then the link between clusters.

use core::fmt;

use crate::arith::{MAX_NODES, Number, Vertex, div_rem, wide};
use crate::graph::{Base, Kind};
use crate::limits::MAX_BITS;
use crate::network::expression::Reader;
use crate::network::spelling::{Pen, Spelled};
use crate::topology::{Rule, Topology};

/// A WK-recursive network or a symmetric hypernet.
///
/// With D the distance in the nucleus, two corners i and j of a cluster of s digits are 2^(s-1) (D(i,j) + 1) - 1 apart: a
/// walk through half of the cluster of i, and one through half of that of j. The way of a node to the corner c brings
/// one digit after the other to c, the last first, and digit s costs a link and such a walk. The way between two clusters
/// is the link between them, or, if that is shorter, two links by way of a third cluster. The next hop is the
/// lowest-numbered neighbour that is closer. The papers have no rule of their own, so both rules are this one.
///
/// A distance takes O(t) over a complete graph, where only two clusters can be a shorter way; O(t min(N,t)) over a
/// hypercube, and a next hop n + 1 times that. A few words of memory.
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "wk(4,3)".parse()?;
/// assert_eq!(network.address(27)?.to_string(), "(1,2,3)");
/// assert_eq!(network.distance(0, 63)?, Some(7)); // from corner to corner
/// // From (1,2,2) to (3,2,2), by way of the clusters of 2: five hops instead of seven.
/// assert_eq!(network.next_hop(26, 58, Rule::Exact)?, 37); // (2,1,1)
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wk {
    /// Complete, or a hypercube.
    nucleus: Base,
    digits: u8,
    nodes: Number,
}

/// Where two nodes part.
struct Parting {
    /// The digits below the highest one that differs: those of the clusters to get from and to.
    low: u32,
    /// The highest digit that differs, here and there.
    here: Number,
    there: Number,
}

/// The end of a node that a link between clusters may leave from.
struct Ending {
    /// The last digit and how often it stands at the end.
    digit: Number,
    /// What one unit of the digit before these adds to a node's number.
    weight: Number,
    /// The number with 1 for these digits and 0 for the others.
    repeated: Number,
    /// What stands before them.
    rest: Number,
}

impl Wk {
    /// Reads what follows `wk`.
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        const SIZE: &str = "N of wk(N,t)";
        reader.open(SIZE)?;
        let size = reader.number(SIZE, 2, MAX_NODES)?;
        Wk::parse_digits(reader, Base::complete(size), "t of wk(N,t)")
    }

    /// Reads what follows `symmetric-hypernet`.
    pub(crate) fn parse_hypernet(reader: &mut Reader<'_>) -> Option<Self> {
        const BITS: &str = "n of symmetric-hypernet(n,t)";
        reader.open(BITS)?;
        let bits = reader.number(BITS, 1, MAX_BITS.into())?;
        Wk::parse_digits(reader, Base::hypercube(bits as u8), "t of symmetric-hypernet(n,t)")
    }

    fn parse_digits(reader: &mut Reader<'_>, nucleus: Base, parameter: &'static str) -> Option<Self> {
        reader.comma(parameter)?;
        let digits = reader.number(parameter, 1, Number::MAX)?;
        let mut nodes = 1;
        // Refused as too large before 64 digits.
        for _ in 0..digits {
            nodes = reader.product(nodes, nucleus.nodes(), parameter)?;
        }
        reader.close(parameter)?;
        Some(Wk {
            nucleus,
            digits: digits as u8,
            nodes,
        })
    }

    /// What a digit is a node of: a complete graph or a hypercube.
    pub fn nucleus(&self) -> &Base {
        &self.nucleus
    }

    /// How many digits an address has, t.
    pub fn digits(&self) -> u64 {
        u64::from(self.digits)
    }

    /// The largest distance, 2^(t-1) (D + 1) - 1 over a nucleus of diameter D: that of opposite corners. No way to a corner
    /// of s digits is longer than 2^(s-1) (D + 1) - 1, so neither is a way by one link.
    fn diameter(&self) -> Number {
        corner_distance(u32::from(self.digits), self.nucleus.diameter())
    }

    #[inline]
    fn radix(&self) -> Number {
        self.nucleus.nodes()
    }

    /// Whether all digits are one hop from each other.
    fn is_complete(&self) -> bool {
        self.nucleus.diameter() == 1
    }

    /// The digits of a node, the last first. Without end: what stands before the first is 0.
    #[inline]
    fn digits_of(&self, node: Vertex) -> impl Iterator<Item = Number> + '_ {
        let mut rest = node;
        core::iter::repeat_with(move || {
            let (above, digit) = div_rem(rest, self.radix());
            rest = above;
            digit
        })
    }

    /// `None` if the nodes are the same.
    fn parting(&self, here: Vertex, dest: Vertex) -> Option<Parting> {
        let mut parting = None;
        let digits = self.digits_of(here).zip(self.digits_of(dest));
        for (low, (here, there)) in (0..u32::from(self.digits)).zip(digits) {
            if here != there {
                parting = Some(Parting { low, here, there });
            }
        }
        parting
    }

    /// Hops from a node to a corner of its cluster of `digits` digits.
    fn corner_hops(&self, node: Vertex, digits: u32, corner: Number) -> Number {
        let digits = (0..digits).zip(self.digits_of(node));
        digits
            .filter(|&(_, digit)| digit != corner)
            .map(|(place, digit)| match place {
                0 => self.nucleus.hops(digit, corner),
                _ => 1 + corner_distance(place, self.nucleus.hops(digit, corner)),
            })
            .sum()
    }

    /// The hops from here to there that leave the cluster by a corner: over one link if it is the digit of the other
    /// cluster, else by way of a third.
    fn hops_by(&self, corner: Number, from: Vertex, to: Vertex, parting: &Parting) -> Number {
        let Parting { low, here, there } = *parting;
        if low == 0 {
            return self.nucleus.hops(here, there);
        }
        let leaving = self.corner_hops(from, low, corner);
        if corner == there {
            leaving + 1 + self.corner_hops(to, low, here)
        } else {
            let across = corner_distance(low, self.nucleus.hops(here, there));
            leaving + 1 + across + 1 + self.corner_hops(to, low, corner)
        }
    }

    /// The corners by which a shortest path may leave the cluster of `from`; at least one does. The cluster that is left or
    /// gone to may be listed as a third one: that is never shorter than the link between them.
    fn corners(&self, from: Vertex, to: Vertex, parting: &Parting) -> impl Iterator<Item = Number> + '_ {
        let Parting { low, there, .. } = *parting;
        // Over a complete graph, with both clusters of s digits, a third cluster saves 2^i hops for each digit i that is its
        // own and costs 2^s more: so it has to be the first digit of one of them.
        let first = if self.is_complete() { low.saturating_sub(1) } else { 0 };
        let all = !self.is_complete() && self.radix() <= 2 * Number::from(low);
        let own = self.digits_of(from).zip(self.digits_of(to)).take(low as usize);
        let own = own.skip(first as usize).flat_map(|(a, b)| [a, b]);
        let middle = if self.is_complete() || all || low == 0 {
            None
        } else {
            Some(self.middle(from, to, low))
        };
        let every = if all { 0..self.radix() } else { 0..0 };
        core::iter::once(there)
            .chain(own.take(if all { 0 } else { usize::MAX }))
            .chain(middle)
            .chain(every)
    }

    /// The cluster that both ways to a third one are shortest to, but for what they save at digits that are its own: bit
    /// by bit what most digits have, weighted by what a bit costs in them.
    fn middle(&self, from: Vertex, to: Vertex, low: u32) -> Number {
        let bits = self.radix().trailing_zeros();
        let is_set = |bit: u32| {
            let digits = self.digits_of(from).zip(self.digits_of(to));
            let mut balance = 0i64;
            for (place, (a, b)) in (0..low).zip(digits) {
                let weight = 1i64 << place.saturating_sub(1);
                for digit in [a, b] {
                    balance += if digit >> bit & 1 == 1 { weight } else { -weight };
                }
            }
            balance > 0
        };
        (0..bits).filter(|&bit| is_set(bit)).map(|bit| 1 << bit).sum()
    }

    fn ending(&self, node: Vertex) -> Ending {
        let (rest, digit) = div_rem(node, self.radix());
        let mut ending = Ending {
            digit,
            weight: self.radix(),
            repeated: 1,
            rest,
        };
        while ending.weight < self.nodes {
            let (rest, digit) = div_rem(ending.rest, self.radix());
            if digit != ending.digit {
                break;
            }
            ending.rest = rest;
            ending.repeated += ending.weight;
            ending.weight *= self.radix();
        }
        ending
    }

    /// The other end of the link between clusters; `None` for an outermost corner.
    fn link(&self, node: Vertex) -> Option<Vertex> {
        let ending = self.ending(node);
        if ending.weight == self.nodes {
            return None;
        }
        let (prefix, before) = div_rem(ending.rest, self.radix());
        Some((prefix * self.radix() + ending.digit) * ending.weight + before * ending.repeated)
    }

    /// Of the neighbours one hop closer the one with the lowest number.
    fn lowest_closer(&self, here: Vertex, dest: Vertex, parting: &Parting) -> Vertex {
        let (_, last) = div_rem(here, self.radix());
        if self.is_complete() {
            // There is only one hop towards a corner.
            let shortest = self.shortest(here, dest, parting);
            let corners = self.corners(here, dest, parting);
            let corners = corners.filter(|&corner| self.hops_by(corner, here, dest, parting) == shortest);
            let hops = corners.filter_map(|corner| match last == corner {
                true => self.link(here),
                false => Some(here - last + corner),
            });
            return hops.min().unwrap_or(here);
        }
        let ports = 0..self.degree(here);
        let neighbors = ports.filter_map(|port| self.neighbor(here, port));
        let hops = self.shortest(here, dest, parting);
        let closer = neighbors.filter(|&neighbor| self.distance(neighbor, dest).is_some_and(|left| left < hops));
        closer.min().unwrap_or(here)
    }

    fn shortest(&self, from: Vertex, to: Vertex, parting: &Parting) -> Number {
        let corners = self.corners(from, to, parting);
        corners
            .map(|corner| self.hops_by(corner, from, to, parting))
            .min()
            .unwrap_or(0)
    }
}

/// Hops between two corners of a cluster of so many digits, whose digits are so many apart in the nucleus.
#[inline]
fn corner_distance(digits: u32, hops: Number) -> Number {
    if hops == 0 {
        0
    } else {
        ((hops + 1) << digits.saturating_sub(1)) - 1
    }
}

impl Topology for Wk {
    fn nodes(&self) -> Number {
        self.nodes
    }

    fn degree(&self, node: Vertex) -> Number {
        let own = self.nucleus.degree(div_rem(node, self.radix()).1);
        own + Number::from(self.ending(node).weight < self.nodes)
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let (_, last) = div_rem(node, self.radix());
        match port.checked_sub(self.nucleus.degree(last)) {
            None => Some(node - last + self.nucleus.neighbor(last, port)?),
            Some(0) => self.link(node),
            Some(_) => None,
        }
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        let ((prefix, last), (other, digit)) = (div_rem(node, self.radix()), div_rem(neighbor, self.radix()));
        if prefix == other {
            self.nucleus.port_to(last, digit)
        } else {
            (self.link(node) == Some(neighbor)).then(|| self.nucleus.degree(last))
        }
    }

    fn next(&self, here: Vertex, dest: Vertex, _rule: Rule) -> Vertex {
        match self.parting(here, dest) {
            Some(parting) => self.lowest_closer(here, dest, &parting),
            None => here,
        }
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        Some(match self.parting(from, to) {
            Some(parting) => self.shortest(from, to, &parting),
            None => 0,
        })
    }

    fn longest_route(&self, _rule: Rule) -> Number {
        self.diameter()
    }

    fn known_diameter(&self) -> Option<Number> {
        Some(self.diameter())
    }

    fn vertex_transitive(&self) -> bool {
        self.digits == 1
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut weight = self.nodes;
        let mut rest = node;
        for place in 0..self.digits {
            out.write_str(if place == 0 { "(" } else { "," })?;
            (weight, _) = div_rem(weight, self.radix());
            let (digit, below) = div_rem(rest, weight);
            self.nucleus.write_address(digit, out)?;
            rest = below;
        }
        out.write_str(")")
    }

    /// The more digits the cluster has that a link leads to, the longer it takes there; a node of the nucleus has its own
    /// such link still ahead. Over a hypercube the order of the ports does as well.
    fn urgency(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        let own = self.nucleus.degree(div_rem(here, self.radix()).1);
        if !self.is_complete() {
            0
        } else if port == own {
            wide(self.ending(here).repeated.saturating_mul(2))
        } else {
            match self.neighbor(here, port) {
                Some(child) if self.passes_on(child, own, source) => {
                    wide(self.ending(child).repeated.saturating_mul(2).saturating_add(1))
                }
                _ => 0,
            }
        }
    }
}

impl Spelled for Wk {
    fn spell(&self, pen: &mut Pen<'_>) {
        match &self.nucleus.0 {
            Kind::Hypercube(cube) => pen.text("symmetric-hypernet(").number(cube.bits),
            _ => pen.text("wk(").number(self.radix()),
        };
        pen.text(",").number(self.digits).text(")");
    }
}
