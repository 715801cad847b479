//! Guarantees of delivery in large networks, and in many: minutes, by `tools/test large`.

#[path = "../sim/cuts.rs"]
mod cuts;
#[path = "../sim/pulls.rs"]
mod pulls;
#[path = "../sim/settings.rs"]
mod settings;

use rayon::prelude::*;
use serde_json::Value;
use settings::{assert_all_delivered, flag, on, run};

#[test]
fn only_a_tree_is_left_of_a_large_network() {
    for (network, payload) in [
        ("torus(32,32)", 32),
        ("torus(32,32)", 200),
        ("hypercube(10)", 32),
        ("hypercube(8)", 200),
        ("rdn(ring(4),2)", 32),
        ("ring(1024)", 200),
    ] {
        cuts::assert_a_tree_is_enough(network, payload, 40, 4.0, 1..3);
    }
}

#[test]
fn any_single_dead_board_of_any_golden_network_keeps_no_broadcast_from_anyone() {
    let golden: Vec<Value> = serde_json::from_str(include_str!("../../../../core/tests/golden/networks.json")).unwrap();
    let networks: Vec<(&str, u64)> = golden
        .iter()
        .map(|network| (network["spec"].as_str().unwrap(), network["nodes"].as_u64().unwrap()))
        .filter(|&(_, nodes)| (3..=200).contains(&nodes))
        .collect();
    assert!(networks.len() > 30, "{}", networks.len());
    let each = |(network, nodes)| (0..nodes).map(move |dead| (network, nodes, dead));
    let deaths: Vec<(&str, u64, u64)> = networks.into_iter().flat_map(each).collect();
    deaths.into_par_iter().for_each(|(network, nodes, dead)| {
        let packets = nodes.min(24);
        let broadcasts = format!("--traffic broadcast --packets {packets} --rate 2");
        let settings = on(&format!("{network} {broadcasts} --events '0s off {dead}'"));
        let tally = run(&settings).tally;
        let found = (tally.broadcasts_full, tally.duplicated);
        assert_eq!(found, (tally.sent, 0), "{}", settings.command());
    });
}

/// A thousand seeds of pulled cables under requests, large messages and streams.
#[test]
fn cables_are_pulled_under_programs() {
    pulls::assert_seeds(&(1..=1_000).collect::<Vec<_>>(), 8);
}
