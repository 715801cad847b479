//! Graphs for sizes that no lift fits, such as primes: a lift with one or two nodes put into its links.

use std::collections::BTreeSet;

use super::anneal::{Effort, Random};
use super::{Catalogue, measure};
use crate::distances::{self, Distances};
use crate::graph::Graph;

/// A graph of a number of nodes with this many links each, and its distances: from the lift of the catalogue that is one node
/// smaller, or two if the ports are odd. `None` if there is no such lift.
///
/// A new node takes the place of links: both their ends are joined with it instead. Which links these are is looked for.
pub fn grown(catalogue: &Catalogue, nodes: u64, ports: u64, effort: Effort) -> Option<(Graph, Distances)> {
    let added = 1 + ports % 2;
    let entry = catalogue.get(nodes.checked_sub(added)?, ports)?;
    let (network, _, _) = measure(&entry.expression)?;
    let edges: Vec<(usize, usize)> = Graph::build(&network).ok()?.edge_list().collect();
    let mut random = Random::new(effort.seed);
    // Of odd ports, one joins the two new nodes.
    let removed = (added * (ports / 2)) as usize;
    let mut best: Option<(Graph, Distances)> = None;
    let mut places: Vec<usize> = (0..removed).map(|_| random.below(edges.len())).collect();
    for _ in 0..effort.steps {
        let mut trial = places.clone();
        trial[random.below(removed)] = random.below(edges.len());
        let Some(graph) = inserted(&edges, &trial, nodes as usize, added as usize) else {
            places = if best.is_none() { trial } else { places };
            continue;
        };
        let sources: Vec<usize> = (0..graph.nodes()).collect();
        let found = distances::from_sources(&graph, &sources, |_| ());
        let rank = |found: &Distances| (!found.connected, found.sum, found.largest);
        if best.as_ref().is_none_or(|(_, before)| rank(&found) <= rank(before)) {
            best = Some((graph, found));
            places = trial;
        }
    }
    best.filter(|(_, found)| found.connected)
}

/// The edges without some of them, whose ends are joined with new nodes; `None` if two of them meet at a new node.
fn inserted(edges: &[(usize, usize)], places: &[usize], nodes: usize, added: usize) -> Option<Graph> {
    let gone: BTreeSet<usize> = places.iter().copied().collect();
    if gone.len() < places.len() {
        return None;
    }
    let kept = edges.iter().enumerate().filter(|(at, _)| !gone.contains(at));
    let kept = kept.map(|(_, &edge)| edge);
    let mut all: Vec<(usize, usize)> = kept.collect();
    for (node, places) in places.chunks(places.len() / added).enumerate() {
        let ends: BTreeSet<usize> = places.iter().flat_map(|&at| [edges[at].0, edges[at].1]).collect();
        if ends.len() < 2 * places.len() {
            return None;
        }
        all.extend(ends.into_iter().map(|end| (end, nodes - added + node)));
    }
    if added == 2 {
        all.push((nodes - 2, nodes - 1));
    }
    Some(Graph::from_edges(nodes, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_of_a_prime_number_of_nodes() {
        let mut catalogue = Catalogue::default();
        let effort = Effort { steps: 2_000, seed: 1 };
        catalogue.improve(28, 4, effort);
        catalogue.improve(28, 3, effort);
        for (nodes, ports) in [(29, 4), (30, 3)] {
            let (graph, found) = grown(&catalogue, nodes, ports, Effort { steps: 50, seed: 1 }).expect("there is one");
            assert_eq!(graph.nodes() as u64, nodes);
            assert_eq!(graph.degree_range(), (ports as usize, ports as usize));
            assert!(found.connected);
        }
    }
}
