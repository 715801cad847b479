//! Recursive swapped networks, `rsn(l,G[,diameter])`, among them `hcn(n)` and `hfn(n)`.
//!
//! C.-H. Yeh, B. Parhami, Swapped Networks: Unifying the Architectures and Algorithms of a Wide Class of Hierarchical
//! Parallel Processors, ICPADS 1996. HCN: K. Ghose, R. Desai, Hierarchical Cubic Networks, IEEE TPDS 6(4), 1995. HFN: D. Duh,
//! G. Chen, J. Fang, Algorithms and Properties of a New Two-Level Network with Folded Hypercubes as Basic Modules, IEEE TPDS
//! 6(7), 1995.
//!
//! Level 1 is the nucleus G. A node of level i is a pair (a,b), cluster and node within, both numbers of level i-1; besides
//! its links within the cluster it has one to (b,a). A leader (a,a) has none, or with diameter links one to the
//! leader (N-1-a,N-1-a), N clusters in all.
//!
//! Ports: those of the nucleus, then the links between clusters from level 2 up, as far as the node has them.

mod leaders;
mod path;

use core::fmt;

use leaders::Leaders;
use path::Path;

use crate::arith::{MAX_NODES, Number, Vertex, div_rem, wide};
use crate::expr_writer::{ExprWriter, WriteExpr};
use crate::graph::{Base, FoldedHypercube, Hypercube, Kind};
use crate::limits::MAX_SWAP_LEVELS;
use crate::network::expression::{BrokenRule, Reader};
use crate::topology::{Method, Rule, Topology};

/// A recursive swapped network over a nucleus graph.
///
/// From (a,b) to (c,e) in another cluster it is D(b,c) + D(a,e) + 1 hops with one swap, D(a,c) + D(b,e) + 2 with two, and,
/// with diameter links, D(b,x) + D(a,x) + [x!=a] + 1 + D(y,c) + D(y,e) + [y!=c] through the leaders x and y = N-1-x; D is the
/// distance one level down. The exact routing function takes the shortest, on a tie the first in this order; the paper's always
/// takes one swap.
///
/// Time: O(4^(l-1)) distances in the nucleus, and a fixed stack of l searches. With diameter links a level multiplies it by
/// the leaders tried: at level 2 at most six over most nuclei, otherwise all of them. Where that takes more than
/// [`MAX_LEADER_WORK`](crate::limits::MAX_LEADER_WORK), only the leaders of the two ends are tried, or none, and
/// [`method`](crate::Network::method) is [`Method::BestTried`].
///
/// ```
/// use hopwise_core::{Network, Rule};
/// let network: Network = "hcn(3)".parse()?;
/// assert_eq!(network.to_string(), "hcn(3)");
/// assert_eq!(network.address(0o52)?.to_string(), "(101,010)");
/// assert_eq!(network.distance(0o00, 0o77)?, Some(1)); // a diameter link
/// assert_eq!(network.next_hop(0o05, 0o50, Rule::Exact)?, 0o50); // a swap
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rsn {
    nucleus: Base,
    /// The nodes of level 1, 2, .. l; the rest is unused.
    sizes: [Number; MAX_SWAP_LEVELS],
    /// The leaders tried at level 1, 2, .. l.
    leaders: [Leaders; MAX_SWAP_LEVELS],
    levels: u8,
    diameter_links: bool,
    word: Word,
}

/// The word with which the network was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Word {
    Rsn,
    Hcn,
    Hfn,
}

enum Hop {
    /// Within the nucleus, on the path from one node of it to another.
    Within(Vertex, Vertex),
    /// Over a link between clusters, to this node.
    Across(Vertex),
}

impl Rsn {
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        const LEVELS: &str = "l of rsn(l,G[,diameter])";
        const NUCLEUS: &str = "G of rsn(l,G[,diameter])";
        const LINKS: &str = "the third part of rsn(l,G[,diameter])";
        let levels = reader.first_number(LEVELS, 1, Number::MAX)?;
        reader.comma(NUCLEUS)?;
        let nucleus = reader.base(NUCLEUS)?;
        if Rsn::new(nucleus, levels, false, Word::Rsn).is_none() {
            return reader.refuse(LEVELS, BrokenRule::TooManyNodes);
        }
        let diameter_links = reader.accept(b',');
        if diameter_links && reader.word() != "diameter" {
            return reader.refuse(LINKS, BrokenRule::Expected("diameter"));
        }
        reader.close(NUCLEUS)?;
        Rsn::new(nucleus, levels, diameter_links, Word::Rsn)
    }

    pub(crate) fn parse_hcn(reader: &mut Reader<'_>) -> Option<Self> {
        let n = reader.size("n of hcn(n)", 1, 31)?;
        let cube = Base::hypercube(n as u8);
        Rsn::new(cube, 2, true, Word::Hcn).or_else(|| reader.refuse("n of hcn(n)", BrokenRule::TooManyNodes))
    }

    pub(crate) fn parse_hfn(reader: &mut Reader<'_>) -> Option<Self> {
        let n = reader.size("n of hfn(n)", 2, 31)?;
        let cube = Base(Kind::FoldedHypercube(FoldedHypercube { bits: n as u8 }));
        Rsn::new(cube, 2, false, Word::Hfn).or_else(|| reader.refuse("n of hfn(n)", BrokenRule::TooManyNodes))
    }

    /// `rsn(3,hypercube(2))`, of which [`PartialSwapped`](super::PartialSwapped) consists.
    pub(crate) const OF_SQUARES: Rsn = Rsn {
        nucleus: Base::hypercube(2),
        sizes: [4, 16, 256, 0, 0, 0],
        leaders: [Leaders::None; MAX_SWAP_LEVELS],
        levels: 3,
        diameter_links: false,
        word: Word::Rsn,
    };

    fn new(nucleus: Base, levels: Number, diameter_links: bool, word: Word) -> Option<Self> {
        let mut sizes = [0; MAX_SWAP_LEVELS];
        let mut size = nucleus.nodes();
        for level in 1..=levels {
            *sizes.get_mut(usize::try_from(level).ok()? - 1)? = size;
            if level < levels {
                size = size.checked_mul(size).filter(|&size| size <= MAX_NODES)?;
            }
        }
        let levels = levels as u8;
        Some(Rsn {
            nucleus,
            sizes,
            leaders: if diameter_links {
                Leaders::plan(&nucleus, &sizes, levels)
            } else {
                [Leaders::None; MAX_SWAP_LEVELS]
            },
            levels,
            diameter_links,
            word,
        })
    }

    /// The graph that the network begins with.
    pub fn nucleus(&self) -> &Base {
        &self.nucleus
    }

    /// The levels of the hierarchy, l; the nucleus is level 1.
    pub fn levels(&self) -> u64 {
        u64::from(self.levels)
    }

    /// Whether the nucleus is a hypercube or a folded hypercube.
    pub fn is_of_cubes(&self) -> bool {
        matches!(self.nucleus.0, Kind::Hypercube(_) | Kind::FoldedHypercube(_))
    }

    /// Whether leaders are linked.
    pub fn has_diameter_links(&self) -> bool {
        self.diameter_links
    }

    /// The nodes of a level, from 1.
    #[inline]
    fn size(&self, level: u8) -> Number {
        self.sizes.get(usize::from(level).wrapping_sub(1)).copied().unwrap_or(0)
    }

    /// Hops of the longest route if every level is crossed once.
    fn one_swap_bound(&self) -> Number {
        (1..self.levels).fold(self.nucleus.diameter(), |hops, _| {
            hops.saturating_mul(2).saturating_add(1)
        })
    }

    /// The other end of the link between clusters of a level, where the node has one.
    fn across(&self, node: Vertex, level: u8) -> Option<Vertex> {
        let size = self.size(level - 1);
        let (_, within) = div_rem(node, self.size(level));
        let (a, b) = div_rem(within, size);
        let other = if a != b {
            b * size + a
        } else {
            let image = self.mirror(level, a);
            if !self.diameter_links || image == a {
                return None;
            }
            image * size + image
        };
        Some(node - within + other)
    }

    /// The links of a node between clusters, from level 2 up.
    fn crossings(&self, node: Vertex) -> impl Iterator<Item = Vertex> + '_ {
        (2..=self.levels).filter_map(move |level| self.across(node, level))
    }

    #[inline]
    fn hop(&self, here: Vertex, dest: Vertex, rule: Rule) -> Hop {
        let (mut level, mut from, mut to) = self.parting(self.levels, here, dest);
        while level > 1 {
            let size = self.size(level - 1);
            let (_, b) = div_rem(from, size);
            let (c, _) = div_rem(to, size);
            let path = match rule {
                Rule::Exact => self.search(level, from, to).1,
                Rule::Paper => Path::OneSwap,
            };
            let (cross, target) = match path {
                Path::OneSwap => (b == c, c),
                Path::TwoSwaps => (true, b),
                Path::Leader(leader) => (b == leader, leader),
            };
            if cross {
                return Hop::Across(self.across(here, level).unwrap_or(here));
            }
            (level, from, to) = self.parting(level - 1, b, target);
        }
        Hop::Within(from, to)
    }
}

impl Topology for Rsn {
    fn nodes(&self) -> Number {
        self.size(self.levels)
    }

    fn degree(&self, node: Vertex) -> Number {
        self.nucleus.degree(div_rem(node, self.size(1)).1) + self.crossings(node).count() as Number
    }

    fn neighbor(&self, node: Vertex, port: Number) -> Option<Vertex> {
        let (_, inner) = div_rem(node, self.size(1));
        match port.checked_sub(self.nucleus.degree(inner)) {
            None => Some(node - inner + self.nucleus.neighbor(inner, port)?),
            Some(crossing) => self.crossings(node).nth(usize::try_from(crossing).ok()?),
        }
    }

    fn port_to(&self, node: Vertex, neighbor: Vertex) -> Option<Number> {
        let (cluster, inner) = div_rem(node, self.size(1));
        let (other_cluster, other) = div_rem(neighbor, self.size(1));
        if cluster == other_cluster {
            return self.nucleus.port_to(inner, other);
        }
        let crossing = self.crossings(node).position(|across| across == neighbor)?;
        Some(self.nucleus.degree(inner) + crossing as Number)
    }

    #[inline]
    fn next(&self, here: Vertex, dest: Vertex, rule: Rule) -> Vertex {
        match self.hop(here, dest, rule) {
            Hop::Within(from, to) => here - from + self.nucleus.step(from, to),
            Hop::Across(next) => next,
        }
    }

    fn distance(&self, from: Vertex, to: Vertex) -> Option<Number> {
        (self.method(from, to, Rule::Exact) == Method::Shortest).then(|| self.hops(self.levels, from, to))
    }

    fn method(&self, here: Vertex, dest: Vertex, rule: Rule) -> Method {
        let (level, ..) = self.parting(self.levels, here, dest);
        match rule {
            Rule::Paper => Method::Paper,
            Rule::Exact if !self.diameter_links => Method::Shortest,
            Rule::Exact if (2..=level).all(|level| self.leaders(level).are_enough()) => Method::Shortest,
            Rule::Exact => Method::BestTried,
        }
    }

    fn longest_route(&self, rule: Rule) -> Number {
        match (rule, self.known_diameter()) {
            (Rule::Exact, Some(diameter)) => diameter,
            _ => self.one_swap_bound(),
        }
    }

    /// The largest distance, where a closed form is known: 2^(l-1) (D+1) - 1 over a nucleus of diameter D without diameter
    /// links; n + floor((n+1)/3) + 1 for `hcn(n)`.
    fn known_diameter(&self) -> Option<Number> {
        match self.nucleus.0 {
            Kind::Hypercube(Hypercube { bits: n }) if self.levels == 2 && self.diameter_links => {
                Some(Number::from(n + (n + 1) / 3 + 1))
            }
            _ if self.levels == 1 || !self.diameter_links => Some(self.one_swap_bound()),
            _ => None,
        }
    }

    fn vertex_transitive(&self) -> bool {
        self.levels == 1 && self.nucleus.vertex_transitive()
    }

    /// Pairs of pairs: the digits in order, with the brackets that a binary tree has around each.
    fn write_address(&self, node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let depth = u32::from(self.levels) - 1;
        let digits = 1u32 << depth;
        let mut weight = (1..digits).fold(1 as Number, |weight, _| weight.saturating_mul(self.size(1)));
        for place in 0..digits {
            let opening = if place == 0 { depth } else { place.trailing_zeros() };
            let closing = place.trailing_ones().min(depth);
            if place > 0 {
                out.write_str(",")?;
            }
            (0..opening).try_for_each(|_| out.write_str("("))?;
            let (upto, _) = div_rem(node, weight);
            self.nucleus.write_address(div_rem(upto, self.size(1)).1, out)?;
            (0..closing).try_for_each(|_| out.write_str(")"))?;
            (weight, _) = div_rem(weight, self.size(1));
        }
        Ok(())
    }

    /// The links of the nucleus first, in its own order from where the broadcast entered it, then those between clusters from
    /// low to high.
    fn send_priority(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        let (_, inner) = div_rem(here, self.size(1));
        if let Some(crossing) = port.checked_sub(self.nucleus.degree(inner)) {
            return wide(Number::from(self.levels).saturating_sub(crossing));
        }
        let entry = match self.hop(here, source, Rule::Exact) {
            Hop::Within(_, entry) => entry,
            Hop::Across(_) => inner,
        };
        self.nucleus
            .send_priority(inner, port, entry)
            .saturating_add(u64::from(self.levels) + 1)
    }
}

impl WriteExpr for Rsn {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        match (self.word, &self.nucleus.0) {
            (Word::Hcn, Kind::Hypercube(cube)) => out.text("hcn(").number(cube.bits),
            (Word::Hfn, Kind::FoldedHypercube(cube)) => out.text("hfn(").number(cube.bits),
            _ => {
                out.text("rsn(").number(self.levels).text(",").part(&self.nucleus);
                out.text(if self.diameter_links { ",diameter" } else { "" })
            }
        }
        .text(")");
    }
}
