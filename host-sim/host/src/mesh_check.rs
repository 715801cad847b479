//! Whether a mesh with a host at every board does what it should: all links, all pairs, all accounts.

use hopwise_core::{Network, Rule};
use hopwise_node::wire::{Command, CommandResult, DropReason, NodeReport, Query, RouterCounters, trace_records};
use serde::Serialize;

use crate::talk::{BoardRequest, Reply, Talk};

/// Number of times that counters are read until all broadcasts have arrived.
const SETTLES: u64 = 20;

/// What the check found. The keys are stable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
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
    pub fn passed(&self) -> bool {
        self.findings.is_empty()
    }

    pub fn note(&mut self, finding: String) {
        self.findings.push(finding);
    }

    /// Adds one unless as many were found as expected.
    pub fn expect(&mut self, what: &str, expected: u64, found: u64) {
        if expected != found {
            self.note(format!("{what}: {found} of {expected}"));
        }
    }
}

/// Asks in rounds of one request at each board: a node answers only so many at once.
pub fn ask_all(talk: &mut dyn Talk, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
    let rounds = requests.chunks(talk.entrances().len().max(1));
    rounds.flat_map(|round| talk.ask(round)).collect()
}

fn ask_everyone(talk: &mut dyn Talk, nodes: u64, query: Query) -> Vec<Option<Reply>> {
    let request = |node| BoardRequest::new(node as usize, node, query);
    let requests: Vec<BoardRequest> = (0..nodes).map(request).collect();
    ask_all(talk, &requests)
}

pub fn links_expected(network: &Network) -> u64 {
    let ends = (0..network.nodes()).map(|node| network.degree(node).unwrap_or(0));
    ends.sum::<u64>() / 2
}

pub fn links_up(talk: &mut dyn Talk, network: &Network) -> u64 {
    let replies = ask_everyone(talk, network.nodes(), Query::Identity);
    let up = replies.iter().flatten().filter_map(Reply::read::<NodeReport>);
    up.map(|node| u64::from(node.neighbors_up)).sum::<u64>() / 2
}

pub fn check_pairs(talk: &mut dyn Talk, network: &Network, report: &mut CheckReport) {
    let nodes = network.nodes();
    // In each round every node is asked by one other.
    let round = |ahead| (0..nodes).map(move |from| (from, (from + ahead) % nodes));
    let pairs: Vec<(u64, u64)> = (1..nodes).flat_map(round).collect();
    pings(talk, &pairs, report);
    traces(talk, network, &pairs, report);
}

fn pings(talk: &mut dyn Talk, pairs: &[(u64, u64)], report: &mut CheckReport) {
    let payload = |(from, to): (u64, u64)| [from.to_le_bytes(), to.to_le_bytes()].concat();
    let request =
        |&(from, to): &(u64, u64)| BoardRequest::new(from as usize, to, Query::Ping).with(payload((from, to)));
    let requests: Vec<BoardRequest> = pairs.iter().map(request).collect();
    let replies = ask_all(talk, &requests);
    report.pings = pairs.len() as u64;
    for (pair, reply) in pairs.iter().zip(replies) {
        if reply == Some(Reply::Response(payload(*pair))) {
            report.pongs += 1;
        } else {
            report.note(format!("ping of {} from {}: {reply:?}", pair.1, pair.0));
        }
    }
}

fn traces(talk: &mut dyn Talk, network: &Network, pairs: &[(u64, u64)], report: &mut CheckReport) {
    let request = |&(from, to): &(u64, u64)| BoardRequest::new(from as usize, to, Query::Trace);
    let requests: Vec<BoardRequest> = pairs.iter().map(request).collect();
    let replies = ask_all(talk, &requests);
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
    let next = |here: &u64| {
        let next = network.next_hop(*here, to, Rule::Exact).ok();
        next.filter(|next| next != here)
    };
    let path = std::iter::successors(Some(from), next);
    path.take(network.nodes() as usize).collect()
}

/// The counters of every node; `None` of one that does not answer.
pub fn counters(talk: &mut dyn Talk, nodes: u64) -> Vec<Option<RouterCounters>> {
    let replies = ask_everyone(talk, nodes, Query::Counters);
    replies.iter().map(|reply| reply.as_ref()?.read()).collect()
}

/// A broadcast from every board, seen in what every node has delivered. With keys a host asks for a challenge before it orders one.
pub fn check_broadcasts(talk: &mut dyn Talk, nodes: u64, has_keys: bool, report: &mut CheckReport) {
    let orders = if has_keys { 2 } else { 1 };
    let delivered = |counters: Vec<Option<RouterCounters>>| -> Vec<Option<u32>> {
        let delivered = |counters: Option<RouterCounters>| Some(counters?.delivered);
        counters.into_iter().map(delivered).collect()
    };
    let before = delivered(counters(talk, nodes));
    for node in 0..nodes {
        let order = [BoardRequest::command(node as usize, &Command::Broadcast(b"check"))];
        let replies = talk.ask(&order);
        report.broadcasts += 1;
        if replies[0].as_ref().and_then(Reply::read) != Some(CommandResult::Done) {
            report.note(format!("board {node} did not broadcast: {:?}", replies[0]));
        }
    }
    // Some are on their way. What else was delivered: the order to broadcast, and each request for the counters.
    for attempt in 1..=SETTLES {
        let after = delivered(counters(talk, nodes));
        let here = |(before, after): (&Option<u32>, &Option<u32>)| {
            let more = u64::from(after.as_ref()?.wrapping_sub(*before.as_ref()?));
            Some(more.saturating_sub(orders + attempt))
        };
        let here: Vec<u64> = before.iter().zip(&after).filter_map(here).collect();
        report.broadcast_deliveries = here.iter().map(|count| (*count).min(nodes - 1)).sum();
        report.duplicates = here.iter().map(|count| count.saturating_sub(nodes - 1)).sum();
        if report.broadcast_deliveries == nodes * (nodes - 1) {
            break;
        }
    }
    report.expect("broadcasts delivered", nodes * (nodes - 1), report.broadcast_deliveries);
    report.expect("duplicates", 0, report.duplicates);
}

/// Whether the packets of every node are accounted for, and none was dropped.
pub fn check_accounts(talk: &mut dyn Talk, nodes: u64, report: &mut CheckReport) {
    for (node, counters) in counters(talk, nodes).into_iter().enumerate() {
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
