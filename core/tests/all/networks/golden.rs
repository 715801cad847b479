//! Networks are those of an independent implementation, to the byte, and so are distances. The figures that follow from the links are held against
//! the same file in the tests of hopwise-networks.

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::guarantees::Graph;
use crate::support::*;

#[derive(Deserialize)]
struct Golden {
    spec: String,
    nodes: u64,
    edge_sha256: String,
    distances: Vec<(u64, u64, u64)>,
}

#[test]
fn networks_are_those_of_the_golden_file() {
    let all: Vec<Golden> = serde_json::from_str(include_str!("../../golden/networks.json")).unwrap();
    assert_eq!(all.len(), 64);
    for golden in all {
        let network = network(&golden.spec);
        assert_eq!(network.nodes(), golden.nodes, "{network}");
        let graph = Graph::of(&network);
        assert_eq!(edge_sha256(&graph), golden.edge_sha256, "{network}");
        for (from, to, hops) in golden.distances {
            let distance = network.distance(from, to).unwrap();
            let is_it = distance.is_none_or(|distance| distance == hops);
            assert!(is_it, "{network}: from {from} to {to}");
        }
    }
}

fn edge_sha256(graph: &Graph) -> String {
    let mut hash = Sha256::new();
    for (node, near) in (0..).zip(&graph.neighbors) {
        let mut later: Vec<_> = near.iter().filter(|&&neighbor| neighbor > node).collect();
        later.sort_unstable();
        for neighbor in later {
            hash.update(format!("{node} {neighbor}\n"));
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
