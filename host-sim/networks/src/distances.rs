//! Distances in a built-out graph by breadth-first search.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::graph::Graph;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distances {
    /// Every source reaches every node.
    pub connected: bool,
    /// The largest distance from a source.
    pub largest: u64,
    pub sum: u128,
}

impl Distances {
    /// From no source at all.
    const NONE: Distances = Distances {
        connected: true,
        largest: 0,
        sum: 0,
    };

    fn and(self, other: Distances) -> Distances {
        Distances {
            connected: self.connected && other.connected,
            largest: self.largest.max(other.largest),
            sum: self.sum + other.sum,
        }
    }
}

/// Sources searched at once: one bit each in every node's words.
const VIRTUAL_CHANNELS: usize = 512;
const WORDS: usize = VIRTUAL_CHANNELS / 64;
type Sources = [u64; WORDS];

/// Distances from all given sources to all nodes, many sources a word and all cores at once.
///
/// `progress` is called with the number of sources done. O(sources / 512 * diameter * edges) word operations.
pub fn from_sources(graph: &Graph, sources: &[usize], progress: impl Fn(u64) + Sync) -> Distances {
    let done = AtomicU64::new(0);
    let batches = sources.par_chunks(VIRTUAL_CHANNELS).map(|batch| {
        let found = match batch {
            [only] => summary(&hops_from(graph, *only)),
            _ => search_batch(graph, batch),
        };

        progress(done.fetch_add(batch.len() as u64, Ordering::Relaxed) + batch.len() as u64);
        found
    });
    batches.reduce(|| Distances::NONE, Distances::and)
}

fn search_batch(graph: &Graph, sources: &[usize]) -> Distances {
    let nodes = graph.nodes();
    let mut all = Sources::default();
    let mut seen = vec![Sources::default(); nodes];
    let mut front = vec![Sources::default(); nodes];
    let mut next = vec![Sources::default(); nodes];
    for (place, &source) in sources.iter().enumerate() {
        let bit = 1 << (place % 64);
        seen[source][place / 64] |= bit;
        front[source][place / 64] |= bit;
        all[place / 64] |= bit;
    }
    let mut distances = Distances::NONE;
    let mut found = sources.len() as u64;
    for hops in 1.. {
        let mut new = 0u64;
        for node in 0..nodes {
            let seen = &mut seen[node];
            if *seen == all {
                next[node] = Sources::default();
                continue;
            }
            let mut reached = Sources::default();
            for &neighbor in graph.neighbors(node) {
                let front = &front[neighbor as usize];
                for word in 0..WORDS {
                    reached[word] |= front[word];
                }
            }
            for word in 0..WORDS {
                reached[word] &= !seen[word];
                seen[word] |= reached[word];
                new += u64::from(reached[word].count_ones());
            }
            next[node] = reached;
        }
        if new == 0 {
            break;
        }
        found += new;
        distances.largest = hops;
        distances.sum += u128::from(hops) * u128::from(new);
        std::mem::swap(&mut front, &mut next);
    }
    distances.connected = found == sources.len() as u64 * nodes as u64;
    distances
}

pub const UNREACHED: u32 = u32::MAX;

pub fn hops_from(graph: &Graph, source: usize) -> Vec<u32> {
    let mut hops = vec![UNREACHED; graph.nodes()];
    let mut front = vec![source as u32];
    hops[source] = 0;
    for distance in 1.. {
        let mut next = Vec::new();
        for node in front {
            for &neighbor in graph.neighbors(node as usize) {
                if hops[neighbor as usize] == UNREACHED {
                    hops[neighbor as usize] = distance;
                    next.push(neighbor);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        front = next;
    }
    hops
}

fn summary(hops: &[u32]) -> Distances {
    let reached = || hops.iter().filter(|&&hops| hops != UNREACHED);
    Distances {
        connected: hops.iter().all(|&hops| hops != UNREACHED),
        largest: reached().max().map_or(0, |&hops| u64::from(hops)),
        sum: reached().map(|&hops| u128::from(hops)).sum(),
    }
}
