//! Networks far too large to build out are routed by the same code: from random pairs, each hop lowers the distance by
//! exactly one, and the way back is as long.

mod audit;

use hopwise_core::Rule;
use proptest::prelude::*;

/// Follows the exact rule both ways between two nodes, given as fractions of the network.
fn descend(expression: &str, from: u64, to: u64) {
    let network = audit::network(expression);
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
    let network = audit::network(expression);
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

const HUGE: [&str; 12] = [
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
    }
}
