//! Boards and cables that are wrong from the beginning: packets go round them, and what is wrong is said.

use std::collections::HashMap;

use hopwise_core::Network;
use hopwise_language::Traffic;
use hopwise_sim::Settings;
use hopwise_sim::run::Account;
use hopwise_testing::networks;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde_json::Value;

use crate::{also, cuts, events, flag, on, run, traced};

const NETWORK: &str = "rdn(ring(3),1)";
const NODES: u64 = 18;

fn with(events: &str, traffic: Traffic) -> Settings {
    on(&format!("{NETWORK} --traffic {traffic} --events '{events}'"))
}

/// What no path leads to is reported, everything else arrives.
fn assert_detoured(settings: &Settings) -> Account {
    let account = run(settings);
    let tally = &account.tally;
    let command = settings.command();
    assert_eq!(tally.undeliverable, tally.cut_off, "{command}");
    assert_eq!(tally.delivered + tally.cut_off, tally.sent, "{command}");
    account
}

fn single_cables(network: &str) -> Vec<String> {
    let cables = cuts::cables(&network.parse().unwrap()).into_iter();
    cables.map(|(node, port, _)| format!("0s cut {node}.{port}")).collect()
}

/// A ring is the hardest case: the only other path leads past all nodes, and away from the destination at first.
#[test]
fn any_single_dead_cable_is_gone_round_in_all_kinds_of_networks() {
    assert_eq!(single_cables(NETWORK).len(), 27);
    let others = ["ring(6)", "ring(9)", "torus(4,4)"];
    for network in networks("small_of_each_paper").into_iter().chain(others) {
        for cable in single_cables(network) {
            for traffic in ["all-to-all", "all-to-all --confirmed", "ping-all", "broadcast"] {
                let settings = on(&format!("{network} --traffic {traffic} --events '{cable}'"));
                let tally = assert_detoured(&settings).tally;
                assert_eq!(tally.delivered, tally.sent, "{}", settings.command());
            }
        }
    }
}

#[test]
fn any_single_dead_board_is_gone_round() {
    for board in 0..NODES {
        let dead = format!("0s off {board}");
        for traffic in [Traffic::AllToAll, Traffic::PingAll] {
            let account = assert_detoured(&with(&dead, traffic));
            assert!(account.tally.cut_off > 0, "{dead}: nobody sent to it");
        }
        let confirmed = also(with(&dead, Traffic::AllToAll), "--confirmed");
        assert_detoured(&confirmed);
    }
}

/// With some boards dead, every live board that can be reached gets every broadcast, once.
fn assert_broadcasts_pass(network: &str, dead: &[u64]) {
    let off: Vec<String> = dead.iter().map(|board| format!("0s off {board}")).collect();
    let dead = with(&off.join("; "), Traffic::Broadcast);
    let settings = also(dead, &format!("--network {network}"));
    let tally = run(&settings).tally;
    let (found, command) = ((tally.delivered, tally.duplicated), settings.command());
    assert_eq!(found, (tally.sent, 0), "{command}: reached everyone, came twice");
}

/// Any single one, in small networks any two, and three that are drawn.
#[test]
fn up_to_three_dead_boards_keep_no_broadcast_from_anyone() {
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(3);
    for network in networks("small_of_each_family") {
        let nodes = network.parse::<Network>().unwrap().nodes();
        let mut all: Vec<Vec<u64>> = (0..nodes).map(|dead| vec![dead]).collect();
        let pairs = (1..nodes).flat_map(|second| (0..second).map(move |first| vec![first, second]));
        all.extend(pairs.filter(|_| nodes <= 32));
        for _ in 0..30 {
            let mut dead: Vec<u64> = (0..3).map(|_| draw.random_range(0..nodes)).collect();
            dead.sort_unstable();
            dead.dedup();
            all.push(dead);
        }
        all.par_iter().for_each(|dead| assert_broadcasts_pass(network, dead));
    }
}

/// A cable goes while everything is under way: confirmed packets and broadcasts arrive all the same.
#[test]
fn a_cable_may_go_at_any_time() {
    for cable in single_cables(NETWORK) {
        let pulled = cable.replace("0s", "520ms");
        for confirmed in ["--confirmed", ""] {
            let settings = also(with(&pulled, Traffic::AllToAll), confirmed);
            let tally = run(&settings).tally;
            assert_eq!(tally.delivered, tally.sent, "{}", settings.command());
        }
    }
}

const CUT_OFF: &str = "0s cut 5.0; 0s cut 5.1; 0s cut 5.2";

/// When each packet of a kind was accepted: by its node and number.
fn accepted(trace: &[u8], kind: &str) -> HashMap<(u64, u64), (f64, u64)> {
    let events = events(trace, "accepted")
        .into_iter()
        .filter(|event| event["packet"]["kind"] == kind);
    let entry = |event: &Value| {
        let id = (event["node"].as_u64()?, event["packet"]["number"].as_u64()?);
        Some((id, (event["t"].as_f64()?, event["dest"].as_u64()?)))
    };
    events.map(|event| entry(&event).unwrap()).collect()
}

/// SHALL: the sender of a confirmed packet to a part that is cut off is told within half of the time after which it would be
/// given up anyway, 12 s.
#[test]
fn a_partition_is_reported_long_before_the_deadline() {
    let settings = also(with(CUT_OFF, Traffic::AllToAll), "--confirmed --rate 20");
    let (account, trace) = traced(&settings);
    let accepted = accepted(&trace, "confirmed");
    let outcomes = events(&trace, "completed");
    let undeliverable = outcomes.iter().filter(|event| event["outcome"] == "undeliverable");
    let undeliverable: Vec<_> = undeliverable.collect();
    assert_eq!(undeliverable.len() as u64, account.tally.undeliverable);
    assert!(undeliverable.len() > 20);
    for event in undeliverable {
        let id = (event["node"].as_u64().unwrap(), event["number"].as_u64().unwrap());
        let (sent, dest) = accepted[&id];
        let took = event["t"].as_f64().unwrap() - sent;
        assert!(took < 6.0, "node {} was told after {took} s about {dest}", id.0);
        assert!(id.0 == 5 || dest == 5, "from {} to {dest}", id.0);
    }
}

/// SHALL: the sender of a datagram that no path leads to gets it back at once.
#[test]
fn a_datagram_that_cannot_arrive_is_reported_at_once() {
    let (account, trace) = traced(&also(with(CUT_OFF, Traffic::AllToAll), "--rate 20"));
    let drops = events(&trace, "dropped");
    assert_eq!(drops.len() as u64, account.tally.undeliverable);
    assert!(drops.len() > 20);
    let accepted = accepted(&trace, "datagram");
    for drop in &drops {
        let packet = &drop["packet"];
        let id = (packet["source"].as_u64().unwrap(), packet["number"].as_u64().unwrap());
        let took = drop["t"].as_f64().unwrap() - accepted[&id].0;
        assert_eq!(drop["reason"], "no-route");
        assert!(took < 0.1, "node {} would be told after {took} s", id.0);
    }
    let reports = events(&trace, "delivered")
        .into_iter()
        .filter(|event| event["packet"]["kind"] == "undeliverable");
    assert_eq!(reports.count(), drops.len());
}

#[test]
fn a_wire_that_is_dead_in_one_direction_is_reported_as_that() {
    // Node 3 does not hear node 4, which learns of it from node 3.
    let (account, trace) = traced(&with("0s one-way 3.0", Traffic::AllToAll));
    assert_eq!(account.tally.delivered, account.tally.sent);
    let down = events(&trace, "link-down");
    assert_eq!(down.len(), 1, "{down:?}");
    let found = (&down[0]["node"], &down[0]["link"], &down[0]["reason"]);
    assert_eq!(found, (&4.into(), &1.into(), &"one-way".into()));
}

#[test]
fn plugs_at_wrong_boards_are_reported_with_who_should_be_there_and_who_is() {
    let (account, trace) = traced(&with("0s swap 0.0 5.0", Traffic::AllToAll));
    assert_eq!(account.tally.delivered, account.tally.sent);
    let field = |event: &Value, name: &str| event[name].as_u64().unwrap();
    let names = ["node", "link", "expected", "found"];
    let found = events(&trace, "miswired");
    let mut found: Vec<[u64; 4]> = found.iter().map(|event| names.map(|name| field(event, name))).collect();
    found.sort_unstable();
    assert_eq!(found, [[0, 0, 1, 3], [1, 1, 0, 5], [3, 1, 5, 0], [5, 0, 3, 1]]);
}

#[test]
fn plugs_at_other_ports_of_the_same_board_do_no_harm() {
    let (account, trace) = traced(&with("0s swap 0.0 0.2; 0s swap 7.1 7.2", Traffic::AllToAll));
    assert_eq!(account.tally.delivered, account.tally.sent);
    assert_eq!(account.links_up, 54);
    assert_eq!(account.detours, 0);
    assert!(events(&trace, "miswired").is_empty());
}

#[test]
fn what_is_undone_leaves_nothing_behind() {
    for events in [
        "0s cut 3.0; 100ms plug 3.0",
        "0s reverse 3.0; 100ms plug 3.0",
        "0s one-way 3.0; 100ms both-ways 3.0",
        "0s one-way 3.0; 100ms plug 3.0",
        "0s stuck 3.0; 100ms both-ways 3.0",
        "0s noise 3.0 0.5; 100ms quiet 3.0",
        // It is over by itself.
        "0s burst 3.0 100ms",
    ] {
        let account = run(&also(with(events, Traffic::AllToAll), "--confirmed"));
        assert_eq!(account.tally.delivered, account.tally.sent, "{events}");
        assert_eq!((account.links_up, account.detours), (54, 0), "{events}");
    }
}

/// Plugs of two running pairs are exchanged, and no packet is taken for another's. What became of a broadcast that was on such a cable may be
/// unknown; it is not sent again.
#[test]
fn plugs_exchanged_while_all_is_under_way_lose_nothing() {
    for rate in [20.0, 400.0] {
        for (confirmed, traffic) in [
            (true, Traffic::AllToAll),
            (false, Traffic::AllToAll),
            (false, Traffic::Broadcast),
        ] {
            let plugs = with("520ms swap 0.0 5.0; 700ms swap 0.0 5.0; 750ms swap 1.2 9.0", traffic);
            let settings = also(plugs, &format!("--rate {rate} {}", flag("--confirmed", confirmed)));
            let tally = run(&settings).tally;
            let lost = tally.sent - tally.delivered;
            let may_lose = u64::from(settings.traffic == Some(Traffic::Broadcast));
            assert!(tally.sent > 0 && lost <= may_lose, "{}: {lost}", settings.command());
        }
    }
}

/// Cables cut, reversed, exchanged, noisy and tapped, boards dead and faulty: once all is restored, every service works between every pair.
#[test]
fn after_the_last_fault_everything_works_again() {
    for (network, more) in [
        (
            "ring(5)",
            "--events '0s cut 0.0; 1s reverse 2.1; 1s stuck 3.0; 2s off 4'",
        ),
        (
            "torus(3,3)",
            "--events '0s swap 0.0 4.1; 1s swap 4.1 7.2; 1s noise 3.0 0.1' --host '2' --pull-every 300ms",
        ),
        (
            "rdn(ring(3),1)",
            "--rogue 3:babble,7:flap,9:replay,11:flood --reset-every 500ms --read-late 50ms",
        ),
        (
            "hypercube(3)",
            "--key word+encrypt --tap 0.0,3.1 --rogue 5:lie --rogue-has-key --ber 1e-4",
        ),
        ("mesh(3,3)", "--events '1s off all' --baud 115200"),
        ("ring(4)", "--events '1s break 0.0 60s'"),
    ] {
        let settings = on(&format!("{network} --mixed --for 3s --rate 20 {more} --restore"));
        let account = run(&settings);
        let plain = run(&also(settings.clone(), "--restore false"));
        assert!(account.tally.sent >= plain.tally.sent + 9, "{}", settings.command());
    }
}
