//! Faults as they come: breaks in the midst of frames, clocks that differ, outages of any length, power that fails everywhere.

use std::fmt::Write as _;

use hopwise_sim::Settings;
use hopwise_sim::oracle::Exception;
use hopwise_sim::report::Report;

use crate::{also, assert_all_delivered, on, run};

/// A line that is held low destroys what is under way: it is retransmitted, and nothing is lost.
#[test]
fn breaks_destroy_frames_and_lose_nothing() {
    let busy = on("ring(4) --packets 4000 --rate 400 --payload 100");
    let quiet = run(&busy);
    assert_eq!(quiet.retransmissions, 0);
    for length in ["", " 500us"] {
        let mut events = String::new();
        for number in 0..2_000_u32 {
            let (board, port) = (number % 4, number / 4 % 2);
            let _ = write!(events, "{}us break {board}.{port}{length}; ", 500_000 + number * 900);
        }
        let settings = also(busy.clone(), &format!("--events '{events}'"));
        let account = run(&settings);
        assert_all_delivered(&settings, &account);
        assert!(account.retransmissions > 500, "{length}: {}", account.retransmissions);
    }
}

#[test]
fn a_run_whose_faults_met_no_traffic_says_so() {
    let remark = |settings: &Settings| Report::new(settings, &settings.run().unwrap(), &run(settings), 0.0).remark;
    let readme = on("rdn(ring(3),1) --confirmed --ber 1e-4 --pull-every 1s");
    let said = remark(&readme).unwrap();
    assert!(said.starts_with("no fault met any traffic: it was over at "), "{said}");
    let longer = also(readme, "--for 5s --rate 20");
    assert_eq!(remark(&longer), None);
    let cut = on("ring(4) --events '0s cut 0.0'");
    assert_eq!(remark(&cut), None);
}

#[test]
fn packets_are_sent_for_a_time() {
    let settings = on("ring(6) --for 3s --rate 50");
    let account = run(&settings);
    assert_all_delivered(&settings, &account);
    assert!((800..1_000).contains(&account.tally.sent), "{}", account.tally.sent);
    let seconds = account.virtual_seconds;
    assert!((3.4..3.6).contains(&seconds), "{seconds}");
}

/// Boards share no clock, timers come late, frames are looked at late: all arrives, and later.
#[test]
fn clocks_may_differ_and_be_late() {
    let with = |more: &str| {
        let settings = on(&format!("torus(4,4) {more}"));
        let account = run(&settings);
        assert_all_delivered(&settings, &account);
        account
    };
    for confirmed in ["", "--confirmed"] {
        let median = |latencies: &[u64]| latencies[latencies.len() / 2];
        let exact = with(confirmed);
        let drifting = with(&format!("--drift 200 {confirmed}"));
        let late = with(&format!("--drift 200 --jitter 1ms {confirmed}"));
        assert_ne!(exact.trace_sha256, drifting.trace_sha256);
        assert!(median(&late.latencies) > median(&exact.latencies) + 500_000);
    }
}

/// The power fails everywhere and comes back: what was under way is gone, what is sent then arrives, with other epochs.
#[test]
fn the_power_may_fail_everywhere() {
    let events = "1s off all; 1500ms on all; 2s off 3,4,5; 2100ms on 3,4,5; 2500ms reset all";
    for confirmed in ["", "--confirmed"] {
        let settings = on(&format!(
            "rdn(ring(3),1) {confirmed} --for 3s --rate 40 --events '{events}'"
        ));
        let tally = run(&settings).tally;
        assert!(tally.sent > 1_000, "{}", tally.sent);
        assert!(tally.delivered > tally.sent * 8 / 10, "{tally:?}");
    }
    let for_good = on("ring(5) --events '800ms off all' --for 3s --rate 40");
    assert!(run(&for_good).tally.sent > 0);
}

#[test]
fn exceptions_are_counted_by_name() {
    let settings = on("ring(6) --for 4s --rate 20 --events '0s off 3'");
    let tally = run(&settings).tally;
    assert!(tally.cut_off > 20, "{tally:?}");
    assert_eq!(tally.exceptions[Exception::CutOff as usize], tally.cut_off);
    assert_eq!(tally.exceptions.iter().sum::<u64>(), tally.sent - tally.delivered);
}
