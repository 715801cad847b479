//! `hopwise ping`, `trace`, `counters`, `send` and `broadcast --port`: a running mesh, asked through the serial port of any of
//! its boards.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use hopwise_core::Network;
use hopwise_core::board::{BoardState, Command, DEFAULT_BAUD, Done, Page, Status};
use hopwise_core::limits::MAX_PAYLOAD;
use hopwise_core::node::{DropReason, NodeCounters, NodeReport, Query, hops_of_trace};
use serde_json::{Map, Value, json};

use super::output::{Outcome, print, print_json};
use super::{check, table};
use hopwise_emulate::computers::Question;
use hopwise_emulate::host_port::{Reply, Verdict};
use hopwise_networks::refusal::Refusal;
use hopwise_rig::serial_line::SerialMesh;
use hopwise_rig::talk::{Talk, ask_nodes, read, why_not};

/// A confirmed packet is settled within this: packets live for six seconds.
const SETTLED_WITHIN: Duration = Duration::from_secs(7);
/// Word that a datagram is undeliverable comes within this, if it comes.
const BAD_NEWS_WITHIN: Duration = Duration::from_millis(300);
/// The bytes of a ping.
const PING: &[u8] = b"hopwise";

/// Where the mesh is.
#[derive(Args)]
pub(super) struct PortArg {
    /// The serial port of a board of the mesh
    #[arg(long, value_name = "TTY")]
    pub(super) port: PathBuf,
    /// The mesh's baud rate
    #[arg(long, default_value_t = DEFAULT_BAUD)]
    pub(super) baud: u32,
}

#[derive(Args)]
pub(super) struct PingArgs {
    /// The node to ask
    node: u64,
    #[command(flatten)]
    at: PortArg,
    /// How many times
    #[arg(long, default_value_t = 3)]
    count: u32,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct TraceArgs {
    /// The node to reach
    node: u64,
    #[command(flatten)]
    at: PortArg,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct CountersArgs {
    /// The nodes to ask; all unless given
    nodes: Vec<u64>,
    #[command(flatten)]
    at: PortArg,
    /// Ask again and again
    #[arg(long)]
    watch: bool,
    /// How often, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, requires = "watch")]
    every: f64,
    /// End after so many tables
    #[arg(long, value_name = "N", requires = "watch")]
    rounds: Option<u32>,
    /// Print a JSON object, one a line with --watch
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct SendArgs {
    /// The node it is for
    node: u64,
    /// What to send
    text: String,
    #[command(flatten)]
    at: PortArg,
    /// Wait until the node confirms that it has it
    #[arg(long)]
    confirmed: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// A mesh and the board at the serial port.
struct Connection {
    mesh: SerialMesh,
    board: u64,
    network: Network,
}

impl Connection {
    fn open(at: &PortArg) -> Result<Self, Refusal> {
        let mut mesh = SerialMesh::open(std::slice::from_ref(&at.port), at.baud).map_err(Refusal::Rig)?;
        let board = mesh.entrances().first().copied().unwrap_or(0);
        let refused = |what: String| Refusal::Rig(format!("the board at {}: {what}", at.port.display()));
        let status = ask(&mut mesh, board, Command::Status.query(), &[]);
        match read::<Status>(&status).map(|status| status.state) {
            Some(BoardState::Configured) => {}
            Some(BoardState::NotInImage) => {
                return Err(refused(
                    "its image lacks the family of its network: flash one that has it".into(),
                ));
            }
            Some(state) => {
                return Err(refused(format!(
                    "it is not part of a mesh ({state:?}): flash its page first"
                )));
            }
            None => return Err(refused("it says hello and then does not answer".into())),
        }
        // The network is what the board's configuration page says.
        let page = match ask(&mut mesh, board, Command::ReadPage.query(), &[]) {
            Some(Reply::Answer(bytes)) => bytes
                .as_slice()
                .try_into()
                .ok()
                .and_then(|bytes| Page::read(bytes).ok()),
            _ => None,
        };
        let network = page.and_then(|page| page.network().ok());
        let network = network.ok_or_else(|| refused("it does not say what its network is".into()))?;
        Ok(Connection { mesh, board, network })
    }

    /// A node, if the mesh has it.
    fn check(&self, node: u64) -> Result<u64, Refusal> {
        check(&self.network, node)
    }

    fn ask(&mut self, dest: u64, query: Query, more: &[u8]) -> Option<Reply> {
        ask(&mut self.mesh, dest, query, more)
    }
}

fn ask(mesh: &mut SerialMesh, dest: u64, query: Query, more: &[u8]) -> Option<Reply> {
    let question = Question {
        more: more.to_vec(),
        ..Question::new(0, dest, query)
    };
    mesh.ask(&[question]).pop().flatten()
}

pub(super) fn ping(args: &PingArgs) -> Result<Outcome, Refusal> {
    let mut connection = Connection::open(&args.at)?;
    connection.check(args.node)?;
    let mut times = Vec::new();
    let mut failure = None;
    for number in 1..=args.count {
        let begin = Instant::now();
        let reply = connection.ask(args.node, Query::Ping, PING);
        let took = begin.elapsed().as_secs_f64() * 1e3;
        let answered = matches!(&reply, Some(Reply::Answer(bytes)) if bytes == PING);
        if answered {
            times.push(took);
        } else {
            failure = Some(why_not(&reply));
        }
        if !args.json {
            let what = match answered {
                true => format!("answer in {took:.1} ms"),
                false => why_not(&reply),
            };
            print(|out| {
                writeln!(
                    out,
                    "{number}: node {} from node {}: {what}",
                    args.node, connection.board
                )
            })?;
        }
    }
    if args.json {
        print_json(&json!({
            "node": args.node,
            "from": connection.board,
            "sent": args.count,
            "answered": times.len(),
            "milliseconds": times,
        }))?;
    }
    Ok(match failure {
        None => Outcome::Done,
        Some(why) => Outcome::CheckFailed(format!(
            "{} of {} pings of node {} were answered ({why})",
            times.len(),
            args.count,
            args.node
        )),
    })
}

pub(super) fn trace(args: &TraceArgs) -> Result<Outcome, Refusal> {
    let mut connection = Connection::open(&args.at)?;
    connection.check(args.node)?;
    let reply = connection.ask(args.node, Query::Trace, &[]);
    let Some(Reply::Answer(answer)) = &reply else {
        let why = why_not(&reply);
        return Ok(Outcome::CheckFailed(format!(
            "no way to node {} is known: {why}",
            args.node
        )));
    };
    let hops: Vec<(u64, u64)> = hops_of_trace(answer).collect();
    if args.json {
        let rows: Vec<Value> = hops
            .iter()
            .map(|(node, waited)| json!({"node": node, "waited_us": waited}))
            .collect();
        print_json(&json!({"node": args.node, "hops": hops.len().saturating_sub(1), "path": rows}))?;
    } else {
        print(|out| {
            writeln!(out, "{} hops to node {}", hops.len().saturating_sub(1), args.node)?;
            hops.iter()
                .try_for_each(|(node, waited)| writeln!(out, "  {node:>5}  {waited:>6} us there"))
        })?;
    }
    Ok(Outcome::Done)
}

pub(super) fn counters(args: &CountersArgs) -> Result<Outcome, Refusal> {
    let mut connection = Connection::open(&args.at)?;
    let nodes = match args.nodes.is_empty() {
        true => (0..connection.network.nodes()).collect(),
        false => args.nodes.clone(),
    };
    nodes.iter().try_for_each(|node| connection.check(*node).map(drop))?;
    let rounds = if args.watch { args.rounds.unwrap_or(u32::MAX) } else { 1 };
    let pause = Duration::from_secs_f64(args.every.clamp(0.0, 3600.0));
    let mut silent = 0;
    for round in 0..rounds {
        if round > 0 {
            connection.mesh.idle(pause).map_err(Refusal::Rig)?;
        }
        let rows = NodeRow::ask(&mut connection.mesh, &nodes);
        silent = rows.iter().filter(|row| row.counters.is_none()).count();
        show_rows(args, &connection.network, &rows)?;
    }
    Ok(match silent {
        0 => Outcome::Done,
        count => Outcome::CheckFailed(format!("{count} of {} nodes do not answer", nodes.len())),
    })
}

/// What one node said.
struct NodeRow {
    node: u64,
    report: Option<NodeReport>,
    counters: Option<NodeCounters>,
}

impl NodeRow {
    fn ask(mesh: &mut SerialMesh, nodes: &[u64]) -> Vec<NodeRow> {
        let reports = ask_nodes(mesh, nodes, Query::Identity, &[]);
        let counters = ask_nodes(mesh, nodes, Query::Counters, &[]);
        let rows = nodes.iter().zip(reports.iter().zip(&counters));
        rows.map(|(node, (report, counters))| NodeRow {
            node: *node,
            report: read(report),
            counters: read(counters),
        })
        .collect()
    }

    fn cells(&self) -> Vec<String> {
        let Some((report, counters)) = self.report.as_ref().zip(self.counters.as_ref()) else {
            return vec![self.node.to_string(), "no answer".into()];
        };
        let numbers = [
            counters.received,
            counters.originated,
            counters.delivered,
            counters.forwarded,
            counters.dropped_in_all(),
            counters.detoured,
            counters.retried,
            counters.buffers_used,
        ];
        let mut cells = vec![
            self.node.to_string(),
            report.card.name.to_string(),
            format!("{}/{}", report.neighbors_up, report.neighbors),
            format!("{:.1}", report.uptime_ms as f64 / 1e3),
        ];
        cells.extend(numbers.iter().map(u32::to_string));
        cells
    }

    fn json(&self) -> Value {
        let Some((report, counters)) = self.report.as_ref().zip(self.counters.as_ref()) else {
            return json!({"node": self.node, "answered": false});
        };
        let drops = DropReason::ALL.into_iter().zip(counters.dropped);
        let drops: Map<String, Value> = drops
            .map(|(reason, count)| (reason.name().into(), count.into()))
            .collect();
        json!({
            "node": self.node,
            "answered": true,
            "name": report.card.name.as_str(),
            "neighbors": report.neighbors,
            "neighbors_up": report.neighbors_up,
            "uptime_ms": report.uptime_ms,
            "received": counters.received,
            "originated": counters.originated,
            "copied": counters.copied,
            "delivered": counters.delivered,
            "forwarded": counters.forwarded,
            "detoured": counters.detoured,
            "retried": counters.retried,
            "buffers_used": counters.buffers_used,
            "drops": drops,
        })
    }
}

fn show_rows(args: &CountersArgs, network: &Network, rows: &[NodeRow]) -> Result<(), Refusal> {
    if args.json {
        let nodes: Vec<Value> = rows.iter().map(NodeRow::json).collect();
        return print_json(&json!({"network": network.to_string(), "nodes": nodes}));
    }
    const TITLES: [&str; 12] = [
        "node",
        "name",
        "links",
        "up s",
        "received",
        "originated",
        "delivered",
        "forwarded",
        "dropped",
        "detoured",
        "retried",
        "buffers",
    ];
    let text = table::lines(&TITLES, rows.iter().map(NodeRow::cells));
    // On a terminal a table takes the place of the one before.
    let clear = if args.watch && std::io::stdout().is_terminal() {
        "\x1b[2J\x1b[H"
    } else {
        ""
    };
    print(|out| writeln!(out, "{clear}{network}\n{text}"))
}

pub(super) fn send(args: &SendArgs) -> Result<Outcome, Refusal> {
    check_length(&args.text)?;
    let mut connection = Connection::open(&args.at)?;
    connection.check(args.node)?;
    let (port, _) = connection.mesh.port(0);
    let (number, within) = match args.confirmed {
        true => (port.confirmed(args.node, args.text.as_bytes()), SETTLED_WITHIN),
        false => (port.datagram(args.node, args.text.as_bytes()), BAD_NEWS_WITHIN),
    };
    if !connection.mesh.flush(0, SETTLED_WITHIN).map_err(Refusal::Rig)? {
        return Ok(Outcome::CheckFailed(format!(
            "board {} has no room for the packet",
            connection.board
        )));
    }
    let reply = connection.mesh.wait(0, number, within).map_err(Refusal::Rig)?;
    let (outcome, failed) = match (&reply, args.confirmed) {
        (Some(Reply::Confirmed(Verdict::Delivered)), _) => ("delivered", false),
        (Some(Reply::Confirmed(Verdict::Busy)), _) => ("busy", true),
        (Some(Reply::Confirmed(Verdict::Restarted)), _) => ("interrupted", true),
        (Some(Reply::Undeliverable(_)), _) => ("undeliverable", true),
        // Nothing bad was heard: that is all one knows of a datagram.
        (_, false) => ("sent", false),
        (_, true) => ("unknown", true),
    };
    if args.json {
        print_json(&json!({"node": args.node, "bytes": args.text.len(), "outcome": outcome}))?;
    } else if !failed {
        print(|out| writeln!(out, "{} bytes to node {}: {outcome}", args.text.len(), args.node))?;
    }
    Ok(match failed {
        false => Outcome::Done,
        true => Outcome::CheckFailed(format!(
            "the packet to node {}: {outcome} ({})",
            args.node,
            why_not(&reply)
        )),
    })
}

/// Broadcasts from the board at the port, or from another.
pub(super) fn broadcast(at: &PortArg, from: Option<u64>, text: &str, json: bool) -> Result<Outcome, Refusal> {
    check_length(text)?;
    let mut connection = Connection::open(at)?;
    let from = connection.check(from.unwrap_or(connection.board))?;
    let command = Command::Broadcast(text.as_bytes());
    let reply = connection.ask(from, command.query(), &command.payload());
    let done = read(&reply) == Some(Done::Done);
    if json {
        print_json(&json!({"source": from, "bytes": text.len(), "sent": done}))?;
    } else if done {
        print(|out| writeln!(out, "node {from} broadcasts {} bytes", text.len()))?;
    }
    Ok(match done {
        true => Outcome::Done,
        false => Outcome::CheckFailed(format!("node {from} does not broadcast: {}", why_not(&reply))),
    })
}

fn check_length(text: &str) -> Result<(), Refusal> {
    match text.len() {
        0..=MAX_PAYLOAD => Ok(()),
        long => Err(Refusal::Rig(format!(
            "a packet carries at most {MAX_PAYLOAD} bytes, not {long}"
        ))),
    }
}
