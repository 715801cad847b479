//! `hopwise broadcast`: the tree of a network, or a real broadcast through a board.

use std::path::PathBuf;

use clap::Args;
use hopwise_core::{Network, Node, Tree};
use hopwise_node::wire::DEFAULT_BAUD;
use serde::Serialize;

use super::error::CliError;
use super::output::{Outcome, print, print_either, print_facts};
use super::talk::{self, PortArg};
use super::{by_name, check, parse};
use hopwise_networks::broadcast::Broadcast;
use hopwise_networks::drawing::broadcast_tree;
use hopwise_networks::graph::MAX_NODES;

#[derive(Args)]
pub(super) struct BroadcastArgs {
    /// The network, as an expression; or, with --port, the text to broadcast
    #[arg(value_name = "EXPR|TEXT")]
    what: String,
    /// The node that broadcasts; with --port, by default the board at the serial port
    #[arg(required_unless_present = "port")]
    source: Option<Node>,
    /// The serial port of a board: broadcast a text in a running mesh
    #[arg(long, value_name = "TTY", conflicts_with = "tree")]
    port: Option<PathBuf>,
    /// The rate of the serial port: the mesh's host-baud
    #[arg(long, default_value_t = DEFAULT_BAUD, requires = "port")]
    baud: u32,
    /// The mesh's key file, if it has a key
    #[arg(long, value_name = "FILE", requires = "port")]
    key_file: Option<PathBuf>,
    /// The spanning tree to follow: everyone is told along a shortest path, or in the fewest steps known if a node can send one copy per step
    #[arg(long, default_value = "least-depth", value_parser = by_name(&Tree::ALL, Tree::name))]
    tree: Tree,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary {
    source: Node,
    tree: &'static str,
    reached: u64,
    duplicates: u64,
    sends: u64,
    depth: u64,
    one_port_steps: u64,
    /// If every node knew how long each part of the tree takes.
    best_one_port_steps: u64,
}

/// Larger trees are summed up, not drawn.
const MAX_DRAWN: u64 = 64;

pub(super) fn run(args: &BroadcastArgs) -> Result<Outcome, CliError> {
    if let Some(port) = &args.port {
        let at = PortArg {
            port: Some(port.clone()),
            baud: args.baud,
            key_file: args.key_file.clone(),
        };
        return talk::broadcast(&at, args.source, &args.what, args.json);
    }
    let network = parse(&args.what)?;
    let source = check(&network, args.source.unwrap_or(0))?;
    let nodes = network.nodes();
    if nodes > MAX_NODES {
        return Err(CliError::too_large(&network, MAX_NODES));
    }
    let broadcast = Broadcast::follow(&network, source, args.tree);
    let summary = Summary {
        source,
        tree: args.tree.name(),
        reached: broadcast.reached(),
        duplicates: broadcast.duplicates,
        sends: broadcast.sends(),
        depth: broadcast.depth,
        one_port_steps: broadcast.one_port_steps(),
        best_one_port_steps: broadcast.best_one_port_steps(),
    };
    print_either(args.json, &summary, |summary| show(&network, &broadcast, summary))?;
    let (reached, duplicates) = (summary.reached, summary.duplicates);
    Ok(Outcome::of(reached == nodes && duplicates == 0, || {
        format!("{network}: the broadcast of {source} reaches {reached} of {nodes} nodes, with {duplicates} duplicates")
    }))
}

fn show(network: &Network, broadcast: &Broadcast, summary: &Summary) -> Result<(), CliError> {
    if network.nodes() <= MAX_DRAWN && summary.duplicates == 0 {
        print(|out| writeln!(out, "{}", broadcast_tree(network, broadcast, summary.source)))?;
    }
    let best = match summary.best_one_port_steps {
        best if best == summary.one_port_steps => "the best order for this tree".into(),
        best => format!("the best order for this tree takes {best}"),
    };
    print_facts(
        &format!("{network}, broadcast of {}", summary.source),
        &[
            ("reached", format!("{} of {} nodes", summary.reached, network.nodes())),
            ("duplicates", summary.duplicates.to_string()),
            ("sends", summary.sends.to_string()),
            ("depth", summary.depth.to_string()),
            ("one-port steps", format!("{}, {best}", summary.one_port_steps)),
        ],
    )
}
