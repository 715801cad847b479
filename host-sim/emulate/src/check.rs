//! Whether a mesh of emulated boards does what it should: all links, all pairs, all broadcasts.

use std::collections::BTreeMap;

use hopwise_core::{Network, Rule};
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::World;
use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::wire::{Command, CommandResult};
use hopwise_node::wire::{DropReason, NodeReport, Query, RouterCounters, trace_records};
use hopwise_rig::board_log::LogReaders;
use serde::Serialize;

use super::hosts::Hosts;
use super::log::take_lines;

/// Links are up within this.
const LINKS_WITHIN: Time = SECOND;
/// A round of requests is answered within this.
const RESPONSE_TIMEOUT: Time = SECOND;
/// A broadcast has reached everyone after this.
const SETTLE: Time = 50 * MILLISECOND;

/// What the check found. The keys are stable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Links that the network has.
    pub links_expected: u64,
    /// Links that both ends report to be up.
    pub links_up: u64,
    /// Requests from every board to every other.
    pub pings: u64,
    /// Their responses.
    pub pongs: u64,
    /// Paths that were asked for, one for each pair.
    pub traces: u64,
    /// Of these, the ones that are the path that the network computes.
    pub paths_as_computed: u64,
    /// Broadcasts, one from every board.
    pub broadcasts: u64,
    /// Boards that received one, over all broadcasts.
    pub broadcast_deliveries: u64,
    /// Broadcasts delivered to the same board again.
    pub duplicates: u64,
    /// Boards whose account of packets adds up.
    pub accounts_balanced: u64,
    /// What is missing, in words.
    pub findings: Vec<String>,
}

impl CheckReport {
    /// Whether nothing is missing.
    pub fn passed(&self) -> bool {
        self.findings.is_empty()
    }

    fn note(&mut self, finding: String) {
        self.findings.push(finding);
    }

    fn expect(&mut self, what: &str, expected: u64, found: u64) {
        if expected != found {
            self.note(format!("{what}: {found} of {expected}"));
        }
    }
}

/// Checks a mesh that has just been switched on.
pub fn check(world: &mut World, hosts: &mut Hosts, network: &Network, readers: &mut LogReaders<'_>) -> CheckReport {
    let nodes = network.nodes();
    let mut report = check_links(world, hosts, network);
    // In each round every node is asked by one other: it answers only so many at once.
    let round = |ahead| (0..nodes).map(move |from| (from, (from + ahead) % nodes));
    let pairs: Vec<(u64, u64)> = (1..nodes).flat_map(round).collect();
    pings(world, hosts, &pairs, &mut report);
    traces(world, hosts, network, &pairs, &mut report);
    broadcasts(world, hosts, nodes, readers, &mut report);
    accounts(world, hosts, nodes, &mut report);
    report
}

/// Asks in rounds of one request at each board.
fn ask_all(world: &mut World, hosts: &mut Hosts, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
    let rounds = requests.chunks(world.boards().len());
    rounds
        .flat_map(|round| hosts.ask(world, round, RESPONSE_TIMEOUT))
        .collect()
}

fn ask_everyone(world: &mut World, hosts: &mut Hosts, nodes: u64, query: Query) -> Vec<Option<Reply>> {
    let request = |node| BoardRequest::new(node as usize, node, query);
    let requests: Vec<BoardRequest> = (0..nodes).map(request).collect();
    ask_all(world, hosts, &requests)
}

/// Lets time pass until all links of a network are up, for a second at most. Returns how many there are, and how many are up.
pub(crate) fn wait_for_links(world: &mut World, hosts: &mut Hosts, network: &Network) -> (u64, u64) {
    let nodes = network.nodes();
    let ends: u64 = (0..nodes).map(|node| network.degree(node).unwrap_or(0)).sum();
    let (expected, mut links_up) = (ends / 2, 0);
    let end = world.now() + LINKS_WITHIN;
    while world.now() < end && links_up < expected {
        hosts.run_until(world, (world.now() + 10 * MILLISECOND).min(end));
        if hosts.all_up() {
            let replies = ask_everyone(world, hosts, nodes, Query::Identity);
            let up = replies.iter().flatten().filter_map(Reply::read::<NodeReport>);
            links_up = up.map(|node| u64::from(node.neighbors_up)).sum::<u64>() / 2;
        }
    }
    (expected, links_up)
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

fn pings(world: &mut World, hosts: &mut Hosts, pairs: &[(u64, u64)], report: &mut CheckReport) {
    let payload = |(from, to): (u64, u64)| [from.to_le_bytes(), to.to_le_bytes()].concat();
    let requests: Vec<BoardRequest> = pairs
        .iter()
        .map(|&(from, to)| BoardRequest::new(from as usize, to, Query::Ping).with(payload((from, to))))
        .collect();
    let replies = ask_all(world, hosts, &requests);
    report.pings = pairs.len() as u64;
    for (pair, reply) in pairs.iter().zip(replies) {
        if reply == Some(Reply::Response(payload(*pair))) {
            report.pongs += 1;
        } else {
            report.note(format!("ping of {} from {}: {reply:?}", pair.1, pair.0));
        }
    }
}

fn traces(world: &mut World, hosts: &mut Hosts, network: &Network, pairs: &[(u64, u64)], report: &mut CheckReport) {
    let request = |&(from, to): &(u64, u64)| BoardRequest::new(from as usize, to, Query::Trace);
    let requests: Vec<BoardRequest> = pairs.iter().map(request).collect();
    let replies = ask_all(world, hosts, &requests);
    report.traces = pairs.len() as u64;
    for (&(from, to), reply) in pairs.iter().zip(replies) {
        let computed = path(network, from, to);
        match reply {
            Some(Reply::Response(response)) => {
                let found: Vec<u64> = trace_records(&response).map(|record| record.node).collect();
                if found == computed {
                    report.paths_as_computed += 1;
                } else {
                    report.note(format!("the path from {from} to {to} was {found:?}, not {computed:?}"));
                }
            }
            other => report.note(format!("trace of {to} from {from}: {other:?}")),
        }
    }
}

/// The path that the network computes, both ends included.
pub fn path(network: &Network, from: u64, to: u64) -> Vec<u64> {
    let mut path = vec![from];
    let mut here = from;
    while here != to && path.len() as u64 <= network.nodes() {
        let Ok(Some(port)) = network.next_port(here, to, Rule::Exact) else {
            break;
        };
        let Ok(Some(next)) = network.neighbor(here, port) else {
            break;
        };
        here = next;
        path.push(here);
    }
    path
}

fn broadcasts(
    world: &mut World,
    hosts: &mut Hosts,
    nodes: u64,
    readers: &mut LogReaders<'_>,
    report: &mut CheckReport,
) {
    take_lines(readers, world);
    let mut delivered: BTreeMap<(usize, u64), u64> = BTreeMap::new();
    for node in 0..nodes {
        let order = [BoardRequest::command(node as usize, &Command::Broadcast(b"check"))];
        let replies = ask_all(world, hosts, &order);
        report.broadcasts += 1;
        if replies[0].as_ref().and_then(Reply::read) != Some(CommandResult::Done) {
            report.note(format!("board {node} did not broadcast: {:?}", replies[0]));
        }
        hosts.run_until(world, world.now() + SETTLE);
        for line in take_lines(readers, world) {
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

fn accounts(world: &mut World, hosts: &mut Hosts, nodes: u64, report: &mut CheckReport) {
    let replies = ask_everyone(world, hosts, nodes, Query::Counters);
    for (node, reply) in replies.iter().enumerate() {
        let counters: Option<RouterCounters> = reply.as_ref().and_then(Reply::read);
        let dropped = |counters: &RouterCounters| DropReason::ALL.into_iter().zip(counters.dropped);
        for (reason, count) in counters.iter().flat_map(dropped) {
            if count > 0 {
                report.note(format!("board {node} dropped {count} packets: {}", reason.name()));
            }
        }
        // The request itself is the one packet that is in the node.
        match counters.map(|counters| counters.held()) {
            Some(1) => report.accounts_balanced += 1,
            found => report.note(format!("board {node} has {found:?} packets, not only the request")),
        }
    }
    report.expect("balanced accounts", nodes, report.accounts_balanced);
}
