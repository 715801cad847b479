//! Programs that process the digits of node numbers one after the other along links.
//!
//! A step processes one digit, or moves what nodes hold to where the next digit has links:
//!
//! | network | steps |
//! |---|---|
//! | base graphs, `folded` | the digits, from the lowest; a hypercube's are its bits, those of a product its dimensions |
//! | `rsn`, `hcn`, `hfn` | a cluster's steps; a swap, which brings the cluster's digits to the place of the node's; the same steps again; back |
//! | `hsn`, `hcn3` | the nucleus's steps; for each further digit a swap, the same steps, and back |
//! | `rdn`, `dualcube`, `bsw` | a cluster's steps; a crossing; the same steps; and back, where both types meet |
//! | `re` with one pivot a phase, `rcr`, `cor`, `ccc` | the unit's steps; for each phase on to its pivot, and the frame's steps there; then to all of the unit |

use crate::arith::{Number, div_rem, narrow, wide};
use crate::collective::axis::Partakers;
use crate::collective::digits::{digit_of, digits_of, power};
use crate::collective::expansion::Expansion;
use crate::collective::moves::{Exchange, Hosts, dual_size};
use crate::collective::{Axis, Lend, Lent, Pass, Swap, Tell};
use crate::graph::Base;
use crate::network::{Family, Network};
use crate::topology::{Node, Topology};

/// The steps of a network whose addresses are digits.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    network: &'a Network,
    structure: Structure<'a>,
    order: Order,
}

/// The order in which digits are processed, and its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// From the lowest; what is moved comes back.
    Ascending,
    /// From the lowest, for results that are the same at all nodes of a block and need not be moved back.
    Totals,
    /// From the highest, and every node's own item along every digit.
    Descending,
}

/// One step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// All nodes along a digit exchange items.
    Share(Axis),
    /// Nodes exchange what they hold over one link each.
    Swap(Swap),
    /// The same in reverse; both types of a dual-net then combine: what a node held until now belongs to the other type.
    Return(Swap),
    /// In every unit, what the pivot of the last phase has goes to that of the next.
    Pass(Pass),
    /// In every unit, the pivot of the last phase broadcasts what it has.
    Tell(Tell),
    /// Nodes of one type of a dual-net start to work for those of the other.
    Lend(Lend),
}

/// How the digits are accessed.
#[derive(Clone, Copy, Debug)]
enum Structure<'a> {
    /// This number of digits, each a node of the same graph with links of its own.
    Digits(&'a Base, u64),
    /// Links only along the lowest digit; the link of level i exchanges it with digit i.
    Exchanged(&'a Base, u64),
    /// The same for Q_n, since hcn3 has no graph to point to.
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
            order: Order::Ascending,
        })
    }

    /// The program for results that are the same at all nodes of a block, such as a total, and need not be moved back.
    pub fn of_totals(network: &'a Network) -> Option<Self> {
        Some(Program {
            order: Order::Totals,
            ..Program::new(network)?
        })
    }

    /// The steps from the highest digit to the lowest, along each of which every node sends its own item: for computations that proceed
    /// digit by digit, such as a Fourier transform. The digits are those of [places](Self::place).
    pub fn descending(network: &'a Network) -> Option<Self> {
        Some(Program {
            order: Order::Descending,
            ..Program::new(network)?
        })
    }

    fn descends(&self) -> bool {
        self.order == Order::Descending
    }

    /// Whether the items of a unit are gathered before they go along the digits above it.
    pub fn has_units(&self) -> bool {
        matches!(self.structure, Structure::Expanded(expansion) if expansion.tells())
    }

    /// Whether the [places](Self::place) of nodes are not their numbers.
    pub fn renumbers(&self) -> bool {
        matches!(self.structure, Structure::Nested(_, levels, Nesting::Dual) if levels > 0)
    }

    fn base(&self) -> Option<Base> {
        match self.structure {
            Structure::Digits(base, _) | Structure::Exchanged(base, _) | Structure::Nested(base, _, _) => Some(*base),
            Structure::ExchangedCubes(bits) => Some(Base::hypercube(bits)),
            Structure::Expanded(_) => None,
        }
    }

    /// The number of steps.
    pub fn length(&self) -> u64 {
        let base = self.base();
        let own = base.map_or(0, |base| digits_of(&base));
        match self.structure {
            Structure::Digits(_, digits) => own * digits,
            Structure::Exchanged(_, digits) => self.exchanged_length(own, digits),
            Structure::ExchangedCubes(_) => self.exchanged_length(own, 3),
            Structure::Nested(_, levels, _) => self.nested_length(own, levels),
            Structure::Expanded(expansion) => expansion.length(self.descends()),
        }
    }

    fn moves(&self) -> u64 {
        1 + u64::from(self.order != Order::Totals)
    }

    fn exchanged_length(&self, own: u64, digits: u64) -> u64 {
        own + digits.saturating_sub(1) * (own + self.moves())
    }

    fn nested_length(&self, own: u64, levels: u64) -> u64 {
        (0..levels).fold(own, |length, _| 2 * length + self.nested_moves())
    }

    fn nested_moves(&self) -> u64 {
        match self.structure {
            // To the one type, to the other, and back.
            Structure::Nested(_, _, Nesting::Dual) if self.descends() => 3,
            // Without the way back the types do not combine.
            Structure::Nested(_, _, Nesting::Dual) => 2,
            _ => self.moves(),
        }
    }

    /// The step with an index from 0; `None` after the last.
    pub fn step(&self, index: u64) -> Option<Step> {
        let length = self.length();
        let from_the_end = length.checked_sub(index)?.checked_sub(1)?;
        match self.structure {
            Structure::Expanded(expansion) => expansion.step(index, self.descends()),
            Structure::Nested(base, levels, Nesting::Dual) if self.descends() => self.hosted_step(base, levels, index),
            _ if self.descends() => self.ascending_step(from_the_end),
            _ => self.ascending_step(index),
        }
    }

    fn ascending_step(&self, index: u64) -> Option<Step> {
        let base = self.base()?;
        let own = digits_of(&base);
        match self.structure {
            Structure::Digits(..) => self.digit(index).map(share),
            Structure::Exchanged(..) | Structure::ExchangedCubes(_) => {
                let Some(rest) = index.checked_sub(own) else {
                    return digit_of(&base, index).map(share);
                };
                let group = (own + self.moves()).max(1);
                let exchange = Step::Swap(Swap(Exchange::Digits {
                    size: base.nodes(),
                    weight: power(base.nodes(), rest / group + 1),
                }));
                match rest % group {
                    0 => Some(exchange),
                    place if place <= own => digit_of(&base, place - 1).map(share),
                    _ => Some(exchange),
                }
            }
            Structure::Nested(_, levels, nesting) => self.nested_step(&base, levels, nesting, index),
            Structure::Expanded(_) => None,
        }
    }

    /// A level has the steps of the level below twice, with a move after each.
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
        digit_of(base, rest).map(share)
    }

    /// A level of a dual-net in the numbering in which the crossing is the highest digit: there, the digits of type 1, those of type 0,
    /// and back.
    fn hosted_step(&self, base: &Base, levels: u64, index: u64) -> Option<Step> {
        let own = digits_of(base);
        let (mut rest, mut hosts) = (index, Hosts::all(base.nodes(), levels));
        for level in (1..=levels).rev() {
            let below = self.nested_length(own, level - 1);
            let size = dual_size(base.nodes(), level - 1);
            let lend = |part| {
                Some(Step::Lend(Lend {
                    crossing: Swap(Exchange::Types { size }),
                    hosts,
                    part,
                }))
            };
            if rest == 0 {
                return lend(Lent::Join);
            }
            rest -= 1;
            let upper = rest < below;
            if !upper {
                rest -= below;
                if rest == 0 {
                    return lend(Lent::Cross);
                }
                rest -= 1;
                if rest == below {
                    return lend(Lent::Part);
                }
            }
            hosts = hosts.of_type(u32::from(upper));
        }
        let (graph, weight) = digit_of(base, own.checked_sub(rest)?.checked_sub(1)?)?;
        Some(Step::Share(Axis {
            graph,
            weight,
            partakers: Partakers::Hosts(hosts),
        }))
    }

    /// The digits of a [place](Self::place).
    pub(super) fn digits(&self) -> u64 {
        let own = self.base().map_or(0, |base| digits_of(&base));
        match self.structure {
            Structure::Nested(_, levels, Nesting::Dual) => dual_digits(own, levels),
            Structure::Expanded(expansion) => expansion.digits(),
            _ => own * self.copies(),
        }
    }

    /// The number of base graph nodes that a number consists of, where it consists of nothing else.
    fn copies(&self) -> u64 {
        match self.structure {
            Structure::Digits(_, digits) | Structure::Exchanged(_, digits) => digits,
            Structure::ExchangedCubes(_) => 3,
            Structure::Nested(_, levels, _) => 1_u64.checked_shl(levels.try_into().unwrap_or(u32::MAX)).unwrap_or(0),
            Structure::Expanded(_) => 0,
        }
    }

    /// The graph of a digit of a [place](Self::place), from the lowest, and its weight.
    pub(super) fn digit(&self, index: u64) -> Option<(Base, Number)> {
        if index >= self.digits() {
            return None;
        }
        if let Structure::Expanded(expansion) = self.structure {
            return expansion.digit(index);
        }
        let base = self.base()?;
        let own = digits_of(&base);
        if let Structure::Nested(_, levels, Nesting::Dual) = self.structure {
            let (mut rest, mut below): (u64, Number) = (index, 1);
            for level in (1..=levels).rev() {
                let (digits, size) = (dual_digits(own, level - 1), dual_size(base.nodes(), level - 1));
                if rest >= 2 * digits {
                    let crossing = below.wrapping_mul(size).wrapping_mul(size);
                    return Some((Base::complete(2), crossing));
                }
                if rest >= digits {
                    rest -= digits;
                    below = below.wrapping_mul(size);
                }
            }
            let (graph, weight) = digit_of(&base, rest)?;
            return Some((graph, weight.wrapping_mul(below)));
        }
        let (graph, weight) = digit_of(&base, index % own.max(1))?;
        let below = power(base.nodes(), index / own.max(1));
        Some((graph, weight.wrapping_mul(below)))
    }

    /// The number of a node in which every digit has links of its own. In dual-nets it is (0,a,b) for node b of cluster a of type 0 and
    /// (1,a,b) for node a of cluster b of type 1, so that a crossing changes the first digit only, with a and b numbered likewise; in other
    /// networks it is the node's own number.
    pub fn place(&self, node: Node) -> Node {
        self.turned(node, |levels, done| levels - done)
    }

    /// The node of a [place](Self::place).
    pub fn node(&self, place: Node) -> Node {
        self.turned(place, |_, done| done + 1)
    }

    /// At each level, in this order, exchanges clusters and nodes of type 1.
    fn turned(&self, number: Node, order: impl Fn(u64, u64) -> u64) -> Node {
        let (Structure::Nested(base, levels, Nesting::Dual), Some(mut number)) = (self.structure, narrow(number))
        else {
            return number;
        };
        for done in 0..levels {
            let level = order(levels, done);
            let size = dual_size(base.nodes(), level - 1);
            let whole = size.wrapping_mul(size).wrapping_mul(2);
            // The parts of a number that are numbers of this level: for every level above, the cluster or the node.
            let parts = 1_u64.checked_shl((levels - level) as u32).unwrap_or(0);
            for part in 0..parts {
                let outer = (level..levels).filter(|above| part >> (above - level) & 1 == 1);
                let weight = outer.fold(1, |weight: Number, above| {
                    weight.wrapping_mul(dual_size(base.nodes(), above))
                });
                let own = div_rem(div_rem(number, weight).0, whole).1;
                let (upper, low) = div_rem(own, size);
                let (kind, high) = div_rem(upper, size);
                if kind == 1 {
                    let turned = (kind.wrapping_mul(size).wrapping_add(low))
                        .wrapping_mul(size)
                        .wrapping_add(high);
                    number = number
                        .wrapping_sub(own.wrapping_mul(weight))
                        .wrapping_add(turned.wrapping_mul(weight));
                }
            }
        }
        wide(number)
    }

    fn nested_size(&self, base: &Base, levels: u64, nesting: Nesting) -> Number {
        match nesting {
            Nesting::Dual => dual_size(base.nodes(), levels),
            Nesting::Swapped => (0..levels).fold(base.nodes(), |size, _| size.wrapping_mul(size)),
        }
    }

    /// The network that the program runs on.
    pub fn network(&self) -> &'a Network {
        self.network
    }
}

/// The digits of a dual-net's numbers, the types among them.
fn dual_digits(own: u64, levels: u64) -> u64 {
    (0..levels).fold(own, |digits, _| 2 * digits + 1)
}

pub(super) fn share((graph, weight): (Base, Number)) -> Step {
    Step::Share(Axis {
        graph,
        weight,
        partakers: Partakers::All,
    })
}
