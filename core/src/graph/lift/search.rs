//! Distances to one node of a lift, computed for all places of an orbit at once.

use super::{Lift, Links, MAX_WORDS, Place};
use crate::arith::{Number, count_step, sub_mod, wrap};
use crate::graph::Graph;

const WORD: Number = super::WORD as Number;

/// Maximum depth to which the subtree behind a port is examined, and maximum number of children per node that are served in the best
/// order. Anything beyond counts as less.
const MAX_DEPTH: usize = 16;
const MAX_CHILDREN: usize = 8;

/// A breadth-first search from place 0 of an orbit, run as far as needed.
///
/// For every node it stores the distance modulo 3 in two bits, or 3 if the node was not reached. Distances of neighbors differ by at most
/// one, so that is enough to tell which is closer; and since an entry is never changed, a level can be computed in place.
/// O(links * words) word operations per level, and 2 * 256 bytes of stack.
pub(super) struct Search<'a> {
    lift: &'a Lift,
    links: Links,
    /// Words per orbit.
    words: usize,
    origin: Number,
    /// The low and the high bit of the distances; each orbit begins a new word.
    low: [u32; MAX_WORDS],
    high: [u32; MAX_WORDS],
    levels: Number,
}

const UNREACHED: u32 = 3;

impl<'a> Search<'a> {
    pub(super) fn from(lift: &'a Lift, origin: Number) -> Self {
        let links = Links::of(lift);
        let mut search = Search {
            lift,
            words: (links.m as usize).div_ceil(WORD as usize),
            links,
            origin,
            low: [u32::MAX; MAX_WORDS],
            high: [u32::MAX; MAX_WORDS],
            levels: 0,
        };
        search.set(origin as usize * search.words, 1, 0);
        search
    }

    pub(super) fn reach(&mut self, node: Place) -> &Self {
        while self.code(node) == UNREACHED && self.grow() {}
        self
    }

    pub(super) fn reach_all(&mut self) -> &Self {
        while self.grow() {}
        self
    }

    /// The largest distance found.
    pub(super) fn levels(&self) -> Number {
        self.levels
    }

    pub(super) fn is_everyone_reached(&self) -> bool {
        (0..self.lift.nodes()).all(|node| self.code(self.lift.split(node)) != UNREACHED)
    }

    /// Finds the nodes at the next distance; `false` if there are none.
    fn grow(&mut self) -> bool {
        let next = self.levels + 1;
        let (code, next_code) = ((self.levels % 3) as u32, (next % 3) as u32);
        let mut found = false;
        // Stays zero past the words of an orbit.
        let mut front = [0; MAX_WORDS];
        for orbit in 0..self.lift.k() {
            let first = orbit as usize * self.words;
            let planes = self.low.iter().zip(&self.high).skip(first).take(self.words);
            let mut any = 0;
            for (slot, (low, high)) in front.iter_mut().zip(planes) {
                count_step();
                // Ones where the bit equals that of the code.
                let (low, high) = (low ^ (code & 1).wrapping_sub(1), high ^ (code >> 1).wrapping_sub(1));
                *slot = low & high;
                any |= low & high;
            }
            if any == 0 {
                continue;
            }
            for place in 0..self.links.count {
                let link = self.links.list.get(place).copied().unwrap_or_default();
                let shift = Number::from(link.shift);
                if Number::from(link.from) == orbit {
                    found |= self.spread(&front, link.to, shift, next_code);
                }
                if Number::from(link.to) == orbit {
                    found |= self.spread(&front, link.from, sub_mod(0, shift, self.links.m), next_code);
                }
            }
        }
        self.levels += Number::from(found);
        found
    }

    /// Marks the nodes reached by a shift within an orbit; returns whether any of them is new.
    fn spread(&mut self, front: &[u32; MAX_WORDS], orbit: u8, shift: Number, code: u32) -> bool {
        let first = usize::from(orbit) * self.words;
        let mut start = sub_mod(0, shift, self.links.m);
        let mut left = self.links.m;
        let mut found = false;
        for word in first..first + self.words {
            let mask = if left < WORD { (1 << left) - 1 } else { u32::MAX };
            found |= self.set(word, turned(front, start, self.links.m) & mask, code);
            start = wrap(start + WORD, self.links.m);
            left = left.saturating_sub(WORD);
        }
        found
    }

    /// Gives the unreached nodes of a word a distance; returns whether there are any.
    fn set(&mut self, word: usize, bits: u32, code: u32) -> bool {
        let (Some(low), Some(high)) = (self.low.get_mut(word), self.high.get_mut(word)) else {
            return false;
        };
        let new = bits & *low & *high;
        if code & 1 == 0 {
            *low &= !new;
        }
        if code & 2 == 0 {
            *high &= !new;
        }
        new != 0
    }

    fn code(&self, (orbit, place): Place) -> u32 {
        count_step();
        let word = orbit as usize * self.words + (place / WORD) as usize;
        let bit = |plane: &[u32; MAX_WORDS]| plane.get(word).map_or(1, |word| word >> (place % WORD) & 1);
        bit(&self.low) | bit(&self.high) << 1
    }

    /// The next hop of a reached node toward the origin; `None` at the origin.
    pub(super) fn step(&self, node: Place) -> Option<Place> {
        if node == (self.origin, 0) {
            return None;
        }
        let closer = (self.code(node) + 2) % 3;
        let degree = self.links.degree(node);
        // The search for a port begins at a place spread over the differences of the places and over the orbits.
        let spread = sub_mod(0, node.1, self.links.m) * degree / self.links.m.max(1);
        let first = (spread + self.origin) % degree.max(1);
        let (mut before, mut found) = (None, None);
        self.links.find_port(node, &mut |port, next| {
            if self.code(next) == closer {
                let side = if port < first { &mut before } else { &mut found };
                *side = side.or(Some(next));
            }
            found.is_some()
        });
        found.or(before)
    }

    /// The steps of a broadcast of the origin behind a port of a node, if each node serves the longest subtree first.
    pub(super) fn steps_behind(&self, node: Place, port: Number) -> Number {
        let Some(node) = self.links.across(node, port) else {
            return 0;
        };
        let mut path = [Visit::default(); MAX_DEPTH];
        if let Some(visit) = path.first_mut() {
            visit.node = node;
        }
        let mut depth = 0;
        // Each iteration examines one port of one node, and no node is visited twice.
        loop {
            let Some(visit) = path.get_mut(depth) else {
                return 0;
            };
            let (here, port) = (visit.node, visit.port);
            visit.port += 1;
            match self.links.across(here, port) {
                Some(child) if self.step(child) == Some(here) => {
                    if let Some(visit) = path.get_mut(depth + 1) {
                        *visit = Visit {
                            node: child,
                            ..Visit::default()
                        };
                        depth += 1;
                    }
                }
                Some(_) => (),
                None => {
                    let steps = visit.steps();
                    let Some(above) = depth.checked_sub(1) else {
                        return steps;
                    };
                    depth = above;
                    if let Some(visit) = path.get_mut(depth) {
                        visit.add(steps);
                    }
                }
            }
        }
    }
}

/// A node whose children are being examined.
#[derive(Clone, Copy, Default)]
struct Visit {
    node: Place,
    port: Number,
    /// The steps behind each child, most first.
    children: [Option<Number>; MAX_CHILDREN],
}

impl Visit {
    fn add(&mut self, steps: Number) {
        let mut moved = Some(steps);
        for slot in &mut self.children {
            if moved > *slot {
                core::mem::swap(slot, &mut moved);
            }
        }
    }

    fn steps(&self) -> Number {
        let children = self.children.iter().flatten().zip(1..);
        children.map(|(steps, turn)| steps + turn).max().unwrap_or(0)
    }
}

/// 32 bits of a cycle of m bits, beginning at `start`.
fn turned(front: &[u32; MAX_WORDS], start: Number, m: Number) -> u32 {
    let word = |at: usize| front.get(at).copied().unwrap_or(0);
    let (at, by) = ((start / WORD) as usize, (start % WORD) as u32);
    let mut bits = word(at) >> by;
    if by > 0 {
        bits |= word(at + 1) << (WORD as u32 - by);
    }
    let before_the_end = m - start;
    if before_the_end < WORD {
        bits |= word(0) << before_the_end;
    }
    bits
}
