//! The figures of 64 networks, measured by an independent implementation, to the byte.

use crate::audit::audit_all;
use hopwise_networks::figures::Figures;
use serde::Deserialize;

/// Links and distances are held against it in the tests of core.
#[derive(Deserialize)]
struct Golden {
    spec: String,
    nodes: u64,
    edges: u128,
    degree_min: u64,
    degree_max: u64,
    connected: bool,
    diameter: u64,
    distance_sum: u128,
}

fn golden() -> Vec<Golden> {
    let all: Vec<Golden> = serde_json::from_str(include_str!("../../../../core/tests/golden/networks.json")).unwrap();
    assert_eq!(all.len(), 64);
    all
}

#[test]
fn figures_are_those_of_the_golden_file() {
    for golden in golden() {
        let network = crate::audit::network(&golden.spec);
        assert_eq!(network.to_string(), golden.spec);
        let found = Figures::by_search(&network, |_, _| ()).unwrap();
        assert_eq!(found.nodes, golden.nodes, "{network}");
        assert_eq!(found.edges, golden.edges, "{network}");
        let seen = (found.degree_min, found.degree_max);
        assert_eq!(seen, (golden.degree_min, golden.degree_max), "{network}");
        assert_eq!(found.connected, golden.connected, "{network}");
        assert_eq!(found.diameter, Some(golden.diameter), "{network}");
        assert_eq!(found.distance_sum, Some(golden.distance_sum), "{network}");
    }
}

#[test]
fn every_golden_network_keeps_its_guarantees() {
    let golden = golden();
    audit_all(golden.iter().map(|golden| golden.spec.as_str()).collect());
}
