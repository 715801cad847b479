//! Bits flip, cables are pulled and boards are reset, by seed: tables as snapshots.

use super::printed;

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
