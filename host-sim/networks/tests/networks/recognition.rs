//! Networks are recognised from their cables, also when some are missing or at the wrong place.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hopwise_core::Network;
use hopwise_networks::almost::{Almost, almost};
use hopwise_networks::graph::Graph;
use hopwise_networks::recognise::recognise;
use hopwise_testing::{Random, networks};

/// Boards and cables that are lost, in percent, and how many cables are moved.
#[derive(Clone, Copy, Debug)]
pub struct Damage {
    pub boards: usize,
    pub cables: usize,
    pub moved: usize,
}

pub fn built(expression: &str) -> Graph {
    let network: Network = expression.parse().expect("a network");
    Graph::build(&network).expect("it is small")
}

/// The graph with its nodes in another order.
pub fn relabeled(graph: &Graph, random: &mut Random) -> Graph {
    let mut numbers: Vec<usize> = (0..graph.nodes()).collect();
    for at in 1..numbers.len() {
        numbers.swap(at, random.below(at as u64 + 1) as usize);
    }
    Graph::from_edges(graph.nodes(), graph.edge_list().map(|(u, v)| (numbers[u], numbers[v])))
}

/// The graph after that damage, if it then is connected, as it is after some of 200 tries.
pub fn damaged(graph: &Graph, damage: Damage, random: &mut Random) -> Option<Graph> {
    let below = |random: &mut Random, most: usize| random.below(most as u64) as usize;
    (0..200).find_map(|_| {
        let mut left: Vec<usize> = (0..graph.nodes()).collect();
        for _ in 0..graph.nodes() * damage.boards / 100 {
            left.swap_remove(below(random, left.len()));
        }
        let number = |node| left.iter().position(|&other| other == node);
        let edges = graph.edge_list().filter_map(|(u, v)| Some((number(u)?, number(v)?)));
        let mut edges: Vec<_> = edges.collect();
        let lost = graph.edges() * damage.cables / 100;
        // A cable that is moved is missing, too.
        for _ in 0..lost.saturating_sub(damage.moved) {
            edges.swap_remove(below(random, edges.len()));
        }
        for _ in 0..damage.moved {
            let (stays, _) = edges.swap_remove(below(random, edges.len()));
            let free = |other| other != stays && !edges.contains(&(stays, other)) && !edges.contains(&(other, stays));
            let other = (0..50).map(|_| below(random, left.len())).find(|&other| free(other))?;
            edges.push((stays, other));
        }
        let graph = Graph::from_edges(left.len(), edges);
        (graph.parts() == 1).then(|| relabeled(&graph, random))
    })
}

/// Holds what is said of a graph against the network, link by link.
pub fn check(graph: &Graph, found: &Almost) {
    let whole = built(&found.network);
    let name = &found.network;
    let taken: BTreeSet<usize> = found.mapping.iter().copied().collect();
    assert_eq!((taken.len(), found.mapping.len()), (graph.nodes(), graph.nodes()), "{name}");
    let boards: BTreeSet<usize> = found.missing_boards.iter().copied().collect();
    assert!(taken.is_disjoint(&boards), "{name}");
    assert_eq!(taken.union(&boards).copied().collect::<Vec<_>>(), Vec::from_iter(0..whole.nodes()), "{name}");
    let ordered = |(u, v): (usize, usize)| (u.min(v), u.max(v));
    let links: BTreeSet<_> = whole.edge_list().collect();
    let placed = |edge: (usize, usize)| ordered((found.mapping[edge.0], found.mapping[edge.1]));
    let mut expected: BTreeSet<_> = graph.edge_list().map(placed).collect();
    for &wrong in &found.wrong_cables {
        assert!(graph.linked(wrong.0, wrong.1), "{name}");
        assert!(expected.remove(&placed(wrong)), "{name}");
        assert!(!links.contains(&placed(wrong)), "{name}");
    }
    for &missing in &found.missing_cables {
        assert!(expected.insert(ordered(missing)), "{name}");
    }
    let present = links.iter().copied().filter(|&(u, v)| taken.contains(&u) && taken.contains(&v));
    assert_eq!(expected, present.collect(), "{name}");
    assert!(10 * boards.len() <= whole.nodes(), "{name}");
    assert!(10 * found.missing_cables.len() <= whole.edges(), "{name}");
    assert!(found.wrong_cables.len() <= 2 && 10 * found.wrong_cables.len() <= graph.edges(), "{name}");
}

/// The networks up to that size; those whose frames differ from phase to phase are not in the catalogue.
pub fn table(most: usize) -> Vec<(&'static str, Graph)> {
    let listed = networks("recognised").into_iter().filter(|name| !name.contains('['));
    let graphs = listed.map(|name| (name, built(name)));
    graphs.filter(|(_, graph)| graph.nodes() <= most).collect()
}
