//! `hopwise demo`

use hopwise_core::{Network, Node, Rule, Tree};

use super::broadcast::draw;
use super::output::{Outcome, print};
use super::route::follow;
use hopwise_networks::broadcast::Broadcast;
use hopwise_networks::dependency::{self, Scheme};
use hopwise_networks::distances::hops_from;
use hopwise_networks::figures::Figures;
use hopwise_networks::graph::Graph;
use hopwise_networks::refusal::Refusal;
use hopwise_networks::routes::RoutesTo;

const EXPRESSION: &str = "rdn(ring(3),1)";

/// What was counted over all pairs and all sources.
#[derive(Default)]
struct Counted {
    pairs: u64,
    shortest: u64,
    by_hops: Vec<u64>,
    broadcasts: u64,
    complete: u64,
    least_depth: u64,
    most_steps: u64,
    classes: u32,
    acyclic: bool,
}

pub(super) fn run() -> Result<Outcome, Refusal> {
    let refused = |error| Refusal::Expression {
        expression: EXPRESSION.into(),
        error,
    };
    let network: Network = EXPRESSION.parse().map_err(refused)?;
    let graph = Graph::build(&network)?;
    let figures = Figures::by_search(&network, |_, _| ())?;
    let counted = match count(&network, &graph) {
        Ok(counted) => counted,
        Err(fault) => return Ok(Outcome::CheckFailed(fault)),
    };
    show(&network, &figures, &counted)?;
    let all = counted.pairs == counted.shortest
        && counted.broadcasts == counted.complete
        && counted.broadcasts == counted.least_depth
        && counted.acyclic;
    Ok(if all {
        Outcome::Done
    } else {
        Outcome::CheckFailed(format!("{network}: see the table"))
    })
}

/// Routes every pair, broadcasts from every node, and holds both against breadth-first search.
fn count(network: &Network, graph: &Graph) -> Result<Counted, String> {
    let mut counted = Counted::default();
    for node in 0..graph.nodes() {
        let hops = hops_from(graph, node);
        let routes = RoutesTo::follow(network, graph, node, Rule::Exact).map_err(|fault| fault.to_string())?;
        for (&taken, &shortest) in routes.hops.iter().zip(&hops).filter(|(_, hops)| **hops > 0) {
            counted.pairs += 1;
            counted.shortest += u64::from(taken == shortest);
            let taken = taken as usize;
            counted.by_hops.resize(counted.by_hops.len().max(taken + 1), 0);
            counted.by_hops[taken] += 1;
        }
        let broadcast = Broadcast::follow(network, node as Node, Tree::LeastDepth);
        let farthest = hops.iter().max().copied().unwrap_or(0);
        counted.broadcasts += 1;
        counted.complete += u64::from(broadcast.reached() == network.nodes() && broadcast.duplicates == 0);
        counted.least_depth += u64::from(broadcast.depth == u64::from(farthest));
        counted.most_steps = counted.most_steps.max(broadcast.one_port_steps());
    }
    let found = dependency::build(network, graph, Rule::Exact, Scheme::Network, |_| ());
    let found = found.map_err(|fault| fault.to_string())?;
    counted.classes = found.classes;
    counted.acyclic = found.cycle.is_none();
    Ok(counted)
}

fn show(network: &Network, figures: &Figures, counted: &Counted) -> Result<(), Refusal> {
    let address = |node| {
        network
            .address(node)
            .map(|address| address.to_string())
            .unwrap_or_default()
    };
    let (from, to) = (0, network.nodes() - 1);
    let path = follow(network, from, to, Rule::Exact)?;
    let broadcast = Broadcast::follow(network, 0, Tree::LeastDepth);
    let Counted {
        pairs,
        shortest,
        broadcasts,
        complete,
        least_depth,
        most_steps,
        classes,
        ..
    } = counted;
    print(|out| {
        let (nodes, edges, degree) = (figures.nodes, figures.edges, figures.degree_max);
        writeln!(
            out,
            "{network}: {nodes} nodes, {edges} links, {degree} a node, written (type,cluster,node)\n"
        )?;
        writeln!(
            out,
            "Route from {from} to {to}, each node knowing only its own address and the destination's:\n"
        )?;
        let hops: Vec<String> = path.iter().map(|&node| format!("{node} {}", address(node))).collect();
        writeln!(out, "  {}\n", hops.join(" ── "))?;
        writeln!(
            out,
            "Broadcast of 0, children in the order in which a node with one port sends:\n"
        )?;
        for line in draw(network, &broadcast, 0).lines() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out, "\nChecked against breadth-first search:\n")?;
        writeln!(out, "  hops     {}", numbers(1..counted.by_hops.len() as u64))?;
        writeln!(out, "  routes   {}\n", numbers(counted.by_hops.iter().skip(1).copied()))?;
        writeln!(out, "  {shortest} of {pairs} routes are shortest paths")?;
        writeln!(
            out,
            "  {complete} of {broadcasts} broadcasts reach every node exactly once"
        )?;
        writeln!(
            out,
            "  {least_depth} of {broadcasts} are as shallow as possible; one port a node: {most_steps} steps"
        )?;
        let deadlock = if counted.acyclic { "cannot" } else { "CAN" };
        writeln!(out, "  finite buffers of {classes} classes {deadlock} deadlock")
    })
}

fn numbers(row: impl Iterator<Item = u64>) -> String {
    row.map(|number| format!("{number:>6}")).collect()
}
