//! Networks far too large to build out are routed by the same code: from random pairs, each hop lowers the distance by
//! exactly one, and the path back is as long.

#[path = "../../../../core/tests/all/networks/descend.rs"]
mod descend;

use hopwise_networks::distances::hops_from;
use hopwise_networks::graph::Graph;
use hopwise_testing::networks;
use proptest::prelude::*;
use proptest::sample::select;

/// Follows the exact rule between two nodes, given as fractions of the network, for so many hops.
fn descend(expression: &str, from: u64, to: u64, most: u64) {
    let network = crate::audit::network(expression);
    descend::descend(&network, from % network.nodes(), to % network.nodes(), most);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Routes between clusters are too long to follow to their end.
    #[test]
    fn each_hop_is_one_closer(from: u64, to: u64) {
        for (group, most) in [("huge", u64::MAX), ("huge_clusters", 64)] {
            networks(group).into_iter().for_each(|expression| descend(expression, from, to, most));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, ..ProptestConfig::default() })]

    /// With one link a port the search is exact as long as it fits: four digits that differ besides the position.
    #[test]
    fn one_link_a_port_is_routed_exactly_in_four_digits(from: u64, to: u64, kept in 0u64..14u64.pow(10)) {
        let part = 14u64.pow(5);
        let whole = |low: u64| kept * part + low % part;
        descend("re-heawood-2(15,one)", whole(from), whole(to), u64::MAX);
    }

    #[test]
    fn networks_of_many_levels_are_routed_exactly(from: u64, to: u64) {
        for expression in networks("huge_of_many_levels") {
            descend(expression, from, to, u64::MAX);
        }
    }
}

/// Too large for all pairs, but not for a search from one node.
#[test]
fn distances_in_large_hypernets_are_those_of_a_search() {
    for expression in networks("large_hypernets") {
        let network = crate::audit::network(expression);
        let graph = Graph::build(&network).unwrap();
        for source in [graph.nodes() / 3, graph.nodes() - 1] {
            let hops = hops_from(&graph, source);
            for node in (0..graph.nodes()).step_by(graph.nodes() / 1000 + 1) {
                let distance = network.distance(source as u64, node as u64);
                let expected = Ok(Some(hops[node].into()));
                assert_eq!(distance, expected, "{expression}: {source} to {node}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn each_hop_in_huge_swapped_networks_is_one_closer(from: u64, to: u64, expression in select(networks("huge_swapped"))) {
        descend(expression, from, to, u64::MAX);
    }
}
