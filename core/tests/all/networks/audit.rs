//! Every guarantee of a network: on all pairs of its nodes if it is small.

use super::guarantees::*;
use crate::support::*;

/// In networks of up to so many nodes routes to all of them are followed, in larger ones to some.
const ALL_DESTINATIONS: u64 = 64;
const DESTINATIONS: u64 = 12;
/// The same for the sources of broadcasts.
const ALL_SOURCES: u64 = 40;
const SOURCES: u64 = 6;

/// All nodes of a small network, and some of a large one, the last among them.
fn sample(network: &Network, most: u64, some: u64) -> impl Iterator<Item = Node> {
    let nodes = network.nodes();
    // Of a very large one fewer, so that it is not most of the work.
    let some = some.min(20_000 / nodes).max(2);
    let step = if nodes <= most { 1 } else { nodes / some };
    (0..nodes).rev().step_by(step as usize)
}

/// Larger networks are left to the tests of hopwise-networks.
const MAX_NODES: u64 = 700;

/// Every guarantee of those that are not too large, of which there must be one. One that is alone may be larger.
pub(super) fn audit_all(expressions: Vec<&str>) {
    let (mut audited, alone) = (0, expressions.len() == 1);
    for expression in expressions {
        let network = network(expression);
        assert_eq!(network.to_string(), expression);
        if alone || network.nodes() <= MAX_NODES {
            audit(&network);
            audited += 1;
        }
    }
    assert!(audited > 0, "all networks are too large");
}

fn audit(network: &Network) {
    let graph = Graph::of(network);
    audit_links(network, &graph);
    for node in sample(network, ALL_DESTINATIONS, DESTINATIONS) {
        audit_routes(network, &graph, node);
    }
    for node in sample(network, ALL_SOURCES, SOURCES) {
        audit_broadcast(network, &graph, node);
        follow(network, node, Tree::FewestSteps);
    }
}

hopwise_testing::audit_groups!(audit_all);

/// Where only a distance is defined, the next hop is the lowest-numbered neighbor that is closer.
#[test]
fn the_lowest_numbered_closer_neighbor() {
    for expression in networks("by_distance_alone") {
        let network = network(expression);
        let graph = Graph::of(&network);
        for dest in 0..network.nodes() {
            let hops = graph.hops_to(dest);
            for here in (0..network.nodes()).filter(|&here| here != dest) {
                let near = graph.neighbors[here as usize].iter();
                let closer = near.filter(|&&node| hops[node as usize] < hops[here as usize]).min();
                let next = network.next_hop(here, dest, Rule::Exact).ok();
                assert_eq!(next.as_ref(), closer, "{expression}: {here} to {dest}");
            }
        }
    }
}
