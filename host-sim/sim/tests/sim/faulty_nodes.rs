//! One board misbehaves: what it costs the others. See `docs/containment.md`.

use std::collections::BTreeMap;

use hopwise_core::{Network, Node, Rule};
use hopwise_node::wire::PacketId;
use hopwise_sim::Settings;
use hopwise_sim::faulty_node::Misbehavior;
use hopwise_sim::run::Account;

use super::{also, events, flag, on, run, traced};

const NETWORKS: [&str; 3] = ["rdn(ring(3),1)", "torus(4,4)", "hypercube(5)"];
const FAULTY: Node = 4;
const SECOND: u64 = 1_000_000_000;

/// A network in which board 4 is a faulty node, and the others send to each other.
fn with(kind: Misbehavior, network: &str, confirmed: bool) -> Settings {
    let (kind, confirmed) = (kind.name(), flag("--confirmed", confirmed));
    on(&format!("{network} --rogue {FAULTY}:{kind} --packets 4000 {confirmed}"))
}

/// Nobody waits for longer than this to send, and nobody's log is flooded.
fn assert_contained(settings: &Settings, account: &Account, longest: u64) {
    let command = settings.command();
    let waited = account.longest_refusal;
    let waited_ms = waited / 1_000_000;
    assert!(waited <= longest, "{command}: nothing was taken for {waited_ms} ms");
    // A link is told as up, as damaged a few times at once and once a second, and as down and up again ever less often.
    let most = 20.0 + 3.0 * account.virtual_seconds;
    let (events, seconds) = (account.link_events, account.virtual_seconds);
    assert!(
        events as f64 <= most,
        "{command}: {events} link events at a node in {seconds:.1} s"
    );
}

/// Of what honest boards send each other one in a hundred may be lost.
fn assert_nearly_all_arrive(settings: &Settings) {
    let account = run(settings);
    let share = account.tally.innocent_delivered as f64 / account.tally.innocent_sent as f64;
    assert!(share >= 0.99, "{}: {:.2}%", settings.command(), 100.0 * share);
    assert_contained(settings, &account, SECOND);
}

#[test]
fn confirmed_packets_get_past_every_faulty_node() {
    for network in NETWORKS {
        for kind in Misbehavior::ALL {
            let settings = with(kind, network, true);
            let account = run(&settings);
            assert_eq!(account.tally.innocent_sent, 4_000, "{}", settings.command());
            // A liar that guesses the number of the next packet is accepted: nobody can tell without keys.
            let guessed = if kind == Misbehavior::Lie { 20 } else { 0 };
            let missing = 4_000 - account.tally.innocent_delivered;
            assert!(missing <= guessed, "{}: {missing} did not arrive", settings.command());
            // A hole is not noticed: what it swallowed is waited for.
            let longest = if kind == Misbehavior::Hole { 3 } else { 1 };
            assert_contained(&settings, &account, longest * SECOND);
        }
    }
}

/// Neither what was sent to one destination, nor searches and confirmations that wait for the faulty node, hold up anyone.
#[test]
fn nobody_waits_long_for_a_board_that_refuses_everything() {
    for seed in 1..=8 {
        for network in NETWORKS {
            let settings = also(with(Misbehavior::Refuse, network, true), &format!("--seed {seed}"));
            assert_contained(&settings, &run(&settings), SECOND / 2);
        }
    }
}

#[test]
fn datagrams_get_past_every_faulty_node_that_can_be_noticed() {
    for network in NETWORKS {
        for kind in Misbehavior::ALL.into_iter().filter(|&kind| kind != Misbehavior::Hole) {
            assert_nearly_all_arrive(&with(kind, network, false));
        }
    }
}

/// A hole cannot be told from a board that works: datagrams on routes through it are lost, and no others.
#[test]
fn a_hole_costs_the_datagrams_that_pass_it_and_no_others() {
    for network in NETWORKS {
        let settings = with(Misbehavior::Hole, network, false);
        let (account, trace) = traced(&settings);
        let parsed: Network = network.parse().unwrap();
        let came: Vec<PacketId> = packets(&trace, "delivered", "node").map(|(_, packet)| packet).collect();
        let mut lost = 0;
        let accepted = packets(&trace, "accepted", "dest");
        for (dest, packet) in accepted.filter(|(_, packet)| !came.contains(packet)) {
            let command = settings.command();
            assert!(
                dest == FAULTY || route(&parsed, packet.source, dest).contains(&FAULTY),
                "{command}: {packet:?} to {dest}"
            );
            lost += 1;
        }
        let as_many = lost > 0 && lost == account.tally.interrupted;
        assert!(as_many, "{}: {lost}", settings.command());
        assert_contained(&settings, &account, SECOND);
    }
}

/// The nodes of a route but the last.
fn route(network: &Network, from: Node, to: Node) -> Vec<Node> {
    let next = |&here: &Node| network.next_hop(here, to, Rule::Exact).ok();
    std::iter::successors(Some(from), next)
        .take_while(|&here| here != to)
        .collect()
}

/// The packets of all events of a name in a trace, with the board where it happened, or another one that the event names.
fn packets(trace: &[u8], name: &str, board: &str) -> impl Iterator<Item = (Node, PacketId)> {
    events(trace, name).into_iter().map(move |event| {
        let packet = serde_json::from_value(event["packet"].clone()).unwrap();
        (event[board].as_u64().unwrap(), packet)
    })
}

#[test]
fn broadcasts_get_past_faulty_nodes_that_can_be_noticed() {
    for network in NETWORKS {
        for kind in [
            Misbehavior::Babble,
            Misbehavior::Flood,
            Misbehavior::Flap,
            Misbehavior::Replay,
        ] {
            let broadcasts = "--traffic broadcast --packets 400 --rate 5";
            assert_nearly_all_arrive(&also(with(kind, network, false), broadcasts));
        }
    }
}

/// What a liar makes up reaches applications, is counted, and is no exception for anything else.
#[test]
fn lies_are_counted() {
    let account = run(&with(Misbehavior::Lie, "torus(4,4)", false));
    assert!(account.tally.forged > 100, "{}", account.tally.forged);
    assert_eq!(account.tally.corrupted, 0);
    let honest = run(&on("torus(4,4)"));
    assert_eq!(honest.tally.forged, 0);
}

/// More is sent to a board than its wires bring. Of the sources that come in by the same wire none has more than twice as much as
/// another, near or far. `--nocapture` shows what each has.
#[test]
fn a_hot_spot_serves_its_sources_alike() {
    for network in ["rdn(ring(3),1)", "torus(4,4)", "hypercube(5)", "ring(12)"] {
        for (confirmed, payload, seeds) in [(false, 32, 1), (false, 200, 1), (true, 32, 3), (true, 200, 3)] {
            let mut by_wire: BTreeMap<u64, BTreeMap<u64, usize>> = BTreeMap::new();
            let mut command = String::new();
            for seed in 1..=seeds {
                let (packets, more) = (16_000 / seeds, if confirmed { "--confirmed" } else { "" });
                let load = format!("--packets {packets} --rate 3200 --payload {payload} --seed {seed}");
                let settings = on(&format!("{network} --traffic hot-spot(0,1) {load} {more}"));
                let (account, trace) = traced(&settings);
                command = settings.command();
                assert_eq!(account.tally.delivered, 16_000 / seeds, "{command}");
                for (wire, sources) in arrivals(&network.parse().unwrap(), &trace) {
                    for (source, count) in sources {
                        *by_wire.entry(wire).or_default().entry(source).or_default() += count;
                    }
                }
            }
            let ratio = |counts: &BTreeMap<u64, usize>| {
                *counts.values().max().unwrap() as f64 / *counts.values().min().unwrap() as f64
            };
            let worst = by_wire.values().map(ratio).fold(1.0, f64::max);
            println!("{command}: {worst:.2} times as much; by neighbor and source {by_wire:?}");
            assert!(
                worst <= 2.0,
                "{command}: {worst:.2} times as much as another by the same neighbor: {by_wire:?}"
            );
        }
    }
}

/// How many packets of each source came to node 0 while all were sending, by the neighbor that brings them.
fn arrivals(network: &Network, trace: &[u8]) -> BTreeMap<Node, BTreeMap<Node, usize>> {
    let here = packets(trace, "delivered", "node").filter(|&(node, _)| node == 0);
    let all: Vec<Node> = here.map(|(_, packet)| packet.source).collect();
    // The first and the last arrive while not all send.
    let busy = &all[all.len() / 10..all.len() * 9 / 10];
    let mut by_wire: BTreeMap<Node, BTreeMap<Node, usize>> = BTreeMap::new();
    for source in 1..network.nodes() {
        let count = busy.iter().filter(|&&from| from == source).count();
        let sources = by_wire.entry(*route(network, source, 0).last().unwrap()).or_default();
        sources.insert(source, count);
    }
    by_wire
}
