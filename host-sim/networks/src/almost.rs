//! Which network a graph nearly is: boards or cables are missing, or cables are at the wrong place.
//!
//! Networks of the sizes in question are put in order by how much their distances and links are like those of the graph. In each of them,
//! places are [looked for](crate::embedding): briefly at first, then longer, and with cables left out that may be wrong.

use std::cmp::Reverse;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hopwise_core::Network;
use rayon::prelude::*;

use crate::catalogue;
use crate::distances::{UNREACHED, hops_from};
use crate::embedding::{Measured, Wanted, embed};
use crate::graph::Graph;
use crate::isomorphism::Sorted;
use crate::recognise::{Recognised, every_network};

/// Graphs with more nodes are not looked at: the catalogue is not complete above.
pub const MAX_NODES: usize = 1_024;
/// One in so many boards, and one in so many cables, may be missing; nor are more cables wrong.
const TOLERANCE: usize = 10;
const MAX_WRONG: usize = 2;

/// How hard is looked: how many views of the graph, of each how many first nodes, for each of those how many places, and dead ends for each.
const EFFORTS: [(usize, usize, usize, usize); 4] = [
    (1, 1, 16, 20),
    (7, 2, 16, 40),
    (24, 2, 64, 200),
    (24, 8, MAX_NODES, 2_000),
];

/// A graph without links that may be wrong, which are apart.
struct View {
    certain: Measured,
    doubtful: Vec<(usize, usize)>,
    central: Vec<usize>,
}

/// Looks for the network that lacks the fewest boards, then the fewest cables, then has the fewest wrong ones, for so long at most.
///
/// The graph must be connected. A tenth of the boards and a tenth of the cables may be missing; two cables may be wrong, but no more than a
/// tenth. What is found is within that, but it can be missed.
pub fn almost(graph: &Graph, limit: Duration) -> Option<Recognised> {
    let deadline = Instant::now().checked_add(limit)?;
    let in_time = || Instant::now() < deadline;
    let nodes = graph.nodes();
    if !(2..=MAX_NODES).contains(&nodes) {
        return None;
    }
    let wanted = Similar {
        graph,
        degrees: descending((0..nodes).map(|node| graph.neighbors(node).len())),
        max_wrong: MAX_WRONG.min(graph.edges() / TOLERANCE),
        reach: reach(graph, nodes),
    };
    let sizes = nodes..=(nodes * TOLERANCE / (TOLERANCE - 1)).min(MAX_NODES);
    let sizes = sizes.into_par_iter().filter(|_| in_time());
    let mut candidates: Vec<(f64, Network)> = sizes.flat_map_iter(|size| wanted.candidates(size)).collect();
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let views = views(graph, &in_time);
    let found = Mutex::new(Vec::new());
    let smallest = AtomicU64::new(u64::MAX);
    for effort in EFFORTS {
        candidates.iter().par_bridge().for_each(|(_, network)| {
            let stop = || !in_time() || network.nodes() > smallest.load(Ordering::Relaxed);
            if let Some(one) = wanted.compare(network, effort, &views, &stop) {
                smallest.fetch_min(network.nodes(), Ordering::Relaxed);
                found
                    .lock()
                    .expect("no thread panics")
                    .push((catalogue::preference(network), one));
            }
        });
        let mut found = std::mem::take(&mut *found.lock().expect("no thread panics"));
        let lacking = |found: &Recognised| {
            (
                found.missing_boards.len(),
                found.missing_cables.len(),
                found.wrong_cables.len(),
            )
        };
        found.sort_by(|(a, one), (b, other)| (lacking(one), a).cmp(&(lacking(other), b)));
        let mut found = found.into_iter().map(|(_, found)| found);
        if let Some(mut best) = found.next() {
            let as_near = found.take_while(|other| lacking(other) == lacking(&best));
            best.also = as_near.filter_map(|other| other.network).collect();
            best.also.dedup();
            return Some(best);
        }
    }
    None
}

/// What is asked of networks that may be similar to a graph.
struct Similar<'a> {
    graph: &'a Graph,
    /// Descending.
    degrees: Vec<usize>,
    max_wrong: usize,
    reach: Vec<f64>,
}

impl Similar<'_> {
    /// The networks of a size that it can be, each with a number that is lower the more they are alike.
    fn candidates(&self, size: usize) -> Vec<(f64, Network)> {
        /// So many nodes are asked for their distances.
        const ASKED: usize = 48;
        // The nodes with the most links may have lost some.
        let most = self.degrees[0] + (self.degrees[0] / 4).max(1);
        let networks = every_network(size as u64, most as u64).into_iter();
        let compared = networks.filter(|network| self.fits(network)).filter_map(|network| {
            let graph = Graph::build(&network).ok()?;
            let other = reach(&graph, if network.vertex_transitive() { 1 } else { ASKED });
            let at = |reach: &[f64], level| reach.get(level).copied().unwrap_or(1.0);
            let levels = 0..self.reach.len().max(other.len());
            let apart: f64 = levels
                .map(|level| (at(&self.reach, level) - at(&other, level)).abs())
                .sum();
            // Of the cables that are not those of a missing board.
            let there = self.graph.nodes() as f64 / graph.nodes() as f64;
            let lost = 1.0 - self.graph.edges() as f64 / (graph.edges() as f64 * there * there);
            Some((apart + 4.0 * lost.abs(), network))
        });
        compared.collect()
    }

    /// Whether its degrees allow it to be the network.
    fn fits(&self, network: &Network) -> bool {
        let degrees = descending((0..network.nodes()).map(|node| network.unchecked().degree(node) as usize));
        let (own, links) = (self.graph.edges(), degrees.iter().sum::<usize>() / 2);
        // The most and the fewest links that go with the missing boards.
        let most: usize = degrees[..degrees.len() - self.degrees.len()].iter().sum();
        let fewest = degrees[self.degrees.len()..].iter().sum::<usize>().div_ceil(2);
        let pairs = self.degrees.iter().zip(&degrees);
        let excess: usize = pairs.map(|(own, other)| own.saturating_sub(*other)).sum();
        excess <= 2 * self.max_wrong
            && own + most + links / TOLERANCE >= links
            && own + fewest <= links + self.max_wrong
    }

    fn compare(
        &self,
        network: &Network,
        (all_views, roots, all_places, max_dead_ends): (usize, usize, usize, usize),
        views: &[View],
        stop: &dyn Fn() -> bool,
    ) -> Option<Recognised> {
        let target = Measured::new(Graph::build(network).ok().filter(|_| !stop())?);
        let balls = target.balls();
        // One node of each cell: those of a cell are nearly always alike.
        let sorted = Sorted::new(target.graph.clone(), network.vertex_transitive());
        let alone = |&node: &usize| sorted.is_first_of_cell(node);
        let firsts: Vec<usize> = (0..target.graph.nodes()).filter(alone).collect();
        let mut best: Option<Recognised> = None;
        for view in views.iter().take(if self.max_wrong == 0 { 1 } else { all_views }) {
            for &root in view.central.iter().step_by(7).take(roots) {
                let mut places = firsts.clone();
                places.sort_by_cached_key(|&place| target.unlike(place, &view.certain, root));
                for place in places.into_iter().take(all_places) {
                    let search = |max_missing, max_wrong| {
                        let wanted = Wanted {
                            certain: &view.certain,
                            doubtful: &view.doubtful,
                            root: (root, place),
                            target: &target,
                            balls: &balls,
                            max_wrong,
                            max_missing,
                            max_dead_ends,
                        };
                        Some(self.differences(network, &target.graph, embed(&wanted, stop)?))
                    };
                    loop {
                        // From here on only what is nearer counts.
                        let lacking = best
                            .as_ref()
                            .map(|best| (best.missing_cables.len(), best.wrong_cables.len()));
                        let (max_missing, max_wrong) = match lacking {
                            None => (target.graph.edges() / TOLERANCE, self.max_wrong),
                            Some((0, 0)) => return best,
                            Some((0, wrong)) => (0, wrong - 1),
                            Some((missing, _)) => (missing - 1, self.max_wrong),
                        };
                        match search(max_missing, max_wrong) {
                            Some(nearer) => best = Some(nearer),
                            None => break,
                        }
                    }
                }
            }
        }
        best
    }

    fn differences(&self, network: &Network, whole: &Graph, mapping: Vec<usize>) -> Recognised {
        let mut at = vec![None; whole.nodes()];
        (0..).zip(&mapping).for_each(|(node, &place)| at[place] = Some(node));
        let is_missing =
            |&(u, v): &(usize, usize)| matches!((at[u], at[v]), (Some(a), Some(b)) if !self.graph.linked(a, b));
        let is_wrong = |&(a, b): &(usize, usize)| !whole.linked(mapping[a], mapping[b]);
        Recognised {
            verdict: "almost",
            network: Some(network.to_string()),
            missing_boards: (0..whole.nodes()).filter(|&node| at[node].is_none()).collect(),
            missing_cables: whole.edge_list().filter(is_missing).collect(),
            wrong_cables: self.graph.edge_list().filter(is_wrong).collect(),
            mapping: Some(mapping),
            nodes: self.graph.nodes(),
            edges: self.graph.edges(),
            ..Recognised::default()
        }
    }
}

fn descending(degrees: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut degrees: Vec<usize> = degrees.collect();
    degrees.sort_unstable_by_key(|&degree| Reverse(degree));
    degrees
}

/// Which share of the nodes is within 0, 1, .. links, on average over so many nodes.
fn reach(graph: &Graph, asked: usize) -> Vec<f64> {
    // Scattered, since steps of one length meet few rows of a product; a prime meets every node once.
    const PRIME: usize = 1_000_003;
    let asked = asked.min(graph.nodes());
    let mut shares = Vec::new();
    for node in (0..asked).map(|at| at * PRIME % graph.nodes()) {
        for hops in hops_from(graph, node).into_iter().filter(|&hops| hops != UNREACHED) {
            shares.resize(shares.len().max(hops as usize + 1), 0.0);
            shares[hops as usize] += 1.0 / (asked * graph.nodes()) as f64;
        }
    }
    (1..shares.len()).for_each(|level| shares[level] += shares[level - 1]);
    shares
}

/// The graph itself, then without some links: a few that are in no short cycle, a few that cut across, then also others at random.
fn views(graph: &Graph, in_time: &(dyn Fn() -> bool + Sync)) -> Vec<View> {
    /// So many links at most are left out, since they are looked through again and again.
    const MAX_DOUBTFUL: usize = 512;
    let whole = Measured::new(graph.clone());
    let mut edges: Vec<(usize, usize)> = graph.edge_list().collect();
    // From the neighbors of one end to those of the other it is far if no short cycle goes through a link.
    edges.sort_by_cached_key(|&(u, v)| Reverse(whole.around(u, v)));
    let links = edges.len();
    let mut random = 1u64;
    let mut chosen = |view: usize, at: usize| {
        random = random
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        let is_lot = view > 1 && (random >> 33) as usize % links < (links / 4).min(MAX_DOUBTFUL);
        view > 0 && (is_lot || at < 8 || at + 8 >= links)
    };
    let all_views = EFFORTS.iter().map(|effort| effort.0).max().unwrap_or(0);
    let lots: Vec<Vec<bool>> = (0..all_views)
        .map(|view| (0..links).map(|at| chosen(view, at)).collect())
        .collect();
    let each = lots.into_par_iter().filter(|_| in_time()).map(|is_doubtful| {
        let these = |wanted: bool| {
            let pairs = edges.iter().zip(&is_doubtful);
            pairs
                .filter(move |&(_, &doubtful)| doubtful == wanted)
                .map(|(&edge, _)| edge)
        };
        let certain = Measured::new(Graph::from_edges(graph.nodes(), these(false)));
        View {
            central: certain.most_central(),
            doubtful: these(true).collect(),
            certain,
        }
    });
    each.collect()
}
