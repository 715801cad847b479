//! Whether a mesh of emulated boards does what it should: all links, all pairs, all broadcasts.

use std::collections::BTreeMap;

use hopwise_core::Network;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::World;
pub use hopwise_host::mesh_check::{CheckReport, path};
use hopwise_host::mesh_check::{ask_all, check_accounts, check_pairs, links_expected, links_up};
use hopwise_host::talk::{BoardRequest, Reply, Talk};
use hopwise_node::wire::{Command, CommandResult, Status};
use hopwise_rig::board_log::LogReaders;

use super::cost::Measured;
use super::hosts::Hosts;
use super::log::take_lines;

const LINKS_WITHIN: Time = SECOND;
const RESPONSE_TIMEOUT: Time = SECOND;
/// A board's clock may be off by this part of the time, which is more than any crystal is.
const CLOCK_TOLERANCE: f64 = 0.015;
/// Between the time that a board tells and its arrival at the host: milliseconds, if the board is busy.
const RESPONSE_TAKES: f64 = 25.0;
/// A broadcast has reached everyone after this.
const SETTLE: Time = 50 * MILLISECOND;

impl Talk for Measured<'_> {
    fn entrances(&self) -> Vec<u64> {
        (0..self.world.boards().len() as u64).collect()
    }

    fn ask(&mut self, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
        self.hosts.ask(self.world, requests, RESPONSE_TIMEOUT)
    }
}

/// Checks a mesh that has just been switched on.
pub fn check(world: &mut World, hosts: &mut Hosts, network: &Network, readers: &mut LogReaders<'_>) -> CheckReport {
    let nodes = network.nodes();
    let mut report = check_links(world, hosts, network);
    let mut desk = Measured { world, hosts };
    let begin = uptimes(&mut desk, nodes);
    check_pairs(&mut desk, network, &mut report);
    broadcasts(&mut desk, nodes, readers, &mut report);
    check_accounts(&mut desk, nodes, &mut report);
    for (node, (begin, end)) in begin.into_iter().zip(uptimes(&mut desk, nodes)).enumerate() {
        let Some(((from, began), (to, ended))) = begin.zip(end) else {
            continue;
        };
        let (counted, passed) = (
            ended.saturating_sub(began) as f64,
            (to - from) as f64 / MILLISECOND as f64,
        );
        if (counted - passed).abs() > passed * CLOCK_TOLERANCE + RESPONSE_TAKES {
            report.note(format!(
                "the clock of board {node} counted {counted:.0} ms while {passed:.0} ms passed"
            ));
        }
    }
    report
}

/// How long each board has been up by its own clock, in milliseconds, and when it said so.
fn uptimes(desk: &mut Measured<'_>, nodes: u64) -> Vec<Option<(Time, u64)>> {
    let ask = |node| {
        let replies = ask_all(desk, &[BoardRequest::command(node as usize, &Command::Status)]);
        let status: Status = replies[0].as_ref().and_then(Reply::read)?;
        Some((desk.world.now(), status.uptime_ms))
    };
    (0..nodes).map(ask).collect()
}

/// Lets time pass until all links of a network are up, for a second at most. Returns how many there are, and how many are up.
pub(crate) fn wait_for_links(world: &mut World, hosts: &mut Hosts, network: &Network) -> (u64, u64) {
    let (expected, mut up) = (links_expected(network), 0);
    let end = world.now() + LINKS_WITHIN;
    while world.now() < end && up < expected {
        let mut desk = Measured { world, hosts };
        desk.run_for((10 * MILLISECOND).min(end - desk.world.now()));
        if desk.hosts.all_up() {
            up = links_up(&mut desk, network);
        }
    }
    (expected, up)
}

/// Checks only the links of such a mesh, for which time and work grow with the number of boards, not with that of their pairs.
pub fn check_links(world: &mut World, hosts: &mut Hosts, network: &Network) -> CheckReport {
    let (links_expected, links_up) = wait_for_links(world, hosts, network);
    let mut report = CheckReport {
        links_expected,
        links_up,
        ..CheckReport::default()
    };
    report.expect("links up", links_expected, links_up);
    report
}

fn broadcasts(desk: &mut Measured<'_>, nodes: u64, readers: &mut LogReaders<'_>, report: &mut CheckReport) {
    take_lines(readers, desk.world);
    let mut delivered: BTreeMap<(usize, u64), u64> = BTreeMap::new();
    for node in 0..nodes {
        let order = [BoardRequest::command(node as usize, &Command::Broadcast(b"check"))];
        let replies = ask_all(desk, &order);
        report.broadcasts += 1;
        if replies[0].as_ref().and_then(Reply::read) != Some(CommandResult::Done) {
            report.note(format!("board {node} did not broadcast: {:?}", replies[0]));
        }
        desk.run_for(SETTLE);
        for line in take_lines(readers, desk.world) {
            if let Some(source) = broadcast_source(&line.text) {
                *delivered.entry((line.board, source)).or_default() += 1;
            }
        }
    }
    report.broadcast_deliveries = delivered.len() as u64;
    report.duplicates = delivered.values().map(|count| count - 1).sum();
    report.expect("broadcasts delivered", nodes * (nodes - 1), report.broadcast_deliveries);
    report.expect("duplicates", 0, report.duplicates);
}

/// The source in a board's line about a broadcast that it received.
fn broadcast_source(line: &str) -> Option<u64> {
    let (_, source) = line.strip_prefix("broadcast ")?.split_once(" from node ")?;
    source.parse().ok()
}
