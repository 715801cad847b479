//! Links and routers that fail: what can arrive arrives, the rest is counted as lost, and nothing locks up.

use crate::support::{Setup, network, without_times};
use hopwise_load::failures::FailurePlan;
use hopwise_load::measure::{self, Point};

fn run(setup: &Setup, plan: &FailurePlan) -> Point {
    let network = network(&setup.expression);
    let failures = plan.on(&network).unwrap();
    let mut experiment = setup.experiment(&network);
    experiment.failures = failures.as_ref();
    measure::run(&experiment).unwrap()
}

fn events(events: &str) -> FailurePlan {
    FailurePlan {
        events: events.into(),
        ..FailurePlan::default()
    }
}

fn setup(expression: &str) -> Setup {
    Setup {
        rate: 0.02,
        traffic: "uniform".parse().unwrap(),
        cycles: Some(20_480),
        ..Setup::new(expression)
    }
}

/// Round a ring with a cut link, packets go the long way; none is lost but those under way when it was cut.
#[test]
fn packets_go_round_a_cut_link() {
    let whole = run(&setup("ring(8)"), &events(""));
    assert_eq!((whole.hops_histogram.len(), whole.lost), (5, 0));
    let cut = run(&setup("ring(8)"), &events("0s cut 0.0"));
    assert_eq!((cut.hops_histogram.len(), cut.lost, cut.failed_links), (8, 0, 1));
    assert!(!cut.saturated);
    // Cut while it is measured, which begins after 3 batches of 1,024 cycles, and restored before the end.
    let for_a_time = run(
        &Setup {
            rate: 0.1,
            ..setup("ring(8)")
        },
        &events("6us cut 0.0; 9us plug 0.0"),
    );
    assert_eq!((for_a_time.hops_histogram.len(), for_a_time.failed_links), (8, 0));
    assert!((1..50).contains(&for_a_time.lost), "{}", for_a_time.lost);
    assert!(!for_a_time.saturated, "what is not lost arrives");
}

/// Of seven routers left of eight, everybody still reaches six others; every seventh packet is for the one that is off.
#[test]
fn packets_for_a_router_that_is_off_are_lost() {
    let point = run(&setup("hypercube(3)"), &events("0s off 5"));
    let made = point.packets_measured + point.lost;
    // Its own packets are lost too.
    let expected = made as f64 * (1.0 / 8.0 + 7.0 / 8.0 / 7.0);
    assert!(
        (point.lost as f64 / expected - 1.0).abs() < 0.1,
        "{} of {made}",
        point.lost
    );
    assert_eq!((point.failed_routers, point.saturated), (1, false));
    let back = run(&setup("hypercube(3)"), &events("0s off 5; 1us on 5"));
    assert_eq!((back.failed_routers, back.lost), (0, 0));
}

#[test]
fn chance_breaks_its_share_of_links() {
    let plan = FailurePlan {
        links: 0.1,
        routers: 0.02,
        events: String::new(),
    };
    let setup = setup("torus(16,16)");
    let point = run(&setup, &plan);
    assert!((30..75).contains(&point.failed_links), "{}", point.failed_links);
    assert!((1..16).contains(&point.failed_routers), "{}", point.failed_routers);
    assert!(point.lost > 0 && !point.saturated && point.deadlock.is_none());
    assert_eq!(
        without_times(point.clone()),
        without_times(run(&setup, &plan)),
        "the seed says what breaks"
    );
    let other = run(&Setup { seed: 2, ..setup }, &plan);
    assert_ne!(other.failed_links, point.failed_links);
}

/// Failures one after the other, far above what is carried: routes change, and nothing locks up.
#[test]
fn nothing_locks_up_while_links_fail() {
    use hopwise_load::parameters::Paths;
    for expression in ["torus(6,6)", "mesh(5,5)", "rdn(ring(4),1)", "petersen", "rcr(2,2,2)"] {
        for paths in [Paths::Rule, Paths::Valiant, Paths::Adaptive] {
            let setup = Setup {
                rate: 0.7,
                flits: 4,
                paths,
                ..setup(expression)
            };
            let script = "2us cut 0.0; 4us off 3; 6us cut 1.1; 7us plug 0.0; 9us on 3; 11us cut 2.0; 11us cut 4.1";
            let point = run(&setup, &events(script));
            assert_eq!(point.deadlock, None, "{expression} {paths:?}");
            assert!(
                point.accepted_rate > 0.01,
                "{expression} {paths:?}: {}",
                point.accepted_rate
            );
        }
    }
}

#[test]
fn failures_that_make_no_sense_are_refused_in_a_sentence() {
    let network = network("ring(8)");
    for (plan, sentence) in [
        (
            FailurePlan {
                links: 1.5,
                ..FailurePlan::default()
            },
            "the chance of a failure is from 0 to 1, not 1.5",
        ),
        (
            events("1us cut 9.0"),
            "the events, line 1: ring(8): there is no node 9: the network has nodes 0 to 7",
        ),
        (
            events("1us press 3"),
            "the events, line 1: 'press' cannot happen in a load; what can is cut, plug, off, on",
        ),
    ] {
        assert_eq!(plan.on(&network).unwrap_err().to_string(), sentence);
    }
}
