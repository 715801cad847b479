//! Networks far too large to build out are routed by the same code: from random pairs, each hop lowers the distance by
//! exactly one, and the path back is as long.

use hopwise_core::Rule;
use hopwise_networks::distances::hops_from;
use hopwise_networks::graph::Graph;
use proptest::prelude::*;

/// Follows the exact rule between two nodes, given as fractions of the network.
fn descend(expression: &str, from: u64, to: u64) {
    let network = crate::audit::network(expression);
    let (from, to) = (from % network.nodes(), to % network.nodes());
    let distance = |a, b| network.distance(a, b).unwrap().expect("an exact distance");
    let hops = distance(from, to);
    assert_eq!(distance(to, from), hops, "{expression}: {from} to {to} and back");
    assert!(
        hops <= network.longest_route(Rule::Exact),
        "{expression}: {from} to {to}"
    );
    let mut here = from;
    for left in (0..hops).rev() {
        let next = network.next_hop(here, to, Rule::Exact).unwrap();
        assert!(
            network.port_to(here, next).unwrap().is_some(),
            "{expression}: {here} to {next} is no link"
        );
        assert_eq!(distance(next, to), left, "{expression}: from {from} to {to} at {next}");
        here = next;
    }
    assert_eq!(here, to, "{expression}: from {from}");
}

/// A broadcast reaches the children of a node from it alone: the route back to the source goes through it.
fn tree_is_consistent(expression: &str, here: u64, source: u64) {
    let network = crate::audit::network(expression);
    let (here, source) = (here % network.nodes(), source % network.nodes());
    for (port, child) in network.fanout(here, source).unwrap() {
        assert_eq!(network.neighbor(here, port), Ok(Some(child)));
        assert_eq!(
            network.next_hop(child, source, Rule::Exact),
            Ok(here),
            "{expression}: {child} of {source}"
        );
    }
}

/// The same where routes are too long to follow to their end: so many hops.
fn descend_at_first(expression: &str, from: u64, to: u64) {
    const HOPS: u64 = 64;
    let network = crate::audit::network(expression);
    let (mut here, to) = (from % network.nodes(), to % network.nodes());
    let distance = |a, b| network.distance(a, b).unwrap().expect("an exact distance");
    let hops = distance(here, to);
    assert_eq!(distance(to, here), hops, "{expression}: {here} to {to} and back");
    assert!(
        hops <= network.longest_route(Rule::Exact),
        "{expression}: {here} to {to}"
    );
    for hop in 1..=HOPS.min(hops) {
        here = network.next_hop(here, to, Rule::Exact).unwrap();
        assert_eq!(distance(here, to), hops - hop, "{expression}: to {to} at {here}");
    }
}

const HUGE: [&str; 20] = [
    "rdn(ring(5),3)",
    "rdn(torus(5,5),2)",
    "rdn(complete(2),5)",
    "rdn(nstar(5),2)",
    "re(ring(4),ring(16),16)",
    "re(ring(5),complete(20),20)",
    "re(heawood,petersen,14)",
    "re(complete(2),path(20),40)",
    "re([heawood,torus(9,9),ring(1000),star(12)],torus(3,4))",
    "rcr(4,20,40)",
    "rcr(1,40,39)",
    "rcr(3,100,50)",
    "folded(heawood,16)",
    "folded(torus(5,7),12)",
    "root-folded(heawood,15)",
    "root-folded(star(9),19)",
    "flooded(heawood,16)",
    "flooded(ring(3),61)",
    "flooded(mesh(3,3),20)",
    "flooded(nstar(5),8)",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn each_hop_is_one_closer(from: u64, to: u64) {
        for expression in HUGE {
            descend(expression, from, to);
            tree_is_consistent(expression, from, to);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, ..ProptestConfig::default() })]

    #[test]
    fn fourteen_to_the_fifteenth_nodes_are_routed_exactly(from: u64, to: u64) {
        descend("re(heawood,heawood,14)", from, to);
        descend("re-heawood-2(15)", from, to);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, ..ProptestConfig::default() })]

    /// With one link a port the search is exact as long as it fits: four digits that differ besides the position.
    #[test]
    fn one_link_a_port_is_routed_exactly_in_four_digits(from: u64, to: u64, kept in 0u64..14u64.pow(10)) {
        let part = 14u64.pow(5);
        let whole = |low: u64| kept * part + low % part;
        descend("re-heawood-2(15,one)", whole(from), whole(to));
    }
}

const HUGE_CUBES: [&str; 7] = [
    "ccc(57)",
    "cor(9,6)",
    "cor(1,57)",
    "dualcube(32)",
    "bsw(torus(40,50,60))",
    "exchanged-hypercube(40,22)",
    "exchanged-hypercube(31,31)",
];

/// Clusters joined at their corners or ports.
const HUGE_CLUSTERS: [&str; 12] = [
    "wk(2,63)",
    "wk(3,39)",
    "wk(5,27)",
    "wk(1000,6)",
    "wk(1025,6)",
    "symmetric-hypernet(1,63)",
    "symmetric-hypernet(3,21)",
    "symmetric-hypernet(7,9)",
    "symmetric-hypernet(31,2)",
    "hypernet(2,62)",
    "hypernet(4,4)",
    "hypernet(32,2)",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn each_hop_in_huge_cubes_is_one_closer(from: u64, to: u64) {
        for expression in HUGE_CUBES {
            descend(expression, from, to);
            tree_is_consistent(expression, from, to);
        }
    }

    #[test]
    fn each_hop_between_clusters_is_one_closer(from: u64, to: u64) {
        for expression in HUGE_CLUSTERS {
            descend_at_first(expression, from, to);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, ..ProptestConfig::default() })]

    #[test]
    fn hypernets_of_five_and_six_levels_are_routed_exactly(from: u64, to: u64) {
        for expression in ["hypernet(3,6)", "hypernet(4,5)", "hypernet(5,5)"] {
            descend(expression, from, to);
        }
    }
}

/// Too large for all pairs, but not for a search from one node.
#[test]
fn distances_in_large_hypernets_are_those_of_a_search() {
    for expression in [
        "hypernet(3,4)",
        "hypernet(4,3)",
        "hypernet(3,5)",
        "hypernet(5,3)",
        "hypernet(2,16)",
        "symmetric-hypernet(4,4)",
        "symmetric-hypernet(2,8)",
        "wk(5,6)",
    ] {
        let network = crate::audit::network(expression);
        let graph = Graph::build(&network).unwrap();
        for source in [graph.nodes() / 3, graph.nodes() - 1] {
            let hops = hops_from(&graph, source);
            for node in (0..graph.nodes()).step_by(graph.nodes() / 1000 + 1) {
                let distance = network.distance(source as u64, node as u64);
                assert_eq!(
                    distance,
                    Ok(Some(hops[node].into())),
                    "{expression}: {source} to {node}"
                );
            }
        }
    }
}

const HUGE_SWAPPED: [&str; 14] = [
    "hcn(6)",
    "hcn(31)",
    "hfn(31)",
    "rsn(4,complete(200))",
    "rsn(2,ring(2000),diameter)",
    "rsn(2,torus(50,40,8),diameter)",
    "rsn(2,star(1025),diameter)",
    "rsn(2,folded-hypercube(20),diameter)",
    "rsn(3,hypercube(15))",
    "rsn(3,hypercube(3),diameter)",
    "rsn(6,complete(2))",
    "rsn(4,petersen)",
    "hsn(8,hypercube(7))",
    "hcn3(21)",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn each_hop_in_huge_swapped_networks_is_one_closer(from: u64, to: u64, index in 0..HUGE_SWAPPED.len()) {
        descend(HUGE_SWAPPED[index], from, to);
    }
}
