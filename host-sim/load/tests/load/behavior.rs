//! What the simulator guarantees: every packet arrives, the same seed gives the same run, no network of the papers locks up,
//! and if one is made to, the cycle is named.

use crate::support::{assert_flows, network, point, without_times};
use hopwise_language::Traffic;
use hopwise_testing::networks;
use proptest::prelude::*;

#[test]
fn same_seed_same_run() {
    let line = "rdn(ring(5),1) --rate 0.2 --cycles 10240";
    let first = without_times(point(line));
    assert_eq!(first, without_times(point(line)));
    assert_ne!(first, without_times(point(&format!("{line} --seed 2"))));
}

#[test]
fn as_many_cycles_are_measured_as_said() {
    let measured = point("ring(8) --rate 0.1 --cycles 100").packets_measured;
    assert!((50..120).contains(&measured), "{measured} packets");
}

/// Far above what they can carry, with packets longer than a buffer, packets keep arriving.
#[test]
fn no_network_locks_up_under_overload() {
    for expression in networks("overloaded") {
        for (rule, flits) in [("exact", 1), ("exact", 12), ("paper", 3)] {
            assert_flows(expression, &format!("--rule {rule}"), flits);
        }
    }
}

#[test]
fn watchdog_names_the_cycle() {
    let line = "ring(8) --rate 0.9 --packet-flits 4";
    let limited = point(&format!("{line} --class-limit 1"));
    let cycle = limited.deadlock.expect("a ring with one class of buffers locks up");
    assert!(cycle.starts_with("deadlock: node "), "{cycle}");
    // The cycle closes, and neighbors on it are neighbors on the ring, or the same node.
    let parts = cycle.split("node ").skip(1);
    let nodes = parts.map(|part| part.split(' ').next()?.parse().ok());
    let nodes: Vec<i64> = nodes.flatten().collect();
    assert!(nodes.len() > 8 && nodes.first() == nodes.last(), "{cycle}");
    for pair in nodes.windows(2) {
        assert!([0, 1, 7].contains(&(pair[1] - pair[0]).rem_euclid(8)), "{cycle}");
    }
    assert_eq!(point(line).deadlock, None);
}

#[test]
fn every_pattern_is_carried_at_low_load() {
    let patterns = "uniform uniform-with-self transpose bit-complement bit-reverse shuffle tornado permutation \
                    hot-spot(3,0.2) neighbors all-to-all";
    for name in patterns.split_whitespace() {
        let traffic: Traffic = name.parse().unwrap();
        assert_eq!(traffic.to_string(), name);
        let point = point(&format!("torus(8,8) --traffic {traffic} --rate 0.02"));
        let (accepted, mean) = (point.accepted_rate, point.latency_mean);
        let is_near = (accepted / 0.02 - 1.0).abs() < 0.05;
        assert!(!point.saturated && is_near, "{name}: {accepted}");
        let least = 7.0 + 5.0 * point.hops_mean;
        assert!(mean >= least - 1e-9 && mean < 1.1 * least, "{name}: {mean}");
    }
}

#[test]
fn hops_are_those_of_the_pattern() {
    let hops = |name: &str, expression: &str| point(&format!("{expression} --traffic {name} --rate 0.02")).hops_mean;
    assert_eq!(hops("tornado", "torus(8,8)"), 6.0); // three steps in each dimension
    assert_eq!(hops("bit-complement", "hypercube(5)"), 5.0);
    assert_eq!(hops("neighbors", "rdn(petersen,1)"), 1.0);
    // The mean over all others; and over all nodes, if packets to oneself take no hop.
    for (name, mean) in [
        ("all-to-all", 32.0 / 15.0),
        ("uniform", 32.0 / 15.0),
        ("uniform-with-self", 2.0),
    ] {
        let hops = hops(name, "hypercube(4)");
        assert!((hops - mean).abs() < 0.03, "{name}: {hops}");
    }
}

#[test]
fn broadcasts_reach_every_other_node_once() {
    let point = point("rdn(ring(3),1) --traffic broadcast --rate 0.0005");
    assert!(!point.saturated);
    let copies = point.accepted_rate / point.offered_rate;
    let off = (copies - 17.0).abs();
    assert!(off < 0.3, "{copies} copies a broadcast in a network of 18 nodes");
}

#[test]
fn bursts_have_the_same_rate_and_wait_longer() {
    let line = "torus(8,8) --rate 0.1 --cycles 102400";
    let (steady, bursty) = (point(line), point(&format!("{line} --process bursty(50,0.6)")));
    let (rate, longer, mean) = (bursty.offered_rate, bursty.latency_mean, steady.latency_mean);
    assert!((rate / 0.1 - 1.0).abs() < 0.03, "{rate}");
    assert!(longer > 1.2 * mean, "{longer} {mean}");
}

/// A network too large for a table is routed packet by packet, to the same effect.
#[test]
fn large_networks_behave_like_small_ones() {
    for expression in ["torus(40,40)", "hypercube(11)", "re(ring(4),complete(3),5)"] {
        let network = network(expression);
        let nodes = network.nodes();
        let sources = (0..24).map(|i| i * nodes / 24 + i % 3);
        let pairs = sources.flat_map(|from| (0..nodes).map(move |to| (from, to)));
        let sum: u64 = pairs
            .map(|(from, to)| network.distance(from, to).unwrap().unwrap())
            .sum();
        let hops = sum as f64 / (24 * nodes) as f64;
        let point = point(&format!("{expression} --rate 0.001 --cycles 10240"));
        let (found, mean) = (point.hops_mean, point.latency_mean);
        assert!((found - hops).abs() < 0.3, "{expression}: {found} hops");
        let least = 7.0 + 5.0 * found;
        assert!(mean >= least && mean < 1.05 * least, "{expression}: {mean}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// At any load, with any lengths: nothing is lost, and no packet is faster than an empty network lets it be.
    #[test]
    fn packets_are_conserved(
        expression in prop::sample::select(vec!["ring(5)", "torus(4,3)", "star(6)", "rdn(ring(4),1)", "rcr(2,2,1)", "path(4)"]),
        flits in 1u32..10,
        load in 0.01f64..0.4,
        seed in any::<u64>(),
    ) {
        let rate = load / f64::from(flits);
        let point = point(&format!("{expression} --packet-flits {flits} --rate {rate} --seed {seed} --cycles 5120"));
        prop_assert!(point.deadlock.is_none());
        if !point.saturated {
            let least = 7.0 + 5.0 * point.hops_mean + f64::from(flits - 1);
            prop_assert!(point.latency_mean > least - 1e-6, "{} < {least}", point.latency_mean);
            let made = point.offered_rate * 5_120.0 * point.nodes as f64;
            prop_assert_eq!(point.packets_measured, made.round() as u64);
        }
    }
}

#[test]
fn an_interval_that_is_not_known_is_null() {
    let short = point("ring(12) --cycles 160 --batch-bits 4");
    let interval = short.latency_ci95;
    assert_eq!(interval, None, "batches of 16 cycles tell nothing of latencies of 20");
    assert!(serde_json::to_string(&short).unwrap().contains("\"latency_ci95\":null"));
    let overloaded = point("ring(12) --rate 0.9");
    assert_eq!((overloaded.saturated, overloaded.latency_ci95), (true, None));
    let long = point("ring(12)");
    let is_small = |half| half > 0.0 && half < 0.05 * long.latency_mean;
    assert!(long.latency_ci95.is_some_and(is_small), "{long:?}");
}

/// Of intervals that are to hold the mean 95 times in 100, most do. Near saturation, where latencies of neighboring packets are most
/// alike, too short batches would show.
#[test]
fn intervals_hold_the_mean() {
    const RUNS: u64 = 40;
    let line = "torus(4,4) --rate 0.4";
    let truth = point(&format!("{line} --seed 1000 --cycles {}", 1 << 20)).latency_mean;
    let holds = |seed: &u64| {
        let point = point(&format!("{line} --seed {seed} --precision 0.01"));
        (point.latency_mean - truth).abs() <= point.latency_ci95.expect("it is carried")
    };
    let held = (1..=RUNS).filter(holds).count();
    assert!(held >= 33, "{held} of {RUNS} intervals hold {truth}");
}

/// All networks have the same memory, however many channels they need.
#[test]
fn buffers_can_be_equal() {
    for (expression, channels) in [("torus(4,4)", 2), ("hypercube(4)", 2), ("petersen", 3)] {
        let usual = point(expression);
        let found = (usual.virtual_channels, usual.buffer_bytes);
        assert_eq!(found, (channels, 8 * 8 * u64::from(channels)), "{expression}");
        let equal = point(&format!("{expression} --link-buffers 24"));
        assert_eq!(equal.buffer_bytes, 24 * 8, "{expression}");
    }
}
