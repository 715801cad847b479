//! Units with phases: each phase has its links at one node of a unit, its pivot.

use crate::arith::{Number, Vertex, div_rem, narrow, wide};
use crate::collective::axis::Partakers;
use crate::collective::digits::{digit_of, digits_of};
use crate::collective::program::share;
use crate::collective::{Axis, Ports, Step, Tree};
use crate::graph::Base;
use crate::network::Network;
use crate::topology::{Node, Topology};

/// Units with phases: a Recursive Expansion, or rings with the bits of a word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expansion<'a> {
    #[cfg(feature = "re")]
    Re(&'a crate::network::Re),
    #[cfg(feature = "rcr")]
    Rings(&'a crate::network::Rcr, &'a Network),
    /// Keeps the lifetime in use when no family with units is compiled in.
    #[allow(dead_code, reason = "keeps the lifetime in use without those families")]
    None(core::marker::PhantomData<&'a ()>),
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
                (nodes > 1).then_some(Base(crate::graph::Kind::Line(crate::graph::Line::ring(nodes))))
            }
            Expansion::None(_) => None,
        }
    }

    fn positions(&self) -> Number {
        self.unit().map_or(1, |unit| unit.nodes())
    }

    pub(super) fn phases(&self) -> u64 {
        match self {
            #[cfg(feature = "re")]
            Expansion::Re(re) => re.phases(),
            #[cfg(feature = "rcr")]
            Expansion::Rings(rings, _) => rings.word_bits(),
            Expansion::None(_) => 0,
        }
    }

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
    pub(super) fn pivot(&self, phase: u64) -> Option<Vertex> {
        match self {
            #[cfg(feature = "re")]
            Expansion::Re(re) => re
                .pivots_of(phase)
                .and_then(|set| (set != 0).then(|| Number::from(set.trailing_zeros()))),
            #[cfg(feature = "rcr")]
            Expansion::Rings(rings, network) => {
                // Around the ring from the place of the previous bit: the windows of neighboring places are consecutive.
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

    /// The digits of node numbers: the unit's, then those of the frames.
    pub(super) fn digits(&self) -> u64 {
        let frames: u64 = (0..self.phases()).map(|phase| digits_of(&self.frame(phase))).sum();
        self.unit_digits() + frames
    }

    fn unit_digits(&self) -> u64 {
        self.unit().map_or(0, |unit| digits_of(&unit))
    }

    /// The graph of a digit, and its weight.
    pub(super) fn digit(&self, index: u64) -> Option<(Base, Number)> {
        let own = self.unit_digits();
        if index < own {
            return digit_of(&self.unit()?, index);
        }
        let mut rest = index - own;
        for phase in 0..self.phases() {
            let frame = self.frame(phase);
            let digits = digits_of(&frame);
            if rest < digits {
                let (graph, weight) = digit_of(&frame, rest)?;
                return Some((graph, weight.wrapping_mul(self.weight(phase))));
            }
            rest -= digits;
        }
        None
    }

    /// Whether a pivot has to broadcast its result to its unit.
    pub(super) fn tells(&self) -> bool {
        self.unit().is_some() && self.phases() > 0
    }

    /// The phase performed at a turn.
    fn turn(&self, turn: u64, descends: bool) -> u64 {
        if descends {
            self.phases().saturating_sub(turn).saturating_sub(1)
        } else {
            turn
        }
    }

    /// The way from the pivot of the previous turn to that of this one, if they differ.
    fn pass(&self, turn: u64, descends: bool) -> Option<Pass> {
        let pivot = |turn| self.pivot(self.turn(turn, descends));
        let (from, to) = (pivot(turn.checked_sub(1)?)?, pivot(turn)?);
        let unit = self.unit()?;
        (from != to).then_some(Pass { unit, from, to })
    }

    fn steps_of(&self, turn: u64, descends: bool) -> u64 {
        u64::from(self.pass(turn, descends).is_some()) + digits_of(&self.frame(self.turn(turn, descends)))
    }

    /// The steps of a turn: to its pivot if that is another node, then its frame's digits.
    fn step_of(&self, turn: u64, descends: bool, index: u64) -> Option<Step> {
        let pass = self.pass(turn, descends);
        let Some(mut place) = index.checked_sub(u64::from(pass.is_some())) else {
            return pass.map(Step::Pass);
        };
        let phase = self.turn(turn, descends);
        let (frame, pivot) = (self.frame(phase), self.pivot(phase)?);
        if descends {
            place = digits_of(&frame).checked_sub(place)?.checked_sub(1)?;
        }
        let (graph, weight) = digit_of(&frame, place)?;
        let positions = self.positions();
        let partakers = match positions {
            1 => Partakers::All,
            _ => Partakers::Pivots { positions, pivot },
        };
        Some(Step::Share(Axis {
            graph,
            weight: weight.wrapping_mul(self.weight(phase)),
            partakers,
        }))
    }

    pub(super) fn length(&self, descends: bool) -> u64 {
        let unit = self.unit_digits() + u64::from(self.tells());
        (0..self.phases())
            .map(|turn| self.steps_of(turn, descends))
            .sum::<u64>()
            + unit
    }

    /// The steps of the unit, of each phase, and of the broadcast to the unit. In descending order the unit's digits, the lowest, need no links
    /// in the end: their step gathers the unit's items at the pivots.
    pub(super) fn step(&self, index: u64, descends: bool) -> Option<Step> {
        let own = self.unit_digits();
        let Some(mut rest) = index.checked_sub(own) else {
            return digit_of(&self.unit()?, index).map(share);
        };
        for turn in 0..self.phases() {
            let steps = self.steps_of(turn, descends);
            if rest < steps {
                return self.step_of(turn, descends, rest);
            }
            rest -= steps;
        }
        let last = self.turn(self.phases().checked_sub(1)?, descends);
        let (unit, pivot) = (self.unit()?, self.pivot(last)?);
        (rest == 0).then_some(Step::Tell(Tell { unit, pivot }))
    }
}

/// A transfer from one pivot of a unit to another, in all units at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    unit: Base,
    from: Vertex,
    to: Vertex,
}

impl Pass {
    /// The number of hops between the two pivots.
    pub fn rounds(&self) -> u64 {
        wide(self.unit.hops(self.from, self.to))
    }

    /// The node that a node sends to in a round, if any.
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

/// A broadcast from a pivot to its unit, in all units at once.
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
