//! Guarantees of delivery in large networks, and in many: minutes, by `tools/test large`.

#[path = "../sim/cuts.rs"]
mod cuts;
#[path = "../sim/pulls.rs"]
mod pulls;
#[path = "../sim/settings.rs"]
mod settings;

use hopwise_language::Traffic;
use hopwise_sim::Settings;
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
        let settings = Settings {
            traffic: Some(Traffic::Broadcast),
            packets: Some(nodes.min(24)),
            rate: Some(2.0),
            events: Some(format!("0s off {dead}")),
            ..on(network)
        };
        let tally = run(&settings).tally;
        let found = (tally.broadcasts_full, tally.duplicated);
        assert_eq!(found, (tally.sent, 0), "{}", settings.command());
    });
}

/// A thousand seeds of pulled cables under requests, large messages and streams.
#[test]
fn cables_are_pulled_under_programs() {
    let all: Vec<pulls::Successes> = (1..=1_000).into_par_iter().map(pulls::assert_a_seed).collect();
    let sum = |of: fn(&pulls::Successes) -> usize| all.iter().map(of).sum::<usize>();
    let (tried, requests) = (sum(|seed| seed.tried), sum(|seed| seed.requests));
    let senders = sum(|seed| seed.senders);
    let (large, streams) = (sum(|seed| seed.large), sum(|seed| seed.streams));
    println!(
        "{requests} of {tried} requests answered, {large} of {senders} large messages and {streams} streams whole"
    );
    assert!(requests * 10 > tried * 8 && large * 10 > senders * 9 && streams * 10 > senders * 9);
}
