//! Meshes of hundreds of emulated boards, and many power cuts: `cargo test -p hopwise --test boards-long -- --nocapture`, some minutes.

#[allow(dead_code, reason = "the tests of boards use the rest")]
mod firmware_power;
#[allow(dead_code, reason = "the tests of boards use the rest")]
mod firmware_support;
#[allow(dead_code, reason = "the tests of boards use the rest")]
mod next_hop;

use next_hop::a_next_hop_takes_at_most;

#[test]
fn instructions_for_a_next_hop_among_648_boards() {
    a_next_hop_takes_at_most(150, "rdn(ring(3),2)");
}

#[test]
fn instructions_for_a_next_hop_among_1024_boards() {
    a_next_hop_takes_at_most(400, "re(ring(4),ring(4),4)");
}

/// A board each, with 200 power cuts.
#[test]
fn power_fails_two_thousand_times() {
    firmware_power::many_power_cuts(10);
}
