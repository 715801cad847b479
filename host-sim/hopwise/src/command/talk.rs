//! `hopwise ping`, `trace`, `counters` and `broadcast --port`: a running mesh, asked through the serial port of any of its boards.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hopwise_core::Network;
use hopwise_host::{Mesh, NodeState, SendError, check_length};
use hopwise_node::wire::{BAUD_RATES, DEFAULT_BAUD, DropReason};
use hopwise_rig::ports;
use serde_json::{Map, Value, json};

use hopwise_rig::mesh::read_keys;

use super::error::CliError;
use super::output::{self, Outcome, clear_screen, print, print_json};
use super::table;

/// Where the mesh is.
#[derive(Args)]
pub(super) struct PortArg {
    /// The serial port of a board of the mesh [default: HOPWISE_PORT, or the one ST-LINK that is plugged in]
    #[arg(long, value_name = "TTY")]
    pub(super) port: Option<PathBuf>,
    /// The rate of the serial port: the mesh's host-baud
    #[arg(long, default_value_t = DEFAULT_BAUD, value_parser = parse_baud)]
    pub(super) baud: u32,
    /// The mesh's key file, if it has a key
    #[arg(long, value_name = "FILE")]
    pub(super) key_file: Option<PathBuf>,
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
    /// The nodes to ask [default: all]
    nodes: Vec<u64>,
    #[command(flatten)]
    at: PortArg,
    /// Repeat until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// How often, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, requires = "watch")]
    every: f64,
    /// Stop after this many tables
    #[arg(long, value_name = "N", requires = "watch")]
    rounds: Option<u32>,
    /// Print a JSON object, one per line with --watch
    #[arg(long)]
    json: bool,
}

/// A baud rate that boards run at.
pub(super) fn parse_baud(text: &str) -> Result<u32, String> {
    let (least, most) = (BAUD_RATES.start(), BAUD_RATES.end());
    let baud = text.parse().ok().filter(|baud| BAUD_RATES.contains(baud));
    baud.ok_or_else(|| format!("boards run at {least} to {most} baud"))
}

impl PortArg {
    /// The port, said or meant.
    pub(super) fn path(&self) -> Result<PathBuf, CliError> {
        match &self.port {
            Some(port) => Ok(port.clone()),
            None => Ok(ports::meant()?),
        }
    }

    pub(super) fn connect(&self) -> Result<Mesh, CliError> {
        let keys = self.key_file.as_deref().map(read_keys).transpose()?;
        Ok(Mesh::open_with(&self.path()?, self.baud, keys)?)
    }
}

/// A node, if the mesh has it.
pub(super) fn check_node(mesh: &Mesh, node: u64) -> Result<u64, CliError> {
    mesh.check(node)
        .map_err(|error| CliError::network(mesh.network(), error))
}

pub(super) fn ping(args: &PingArgs) -> Result<Outcome, CliError> {
    let mesh = args.at.connect()?;
    check_node(&mesh, args.node)?;
    let mut times = Vec::new();
    let mut failure = None;
    for number in 1..=args.count {
        let what = match mesh.ping(args.node) {
            Ok(took) => {
                let millis = took.as_secs_f64() * 1e3;
                times.push(millis);
                format!("answer in {millis:.1} ms")
            }
            Err(why) => failure.insert(why).to_string(),
        };
        if !args.json {
            let (node, from) = (args.node, mesh.board());
            print(|out| writeln!(out, "{number}: node {node} from node {from}: {what}"))?;
        }
    }
    if args.json {
        print_json(&json!({
            "node": args.node,
            "from": mesh.board(),
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

pub(super) fn trace(args: &TraceArgs) -> Result<Outcome, CliError> {
    let mesh = args.at.connect()?;
    check_node(&mesh, args.node)?;
    let hops = match mesh.trace(args.node) {
        Ok(hops) => hops,
        Err(why) => {
            let node = args.node;
            return Ok(Outcome::CheckFailed(format!("no path to node {node} is known: {why}")));
        }
    };
    if args.json {
        let rows: Vec<Value> = hops
            .iter()
            .map(|(node, waited)| json!({"node": node, "waited_us": waited}))
            .collect();
        print_json(&json!({"node": args.node, "hops": hops.len().saturating_sub(1), "path": rows}))?;
    } else {
        print(|out| {
            let count = output::counted(hops.len().saturating_sub(1) as u64, "hop");
            writeln!(out, "{count} to node {}", args.node)?;
            hops.iter()
                .try_for_each(|(node, waited)| writeln!(out, "  {node:>5}  {waited:>6} us there"))
        })?;
    }
    Ok(Outcome::Done)
}

pub(super) fn counters(args: &CountersArgs) -> Result<Outcome, CliError> {
    let mesh = args.at.connect()?;
    let nodes = match args.nodes.is_empty() {
        true => (0..mesh.network().nodes()).collect(),
        false => args.nodes.clone(),
    };
    nodes.iter().try_for_each(|node| check_node(&mesh, *node).map(drop))?;
    let rounds = if args.watch { args.rounds.unwrap_or(u32::MAX) } else { 1 };
    let pause = Duration::from_secs_f64(args.every.clamp(0.0, 3600.0));
    let mut silent = 0;
    for round in 0..rounds {
        if round > 0 {
            std::thread::sleep(pause);
            if let Some(fault) = mesh.fault() {
                return Err(SendError::Gone(fault).into());
            }
        }
        let states = mesh.counters(&nodes);
        silent = states.iter().filter(|state| state.counters.is_none()).count();
        show_states(args, mesh.network(), &states)?;
    }
    Ok(match silent {
        0 => Outcome::Done,
        count => Outcome::CheckFailed(format!("{count} of {} nodes do not respond", nodes.len())),
    })
}

fn cells(state: &NodeState) -> Vec<String> {
    let Some((report, counters)) = state.report.as_ref().zip(state.counters.as_ref()) else {
        return vec![state.node.to_string(), "no response".into()];
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
        state.node.to_string(),
        report.card.name.to_string(),
        format!("{}/{}", report.neighbors_up, report.neighbors),
        format!("{:.1}", report.uptime_ms as f64 / 1e3),
    ];
    cells.extend(numbers.iter().map(u32::to_string));
    cells
}

fn state_json(state: &NodeState) -> Value {
    let Some((report, counters)) = state.report.as_ref().zip(state.counters.as_ref()) else {
        return json!({"node": state.node, "answered": false});
    };
    let drops = DropReason::ALL.into_iter().zip(counters.dropped);
    let drops: Map<String, Value> = drops
        .map(|(reason, count)| (reason.name().into(), count.into()))
        .collect();
    json!({
        "node": state.node,
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

fn show_states(args: &CountersArgs, network: &Network, states: &[NodeState]) -> Result<(), CliError> {
    if args.json {
        let nodes: Vec<Value> = states.iter().map(state_json).collect();
        return print_json(&json!({"network": network.to_string(), "nodes": nodes}));
    }
    const TITLES: &str =
        "node|name|links|up s|received|originated|delivered|forwarded|dropped|detoured|retried|buffers";
    let text = table::lines(TITLES, states.iter().map(cells));
    // On a terminal a table takes the place of the one before.
    if args.watch {
        clear_screen()?;
    }
    print(|out| writeln!(out, "{network}\n{text}"))
}

/// Broadcasts from the board at the port, or from another.
pub(super) fn broadcast(at: &PortArg, from: Option<u64>, text: &str, json: bool) -> Result<Outcome, CliError> {
    check_length(text.as_bytes())?;
    let mesh = at.connect()?;
    let from = check_node(&mesh, from.unwrap_or(mesh.board()))?;
    let done = mesh.broadcast_from(from, text.as_bytes());
    if json {
        print_json(&json!({"source": from, "bytes": text.len(), "sent": done.is_ok()}))?;
    } else if done.is_ok() {
        print(|out| writeln!(out, "node {from} broadcasts {} bytes", text.len()))?;
    }
    Ok(match done {
        Ok(()) => Outcome::Done,
        Err(why) => Outcome::CheckFailed(format!("node {from} does not broadcast: {why}")),
    })
}
