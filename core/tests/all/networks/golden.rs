//! The figures of networks, measured by an independent implementation, to the byte.

use std::collections::BTreeMap;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::guarantees::Graph;
use crate::support::*;

#[derive(Deserialize)]
struct Golden {
    spec: String,
    nodes: u64,
    edges: u64,
    degree_min: u64,
    degree_max: u64,
    connected: bool,
    diameter: u64,
    distance_sum: u64,
    edge_sha256: String,
    distances: Vec<(u64, u64, u64)>,
    neighbors: BTreeMap<u64, Vec<u64>>,
}

/// Of larger networks the diameter and the distances are not searched for.
const MAX_NODES: u64 = 2_800;

#[test]
fn networks_are_those_of_the_golden_file() {
    let all: Vec<Golden> = serde_json::from_str(include_str!("../../golden/networks.json")).unwrap();
    assert_eq!(all.len(), 64);
    for golden in all {
        let network = network(&golden.spec);
        assert_eq!(network.nodes(), golden.nodes, "{network}");
        let graph = Graph::of(&network);
        let degrees = || graph.neighbors.iter().map(|near| near.len() as u64);
        assert_eq!(degrees().sum::<u64>(), 2 * golden.edges, "{network}");
        let (least, most) = (degrees().min(), degrees().max());
        let found = (least, most);
        assert_eq!(found, (Some(golden.degree_min), Some(golden.degree_max)), "{network}");
        assert_eq!(edge_sha256(&graph), golden.edge_sha256, "{network}");
        if golden.nodes <= MAX_NODES {
            let mut diameter = 0;
            let mut sum = 0;
            for dest in 0..network.nodes() {
                let hops = graph.hops_to(dest);
                diameter = hops.iter().copied().fold(diameter, u64::max);
                sum += hops.iter().sum::<u64>();
            }
            assert_eq!((diameter, sum), (golden.diameter, golden.distance_sum), "{network}");
        }
        assert!(golden.connected);
        for (from, to, hops) in golden.distances {
            let distance = network.distance(from, to).unwrap();
            let is_it = distance.is_none_or(|distance| distance == hops);
            assert!(is_it, "{network}: from {from} to {to}");
        }
        for (node, expected) in golden.neighbors {
            let mut neighbors = graph.neighbors[node as usize].clone();
            neighbors.sort_unstable();
            assert_eq!(neighbors, expected, "{network}: node {node}");
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
