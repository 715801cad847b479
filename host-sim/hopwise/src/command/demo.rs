//! `hopwise demo`

use hopwise_core::{Network, Rule, Tree};

use super::broadcast::draw;
use super::error::CliError;
use super::output::{Outcome, address, print};
use super::parse;
use hopwise_networks::audit::Audit;
use hopwise_networks::broadcast::Broadcast;
use hopwise_networks::figures::Figures;
use hopwise_networks::graph::Graph;
use hopwise_networks::routes::Route;

const EXPRESSION: &str = "rdn(ring(3),1)";

pub(super) fn run() -> Result<Outcome, CliError> {
    let network = parse(EXPRESSION)?;
    let figures = Figures::by_search(&network, |_, _| ())?;
    let audit = match Audit::of(&network, &Graph::build(&network)?) {
        Ok(audit) => audit,
        Err(fault) => return Ok(Outcome::CheckFailed(fault.to_string())),
    };
    show(&network, &figures, &audit)?;
    Ok(if audit.passed() {
        Outcome::Done
    } else {
        Outcome::CheckFailed(format!("{network}: see the table"))
    })
}

fn show(network: &Network, figures: &Figures, audit: &Audit) -> Result<(), CliError> {
    let (from, to) = (0, network.nodes() - 1);
    let path = Route::follow(network, from, to, Rule::Exact)?.path;
    let broadcast = Broadcast::follow(network, 0, Tree::LeastDepth);
    let Audit {
        pairs,
        shortest,
        broadcasts,
        complete,
        least_depth,
        most_steps,
        classes,
        ..
    } = audit;
    print(|out| {
        let (nodes, edges, degree) = (figures.nodes, figures.edges, figures.degree_max);
        writeln!(
            out,
            "{network}: {nodes} nodes, {edges} links, {degree} per node; addresses are (type,cluster,node)\n"
        )?;
        writeln!(
            out,
            "Route from {from} to {to}, each node knowing only its own address and the destination's:\n"
        )?;
        let hops: Vec<String> = path
            .iter()
            .map(|&node| format!("{node} {}", address(network, node)))
            .collect();
        writeln!(out, "  {}\n", hops.join(" ── "))?;
        writeln!(
            out,
            "Broadcast of 0, children in the order in which a node with one port sends:\n"
        )?;
        for line in draw(network, &broadcast, 0).lines() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out, "\nChecked against breadth-first search:\n")?;
        writeln!(out, "  hops     {}", numbers(1..audit.by_hops.len() as u64))?;
        writeln!(out, "  routes   {}\n", numbers(audit.by_hops.iter().skip(1).copied()))?;
        writeln!(out, "  {shortest} of {pairs} routes are shortest paths")?;
        writeln!(
            out,
            "  {complete} of {broadcasts} broadcasts reach every node exactly once"
        )?;
        writeln!(
            out,
            "  {least_depth} of {broadcasts} are as shallow as possible; with one port per node: {most_steps} steps"
        )?;
        let deadlock = if audit.acyclic { "cannot" } else { "CAN" };
        writeln!(out, "  finite buffers of {classes} classes {deadlock} deadlock")
    })
}

fn numbers(row: impl Iterator<Item = u64>) -> String {
    row.map(|number| format!("{number:>6}")).collect()
}
