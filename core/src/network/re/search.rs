//! Routing with pivot sets (`sd`): the digits that differ are searched together.
//!
//! Crossing a frame link can change the position, so the digits are not independent and no formula is known. But the part
//! of the network in which only the differing digits change is small, and in it a breadth-first search from the
//! destination finds a way. A digit that is right is never changed again; so the set of differing digits only
//! shrinks on the way, each hop lowers the searched distance by one, and the packet arrives.

use super::{Phase, Re};
#[cfg(feature = "large-walks")]
use crate::limits::HOST_SEARCH_WORDS;
use crate::limits::{BOARD_SEARCH_WORDS, MAX_UNIT};
use crate::topology::{Node, Topology};

/// Frames have two nodes or more, so as many digits make more states than any memory here holds.
const MAX_DIGITS: usize = 20;

/// The part of the network that is searched. A state is a position and a value of each differing digit, numbered like a
/// node: the position least significant.
struct Part<'a> {
    digits: [Option<Digit<'a>>; MAX_DIGITS],
    states: u64,
}

#[derive(Clone, Copy)]
struct Digit<'a> {
    phase: Phase<'a>,
    wanted: Node,
    /// What one step of the digit adds to a state's number.
    weight: u64,
}

/// Three sets of states: all seen, the last layer and the one before.
struct Layers<'m> {
    seen: &'m mut [u64],
    last: &'m mut [u64],
    before: &'m mut [u64],
}

fn contains(set: &[u64], state: u64) -> bool {
    set.get((state / 64) as usize)
        .is_some_and(|word| word >> (state % 64) & 1 == 1)
}

fn insert(set: &mut [u64], state: u64) {
    if let Some(word) = set.get_mut((state / 64) as usize) {
        *word |= 1 << (state % 64);
    }
}

impl Part<'_> {
    fn digits(&self) -> impl Iterator<Item = &Digit<'_>> {
        self.digits.iter().flatten()
    }

    fn words(&self) -> usize {
        3 * self.states.div_ceil(64) as usize
    }
}

impl Re {
    /// `None` if the part is too large for any memory.
    fn part(&self, here: Node, dest: Node) -> Option<Part<'_>> {
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
                .filter(|&states| states < 1 << 32)?;
        }
        Some(part)
    }

    pub(super) fn search_fits(&self, here: Node, dest: Node) -> bool {
        self.part(here, dest)
            .is_some_and(|part| part.words() <= self.memory as usize)
    }

    /// The next hop; `None` if the search does not fit the memory.
    pub(super) fn next_by_search(&self, here: Node, dest: Node) -> Option<Node> {
        let part = self
            .part(here, dest)
            .filter(|part| part.words() <= self.memory as usize)?;
        // A small search should not pay for clearing the memory of a large one.
        match part.words() {
            ..=BOARD_SEARCH_WORDS => self.search_in(&part, here, dest, &mut [0; BOARD_SEARCH_WORDS]),
            #[cfg(feature = "large-walks")]
            ..=HOST_SEARCH_WORDS => self.search_in(&part, here, dest, &mut [0; HOST_SEARCH_WORDS]),
            _ => None,
        }
    }

    #[inline(never)]
    fn search_in(&self, part: &Part<'_>, here: Node, dest: Node, memory: &mut [u64]) -> Option<Node> {
        let position = self.position(here);
        let start = part
            .digits()
            .fold(position, |state, digit| state + digit.phase.digit * digit.weight);
        let goal = part
            .digits()
            .fold(self.position(dest), |state, digit| state + digit.wanted * digit.weight);
        let words = part.words() / 3;
        let (seen, rest) = memory.split_at_mut(words);
        let (last, before) = rest.split_at_mut(words);
        let mut layers = Layers { seen, last, before };
        insert(layers.seen, goal);
        insert(layers.last, goal);
        for _ in 0..part.states {
            core::mem::swap(&mut layers.last, &mut layers.before);
            self.next_layer(part, &mut layers);
            if contains(layers.last, start) {
                return self.closer_neighbor(part, here, start, layers.before);
            }
        }
        None
    }

    /// All states that are not seen yet from which one hop leads into the layer before.
    fn next_layer(&self, part: &Part<'_>, layers: &mut Layers<'_>) {
        layers.last.get_mut(..layers.seen.len()).unwrap_or_default().fill(0);
        for state in 0..part.states {
            if !contains(layers.before, state) {
                continue;
            }
            let position = self.position(state);
            let mut reach = |state| {
                if !contains(layers.seen, state) {
                    insert(layers.seen, state);
                    insert(layers.last, state);
                }
            };
            for neighbor in self.unit.neighbors(position) {
                reach(state - position + neighbor);
            }
            for digit in part.digits() {
                let value = digit.value(state);
                let phase = Phase {
                    digit: value,
                    ..digit.phase
                };
                for link in 0..phase.links_at(position) {
                    // A right digit is not left, so nothing can come from there.
                    if let Some((from, exit)) = phase.crossing(position, link).filter(|(from, _)| *from != digit.wanted)
                    {
                        let other = (state + from * digit.weight).wrapping_sub(value * digit.weight);
                        reach(other - position + exit);
                    }
                }
            }
        }
    }

    /// The lowest-numbered neighbour of `here` whose state is in the set.
    fn closer_neighbor(&self, part: &Part<'_>, here: Node, state: u64, set: &[u64]) -> Option<Node> {
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
    fn value(&self, state: u64) -> Node {
        let (above, _) = crate::arith::div_rem(state, self.weight);
        crate::arith::div_rem(above, self.phase.frame.nodes()).1
    }
}
