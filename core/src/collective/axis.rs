//! One digit of the node numbers: the nodes that differ in nothing else, and the links between them.

use core::ops::Range;

use crate::arith::{Number, Vertex, div_rem, narrow, wide};
use crate::collective::Ports;
use crate::collective::moves::Hosts;
use crate::graph::{Base, Factor, Kind};
use crate::topology::{Node, Topology};

/// A digit along which all nodes exchange items: each node's item spreads over the broadcast tree of its digit in the graph of the axis,
/// all at once. With all ports that takes as many rounds as the graph's diameter, the fewest possible. With one port, complete graphs, paths and
/// rings have schedules of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    pub(super) graph: Base,
    /// What one step of the digit adds to the node's number.
    pub(super) weight: Number,
    pub(super) partakers: Partakers,
}

/// The nodes that take part along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Partakers {
    All,
    /// Those at one position of their unit: only they have links along the axis.
    Pivots {
        positions: Number,
        pivot: Vertex,
    },
    /// Those that also work for their partners.
    Hosts(Hosts),
}

impl Axis {
    /// How many nodes lie along the axis.
    pub fn size(&self) -> u64 {
        wide(self.graph.nodes())
    }

    /// The weight of the digit in a node's number.
    pub fn weight(&self) -> u64 {
        wide(self.weight)
    }

    /// Whether only some nodes have links along the axis, one for each unit.
    pub fn is_at_pivots(&self) -> bool {
        matches!(self.partakers, Partakers::Pivots { .. })
    }

    /// Whether a node takes part.
    pub fn takes_part(&self, node: Node) -> bool {
        let Some(node) = narrow(node) else { return false };
        match self.partakers {
            Partakers::All => true,
            Partakers::Pivots { positions, pivot } => div_rem(node, positions).1 == pivot,
            Partakers::Hosts(hosts) => hosts.contain(node),
        }
    }

    /// A node's place on the axis.
    pub fn digit(&self, node: Node) -> u64 {
        wide(self.place(narrow(node).unwrap_or(0)))
    }

    pub(super) fn place(&self, node: Vertex) -> Vertex {
        div_rem(div_rem(node, self.weight).0, self.graph.nodes()).1
    }

    /// Number of turns in the one-port model: in each turn, a node sends through at most one link and receives through at most one.
    fn turns(&self) -> Number {
        match &self.graph.0 {
            Kind::Star(star) => star.nodes - 1,
            Kind::Petersen(_) => 3,
            #[cfg(feature = "lift")]
            Kind::Lift(_) => self.graph.largest_degree().wrapping_mul(self.graph.largest_degree()),
            _ => self.graph.largest_degree(),
        }
    }

    /// The turn of the link from one place to another.
    fn turn(&self, from: Vertex, to: Vertex, port: Number) -> Number {
        match &self.graph.0 {
            Kind::Star(_) => from.max(to).saturating_sub(1),
            // By 1 around the outer cycle, by 2 around the inner one, the reverse directions, then the spokes.
            Kind::Petersen(_) => match (from < 5, to < 5) {
                (true, true) => Number::from(div_rem(from + 1, 5).1 != to),
                (false, false) => Number::from(div_rem(from - 3, 5).1 != to - 5),
                _ => 2,
            },
            // Ports with the same number can lead to the same node, so both ends count.
            #[cfg(feature = "lift")]
            Kind::Lift(_) => {
                let back = self.graph.port_to(to, from).unwrap_or(0);
                port.wrapping_mul(self.graph.largest_degree()).wrapping_add(back)
            }
            _ => port,
        }
    }

    /// The rounds that complete graphs, paths and rings take with one port.
    fn line_rounds(&self) -> Option<Number> {
        let Kind::Line(line) = &self.graph.0 else { return None };
        let nodes = line.nodes;
        match line.factor {
            Factor::Complete => Some(Number::from(Number::BITS - (nodes - 1).leading_zeros())),
            Factor::Path => Some(nodes - 1 + nodes % 2),
            Factor::Ring if nodes.is_multiple_of(2) => Some(nodes / 2),
            Factor::Ring => (nodes > 3).then_some(nodes / 2 + 2),
        }
    }

    /// What a node sends in such a round: to whom, and the items of those that lie so far behind it, which is above it if it sends down.
    ///
    /// In a complete graph, what a node knows doubles every round. On a path or ring, neighbors exchange in pairs, every other round with the
    /// other neighbor: what came from one side in the last round goes to the other. In a ring of odd length the node of the round's number is
    /// left out.
    fn on_line(&self, from: Vertex, round: Number) -> Option<(Vertex, bool, Range<Number>)> {
        let Kind::Line(line) = &self.graph.0 else { return None };
        if round >= self.line_rounds()? {
            return None;
        }
        let at = |place: Number| div_rem(place, line.nodes).1;
        if line.factor == Factor::Complete {
            let known: Number = 1 << round;
            return Some((at(from + known), true, 0..known.min(line.nodes - known)));
        }
        let pairs_from = if self.is_odd_ring() {
            at(from + line.nodes - round) + 1
        } else {
            from + round
        };
        let up = pairs_from.is_multiple_of(2);
        let is_idle = match line.factor {
            Factor::Path => from == if up { line.nodes - 1 } else { 0 },
            _ => self.is_odd_ring() && from == round,
        };
        let to = at(if up { from + 1 } else { from + line.nodes - 1 });
        let items = round.saturating_sub(if self.is_odd_ring() { 2 } else { 1 })..round + 1;
        (!is_idle).then_some((to, up, items))
    }

    fn is_odd_ring(&self) -> bool {
        matches!(&self.graph.0, Kind::Line(line) if line.factor == Factor::Ring && !line.nodes.is_multiple_of(2))
    }

    /// Whether an item goes on in a round from a node that lies so far from its source, on a ring of odd length: half the ring in each
    /// direction. It sets out late if its source was first paired the other way. Going down, it meets the node that is left out, and waits.
    fn goes_on(&self, source: Vertex, up: bool, behind: Number, round: Number) -> bool {
        let late = match (up, source) {
            (true, 0) => 2,
            (true, _) => Number::from(source.is_multiple_of(2)),
            (false, _) => source % 2 + Number::from(behind >= source / 2),
        };
        behind < self.graph.nodes() / 2 && behind + late == round
    }

    /// The rounds until every node along the axis has every item.
    pub fn rounds(&self, ports: Ports) -> u64 {
        match (ports, self.line_rounds()) {
            (Ports::All, _) => wide(self.graph.diameter()),
            (Ports::One, Some(rounds)) => wide(rounds),
            (Ports::One, None) => wide(self.graph.diameter()) * wide(self.turns()),
        }
    }

    /// What a node sends in a round: the receiver and the place whose item it gets. Items of several places for one receiver are one message.
    pub fn sends(&self, node: Node, round: u64, ports: Ports) -> impl Iterator<Item = (Node, u64)> + use<> {
        let axis = *self;
        let here = narrow(node).unwrap_or(0);
        let from = axis.place(here);
        let round = narrow(round).unwrap_or(Number::MAX);
        let on_lines = ports == Ports::One && axis.line_rounds().is_some();
        let (distance, turn) = match ports {
            Ports::All => (round, None),
            Ports::One => {
                let (distance, turn) = div_rem(round, axis.turns());
                (distance, Some(turn))
            }
        };
        let links = if axis.takes_part(node) && !on_lines {
            axis.graph.degree(from)
        } else {
            0
        };
        let neighbor = move |to: Vertex| {
            here.wrapping_add(to.wrapping_mul(axis.weight))
                .wrapping_sub(from.wrapping_mul(axis.weight))
        };
        let on_line = axis.on_line(from, round).filter(|_| on_lines && axis.takes_part(node));
        let on_line = on_line.into_iter().flat_map(move |(to, up, items)| {
            items
                .filter_map(move |behind| Some((axis.behind(from, up, behind)?, behind)))
                .filter(move |&(source, behind)| !axis.is_odd_ring() || axis.goes_on(source, up, behind, round))
                .map(|(source, _)| source)
                .map(move |source| (wide(neighbor(to)), wide(source)))
        });
        let by_links = (0..links)
            .filter_map(move |port| Some((port, axis.graph.neighbor(from, port)?)))
            .filter(move |&(port, to)| turn.is_none_or(|turn| axis.turn(from, to, port) == turn))
            .flat_map(move |(port, to)| {
                axis.places_at(from, distance)
                    .filter(move |&source| axis.graph.passes_on(from, port, source))
                    .map(move |source| (wide(neighbor(to)), wide(source)))
            });
        on_line.chain(by_links)
    }

    /// The place so far behind another on a line: below it if items go up. A path ends.
    fn behind(&self, from: Vertex, up: bool, behind: Number) -> Option<Vertex> {
        let nodes = self.graph.nodes();
        let ends = matches!(&self.graph.0, Kind::Line(line) if line.factor == Factor::Path);
        let place = if up { from + nodes - behind } else { from + behind };
        let is_there = !ends || (place >= nodes) == up;
        is_there.then(|| div_rem(place, nodes).1)
    }

    /// The places at a given distance. On a ring or path there are at most two, found without a search.
    fn places_at(&self, from: Vertex, distance: Number) -> impl Iterator<Item = Vertex> + use<> {
        let graph = self.graph;
        let nodes = graph.nodes();
        let is_line = matches!(&graph.0, Kind::Line(line) if line.factor != Factor::Complete);
        let (below, above) = (
            (from + nodes).saturating_sub(distance.min(nodes)),
            from + distance.min(nodes),
        );
        let near = [div_rem(below, nodes).1, div_rem(above, nodes).1];
        let places = if is_line { 2 } else { nodes };
        (0..places)
            .filter_map(move |index| {
                if is_line {
                    near.get(index as usize).copied()
                } else {
                    Some(index)
                }
            })
            .enumerate()
            .filter(move |&(index, place)| {
                graph.hops(place, from) == distance && !(is_line && index == 1 && near[0] == near[1])
            })
            .map(|(_, place)| place)
    }
}
