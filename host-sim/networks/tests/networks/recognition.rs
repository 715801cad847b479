//! Networks are recognised from their cables, also if some are missing or at the wrong place. More of them, with figures:
//! `HOPWISE_CASES=1000 cargo test --release -p hopwise-networks --test networks recogni -- --nocapture`.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hopwise_core::Network;
use hopwise_networks::graph::Graph;
use hopwise_networks::recognise::{Recognised, recognise_nearly};
use hopwise_testing::{Random, cases, networks};

fn built(expression: &str) -> Graph {
    let network: Network = expression.parse().expect("a network");
    Graph::build(&network).expect("it is small")
}

fn take<T>(from: &mut Vec<T>, random: &mut Random) -> T {
    from.swap_remove(random.below(from.len() as u64) as usize)
}

/// The graph with other numbers, without that percentage of its boards and cables, with so many cables moved, which then are missing, too:
/// if it then is connected, as it is after some of 200 tries.
fn damaged(graph: &Graph, percent: usize, moved: usize, random: &mut Random) -> Option<Graph> {
    (0..200).find_map(|_| {
        let mut nodes: Vec<usize> = (0..graph.nodes()).collect();
        let left: Vec<usize> = (graph.nodes() * percent / 100..graph.nodes())
            .map(|_| take(&mut nodes, random))
            .collect();
        let number = |node| left.iter().position(|&other| other == node);
        let edges = graph.edge_list().filter_map(|(u, v)| Some((number(u)?, number(v)?)));
        let mut edges: Vec<_> = edges.collect();
        for at in moved..(graph.edges() * percent / 100).max(2 * moved) {
            let (stays, _) = take(&mut edges, random);
            let free = (0..left.len()).filter(|&node| node != stays);
            let free = free.filter(|&node| !edges.contains(&(stays, node)) && !edges.contains(&(node, stays)));
            if at < 2 * moved {
                edges.push((stays, take(&mut free.collect(), random)));
            }
        }
        Some(Graph::from_edges(left.len(), edges)).filter(|graph| graph.parts() == 1)
    })
}

/// Holds what is said of a connected graph against the network that it is said to be, link by link; that network, if there is one.
fn checked<'a>(graph: &Graph, found: &'a Recognised) -> Option<&'a str> {
    let (name, mapping) = (found.network.as_ref()?, found.mapping.as_ref()?);
    let whole = built(name);
    let taken: BTreeSet<usize> = mapping.iter().copied().collect();
    let mut nodes = [mapping.clone(), found.missing_boards.clone()].concat();
    nodes.sort_unstable();
    assert!(
        mapping.len() == graph.nodes() && nodes.into_iter().eq(0..whole.nodes()),
        "{name}"
    );
    let ordered = |(u, v): (usize, usize)| (u.min(v), u.max(v));
    let placed = |edge: (usize, usize)| ordered((mapping[edge.0], mapping[edge.1]));
    let mut expected: BTreeSet<_> = graph.edge_list().map(placed).collect();
    for &(a, b) in &found.wrong_cables {
        assert!(
            expected.remove(&placed((a, b))) && !whole.linked(mapping[a], mapping[b]),
            "{name}"
        );
    }
    for &missing in &found.missing_cables {
        assert!(expected.insert(ordered(missing)), "{name}");
    }
    let present = whole
        .edge_list()
        .filter(|(u, v)| taken.contains(u) && taken.contains(v));
    assert_eq!(expected, present.collect(), "{name}");
    let lacking = [&found.missing_cables, &found.wrong_cables].map(Vec::len);
    assert_eq!(
        found.verdict == "network",
        found.missing_boards.len() + lacking[0] + lacking[1] == 0,
        "{name}"
    );
    assert!(
        10 * found.missing_boards.len() <= whole.nodes() && 10 * lacking[0] <= whole.edges(),
        "{name}"
    );
    assert!(lacking[1] <= 2 && 10 * lacking[1] <= graph.edges(), "{name}");
    Some(name)
}

/// For each damage, up to which size networks are tried, and how many percent of them must be found.
#[test]
fn relabeled_and_damaged_networks_are_recognised() {
    let times = cases(100) as usize;
    let mut random = Random(38);
    let mut names = networks("recognised");
    // Frames that differ from phase to phase are not in the catalogue.
    names.retain(|name| !name.contains('['));
    for (percent, moved, most, needed) in [
        (0, 0, 100, 100),
        (2, 0, 64, 90),
        (10, 0, 36, 90),
        (4, 1, 24, 70),
        (4, 2, 16, 50),
    ] {
        let (mut seconds, mut found) = (Vec::new(), 0);
        for name in names
            .iter()
            .flat_map(|name| std::iter::repeat_n(name, times.div_ceil(100)))
        {
            let graph = built(name);
            let all = if percent == 0 { 1_024 } else { 256 };
            if graph.nodes() > if times > 100 { all } else { most } {
                continue;
            }
            if let Some(damaged) = damaged(&graph, percent, moved, &mut random) {
                let begun = Instant::now();
                let answer = recognise_nearly(damaged.clone(), Duration::from_secs(60));
                seconds.push(begun.elapsed().as_secs_f64());
                found += usize::from(checked(&damaged, &answer).is_some());
            }
        }
        let all = seconds.len();
        seconds.sort_unstable_by(f64::total_cmp);
        let (median, longest) = (seconds[all / 2], seconds[all - 1]);
        println!(
            "{percent}% lost, {moved} moved: {found} of {all} found, {median:.2} s in the median, {longest:.1} s at most"
        );
        assert!(
            100 * found >= needed * all,
            "{percent}% lost, {moved} moved: {found} of {all}"
        );
    }
}

/// Near misses are not called equal, random matchings nothing at all, and a torus without too much not almost that.
#[test]
fn what_is_too_far_from_a_network_is_not_recognised() {
    let mut random = Random(40);
    for name in networks("recognised")
        .into_iter()
        .filter(|name| built(name).nodes() <= 256)
    {
        let Some(moved) = damaged(&built(name), 0, 1, &mut random) else {
            continue;
        };
        // It may be another network, which is checked link by link.
        checked(&moved, &recognise_nearly(moved.clone(), Duration::ZERO));
    }
    let mut ends = Vec::new();
    for _ in 0..5 {
        let mut nodes: Vec<usize> = (0..64).collect();
        ends.extend((0..64).map(|_| take(&mut nodes, &mut random)));
    }
    let edges = ends.as_chunks().0.iter().map(|&[a, b]| (a, b));
    let found = recognise_nearly(Graph::from_edges(64, edges), Duration::from_secs(2));
    assert_eq!((found.verdict, found.network), ("graph", None));
    let torus = built("torus(6,6)");
    for (percent, moved) in [(20, 0), (0, 3)] {
        let damaged = damaged(&torus, percent, moved, &mut random).expect("it stays connected");
        let found = recognise_nearly(damaged.clone(), Duration::from_secs(2));
        assert_ne!(checked(&damaged, &found), Some("torus(6,6)"));
    }
}
