//! Which network a graph nearly is: boards or cables are missing, or cables are at the wrong place.
//!
//! Networks of the sizes in question are put in order by how much their distances are like those of the graph. In each of them, places are
//! [looked for](crate::embedding): briefly at first, then longer, and with cables left out that may be wrong.

use std::cmp::Reverse;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hopwise_core::Network;
use rayon::prelude::*;

use crate::catalogue;
use crate::distances::{UNREACHED, hops_from};
use crate::embedding::{Measured, Target, Wanted, embed};
use crate::graph::Graph;
use crate::isomorphism::Sorted;
use crate::recognise::every_network;

/// Graphs with more nodes are not looked at: the catalogue is not complete above.
pub const MAX_NODES: usize = 1_024;
/// One in so many boards, and one in so many cables, may be missing; nor are more cables wrong.
const TOLERANCE: usize = 10;
const MAX_WRONG: usize = 2;

/// From so many nodes of a network distances are looked at to compare it with others.
const ASKED: usize = 48;
/// So many links at most are left out because they may be wrong.
const MAX_DOUBTFUL: usize = 512;

/// A network of which a graph is nearly all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Almost {
    pub network: String,
    /// For each node of the graph its number in the network.
    pub mapping: Vec<usize>,
    /// Nodes of the network.
    pub missing_boards: Vec<usize>,
    /// Links of the network between nodes that are there.
    pub missing_cables: Vec<(usize, usize)>,
    /// Links of the graph that the network has not got.
    pub wrong_cables: Vec<(usize, usize)>,
    /// Other names of the network and other networks, as near as it, in order of preference.
    pub also: Vec<String>,
}

/// How hard is looked: the views of the graph, of each its first nodes, for each of those the first places, for each of those the dead ends.
struct Effort {
    views: usize,
    roots: usize,
    places: usize,
    dead_ends: usize,
}

const EFFORTS: [Effort; 4] = [
    Effort::new(1, 1, 16, 20),
    Effort::new(7, 2, 16, 40),
    Effort::new(24, 2, 64, 200),
    Effort::new(24, 8, MAX_NODES, 2_000),
];

impl Effort {
    const fn new(views: usize, roots: usize, places: usize, dead_ends: usize) -> Self {
        Effort {
            views,
            roots,
            places,
            dead_ends,
        }
    }
}

/// A graph without links that may be wrong, which is searched for in place of it.
struct View {
    certain: Measured,
    doubtful: Vec<(usize, usize)>,
    central: Vec<usize>,
}

struct Candidate {
    network: Network,
    likeness: f64,
}

/// Looks for the network that lacks the fewest boards, then the fewest cables, then has the fewest wrong ones, for so long at most.
///
/// The graph must be connected. A tenth of the boards and a tenth of the cables may be missing; two cables may be wrong, but no more than a
/// tenth. What is found is within that, but it can be missed.
pub fn almost(graph: &Graph, limit: Duration) -> Option<Almost> {
    let deadline = Instant::now().checked_add(limit)?;
    let nodes = graph.nodes();
    if nodes < 2 || nodes > MAX_NODES {
        return None;
    }
    let in_time = || Instant::now() < deadline;
    let sizes = nodes..=(nodes * TOLERANCE / (TOLERANCE - 1)).min(MAX_NODES);
    let sizes = sizes.into_par_iter().filter(|_| in_time());
    let wanted = Wanting::of(graph);
    let mut candidates: Vec<Candidate> = sizes.flat_map_iter(|size| wanted.candidates(size)).collect();
    candidates.sort_by(|a, b| a.likeness.total_cmp(&b.likeness));
    let views = views(graph, EFFORTS.iter().map(|effort| effort.views).max()?);
    let found: Mutex<Vec<Almost>> = Mutex::default();
    let fewest = AtomicU64::new(u64::MAX);
    for effort in &EFFORTS {
        let each = candidates.iter().par_bridge();
        each.for_each(|candidate| {
            let size = candidate.network.nodes();
            let stop = || !in_time() || size > fewest.load(Ordering::Relaxed);
            if stop() {
                return;
            }
            if let Some(one) = wanted.try_one(candidate, effort, &views, &stop) {
                fewest.fetch_min(size, Ordering::Relaxed);
                found.lock().expect("no thread panics").push(one);
            }
        });
        let found = std::mem::take(&mut *found.lock().expect("no thread panics"));
        if !found.is_empty() {
            return Some(best(found));
        }
    }
    None
}

/// What is asked of candidates.
struct Wanting<'a> {
    graph: &'a Graph,
    /// Descending.
    degrees: Vec<usize>,
    max_wrong: usize,
    reach: Vec<f64>,
}

impl<'a> Wanting<'a> {
    fn of(graph: &'a Graph) -> Self {
        let mut degrees: Vec<usize> = (0..graph.nodes()).map(|node| graph.neighbors(node).len()).collect();
        degrees.sort_unstable_by_key(|&degree| Reverse(degree));
        Wanting {
            graph,
            degrees,
            max_wrong: MAX_WRONG.min(graph.edges() / TOLERANCE),
            reach: reach(graph, graph.nodes()),
        }
    }

    fn candidates(&self, size: usize) -> Vec<Candidate> {
        // The nodes with the most links may have lost some.
        let most = self.degrees[0] + (self.degrees[0] / 4).max(1);
        let networks = every_network(size as u64, most as u64).into_iter();
        let fitting = networks.filter(|network| self.fits(network));
        let compared = fitting.filter_map(|network| {
            let graph = Graph::build(&network).ok()?;
            let other = reach(&graph, if network.vertex_transitive() { 1 } else { ASKED });
            let levels = 0..self.reach.len().max(other.len());
            let at = |reach: &[f64], level| reach.get(level).copied().unwrap_or(1.0);
            let apart: f64 = levels
                .map(|level| (at(&self.reach, level) - at(&other, level)).abs())
                .sum();
            // Of the cables that are not where a board is missing.
            let there = self.graph.nodes() as f64 / graph.nodes() as f64;
            let lost = 1.0 - self.graph.edges() as f64 / (graph.edges() as f64 * there * there);
            let likeness = apart + 4.0 * lost.abs();
            Some(Candidate { network, likeness })
        });
        compared.collect()
    }

    /// Whether its degrees allow it to be the network.
    fn fits(&self, network: &Network) -> bool {
        let mut degrees: Vec<usize> = (0..network.nodes())
            .map(|node| network.unchecked().degree(node) as usize)
            .collect();
        degrees.sort_unstable_by_key(|&degree| Reverse(degree));
        let links = degrees.iter().sum::<usize>() / 2;
        let boards = degrees.len() - self.degrees.len();
        // The most and the fewest links that go with the missing boards.
        let most: usize = degrees[..boards].iter().sum();
        let fewest = degrees[self.degrees.len()..].iter().sum::<usize>().div_ceil(2);
        let pairs = self.degrees.iter().zip(&degrees);
        let excess: usize = pairs.map(|(own, other)| own.saturating_sub(*other)).sum();
        excess <= 2 * self.max_wrong
            && self.graph.edges() + most + links / TOLERANCE >= links
            && self.graph.edges() + fewest <= links + self.max_wrong
    }

    fn try_one(
        &self,
        candidate: &Candidate,
        effort: &Effort,
        views: &[View],
        stop: &dyn Fn() -> bool,
    ) -> Option<Almost> {
        let graph = Graph::build(&candidate.network).ok()?;
        let alike = candidate.network.vertex_transitive();
        let sorted = (!alike).then(|| Sorted::new(graph.clone(), false));
        let target = Target::new(graph);
        // One node of each cell: those of a cell are nearly always alike.
        let first_of_cell = |&node: &usize| {
            sorted
                .as_ref()
                .map_or(node == 0, |sorted| sorted.is_first_of_cell(node))
        };
        let places: Vec<usize> = (0..target.measured.graph.nodes()).filter(first_of_cell).collect();
        let mut best = None;
        let mut max_missing = target.measured.graph.edges() / TOLERANCE;
        for view in views.iter().take(effort.views) {
            if !view.doubtful.is_empty() && self.max_wrong == 0 {
                break;
            }
            for &root in view.central.iter().step_by(7).take(effort.roots) {
                let mut places = places.clone();
                places.sort_by_cached_key(|&place| target.measured.unlike(place, &view.certain, root));
                for place in places.into_iter().take(effort.places) {
                    loop {
                        let wanted = Wanted {
                            certain: &view.certain,
                            doubtful: &view.doubtful,
                            root: (root, place),
                            max_wrong: self.max_wrong,
                            max_missing,
                            max_dead_ends: effort.dead_ends,
                        };
                        let Some(mapping) = embed(&wanted, &target, stop) else {
                            break;
                        };
                        let found = self.differences(&candidate.network, &target.measured.graph, mapping);
                        let missing = found.missing_cables.len();
                        best = Some(found);
                        match missing.checked_sub(1) {
                            Some(fewer) => max_missing = fewer,
                            None => return best,
                        }
                    }
                    if stop() {
                        return best;
                    }
                }
            }
            if best.is_some() {
                return best;
            }
        }
        best
    }

    fn differences(&self, network: &Network, whole: &Graph, mapping: Vec<usize>) -> Almost {
        let mut at = vec![None; whole.nodes()];
        (0..).zip(&mapping).for_each(|(node, &place)| at[place] = Some(node));
        let is_missing =
            |&(u, v): &(usize, usize)| matches!((at[u], at[v]), (Some(a), Some(b)) if !self.graph.linked(a, b));
        let is_wrong = |&(a, b): &(usize, usize)| !whole.linked(mapping[a], mapping[b]);
        Almost {
            network: network.to_string(),
            missing_boards: (0..whole.nodes()).filter(|&node| at[node].is_none()).collect(),
            missing_cables: whole.edge_list().filter(is_missing).collect(),
            wrong_cables: self.graph.edge_list().filter(is_wrong).collect(),
            mapping,
            also: Vec::new(),
        }
    }
}

/// The nearest of several networks, which names the others that are as near.
fn best(found: Vec<Almost>) -> Almost {
    let lacking = |found: &Almost| {
        (
            found.missing_boards.len(),
            found.missing_cables.len(),
            found.wrong_cables.len(),
        )
    };
    let fewest = found.iter().map(lacking).min();
    let mut nearest: Vec<Almost> = found
        .into_iter()
        .filter(|found| Some(lacking(found)) == fewest)
        .collect();
    let preference = |found: &Almost| found.network.parse().ok().as_ref().map(catalogue::preference);
    nearest.sort_by_cached_key(preference);
    nearest.dedup_by(|a, b| a.network == b.network);
    let mut best = nearest.remove(0);
    best.also = nearest.into_iter().map(|found| found.network).collect();
    best
}

/// Which share of the nodes is within 0, 1, .. links, on average over so many nodes.
fn reach(graph: &Graph, asked: usize) -> Vec<f64> {
    let nodes = graph.nodes();
    let mut counts: Vec<usize> = Vec::new();
    // Scattered, since steps of one length meet few rows of a product; a prime meets every node once.
    const PRIME: usize = 1_000_003;
    let from: Vec<usize> = (0..asked.min(nodes)).map(|at| at * PRIME % nodes).collect();
    for &node in &from {
        for hops in hops_from(graph, node).into_iter().filter(|&hops| hops != UNREACHED) {
            let hops = hops as usize;
            counts.resize(counts.len().max(hops + 1), 0);
            counts[hops] += 1;
        }
    }
    let all = (from.len() * nodes) as f64;
    let mut sum = 0;
    let shares = counts.into_iter().map(|count| {
        sum += count;
        sum as f64 / all
    });
    shares.collect()
}

/// The graph itself, then without some links: at first the few between whose ends the next shortest path is longest, then more, and at
/// random.
fn views(graph: &Graph, count: usize) -> Vec<View> {
    let mut edges: Vec<(usize, usize)> = graph.edge_list().collect();
    edges.sort_by_cached_key(|&(u, v)| Reverse(way_round(graph, u, v)));
    let mut seed = 1u64;
    let mut random = move |below: usize| {
        seed = seed
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        (seed >> 33) as usize % below
    };
    let links = edges.len();
    let mut views = Vec::new();
    for view in 0..count {
        // A link that is wrong may go a long way, or cut across.
        let (first, last) = match view {
            0 => (0, 0),
            1 => (4, 0),
            2 => (0, 4),
            3 => (16, 0),
            4 => (0, 16),
            _ => (8, 8),
        };
        // One in four is left out at random, but not too many, since they are looked through again and again.
        let share = (links / 4).min(MAX_DOUBTFUL);
        let is_doubtful: Vec<bool> = (0..links)
            .map(|at| at < first || at + last >= links || view > 5 && random(links) < share)
            .collect();
        views.push(is_doubtful);
    }
    let each = views.into_par_iter().map(|is_doubtful| {
        let these = |wanted: bool| {
            let pairs = edges.iter().zip(&is_doubtful);
            pairs
                .filter(move |&(_, &doubtful)| doubtful == wanted)
                .map(|(&edge, _)| edge)
        };
        let certain = Measured::new(Graph::from_edges(graph.nodes(), these(false)));
        let central = certain.most_central();
        View {
            certain,
            doubtful: these(true).collect(),
            central,
        }
    });
    each.collect()
}

/// The links of the shortest path between two neighbors that is not their link.
fn way_round(graph: &Graph, from: usize, to: usize) -> u32 {
    let mut seen = vec![false; graph.nodes()];
    seen[from] = true;
    let mut front: Vec<u32> = graph
        .neighbors(from)
        .iter()
        .copied()
        .filter(|&node| node as usize != to)
        .collect();
    for links in 1.. {
        if front.is_empty() {
            break;
        }
        let mut next = Vec::new();
        for node in front {
            if node as usize == to {
                return links;
            }
            if !std::mem::replace(&mut seen[node as usize], true) {
                next.extend_from_slice(graph.neighbors(node as usize));
            }
        }
        front = next;
    }
    u32::MAX
}
