//! Networks far too large to build out: from random pairs each hop is one closer, and the way back is as long.

use crate::support::*;

/// Routes are followed for so many hops.
const HOPS: u64 = 64;

/// Pairs tried in each network.
const PAIRS: u32 = 6;

fn descend(network: &Network, from: Node, to: Node) {
    let distance = |a, b| network.distance(a, b).unwrap().expect("an exact distance");
    let hops = distance(from, to);
    assert_eq!(distance(to, from), hops, "{network}: {from} to {to} and back");
    assert!(hops <= network.longest_route(Rule::Exact), "{network}: {from} to {to}");
    let mut here = from;
    for hop in 1..=HOPS.min(hops) {
        let next = network.next_hop(here, to, Rule::Exact).unwrap();
        let port = network.next_port(here, to, Rule::Exact).unwrap().expect("a port");
        assert_eq!(
            network.neighbor(here, port),
            Ok(Some(next)),
            "{network}: {here} to {to}"
        );
        assert_eq!(
            distance(next, to),
            hops - hop,
            "{network}: from {from} to {to} at {next}"
        );
        here = next;
    }
    for (port, child) in network.fanout(from, to).unwrap().take(64) {
        assert_eq!(network.neighbor(from, port), Ok(Some(child)));
        assert_eq!(
            network.next_hop(child, to, Rule::Exact),
            Ok(from),
            "{network}: {child} of {to}"
        );
    }
}

#[test]
fn each_hop_is_one_closer() {
    for expression in networks("huge_of_core") {
        let network = network(expression);
        let mut random = Random(network.nodes());
        for _ in 0..cases(PAIRS) {
            if network.degree(0).unwrap() > 100 {
                continue;
            }
            let (from, to) = (random.below(network.nodes()), random.below(network.nodes()));
            descend(&network, from, to);
        }
    }
}
