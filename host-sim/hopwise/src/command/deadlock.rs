use clap::Args;
use serde::de::IntoDeserializer;
use serde::{Deserialize, Serialize};

use hopwise_core::Rule;

use super::error::CliError;
use super::output::{Outcome, print, print_either, print_facts, progress_bar};
use super::{NetworkArg, by_name};
use hopwise_networks::buffer_classes;
use hopwise_networks::dependency::{self, Channel, Scheme};
use hopwise_networks::graph::Graph;

#[derive(Args)]
pub(super) struct DeadlockArgs {
    #[command(flatten)]
    network: NetworkArg,
    /// The routing rule: exact takes a shortest path wherever a rule for it is known, paper the order of the network's own paper
    #[arg(long, value_name = "RULE", default_value = "exact", value_parser = by_name(&Rule::ALL, Rule::name))]
    rule: Rule,
    /// How packets get a buffer class: network, as it defines them; valleys, the number of nodes ahead that are numbered lower than the one before
    /// and the one after; hops, the number of hops ahead; one class for all; or virtual-channels, those of a board, for packets and for broadcasts
    #[arg(long, default_value = "network", value_parser = parse_scheme)]
    scheme: Scheme,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

fn parse_scheme(text: &str) -> Result<Scheme, serde::de::value::Error> {
    Scheme::deserialize(text.into_deserializer())
}

#[derive(Serialize)]
struct Report {
    acyclic: bool,
    /// Classes in use.
    classes: u32,
    /// What the network asks for without looking at all routes; only for its own scheme.
    classes_bound: Option<u64>,
    scheme: Scheme,
    channels: usize,
    dependencies: usize,
    cycle: Option<Vec<Channel>>,
}

/// All pairs of nodes are routed, so larger networks take too long.
const MAX_NODES: u64 = 20_000;

pub(super) fn run(args: &DeadlockArgs) -> Result<Outcome, CliError> {
    let network = args.network.network()?;
    let nodes = network.nodes();
    if nodes > MAX_NODES {
        return Err(CliError::too_large(&network, MAX_NODES));
    }
    let graph = Graph::build(&network)?;
    let bar = progress_bar(nodes, "following all routes");
    let (rule, scheme) = (args.rule, args.scheme);
    let found = dependency::build(&network, &graph, rule, scheme, |done| bar.set_position(done));
    bar.finish_and_clear();
    let found = match found {
        Ok(found) => found,
        Err(fault) => return Ok(Outcome::CheckFailed(fault.to_string())),
    };
    let report = Report {
        acyclic: found.cycle.is_none(),
        classes: found.classes,
        classes_bound: (scheme == Scheme::Network).then(|| buffer_classes::count(&network, rule)),
        scheme,
        channels: found.channels,
        dependencies: found.dependencies,
        cycle: found.cycle,
    };
    print_either(args.json, &report, |report| show(&network.to_string(), report))?;
    Ok(Outcome::of(report.acyclic, || {
        format!("{network}: finite buffers of these classes can deadlock")
    }))
}

fn show(title: &str, report: &Report) -> Result<(), CliError> {
    let classes = match report.classes_bound {
        Some(bound) if bound > u64::from(report.classes) => {
            format!("{} in use, {bound} without looking at all routes", report.classes)
        }
        _ => report.classes.to_string(),
    };
    let cycles = match report.acyclic {
        true => "none: no deadlock",
        false => "at least one: can deadlock",
    };
    print_facts(
        title,
        &[
            ("cycles", cycles.into()),
            ("classes", classes),
            ("channels", report.channels.to_string()),
            ("dependencies", report.dependencies.to_string()),
        ],
    )?;
    let Some(cycle) = &report.cycle else { return Ok(()) };
    print(|out| {
        writeln!(out, "each of these waits for the next, the last for the first:")?;
        let mut channels = cycle.iter();
        channels.try_for_each(|c| writeln!(out, "  {} -> {}  class {}", c.from, c.to, c.class))
    })
}
