use clap::Args;
use hopwise_core::Node;
use serde::Serialize;

use super::error::CliError;
use super::output::{print, print_json};
use super::{NetworkArg, check};
use hopwise_networks::drawing::address;

#[derive(Args)]
pub(super) struct NeighborsArgs {
    #[command(flatten)]
    network: NetworkArg,
    /// The node
    node: Node,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Neighbors {
    node: Node,
    address: String,
    degree: usize,
    /// In ascending order.
    neighbors: Vec<Node>,
    /// In the order of the ports.
    by_port: Vec<Node>,
}

/// More neighbors than this are not listed.
const MOST: u64 = 1 << 20;

pub(super) fn run(args: &NeighborsArgs) -> Result<(), CliError> {
    let network = args.network.network()?;
    let topology = network.unchecked();
    let node = check(&network, args.node)?;
    let degree = topology.degree(node);
    if degree > MOST {
        return Err(CliError::network(
            &network,
            format_args!("node {node} has {degree} neighbors, too many to list (at most {MOST})"),
        ));
    }
    let by_port: Vec<Node> = (0..degree).filter_map(|port| topology.neighbor(node, port)).collect();
    if args.json {
        let mut neighbors = by_port.clone();
        neighbors.sort_unstable();
        print_json(&Neighbors {
            node,
            address: address(&network, node),
            degree: by_port.len(),
            neighbors,
            by_port,
        })
    } else {
        print(|out| {
            writeln!(out, "node {node} {}", address(&network, node))?;
            let mut ports = by_port.iter().enumerate();
            ports.try_for_each(|(port, &node)| writeln!(out, "  port {port}  {node}  {}", address(&network, node)))
        })
    }
}
