//! The order in which a node with one port serves its children in a broadcast.
//!
//! Only a node's place on the ring and the bits in which it differs from the source matter. The time of a child's
//! subtree is estimated by walking down as deep as possible, flipping every bit that may be flipped on
//! the way.

use super::Rcr;
use crate::arith::{Number, Vertex, sub_mod, wide, wrap};
use crate::graph::{Graph, Line};
use crate::topology::Topology;

/// The state of a broadcast: a place, and the bits in which the node there differs from the source.
#[derive(Clone, Copy)]
struct State {
    place: Number,
    differing: Number,
}

/// The strategy of a descent: the direction it tries first, and whether bits that are available again later are postponed.
#[derive(Clone, Copy)]
struct Manner {
    up: bool,
    hold: bool,
}

const MANNERS: [Manner; 4] = [
    Manner { up: true, hold: false },
    Manner { up: true, hold: true },
    Manner { up: false, hold: false },
    Manner { up: false, hold: true },
];

/// Maximum number of hops of a descent along a long ring: anything deeper has the same priority.
const MAX_HOPS: Number = 512;

impl Rcr {
    /// The deeper subtree first; on a tie cube links before ring links, higher bits before lower, -1 before +1.
    pub(super) fn child_urgency(&self, here: Vertex, port: Number, source: Vertex) -> u64 {
        let Some(child) = self.neighbor(here, port) else {
            return 0;
        };
        let ((word, place), (source_word, end)) = (self.split(child), self.split(source));
        let flipped = word ^ self.split(here).0;
        let kind = match flipped {
            0 => port,
            bit => 2 + Number::from(bit.trailing_zeros()),
        };
        let state = State {
            place,
            differing: word ^ source_word,
        };
        let depth = MANNERS
            .into_iter()
            .map(|manner| self.descend(state, end, manner))
            .max()
            .unwrap_or(0);
        wide(depth) << 8 | wide(kind)
    }

    /// The next place up or down the ring.
    fn beside(&self, place: Number, up: bool) -> Number {
        if up {
            wrap(place + 1, self.ring)
        } else {
            sub_mod(place, 1, self.ring)
        }
    }

    /// The bits through which a node forwards a broadcast: those whose flip is the first hop of the child's route back.
    fn flippable(&self, state: State) -> Number {
        let window = self.window_at(state.place);
        let differing = state.differing & window;
        let below_lowest = differing.wrapping_sub(1) & !differing;
        window & !state.differing & if differing == 0 { Number::MAX } else { below_lowest }
    }

    /// Whether the route from a place beside it, with the same bits differing, goes through the state's place.
    fn is_child(&self, place: Number, state: State, end: Number) -> bool {
        if place == state.place || state.differing & self.window_at(place) != 0 {
            return false;
        }
        if state.differing == 0 {
            return place != end && Line::ring(self.ring).step(place, end) == state.place;
        }
        let up = self.ring_walk(place, end, state.differing).begins_up;
        self.beside(place, up) == state.place
    }

    /// Walks down the tree from child to child and counts.
    fn descend(&self, mut state: State, end: Number, manner: Manner) -> Number {
        let mut up = manner.up;
        let mut steps = 0;
        for _ in 0..MAX_HOPS {
            let flippable = self.flippable(state);
            let untouched = state.differing & self.window_at(state.place) == 0;
            let held = if manner.hold && flippable != 0 && untouched {
                self.comes_back(state, end, up)
            } else {
                None
            };
            if let Some(beyond) = held {
                state.place = beyond;
                steps += 1;
                continue;
            }
            let onward = [up, !up].into_iter().find_map(|up| {
                let place = self.beside(state.place, up);
                // Bits that are also in the next place's window can be flipped there.
                let flips = flippable & !self.window_at(place);
                let flipped = State {
                    differing: state.differing | flips,
                    ..state
                };
                self.is_child(place, flipped, end).then_some((up, place, flips))
            });
            let Some((direction, place, flips)) = onward else {
                return steps + Number::from(flippable.count_ones());
            };
            up = direction;
            state = State {
                place,
                differing: state.differing | flips,
            };
            steps += 1 + Number::from(flips.count_ones());
        }
        steps
    }

    /// The next place, if after flipping bits there the tree can return here.
    fn comes_back(&self, state: State, end: Number, up: bool) -> Option<Number> {
        let place = self.beside(state.place, up);
        if !self.is_child(place, state, end) {
            return None;
        }
        let flips = self.flippable(State { place, ..state }) & !self.window_at(state.place);
        let there = State {
            place,
            differing: state.differing | flips,
        };
        (flips != 0 && self.is_child(state.place, there, end)).then_some(place)
    }
}
