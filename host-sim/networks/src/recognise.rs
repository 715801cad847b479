//! Which network a graph is, whatever the numbers of its nodes.

use std::collections::BTreeSet;
use std::time::Duration;

use hopwise_core::Network;
use rayon::prelude::*;
use serde::Serialize;

use crate::almost::almost;
use crate::catalogue;
use crate::graph::Graph;
use crate::isomorphism::{Found, Sorted, search, surroundings};
use crate::lifts::Catalogue;

/// A graph, and the network that it is. The names are those of the JSON keys of `hopwise recognise`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Recognised {
    /// `network`, `almost` or `graph`.
    pub verdict: &'static str,
    /// The expression that is [preferred](catalogue::preference).
    pub network: Option<String>,
    /// For each node of the graph, or of the part that was looked at, in order, its number in the network. Every link was checked.
    pub mapping: Option<Vec<usize>>,
    /// Other names of the same network, in order of preference; of what it almost is, also other networks that are as near.
    pub also: Vec<String>,
    /// Nodes of the network that the graph lacks.
    pub missing_boards: Vec<usize>,
    /// Links of the network that the graph lacks, between nodes that it has.
    pub missing_cables: Vec<(usize, usize)>,
    /// Links of the graph that the network lacks.
    pub wrong_cables: Vec<(usize, usize)>,
    /// The nodes of the graph that were looked at, if those are not all.
    pub part: Option<Vec<usize>>,
    pub nodes: usize,
    pub edges: usize,
    /// Networks for which it would take too long to find out.
    pub undecided: Vec<String>,
}

/// Compares a graph with every network of its size that the catalogues list: all families, lifts with a name, and the lifts that are kept.
///
/// Any small graph can be written as `lift(1,..)`; that makes it no network, unless it is one of those kept.
///
/// Most networks are told apart by their degrees, which need no graph, or by what is around node 0.
pub fn recognise(graph: Graph) -> Recognised {
    let (nodes, edges) = (graph.nodes(), graph.edges());
    let graph = Sorted::new(graph, false);
    let degrees = degrees((0..nodes).map(|node| graph.graph.neighbors(node).len() as u64));
    let around: BTreeSet<u64> = graph.surroundings.iter().copied().collect();
    let most = *degrees.last().unwrap_or(&0);
    let mut candidates = every_network(nodes as u64, most);
    candidates.sort_by_cached_key(catalogue::preference);
    candidates.dedup_by_key(|network| network.to_string());
    let compared = candidates.into_par_iter().filter_map(|network| {
        let degree = |node| network.unchecked().degree(node);
        let in_range = |node| (degrees[0]..=most).contains(&degree(node));
        let alike = network.vertex_transitive();
        if alike && around.len() > 1
            || !(0..network.nodes()).all(in_range)
            || self::degrees((0..network.nodes()).map(degree)) != degrees
        {
            return None;
        }
        let built = Graph::build(&network).ok()?;
        if !around.contains(&surroundings(&built, 0)) {
            return None;
        }
        let pins: &[_] = if alike { &[(0, 0)] } else { &[] };
        let found = search(&graph, &Sorted::new(built, alike), pins);
        (found != Found::Nothing).then(|| (network.to_string(), found))
    });
    let (mut names, mut undecided, mut mapping) = (Vec::new(), Vec::new(), None);
    for (name, found) in compared.collect::<Vec<_>>() {
        if let Found::Renumbering(image) = found {
            mapping.get_or_insert(image);
            names.push(name);
        } else {
            undecided.push(name);
        }
    }
    let mut names = names.into_iter();
    let network = names.next();
    Recognised {
        verdict: network.as_ref().map_or("graph", |_| "network"),
        network,
        mapping,
        also: names.collect(),
        nodes,
        edges,
        undecided,
        ..Recognised::default()
    }
}

/// As [`recognise`], and if it is none, which network the graph [`almost`] is, if that is found within the time. If the
/// graph falls into parts, the largest is looked at.
pub fn recognise_nearly(graph: Graph, limit: Duration) -> Recognised {
    let part = Some(graph.largest_part()).filter(|part| part.len() < graph.nodes());
    let graph = match &part {
        Some(nodes) => {
            let edges = graph.edge_list().filter_map(|(u, v)| {
                let number = |node| nodes.binary_search(&node).ok();
                Some((number(u)?, number(v)?))
            });
            Graph::from_edges(nodes.len(), edges)
        }
        None => graph,
    };
    let mut found = recognise(graph.clone());
    if let Some(near) = found.network.is_none().then(|| almost(&graph, limit)).flatten() {
        let undecided = found.undecided;
        found = Recognised { undecided, ..near };
    }
    if let Some(part) = &part {
        found
            .wrong_cables
            .iter_mut()
            .for_each(|(a, b)| (*a, *b) = (part[*a], part[*b]));
    }
    Recognised { part, ..found }
}

/// Those of the catalogue of networks, and of that of lifts.
pub(crate) fn every_network(nodes: u64, ports: u64) -> Vec<Network> {
    let mut networks = catalogue::networks(nodes, ports);
    networks.extend(lifts(nodes));
    networks
}

fn degrees(of_nodes: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut degrees: Vec<u64> = of_nodes.collect();
    degrees.sort_unstable();
    degrees
}

/// The lifts kept, and those of the families that have a name; of circulant graphs those with one step, or two of which one is 1.
fn lifts(nodes: u64) -> Vec<Network> {
    let kept = Catalogue::kept();
    let kept = kept.iter().filter(|kept| kept.0 == nodes);
    let mut names: Vec<String> = kept.map(|kept| kept.2.expression.clone()).collect();
    for step in 1..=nodes / 2 {
        names.push(format!("circulant({nodes},1,{step})"));
        names.push(format!("chordal-ring({nodes},{})", 2 * step + 1));
        names.push(format!("generalized-petersen({},{step})", nodes / 2));
    }
    let parsed = names.iter().filter_map(|name| name.parse::<Network>().ok());
    parsed.filter(|network| network.nodes() == nodes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isomorphism::tests::{graph as built, shuffled};
    use hopwise_testing::Random;

    #[test]
    fn names_and_what_has_none() {
        let found = recognise(built("re(petersen,complete(2),2)"));
        assert_eq!(found.network.as_deref(), Some("rdn(petersen,1)"));
        assert_eq!(found.also, ["re(petersen,complete(2),2)"]);
        let found = recognise(built("folded(ring(5),2)"));
        assert_eq!(found.network.as_deref(), Some("torus(5,5)"));

        // A triangle with a tail could be written as lift(1,bc,cd).
        let tailed = recognise(Graph::from_edges(4, [(0, 1), (0, 2), (1, 2), (2, 3)]));
        assert_eq!((tailed.verdict, tailed.network), ("graph", None));
        // Four random matchings of 64 nodes.
        let mut random = Random(4);
        let pairs = || (0..32).map(|pair| (2 * pair, 2 * pair + 1));
        let matchings = (0..4).map(|_| shuffled(64, pairs(), &mut random));
        let edges = matchings.flat_map(|graph| graph.edge_list().collect::<Vec<_>>());
        let edges: Vec<_> = edges.collect();
        assert_eq!(recognise(Graph::from_edges(64, edges)).verdict, "graph");
    }
}
