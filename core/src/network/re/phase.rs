//! One phase of an expansion: a digit, and the positions at which its frame links leave the unit.

use crate::arith::{Number, Vertex, bits, div_rem};
use crate::graph::Base;
use crate::topology::Topology;

/// One phase at one node.
#[derive(Clone, Copy)]
pub(super) struct Phase<'a> {
    pub(super) frame: &'a Base,
    /// What one step of the digit adds to the node's number.
    pub(super) weight: Number,
    pub(super) digit: Vertex,
    pub(super) pivots: Pivots,
}

/// The positions at which a phase has its frame links.
#[derive(Clone, Copy)]
pub(super) enum Pivots {
    /// Each of these positions has all of them, and crossing one keeps the position.
    Each(u64),
    /// `count` positions from `head` on share them, and crossing one can change the position: the neighbors of a digit
    /// are distributed over the pivots in ascending order.
    Dealt { head: Vertex, count: Number },
    /// Three positions share those of a Heawood frame, whose edges have three colors: from an even node plus, minus and
    /// distance. Both ends of an edge have it at the same position, and crossing it keeps the position.
    Colored([u8; 3]),
}

/// The color of a port of the Heawood graph, and the port of a color: plus from an even node is minus from an odd one.
fn colored(node: Vertex, port: usize) -> usize {
    match port {
        0 | 1 if !node.is_multiple_of(2) => 1 - port,
        _ => port,
    }
}

/// The position, in the copy of digit `from`, of the frame link between digits `from` and `to`.
fn dealt_end(head: Vertex, count: Number, frame: &Base, from: Vertex, to: Vertex) -> Vertex {
    head + div_rem(frame.rank(from, to), count).1
}

impl Phase<'_> {
    /// The number of frame links of this phase at `position`.
    pub(super) fn links_at(&self, position: Vertex) -> Number {
        match self.pivots {
            Pivots::Each(positions) if positions >> position & 1 == 1 => self.frame.degree(self.digit),
            Pivots::Each(_) => 0,
            Pivots::Dealt { head, count } => match position.checked_sub(head) {
                Some(place) if place < count => div_rem(self.frame.degree(self.digit) + count - 1 - place, count).0,
                _ => 0,
            },
            Pivots::Colored(positions) => {
                positions.iter().filter(|&&at| Number::from(at) == position).count() as Number
            }
        }
    }

    /// The frame link with number `link` of those at `position`: the new digit and the new position.
    pub(super) fn crossing(&self, position: Vertex, link: Number) -> Option<(Vertex, Vertex)> {
        match self.pivots {
            Pivots::Each(_) => Some((self.frame.neighbor(self.digit, link)?, position)),
            Pivots::Dealt { head, count } => {
                let place = position.checked_sub(head)?;
                let digit = self.frame.ranked(self.digit, place + link * count)?;
                Some((digit, dealt_end(head, count, self.frame, digit, self.digit)))
            }
            Pivots::Colored(positions) => {
                let color = positions.iter().position(|&at| Number::from(at) == position)?;
                let port = colored(self.digit, color) as Number + link;
                Some((self.frame.neighbor(self.digit, port)?, position))
            }
        }
    }

    /// The number of the frame link to `digit`, among those at the position that has it.
    pub(super) fn link_to(&self, digit: Vertex) -> Option<Number> {
        match self.pivots {
            Pivots::Each(_) => self.frame.port_to(self.digit, digit),
            Pivots::Dealt { count, .. } => Some(div_rem(self.frame.rank(self.digit, digit), count).0),
            Pivots::Colored(_) => Some(0),
        }
    }

    /// The positions from which a frame link leads to `digit`, as a set.
    pub(super) fn exits_to(&self, digit: Vertex) -> u64 {
        match self.pivots {
            Pivots::Each(positions) => positions,
            Pivots::Dealt { head, count } => 1 << dealt_end(head, count, self.frame, self.digit, digit),
            Pivots::Colored(positions) => {
                let port = self.frame.port_to(self.digit, digit).unwrap_or(0);
                let at = positions.get(colored(self.digit, port as usize)).copied().unwrap_or(0);
                1 << at
            }
        }
    }

    /// The node at the other end of the frame link from `position` to `digit`.
    pub(super) fn cross(&self, node: Vertex, position: Vertex, digit: Vertex) -> Vertex {
        let entry = match self.pivots {
            Pivots::Dealt { head, count } => dealt_end(head, count, self.frame, digit, self.digit),
            _ => position,
        };
        self.replace(node, digit) - position + entry
    }

    /// The node with this digit replaced, its position untouched.
    pub(super) fn replace(&self, node: Vertex, digit: Vertex) -> Vertex {
        (node + digit * self.weight).wrapping_sub(self.digit * self.weight)
    }
}

/// The nearest of a set of positions in the unit; on a tie the lowest.
pub(super) fn nearest(unit: &Base, from: Vertex, positions: u64) -> Option<Vertex> {
    bits(positions).min_by_key(|&position| unit.hops(from, position))
}
