//! The figures of 64 networks, measured by an independent implementation, to the byte.

use crate::audit::audit_all;
use hopwise_networks::figures::Figures;
use serde_json::Value;

/// Links and distances are held against it in the tests of core.
fn golden() -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(include_str!("../../../../core/tests/golden/networks.json")).unwrap();
    assert_eq!(all.len(), 64);
    all
}

fn spec(golden: &Value) -> &str {
    golden["spec"].as_str().expect("an expression")
}

#[test]
fn figures_are_those_of_the_golden_file() {
    for golden in golden() {
        let network = crate::audit::network(spec(&golden));
        assert_eq!(network.to_string(), spec(&golden));
        let found = serde_json::to_value(Figures::by_search(&network, |_, _| ()).unwrap()).unwrap();
        for name in "nodes edges degree_min degree_max connected diameter distance_sum".split(' ') {
            assert!(!found[name].is_null(), "{network}: {name}");
            assert_eq!(found[name], golden[name], "{network}: {name}");
        }
    }
}

#[test]
fn every_golden_network_keeps_its_guarantees() {
    audit_all(golden().iter().map(spec).collect());
}
