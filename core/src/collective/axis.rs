//! One digit of the node numbers: the nodes that differ in nothing else, and the links between them.

use crate::arith::{Number, Vertex, div_rem, narrow, wide};
use crate::collective::Ports;
use crate::collective::moves::Hosts;
use crate::graph::{Base, Factor, Kind};
use crate::topology::{Node, Topology};

/// A digit along which all nodes exchange items: each node's item spreads over the broadcast tree of its digit in the graph of the axis,
/// all at once. With all ports that takes as many rounds as the graph's diameter, the fewest possible.
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
            Kind::Line(line) if line.factor == Factor::Complete => line.nodes - 1,
            Kind::Star(star) => star.nodes - 1,
            Kind::Petersen(_) => 3,
            #[cfg(feature = "lift")]
            Kind::Lift(_) => self.graph.largest_degree().wrapping_mul(self.graph.largest_degree()),
            _ => self.graph.largest_degree(),
        }
    }

    /// The turn of the link from one place to another.
    fn turn(&self, from: Vertex, to: Vertex, port: Number) -> Number {
        let nodes = self.graph.nodes();
        let ahead = div_rem((to + nodes).saturating_sub(from), nodes).1;
        match &self.graph.0 {
            // All nodes send in the same direction: by 1, by 2, ...
            Kind::Line(line) if line.factor == Factor::Complete => ahead.saturating_sub(1),
            // Up, then down. An end of a path has only one port.
            Kind::Line(line) if line.factor == Factor::Path => Number::from(to < from && line.nodes > 2),
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

    /// The rounds until every node along the axis has every item.
    pub fn rounds(&self, ports: Ports) -> u64 {
        let turns = match ports {
            Ports::All => 1,
            Ports::One => self.turns(),
        };
        wide(self.graph.diameter()) * wide(turns)
    }

    /// What a node sends in a round: the receiver and the place whose item it gets. Items of several places for one receiver are one message.
    pub fn sends(&self, node: Node, round: u64, ports: Ports) -> impl Iterator<Item = (Node, u64)> + use<> {
        let axis = *self;
        let here = narrow(node).unwrap_or(0);
        let from = axis.place(here);
        let (distance, turn) = match ports {
            Ports::All => (narrow(round).unwrap_or(Number::MAX), None),
            Ports::One => {
                let (distance, turn) = div_rem(narrow(round).unwrap_or(Number::MAX), axis.turns());
                (distance, Some(turn))
            }
        };
        let links = if axis.takes_part(node) {
            axis.graph.degree(from)
        } else {
            0
        };
        (0..links)
            .filter_map(move |port| Some((port, axis.graph.neighbor(from, port)?)))
            .filter(move |&(port, to)| turn.is_none_or(|turn| axis.turn(from, to, port) == turn))
            .flat_map(move |(port, to)| {
                let neighbor = here
                    .wrapping_add(to.wrapping_mul(axis.weight))
                    .wrapping_sub(from.wrapping_mul(axis.weight));
                axis.places_at(from, distance)
                    .filter(move |&source| axis.graph.passes_on(from, port, source))
                    .map(move |source| (wide(neighbor), wide(source)))
            })
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
