//! The firmware on meshes of emulated boards: everything arrives, and faults are survived.

#[allow(dead_code, reason = "each test uses a part of it")]
mod firmware_support;

use firmware_support::{Rig, firmware};
use hopwise::emulate::check::path;
use hopwise::emulate::computers::Question;
use hopwise::emulate::setup::LINKS;
use hopwise::host_port::Reply;
use hopwise_core::board::{Command, Done, Pattern, Traffic, TrafficReport};
use hopwise_core::node::{LinkReport, Query, hops_of_trace};
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_emulator::world::{Action, Port, Script};

/// Everything that `hopwise emulate --check` looks at.
fn checks_out(expression: &str) {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::new(firmware, expression);
    let report = rig.check();
    assert!(report.passed(), "{expression}: {:#?}", report.findings);
    let nodes = rig.network.nodes();
    let pairs = nodes * (nodes - 1);
    assert_eq!((report.pings, report.pongs), (pairs, pairs), "{expression}");
    assert_eq!(
        (report.traces, report.paths_as_computed),
        (pairs, pairs),
        "{expression}"
    );
    assert_eq!(
        (report.broadcasts, report.broadcast_deliveries),
        (nodes, pairs),
        "{expression}"
    );
    assert_eq!(report.links_up, report.links_expected, "{expression}");
    assert_eq!(
        (report.duplicates, report.accounts_balanced),
        (0, nodes),
        "{expression}"
    );
    rig.assert_healthy();
}

#[test]
fn eighteen_boards_of_a_dual_net() {
    checks_out("rdn(ring(3),1)");
}

#[test]
fn sixteen_boards_of_a_cube_of_rings() {
    checks_out("rcr(2,2,1)");
}

#[test]
fn nine_boards_of_a_recursive_expansion() {
    checks_out("re(ring(3),complete(3),1)");
}

#[test]
fn fourteen_boards_of_the_heawood_graph() {
    checks_out("heawood");
}

#[test]
fn sixteen_boards_of_a_swapped_network() {
    checks_out("rsn(2,hypercube(2))");
}

/// The serial port of a node's port.
fn port(board: usize, port: usize) -> Port {
    Port {
        board,
        uart: LINKS[port],
    }
}

fn link_report(rig: &mut Rig, board: usize, link: u8) -> LinkReport {
    let question = Question {
        more: vec![link],
        ..Question::new(board, board as u64, Query::Link)
    };
    rig.ask_one::<Option<LinkReport>>(question).expect("a link")
}

#[test]
fn a_wrong_cable_is_reported_by_those_who_see_it() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::new(firmware, "ring(6)");
    // Nodes 0 and 3 exchange a plug: both then reach someone who is no neighbour.
    let swap = Action::Swap(port(0, 0), port(3, 0));
    rig.world
        .set_script(Script::new(vec![(MILLISECOND, swap)]))
        .expect("ports that there are");
    rig.run_for(500 * MILLISECOND);
    let seen: Vec<usize> = rig
        .log()
        .iter()
        .filter(|line| line.text.starts_with("Miswired"))
        .map(|line| line.board)
        .collect();
    for board in [0, 3] {
        assert!(seen.contains(&board), "board {board} has not reported it: {seen:?}");
        let report = link_report(&mut rig, board, 0);
        assert!(report.up && !report.wired, "board {board}: {report:?}");
    }
    // The others are as they should be.
    for board in 0..6 {
        let wrong = (0..2).filter(|link| !link_report(&mut rig, board, *link).wired).count();
        assert!(wrong <= 1, "board {board}");
        let identity = rig.identity(board);
        assert_eq!(
            usize::from(identity.neighbors - identity.neighbors_up),
            wrong,
            "board {board}"
        );
    }
    rig.assert_healthy();
}

fn ways_from(rig: &mut Rig, from: usize) -> Vec<Vec<u64>> {
    let nodes = rig.network.nodes();
    let mut ways = Vec::new();
    for to in (0..nodes).filter(|to| *to != from as u64) {
        match rig.ask(&[Question::new(from, to, Query::Trace)]).remove(0) {
            Some(Reply::Answer(answer)) => ways.push(hops_of_trace(&answer).map(|(node, _)| node).collect()),
            other => panic!("trace of {to} from {from}: {other:?}"),
        }
    }
    ways
}

#[test]
fn a_cut_cable_is_detoured_until_it_is_whole() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::new(firmware, "rdn(ring(3),1)");
    let network = rig.network;
    let cut = port(0, 1);
    let events = vec![
        (100 * MILLISECOND, Action::Cut(cut)),
        (1500 * MILLISECOND, Action::Plug(cut)),
    ];
    rig.world.set_script(Script::new(events)).expect("a port that there is");
    assert!(rig.wait_for_links(SECOND) < 100 * MILLISECOND);
    rig.run_for(600 * MILLISECOND);
    assert_eq!(rig.identity(0).neighbors_up, 2);
    let lost = network.neighbor(0, 1).expect("a node").expect("a neighbour");
    let ways = ways_from(&mut rig, 0);
    for way in &ways {
        assert!(
            !way.windows(2).any(|hop| hop == [0, lost] || hop == [lost, 0]),
            "{way:?} uses the cut cable"
        );
    }
    let direct: Vec<Vec<u64>> = (1..network.nodes()).map(|to| path(&network, 0, to)).collect();
    assert_ne!(ways, direct);
    assert!(rig.counters(0).detoured > 0);
    assert!(
        rig.world.now() < 1500 * MILLISECOND,
        "all that was to happen while it was cut"
    );
    rig.run_for(1500 * MILLISECOND - rig.world.now());
    rig.wait_for_links(SECOND);
    assert_eq!(ways_from(&mut rig, 0), direct);
    rig.assert_accounts();
}

#[test]
fn a_reset_board_comes_back() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::new(firmware, "heawood");
    rig.world
        .set_script(Script::new(vec![(200 * MILLISECOND, Action::Reset(5))]))
        .expect("a board that there is");
    rig.wait_for_links(SECOND);
    let before = rig.identity(5);
    rig.run_for(210 * MILLISECOND - rig.world.now());
    rig.wait_for_links(SECOND);
    let after = rig.identity(5);
    assert_eq!(rig.world.boards()[5].resets(), 1);
    assert_eq!(
        (before.card.reset_cause, after.card.reset_cause),
        (1, 2),
        "by power, by the reset pin"
    );
    assert_eq!(after.epoch, before.epoch + 1);
    assert!(after.uptime_ms < 1_000);
    let report = rig.check();
    assert!(report.passed(), "{:#?}", report.findings);
}

#[test]
fn the_button_sends_a_broadcast() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::new(firmware, "re(ring(3),complete(3),1)");
    let events = vec![
        (300 * MILLISECOND, Action::Press(4)),
        (400 * MILLISECOND, Action::Release(4)),
    ];
    rig.world
        .set_script(Script::new(events))
        .expect("a board that there is");
    rig.run_for(500 * MILLISECOND);
    let lines = rig.log();
    let mut heard: Vec<usize> = lines
        .iter()
        .filter(|line| line.text.starts_with("broadcast ") && line.text.ends_with(" from node 4"))
        .map(|line| line.board)
        .collect();
    heard.sort_unstable();
    assert_eq!(heard, [0, 1, 2, 3, 5, 6, 7, 8]);
}

fn start_traffic(rig: &mut Rig, traffic: Traffic) {
    for board in 0..rig.world.boards().len() {
        let done: Done = rig.ask_one(Question::command(board, &Command::StartTraffic(traffic)));
        assert_eq!(done, Done::Done);
    }
}

fn reports(rig: &mut Rig) -> Vec<TrafficReport> {
    (0..rig.world.boards().len())
        .map(|board| rig.ask_one(Question::command(board, &Command::Traffic)))
        .collect()
}

#[test]
fn a_million_bytes_through_each_link_and_none_lost() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::new(firmware, "ring(3)");
    rig.wait_for_links(SECOND);
    const SIZE: u32 = 200;
    let count = 2 * 1_000_000 / SIZE;
    start_traffic(
        &mut rig,
        Traffic {
            rate: 100_000,
            count,
            pattern: Pattern::Neighbors,
            size: SIZE as u8,
        },
    );
    let begin = rig.world.now();
    while reports(&mut rig).iter().any(|report| report.running) {
        assert!(rig.world.now() - begin < 30 * SECOND, "{:?}", reports(&mut rig));
        rig.run_for(500 * MILLISECOND);
    }
    rig.run_for(200 * MILLISECOND);
    for (board, report) in reports(&mut rig).into_iter().enumerate() {
        assert_eq!(
            (report.sent, report.received),
            (count, count),
            "board {board}: {report:?}"
        );
        assert_eq!(report.received_bytes, count * SIZE, "board {board}");
        for link in 0..2 {
            let counters = link_report(&mut rig, board, link).counters;
            assert!(
                counters.packets_received >= count / 2,
                "board {board}, link {link}: {counters:?}"
            );
            assert_eq!(
                (counters.damaged, counters.resent),
                (0, 0),
                "board {board}, link {link}"
            );
        }
    }
    rig.assert_accounts();
    rig.assert_healthy();
}
