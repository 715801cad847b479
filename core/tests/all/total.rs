//! Nothing that a network is asked makes it panic, overflow or run on: not with the largest parameters, and not with nodes
//! that do not exist.

use hopwise_core::{Network, Rule, Tree};
use proptest::prelude::*;

use crate::expressions::{expression, number};
use crate::support::{cases, networks};

fn ask_everything(network: &Network, a: u64, b: u64, port: u64) {
    let exists = a < network.nodes() && b < network.nodes();
    let _ = network.to_string();
    assert_eq!(network.degree(a).is_ok(), a < network.nodes());
    let _ = network.neighbor(a, port);
    let _ = network.port_to(a, b);
    assert_eq!(network.distance(a, b).is_ok(), exists, "{network}: {a} to {b}");
    if let Ok(neighbors) = network.neighbors(a) {
        neighbors
            .take(70)
            .for_each(|neighbor| assert!(neighbor < network.nodes(), "{network}: {a} to {neighbor}"));
    }
    for rule in [Rule::Exact, Rule::Paper] {
        let _ = network.longest_route(rule);
        let _ = network.method(a, b, rule);
        assert_eq!(network.next_port(a, b, rule).is_ok(), exists, "{network}: {a} to {b}");
        if let Ok(next) = network.next_hop(a, b, rule) {
            assert!(next < network.nodes(), "{network}: {a} to {b} by {next}");
        }
    }
    if let Ok(address) = network.address(a) {
        let _ = address.to_string();
    }
}

/// What takes many next hops: asked less often.
fn ask_for_trees(network: &Network, a: u64, b: u64) {
    for tree in [Tree::LeastDepth, Tree::FewestSteps] {
        if let Ok(fanout) = network.fanout_by(a, b, tree) {
            fanout
                .take(40)
                .for_each(|(_, child)| assert!(child < network.nodes(), "{network}: {a} to {child}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), max_global_rejects: 1_000_000, ..ProptestConfig::default() })]

    #[test]
    fn any_network_answers_anything(text in expression(), a: u64, b: u64, port in number()) {
        if let Ok(network) = text.parse::<Network>() {
            let (c, d) = (a % network.nodes(), b % network.nodes());
            ask_everything(&network, c, d, port);
            ask_everything(&network, a, d, port);
            ask_everything(&network, 0, network.nodes() - 1, u64::MAX);
            ask_everything(&network, network.nodes(), u64::MAX, 0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(100), max_global_rejects: 1_000_000, ..ProptestConfig::default() })]

    #[test]
    fn any_network_broadcasts(text in expression(), a: u64, b: u64) {
        if let Ok(network) = text.parse::<Network>() {
            ask_for_trees(&network, a % network.nodes(), b % network.nodes());
            ask_for_trees(&network, 0, network.nodes() - 1);
        }
    }
}

/// A port that no node has leads nowhere, in every base graph.
#[test]
fn the_largest_port_leads_nowhere() {
    for expression in networks("shapes") {
        let network: Network = expression.parse().unwrap();
        for port in [u64::MAX, u64::from(u32::MAX)] {
            assert_eq!(network.neighbor(0, port), Ok(None), "{expression}, port {port}");
        }
    }
}
