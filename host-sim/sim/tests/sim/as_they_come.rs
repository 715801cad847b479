//! Faults as they come: breaks in the midst of frames, clocks that differ, outages of any length, power that fails everywhere.

use std::fmt::Write as _;

use hopwise_sim::Settings;
use hopwise_sim::oracle::Exception;
use hopwise_sim::report::Report;

use crate::{assert_all_delivered, on, run};

/// A line that is held low destroys what is under way: it is retransmitted, and nothing is lost.
#[test]
fn breaks_destroy_frames_and_lose_nothing() {
    let busy = Settings {
        packets: Some(4_000),
        rate: Some(400.0),
        payload: Some(100),
        ..on("ring(4)")
    };
    let quiet = run(&busy);
    assert_eq!(quiet.retransmissions, 0);
    for length in ["", " 500us"] {
        let mut events = String::new();
        for number in 0..2_000_u32 {
            let (board, port) = (number % 4, number / 4 % 2);
            let _ = write!(events, "{}us break {board}.{port}{length}; ", 500_000 + number * 900);
        }
        let settings = Settings {
            events: Some(events),
            ..busy.clone()
        };
        let account = run(&settings);
        assert_all_delivered(&settings, &account);
        assert!(account.retransmissions > 500, "{length}: {}", account.retransmissions);
    }
}

/// Nobody sends for minutes, and that is no halt.
#[test]
fn a_slow_sender_is_no_false_alarm() {
    let settings = Settings {
        rate: Some(0.01),
        packets: Some(6),
        seed: Some(3),
        ..on("ring(4)")
    };
    assert_all_delivered(&settings, &run(&settings));
}

/// What a node reports to a board that takes nothing wanders about, and comes by the node again: it has still been reported once.
#[test]
fn a_report_that_comes_back_is_no_false_alarm() {
    let settings = Settings {
        drift: Some(170.0),
        events: Some("0s off 2; 24ms on 2".into()),
        duration: Some("2551ms".parse().unwrap()),
        mixed: true,
        payload: Some(37),
        rate: Some(9.8),
        rogue: Some("15:refuse,4:lie".into()),
        seed: Some(981),
        traffic: Some("neighbors".parse().unwrap()),
        ..on("root-folded(ring(4),2)")
    };
    let account = run(&settings);
    assert!(account.tally.sent > 200, "{}", account.tally.sent);
}

#[test]
fn a_run_whose_faults_met_no_traffic_says_so() {
    let remark = |settings: &Settings| Report::new(settings, &settings.run().unwrap(), &run(settings)).remark;
    let readme = Settings {
        confirmed: true,
        ber: Some(1e-4),
        pull_every: Some("1s".parse().unwrap()),
        ..on("rdn(ring(3),1)")
    };
    let said = remark(&readme).unwrap();
    assert!(said.starts_with("no fault met any traffic: it was over at "), "{said}");
    let longer = Settings {
        duration: Some("5s".parse().unwrap()),
        rate: Some(20.0),
        ..readme
    };
    assert_eq!(remark(&longer), None);
    let cut = Settings {
        events: Some("0s cut 0.0".into()),
        ..on("ring(4)")
    };
    assert_eq!(remark(&cut), None);
}

#[test]
fn packets_are_sent_for_a_time() {
    let settings = Settings {
        duration: Some("3s".parse().unwrap()),
        rate: Some(50.0),
        ..on("ring(6)")
    };
    let account = run(&settings);
    assert_all_delivered(&settings, &account);
    assert!((800..1_000).contains(&account.tally.sent), "{}", account.tally.sent);
    assert!(
        (3.4..3.6).contains(&account.virtual_seconds),
        "{}",
        account.virtual_seconds
    );
}

/// Boards share no clock, timers come late, frames are looked at late: all arrives, and later.
#[test]
fn clocks_may_differ_and_be_late() {
    let plain = on("torus(4,4)");
    let with = |drift: Option<f64>, jitter: Option<&str>, confirmed: bool| {
        let settings = Settings {
            drift,
            jitter: jitter.map(|jitter| jitter.parse().unwrap()),
            confirmed,
            ..plain.clone()
        };
        let account = run(&settings);
        assert_all_delivered(&settings, &account);
        account
    };
    for confirmed in [false, true] {
        let median = |latencies: &[u64]| latencies[latencies.len() / 2];
        let exact = with(None, None, confirmed);
        let drifting = with(Some(200.0), None, confirmed);
        let late = with(Some(200.0), Some("1ms"), confirmed);
        assert_ne!(exact.trace_sha256, drifting.trace_sha256);
        assert!(median(&late.latencies) > median(&exact.latencies) + 500_000);
    }
}

/// The power fails everywhere and comes back: what was under way is gone, what is sent then arrives, with other epochs.
#[test]
fn the_power_may_fail_everywhere() {
    for confirmed in [false, true] {
        let settings = Settings {
            confirmed,
            duration: Some("3s".parse().unwrap()),
            rate: Some(40.0),
            events: Some("1s off all; 1500ms on all; 2s off 3,4,5; 2100ms on 3,4,5; 2500ms reset all".into()),
            ..on("rdn(ring(3),1)")
        };
        let tally = run(&settings).tally;
        assert!(tally.sent > 1_000, "{}", tally.sent);
        assert!(tally.delivered > tally.sent * 8 / 10, "{tally:?}");
    }
    let for_good = Settings {
        events: Some("800ms off all".into()),
        duration: Some("3s".parse().unwrap()),
        rate: Some(40.0),
        ..on("ring(5)")
    };
    assert!(run(&for_good).tally.sent > 0);
}

/// What is not delivered has a reason that is named and counted.
#[test]
fn exceptions_are_counted_by_name() {
    let settings = Settings {
        duration: Some("4s".parse().unwrap()),
        rate: Some(20.0),
        events: Some("0s off 3".into()),
        ..on("ring(6)")
    };
    let tally = run(&settings).tally;
    assert!(tally.cut_off > 20, "{tally:?}");
    assert_eq!(tally.exceptions[Exception::CutOff as usize], tally.cut_off);
    assert_eq!(tally.exceptions.iter().sum::<u64>(), tally.sent - tally.delivered);
}
