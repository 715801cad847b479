//! Links that are bad, moved or crossed: they cost no more than those that are cut, and come back by themselves.

use hopwise_language::Traffic;
use hopwise_sim::Settings;
use serde_json::Value;

use crate::{assert_all_delivered, events, on, run, traced};

fn seconds(event: &Value) -> f64 {
    event["t"].as_f64().unwrap()
}

/// When a node's links came up, in order.
fn came_up(trace: &[u8], node: u64) -> Vec<f64> {
    let ups = events(trace, "link-up");
    ups.iter().filter(|event| event["node"] == node).map(seconds).collect()
}

fn swapped(seed: u64) -> Settings {
    on(&format!(
        "ring(8) --packets 2000 --rate 20 --events '2s swap 4.1 4.0' --seed {seed}"
    ))
}

/// Both links of the board come back, each at the other plug, and nothing is lost.
#[test]
fn plugs_that_are_exchanged_come_back_by_themselves() {
    for seed in 1..=60 {
        let settings = swapped(seed);
        let (account, trace) = traced(&settings);
        let command = settings.command();
        let tally = &account.tally;
        // For a moment nobody reaches the board.
        assert_eq!(tally.delivered + tally.undeliverable, tally.sent, "{command}");
        assert!(tally.undeliverable < 40, "{command}: {}", tally.undeliverable);
        let again: Vec<f64> = came_up(&trace, 4).into_iter().filter(|&at| at > 2.0).collect();
        assert_eq!(again.len(), 2, "{command}: {again:?}");
        assert!(again.iter().all(|&at| at < 3.0), "{command}: {again:?}");
    }
}

fn noisy(events: &str, seed: u64) -> Settings {
    on(&format!(
        "torus(4,4) --confirmed --packets 3000 --payload 200 --rate 20 --events '{events}' --seed {seed}"
    ))
}

/// 99 of 100 packets arrived within so many nanoseconds.
fn p99(latencies: &[u64]) -> u64 {
    latencies[latencies.len() * 99 / 100]
}

/// Short hellos come through, long frames do not: the links are given up, and all arrives as if they were cut.
#[test]
fn a_noisy_cable_is_no_worse_than_a_cut_one() {
    let mut as_good = 0;
    for seed in 1..=5 {
        let settings = noisy("0s noise 5.0 3e-3; 0s noise 6.1 3e-3", seed);
        let (account, trace) = traced(&settings);
        assert_all_delivered(&settings, &account);
        let cut = run(&noisy("0s cut 5.0; 0s cut 6.1", seed));
        let (noisy, cut) = (p99(&account.latencies), p99(&cut.latencies));
        // Until the links are given up some packets wait: no more than one in a hundred, or nearly.
        assert!(noisy < 500_000_000, "{}: {noisy} ns", settings.command());
        as_good += usize::from(noisy < 2 * cut);
        let down = events(&trace, "link-down");
        let given_up = down
            .iter()
            .filter(|event| event["reason"] == "stuck" || event["reason"] == "ended");
        let times = given_up.count();
        let command = settings.command();
        assert!((1..40).contains(&times), "{command}: given up {times} times");
    }
    assert!(as_good >= 3, "only {as_good} of 5 are as good as with the cables cut");
}

/// Where every wire is as bad as that, nothing is sent or delivered that is older than the lifetime of a packet and the time
/// after which a frame on the way is stuck.
#[test]
fn nothing_is_retransmitted_after_its_time() {
    const OLDEST: f64 = 6.0 + 0.5 + 1.0;
    let settings = on("torus(4,4) --ber 0.003 --packets 600 --payload 200 --rate 10 --seed 1");
    let (_, trace) = traced(&settings);
    let name = |event: &Value| event["packet"].to_string();
    let accepted = events(&trace, "accepted");
    let begun = accepted.iter().map(|event| (name(event), seconds(event)));
    let begun: std::collections::HashMap<String, f64> = begun.collect();
    let mut looked_at = 0;
    for what in ["sent", "delivered"] {
        for event in events(&trace, what) {
            if let Some(begun) = begun.get(&name(&event)) {
                let age = seconds(&event) - begun;
                assert!(age <= OLDEST, "{}: {age:.1} s old: {event}", settings.command());
                looked_at += 1;
            }
        }
    }
    assert!(looked_at > 500, "{looked_at}");
}

/// More than the mesh carries, for a long time: boards refuse each other all the time, but nobody takes that for a bad link.
#[test]
fn a_busy_neighbor_is_not_taken_for_a_bad_one() {
    let storms = [
        ("hypercube(5)", Traffic::BroadcastStorm, 4_000),
        ("rdn(ring(3),1)", Traffic::BroadcastStorm, 4_000),
        ("torus(4,4)", Traffic::Uniform, 20_000),
        ("heawood", Traffic::HotSpot { node: 0, share: 0.5 }, 10_000),
        ("ring(9)", Traffic::Uniform, 5_000),
    ];
    for (network, traffic, packets) in storms {
        let settings = on(&format!(
            "{network} --traffic {traffic} --packets {packets} --payload 200 --rate 2000"
        ));
        let (_, trace) = traced(&settings);
        let down = events(&trace, "link-down");
        // In a storm of broadcasts on many wires a neighbor may take nothing for longer than any packet lives.
        let most = if network == "hypercube(5)" { 10 } else { 0 };
        let (count, command) = (down.len(), settings.command());
        assert!(count <= most, "{command}: {count} of {:?}", down[0]);
    }
}
