//! `hopwise demo`: what routing from addresses does on a small network, all of it checked.

use std::error::Error;
use std::fmt::{self, Write};

use hopwise_core::{Network, Rule, Tree};
use hopwise_networks::audit::Audit;
use hopwise_networks::broadcast::Broadcast;
use hopwise_networks::drawing::{address, broadcast_tree};
use hopwise_networks::figures::Figures;
use hopwise_networks::graph::Graph;
use hopwise_networks::routes::Route;

const EXPRESSION: &str = "rdn(ring(3),1)";

pub struct Demo {
    pub text: String,
    pub failure: Option<String>,
}

impl Demo {
    /// Routes every pair, broadcasts from every node, and checks everything.
    pub fn run() -> Result<Demo, Box<dyn Error + Send + Sync>> {
        let network: Network = EXPRESSION.parse()?;
        let figures = Figures::by_search(&network, |_, _| ())?;
        let mut demo = Demo {
            text: String::new(),
            failure: None,
        };
        match Audit::of(&network, &Graph::build(&network)?) {
            Ok(audit) => {
                let path = Route::follow(&network, 0, network.nodes() - 1, Rule::Exact)?.path;
                show(&mut demo.text, &network, &figures, &path, &audit)?;
                demo.failure = (!audit.passed()).then(|| format!("{network}: see the table"));
            }
            Err(fault) => demo.failure = Some(fault.to_string()),
        }
        Ok(demo)
    }
}

fn show(out: &mut String, network: &Network, figures: &Figures, path: &[u64], audit: &Audit) -> fmt::Result {
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
    let (nodes, edges, degree) = (figures.nodes, figures.edges, figures.degree_max);
    writeln!(
        out,
        "{network}: {nodes} nodes, {edges} links, {degree} per node; addresses are (type,cluster,node)\n"
    )?;
    writeln!(
        out,
        "Route from 0 to {}, each node knowing only its own address and the destination's:\n",
        nodes - 1
    )?;
    let hops = path.iter().map(|&node| format!("{node} {}", address(network, node)));
    let hops: Vec<String> = hops.collect();
    writeln!(out, "  {}\n", hops.join(" ── "))?;
    writeln!(
        out,
        "Broadcast of 0, children in the order in which a node with one port sends:\n"
    )?;
    for line in broadcast_tree(network, &broadcast, 0).lines() {
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
}

fn numbers(row: impl Iterator<Item = u64>) -> String {
    row.map(|number| format!("{number:>6}")).collect()
}
