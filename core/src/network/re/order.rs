//! The order in which a node with one port serves its children in a broadcast, with one pivot a phase.
//!
//! Of a node only its position and the set of served pivots matter here, those of digits that already differ from the
//! source's: below it in the tree, further pivots are served, each at the last visit of the way outward. How long the
//! part of the tree below a child takes is estimated by walking down as deep as possible, every newly met pivot counting
//! the steps of a broadcast in its frames. The estimate leaves out that the node served last waits for its sisters, so
//! the order can be worse than the best one; docs/networks.md has the steps of both.

use super::walk::Needed;
use super::{MAX_UNIT, Phase, Re};
use crate::arith::{Number, Vertex, ones, wide};
use crate::graph::{Base, Factor, Kind};
use crate::topology::Topology;

/// A place in the broadcast tree of the unit: a position and the pivots served on the way there.
#[derive(Clone, Copy)]
struct Place {
    position: Vertex,
    served: u64,
}

impl Place {
    fn is_served(&self, position: Vertex) -> bool {
        self.served >> position & 1 == 1
    }

    fn serve(&mut self, position: Vertex) {
        self.served |= 1 << position;
    }
}

/// Which of several children a descent follows.
#[derive(Clone, Copy)]
struct Manner {
    /// Of several, the highest-numbered.
    high: bool,
    /// A pivot that can be come back to is left for later.
    hold: bool,
}

const MANNERS: [Manner; 4] = [
    Manner {
        high: false,
        hold: false,
    },
    Manner {
        high: false,
        hold: true,
    },
    Manner {
        high: true,
        hold: false,
    },
    Manner { high: true, hold: true },
];

impl Re {
    /// At a served pivot the frame links come first, the higher phase before the lower: a frame child has the same unit
    /// children as this node, and a phase is followed by the lower ones. Elsewhere the deeper part comes first.
    pub(super) fn child_urgency(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        const FRAME_FIRST: u64 = 1 << 63;
        const FRAME: u64 = 1 << 15;
        let place = Place {
            position: self.position(here),
            served: self.walk(here, source).needed.places,
        };
        let end = self.position(source);
        let own = self.unit.degree(place.position);
        if port < own {
            let Some(position) = self.unit.neighbor(place.position, port) else {
                return 0;
            };
            return wide(self.depth(Place { position, ..place }, end)) << 16 | wide(MAX_UNIT - position);
        }
        let Some((index, phase, link)) = self.frame_link(here, place.position, port - own) else {
            return 0;
        };
        let wanted = self.phases_of(source).nth(index).map_or(0, |phase| phase.digit);
        let turn = turn_of(&phase, link, wanted);
        if place.is_served(place.position) {
            return FRAME_FIRST | (index as u64) << 16 | 0xffff_u64.saturating_sub(wide(turn));
        }
        let steps = self
            .pivot_steps(place.position, index as Number + 1)
            .saturating_sub(turn + 1);
        let mut below = place;
        below.serve(place.position);
        wide(steps.saturating_add(self.depth(below, end))) << 16 | FRAME
    }

    /// The phase that frame link number `link` of a node belongs to, and the number of the link there.
    fn frame_link(&self, node: Vertex, position: Vertex, mut link: Number) -> Option<(usize, Phase<'_>, Number)> {
        for (index, phase) in self.phases_of(node).enumerate() {
            let links = phase.links_at(position);
            if link < links {
                return Some((index, phase, link));
            }
            link -= links;
        }
        None
    }

    /// Steps of a broadcast in the frames of a pivot, over the phases below `end`.
    fn pivot_steps(&self, pivot: Vertex, end: Number) -> Number {
        let phases = (pivot..end.min(Number::from(self.phases))).step_by((self.unit.nodes() as usize).max(1));
        phases
            .map(|phase| self.frame_of(phase as usize).broadcast_steps())
            .fold(0, Number::saturating_add)
    }

    fn all_pivot_steps(&self, pivot: Vertex) -> Number {
        self.pivot_steps(pivot, Number::MAX)
    }

    fn is_pivot(&self, position: Vertex) -> bool {
        position < Number::from(self.phases)
    }

    /// How deep the tree goes below a place, in steps; `end` is the position of the source.
    fn depth(&self, place: Place, end: Vertex) -> Number {
        if matches!(self.unit.0, Kind::Line(line) if line.factor == Factor::Complete) {
            return self.depth_in_complete(place, end);
        }
        MANNERS
            .into_iter()
            .map(|manner| self.descend(place, end, manner))
            .max()
            .unwrap_or(0)
    }

    /// Routes in a complete unit go by way of the lowest needed pivot, so outward the pivots are served in descending
    /// order, the source's own position first or last.
    fn depth_in_complete(&self, place: Place, end: Vertex) -> Number {
        let at = place.position;
        let lowest = (place.served & !(1 << end | 1 << at)).trailing_zeros();
        let mut steps = if place.is_served(at) {
            0
        } else {
            self.all_pivot_steps(at)
        };
        let limit = if at == end { self.unit.nodes() } else { at };
        let closed = if at == end {
            lowest < u64::BITS
        } else {
            at > Number::from(lowest) || !self.is_pivot(at)
        };
        if closed {
            return steps;
        }
        let mut last = 0;
        for other in (0..self.unit.nodes()).filter(|&other| other != at && !place.is_served(other)) {
            let below = self.all_pivot_steps(other) + 1;
            if self.is_pivot(other) && other < limit && other != end {
                steps += below;
            } else {
                last = last.max(below);
            }
        }
        steps + last
    }

    /// Walks down the tree from child to child and counts.
    fn descend(&self, mut place: Place, end: Vertex, manner: Manner) -> Number {
        let mut steps: Number = 0;
        // Every hop leads down the tree, whose walks are no longer than twice the unit.
        for _ in 0..2 * MAX_UNIT {
            let at = place.position;
            let mut child = None;
            if self.is_pivot(at) && !place.is_served(at) {
                if manner.hold {
                    child = self.unit_child(place, end, manner, |next| {
                        let mut beyond = Place {
                            position: next,
                            ..place
                        };
                        beyond.serve(next);
                        self.is_pivot(next) && !place.is_served(next) && self.is_child(at, beyond, end)
                    });
                }
                if child.is_none() {
                    place.serve(at);
                    steps = steps.saturating_add(self.all_pivot_steps(at));
                }
            }
            match child.or_else(|| self.unit_child(place, end, manner, |_| true)) {
                Some(next) => place.position = next,
                None => break,
            }
            steps += 1;
        }
        steps
    }

    /// A child of a place in the unit that meets a condition: pivots before other positions, the lowest or highest first.
    fn unit_child(&self, place: Place, end: Vertex, manner: Manner, fits: impl Fn(Vertex) -> bool) -> Option<Vertex> {
        let children = self
            .unit
            .neighbors(place.position)
            .filter(|&next| self.is_child(next, place, end) && fits(next));
        children.min_by_key(|&next| (!self.is_pivot(next), if manner.high { MAX_UNIT - next } else { next }))
    }

    /// Whether the route from `position` to the source, with the same pivots to serve, goes through the place.
    fn is_child(&self, position: Vertex, place: Place, end: Vertex) -> bool {
        let is_source = place.served == 0 && position == end;
        !is_source
            && !place.is_served(position)
            && self.unit_step(position, end, Needed::places(place.served)) == place.position
    }
}

/// The turn, from 0, in which a broadcast in the frame alone would serve this link.
fn turn_of(phase: &Phase<'_>, link: Number, source: Vertex) -> Number {
    let frame: &Base = phase.frame;
    let before = |other: Number| {
        let (this, that) = (
            frame.urgency(phase.digit, link, source),
            frame.urgency(phase.digit, other, source),
        );
        that > this || that == this && other < link
    };
    let served = |other: &Number| before(*other) && frame.passes_on(phase.digit, *other, source);
    // Larger frames are told apart no further.
    (0..frame.degree(phase.digit).min(ones(10))).filter(served).count() as Number
}
