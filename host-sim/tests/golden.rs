//! The figures of 64 networks, measured by an independent implementation.

use hopwise::analysis::distances;
use hopwise::analysis::graph::Graph;
use hopwise_core::Network;
use serde::Deserialize;
use sha2::{Digest, Sha256};

#[derive(Deserialize)]
struct Golden {
    spec: String,
    nodes: u64,
    edges: usize,
    degree_min: usize,
    degree_max: usize,
    connected: bool,
    diameter: u64,
    distance_sum: u128,
    edge_sha256: String,
    distances: Vec<(u64, u64, u64)>,
    neighbors: std::collections::BTreeMap<String, Vec<u64>>,
}

#[test]
fn x() {
    let all: Vec<Golden> = serde_json::from_str(include_str!("golden/networks.json")).unwrap();
    for g in all {
        let Ok(n) = g.spec.parse::<Network>() else {
            println!("skip {}", g.spec);
            continue;
        };
        assert_eq!(n.nodes(), g.nodes);
        let graph = Graph::build(&n).unwrap();
        let mut h = Sha256::new();
        for (u, v) in graph.edge_list() {
            h.update(format!("{u} {v}\n"));
        }
        let hex: String = h.finalize().iter().map(|b| format!("{b:02x}")).collect();
        let sources: Vec<usize> = (0..graph.nodes()).collect();
        let d = distances::from_sources(&graph, &sources, |_| ());
        println!(
            "{} {} {} {}",
            g.spec,
            hex == g.edge_sha256,
            d.largest == g.diameter,
            d.sum == g.distance_sum
        );
        assert_eq!(graph.edges(), g.edges);
        assert_eq!(graph.degree_range(), (g.degree_min, g.degree_max));
        assert_eq!(d.connected, g.connected);
        for (a, b, x) in g.distances {
            if let Some(y) = n.distance(a, b).unwrap() {
                assert_eq!(x, y, "{} {a} {b}", g.spec);
            }
        }
        for (v, l) in g.neighbors {
            let mut m: Vec<u64> = n.neighbors(v.parse().unwrap()).unwrap().collect();
            m.sort();
            assert_eq!(l, m);
        }
    }
}
