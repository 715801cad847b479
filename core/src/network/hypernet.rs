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

use core::fmt;

use heapless::Vec;

use crate::arith::{Number, Vertex, ones, wide};
use crate::limits::MAX_BITS;
use crate::network::expression::{BrokenRule, Reader};
use crate::network::spelling::{Pen, Spelled};
use crate::topology::{Rule, Topology};

/// A hypernet.
///
/// The way from one cluster to another is the link between them or two links by way of a third cluster. What the third
/// one costs least is found without trying them all: it is a walk in the cluster of the one level below that comes by some
/// port of this level, from the place in the first cluster to that in the last. So a question about one level is
/// four questions about the level below, each with the levels whose ports the walk has to touch, and on level 1 only
/// the last bits matter to that. The next hop is the lowest-numbered neighbour that is closer. The papers have no rule
/// of their own, so both rules are this one.
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
    /// Bits in all.
    bits: u8,
}

/// With n >= 3 there are at most 6 levels, and the lowest asks no further.
const MAX_FRAMES: usize = 5;

/// A set of levels from 2 up: level i is bit i - 2.
type Levels = u8;

fn only(level: u8) -> Levels {
    1 << level.saturating_sub(2)
}

/// The subsets of a set, larger numbers first: all that contain a set come before it.
fn subsets(set: Levels) -> impl Iterator<Item = Levels> {
    core::iter::successors(Some(set), move |subset| Some(subset.checked_sub(1)? & set))
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
}

/// How long are the walks in a network of this level that touch ports of any of these levels?
#[derive(Clone, Copy)]
struct Question {
    level: u8,
    from: Vertex,
    to: Vertex,
    touching: Levels,
}

/// A question between two clusters, and what is known about the walks within them.
struct Frame {
    question: Question,
    /// Bits of a cluster.
    low: u8,
    answers: Vec<Walks, 4>,
}

impl Frame {
    /// The four questions within a cluster: to the link, and from it; from place to place, by a port of any third
    /// cluster; and across that.
    fn ask(&self) -> Option<Question> {
        let Question {
            level,
            from,
            to,
            touching,
        } = self.question;
        let port = |cluster: Number| cluster << (level - 1) | ones(Number::from(level - 2));
        let (first, last) = (port(from >> self.low), port(to >> self.low));
        let within = |node: Vertex| node & ones(Number::from(self.low));
        let (from, to, touching) = match self.answers.len() {
            0 => (within(from), last, touching),
            1 => (first, within(to), touching),
            2 => (within(from), within(to), touching | only(level)),
            3 => (first, last, touching),
            _ => return None,
        };
        Some(Question {
            level: level - 1,
            from,
            to,
            touching,
        })
    }

    /// The shorter of one link and two, with the ports to touch shared out in the best way.
    fn answer(&self) -> Walks {
        let mut walks = Walks([0; 32]);
        let [to_link, from_link, by_third, across] = self.answers.as_slice() else {
            return walks;
        };
        let third = only(self.question.level);
        for touching in subsets(self.question.touching) {
            let shares = subsets(touching).map(|share| {
                let rest = touching & !share;
                let one = to_link.hops(share) + 1 + from_link.hops(rest);
                let two = by_third.hops(share | third) + 2 + across.hops(rest);
                one.min(two)
            });
            walks.set(touching, shares.min().unwrap_or(0));
        }
        walks
    }
}

/// Sets of up to 32 nodes as bits, for walks on the lowest level.
mod small {
    use super::{Levels, Number, Walks, only, subsets};

    /// The nodes that have a 0 in bit 0, 1, ..
    const WITHOUT_BIT: [u32; 5] = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff, 0x0000_ffff];

    /// The ports of level 2, 3, ..: those that end in 0, 01, 011, ..
    const PORTS: [u32; 5] = [0x5555_5555, 0x2222_2222, 0x0808_0808, 0x0080_0080, 0x0000_8000];

    /// A graph of which only the last bits matter.
    pub(super) struct Graph {
        /// The bits that every node can flip.
        pub(super) cube: usize,
        /// Whether there are the links of level 2 over hypercube(3) as well.
        pub(super) linked: bool,
    }

    impl Graph {
        fn neighbors(&self, nodes: u32) -> u32 {
            let flips = WITHOUT_BIT.iter().zip(0..).take(self.cube);
            let flipped = flips.map(|(&without, bit)| (nodes & without) << (1 << bit) | nodes >> (1 << bit) & without);
            let clusters = if self.linked { 0..4 } else { 0..0 };
            let links = clusters.flat_map(|a| (0..4).map(move |b| (a << 3 | b << 1, b << 3 | a << 1)));
            let linked = links.map(|(node, other)| (nodes >> node & 1) << other);
            flipped.chain(linked).fold(0, |all, some| all | some)
        }

        /// Walks of at most 0, 1, .. hops at once, by the ports they touched.
        pub(super) fn walks(&self, from: Number, to: Number, touching: Levels, further: Number) -> Walks {
            // The sum of all bits, the links among them, for every port and the end; shorter walks exist.
            const LONGEST: Number = 64;
            let (from, to) = (1u32 << (from & 31), 1u32 << (to & 31));
            let mut reached = [0u32; 32];
            reached[0] = from;
            let mut walks = Walks([u16::MAX; 32]);
            let mut missing = subsets(touching).count();
            for hops in 0..=LONGEST {
                for set in subsets(touching) {
                    let came = |set: Levels| {
                        let nodes = reached.get(usize::from(set)).copied().unwrap_or(0);
                        if hops == 0 {
                            nodes
                        } else {
                            nodes | self.neighbors(nodes)
                        }
                    };
                    let touched = PORTS.iter().zip(2..).filter(|&(_, level)| set & only(level) != 0);
                    let nodes = touched.fold(came(set), |nodes, (ports, level)| {
                        nodes | came(set & !only(level)) & ports
                    });
                    if nodes & to != 0 && walks.hops(set) == Number::from(u16::MAX) {
                        walks.set(set, hops + further);
                        missing -= 1;
                    }
                    if let Some(slot) = reached.get_mut(usize::from(set)) {
                        *slot = nodes;
                    }
                }
                if missing == 0 {
                    break;
                }
            }
            walks
        }
    }
}

impl Hypernet {
    /// Reads what follows `hypernet`.
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        const CUBE: &str = "n of hypernet(n,l)";
        const LEVELS: &str = "l of hypernet(n,l)";
        reader.open(CUBE)?;
        let cube = reader.number(CUBE, 1, MAX_BITS.into())?;
        reader.comma(LEVELS)?;
        let levels = reader.number(LEVELS, 1, Number::MAX)?;
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

    /// How many levels there are, l.
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

    /// The lowest level that is walked through node by node: where the ports of all levels can be told apart.
    fn lowest(&self) -> u8 {
        if self.cube == 3 && self.levels > 4 { 2 } else { 1 }
    }

    /// The same question in the smallest cluster that holds both nodes.
    fn narrowed(&self, question: Question) -> (Question, u8) {
        let Question {
            mut level,
            mut from,
            mut to,
            touching,
        } = question;
        loop {
            let low = self.bits_of(Number::from(level - 1)) as u8;
            if level == self.lowest() || from >> low != to >> low {
                let question = Question {
                    level,
                    from,
                    to,
                    touching,
                };
                return (question, low);
            }
            level -= 1;
            from &= ones(Number::from(low));
            to &= ones(Number::from(low));
        }
    }

    fn lowest_walks(&self, question: &Question) -> Walks {
        let Question { from, to, touching, .. } = *question;
        let (cube, linked) = match self.lowest() {
            1 => (usize::from(self.levels - 1).min(4), false),
            _ => (3, true),
        };
        let further = if linked { 0 } else { (from ^ to) >> cube };
        let graph = small::Graph { cube, linked };
        let mask = if linked { 31 } else { ones(cube as Number) };
        graph.walks(from & mask, to & mask, touching, Number::from(further.count_ones()))
    }

    /// The distance for n >= 3.
    fn hops(&self, from: Vertex, to: Vertex) -> Option<Number> {
        let mut frames = Vec::<Frame, MAX_FRAMES>::new();
        let mut question = Question {
            level: self.levels,
            from,
            to,
            touching: 0,
        };
        loop {
            let (narrowed, low) = self.narrowed(question);
            let mut answer = None;
            if narrowed.level == self.lowest() {
                answer = Some(self.lowest_walks(&narrowed));
            } else {
                let frame = Frame {
                    question: narrowed,
                    low,
                    answers: Vec::new(),
                };
                frames.push(frame).ok()?;
            }
            // A frame that has all its answers is one for the frame above.
            question = loop {
                let Some(frame) = frames.last_mut() else {
                    return answer.map(|walks| walks.hops(0));
                };
                if let Some(walks) = answer.take() {
                    frame.answers.push(walks).ok()?;
                }
                if let Some(question) = frame.ask() {
                    break question;
                }
                answer = Some(frame.answer());
                frames.pop();
            };
        }
    }

    /// The distance for n = 2, where a level is two clusters and the one link from 101..1 of the first to 001..1 of the
    /// second. Within a cluster, the ends of the links of all levels above are four nodes; from level to level the
    /// distances between these and the two nodes asked for are kept.
    fn hops_of_pairs(&self, from: Vertex, to: Vertex) -> Number {
        // The two nodes, then what the links above end in: 101..1, 001..1, 01..1 and 1..1.
        const HERE: usize = 0;
        const THERE: usize = 1;
        const FIRST: usize = 2;
        const SECOND: usize = 3;
        /// Without their first bit these are on the level below: the two nodes, 01..1, 01..1, 1..1 and 1..1.
        const BELOW: [usize; 6] = [HERE, THERE, 4, 4, 5, 5];
        let is_high = |place: usize, level: u8| match place {
            HERE => from >> level & 1 == 1,
            THERE => to >> level & 1 == 1,
            FIRST | 5 => true,
            _ => false,
        };
        let square = [from & 3, to & 3, 0b10, 0b00, 0b01, 0b11];
        let mut hops = square.map(|a| square.map(|b| Number::from((a ^ b).count_ones())));
        let pick =
            |hops: &[[Number; 6]; 6], a: usize, b: usize| hops.get(a).and_then(|row| row.get(b)).copied().unwrap_or(0);
        for level in 2..=self.levels {
            let mut above = [[0; 6]; 6];
            for ((a, row), &low_a) in above.iter_mut().enumerate().zip(&BELOW) {
                for ((b, slot), &low_b) in row.iter_mut().enumerate().zip(&BELOW) {
                    *slot = match (is_high(a, level), is_high(b, level)) {
                        (false, true) => pick(&hops, low_a, FIRST) + 1 + pick(&hops, SECOND, low_b),
                        (true, false) => pick(&hops, low_b, FIRST) + 1 + pick(&hops, SECOND, low_a),
                        _ => pick(&hops, low_a, low_b),
                    };
                }
            }
            hops = above;
        }
        pick(&hops, HERE, THERE)
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
        let Some(hops) = self.distance(here, dest) else {
            return here;
        };
        let neighbors = (0..self.degree(here)).filter_map(|port| self.neighbor(here, port));
        let closer = neighbors.filter(|&neighbor| self.distance(neighbor, dest).is_some_and(|left| left < hops));
        closer.min().unwrap_or(here)
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        match self.cube {
            _ if self.levels == 1 => Some(Number::from((from ^ to).count_ones())),
            2 => Some(self.hops_of_pairs(from, to)),
            _ => self.hops(from, to),
        }
    }

    /// Twice the level below and a link, if no third cluster is shorter: 2^(l-1) (n + 1) - 1.
    fn longest_route(&self, _rule: Rule) -> Number {
        ((Number::from(self.cube) + 1) << (self.levels - 1)) - 1
    }

    /// The largest distance: n on level 1 and 2n + 1 on level 2. Opposite nodes c1 and d1 of opposite clusters d' and c',
    /// each opposite to the other's number, are so far by one link and a hop more by two. No form is known above.
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

impl Spelled for Hypernet {
    fn spell(&self, pen: &mut Pen<'_>) {
        pen.text("hypernet(").number(self.cube);
        pen.text(",").number(self.levels).text(")");
    }
}
