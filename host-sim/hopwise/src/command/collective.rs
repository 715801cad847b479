//! `hopwise collective`: an operation of all nodes together, in synchronous rounds.

use std::num::{IntErrorKind, ParseIntError};
use std::path::{Path, PathBuf};

use clap::Args;
use hopwise_collective::{CannotRun, Operator, Report, Request, run as carry_out, values};
use hopwise_core::collective::{Operation, Ports};
use hopwise_core::{Network, Node};

use super::error::CliError;
use super::output::{Outcome, check_output, print, print_either, print_facts, write_file};
use super::{by_name, parse, table};

#[derive(Args)]
pub(super) struct CollectiveArgs {
    /// The network, as an expression: rdn(ring(3),1), rsn(2,hypercube(2)), torus(4,4) ...
    #[arg(value_name = "EXPR", required_unless_present = "markdown")]
    expression: Option<String>,
    /// What all nodes do together; all-to-all sends node i's input plus j to node j, and permute's targets are drawn by the seed
    #[arg(long, required_unless_present = "markdown", value_parser = by_name(&Operation::ALL, Operation::name))]
    op: Option<Operation>,
    /// How many messages a node can send, and how many it can receive, in a round: one, or one through every port
    #[arg(long, value_name = "MODEL", default_value = "all", value_parser = by_name(&Ports::ALL, Ports::name))]
    port_model: Ports,
    /// One whole number per line, for each node in node order [default: drawn by the seed]
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Write a line for each node, in node order, with what it holds at the end
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What values are combined with, modulo 2^64. affine, which does not commute: a number is the map x -> a x + b modulo 2^32, a its upper and b its
    /// lower 32 bits
    #[arg(long, default_value = Operator::Sum.name(), value_parser = by_name(&Operator::ALL, Operator::name))]
    operator: Operator,
    /// Where a broadcast or scatter comes from, and a reduction or gather goes to
    #[arg(long, value_name = "NODE", default_value_t = 0)]
    root: Node,
    /// The blocks of a broadcast, sent one after the other
    #[arg(long, default_value_t = 1)]
    blocks: u64,
    /// The dimension, from 0, of the network's mesh that a shift goes along; without it, it goes round a ring of all nodes
    #[arg(long, value_name = "NUMBER")]
    dimension: Option<u64>,
    /// The tree of a reduction or broadcast: that of routes, or a complete binary one embedded with dilation at most two, found by a search
    #[arg(long, default_value = "routes", value_parser = ["routes", "binary"])]
    tree: String,
    /// The seed of permutations, and of values without --input
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    /// Print the tables of docs/collectives.md: rounds against lower bounds and published figures, for every family
    #[arg(long, conflicts_with_all = ["expression", "op", "input", "output", "json", "dimension"])]
    markdown: bool,
}

pub(super) fn run(args: &CollectiveArgs) -> Result<Outcome, CliError> {
    let (Some(expression), Some(op)) = (&args.expression, args.op) else {
        return markdown();
    };
    let network = parse(expression)?;
    if let Some(output) = &args.output {
        check_output(output, args.input.as_deref())?;
    }
    let begin = match &args.input {
        Some(path) => read(path)?,
        None => values(network.nodes().min(hopwise_collective::MAX_NODES), args.seed),
    };
    let request = Request {
        operation: op,
        ports: args.port_model,
        values: begin,
        operator: args.operator,
        root: args.root,
        blocks: args.blocks,
        dimension: args.dimension,
        binary_tree: args.tree == "binary",
        seed: args.seed,
        write_down: false,
    };
    let done = match carry_out(&network, &request) {
        Ok(done) => done,
        Err(CannotRun::Conflict(conflict)) => return Ok(Outcome::CheckFailed(format!("{network}: {conflict}"))),
        Err(error) => return Err(error.into()),
    };
    if let Some(output) = &args.output {
        write_file(output, &(done.held.join("\n") + "\n"))?;
    }
    let report = done.report;
    print_either(args.json, &report, show)?;
    Ok(Outcome::of(report.correct, || {
        let op = report.op;
        format!("{network}: {op} does not come to what a sequential computation says")
    }))
}

/// A whole number a line.
fn read(path: &Path) -> Result<Vec<i64>, CliError> {
    let text = hopwise_files::read_text(path, hopwise_files::MAX_TEXT).map_err(|error| CliError::file(path, error))?;
    let number = |(line, text): (usize, &str)| {
        let wrong = |error: ParseIntError| {
            let why = match error.kind() {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "has more than 64 bits",
                _ => "is not a whole number",
            };
            CliError::file(path, format!("line {line}: '{}' {why}", text.trim()))
        };
        text.trim().parse().map_err(wrong)
    };
    (1..).zip(text.lines()).map(number).collect()
}

fn show(report: &Report) -> Result<(), CliError> {
    let rounds = match report.reorder_rounds {
        Some(more) => format!("{}, and {more} to bring values and terms to their nodes", report.rounds),
        None => report.rounds.to_string(),
    };
    let published = report.published.map_or("none".into(), |rounds| rounds.to_string());
    let correct = if report.correct { "yes" } else { "no" };
    let mut facts = vec![
        ("nodes", report.nodes.to_string()),
        ("ports", report.port_model.into()),
        ("method", report.method.clone()),
    ];
    facts.extend(report.dilation.map(|hops| ("dilation", hops.to_string())));
    facts.extend([
        ("rounds", rounds),
        ("at least", report.bound.to_string()),
        ("published", published),
        ("messages", report.messages.to_string()),
        ("largest", format!("{} bytes", report.bytes_max)),
        ("busiest link", format!("{} messages", report.link_load)),
        ("correct", correct.into()),
    ]);
    print_facts(&format!("{}, {}", report.network, report.op), &facts)
}

/// One network or two of every family.
const FAMILIES: &str = include_str!("families.txt");

/// An all-to-all exchange between more nodes takes minutes, and is left out of the tables.
const ALL_TO_ALL_NODES: u64 = 1 << 10;

/// What the tables have columns for.
const COLUMNS: [Operation; 7] = [
    Operation::Broadcast,
    Operation::AllReduce,
    Operation::Scan,
    Operation::AllGather,
    Operation::AllToAll,
    Operation::Sort,
    Operation::Fft,
];

fn markdown() -> Result<Outcome, CliError> {
    for (ports, title) in [(Ports::All, "All ports"), (Ports::One, "One port")] {
        let mut rows = Vec::new();
        for expression in FAMILIES.lines() {
            let network = parse(expression)?;
            let mut row = vec![format!("`{expression}`"), network.nodes().to_string()];
            for operation in COLUMNS {
                row.push(cell(&network, operation, ports)?);
            }
            rows.push(row);
        }
        let mut titles = vec!["network", "nodes"];
        titles.extend(COLUMNS.map(Operation::name));
        let text = table::markdown(&titles.join("|"), rows.into_iter());
        print(|out| write!(out, "## {title}\n\n{text}\n"))?;
    }
    Ok(Outcome::Done)
}

/// Rounds, the fewest possible if that is less, and the published figure if there is one.
fn cell(network: &Network, operation: Operation, ports: Ports) -> Result<String, CliError> {
    if operation == Operation::AllToAll && network.nodes() > ALL_TO_ALL_NODES {
        return Ok("-".into());
    }
    let request = Request {
        ports,
        ..Request::new(operation, values(network.nodes(), 1))
    };
    let report = carry_out(network, &request)?.report;
    let mut cell = report.rounds.to_string();
    if report.bound < report.rounds {
        cell += &format!(" ≥ {}", report.bound);
    }
    if let Some(published) = report.published {
        cell += &format!(" (published {published})");
    }
    if !report.correct {
        cell += " WRONG";
    }
    Ok(cell)
}
