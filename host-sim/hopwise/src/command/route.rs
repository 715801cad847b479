use clap::Args;
use hopwise_core::{Network, Node, Rule};

use super::error::CliError;
use super::output::{counted, print, print_either};
use super::{NetworkArg, by_name};
use hopwise_networks::drawing::address;
use hopwise_networks::routes::Route;

#[derive(Args)]
pub(super) struct RouteArgs {
    #[command(flatten)]
    network: NetworkArg,
    /// Where the packet starts
    #[arg(value_name = "A")]
    from: Node,
    /// Where it goes
    #[arg(value_name = "B")]
    to: Node,
    /// The routing rule: exact takes a shortest path wherever a rule for it is known, paper the order of the network's own paper
    #[arg(long, value_name = "RULE", default_value = "exact", value_parser = by_name(&Rule::ALL, Rule::name))]
    rule: Rule,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &RouteArgs) -> Result<(), CliError> {
    let network = args.network.network()?;
    let route = Route::follow(&network, args.from, args.to, args.rule)?;
    print_either(args.json, &route, |route| show(&network, route))
}

fn show(network: &Network, route: &Route) -> Result<(), CliError> {
    let ids = route.path.iter().map(|node| node.to_string().len()).max().unwrap_or(0);
    print(|out| {
        for (step, &node) in route.path.iter().enumerate() {
            let address = address(network, node);
            write!(out, "{step:>4}  {node:>ids$}  {address}")?;
            match route.ports.get(step) {
                Some(port) => writeln!(out, "  out of port {port}")?,
                None => writeln!(out)?,
            }
        }
        let distance = match route.distance {
            Some(distance) if distance == route.hops => "as short as possible".into(),
            Some(distance) => format!("the shortest path has {distance}"),
            None => "whether there is a shorter path is not known".into(),
        };
        writeln!(out, "{} by {}; {distance}", counted(route.hops, "hop"), route.method)
    })
}
