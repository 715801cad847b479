//! The node's virtual channels: buffers of a node, shared by all its links, of which none wait for each other in a cycle.

use hopwise_core::limits::VIRTUAL_CHANNELS;
use hopwise_core::{Network, Rule};
use hopwise_networks::dependency::{self, Scheme};
use hopwise_networks::graph::Graph;

/// Networks that people wire, and the papers' examples of up to 200 nodes.
const NETWORKS: [&str; 22] = [
    "ring(3)",
    "ring(20)",
    "path(9)",
    "complete(6)",
    "star(6)",
    "petersen",
    "heawood",
    "torus(4,4)",
    "torus(8,8)",
    "hypercube(6)",
    "rdn(ring(3),1)",
    "rdn(ring(4),1)",
    "rdn(torus(3,3),1)",
    "rdn(petersen,1)",
    "re(ring(3),complete(3),1)",
    "re(ring(4),complete(3),3)",
    "rcr(2,2,1)",
    "rcr(3,3,1)",
    "rsn(2,hypercube(2))",
    "rsn(2,ring(14))",
    "folded(heawood,2)",
    "wk(4,3)",
];

#[test]
fn no_buffers_wait_in_a_cycle() {
    let mut table = String::new();
    for expression in NETWORKS {
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
