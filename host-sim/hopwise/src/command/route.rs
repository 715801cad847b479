//! `hopwise route`

use clap::Args;
use hopwise_core::{Method, Network, Node, Rule};
use serde::Serialize;

use super::output::{Outcome, print, print_json};
use super::{NetworkArg, RuleArg, check};
use hopwise_networks::distances;
use hopwise_networks::graph::Graph;
use hopwise_networks::refusal::Refusal;

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
    /// The routing rule
    #[arg(long, value_enum, default_value = "exact")]
    rule: RuleArg,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Route {
    path: Vec<Node>,
    hops: u64,
    /// Of a shortest path; unknown if neither address nor search tells.
    distance: Option<u64>,
    /// What the rule came to at the start.
    method: &'static str,
    /// The port taken at each node but the last.
    ports: Vec<u64>,
}

/// Longer routes are not listed.
const MOST_HOPS: u64 = 1 << 20;

/// Networks up to this size are searched for a distance that the addresses do not tell.
const MOST_SEARCHED: u64 = 1 << 22;

pub(super) fn run(args: &RouteArgs) -> Result<Outcome, Refusal> {
    let network = args.network.network()?;
    let (from, to) = (check(&network, args.from)?, check(&network, args.to)?);
    let rule = args.rule.into();
    let path = follow(&network, from, to, rule)?;
    let topology = network.topology();
    let route = Route {
        hops: path.len() as u64 - 1,
        distance: distance(&network, from, to)?,
        method: method_name(topology.method(from, to, rule)),
        ports: path
            .windows(2)
            .filter_map(|hop| topology.port_to(hop[0], hop[1]))
            .collect(),
        path,
    };
    if args.json {
        print_json(&route)?;
    } else {
        show(&network, &route)?;
    }
    Ok(Outcome::Done)
}

/// The nodes of the route, both ends included.
pub(super) fn follow(network: &Network, from: Node, to: Node, rule: Rule) -> Result<Vec<Node>, Refusal> {
    let mut path = vec![from];
    let mut here = from;
    while here != to {
        if path.len() as u64 > MOST_HOPS {
            return Err(Refusal::TooLong {
                expression: network.to_string(),
                from,
                to,
                most: MOST_HOPS,
            });
        }
        here = network.topology().next(here, to, rule);
        path.push(here);
    }
    Ok(path)
}

/// By address, or by search where no exact rule is known.
fn distance(network: &Network, from: Node, to: Node) -> Result<Option<u64>, Refusal> {
    let known = network.topology().distance(from, to);
    if known.is_some() || network.nodes() > MOST_SEARCHED {
        return Ok(known);
    }
    Ok(Some(
        distances::hops_from(&Graph::build(network)?, from as usize)[to as usize].into(),
    ))
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Shortest => "shortest path",
        Method::DigitSearch => "search over the differing digits",
        Method::NearestPivot => "nearest pivot first",
        Method::BestTried => "shortest of the ways tried",
        Method::Paper => "the paper's order",
    }
}

fn show(network: &Network, route: &Route) -> Result<(), Refusal> {
    let ids = route.path.iter().map(|node| node.to_string().len()).max().unwrap_or(0);
    print(|out| {
        for (step, &node) in route.path.iter().enumerate() {
            let address = network
                .address(node)
                .map(|address| address.to_string())
                .unwrap_or_default();
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
        writeln!(out, "{} hops by {}; {distance}", route.hops, route.method)
    })
}
