//! The digits of node numbers, worked on one after the other along links.
//!
//! A step works on one digit, or moves what nodes hold to where the next digit has links:
//!
//! | network | steps |
//! |---|---|
//! | base graphs, `folded` | the digits, from the lowest; a hypercube's are its bits, those of a product its dimensions |
//! | `rsn`, `hcn`, `hfn` | a cluster's steps; a swap, which brings the cluster's digits to the place of the node's; the same steps again; back |
//! | `hsn`, `hcn3` | the nucleus's steps; for each further digit a swap, the same steps, and back |
//! | `rdn`, `dualcube`, `bsw` | a cluster's steps; a crossing; the same steps; and back, where both types meet |
//! | `re` with one pivot a phase, `rcr`, `cor`, `ccc` | the unit's steps; for each phase on to its pivot, and the frame's steps there; then to all of the unit |

use crate::arith::{Number, Vertex, div_rem, narrow, wide};
use crate::collective::{Axis, Ports, Tree};
use crate::graph::{Base, Kind, Line};
use crate::network::{Family, Network};
use crate::topology::{Node, Topology};

/// The steps of a network that is built of digits.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    network: &'a Network,
    structure: Structure<'a>,
    /// Whether what is moved has to come back.
    comes_back: bool,
}

/// One step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Along a digit everyone learns what the others there have.
    Share(Axis),
    /// What nodes hold changes places over a link each.
    Swap(Swap),
    /// The same, back; and both types of a dual-net learn of each other: what a node held until now belongs to the other type.
    Return(Swap),
    /// In every unit, what the pivot of the last phase has goes to that of the next.
    Pass(Pass),
    /// In every unit, all learn what the pivot of the last phase has.
    Tell(Tell),
}

/// How the digits can be got at.
#[derive(Clone, Copy, Debug)]
enum Structure<'a> {
    /// So many digits, each a node of the same graph with links of its own.
    Digits(&'a Base, u64),
    /// Links only along the lowest digit; the link of level i exchanges it with digit i.
    Exchanged(&'a Base, u64),
    /// The same for Q_n: hcn3 has no graph to point to.
    ExchangedCubes(u8),
    /// Levels of clusters, each exchanging cluster and node within.
    Nested(&'a Base, u64, Nesting),
    /// A unit and phases, each with links at a pivot.
    Expanded(Expansion<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nesting {
    /// Within one set of clusters.
    Swapped,
    /// Between two types of clusters.
    Dual,
}

/// Units with phases: a Recursive Expansion, or rings with the bits of a word.
#[derive(Clone, Copy, Debug)]
enum Expansion<'a> {
    #[cfg(feature = "re")]
    Re(&'a crate::network::Re),
    #[cfg(feature = "rcr")]
    Rings(&'a crate::network::Rcr, &'a Network),
    /// For when there is no family with units.
    #[allow(dead_code, reason = "keeps the lifetime in use without those families")]
    None(core::marker::PhantomData<&'a ()>),
}

/// How many digits a base graph has by itself.
fn digits_of(base: &Base) -> u64 {
    match &base.0 {
        Kind::Product(product) => product.sizes().len() as u64,
        Kind::Hypercube(cube) => u64::from(cube.bits),
        Kind::FoldedHypercube(cube) => u64::from(cube.bits),
        _ => 1,
    }
}

/// A digit of a base graph: its own graph, and its weight.
fn digit_of(base: &Base, index: u64) -> Option<(Base, Number)> {
    let place = usize::try_from(index).ok()?;
    match &base.0 {
        Kind::Product(product) => {
            let sizes = product.sizes();
            let weight = sizes
                .get(..place)?
                .iter()
                .fold(1, |weight: Number, &size| weight.wrapping_mul(Number::from(size)));
            let line = Line {
                factor: product.factor,
                nodes: Number::from(*sizes.get(place)?),
            };
            Some((Base(Kind::Line(line)), weight))
        }
        Kind::Hypercube(_) | Kind::FoldedHypercube(_) => Some((Base::complete(2), power(2, index))),
        _ => (index == 0).then_some((*base, 1)),
    }
}

fn power(base: Number, exponent: u64) -> Number {
    base.wrapping_pow(exponent.min(u64::from(Number::BITS)) as u32)
}

impl Expansion<'_> {
    /// The unit, unless it is a single node.
    fn unit(&self) -> Option<Base> {
        match self {
            #[cfg(feature = "re")]
            Expansion::Re(re) => Some(*re.unit()),
            #[cfg(feature = "rcr")]
            Expansion::Rings(rings, _) => {
                let nodes = narrow(rings.ring())?;
                let line = Line {
                    factor: crate::graph::Factor::Ring,
                    nodes,
                };
                (nodes > 1).then_some(Base(Kind::Line(line)))
            }
            Expansion::None(_) => None,
        }
    }

    fn positions(&self) -> Number {
        self.unit().map_or(1, |unit| unit.nodes())
    }

    fn phases(&self) -> u64 {
        match self {
            #[cfg(feature = "re")]
            Expansion::Re(re) => re.phases(),
            #[cfg(feature = "rcr")]
            Expansion::Rings(rings, _) => rings.word_bits(),
            Expansion::None(_) => 0,
        }
    }

    #[cfg_attr(
        not(feature = "re"),
        allow(unused_variables, reason = "only expansions have frames of their own")
    )]
    fn frame(&self, phase: u64) -> Base {
        match self {
            #[cfg(feature = "re")]
            Expansion::Re(re) => *re.frame(phase),
            _ => Base::complete(2),
        }
    }

    /// What one step of a phase's digit adds to the node's number.
    fn weight(&self, phase: u64) -> Number {
        (0..phase).fold(self.positions(), |weight, below| {
            weight.wrapping_mul(self.frame(below).nodes())
        })
    }

    /// The position in the unit at which a phase has all its links; `None` if there is none.
    #[cfg_attr(
        not(any(feature = "re", feature = "rcr")),
        allow(unused_variables, reason = "without units there are no pivots")
    )]
    fn pivot(&self, phase: u64) -> Option<Vertex> {
        match self {
            #[cfg(feature = "re")]
            Expansion::Re(re) => re
                .pivots_of(phase)
                .and_then(|set| (set != 0).then(|| Number::from(set.trailing_zeros()))),
            #[cfg(feature = "rcr")]
            Expansion::Rings(rings, network) => {
                // Round the ring from where the bit before is: the windows of neighbouring places follow each other.
                let ring = rings.ring();
                let mut place = 0;
                for bit in 0..=phase {
                    let other = wide(self.weight(bit));
                    let steps = (0..ring).find(|step| {
                        let at = (place + step) % ring.max(1);
                        matches!(network.port_to(at, at + other), Ok(Some(_)))
                    })?;
                    place = (place + steps) % ring.max(1);
                }
                narrow(place)
            }
            Expansion::None(_) => None,
        }
    }

    /// The steps of a phase: on to its pivot if that is another, then its frame's digits.
    fn step_of(&self, phase: u64, index: u64) -> Option<Step> {
        let pivot = self.pivot(phase)?;
        if let Some(pass) = self.pass(phase) {
            return match index {
                0 => Some(Step::Pass(pass)),
                _ => self.frame_step(phase, pivot, index - 1),
            };
        }
        self.frame_step(phase, pivot, index)
    }

    fn pass(&self, phase: u64) -> Option<Pass> {
        let (from, to) = (self.pivot(phase.checked_sub(1)?)?, self.pivot(phase)?);
        let unit = self.unit()?;
        (from != to).then_some(Pass { unit, from, to })
    }

    fn frame_step(&self, phase: u64, pivot: Vertex, index: u64) -> Option<Step> {
        let (graph, weight) = digit_of(&self.frame(phase), index)?;
        Some(Step::Share(Axis {
            graph,
            weight: weight.wrapping_mul(self.weight(phase)),
            pivot: (self.positions() > 1).then_some((self.positions(), pivot)),
        }))
    }

    fn steps_of(&self, phase: u64) -> u64 {
        u64::from(self.pass(phase).is_some()) + digits_of(&self.frame(phase))
    }

    fn length(&self) -> u64 {
        let unit = self.unit().map_or(0, |unit| digits_of(&unit) + 1);
        (0..self.phases()).map(|phase| self.steps_of(phase)).sum::<u64>() + unit
    }

    fn step(&self, index: u64) -> Option<Step> {
        let unit = self.unit();
        let own = unit.map_or(0, |unit| digits_of(&unit));
        if let (Some(unit), true) = (unit, index < own) {
            let (graph, weight) = digit_of(&unit, index)?;
            return Some(Step::Share(Axis {
                graph,
                weight,
                pivot: None,
            }));
        }
        let mut rest = index - own;
        for phase in 0..self.phases() {
            let steps = self.steps_of(phase);
            if rest < steps {
                return self.step_of(phase, rest);
            }
            rest -= steps;
        }
        let pivot = self.pivot(self.phases().checked_sub(1)?)?;
        (rest == 0).then_some(Step::Tell(Tell { unit: unit?, pivot }))
    }
}

impl<'a> Program<'a> {
    /// The program of a network; `None` if its numbers have no digits with links of their own, or only shared ones.
    pub fn new(network: &'a Network) -> Option<Self> {
        let structure = match network.family() {
            Family::Base(base) => Structure::Digits(base, 1),
            #[cfg(feature = "hierarchy")]
            Family::Hierarchy(hierarchy) if hierarchy.linkage() == crate::network::Linkage::Folded => {
                Structure::Digits(hierarchy.base(), hierarchy.digits())
            }
            #[cfg(feature = "rsn")]
            Family::Rsn(rsn) => Structure::Nested(rsn.nucleus(), rsn.levels().checked_sub(1)?, Nesting::Swapped),
            #[cfg(feature = "rdn")]
            Family::Rdn(rdn) => Structure::Nested(rdn.base(), rdn.levels(), Nesting::Dual),
            #[cfg(feature = "hsn")]
            Family::Hsn(hsn) => Structure::Exchanged(hsn.nucleus(), hsn.levels()),
            #[cfg(feature = "hcn3")]
            Family::Hcn3(cubes) => Structure::ExchangedCubes(u8::try_from(cubes.bits()).ok()?),
            #[cfg(feature = "re")]
            Family::Re(re) => Structure::Expanded(Expansion::Re(re)),
            #[cfg(feature = "rcr")]
            Family::Rcr(rings) => Structure::Expanded(Expansion::Rings(rings, network)),
            #[allow(unreachable_patterns, reason = "without the other families there is no other")]
            _ => return None,
        };
        if let Structure::Expanded(expansion) = structure {
            (0..expansion.phases()).try_for_each(|phase| expansion.pivot(phase).map(|_| ()))?;
        }
        Some(Program {
            network,
            structure,
            comes_back: true,
        })
    }

    /// The same for what comes to the same at all nodes of a block, such as a total: it need not come back to where it was.
    pub fn of_totals(network: &'a Network) -> Option<Self> {
        Some(Program {
            comes_back: false,
            ..Program::new(network)?
        })
    }

    /// Whether the steps carry every node's own item along every digit, not only what is common to a block: then any computation
    /// that goes from digit to digit can follow them, such as a Fourier transform.
    pub fn moves_every_item(&self) -> bool {
        match self.structure {
            Structure::Expanded(expansion) => expansion.unit().is_none(),
            Structure::Nested(_, levels, Nesting::Dual) => levels == 0,
            _ => true,
        }
    }

    fn base(&self) -> Option<Base> {
        match self.structure {
            Structure::Digits(base, _) | Structure::Exchanged(base, _) | Structure::Nested(base, _, _) => Some(*base),
            Structure::ExchangedCubes(bits) => Some(Base::hypercube(bits)),
            Structure::Expanded(_) => None,
        }
    }

    /// How many steps there are.
    pub fn length(&self) -> u64 {
        let base = self.base();
        let own = base.map_or(0, |base| digits_of(&base));
        match self.structure {
            Structure::Digits(_, digits) => own * digits,
            Structure::Exchanged(_, digits) => self.exchanged_length(own, digits),
            Structure::ExchangedCubes(_) => self.exchanged_length(own, 3),
            Structure::Nested(_, levels, _) => self.nested_length(own, levels),
            Structure::Expanded(expansion) => expansion.length(),
        }
    }

    fn moves(&self) -> u64 {
        1 + u64::from(self.comes_back)
    }

    fn exchanged_length(&self, own: u64, digits: u64) -> u64 {
        own + digits.saturating_sub(1) * (own + self.moves())
    }

    fn nested_length(&self, own: u64, levels: u64) -> u64 {
        (0..levels).fold(own, |length, _| 2 * length + self.nested_moves())
    }

    fn nested_moves(&self) -> u64 {
        match self.structure {
            // Without the way back the types do not learn of each other.
            Structure::Nested(_, _, Nesting::Dual) => 2,
            _ => self.moves(),
        }
    }

    /// The step of a number, from 0; `None` after the last.
    pub fn step(&self, index: u64) -> Option<Step> {
        let length = self.length();
        if index >= length {
            return None;
        }
        if let Structure::Expanded(expansion) = self.structure {
            return expansion.step(index);
        }
        let base = self.base()?;
        let own = digits_of(&base);
        match self.structure {
            Structure::Digits(..) => {
                let (graph, weight) = digit_of(&base, index % own.max(1))?;
                let below = power(base.nodes(), index / own.max(1));
                Some(share(graph, weight.wrapping_mul(below)))
            }
            Structure::Exchanged(..) | Structure::ExchangedCubes(_) => {
                let Some(rest) = index.checked_sub(own) else {
                    return digit_of(&base, index).map(|(graph, weight)| share(graph, weight));
                };
                let group = (own + self.moves()).max(1);
                let exchange = Step::Swap(Swap(Exchange::Digits {
                    size: base.nodes(),
                    weight: power(base.nodes(), rest / group + 1),
                }));
                match rest % group {
                    0 => Some(exchange),
                    place if place <= own => digit_of(&base, place - 1).map(|(graph, weight)| share(graph, weight)),
                    _ => Some(exchange),
                }
            }
            Structure::Nested(_, levels, nesting) => self.nested_step(&base, levels, nesting, index),
            Structure::Expanded(_) => None,
        }
    }

    /// A level has the steps of the level below twice, with a move behind each.
    fn nested_step(&self, base: &Base, levels: u64, nesting: Nesting, index: u64) -> Option<Step> {
        let own = digits_of(base);
        let mut rest = index;
        for level in (1..=levels).rev() {
            let below = self.nested_length(own, level - 1);
            if rest < below {
                continue;
            }
            let size = self.nested_size(base, level - 1, nesting);
            let swap = Swap(match nesting {
                Nesting::Swapped => Exchange::Clusters { size },
                Nesting::Dual => Exchange::Types { size },
            });
            if rest == below {
                return Some(Step::Swap(swap));
            }
            rest -= below + 1;
            if rest == below {
                return Some(match nesting {
                    Nesting::Swapped => Step::Swap(swap),
                    Nesting::Dual => Step::Return(swap),
                });
            }
        }
        digit_of(base, rest).map(|(graph, weight)| share(graph, weight))
    }

    /// The nodes of so many levels.
    fn nested_size(&self, base: &Base, levels: u64, nesting: Nesting) -> Number {
        let factor = if nesting == Nesting::Dual { 2 } else { 1 };
        (0..levels).fold(base.nodes(), |size, _| size.wrapping_mul(size).wrapping_mul(factor))
    }

    /// The network.
    pub fn network(&self) -> &'a Network {
        self.network
    }
}

fn share(graph: Base, weight: Number) -> Step {
    Step::Share(Axis {
        graph,
        weight,
        pivot: None,
    })
}

/// A link for each node over which what it holds changes places with what the other end holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swap(Exchange);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exchange {
    /// (a,b) and (b,a), in blocks of `size` clusters of `size` nodes.
    Clusters { size: Number },
    /// (0,a,b) and (1,b,a), in blocks of two types of `size` clusters of `size` nodes.
    Types { size: Number },
    /// The lowest digit and the one of this weight.
    Digits { size: Number, weight: Number },
}

impl Swap {
    /// The other end; the node itself if it keeps what it holds.
    pub fn partner(&self, node: Node) -> Node {
        let Some(node) = narrow(node) else { return node };
        wide(match self.0 {
            Exchange::Clusters { size } => {
                let (block, within) = div_rem(node, size.wrapping_mul(size));
                let (cluster, inner) = div_rem(within, size);
                (block.wrapping_mul(size).wrapping_add(inner))
                    .wrapping_mul(size)
                    .wrapping_add(cluster)
            }
            Exchange::Types { size } => {
                let half = size.wrapping_mul(size);
                let (halves, within) = div_rem(node, half);
                let (cluster, inner) = div_rem(within, size);
                (halves ^ 1)
                    .wrapping_mul(half)
                    .wrapping_add(inner.wrapping_mul(size))
                    .wrapping_add(cluster)
            }
            Exchange::Digits { size, weight } => {
                let low = div_rem(node, size).1;
                let high = div_rem(div_rem(node, weight).0, size).1;
                node.wrapping_sub(low)
                    .wrapping_sub(high.wrapping_mul(weight))
                    .wrapping_add(high)
                    .wrapping_add(low.wrapping_mul(weight))
            }
        })
    }

    /// The type that a node has in a dual-net: 0 or 1; 0 in other networks.
    pub fn kind(&self, node: Node) -> u64 {
        match (self.0, narrow(node)) {
            (Exchange::Types { size }, Some(node)) => wide(div_rem(node, size.wrapping_mul(size)).0 & 1),
            _ => 0,
        }
    }
}

/// The way from one pivot of a unit to another, in all units at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    unit: Base,
    from: Vertex,
    to: Vertex,
}

impl Pass {
    /// The hops between the two.
    pub fn rounds(&self) -> u64 {
        wide(self.unit.hops(self.from, self.to))
    }

    /// Whom a node sends to in a round, if anyone.
    pub fn send(&self, node: Node, round: u64) -> Option<Node> {
        let position = div_rem(narrow(node)?, self.unit.nodes()).1;
        let mut place = self.from;
        for _ in 0..round.min(self.rounds()) {
            place = self.unit.step(place, self.to);
        }
        let next = self.unit.step(place, self.to);
        (place == position && next != place).then(|| node - wide(position) + wide(next))
    }
}

/// The broadcast of a pivot to its unit, in all units at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tell {
    unit: Base,
    pivot: Vertex,
}

impl Tell {
    /// The unit by itself.
    pub fn unit(&self) -> Network {
        Network::from(self.unit)
    }

    /// The tree of the broadcast, in the [unit](Self::unit).
    pub fn tree<'a>(&self, unit: &'a Network, ports: Ports) -> Tree<'a> {
        Tree::of_checked(unit, wide(self.pivot), ports)
    }
}
