//! Hypernets, `hypernet(n,l)`.
//!
//! K. Hwang, J. Ghosh, Hypernet: A Communication Efficient Architecture for Constructing Massively Parallel Computers, IEEE
//! Trans. Computers 36(12), 1987; as a partially linked swapped network in C.-H. Yeh, B. Parhami, Swapped Networks,
//! ICPADS 1996.
//!
//! Level 1 is hypercube(n). Level i is 2^h clusters, each a level i-1, with h = k - i + 1 for clusters of k bits; every two
//! clusters c and d are joined by one link, from the node d01..1 of c to the node c01..1 of d. A node whose number ends in
//! 01..1 with i-2 ones is a port: its link, if it has one, is of level i. So every node has at most one.
//!
//! Ports: the bits of the hypercube from the lowest, then the link between clusters.

mod last_bits;
mod pairs;

use core::fmt;

use heapless::Vec;

use crate::arith::{Number, Vertex, count_step, ones, wide};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::limits::MAX_BITS;
use crate::network::expression::{BrokenRule, Reader};
use crate::topology::{Rule, Topology, lowest_closer};
use last_bits::LastBits;

/// A hypernet.
///
/// The path from one cluster to another takes the link between them, or two links through a third cluster. The cheapest
/// third cluster is found without trying them all: it is a walk in a cluster of the level below that touches some
/// port of this level, from the place in the first cluster to that in the last. So a query on one level becomes
/// four queries on the level below, each with the levels whose ports the walk has to touch, and on level 1 only
/// the last bits matter for that. The next hop is the lowest-numbered neighbor that is closer. The papers define no routing
/// function, so both are this one.
///
/// Level l takes O(4^l) walks in a graph of at most 32 nodes, with l at most 6 for n >= 3, and 1.5 KiB of stack;
/// a next hop n + 1 times that. `hypernet(2,l)` has two clusters to a level and takes O(l).
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "hypernet(3,2)".parse()?;
/// assert_eq!(network.nodes(), 32);
/// assert_eq!(network.address(0b01_110)?.to_string(), "(01,110)");
/// assert_eq!(network.neighbor(0b01_110, 3)?, Some(0b11_010));
/// assert_eq!(network.distance(0b00_111, 0b11_111)?, Some(5));
/// assert_eq!(network.next_hop(0b00_111, 0b11_111, Rule::Exact)?, 0b00_110);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hypernet {
    /// Bits of level 1, n.
    cube: u8,
    levels: u8,
    bits: u8,
}

/// Maximum depth of the search: with n >= 3 there are at most 6 levels, and the lowest needs no frame.
const MAX_FRAMES: usize = 5;

/// A set of levels from 2 up: level i is bit i - 2.
type Levels = u8;

fn only(level: u8) -> Levels {
    1 << level.saturating_sub(2)
}

/// The subsets of a set, larger numbers first.
fn subsets(set: Levels) -> impl Iterator<Item = Levels> {
    core::iter::successors(Some(set), move |subset| {
        count_step();
        Some(subset.checked_sub(1)? & set)
    })
}

/// By set of levels, the hops of the shortest walk that touches a port of each.
#[derive(Clone, Copy)]
struct Walks([u16; 32]);

impl Walks {
    fn hops(&self, touching: Levels) -> Number {
        self.0.get(usize::from(touching)).copied().map_or(0, Number::from)
    }

    fn set(&mut self, touching: Levels, hops: Number) {
        if let Some(slot) = self.0.get_mut(usize::from(touching)) {
            *slot = hops as u16;
        }
    }

    /// Adds hops to all walks.
    fn add(&mut self, hops: u16) {
        for slot in &mut self.0 {
            *slot = slot.saturating_add(hops);
        }
    }
}

/// The query for the lengths of walks in a network of this level that touch ports of any of these levels.
#[derive(Clone, Copy)]
struct Query {
    level: u8,
    from: Vertex,
    to: Vertex,
    touching: Levels,
}

/// The four queries within clusters that a query between two clusters is reduced to, in order.
#[derive(Clone, Copy)]
enum Part {
    /// In the first cluster, to its end of the link between the two.
    ToLink,
    /// In the last cluster, from its end of that link.
    FromLink,
    /// In both, by a third cluster: to the port of the third in the first cluster and from its port in the last. These
    /// ports have the same place in their clusters, so it is one walk from place to place that touches some port of this level.
    OutsideThird,
    /// Across the third, from its port to the first to its port to the last.
    AcrossThird,
}

const PARTS: [Part; 4] = [Part::ToLink, Part::FromLink, Part::OutsideThird, Part::AcrossThird];

/// A query between two clusters, and the walks found within them so far.
struct Frame {
    query: Query,
    /// Bits of a cluster.
    low: u8,
    /// The results of the first of [`PARTS`].
    answers: Vec<Walks, 4>,
}

impl Frame {
    fn new(query: Query, low: u8) -> Self {
        Frame {
            query,
            low,
            answers: Vec::new(),
        }
    }

    /// The next query without a result.
    fn ask(&self) -> Option<Query> {
        PARTS.get(self.answers.len()).map(|&part| self.part(part))
    }

    fn part(&self, part: Part) -> Query {
        let level = self.query.level;
        let Query { from, to, touching, .. } = self.query;
        let within = |node: Vertex| node & ones(Number::from(self.low));
        let port_to = |node: Vertex| {
            let cluster = node >> self.low;
            cluster << (level - 1) | ones(Number::from(level - 2))
        };
        let (from, to, touching) = match part {
            Part::ToLink => (within(from), port_to(to), touching),
            Part::FromLink => (port_to(from), within(to), touching),
            Part::OutsideThird => (within(from), within(to), touching | only(level)),
            Part::AcrossThird => (port_to(from), port_to(to), touching),
        };
        Query {
            level: level - 1,
            from,
            to,
            touching,
        }
    }

    /// The shorter of one link and two, with the ports to touch distributed in the best way.
    fn answer(&self) -> Walks {
        let mut walks = Walks([0; 32]);
        let [to_link, from_link, outside_third, across_third] = self.answers.as_slice() else {
            return walks;
        };
        let some_port = only(self.query.level);
        for touching in subsets(self.query.touching) {
            let hops = subsets(touching).map(|share| {
                let rest = touching & !share;
                let by_link = to_link.hops(share) + 1 + from_link.hops(rest);
                let by_third = outside_third.hops(share | some_port) + 2 + across_third.hops(rest);
                by_link.min(by_third)
            });
            walks.set(touching, hops.min().unwrap_or(0));
        }
        walks
    }
}

impl Hypernet {
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        const CUBE: &str = "n of hypernet(n,l)";
        const LEVELS: &str = "l of hypernet(n,l)";
        let cube = reader.first_number(CUBE, 1, MAX_BITS.into())?;
        let levels = reader.next_number(LEVELS, 1, Number::MAX)?;
        if cube == 1 && levels > 1 {
            let rule =
                BrokenRule::Expected("1 if n is 1: a cluster of two nodes has no room for the number of another");
            return reader.refuse(LEVELS, rule);
        }
        let mut bits = cube;
        // Each level adds a bit or more.
        for level in 2..=levels {
            bits = 2 * bits + 1 - level;
            if bits > Number::from(MAX_BITS) {
                return reader.refuse(LEVELS, BrokenRule::TooManyNodes);
            }
        }
        reader.close(LEVELS)?;
        Some(Hypernet {
            cube: cube as u8,
            levels: levels as u8,
            bits: bits as u8,
        })
    }

    /// Bits of level 1, n.
    pub fn cube_bits(&self) -> u64 {
        u64::from(self.cube)
    }

    /// The number of levels, l.
    pub fn levels(&self) -> u64 {
        u64::from(self.levels)
    }

    /// Bits of a node of a level: n on level 1, then k + h with h = k - i + 1.
    pub fn level_bits(&self, level: u64) -> u64 {
        wide(self.bits_of(level as Number))
    }

    fn bits_of(&self, level: Number) -> Number {
        (2..=level).fold(Number::from(self.cube), |bits, level| 2 * bits + 1 - level)
    }

    /// The other end of the link between clusters, if the node has one.
    fn link(&self, node: Vertex) -> Option<Vertex> {
        let level = Number::from(node.trailing_ones()) + 2;
        if level > Number::from(self.levels) {
            return None;
        }
        let fixed = level - 1;
        let field = self.bits_of(level) - self.bits_of(level - 1);
        let (inner, outer) = (node >> fixed & ones(field), node >> (fixed + field) & ones(field));
        let both = inner ^ outer;
        (both != 0).then_some(node ^ both << fixed ^ both << (fixed + field))
    }

    /// The lowest level searched node by node: where the ports of all levels can be distinguished.
    fn lowest(&self) -> u8 {
        if self.cube == 3 && self.levels > 4 { 2 } else { 1 }
    }

    /// The same query in the smallest cluster that holds both nodes.
    fn narrowed(&self, mut query: Query) -> (Query, u8) {
        loop {
            let low = self.bits_of(Number::from(query.level - 1)) as u8;
            if query.level == self.lowest() || query.from >> low != query.to >> low {
                return (query, low);
            }
            query.level -= 1;
            query.from &= ones(Number::from(low));
            query.to &= ones(Number::from(low));
        }
    }

    /// The result on the lowest level, where only the last bits decide which ports a walk touches: the others can be flipped
    /// at any time.
    fn lowest_walks(&self, query: &Query) -> Walks {
        let Query { from, to, touching, .. } = *query;
        if self.lowest() > 1 {
            return LastBits::LINKED_CUBE.walks(from, to, touching);
        }
        let bits = usize::from(self.levels - 1).min(4);
        let last = ones(bits as Number);
        let mut walks = LastBits::cube(bits).walks(from & last, to & last, touching);
        walks.add(((from ^ to) >> bits).count_ones() as u16);
        walks
    }

    /// The distance for n >= 3: each query is split until its parts are on the lowest level, depth first.
    fn hops(&self, from: Vertex, to: Vertex) -> Option<Number> {
        let mut frames = Vec::<Frame, MAX_FRAMES>::new();
        let mut query = Query {
            level: self.levels,
            from,
            to,
            touching: 0,
        };
        loop {
            let (narrowed, low) = self.narrowed(query);
            if narrowed.level > self.lowest() {
                let frame = Frame::new(narrowed, low);
                query = frame.ask()?;
                frames.push(frame).ok()?;
                continue;
            }
            let mut answer = self.lowest_walks(&narrowed);
            // A completed frame is a result for the frame above.
            query = loop {
                let Some(frame) = frames.last_mut() else {
                    return Some(answer.hops(0));
                };
                frame.answers.push(answer).ok()?;
                if let Some(next) = frame.ask() {
                    break next;
                }
                answer = frame.answer();
                frames.pop();
            };
        }
    }
}

impl Topology for Hypernet {
    fn nodes(&self) -> Number {
        1 << self.bits
    }

    fn degree(&self, node: Vertex) -> Number {
        Number::from(self.cube) + Number::from(self.link(node).is_some())
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        match port.checked_sub(Number::from(self.cube)) {
            None => Some(node ^ 1 << port),
            Some(0) => self.link(node),
            Some(_) => None,
        }
    }

    fn next(&self, here: Vertex, dest: Vertex, _rule: Rule) -> Vertex {
        lowest_closer(self, here, |node| self.distance(node, dest).unwrap_or(Number::MAX))
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        match self.cube {
            _ if self.levels == 1 => Some(Number::from((from ^ to).count_ones())),
            2 => Some(pairs::hops(self.levels, from, to)),
            _ => self.hops(from, to),
        }
    }

    /// Twice the level below and a link, if no third cluster is shorter: 2^(l-1) (n + 1) - 1.
    fn longest_route(&self, _rule: Rule) -> Number {
        ((Number::from(self.cube) + 1) << (self.levels - 1)) - 1
    }

    /// The largest distance: n on level 1 and 2n + 1 on level 2, which opposite nodes c1 and d1 of opposite clusters d' and c' reach over
    /// one link; two links take one hop more. No closed form is known above.
    fn known_diameter(&self) -> Option<Number> {
        (self.levels <= 2).then(|| self.longest_route(Rule::Exact))
    }

    fn vertex_transitive(&self) -> bool {
        self.levels == 1
    }

    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut high = Number::from(self.bits);
        for level in (1..=Number::from(self.levels)).rev() {
            out.write_str(if level == Number::from(self.levels) { "(" } else { "," })?;
            let low = if level == 1 { 0 } else { self.bits_of(level - 1) };
            write!(
                out,
                "{:0>1$b}",
                node >> low & ones(high - low),
                (high - low).min(64) as usize
            )?;
            high = low;
        }
        out.write_str(")")
    }
}

impl WriteExpr for Hypernet {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        out.text("hypernet(").number(self.cube);
        out.text(",").number(self.levels).text(")");
    }
}
