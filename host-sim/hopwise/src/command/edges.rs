use clap::Args;

use super::NetworkArg;
use super::error::CliError;
use super::output::print;
use hopwise_networks::graph::Graph;

#[derive(Args)]
pub(super) struct EdgesArgs {
    #[command(flatten)]
    network: NetworkArg,
}

pub(super) fn run(args: &EdgesArgs) -> Result<(), CliError> {
    let graph = Graph::build(&args.network.network()?)?;
    print(|out| graph.edge_list().try_for_each(|(u, v)| writeln!(out, "{u} {v}")))
}
