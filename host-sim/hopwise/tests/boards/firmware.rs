//! The firmware on meshes of emulated boards: everything arrives, and faults are survived.

use crate::firmware_support::{Rig, SIGN_OF_LIFE, firmware, port};
use hopwise_emulate::setup::configure;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_emulator::world::Action;
use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::wire::{
    BoardConfig, BoardState, Command, CommandResult, DropReason, LinkReport, NodeReport, Pattern, Query,
    RouterCounters, Status, Traffic, TrafficReport,
};
use hopwise_rig::board_log::BoardLine;

/// Everything that `hopwise emulate --check` looks at.
#[test]
fn meshes_of_up_to_eighteen_boards_pass_the_check() {
    for expression in [
        "rdn(ring(3),1)",
        "rcr(2,2,1)",
        "re(ring(3),complete(3),1)",
        "heawood",
        "rsn(2,hypercube(2))",
    ] {
        let Some(mut rig) = Rig::of(expression) else { return };
        let report = rig.check();
        assert!(report.passed(), "{expression}: {:#?}", report.findings);
        let nodes = rig.network.nodes();
        let pairs = nodes * (nodes - 1);
        let asked = [report.pings, report.pongs, report.traces, report.paths_as_computed];
        assert_eq!(asked, [pairs; 4], "{expression}");
        let told = [report.broadcasts, report.broadcast_deliveries, report.duplicates];
        assert_eq!(told, [nodes, pairs, 0], "{expression}");
        assert_eq!(report.links_up, report.links_expected, "{expression}");
        assert_eq!(report.accounts_balanced, nodes, "{expression}");
        rig.assert_healthy();
    }
}

#[test]
fn a_wrong_cable_is_reported_by_those_who_see_it() {
    let Some(mut rig) = Rig::of("ring(6)") else { return };
    // Nodes 0 and 3 exchange a plug: both then reach someone who is no neighbor.
    let swap = Action::Swap(port(0, 0), port(3, 0));
    rig.script(vec![(MILLISECOND, swap)]);
    rig.run_for(500 * MILLISECOND);
    let lines = rig.log();
    let seen = lines.iter().filter(|line| line.text.starts_with("Miswired"));
    let seen: Vec<usize> = seen.map(|line| line.board).collect();
    for board in [0, 3] {
        assert!(seen.contains(&board), "board {board} has not reported it: {seen:?}");
        let report = rig.link_report(board, 0);
        assert!(report.up && !report.wired, "board {board}: {report:?}");
    }
    // The others are as they should be.
    for board in 0..6 {
        let wrong = (0..2).filter(|link| !rig.link_report(board, *link).wired).count();
        assert!(wrong <= 1, "board {board}");
        let identity = rig.identity(board);
        let found = usize::from(identity.neighbors - identity.neighbors_up);
        assert_eq!(found, wrong, "board {board}");
    }
    rig.assert_healthy();
}

#[test]
fn a_reset_board_comes_back() {
    let Some(mut rig) = Rig::of("heawood") else { return };
    rig.script(vec![(200 * MILLISECOND, Action::Reset(5))]);
    rig.wait_for_links(SECOND);
    let before = rig.identity(5);
    rig.run_for(210 * MILLISECOND - rig.world.now());
    rig.wait_for_links(SECOND);
    let after = rig.identity(5);
    assert_eq!(rig.world.boards()[5].resets(), 1);
    let found = (before.card.reset_cause, after.card.reset_cause);
    assert_eq!(found, (1, 2), "by power, by the reset pin");
    assert_eq!(after.epoch, before.epoch + 1);
    assert!(after.uptime_ms < 1_000);
    let report = rig.check();
    assert!(report.passed(), "{:#?}", report.findings);
}

#[test]
fn the_button_sends_a_broadcast() {
    let rig = Rig::of("re(ring(3),complete(3),1)");
    let Some(mut rig) = rig else { return };
    let events = vec![
        (300 * MILLISECOND, Action::Press(4)),
        (400 * MILLISECOND, Action::Release(4)),
    ];
    rig.script(events);
    rig.run_for(500 * MILLISECOND);
    let lines = rig.log();
    let is_it = |line: &&BoardLine| line.text.starts_with("broadcast ") && line.text.ends_with(" from node 4");
    let mut heard: Vec<usize> = lines.iter().filter(is_it).map(|line| line.board).collect();
    heard.sort_unstable();
    assert_eq!(heard, [0, 1, 2, 3, 5, 6, 7, 8]);
}

fn start_traffic(rig: &mut Rig, traffic: Traffic) {
    for board in 0..rig.world.boards().len() {
        rig.command(board, &Command::StartTraffic(traffic));
    }
}

#[test]
fn a_board_is_read_through_another() {
    let Some(mut rig) = Rig::up("path(4)") else { return };
    // So long the probe takes to go through the stack.
    rig.run_for(20 * SECOND);
    // At the board of node 0, about node 3.
    let ask = |query: Query, more: &[u8]| BoardRequest::new(0, 3, query).with(more.to_vec());
    let status: Status = rig.ask_one(ask(Command::Status.query(), &[]));
    assert_eq!((status.state, status.links), (BoardState::Configured, 5));
    assert!((20_000..25_000).contains(&status.uptime_ms), "{status:?}");
    let identity: NodeReport = rig.ask_one(ask(Query::Identity, &[]));
    assert_eq!((identity.address, identity.neighbors, identity.neighbors_up), (3, 1, 1));
    assert_eq!(identity.card.reset_cause, 1, "by power");
    assert!(identity.card.stack_free > 30 * 1024, "{identity:?}");
    rig.run_for(SIGN_OF_LIFE);
    let counters: RouterCounters = rig.ask_one(ask(Query::Counters, &[]));
    // The request itself is in its buffers.
    assert_eq!(counters.held(), 1, "{counters:?}");
    let link: Option<LinkReport> = rig.ask_one(ask(Query::Link, &[0]));
    let link = link.expect("a link");
    assert!(link.up && link.wired && link.waiting == 0, "{link:?}");
    assert!(link.counters.packets_received >= 4, "{link:?}");
    let logs: CommandResult = rig.ask_one(ask(Command::LogPackets(true).query(), &[1]));
    assert_eq!(logs, CommandResult::Done);
    rig.log();
    rig.ask(&[ask(Query::Ping, &[])]);
    let lines = rig.log();
    let traced = |line: &&BoardLine| line.board == 3 && line.text.starts_with("Received");
    assert!(lines.iter().any(|line| traced(&line)), "{lines:?}");
    let of_other = lines.iter().any(|line| line.board == 1);
    assert!(!of_other, "only the one that was told: {lines:?}");
}

#[test]
fn a_host_learns_that_there_is_no_such_node() {
    let Some(mut rig) = Rig::up("path(2)") else { return };
    let replies = rig.ask(&[BoardRequest::new(0, 2, Query::Ping)]);
    assert_eq!(replies, [Some(Reply::Undeliverable(DropReason::NoSuchNode))]);
    assert_eq!(rig.counters(0).dropped[DropReason::NoSuchNode as usize], 1);
    rig.assert_healthy();
}

#[test]
fn a_config_can_order_traffic_whose_outcome_is_logged() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::new(firmware, "path(2)");
    let config = BoardConfig {
        traffic: Some(Traffic::new(100, 20, Pattern::Neighbors, 30)),
        ..BoardConfig::new("path(2)", 0).expect("a config")
    };
    let board = &mut rig.world.boards_mut()[0];
    configure(board, &firmware.image, &config.write(), None, 1);
    rig.run_for(2 * SECOND);
    let lines = rig.log();
    let told = lines
        .iter()
        .filter(|line| line.board == 0 && line.text.starts_with("traffic: "));
    assert_eq!(told.count(), 1, "{lines:?}");
    let reports = reports(&mut rig);
    assert_eq!((reports[0].sent, reports[0].running), (20, false), "{reports:?}");
    let found = (reports[1].received, reports[1].received_bytes);
    assert_eq!(found, (20, 20 * 30), "{reports:?}");
}

fn reports(rig: &mut Rig) -> Vec<TrafficReport> {
    (0..rig.world.boards().len()).map(|board| rig.traffic(board)).collect()
}

#[test]
fn a_million_bytes_through_each_link_and_none_lost() {
    let Some(mut rig) = Rig::up("ring(3)") else { return };
    const SIZE: u32 = 200;
    let count = 2 * 1_000_000 / SIZE;
    start_traffic(&mut rig, Traffic::new(100_000, count, Pattern::Neighbors, SIZE as u8));
    let begin = rig.world.now();
    while reports(&mut rig).iter().any(|report| report.running) {
        assert!(rig.world.now() - begin < 30 * SECOND, "{:?}", reports(&mut rig));
        rig.run_for(500 * MILLISECOND);
    }
    rig.run_for(200 * MILLISECOND);
    for (board, report) in reports(&mut rig).into_iter().enumerate() {
        let found = (report.sent, report.received);
        assert_eq!(found, (count, count), "board {board}: {report:?}");
        assert_eq!(report.received_bytes, count * SIZE, "board {board}");
        for link in 0..2 {
            let counters = rig.link_report(board, link).counters;
            let received = counters.packets_received;
            assert!(received >= count / 2, "board {board}, link {link}: {counters:?}");
            let found = (counters.damaged, counters.resent);
            assert_eq!(found, (0, 0), "board {board}, link {link}: {counters:?}");
        }
    }
    rig.assert_accounts();
    rig.assert_healthy();
}
