use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hopwise_core::{Network, Node};
use hopwise_networks::{recognise, tables};
use indicatif::ProgressBar;

use super::error::CliError;
use super::output::{counted, listed, print, print_either};
use recognise::Recognised;

#[derive(Args)]
pub(super) struct RecogniseArgs {
    /// The cables: a line each, two node numbers from 0, as `hopwise edges` prints them
    file: PathBuf,
    /// If it is no network, how long to look for one of which some boards and cables are missing, or cables wrong
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    seconds: u64,
    /// Print a JSON object, with the node of the network for each node of the file
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &RecogniseArgs) -> Result<(), CliError> {
    let wrong = |reason: &dyn std::fmt::Display| CliError::file(&args.file, reason);
    let text = hopwise_files::read_text(&args.file, hopwise_files::MAX_TEXT).map_err(|error| wrong(&error))?;
    let graph = tables::read_parts(&text).map_err(|error| wrong(&error))?;
    let bar = ProgressBar::new_spinner().with_message("comparing with networks");
    bar.enable_steady_tick(Duration::from_millis(120));
    let found = recognise::recognise_nearly(graph, Duration::from_secs(args.seconds));
    bar.finish_and_clear();
    print_either(args.json, &found, show)
}

fn show(found: &Recognised) -> Result<(), CliError> {
    let Recognised { nodes, edges, .. } = found;
    print(|out| {
        if let Some(part) = &found.part {
            let first = part[0];
            writeln!(
                out,
                "There are boards without a path between them. This is the largest part, that of board {first}."
            )?;
        }
        let (Some(network), Some(mapping)) = (&found.network, &found.mapping) else {
            writeln!(out, "{nodes} nodes and {edges} links: no network that is known.")?;
            if !found.undecided.is_empty() {
                let undecided = found.undecided.join(", ");
                writeln!(out, "It would take too long to compare it with {undecided}.")?;
            }
            return Ok(());
        };
        let number = |node: usize| found.part.as_ref().map_or(node, |part| part[node]);
        if found.verdict == "almost" {
            let all = counted((nodes + found.missing_boards.len()) as u64, "board");
            let cables = counted(found.missing_cables.len() as u64, "cable");
            let wrong = found.wrong_cables.len();
            writeln!(
                out,
                "{nodes} nodes and {edges} links: almost {network}, {nodes} of {all}, {cables} missing, {wrong} wrong."
            )?;
            if !found.also.is_empty() {
                writeln!(out, "It is as near to {}.", listed(&found.also))?;
            }
            let board = |node| mapping.iter().position(|&at| at == node).map(number);
            let network: Option<Network> = network.parse().ok();
            for line in network
                .iter()
                .flat_map(|network| differences(found, network, board, |board| format!("board {board}")))
            {
                writeln!(out, "{line}")?;
            }
        } else {
            writeln!(out, "{nodes} nodes and {edges} links: this is {network}.")?;
            if !found.also.is_empty() {
                writeln!(out, "It is also {}.", found.also.join(", "))?;
            }
        }
        writeln!(out, "\nnode  in {network}")?;
        let mut pairs = (0..).zip(mapping);
        pairs.try_for_each(|(node, to): (usize, _)| writeln!(out, "{:>4}  {to}", number(node)))
    })
}

/// What to plug and unplug. `board` is the board that is a node of the network, and `plug` says where a cable can be plugged at a board.
pub(super) fn differences(
    found: &Recognised,
    network: &Network,
    board: impl Fn(usize) -> Option<usize>,
    mut plug: impl FnMut(usize) -> String,
) -> Vec<String> {
    let network = network.unchecked();
    let neighbor = |node: usize, port| network.neighbor(node as Node, port).map(|near| near as usize);
    let ports = |node: usize| 0..network.degree(node as Node);
    let end = |from: usize, to| match ports(from).find(|&port| neighbor(from, port) == Some(to)) {
        Some(port) => format!("node {from} port {port}"),
        None => format!("node {from}"),
    };
    let mut place = |node: usize| board(node).map_or(format!("the board for node {node}"), &mut plug);
    let mut lines = Vec::new();
    for &node in &found.missing_boards {
        let neighbors = listed(ports(node).filter_map(|port| neighbor(node, port)).map(&mut place));
        lines.push(format!("No board is node {node}, which has cables to {neighbors}."));
    }
    for &(u, v) in &found.missing_cables {
        let (a, b, from, to) = (place(u), place(v), end(u, v), end(v, u));
        lines.push(format!("One cable would be between {from} and {to}: plug {a} to {b}."));
    }
    for (a, b) in &found.wrong_cables {
        lines.push(format!("No cable would be between board {a} and board {b}: unplug it."));
    }
    lines
}
