//! Routing where a phase distributes its links over its pivots (`sd`, `re-heawood-2(n,one)`): the differing digits are
//! searched together.
//!
//! The pivot that a digit needs depends on its value, so the digits are not independent and no formula is known. But the
//! part of the network in which only the differing digits change is small, and in it a breadth-first search from the
//! destination finds a path. A digit that is right is never changed again; so the set of differing digits only shrinks
//! on the way, each hop lowers the searched distance by one, and the packet arrives.
//!
//! If a crossing keeps the position, as in `re-heawood-2(n,one)`, that is a shortest path of the whole network: removing
//! from any path the crossings of a digit between two moments when it is right leaves a path that is no longer.

use super::phase::Phase;
use super::{MAX_UNIT, Re};
use crate::arith::{Number, Vertex, bits, count_step, div_rem, wide};
use crate::graph::Base;
#[cfg(feature = "large-walks")]
use crate::limits::HOST_SEARCH_WORDS;
use crate::limits::{BOARD_SEARCH_WORDS, SEARCH_STEPS_PER_WORD};
use crate::topology::Topology;

/// Maximum number of digits: frames have two nodes or more, so this many make more states than any memory here holds.
const MAX_DIGITS: usize = 20;

/// The part of the network that is searched. A state is a position and a value of each differing digit, numbered like a
/// node: the position least significant.
struct Part<'a> {
    digits: [Option<Digit<'a>>; MAX_DIGITS],
    states: Number,
}

#[derive(Clone, Copy)]
struct Digit<'a> {
    phase: Phase<'a>,
    wanted: Vertex,
    /// What one step of the digit adds to a state's number.
    weight: Number,
}

pub(super) struct Found {
    pub(super) hops: Number,
    pub(super) next: Vertex,
}

fn contains(set: &[u64], state: Number) -> bool {
    set.get((state / 64) as usize)
        .is_some_and(|word| word >> (state % 64) & 1 == 1)
}

fn insert(set: &mut [u64], state: Number) {
    if let Some(word) = set.get_mut((state / 64) as usize) {
        *word |= 1 << (state % 64);
    }
}

impl Part<'_> {
    fn digits(&self) -> impl Iterator<Item = &Digit<'_>> {
        self.digits.iter().flatten()
    }

    fn words(&self) -> usize {
        2 * self.states.div_ceil(64) as usize
    }

    /// Whether a search fits the memory, and the time that goes with it: for the links of all states, and for the words that are scanned
    /// again for every hop.
    fn fits(&self, unit: &Base, words: usize) -> bool {
        let (mut links, mut hops) = (unit.largest_degree(), 1);
        for digit in self.digits() {
            links += digit.phase.frame.links_to_search();
            hops += digit.phase.frame.nodes();
        }
        let steps = words.saturating_mul(SEARCH_STEPS_PER_WORD as usize) as u64;
        self.words() <= words
            && wide(self.states) * wide(links) <= steps
            && wide(hops * unit.nodes()) * self.words() as u64 <= steps
    }
}

impl Re {
    /// `None` if the part is too large for any memory.
    fn part(&self, here: Vertex, dest: Vertex) -> Option<Part<'_>> {
        let mut part = Part {
            digits: [None; MAX_DIGITS],
            states: self.unit.nodes().min(MAX_UNIT),
        };
        let mut free = part.digits.iter_mut();
        for (phase, wanted) in self.differing(here, dest) {
            *free.next()? = Some(Digit {
                phase,
                wanted,
                weight: part.states,
            });
            part.states = part
                .states
                .checked_mul(phase.frame.nodes())
                .filter(|&states| states < 1 << 30)?;
        }
        Some(part)
    }

    pub(super) fn search_fits(&self, here: Vertex, dest: Vertex) -> bool {
        self.part(here, dest)
            .is_some_and(|part| part.fits(&self.unit, self.memory as usize))
    }

    /// Hops and next hop; `None` if the search does not fit the memory.
    pub(super) fn search(&self, here: Vertex, dest: Vertex) -> Option<Found> {
        let part = self
            .part(here, dest)
            .filter(|part| part.fits(&self.unit, self.memory as usize))?;
        // A small search should not pay for clearing the memory of a large one.
        match part.words() {
            ..=BOARD_SEARCH_WORDS => self.search_in(&part, here, dest, &mut [0; BOARD_SEARCH_WORDS]),
            #[cfg(feature = "large-walks")]
            ..=HOST_SEARCH_WORDS => self.search_in(&part, here, dest, &mut [0; HOST_SEARCH_WORDS]),
            _ => None,
        }
    }

    /// Keeps two sets of states, those at most t hops from the destination and those at most t - 1.
    #[inline(never)]
    fn search_in(&self, part: &Part<'_>, here: Vertex, dest: Vertex, memory: &mut [u64]) -> Option<Found> {
        let position = self.position(here);
        let start = part
            .digits()
            .fold(position, |state, digit| state + digit.phase.digit * digit.weight);
        let goal = part
            .digits()
            .fold(self.position(dest), |state, digit| state + digit.wanted * digit.weight);
        let (mut within, rest) = memory.split_at_mut_checked(part.words() / 2)?;
        let mut before = rest.get_mut(..within.len())?;
        insert(within, goal);
        for hops in 0..part.states {
            if contains(within, start) {
                let next = self.closer_neighbor(part, here, start, before).unwrap_or(here);
                return Some(Found { hops, next });
            }
            self.widen(part, within, before);
            core::mem::swap(&mut within, &mut before);
        }
        None
    }

    /// Makes `before` the states from which at most one hop leads into `within`. It must contain those one hop closer
    /// than all in `within`, which are not examined again.
    fn widen(&self, part: &Part<'_>, within: &[u64], before: &mut [u64]) {
        for (index, word) in within.iter().enumerate() {
            count_step();
            // What is added is not in `within`, so the states to examine stay the same.
            let new = word & !before.get(index).copied().unwrap_or(0);
            for state in bits(new).map(|bit| index as Number * 64 + bit) {
                self.enter(part, state, |from| {
                    if !contains(within, from) {
                        insert(before, from);
                    }
                });
            }
        }
        for (old, word) in before.iter_mut().zip(within) {
            *old |= word;
        }
    }

    /// All states from which one hop leads to `state`.
    fn enter(&self, part: &Part<'_>, state: Number, mut from: impl FnMut(Number)) {
        let position = self.position(state);
        for neighbor in self.unit.neighbors(position) {
            from(state - position + neighbor);
        }
        for digit in part.digits() {
            let value = digit.value(state);
            let phase = Phase {
                digit: value,
                ..digit.phase
            };
            for link in 0..phase.links_at(position) {
                // A right digit is never changed, so nothing can come from there.
                let crossing = phase.crossing(position, link);
                if let Some((other, exit)) = crossing.filter(|(other, _)| *other != digit.wanted) {
                    let state = (state + other * digit.weight).wrapping_sub(value * digit.weight);
                    from(state - position + exit);
                }
            }
        }
    }

    /// The lowest-numbered neighbor of `here` whose state is in the set.
    fn closer_neighbor(&self, part: &Part<'_>, here: Vertex, state: Number, set: &[u64]) -> Option<Vertex> {
        let position = self.position(here);
        let in_unit = self
            .unit
            .neighbors(position)
            .map(|other| (state - position + other, here - position + other));
        let across = part.digits().flat_map(|digit| {
            let phase = digit.phase;
            (0..phase.links_at(position)).filter_map(move |link| {
                let (value, entry) = phase.crossing(position, link)?;
                let state = (state + value * digit.weight).wrapping_sub(phase.digit * digit.weight);
                Some((state - position + entry, phase.replace(here, value) - position + entry))
            })
        });
        let closer = in_unit.chain(across).filter(|(state, _)| contains(set, *state));
        closer.map(|(_, node)| node).min()
    }
}

impl Digit<'_> {
    fn value(&self, state: Number) -> Vertex {
        let (above, _) = div_rem(state, self.weight);
        div_rem(above, self.phase.frame.nodes()).1
    }
}
