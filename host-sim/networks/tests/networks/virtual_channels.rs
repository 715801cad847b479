//! The node's virtual channels: buffers of a node, shared by all its links, of which none wait for each other in a cycle.

use hopwise_core::limits::VIRTUAL_CHANNELS;
use hopwise_core::{Network, Rule};
use hopwise_networks::dependency::{self, Scheme};
use hopwise_networks::graph::Graph;
use hopwise_testing::networks;

#[test]
fn no_buffers_wait_in_a_cycle() {
    let mut table = String::new();
    for expression in networks("wired") {
        let network: Network = expression.parse().expect(expression);
        let graph = Graph::build(&network).unwrap();
        for rule in [Rule::Exact, Rule::Paper] {
            let found = dependency::build(&network, &graph, rule, Scheme::VirtualChannels, |_| ()).unwrap();
            assert_eq!(found.cycle, None, "{expression} {rule:?}");
            assert!(found.classes as usize <= VIRTUAL_CHANNELS, "{expression} {rule:?}");
            table.push_str(&format!("{expression} {rule:?}: {} virtual channels\n", found.classes));
        }
    }
    insta::assert_snapshot!(table);
}

/// The check can fail: with one class for all, a ring is a cycle.
#[test]
fn a_ring_without_virtual_channels_waits_in_a_cycle() {
    let network: Network = "ring(5)".parse().unwrap();
    let graph = Graph::build(&network).unwrap();
    let found = dependency::build(&network, &graph, Rule::Exact, Scheme::One, |_| ()).unwrap();
    assert!(found.cycle.is_some());
}
