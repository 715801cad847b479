//! The order in which a node with one port serves its children in a broadcast, with one pivot a phase.
//!
//! Only a node's position in the unit and the set of served pivots matter here: a pivot is served where the digits of
//! its phases differ from the source's. Below a node in the tree further pivots are served, each at the last visit of the
//! path outward. The time of a child's subtree is estimated by descending as deep as possible, every
//! newly met pivot counting the steps of a broadcast in its frames. The estimate ignores that the node served last
//! waits for its siblings, so the order can be worse than the best one; docs/networks.md lists the steps of both.

use super::walk::Needed;
use super::{MAX_UNIT, Phase, Re};
use crate::arith::{Number, Vertex, bits, ones, wide};
use crate::graph::{Base, Factor, Kind};
use crate::topology::Topology;

/// A place in the broadcast tree of the unit: a position and the pivots served on the path there.
#[derive(Clone, Copy)]
struct Place {
    position: Vertex,
    served: u64,
}

impl Place {
    fn is_served(&self, position: Vertex) -> bool {
        self.served >> position & 1 == 1
    }

    /// The same served pivots, at another position.
    fn moved(self, position: Vertex) -> Self {
        Place { position, ..self }
    }

    /// The same position, its pivot served.
    fn with_pivot_served(self) -> Self {
        Place {
            served: self.served | 1 << self.position,
            ..self
        }
    }
}

/// The choice among several children in a descent. None of them always finds the deepest path, so all are tried.
#[derive(Clone, Copy)]
struct Descent {
    /// The highest-numbered child first, not the lowest.
    highest_first: bool,
    /// A pivot is postponed if another one comes first from which the tree returns to it.
    postpones_pivots: bool,
}

const DESCENTS: [Descent; 4] = {
    const fn descent(highest_first: bool, postpones_pivots: bool) -> Descent {
        Descent {
            highest_first,
            postpones_pivots,
        }
    }
    [
        descent(false, false),
        descent(false, true),
        descent(true, false),
        descent(true, true),
    ]
};

/// The sort key of children, from the most significant part: frame links of a served pivot, the steps (or the phase) below
/// the child, and 16 bits that break ties.
fn send_priority(is_frame_link_of_served: bool, steps: u64, among_equals: u64) -> u64 {
    u64::from(is_frame_link_of_served) << 63 | steps << 16 | among_equals
}

impl Re {
    pub(super) fn child_urgency(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        let place = Place {
            position: self.position(here),
            served: self.walk(here, source).needed.places,
        };
        let unit_links = self.unit.degree(place.position);
        let send_priority = match port.checked_sub(unit_links) {
            None => self.unit_child_urgency(place, port, source),
            Some(link) => self.frame_child_urgency(here, place, link, source),
        };
        send_priority.unwrap_or(0)
    }

    /// In the unit the deeper subtree comes first, on a tie the lower position.
    fn unit_child_urgency(&self, place: Place, port: Number, source: Vertex) -> Option<u64> {
        let child = self.unit.neighbor(place.position, port)?;
        let steps = self.depth(place.moved(child), self.position(source));
        Some(send_priority(false, wide(steps), wide(MAX_UNIT - child)))
    }

    /// At a served pivot the frame links come first, the higher phase before the lower: a frame child has the same unit
    /// children as this node, and a phase is followed by the lower ones. Elsewhere the deeper subtree comes first, on a tie a
    /// frame link before those of the unit.
    fn frame_child_urgency(&self, here: Vertex, place: Place, link: Number, source: Vertex) -> Option<u64> {
        const BEFORE_UNIT_LINKS: u64 = 1 << 15;
        let (index, phase, link) = self.frame_link(here, place.position, link)?;
        let source_digit = self.phases_of(source).nth(index).map_or(0, |phase| phase.digit);
        let turn = turn_of(&phase, link, source_digit);
        if place.is_served(place.position) {
            return Some(send_priority(true, index as u64, 0xffff_u64.saturating_sub(wide(turn))));
        }
        let steps_in_frames = self
            .pivot_steps(place.position, index as Number + 1)
            .saturating_sub(turn + 1);
        let steps_below = self.depth(place.with_pivot_served(), self.position(source));
        let steps = steps_in_frames.saturating_add(steps_below);
        Some(send_priority(false, wide(steps), BEFORE_UNIT_LINKS))
    }

    /// The phase of frame link number `link` of a node, and the number of the link there.
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

    /// The depth of the tree below a place, in steps; `end` is the position of the source.
    fn depth(&self, place: Place, end: Vertex) -> Number {
        if matches!(self.unit.0, Kind::Line(line) if line.factor == Factor::Complete) {
            return self.depth_in_complete(place, end);
        }
        let depths = DESCENTS.into_iter().map(|descent| self.descend(place, end, descent));
        depths.max().unwrap_or(0)
    }

    /// Routes in a complete unit visit the lowest needed pivot first, so outward the pivots are served in descending order,
    /// the source's own position first or last: below a place is a chain of the lower ones, and at its end one
    /// more position, that of the most steps.
    fn depth_in_complete(&self, place: Place, end: Vertex) -> Number {
        let at = place.position;
        let own = if place.is_served(at) {
            0
        } else {
            self.all_pivot_steps(at)
        };
        if self.is_leaf_in_complete(place, end) {
            return own;
        }
        let is_in_chain = |other: Vertex| self.is_pivot(other) && other != end && (at == end || other < at);
        let mut chain = 0;
        let mut last = 0;
        for other in (0..self.unit.nodes()).filter(|&other| other != at && !place.is_served(other)) {
            let steps = 1 + self.all_pivot_steps(other);
            if is_in_chain(other) {
                chain += steps;
            } else {
                last = last.max(steps);
            }
        }
        own + chain + last
    }

    /// Whether a place in a complete unit has no children there: a position without a pivot, or one that does not come next
    /// in descending order. The source's position has some only at the start.
    fn is_leaf_in_complete(&self, place: Place, end: Vertex) -> bool {
        let at = place.position;
        let served_elsewhere = place.served & !(1 << end | 1 << at);
        if at == end {
            served_elsewhere != 0
        } else {
            let lowest_served = Number::from(served_elsewhere.trailing_zeros());
            !self.is_pivot(at) || at > lowest_served
        }
    }

    /// Walks down the tree from child to child and counts the steps.
    fn descend(&self, mut place: Place, end: Vertex, descent: Descent) -> Number {
        let mut steps: Number = 0;
        // Every hop leads down the tree, whose walks are no longer than twice the unit.
        for _ in 0..2 * MAX_UNIT {
            let is_new_pivot = self.is_pivot(place.position) && !place.is_served(place.position);
            let mut child = None;
            if is_new_pivot && descent.postpones_pivots {
                child = self.unit_child(place, end, descent, |next| self.leads_back(place, next, end));
            }
            if is_new_pivot && child.is_none() {
                steps = steps.saturating_add(self.all_pivot_steps(place.position));
                place = place.with_pivot_served();
            }
            let Some(next) = child.or_else(|| self.unit_child(place, end, descent, |_| true)) else {
                break;
            };
            place = place.moved(next);
            steps += 1;
        }
        steps
    }

    /// Whether `next` is a pivot still to be served from which the tree leads back to this place.
    fn leads_back(&self, place: Place, next: Vertex, end: Vertex) -> bool {
        let beyond = place.moved(next).with_pivot_served();
        self.is_pivot(next) && !place.is_served(next) && self.is_child(place.position, beyond, end)
    }

    /// A child of a place in the unit that meets a condition: pivots before other positions, then in the order of the
    /// descent.
    fn unit_child(&self, place: Place, end: Vertex, descent: Descent, fits: impl Fn(Vertex) -> bool) -> Option<Vertex> {
        let neighbors = self.unit.neighbors(place.position);
        let neighbors = neighbors.fold(0u64, |set, neighbor| set | 1 << neighbor);
        let pivots = u64::MAX >> 64u8.saturating_sub(self.phases).min(63);
        let is_it = |next: &Vertex| self.is_child(*next, place, end) && fits(*next);
        // The test is a search, so it runs in the order of the descent, up to the first hit.
        [neighbors & pivots, neighbors & !pivots].into_iter().find_map(|set| {
            if descent.highest_first {
                bits(set.reverse_bits()).map(|bit| 63 - bit).find(is_it)
            } else {
                bits(set).find(is_it)
            }
        })
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
            frame.send_priority(phase.digit, link, source),
            frame.send_priority(phase.digit, other, source),
        );
        that > this || that == this && other < link
    };
    let served = |other: &Number| before(*other) && frame.passes_on(phase.digit, *other, source);
    // Larger frames are distinguished no further.
    (0..frame.degree(phase.digit).min(ones(10))).filter(served).count() as Number
}
