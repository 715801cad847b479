//! Many more faults by seed: minutes.

#[allow(dead_code, reason = "the usual run uses the rest")]
mod faults;
mod support;

#[test]
fn many_seeds_of_faults() {
    faults::all(1_000..1_400);
}
