//! Counts the steps of queries: none takes more than [`STEPS_PER_LINK`] or [`STEPS_PER_QUERY`].

use core::cell::Cell;
use std::string::ToString;

use hopwise_testing::networks;
use proptest::prelude::*;

use crate::limits::{MAX_SORTED_CHILDREN, STEPS_PER_LINK, STEPS_PER_QUERY};
use crate::{Network, Rule, Tree};

#[path = "../tests/all/expressions.rs"]
mod expressions;

std::thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

pub(crate) fn count() {
    STEPS.set(STEPS.get() + 1);
}

/// Runs a query and asserts that it takes at most `most` steps.
fn ask<T>(network: &Network, query: &str, most: u64, asked: impl FnOnce() -> T) -> T {
    STEPS.set(0);
    let answer = asked();
    let steps = STEPS.get();
    assert!(
        steps <= most,
        "{network}: {query} takes {steps} steps, more than {most}"
    );
    answer
}

fn ask_everything(network: &Network, a: u64, b: u64, port: u64) {
    let most = STEPS_PER_LINK;
    let degree = ask(network, "degree", most, || network.degree(a)).unwrap();
    for port in [port % degree, degree - 1] {
        let neighbor = ask(network, "neighbor", most, || network.neighbor(a, port))
            .unwrap()
            .unwrap();
        let port_to = |to| ask(network, "port", most, || network.port_to(a, to));
        assert_eq!(port_to(neighbor), Ok(Some(port)), "{network}: {a} to {neighbor}");
        let _ = port_to(b);
    }
    let _ = ask(network, "address", most, || {
        network.address(a).map(|address| address.to_string())
    });
    let most = STEPS_PER_QUERY;
    let _ = ask(network, "distance", most, || network.distance(a, b));
    let _ = ask(network, "diameter", most, || network.diameter());
    for rule in [Rule::Exact, Rule::Paper] {
        let _ = ask(network, "longest route", most, || network.longest_route(rule));
        let _ = ask(network, "method", most, || network.method(a, b, rule));
        let _ = ask(network, "next hop", most, || network.next_hop(a, b, rule));
        let _ = ask(network, "next port", most, || network.next_port(a, b, rule));
    }
    let most = most * degree.min(MAX_SORTED_CHILDREN as u64 + 1);
    for tree in [Tree::LeastDepth, Tree::FewestSteps] {
        let _ = ask(network, "fan-out", most, || {
            network.fanout_by(a, b, tree).map(Iterator::count)
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_random_network_takes_more_steps_than_stated(text in expressions::expression(), a: u64, b: u64, port: u64) {
        if let Ok(network) = text.parse::<Network>() {
            ask_everything(&network, a % network.nodes(), b % network.nodes(), port);
            ask_everything(&network, 0, network.nodes() - 1, port);
        }
    }
}

/// The largest degrees, the deepest nestings and every kind of search, each at its maximum size.
#[test]
fn no_hard_network_takes_more_steps_than_stated() {
    for text in networks("most_steps") {
        let network = match text.parse::<Network>() {
            Ok(network) => network,
            // Too large for a board.
            Err(_) if cfg!(not(feature = "huge-networks")) => continue,
            Err(error) => panic!("{text}: {error}"),
        };
        let nodes = network.nodes();
        for (a, b) in [(0, nodes - 1), (nodes / 3, nodes / 7 * 5), (1, 0)] {
            ask_everything(&network, a, b, nodes);
        }
    }
}
