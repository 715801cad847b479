//! Links and routers that fail: what can arrive arrives, the rest is counted as lost, and nothing locks up.

use crate::support::{network, point, without_times};
use hopwise_load::failures::FailurePlan;
use hopwise_testing::rows;

const CALM: &str = "--rate 0.02 --traffic uniform --cycles 20480";

/// Round a ring with a cut link, packets go the long way; none is lost but those under way when it was cut.
#[test]
fn packets_go_round_a_cut_link() {
    let whole = point(&format!("ring(8) {CALM}"));
    assert_eq!((whole.hops_histogram.len(), whole.lost), (5, 0));
    let cut = point(&format!("ring(8) {CALM} --events '0s cut 0.0'"));
    assert_eq!((cut.hops_histogram.len(), cut.lost, cut.failed_links), (8, 0, 1));
    assert!(!cut.saturated);
    // Cut while it is measured, which begins after 3 batches of 1,024 cycles, and restored before the end.
    let events = "6us cut 0.0; 9us plug 0.0";
    let for_a_time = point(&format!("ring(8) {CALM} --rate 0.1 --events '{events}'"));

    assert_eq!((for_a_time.hops_histogram.len(), for_a_time.failed_links), (8, 0));
    assert!((1..50).contains(&for_a_time.lost), "{}", for_a_time.lost);
    assert!(!for_a_time.saturated, "what is not lost arrives");
}

/// Of seven routers left of eight, everybody still reaches six others; every seventh packet is for the one that is off.
#[test]
fn packets_for_a_router_that_is_off_are_lost() {
    let off = point(&format!("hypercube(3) {CALM} --events '0s off 5'"));
    let made = off.packets_measured + off.lost;
    // Its own packets are lost too.
    let expected = made as f64 * (1.0 / 8.0 + 7.0 / 8.0 / 7.0);
    assert!((off.lost as f64 / expected - 1.0).abs() < 0.1, "{} of {made}", off.lost);
    assert_eq!((off.failed_routers, off.saturated), (1, false));
    let back = point(&format!("hypercube(3) {CALM} --events '0s off 5; 1us on 5'"));
    assert_eq!((back.failed_routers, back.lost), (0, 0));
}

#[test]
fn chance_breaks_its_share_of_links() {
    let line = format!("torus(16,16) {CALM} --link-failures 0.1 --router-failures 0.02");
    let first = point(&line);
    assert!((30..75).contains(&first.failed_links), "{}", first.failed_links);
    assert!((1..16).contains(&first.failed_routers), "{}", first.failed_routers);
    assert!(first.lost > 0 && !first.saturated && first.deadlock.is_none());
    let found = without_times(first.clone());
    assert_eq!(found, without_times(point(&line)), "the seed says what breaks");
    let other = point(&format!("{line} --seed 2"));
    assert_ne!(other.failed_links, first.failed_links);
}

/// Failures one after the other, far above what is carried: routes change, and nothing locks up.
#[test]
fn nothing_locks_up_while_links_fail() {
    for expression in ["torus(6,6)", "mesh(5,5)", "rdn(ring(4),1)", "petersen", "rcr(2,2,2)"] {
        for paths in ["rule", "valiant", "adaptive"] {
            let script = "2us cut 0.0; 4us off 3; 6us cut 1.1; 7us plug 0.0; 9us on 3; 11us cut 2.0; 11us cut 4.1";
            let options = format!("--rate 0.7 --packet-flits 4 --paths {paths}");
            let point = point(&format!("{expression} {CALM} {options} --events '{script}'"));
            assert_eq!(point.deadlock, None, "{expression} {paths}");
            let accepted = point.accepted_rate;
            assert!(accepted > 0.01, "{expression} {paths}: {accepted}");
        }
    }
}

#[test]
fn failures_that_make_no_sense_are_refused_in_a_sentence() {
    let network = network("ring(8)");
    for (plan, sentence) in rows(
        "
        1.5 => the chance of a failure is from 0 to 1, not 1.5
        0.0 1us cut 9.0 => the events, line 1: ring(8): there is no node 9: the network has nodes 0 to 7
        0.0 1us press 3 => the events, line 1: 'press' cannot happen in a load; what can is cut, plug, off, on
        ",
    ) {
        let (links, events) = plan.split_once(' ').unwrap_or((&plan, ""));
        let plan = FailurePlan {
            links: links.parse().unwrap(),
            events: events.into(),
            ..FailurePlan::default()
        };

        assert_eq!(plan.on(&network).unwrap_err().to_string(), sentence);
    }
}
