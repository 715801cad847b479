//! The largest complete binary tree that fits into a network, embedded with dilation at most two.
//!
//! The paper on cubes of rings says that theirs have one (Lemma 1), and how it is made only in a figure that is lost. So it is searched for,
//! at random but always the same way; what is found is checked.

use std::collections::BTreeSet;

use crate::distances::hops_from;
use crate::graph::Graph;

/// The most hops between a parent and a child.
pub const DILATION: u32 = 2;

/// A complete binary tree whose nodes are different nodes of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryTree {
    /// By tree node, its node in the network; the children of i are 2i+1 and 2i+2.
    pub places: Vec<usize>,
    pub dilation: u32,
}

impl BinaryTree {
    /// Searches for one, at a root if it is given; `None` if none was found, which does not prove that there is none.
    pub fn embed(graph: &Graph, root: Option<usize>) -> Option<Self> {
        let places = Search::new(graph, DILATION).find(root)?;
        let mut seen = vec![false; graph.nodes()];
        let different = places.iter().all(|&place| !std::mem::replace(&mut seen[place], true));
        let hops = |child: usize| hops_from(graph, places[(child - 1) / 2])[places[child]];
        let dilation = (1..places.len()).map(hops).max().unwrap_or(0);
        (different && dilation <= DILATION).then_some(BinaryTree { places, dilation })
    }

    /// The hops along the tree from its root to the farthest node, those beside the tree reached from the nearest in it.
    pub fn depth(&self, graph: &Graph) -> u32 {
        let mut deep: Vec<Option<u32>> = vec![None; graph.nodes()];
        deep[self.places[0]] = Some(0);
        for child in 1..self.places.len() {
            let (parent, place) = (self.places[(child - 1) / 2], self.places[child]);
            deep[place] = deep[parent].map(|hops| hops + hops_from(graph, parent)[place]);
        }
        let beside = |node: usize| {
            let hops = hops_from(graph, node);
            let nearest = self.places.iter().copied().min_by_key(|&place| hops[place]);
            nearest.and_then(|place| Some(deep[place]? + hops[place])).unwrap_or(0)
        };
        let all = deep.iter().enumerate();
        let hops = all.map(|(node, hops)| hops.unwrap_or_else(|| beside(node)));
        hops.max().unwrap_or(0)
    }

    pub fn levels(&self) -> u32 {
        levels(self.places.len())
    }

    /// The tree nodes of a level, from 0 for the root.
    pub fn level(&self, level: u32) -> std::ops::Range<usize> {
        (1 << level) - 1..((2 << level) - 1).min(self.places.len())
    }
}

/// The levels of the largest complete binary tree that has no more nodes than the network.
pub fn levels(nodes: usize) -> u32 {
    (nodes + 1).ilog2()
}

/// A search for the places of a complete binary tree in a graph, level by level.
struct Search {
    /// By node, those within the dilation.
    near: Vec<Vec<usize>>,
    levels: u32,
    random: u64,
}

const TRIES: u32 = 4000;

impl Search {
    fn new(graph: &Graph, dilation: u32) -> Self {
        let near = |node| {
            let hops = hops_from(graph, node);
            let within = |&other: &usize| (1..=dilation).contains(&hops[other]);
            (0..graph.nodes()).filter(within).collect()
        };
        Search {
            near: (0..graph.nodes()).map(near).collect(),
            levels: levels(graph.nodes()),
            random: 1,
        }
    }

    /// A number below `most`, always the same from run to run (xorshift).
    fn draw(&mut self, most: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % most as u64) as usize
    }

    /// The places of all tree nodes, the children of i at 2i+1 and 2i+2; `None` if none were found.
    fn find(&mut self, root: Option<usize>) -> Option<Vec<usize>> {
        (0..TRIES).find_map(|_| self.attempt(root))
    }

    /// Every level gets children by a matching: each parent two places of its own.
    fn attempt(&mut self, root: Option<usize>) -> Option<Vec<usize>> {
        let nodes = self.near.len();
        let mut places = vec![root.unwrap_or_else(|| self.draw(nodes))];
        let mut used = vec![false; nodes];
        used[places[0]] = true;
        let mut parents = places.clone();
        for _ in 1..self.levels {
            let children = self.children(&parents, &used)?;
            children.iter().for_each(|&child| used[child] = true);
            places.extend(&children);
            parents = children;
        }
        Some(places)
    }

    /// Two places for each parent, by augmenting paths, in an order that is drawn.
    fn children(&mut self, parents: &[usize], used: &[bool]) -> Option<Vec<usize>> {
        // Each parent stands for two seats.
        let mut seated: Vec<Option<usize>> = vec![None; self.near.len()];
        for seat in 0..2 * parents.len() {
            let mut seen = BTreeSet::new();
            if !self.seat(parents, used, seat, &mut seated, &mut seen) {
                return None;
            }
        }
        let mut children = vec![usize::MAX; 2 * parents.len()];
        for (place, seat) in seated.iter().enumerate() {
            if let Some(seat) = seat {
                children[*seat] = place;
            }
        }
        Some(children)
    }

    /// Finds a place for a seat; those who sit there may move on.
    fn seat(
        &mut self,
        parents: &[usize],
        used: &[bool],
        seat: usize,
        seated: &mut [Option<usize>],
        seen: &mut BTreeSet<usize>,
    ) -> bool {
        let near = self.near[parents[seat / 2]].clone();
        let first = self.draw(near.len());
        for index in 0..near.len() {
            let place = near[(first + index) % near.len()];
            if used[place] || !seen.insert(place) {
                continue;
            }
            let is_free = match seated[place] {
                None => true,
                Some(other) => self.seat(parents, used, other, seated, seen),
            };
            if is_free {
                seated[place] = Some(seat);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_found_where_they_are_and_only_there() {
        for (expression, levels, root) in [
            ("rcr(2,2,2)", 5, Some(7)),
            ("ccc(3)", 4, None),
            ("hypercube(4)", 4, Some(0)),
            ("complete(7)", 3, Some(6)),
        ] {
            let graph = Graph::build(&expression.parse().unwrap()).unwrap();
            let tree = BinaryTree::embed(&graph, root).unwrap();
            assert_eq!(tree.levels(), levels, "{expression}");
            assert_eq!(tree.places.len(), (1 << levels) - 1, "{expression}");
            assert!(tree.dilation <= 2, "{expression}");
            assert!(root.is_none_or(|root| tree.places[0] == root), "{expression}");
            let all: Vec<usize> = (0..levels).flat_map(|level| tree.level(level)).collect();
            assert!(all.iter().copied().eq(0..tree.places.len()), "{expression}");
        }
        // Seven nodes in a path of seven: the leaves of the root's children would have to be too far away.
        let path = Graph::build(&"path(15)".parse().unwrap()).unwrap();
        assert_eq!(BinaryTree::embed(&path, None), None);
    }
}
