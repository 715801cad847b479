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

use crate::arith::{Number, Vertex, div_rem, wide};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::graph::{Base, Kind};
use crate::limits::MAX_BITS;
use crate::network::expression::Reader;
use crate::topology::{Rule, Topology, lowest_closer};

/// A WK-recursive network or a symmetric hypernet.
///
/// With D the distance in the nucleus, two corners i and j of a cluster of s digits are 2^(s-1) (D(i,j) + 1) - 1 apart: a
/// walk through half of the cluster of i, and one through half of that of j. The path of a node to the corner c brings
/// one digit after the other to c, the last first, and digit s costs a link and such a walk. The path between two clusters
/// takes the link between them, or, if that is shorter, two links through a third cluster. The next hop is the
/// lowest-numbered neighbor that is closer. The papers define no routing function, so both are this one.
///
/// A distance takes O(t) over a complete graph, where only two third clusters can be shorter; O(t min(N,t)) over a
/// hypercube, and a next hop n + 1 times that. A few words of memory.
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "wk(4,3)".parse()?;
/// assert_eq!(network.address(27)?.to_string(), "(1,2,3)");
/// assert_eq!(network.distance(0, 63)?, Some(7)); // from corner to corner
/// // From (1,2,2) to (3,2,2), through the cluster of 2: five hops instead of seven.
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

/// The digit at which two nodes diverge.
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
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        const SIZE: &str = "N of wk(N,t)";
        reader.open(SIZE)?;
        let size = reader.hub_number(SIZE)?;
        Wk::parse_digits(reader, Base::complete(size), "t of wk(N,t)")
    }

    pub(crate) fn parse_hypernet(reader: &mut Reader<'_>) -> Option<Self> {
        const BITS: &str = "n of symmetric-hypernet(n,t)";
        let bits = reader.first_number(BITS, 1, MAX_BITS.into())?;
        Wk::parse_digits(reader, Base::hypercube(bits as u8), "t of symmetric-hypernet(n,t)")
    }

    fn parse_digits(reader: &mut Reader<'_>, nucleus: Base, parameter: &'static str) -> Option<Self> {
        let digits = reader.next_number(parameter, 1, Number::MAX)?;
        let mut nodes = 1;
        // Rejected as too large before 64 digits.
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

    /// The nucleus of the digits: a complete graph or a hypercube.
    pub fn nucleus(&self) -> &Base {
        &self.nucleus
    }

    /// The number of digits of an address, t.
    pub fn digits(&self) -> u64 {
        u64::from(self.digits)
    }

    #[inline]
    fn radix(&self) -> Number {
        self.nucleus.nodes()
    }

    /// Whether all digits are one hop from each other.
    fn is_complete(&self) -> bool {
        self.nucleus.diameter() == 1
    }

    /// The digits of a node, the last first. Infinite: zeros precede the first digit.
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
    /// cluster, else through a third.
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

    /// The length of a shortest path, which leaves the cluster over the link to the other one, or by the corner of a third.
    /// The first and the last cluster may be tried as a third one: that is never shorter than the link between them.
    fn shortest(&self, from: Vertex, to: Vertex, parting: &Parting) -> Number {
        let hops_by = |corner| self.hops_by(corner, from, to, parting);
        let candidates = 2 * Number::from(parting.low);
        let by_third = if self.is_complete() {
            self.thirds_over_complete(from, to, parting)
                .into_iter()
                .map(hops_by)
                .min()
        } else if self.radix() <= candidates {
            // There are fewer corners than candidates.
            (0..self.radix()).map(hops_by).min()
        } else {
            self.thirds_over_hypercube(from, to, parting).map(hops_by).min()
        };
        let by_link = hops_by(parting.there);
        by_third.map_or(by_link, |hops| hops.min(by_link))
    }

    fn hops(&self, from: Vertex, to: Vertex) -> Number {
        self.parting(from, to)
            .map_or(0, |parting| self.shortest(from, to, &parting))
    }

    /// The third clusters that a shortest path over a complete graph may pass. With clusters of s digits, a third one saves
    /// 2^i hops for each digit i of either node that equals it, and costs 2^s more: so it has to be the first digit of one
    /// of them.
    fn thirds_over_complete(&self, from: Vertex, to: Vertex, parting: &Parting) -> [Number; 2] {
        [from, to].map(|node| match parting.low.checked_sub(1) {
            Some(first) => self.digits_of(node).nth(first as usize).unwrap_or(0),
            None => parting.there,
        })
    }

    /// The third clusters that a shortest path over a hypercube may pass. A path to a corner is the shorter the closer the
    /// node's digits are to it, and saves another link at each digit that equals it. So the best is a digit of either node or
    /// the corner nearest to all of them.
    fn thirds_over_hypercube(&self, from: Vertex, to: Vertex, parting: &Parting) -> impl Iterator<Item = Number> + '_ {
        let digits = self.digits_of(from).zip(self.digits_of(to));
        let own = digits.take(parting.low as usize).flat_map(|(a, b)| [a, b]);
        let nearest = (parting.low > 0).then(|| self.nearest_corner(from, to, parting.low));
        own.chain(nearest)
    }

    /// The corner of a hypercube with the fewest hops from the `low` last digits of both nodes, disregarding the savings of digits
    /// that equal it: each bit is the majority of the digits, weighted by the cost of a hop.
    fn nearest_corner(&self, from: Vertex, to: Vertex, low: u32) -> Number {
        let most_have = |bit: u32| {
            let digits = self.digits_of(from).zip(self.digits_of(to));
            let mut balance = 0i64;
            for (place, (a, b)) in (0..low).zip(digits) {
                // As in `corner_distance`.
                let hop_cost = 1i64 << place.saturating_sub(1);
                for digit in [a, b] {
                    balance += if digit >> bit & 1 == 1 { hop_cost } else { -hop_cost };
                }
            }
            balance > 0
        };
        let bits = 0..self.radix().trailing_zeros();
        bits.filter(|&bit| most_have(bit))
            .fold(0, |corner, bit| corner | 1 << bit)
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

    /// Over a complete graph there is only one hop toward a corner, so the best corners determine the closer neighbors.
    fn lowest_closer_over_complete(&self, here: Vertex, dest: Vertex, parting: &Parting) -> Option<Vertex> {
        let (_, last) = div_rem(here, self.radix());
        let hop_toward = |corner: Number| {
            if last == corner {
                self.link(here)
            } else {
                Some(here - last + corner)
            }
        };
        let shortest = self.shortest(here, dest, parting);
        let thirds = self.thirds_over_complete(here, dest, parting);
        let corners = core::iter::once(parting.there).chain(thirds);
        let best = corners.filter(|&corner| self.hops_by(corner, here, dest, parting) == shortest);
        best.filter_map(hop_toward).min()
    }
}

/// Hops between two corners of a cluster of this many digits, given the distance of their digits in the nucleus.
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
        let Some(parting) = self.parting(here, dest) else {
            return here;
        };
        if self.is_complete() {
            let closer = self.lowest_closer_over_complete(here, dest, &parting);
            return closer.unwrap_or(here);
        }
        // Over a hypercube several hops can lead toward a corner, so the distances of the neighbors are compared.
        lowest_closer(self, here, |node| self.hops(node, dest))
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        Some(self.hops(from, to))
    }

    /// 2^(t-1) (D + 1) - 1 over a nucleus of diameter D: the distance of opposite corners. No path to a corner of s digits is longer
    /// than 2^(s-1) (D + 1) - 1, so neither is one over a single link.
    fn known_diameter(&self) -> Option<Number> {
        Some(corner_distance(u32::from(self.digits), self.nucleus.diameter()))
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

    /// The more digits the cluster behind a link has, the longer its broadcast takes; a node of the nucleus still has its own
    /// such link ahead. Over a hypercube the port order does as well.
    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
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

impl WriteExpr for Wk {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        match &self.nucleus.0 {
            Kind::Hypercube(cube) => out.text("symmetric-hypernet(").number(cube.bits),
            _ => out.text("wk(").number(self.radix()),
        };
        out.text(",").number(self.digits).text(")");
    }
}
