use std::collections::BTreeMap;

use clap::Args;

use super::error::CliError;
use super::output::{print, print_json, progress_bar};
use super::parse;
use super::table::{self, known};
use hopwise_networks::profile::Profile;

#[derive(Args)]
pub(super) struct CompareArgs {
    /// The networks, as expressions
    #[arg(value_name = "EXPR", required = true)]
    expressions: Vec<String>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CompareArgs) -> Result<(), CliError> {
    let bar = progress_bar(args.expressions.len() as u64, "comparing");
    let mut networks = Vec::new();
    for expression in &args.expressions {
        networks.push(Profile::whole(&parse(expression)?)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if args.json {
        print_json(&BTreeMap::from([("networks", networks)]))
    } else {
        print(|out| {
            writeln!(out, "{}", profiles(&networks))?;
            writeln!(out, "{LEGEND}")
        })
    }
}

pub(super) const LEGEND: &str = "\
cost = largest degree x diameter; CR = (largest degree + diameter) / log2(nodes); bisection: links between two halves, or bounds
of it; broadcast: steps from the worst source if a node sends one copy per step. ? = not known, and too large to find out.";

/// One line a network.
pub(super) fn profiles(networks: &[Profile]) -> String {
    let titles = "network|nodes|degree|diameter|mean|cost|CR|bisection|broadcast|links|links/node";
    let rows = networks.iter().map(|network| {
        vec![
            network.expression.clone(),
            network.nodes.to_string(),
            table::degrees(network.degree_min, network.degree_max),
            known(network.diameter),
            known(network.mean_distance.map(|mean| format!("{mean:.2}"))),
            known(network.cost),
            known(network.cost_ratio.map(|ratio| format!("{ratio:.2}"))),
            known(network.bisection.as_ref()),
            known(network.broadcast_steps),
            network.links.to_string(),
            format!("{:.2}", network.links_per_node),
        ]
    });
    table::lines(titles, rows)
}
