//! Routes in networks that are too large to build out. The tests of hopwise-networks have it too.

use hopwise_core::{Network, Node, Rule};

/// From node to node each hop is one closer, for so many hops, and the way back is as long; a broadcast reaches the children of a
/// node from it alone.
pub(crate) fn descend(network: &Network, from: Node, to: Node, most: u64) {
    let distance = |a, b| network.distance(a, b).unwrap().expect("an exact distance");
    let hops = distance(from, to);
    assert_eq!(distance(to, from), hops, "{network}: {from} to {to} and back");
    assert!(hops <= network.longest_route(Rule::Exact), "{network}: {from} to {to}");
    let mut here = from;
    for hop in 1..=most.min(hops) {
        let next = network.next_hop(here, to, Rule::Exact).unwrap();
        let port = network.next_port(here, to, Rule::Exact).unwrap().expect("a port");
        let found = network.neighbor(here, port);
        assert_eq!(found, Ok(Some(next)), "{network}: {here} to {to}");
        let found = distance(next, to);
        assert_eq!(found, hops - hop, "{network}: from {from} to {to} at {next}");
        here = next;
    }
    for (port, child) in network.fanout(from, to).unwrap().take(64) {
        assert_eq!(network.neighbor(from, port), Ok(Some(child)));
        let found = network.next_hop(child, to, Rule::Exact);
        assert_eq!(found, Ok(from), "{network}: {child} of {to}");
    }
}
