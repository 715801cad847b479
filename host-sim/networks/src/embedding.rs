//! Places for the nodes of a graph in a larger one, such that linked nodes have linked places.
//!
//! The possible places of each node are a bit set. A node that is put somewhere takes that place from all others, and leaves them only
//! places that are no farther from it than they are in the graph: a path there is a path in the larger graph too. The node with the fewest
//! places left is next, and first tries the place whose distances to the others are most like its own (forward checking: R. M. Haralick and
//! G. L. Elliott, Increasing tree search efficiency for constraint satisfaction problems, Artificial Intelligence 14, 1980).

use super::distances::hops_from;
use super::graph::Graph;

/// Larger distances do not limit places: tables of them would be large, and what is near decides.
const MAX_HOPS: usize = 24;

/// A graph and its distances.
pub struct Measured {
    pub graph: Graph,
    /// From each node to each, at most 255.
    hops: Vec<u8>,
    /// For each node how many nodes are within 0, 1, .. `MAX_HOPS` links.
    within: Vec<[u16; MAX_HOPS + 1]>,
}

impl Measured {
    /// For up to 65,535 nodes. Time O(N M) for N nodes and M links, memory O(N^2).
    pub fn new(graph: Graph) -> Self {
        let nodes = graph.nodes();
        let mut hops = Vec::with_capacity(nodes * nodes);
        let mut within = vec![[0; MAX_HOPS + 1]; nodes];
        for (node, within) in within.iter_mut().enumerate() {
            hops.extend(hops_from(&graph, node).into_iter().map(|hops| hops.min(255) as u8));
            for &hops in &hops[node * nodes..] {
                let larger = within.iter_mut().skip(hops.into());
                larger.for_each(|count| *count += 1);
            }
        }
        Measured { graph, hops, within }
    }

    fn hops(&self, from: usize, to: usize) -> u8 {
        self.hops[from * self.graph.nodes() + to]
    }

    fn degree(&self, node: usize) -> usize {
        self.graph.neighbors(node).len()
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
        nodes.sort_by_cached_key(|&node| std::cmp::Reverse((self.degree(node), near(node))));
        nodes
    }
}

/// A graph in which places are looked for.
pub struct Target {
    pub measured: Measured,
    words: usize,
    /// For each node and each distance up to `MAX_HOPS` the nodes that are no farther, as a bit set.
    near: Vec<u64>,
}

impl Target {
    pub fn new(graph: Graph) -> Self {
        let measured = Measured::new(graph);
        let nodes = measured.graph.nodes();
        let words = nodes.div_ceil(64);
        let mut near = vec![0; nodes * (MAX_HOPS + 1) * words];
        for (from, sets) in near.chunks_mut((MAX_HOPS + 1) * words).enumerate() {
            for to in 0..nodes {
                for set in sets.chunks_mut(words).skip(measured.hops(from, to).into()) {
                    set[to / 64] |= 1 << (to % 64);
                }
            }
        }
        Target { measured, words, near }
    }

    fn near(&self, node: usize, hops: usize) -> &[u64] {
        let at = (node * (MAX_HOPS + 1) + hops) * self.words;
        &self.near[at..at + self.words]
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
    /// How many doubtful links may join places that are not linked.
    pub max_wrong: usize,
    /// How many links of the target may be missing between places that are taken.
    pub max_missing: usize,
    /// How many dead ends to look into.
    pub max_dead_ends: usize,
}

/// A node that was placed.
struct Step {
    node: usize,
    /// Its possible places, the best last.
    places: Vec<usize>,
    /// Where it is, if it is anywhere, and what that cost.
    taken: Option<(usize, usize, usize)>,
    /// How much was known before.
    known: usize,
}

struct Search<'a> {
    wanted: &'a Wanted<'a>,
    target: &'a Target,
    /// For each node its possible places, as a bit set.
    possible: Vec<u64>,
    /// For each node how many those are.
    count: Vec<u32>,
    /// Words of `possible` before they changed.
    changed: Vec<(u32, u64)>,
    place: Vec<Option<usize>>,
    /// For each place who is there.
    who: Vec<Option<usize>>,
    wrong: usize,
    missing: usize,
}

/// For each node its place, if the search finds places for all; or until it is to stop.
pub fn embed(wanted: &Wanted, target: &Target, stop: &dyn Fn() -> bool) -> Option<Vec<usize>> {
    let mut search = Search::new(wanted, target);
    let mut steps = vec![Step {
        node: wanted.root.0,
        places: vec![wanted.root.1],
        taken: None,
        known: 0,
    }];
    let mut dead_ends = 0;
    while let Some(step) = steps.last_mut() {
        if stop() {
            return None;
        }
        if step.taken.is_some() {
            search.take_back(step);
        }
        let Some(place) = step.places.pop() else {
            steps.pop();
            continue;
        };
        if !search.put(step, place) {
            dead_ends += 1;
            if dead_ends > wanted.max_dead_ends {
                return None;
            }
            continue;
        }
        let Some(node) = search.next() else {
            return search.place.into_iter().collect();
        };
        let places = search.places(node);
        let known = search.changed.len();
        steps.push(Step {
            node,
            places,
            taken: None,
            known,
        });
    }
    None
}

impl<'a> Search<'a> {
    fn new(wanted: &'a Wanted<'a>, target: &'a Target) -> Self {
        let (small, large) = (wanted.certain, &target.measured);
        let (nodes, places) = (small.graph.nodes(), large.graph.nodes());
        let mut possible = vec![0; nodes * target.words];
        let mut count = vec![0; nodes];
        for node in 0..nodes {
            for place in 0..places {
                // Whatever is within a distance has a place within it.
                let mut pairs = small.within[node].iter().zip(&large.within[place]);
                if small.degree(node) <= large.degree(place) && pairs.all(|(small, large)| small <= large) {
                    possible[node * target.words + place / 64] |= 1 << (place % 64);
                    count[node] += 1;
                }
            }
        }
        Search {
            wanted,
            target,
            possible,
            count,
            changed: Vec::new(),
            place: vec![None; nodes],
            who: vec![None; places],
            wrong: 0,
            missing: 0,
        }
    }

    fn is_possible(&self, node: usize, place: usize) -> bool {
        self.possible[node * self.target.words + place / 64] >> (place % 64) & 1 == 1
    }

    /// Puts the node of a step somewhere, if then all others have a place left.
    fn put(&mut self, step: &mut Step, place: usize) -> bool {
        let node = step.node;
        if !self.is_possible(node, place) {
            return false;
        }
        let (small, large) = (&self.wanted.certain.graph, &self.target.measured.graph);
        let neighbor = |&(a, b): &(usize, usize)| (a == node).then_some(b).or((b == node).then_some(a));
        let by_doubtful = self.wanted.doubtful.iter().filter_map(neighbor);
        let at: Vec<usize> = by_doubtful.filter_map(|other| self.place[other]).collect();
        let wrong = at.iter().filter(|&&at| !large.linked(at, place)).count();
        let certain = small.neighbors(node).iter();
        let certain = certain.filter(|&&other| self.place[other as usize].is_some()).count();
        let taken = large.neighbors(place).iter();
        let taken = taken.filter(|&&at| self.who[at as usize].is_some()).count();
        let missing = (taken + wrong).saturating_sub(certain + at.len());
        if self.wrong + wrong > self.wanted.max_wrong || self.missing + missing > self.wanted.max_missing {
            return false;
        }
        self.wrong += wrong;
        self.missing += missing;
        self.place[node] = Some(place);
        self.who[place] = Some(node);
        step.taken = Some((place, wrong, missing));
        let words = self.target.words;
        for other in (0..self.place.len())
            .filter(|&other| self.place[other].is_none())
            .collect::<Vec<_>>()
        {
            let hops = usize::from(self.wanted.certain.hops(node, other));
            let own = other * words..(other + 1) * words;
            // Farther nodes only lose the place itself.
            let near = (hops <= MAX_HOPS).then(|| self.target.near(place, hops));
            let looked_at = if near.is_some() {
                0..words
            } else {
                place / 64..place / 64 + 1
            };
            for word in looked_at {
                let at = own.start + word;
                let old = self.possible[at];
                let mut new = near.map_or(old, |near| old & near[word]);
                if word == place / 64 {
                    new &= !(1 << (place % 64));
                }
                if new != old {
                    self.changed.push((at as u32, old));
                    self.possible[at] = new;
                    self.count[other] -= (old ^ new).count_ones();
                }
            }
            if self.count[other] == 0 {
                self.take_back(step);
                return false;
            }
        }
        true
    }

    fn take_back(&mut self, step: &mut Step) {
        if let Some((place, wrong, missing)) = step.taken.take() {
            self.place[step.node] = None;
            self.who[place] = None;
            self.wrong -= wrong;
            self.missing -= missing;
        }
        for (at, old) in self.changed.drain(step.known..).rev() {
            let gained = old.count_ones() - self.possible[at as usize].count_ones();
            self.count[at as usize / self.target.words] += gained;
            self.possible[at as usize] = old;
        }
    }

    /// The node with the fewest places left, of several the one with most neighbors in place.
    fn next(&self) -> Option<usize> {
        let open = (0..self.place.len()).filter(|&node| self.place[node].is_none());
        let fewest = open.clone().map(|node| self.count[node]).min()?;
        let neighbors = |node: usize| self.wanted.certain.graph.neighbors(node).iter();
        let placed = |node| {
            neighbors(node)
                .filter(|&&other| self.place[other as usize].is_some())
                .count()
        };
        open.filter(|&node| self.count[node] == fewest)
            .max_by_key(|&node| placed(node))
    }

    /// The possible places of a node, the one whose distances are most like its own last.
    fn places(&self, node: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.who.len())
            .filter(|&place| self.is_possible(node, place))
            .collect();
        if places.len() > 1 {
            let (small, large) = (self.wanted.certain, &self.target.measured);
            let taken: Vec<_> = (0..)
                .zip(&self.place)
                .filter_map(|(other, &at)| Some((other, at?)))
                .collect();
            let apart = |place: usize| {
                let each = taken
                    .iter()
                    .map(|&(other, at)| small.hops(node, other).abs_diff(large.hops(place, at)));
                each.map(u64::from).sum::<u64>()
            };
            places.sort_by_cached_key(|&place| std::cmp::Reverse(apart(place)));
        }
        places
    }
}
