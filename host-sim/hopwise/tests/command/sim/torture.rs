//! Bits flip, cables are pulled and boards are reset, by seed: tables as snapshots.

use hopwise_sim::settings::Settings;

use super::{on, printed, run};

/// All is accounted for: delivered once, interrupted by a restart of an end, or reported.
#[test]
fn torture_by_fifty_seeds() {
    insta::assert_snapshot!(printed(&["sim", "scenarios/torture.toml", "--sum-seeds"]));
}

#[test]
fn torture_of_192_nodes_by_fifty_seeds() {
    insta::assert_snapshot!(printed(&["sim", "scenarios/torture-large.toml", "--sum-seeds"]));
}

#[test]
fn bit_errors_and_payloads() {
    insta::assert_snapshot!(printed(&["sim", "scenarios/ber-sweep.toml"]));
}

/// Boards restart so often that senders know nobody's epoch: a packet delivered before a restart is not delivered again after it.
#[test]
fn nothing_arrives_twice_when_every_board_restarts_all_the_time() {
    for network in ["torus(3,3)", "re(ring(3),complete(3),1)"] {
        for seed in 1..=8 {
            let settings = Settings {
                confirmed: true,
                packets: Some(1_500),
                ber: Some(3e-4),
                reset_every: Some("100ms".parse().unwrap()),
                seed: Some(seed),
                ..on(network)
            };
            let tally = run(&settings).tally;
            assert!(tally.delivered > tally.sent / 2, "{}: {tally:?}", settings.command());
        }
    }
}
