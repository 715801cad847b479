//! Bits flip, cables are pulled and boards are reset, by seed: tables as snapshots.

use super::{TORTURED, printed};

/// All is accounted for: delivered once, interrupted by a restart of an end, or reported.
#[test]
fn torture_by_fifty_seeds() {
    let table = printed(&["sim", "scenarios/torture.toml", "--sum-seeds"]);
    for network in TORTURED {
        assert!(table.contains(network), "{network} is not in\n{table}");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn bit_errors_and_payloads() {
    insta::assert_snapshot!(printed(&["sim", "scenarios/ber-sweep.toml"]));
}
