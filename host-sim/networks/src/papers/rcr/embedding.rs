//! The embedded binary tree of Lemma 1, and the comparison of bisection widths.

use std::collections::BTreeSet;

use super::super::{Claim, How, Run, Verdict, built};
use super::{Cube, all, claim};
use crate::bisection;
use crate::distances::hops_from;
use crate::graph::Graph;
use crate::papers::CannotMeasure;

/// The levels of the largest complete binary tree that has no more nodes than the network.
fn height(nodes: usize) -> u32 {
    (nodes + 1).ilog2()
}

/// A search for the places of a complete binary tree in a graph, level by level.
struct Search {
    /// By node, those within the dilation.
    near: Vec<Vec<usize>>,
    height: u32,
    random: u64,
}

/// So often the search begins anew.
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
            height: height(graph.nodes()),
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
    fn find(&mut self) -> Option<Vec<usize>> {
        (0..TRIES).find_map(|_| self.attempt())
    }

    /// Every level gets children by a matching: each parent two places of its own.
    fn attempt(&mut self) -> Option<Vec<usize>> {
        let nodes = self.near.len();
        let mut places = vec![self.draw(nodes)];
        let mut used = vec![false; nodes];
        used[places[0]] = true;
        let mut parents = places.clone();
        for _ in 1..self.height {
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

/// Whether the places are those of a tree: all different, and children within the dilation.
fn is_embedding(graph: &Graph, places: &[usize], dilation: u32) -> bool {
    let different = places.iter().collect::<BTreeSet<_>>().len() == places.len();
    let near = |child: usize| {
        let hops = hops_from(graph, places[(child - 1) / 2])[places[child]];
        hops <= dilation
    };
    different && (1..places.len()).all(near)
}

pub(super) fn lemma_1(run: &Run) -> Result<Vec<Claim>, CannotMeasure> {
    let (mut found, mut open, mut wide) = (0, Vec::new(), None);
    let cubes: Vec<Cube> = all(128, 8)
        .into_iter()
        .filter(|cube| cube.r << cube.bits() >= 7)
        .collect();
    let mut expansion: f64 = 1.0;
    for cube in &cubes {
        (run.progress)(&cube.name());
        let (_, graph) = built(&cube.name())?;
        let places = Search::new(&graph, 2).find();
        match places.filter(|places| is_embedding(&graph, places, 2)) {
            Some(_) => found += 1,
            None => open.push(cube.name()),
        }
        let tree = (1u64 << height(graph.nodes())) - 1;
        let ratio = graph.nodes() as f64 / tree as f64;
        if ratio > expansion {
            expansion = ratio;
            wide = Some(format!("{}: {} nodes, the tree has {tree}", cube.name(), graph.nodes()));
        }
    }
    Ok(vec![
        Claim {
            measured: format!(
                "dilation 2 or 1 found on {found} of {} networks of 7 to 128 nodes",
                cubes.len()
            ),
            how: How::Found,
            // Not finding one proves nothing.
            verdict: if open.is_empty() {
                Verdict::Holds
            } else {
                Verdict::Ambiguous
            },
            counterexample: (!open.is_empty()).then(|| format!("none was found on {}", open.join(", "))),
            ..claim(
                "Lemma 1",
                "the complete binary tree of floor(log2(N + 1)) levels can be embedded with dilation below three",
            )
        },
        Claim {
            measured: format!("nodes of the network over those of the tree: up to {expansion:.2}"),
            how: How::Counted,
            verdict: Verdict::of(wide.is_none()),
            counterexample: wide,
            ..claim("Lemma 1", "the expansion is one")
        },
    ])
}

/// The table is lost; the sentence about it is not. Networks of the same size and degree are compared, of which CCC and COR are some.
pub(super) fn table_1_bisection(run: &Run) -> Result<Vec<Claim>, CannotMeasure> {
    let (mut larger, mut equal, mut smaller) = (0, 0, Vec::new());
    for (other, k) in [
        ("ccc(3)", 1),
        ("ccc(4)", 1),
        ("ccc(5)", 1),
        ("cor(2,2)", 2),
        ("cor(2,3)", 2),
    ] {
        let (_, graph) = built(other)?;
        let Some(theirs) = bisection::bounds(&graph) else {
            continue;
        };
        let (nodes, degree) = (graph.nodes(), graph.degree_range());
        let same = |cube: &&Cube| cube.k == k && (cube.r << cube.bits()) as usize == nodes;
        for cube in all(256, 16).iter().filter(same) {
            (run.progress)(&cube.name());
            let (_, graph) = built(&cube.name())?;
            let Some(ours) = bisection::bounds(&graph).filter(|_| graph.degree_range() == degree) else {
                continue;
            };
            match ours.most.cmp(&theirs.most) {
                std::cmp::Ordering::Greater => larger += 1,
                std::cmp::Ordering::Equal => equal += 1,
                std::cmp::Ordering::Less => smaller.push(format!("{}: {ours}, {other}: {theirs}", cube.name())),
            }
        }
    }
    Ok(vec![Claim {
        measured: format!(
            "against CCC and COR of the same size and degree larger on {larger}, equal on {equal}, smaller on {} networks",
            smaller.len()
        ),
        how: How::BestCut,
        verdict: if smaller.is_empty() && equal == 0 {
            Verdict::Holds
        } else {
            Verdict::Ambiguous
        },
        counterexample: smaller
            .first()
            .cloned()
            .or(Some("CCC and COR are RCRs themselves".into())),
        ..claim(
            "Table 1",
            "RCRs have larger bisection width than CCC and COR (the table is lost; compared at the same size and degree)",
        )
    }])
}
