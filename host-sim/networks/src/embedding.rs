//! Places for the nodes of a graph in a larger one, such that linked nodes have linked places.
//!
//! The possible places of each node are a bit set. A node that is put somewhere takes that place from all others, and leaves them only
//! places that are no farther from it than they are in the graph: a path there is a path in the larger graph too. The node with the fewest
//! places left is next, and first tries the place whose distances to the others are most like its own (forward checking: R. M. Haralick and
//! G. L. Elliott, Increasing tree search efficiency for constraint satisfaction problems, Artificial Intelligence 14, 1980).

use std::cmp::Reverse;

use super::distances::hops_from;
use super::graph::Graph;

/// Larger distances do not limit places: tables of them would be large, and what is near decides.
const MAX_HOPS: usize = 24;

/// A graph of up to 65,535 nodes, and its distances.
pub struct Measured {
    pub graph: Graph,
    /// From each node to each, at most 255.
    hops: Vec<u8>,
    /// For each node how many nodes are within 0, 1, .. `MAX_HOPS` links.
    within: Vec<[u16; MAX_HOPS + 1]>,
}

impl Measured {
    /// Time O(N M) for N nodes and M links, memory O(N^2).
    pub fn new(graph: Graph) -> Self {
        let nodes = graph.nodes();
        let mut hops = Vec::with_capacity(nodes * nodes);
        let mut within = vec![[0; MAX_HOPS + 1]; nodes];
        for (node, within) in within.iter_mut().enumerate() {
            hops.extend(hops_from(&graph, node).into_iter().map(|hops| hops.min(255) as u8));
            for &hops in &hops[node * nodes..] {
                within.iter_mut().skip(hops.into()).for_each(|count| *count += 1);
            }
        }
        Measured { graph, hops, within }
    }

    fn hops(&self, from: usize, to: usize) -> u8 {
        self.hops[from * self.graph.nodes() + to]
    }

    /// The mean distance, in thousandths, from neighbors of a node to neighbors of another; of very many neighbors, of some.
    pub fn around(&self, node: usize, other: usize) -> usize {
        const ASKED: usize = 16;
        let near = |node: usize| self.graph.neighbors(node).iter().map(|&near| near as usize).take(ASKED);
        let sum: usize = near(node)
            .flat_map(|a| near(other).map(move |b| usize::from(self.hops(a, b))))
            .sum();
        1_000 * sum / (near(node).count() * near(other).count())
    }

    /// How much what is around a node differs from what is around one of another graph.
    pub fn unlike(&self, node: usize, other: &Measured, its_node: usize) -> u32 {
        let pairs = self.within[node].iter().zip(&other.within[its_node]);
        pairs.map(|(own, other)| u32::from(own.abs_diff(*other))).sum()
    }

    /// The nodes with most neighbors first, then those with most nodes near them.
    pub fn most_central(&self) -> Vec<usize> {
        let mut nodes: Vec<usize> = (0..self.graph.nodes()).collect();
        let near = |node: usize| self.within[node].iter().map(|&count| u32::from(count)).sum::<u32>();
        nodes.sort_by_cached_key(|&node| Reverse((self.graph.neighbors(node).len(), near(node))));
        nodes
    }

    /// For each node and each distance up to `MAX_HOPS` the nodes that are no farther, as a bit set of so many words.
    pub fn balls(&self) -> (usize, Vec<u64>) {
        let words = self.graph.nodes().div_ceil(64);
        let mut balls = vec![0; self.graph.nodes() * (MAX_HOPS + 1) * words];
        for (from, sets) in balls.chunks_mut((MAX_HOPS + 1) * words).enumerate() {
            for to in 0..self.graph.nodes() {
                let larger = sets.chunks_mut(words).skip(self.hops(from, to).into());
                larger.for_each(|set| set[to / 64] |= 1 << (to % 64));
            }
        }
        (words, balls)
    }
}

/// What is looked for.
pub struct Wanted<'a> {
    /// The graph, without the links that may be wrong.
    pub certain: &'a Measured,
    /// Those links.
    pub doubtful: &'a [(usize, usize)],
    /// The node that is placed first, and where.
    pub root: (usize, usize),
    /// The larger graph, with its balls.
    pub target: &'a Measured,
    pub balls: &'a (usize, Vec<u64>),
    /// How many doubtful links may join places that are not linked.
    pub max_wrong: usize,
    /// How many links of the target may be missing between places that are taken.
    pub max_missing: usize,
    /// How many dead ends to look into.
    pub max_dead_ends: usize,
}

struct Search<'a> {
    wanted: &'a Wanted<'a>,
    words: usize,
    /// For each node its possible places, as a bit set.
    possible: Vec<u64>,
    /// Words of `possible` before they changed.
    changed: Vec<(usize, u64)>,
    place: Vec<Option<usize>>,
    is_taken: Vec<bool>,
    wrong: usize,
    missing: usize,
}

/// For each node its place, if the search finds places for all before it is to stop.
pub fn embed(wanted: &Wanted, stop: &dyn Fn() -> bool) -> Option<Vec<usize>> {
    let mut search = Search::new(wanted);
    // Each node that is placed, its places that are not tried, and what was known before: how much had changed, what was wrong and missing.
    let mut steps = vec![(wanted.root.0, vec![wanted.root.1], (0, 0, 0))];
    let mut dead_ends = 0;
    while let Some((node, places, before)) = steps.last_mut() {
        search.take_back(*node, *before);
        if dead_ends > wanted.max_dead_ends || stop() {
            break;
        }
        let Some(place) = places.pop() else {
            steps.pop();
            continue;
        };
        if !search.put(*node, place) {
            dead_ends += 1;
            continue;
        }
        let Some(next) = search.next() else {
            return search.place.into_iter().collect();
        };
        steps.push((
            next,
            search.places(next),
            (search.changed.len(), search.wrong, search.missing),
        ));
    }
    None
}

impl<'a> Search<'a> {
    fn new(wanted: &'a Wanted<'a>) -> Self {
        let (small, large, words) = (wanted.certain, wanted.target, wanted.balls.0);
        let (nodes, places) = (small.graph.nodes(), large.graph.nodes());
        let mut possible = vec![0; nodes * words];
        for (node, set) in possible.chunks_mut(words).enumerate() {
            // Whatever is within a distance has a place within it.
            let fits = |&place: &usize| small.within[node].iter().zip(&large.within[place]).all(|(a, b)| a <= b);
            let fitting = (0..places).filter(fits);
            fitting.for_each(|place| set[place / 64] |= 1 << (place % 64));
        }
        Search {
            wanted,
            words,
            possible,
            changed: Vec::new(),
            place: vec![None; nodes],
            is_taken: vec![false; places],
            wrong: 0,
            missing: 0,
        }
    }

    fn possible(&self, node: usize) -> &[u64] {
        &self.possible[node * self.words..(node + 1) * self.words]
    }

    /// Puts a node somewhere, if then all others have a place left.
    fn put(&mut self, node: usize, place: usize) -> bool {
        let (words, small, large) = (self.words, self.wanted.certain, &self.wanted.target.graph);
        let other_end = |&(a, b): &(usize, usize)| (a == node).then_some(b).or((b == node).then_some(a));
        let doubtful = self.wanted.doubtful.iter().filter_map(other_end);
        let at: Vec<usize> = doubtful.filter_map(|other| self.place[other]).collect();
        let wrong = at.iter().filter(|&&at| !large.linked(at, place)).count();
        let linked = at.len() - wrong + self.placed_neighbors(node);
        let taken = large.neighbors(place).iter().filter(|&&at| self.is_taken[at as usize]);
        self.missing += taken.count().saturating_sub(linked);
        self.wrong += wrong;
        let is_possible = self.possible(node)[place / 64] >> (place % 64) & 1 == 1;
        if !is_possible || self.wrong > self.wanted.max_wrong || self.missing > self.wanted.max_missing {
            return false;
        }
        (self.place[node], self.is_taken[place]) = (Some(place), true);
        let everywhere = vec![u64::MAX; words];
        for other in (0..self.place.len())
            .filter(|&other| self.place[other].is_none())
            .collect::<Vec<_>>()
        {
            let hops = usize::from(small.hops(node, other));
            let ball = self.wanted.balls.1.chunks(words).nth(place * (MAX_HOPS + 1) + hops);
            let ball = ball.filter(|_| hops <= MAX_HOPS).unwrap_or(&everywhere);
            let mut left = 0;
            for (word, near) in ball.iter().enumerate() {
                let own = if word == place / 64 { 1 << (place % 64) } else { 0 };
                let possible = &mut self.possible[other * words + word];
                let new = *possible & near & !own;
                left |= new;
                if new != *possible {
                    self.changed.push((other * words + word, *possible));
                    *possible = new;
                }
            }
            if left == 0 {
                return false;
            }
        }
        true
    }

    /// Takes a node away, if it is anywhere, and all that came of it.
    fn take_back(&mut self, node: usize, (changed, wrong, missing): (usize, usize, usize)) {
        if let Some(place) = self.place[node].take() {
            self.is_taken[place] = false;
        }
        (self.wrong, self.missing) = (wrong, missing);
        for (at, old) in self.changed.drain(changed..).rev() {
            self.possible[at] = old;
        }
    }

    fn placed_neighbors(&self, node: usize) -> usize {
        let neighbors = self.wanted.certain.graph.neighbors(node).iter();
        neighbors.filter(|&&other| self.place[other as usize].is_some()).count()
    }

    /// The node with the fewest places left, of several the one with most neighbors in place.
    fn next(&self) -> Option<usize> {
        let count = |node| self.possible(node).iter().map(|word| word.count_ones()).sum::<u32>();
        let open = (0..self.place.len()).filter(|&node| self.place[node].is_none());
        open.min_by_key(|&node| (count(node), Reverse(self.placed_neighbors(node))))
    }

    /// The possible places of a node, the one whose distances are most like its own last.
    fn places(&self, node: usize) -> Vec<usize> {
        let (small, large) = (self.wanted.certain, self.wanted.target);
        let is_possible = |&place: &usize| self.possible(node)[place / 64] >> (place % 64) & 1 == 1;
        let mut places: Vec<usize> = (0..self.is_taken.len()).filter(is_possible).collect();
        places.sort_by_cached_key(|&place| {
            let taken = (0..).zip(&self.place).filter_map(|(other, at)| Some((other, (*at)?)));
            let apart = taken.map(|(other, at)| small.hops(node, other).abs_diff(large.hops(place, at)));
            Reverse(apart.map(u64::from).sum::<u64>())
        });
        places
    }
}
