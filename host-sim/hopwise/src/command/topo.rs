use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::NetworkArg;
use super::error::CliError;
use super::output::{Outcome, print_either, print_facts, progress_bar};
use hopwise_networks::figures::Figures;

#[derive(Args)]
pub(super) struct TopoArgs {
    #[command(flatten)]
    network: NetworkArg,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    /// Use a breadth-first search even where there is a closed form
    #[arg(long)]
    search: bool,
    /// Find the figures by both methods and compare them; exit status 1 if they differ
    #[arg(long)]
    verify: bool,
}

#[derive(Serialize)]
struct Timed {
    #[serde(flatten)]
    figures: Figures,
    seconds: f64,
}

pub(super) fn run(args: &TopoArgs) -> Result<Outcome, CliError> {
    let network = args.network.network()?;
    let bar = progress_bar(0, "searching");
    let progress = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let started = Instant::now();
    let figures = if args.search || args.verify {
        Figures::by_search(&network, progress)?
    } else {
        Figures::find(&network, progress)?
    };
    let seconds = started.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let differences = match Figures::by_formula(&network) {
        Some(formula) if args.verify => figures.differences(&formula),
        _ => Vec::new(),
    };
    print_either(args.json, &Timed { figures, seconds }, show)?;
    Ok(Outcome::of(differences.is_empty(), || {
        let list = differences.join(", ");
        format!("{network}: search and closed form differ in {list}")
    }))
}

fn show(Timed { figures, seconds }: &Timed) -> Result<(), CliError> {
    let unknown = || "unknown: no closed form, and too large to search".to_string();
    let degree = match (figures.degree_min, figures.degree_max) {
        (min, max) if min == max => min.to_string(),
        (min, max) => format!("{min} to {max}"),
    };
    let diameter = figures.diameter.map_or_else(unknown, |hops| hops.to_string());
    let mean = figures.mean_distance.map_or_else(unknown, |hops| format!("{hops:.4}"));
    let sum = figures.distance_sum.map_or_else(unknown, |sum| sum.to_string());
    let transitive = if figures.vertex_transitive {
        "yes"
    } else {
        "not known to be"
    };
    print_facts(
        &figures.expression,
        &[
            ("nodes", figures.nodes.to_string()),
            ("edges", figures.edges.to_string()),
            ("degree", degree),
            ("connected", if figures.connected { "yes" } else { "no" }.into()),
            ("diameter", diameter),
            ("mean distance", mean),
            ("distance sum", sum),
            ("vertex-transitive", transitive.into()),
            ("found by", format!("{} in {seconds:.3} s", figures.method)),
        ],
    )
}
