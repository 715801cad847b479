//! The shortest walk in a small graph that starts at one place, ends at another and visits every place of a set, or one place
//! of every group.
//!
//! This is the remaining part of routing in an RE network once the digits are known: each differing digit has to be changed
//! at one of its pivots, so the packet must visit one. With one pivot each, rings, paths, stars and complete graphs
//! have formulas; everything else is searched, with one bit for every place and every subset of the needed ones.

use core::ops::Range;

use heapless::Vec;

use super::MAX_UNIT;
use crate::arith::{Number, Vertex, bits, count_step, sub_mod, wrap};
use crate::graph::{Base, Factor, Kind};
use crate::limits::BOARD_SEARCH_WORDS;
#[cfg(feature = "large-walks")]
use crate::limits::HOST_SEARCH_WORDS;
use crate::topology::Topology;

/// Maximum number of places in a search: more subsets would not fit [`limits`](crate::limits).
const MAX_NEEDED: usize = 16;

/// What a walk must visit. Sets of places are bit sets.
#[derive(Clone, Default)]
pub(crate) struct Needed {
    /// Each of these places.
    pub(crate) places: u64,
    /// At least one place of each of these groups. No network needs more than [`MAX_NEEDED`].
    groups: Vec<u64, MAX_NEEDED>,
}

impl Needed {
    pub(crate) fn places(places: u64) -> Self {
        Needed {
            places,
            groups: Vec::new(),
        }
    }

    /// Also requires at least one of these places.
    pub(crate) fn add(&mut self, group: u64) {
        if group.is_power_of_two() {
            self.places |= group;
        } else if !self.groups.contains(&group) {
            self.groups.push(group).ok();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places == 0 && self.groups.is_empty()
    }

    /// All places that serve any need.
    pub(crate) fn anywhere(&self) -> u64 {
        self.groups.iter().fold(self.places, |all, group| all | group)
    }

    fn count(&self) -> u32 {
        self.places.count_ones() + self.groups.len() as u32
    }

    /// The numbers, below [`count`](Self::count), of the needs that a place serves.
    fn served_at(&self, place: Vertex) -> impl Iterator<Item = u32> + '_ {
        let itself = (self.places & ((1 << place) - 1)).count_ones();
        let groups = self.groups.iter().zip(self.places.count_ones()..);
        let served = groups.filter(move |(group, _)| **group >> place & 1 == 1);
        (self.places >> place & 1 == 1)
            .then_some(itself)
            .into_iter()
            .chain(served.map(|(_, number)| number))
    }
}

/// The problem of a walk from `from` to `to` through everything needed.
pub(crate) struct Walk<'a> {
    pub(crate) graph: &'a Base,
    pub(crate) from: Vertex,
    pub(crate) to: Vertex,
    pub(crate) needed: Needed,
    /// Memory that a search may use, in words.
    pub(crate) memory: usize,
}

impl Walk<'_> {
    /// Whether the exact result is found in the given memory.
    pub(crate) fn is_exact(&self) -> bool {
        self.length_by_formula().is_some() || self.search_words().is_some_and(|words| words <= self.memory)
    }

    /// The number of hops; `None` if the search does not fit the memory.
    pub(crate) fn length(&self) -> Option<Number> {
        self.length_by_formula()
            .or_else(|| self.search().map(|(length, _)| length))
    }

    /// The lowest-numbered neighbor of `from` on a shortest walk; `None` if the search does not fit the memory.
    ///
    /// `from` itself must not be needed, since it is served first.
    pub(crate) fn step(&self) -> Option<Vertex> {
        let by_formula = if self.needed.groups.is_empty() {
            step_by_formula(self.graph, self.from, self.to, self.needed.places)
        } else {
            None
        };
        by_formula.or_else(|| self.search().map(|(_, next)| next))
    }

    fn length_by_formula(&self) -> Option<Number> {
        if self.needed.groups.is_empty() {
            length_by_formula(self.graph, self.from, self.to, self.needed.places)
        } else {
            None
        }
    }

    /// Words of memory of the search; `None` if more than the maximum.
    fn search_words(&self) -> Option<usize> {
        let needed = self.needed.count();
        let subsets = 1usize << needed.min(MAX_NEEDED as u32);
        let words = 2 * (self.graph.nodes().min(MAX_UNIT) as usize) * subsets.div_ceil(64);
        (needed as usize <= MAX_NEEDED).then_some(words)
    }

    /// Length and next place.
    fn search(&self) -> Option<(Number, Vertex)> {
        let words = self.search_words().filter(|&words| words <= self.memory)?;
        // A small search should not pay for clearing the memory of a large one.
        match words {
            ..=BOARD_SEARCH_WORDS => self.search_in(&mut [0; BOARD_SEARCH_WORDS]),
            #[cfg(feature = "large-walks")]
            ..=8192 => self.search_in(&mut [0; 8192]),
            #[cfg(feature = "large-walks")]
            ..=HOST_SEARCH_WORDS => self.search_in(&mut [0; HOST_SEARCH_WORDS]),
            _ => None,
        }
    }

    /// Searches backwards from the end, all walks at once: after t rounds, a place holds the sets with which the end can be
    /// reached from there in t hops, visiting exactly that set. O(length * links * 2^needed / 64) time.
    #[inline(never)]
    fn search_in(&self, memory: &mut [u64]) -> Option<(Number, Vertex)> {
        let places = self.graph.nodes().min(MAX_UNIT) as usize;
        let everything = (1usize << self.needed.count()) - 1;
        let width = (everything + 1).div_ceil(64);
        let (now, before) = memory.split_at_mut_checked(places * width)?;
        let (mut now, mut before) = (Round { sets: now, width }, Round { sets: before, width });
        let links = self.links(places);
        now.start_at(self.to)?;
        self.visit(self.to, now.at_mut(self.to)?);
        // A walk along a spanning tree and back visits everything, so twice the places is always enough.
        for length in 0..=2 * places as Number {
            if now.has(self.from, everything) {
                let closer = self
                    .graph
                    .neighbors(self.from)
                    .filter(|&next| before.has(next, everything));
                return Some((length, closer.min().unwrap_or(self.from)));
            }
            (now, before) = (before, now);
            for (place, &links) in (0..).zip(links.iter().take(places)) {
                let sets = now.gather(place, links, &before)?;
                self.visit(place, sets);
            }
        }
        None
    }

    /// The neighbors of each place as a bit set, since every round uses them.
    #[inline]
    fn links(&self, places: usize) -> [u64; MAX_UNIT as usize] {
        let mut links = [0; MAX_UNIT as usize];
        for (place, links) in (0..).zip(links.iter_mut().take(places)) {
            let neighbors = self.graph.neighbors(place);
            *links = neighbors.fold(0, |links, neighbor| links | 1 << neighbor);
        }
        links
    }

    /// Adds to every set without them the needs that the place serves.
    #[inline]
    fn visit(&self, place: Vertex, sets: &mut [u64]) {
        for number in self.needed.served_at(place) {
            add_to_all(sets, number);
        }
    }
}

/// A round of the search: for every place the visited sets, one bit for each set at the index of its number. A
/// set's number has a bit for each member.
struct Round<'m> {
    sets: &'m mut [u64],
    /// Words for the sets of one place.
    width: usize,
}

impl Round<'_> {
    fn words_of(&self, place: Vertex) -> Range<usize> {
        let start = place as usize * self.width;
        start..start + self.width
    }

    fn at(&self, place: Vertex) -> Option<&[u64]> {
        self.sets.get(self.words_of(place))
    }

    fn at_mut(&mut self, place: Vertex) -> Option<&mut [u64]> {
        let words = self.words_of(place);
        self.sets.get_mut(words)
    }

    fn has(&self, place: Vertex, set: usize) -> bool {
        let word = self.at(place).and_then(|words| words.get(set / 64));
        word.is_some_and(|word| word >> (set % 64) & 1 == 1)
    }

    /// Gives a place the empty set: nothing is visited yet.
    fn start_at(&mut self, place: Vertex) -> Option<()> {
        *self.at_mut(place)?.first_mut()? = 1;
        Some(())
    }

    /// Gives a place the sets that its neighbors had in the previous round. Returns them.
    #[inline]
    fn gather(&mut self, place: Vertex, neighbors: u64, before: &Round<'_>) -> Option<&mut [u64]> {
        let sets = self.at_mut(place)?;
        sets.fill(0);
        for neighbor in bits(neighbors) {
            for (set, other) in sets.iter_mut().zip(before.at(neighbor)?) {
                count_step();
                *set |= other;
            }
        }
        Some(sets)
    }
}

/// The length of the shortest walk by way of places, for graphs that have a formula.
fn length_by_formula(graph: &Base, from: Vertex, to: Vertex, needed: u64) -> Option<Number> {
    match &graph.0 {
        Kind::Line(line) => Some(match line.factor {
            Factor::Complete => {
                let others = (needed & !(1 << from | 1 << to)).count_ones();
                if others > 0 {
                    Number::from(others) + 1
                } else {
                    Number::from(from != to)
                }
            }
            Factor::Ring => around(line.nodes, from, to, needed),
            Factor::Path => {
                let places = needed | 1 << from | 1 << to;
                let low = Number::from(places.trailing_zeros());
                let high = 63 - Number::from(places.leading_zeros());
                along(from - low, to - low, high - low)
            }
        }),
        Kind::Star(_) => {
            let leaves = Number::from((needed & !(1 | 1 << from | 1 << to)).count_ones());
            let centre_and_back = Number::from(from == to && from != 0 && needed & 1 != 0) * 2;
            Some(if leaves > 0 {
                Number::from(from != 0) + 2 * leaves + Number::from(to != 0)
            } else {
                graph.hops(from, to) + centre_and_back
            })
        }
        _ => None,
    }
}

/// The first step of that walk: the lowest-numbered neighbor of `from` on a shortest one. `from` must not be needed, and
/// something else must be.
#[inline]
pub(super) fn step_by_formula(graph: &Base, from: Vertex, to: Vertex, needed: u64) -> Option<Vertex> {
    match &graph.0 {
        Kind::Line(line) => Some(match line.factor {
            Factor::Complete => {
                let others = needed & !(1 << from | 1 << to);
                bits(others).next().unwrap_or(to)
            }
            Factor::Ring => {
                let (up, down) = (wrap(from + 1, line.nodes), sub_mod(from, 1, line.nodes));
                let (lower, higher) = (up.min(down), up.max(down));
                let length = |from| around(line.nodes, from, to, needed);
                // If the lower-numbered neighbor is no closer, the other one is.
                if length(lower) < length(from) { lower } else { higher }
            }
            // Away from the end first, to turn around there, unless nothing is needed on that side.
            Factor::Path => {
                let places = needed | 1 << to;
                let (below, above) = (places & ((1 << from) - 1), places >> from > 1);
                let goes_down = below != 0 && (!above || from <= to);
                if goes_down { from - 1 } else { from + 1 }
            }
        }),
        Kind::Star(_) if from != 0 => Some(0),
        Kind::Star(_) => Some(bits(needed & !(1 | 1 << to)).next().unwrap_or(to)),
        _ => None,
    }
}

/// Adds the member of this number to every set that lacks it.
fn add_to_all(sets: &mut [u64], bit: u32) {
    if bit < 6 {
        const WITHOUT: [u64; 6] = [
            0x5555_5555_5555_5555,
            0x3333_3333_3333_3333,
            0x0f0f_0f0f_0f0f_0f0f,
            0x00ff_00ff_00ff_00ff,
            0x0000_ffff_0000_ffff,
            0x0000_0000_ffff_ffff,
        ];
        let without = WITHOUT.get(bit as usize).copied().unwrap_or(0);
        for set in sets {
            count_step();
            *set |= (*set & without) << (1 << bit);
        }
    } else {
        let step = 1usize << (bit - 6);
        for block in sets.chunks_mut((2 * step).max(1)) {
            let (without, with) = block.split_at_mut(step.min(block.len()));
            for (set, other) in with.iter_mut().zip(without) {
                count_step();
                *set |= *other;
            }
        }
    }
}

/// On a line of `length` hops, from `a` to `b` by way of both ends.
fn along(a: Number, b: Number, length: Number) -> Number {
    if a <= b {
        a + length + (length - b)
    } else {
        (length - a) + length + b
    }
}

/// On a ring: omit one gap between neighboring places and walk the remaining line, or make a full turn.
fn around(n: Number, from: Vertex, to: Vertex, needed: u64) -> Number {
    let places = needed | 1 << from | 1 << to;
    let mut best = if from == to { n } else { Number::MAX };
    let mut previous = 63 - Number::from(places.leading_zeros());
    for start in bits(places) {
        let line = along(
            sub_mod(from, start, n),
            sub_mod(to, start, n),
            sub_mod(previous, start, n),
        );
        best = best.min(line);
        previous = start;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Breadth-first search over (place, set of groups visited).
    fn searched(graph: &Base, from: Vertex, to: Vertex, groups: &[u64]) -> Number {
        let subsets = 1usize << groups.len();
        let met = |place: Vertex| {
            let numbered = groups.iter().enumerate();
            numbered.fold(0, |met, (number, group)| {
                met | ((group >> place & 1) as usize) << number
            })
        };
        let mut seen = std::vec![false; graph.nodes() as usize * subsets];
        let mut layer = std::vec![(from, met(from))];
        for length in 0.. {
            let mut next = std::vec::Vec::new();
            for (place, visited) in layer {
                if place == to && visited == subsets - 1 {
                    return length;
                }
                for neighbor in graph.neighbors(place) {
                    let state = (neighbor, visited | met(neighbor));
                    let index = state.0 as usize * subsets + state.1;
                    if !core::mem::replace(&mut seen[index], true) {
                        next.push(state);
                    }
                }
            }
            layer = next;
        }
        unreachable!()
    }

    /// Compares a walk and its first step with the search.
    fn check(text: &str, from: Vertex, to: Vertex, groups: &[u64]) {
        let graph: &Base = &text.parse().unwrap();
        let mut needed = Needed::default();
        groups.iter().for_each(|&group| needed.add(group));
        let anywhere = needed.anywhere();
        let walk = Walk {
            graph,
            from,
            to,
            needed,
            memory: BOARD_SEARCH_WORDS,
        };
        let length = searched(graph, from, to, groups);
        assert_eq!(walk.length(), Some(length), "{text} {from} {to} {groups:x?}");
        if anywhere >> from & 1 == 0 && length > 0 {
            let closer = |next: &Vertex| searched(graph, *next, to, groups) + 1 == length;
            let lowest = graph.neighbors(from).filter(closer).min();
            assert_eq!(walk.step(), lowest, "{text} {from} {to} {groups:x?}");
        }
    }

    fn singles(places: u64) -> std::vec::Vec<u64> {
        bits(places).map(|place| 1 << place).collect()
    }

    #[test]
    fn every_walk_in_small_graphs_is_shortest() {
        for text in hopwise_testing::networks("walked") {
            let nodes = text.parse::<Base>().unwrap().nodes();
            for needed in 0..1u64 << nodes {
                for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
                    check(text, from, to, &singles(needed));
                }
            }
        }
    }

    #[test]
    fn walks_by_way_of_groups_are_shortest() {
        let group = |place: Number| 1u64 << place | 1 << ((place + 3) % 14) | 1 << ((place + 11) % 14);
        for needed in (0..1u64 << 14).filter(|needed| needed.count_ones() <= 4) {
            let groups: std::vec::Vec<u64> = bits(needed).map(group).collect();
            let (from, to) = ((needed % 14) as Vertex, (needed / 14 % 14) as Vertex);
            check("heawood", from, to, &groups);
        }
        for text in ["ring(14)", "complete(14)", "star(14)", "path(14)"] {
            for (from, to) in (0..14).flat_map(|from| (0..14).map(move |to| (from, to))) {
                check(text, from, to, &[group(2), group(5), 1 << 7, 1 << 13]);
            }
        }
    }

    #[test]
    fn a_search_that_does_not_fit_is_refused() {
        let graph: Base = "heawood".parse().unwrap();
        let walk = |places, memory| Walk {
            graph: &graph,
            from: 0,
            to: 0,
            needed: Needed::places(places),
            memory,
        };
        assert!(walk(0xff, BOARD_SEARCH_WORDS).is_exact());
        assert!(!walk(0x1ff, BOARD_SEARCH_WORDS).is_exact());
        let found = walk(0x1fe, BOARD_SEARCH_WORDS).length();
        assert_eq!(found, Some(searched(&graph, 0, 0, &singles(0x1fe))));
        assert_eq!(walk(0x3fe, BOARD_SEARCH_WORDS).length(), None);
        #[cfg(feature = "large-walks")]
        assert_eq!(
            walk(0x3fff, HOST_SEARCH_WORDS).length(),
            Some(searched(&graph, 0, 0, &singles(0x3fff)))
        );
    }
}
