//! Networks are recognised from their cables, also if some are missing or at the wrong place. `examples/recognition.rs` tries more of them.

use std::collections::BTreeSet;

use hopwise_core::Network;
use hopwise_networks::graph::Graph;
use hopwise_networks::recognise::Recognised;
use hopwise_testing::{Random, networks};

/// Boards and cables that are lost, in percent, and how many cables are moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Damage {
    pub(crate) boards: usize,
    pub(crate) cables: usize,
    pub(crate) moved: usize,
}

/// One cable.
pub(crate) const MOVED: Damage = Damage {
    boards: 0,
    cables: 0,
    moved: 1,
};

pub(crate) fn built(expression: &str) -> Graph {
    let network: Network = expression.parse().expect("a network");
    Graph::build(&network).expect("it is small")
}

/// The graph with its nodes in another order.
pub(crate) fn relabeled(graph: &Graph, random: &mut Random) -> Graph {
    let mut numbers: Vec<usize> = (0..graph.nodes()).collect();
    for at in 1..numbers.len() {
        numbers.swap(at, random.below(at as u64 + 1) as usize);
    }
    Graph::from_edges(graph.nodes(), graph.edge_list().map(|(u, v)| (numbers[u], numbers[v])))
}

/// The graph after that damage, if it then is connected, as it is after some of 200 tries.
pub(crate) fn damaged(graph: &Graph, damage: Damage, random: &mut Random) -> Option<Graph> {
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

/// Holds what is said of a connected graph against the network that it is said to be, link by link; that network, if there is one.
pub(crate) fn checked<'a>(graph: &Graph, found: &'a Recognised) -> Option<&'a str> {
    let (Some(name), Some(mapping)) = (&found.network, &found.mapping) else {
        assert_eq!((found.verdict, &found.network, &found.mapping), ("graph", &None, &None));
        return None;
    };
    let whole = built(name);
    let taken: BTreeSet<usize> = mapping.iter().copied().collect();
    assert_eq!((taken.len(), mapping.len()), (graph.nodes(), graph.nodes()), "{name}");
    let boards: BTreeSet<usize> = found.missing_boards.iter().copied().collect();
    assert!(taken.is_disjoint(&boards), "{name}");
    assert!(taken.union(&boards).copied().eq(0..whole.nodes()), "{name}");
    let ordered = |(u, v): (usize, usize)| (u.min(v), u.max(v));
    let links: BTreeSet<_> = whole.edge_list().collect();
    let placed = |edge: (usize, usize)| ordered((mapping[edge.0], mapping[edge.1]));
    let mut expected: BTreeSet<_> = graph.edge_list().map(placed).collect();
    for &wrong in &found.wrong_cables {
        assert!(graph.linked(wrong.0, wrong.1), "{name}");
        assert!(expected.remove(&placed(wrong)), "{name}");
        assert!(!links.contains(&placed(wrong)), "{name}");
    }
    for &missing in &found.missing_cables {
        assert!(expected.insert(ordered(missing)), "{name}");
    }
    let present = links
        .iter()
        .copied()
        .filter(|(u, v)| taken.contains(u) && taken.contains(v));
    assert_eq!(expected, present.collect(), "{name}");
    let (cables, wrong) = (found.missing_cables.len(), found.wrong_cables.len());
    assert_eq!(found.verdict == "network", boards.len() + cables + wrong == 0, "{name}");
    assert!(10 * boards.len() <= whole.nodes(), "{name}");
    assert!(10 * cables <= whole.edges(), "{name}");
    assert!(wrong <= 2 && 10 * wrong <= graph.edges(), "{name}");
    Some(name)
}

/// The networks up to that size; those whose frames differ from phase to phase are not in the catalogue.
pub(crate) fn table(most: usize) -> Vec<(&'static str, Graph)> {
    let listed = networks("recognised").into_iter().filter(|name| !name.contains('['));
    let graphs = listed.map(|name| (name, built(name)));
    graphs.filter(|(_, graph)| graph.nodes() <= most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_networks::recognise::{recognise, recognise_nearly};
    use std::time::{Duration, Instant};

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn relabeled_networks_are_recognised_and_a_moved_cable_is_noticed() {
        let mut random = Random(38);
        let mut others = 0;
        for (name, graph) in table(64) {
            let known = recognise(graph.clone());
            let again = recognise(relabeled(&graph, &mut random));
            assert_eq!((&again.network, &again.also), (&known.network, &known.also), "{name}");
            let relabeled = relabeled(&graph, &mut random);
            assert!(checked(&relabeled, &recognise(relabeled.clone())).is_some(), "{name}");
            // It may be another network, which is then checked link by link.
            if let Some(moved) = damaged(&graph, MOVED, &mut random) {
                others += usize::from(checked(&moved, &recognise(moved.clone())).is_none());
            }
        }
        assert!(others >= 10, "{others} are no network");
    }

    #[test]
    fn damaged_networks_are_recognised() {
        let mut random = Random(39);
        let small = table(36).into_iter().map(|(name, graph)| (name, graph, 10, 0));
        let moved = table(32).into_iter().filter(|(_, graph)| graph.edges() >= 20);
        let moved = moved.map(|(name, graph)| (name, graph, 4, 1));
        let larger = table(100).into_iter().filter(|(_, graph)| graph.nodes() > 36);
        let larger = larger.map(|(name, graph)| (name, graph, 2, 0));
        let (mut tried, mut found) = (0, 0);
        for (name, graph, percent, moved) in small.chain(moved).chain(larger) {
            let damage = Damage {
                boards: percent,
                cables: percent,
                moved,
            };
            if let Some(damaged) = damaged(&graph, damage, &mut random) {
                tried += 1;
                match checked(&damaged, &recognise_nearly(damaged.clone(), MINUTE)) {
                    Some(_) => found += 1,
                    None => println!("{name} with {damage:?} is not found"),
                }
            }
        }
        assert!(tried >= 20 && found + 1 >= tried, "{found} of {tried} are found");
    }

    /// Five random matchings have far more differences from any network than are tolerated, and a torus with too many is not called almost that.
    #[test]
    fn what_is_too_far_from_a_network_is_none() {
        let mut random = Random(40);
        let limit = Duration::from_secs(2);
        for nodes in [60, 64, 120] {
            let pairs = || Graph::from_edges(nodes, (0..nodes / 2).map(|pair| (2 * pair, 2 * pair + 1)));
            let matchings = (0..5).map(|_| relabeled(&pairs(), &mut random));
            let edges: Vec<_> = matchings
                .flat_map(|graph| graph.edge_list().collect::<Vec<_>>())
                .collect();
            let begun = Instant::now();
            let found = recognise_nearly(Graph::from_edges(nodes, edges), limit);
            assert_eq!((found.verdict, found.network), ("graph", None));
            assert!(begun.elapsed() < MINUTE, "{:?}", begun.elapsed());
        }
        let torus = built("torus(6,6)");
        for (boards, cables, moved) in [(0, 14, 0), (12, 0, 0), (0, 8, 3)] {
            let damage = Damage { boards, cables, moved };
            let damaged = damaged(&torus, damage, &mut random).expect("it stays connected");
            let found = recognise_nearly(damaged.clone(), limit);
            assert_ne!(checked(&damaged, &found), Some("torus(6,6)"), "{damage:?}");
        }
    }
}
