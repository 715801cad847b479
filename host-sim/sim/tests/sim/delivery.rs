//! Nothing is wrong: everything arrives once, and the same seed gives the same run.

use hopwise_testing::networks;

use crate::{TORTURED, assert_all_delivered, events, on, run, traced};

/// Conservation is checked by every run: each node's counters must account for what it holds, and none may be lost.
#[test]
fn all_patterns_are_delivered_once_on_every_small_network() {
    let patterns = "uniform ping-all hot-spot(0,0.3) permutation neighbors bit-complement tornado broadcast broadcast-storm all-to-all";
    for network in networks("small_of_each_paper") {
        for traffic in patterns.split(' ') {
            let settings = on(&format!("{network} --traffic {traffic}"));
            let account = run(&settings);
            assert_all_delivered(&settings, &account);
            let nodes = settings.run().unwrap().build.network.nodes();
            if traffic.starts_with("broadcast") {
                let expected = nodes * (nodes - 1);
                assert_eq!(account.tally.broadcast_deliveries, expected, "{}", settings.command());
            }
        }
    }
}

#[test]
fn confirmed_packets_are_all_confirmed() {
    for network in networks("small_of_each_paper") {
        let settings = on(&format!("{network} --traffic all-to-all --confirmed"));
        let (account, trace) = traced(&settings);
        assert_all_delivered(&settings, &account);
        let completed = events(&trace, "completed");
        assert_eq!(completed.len() as u64, account.tally.sent, "{network}");
        let all_delivered = completed.iter().all(|event| event["outcome"] == "delivered");
        assert!(all_delivered, "{network}");
    }
}

#[test]
fn senders_above_what_the_wires_carry_bring_nothing_to_a_halt() {
    for network in TORTURED {
        for traffic in ["uniform", "hot-spot(0,0.3)", "permutation", "all-to-all"] {
            for (confirmed, payload) in [(false, 200), (true, 200), (false, 4)] {
                let more = if confirmed { "--confirmed" } else { "" };
                let load = format!("--packets 1500 --rate 1e5 --payload {payload} {more}");
                let settings = on(&format!("{network} --traffic {traffic} {load}"));
                let account = run(&settings);
                if confirmed {
                    // When many confirmed packets crowd one node, some are not confirmed in time, and their senders know: none with
                    // most seeds, up to one in thirty with others.
                    let tally = &account.tally;
                    assert_eq!(tally.delivered + tally.undeliverable, 1_500, "{}", settings.command());
                    assert!(tally.undeliverable <= 60, "{}: {tally:?}", settings.command());
                } else {
                    assert_all_delivered(&settings, &account);
                }
            }
        }
    }
}

/// All nodes broadcast large packets as fast as they can: hardly a packet is kept waiting until it expires, and that is known.
#[test]
fn a_storm_of_broadcasts_starves_nobody() {
    let others = ["torus(4,4)", "re(ring(4),complete(3),1)", "ring(12)"];
    let small = networks("small_of_each_paper").into_iter().chain(others);
    for network in small {
        let settings = on(&format!(
            "{network} --traffic broadcast-storm --packets 1500 --rate 2e3 --payload 200"
        ));
        let tally = run(&settings).tally;
        assert_eq!(tally.delivered + tally.undeliverable, 1_500, "{}", settings.command());
        assert!(tally.undeliverable <= 15, "{}: {tally:?}", settings.command());
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let with_seed = |seed| {
        on(&format!(
            "rdn(ring(3),1) --packets 200 --rate 20 --confirmed --ber 1e-4 --pull-every 300ms --reset-every 500ms \
             --events '600ms noise 1.0 1e-3; 700ms stuck 2.0; 750ms swap 0.0 5.0; 900ms plug 2.0' --seed {seed}"
        ))
    };
    let (first, first_trace) = traced(&with_seed(1));
    let (again, trace_again) = traced(&with_seed(1));
    assert_eq!(first.trace_sha256, again.trace_sha256);
    assert!(first_trace == trace_again, "the traces differ");
    assert!(!events(&first_trace, "delivered").is_empty());
    assert_eq!(run(&with_seed(1)).trace_sha256, first.trace_sha256, "without a trace");
    let (other, other_trace) = traced(&with_seed(2));
    assert_ne!(first.trace_sha256, other.trace_sha256);
    assert!(first_trace != other_trace, "two seeds give one trace");
}
