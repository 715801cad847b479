//! One clock for the mesh: how well boards agree on it.

use crate::support::{elf, json};

/// Any two boards agree within ten microseconds; returns by how much they differ at most.
fn agree(args: &[&str]) -> f64 {
    let (status, report) = json(&[&["clock"], args, &["--json"]].concat());
    println!("hopwise clock {}: {report}", args.join(" "));
    let worst = |report: &serde_json::Value| report["worst_us"].as_f64().expect("a number");
    let after = report.get("after_failure").map_or(0.0, worst);
    assert_eq!((status, &report["without_time"]), (0, &0.into()), "{args:?}: {report}");
    assert!(worst(&report) > 0.0 && report["mean_us"].as_f64() < report["worst_us"].as_f64());
    worst(&report).max(after)
}

#[test]
fn simulated_boards_agree_quiet_and_under_load_and_after_failures() {
    assert!(agree(&["torus(4,4)", "--seeds", "3"]) <= 10.0);
    assert!(agree(&["rdn(ring(3),1)", "--load", "full", "--fail", "0"]) <= 10.0);
    assert!(agree(&["rdn(ring(3),1)", "--fail", "0-1", "--seed", "7"]) <= 10.0);
}

/// The firmware that people flash, on 18 boards, whose root fails.
#[test]
fn emulated_boards_agree_and_after_the_root_has_failed() {
    if let Some(elf) = elf() {
        let args = ["rdn(ring(3),1)", "--boards", "emulated", "--fail", "0", "--elf", elf];
        assert!(agree(&args) <= 10.0);
    }
}

#[test]
fn emulated_boards_agree_while_their_links_are_full() {
    if elf().is_some() {
        assert!(agree(&["ring(3)", "--boards", "emulated", "--load", "full"]) <= 10.0);
    }
}

#[test]
fn clocks_that_differ_by_more_than_said_fail_the_check() {
    let (status, report) = json(&["clock", "path(3)", "--within", "0.01", "--json"]);
    assert_eq!((status, &report["nodes"]), (1, &3.into()));
}
