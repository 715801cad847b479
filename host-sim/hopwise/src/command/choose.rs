//! `hopwise choose`

use std::cmp::Ordering;

use clap::Args;
use hopwise_core::{Family, Network};
use rayon::prelude::*;
use serde::Serialize;

use super::compare::{LEGEND, profiles};
use super::output::{Outcome, print, print_json, progress_bar};
use hopwise_networks::catalogue;
use hopwise_networks::graph::Graph;
use hopwise_networks::isomorphism::{Found, search};
use hopwise_networks::profile::Profile;
use hopwise_networks::refusal::Refusal;

#[derive(Args)]
pub(super) struct ChooseArgs {
    /// How many boards there are
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..=1 << 24))]
    nodes: u64,
    /// How many links a board can have
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    ports: u64,
    /// Also sizes that differ by up to so many percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=50))]
    within: u64,
    /// How many networks to list
    #[arg(long, value_name = "COUNT", default_value_t = 15)]
    top: usize,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Choice {
    nodes: u64,
    ports: u64,
    least_nodes: u64,
    most_nodes: u64,
    /// Networks that fit, the same graph under different names counted once.
    found: usize,
    /// The best of them, best first.
    networks: Vec<Ranked>,
}

#[derive(Serialize)]
struct Ranked {
    #[serde(flatten)]
    profile: Profile,
    /// Other names of the same graph.
    also: Vec<String>,
}

/// Networks up to this size are compared link by link, to tell one graph under two names.
const MOST_COMPARED: u64 = 256;

pub(super) fn run(args: &ChooseArgs) -> Result<Outcome, Refusal> {
    let margin = args.nodes * args.within / 100;
    let (least, most) = ((args.nodes - margin).max(2), args.nodes + margin);
    let candidates: Vec<Network> = (least..=most)
        .flat_map(|nodes| catalogue::networks(nodes, args.ports))
        .collect();
    let bar = progress_bar(candidates.len() as u64, "measuring");
    let measured = candidates.into_par_iter().map(|network| {
        bar.inc(1);
        Ok((Profile::distances(&network)?, network))
    });
    let mut found = measured.collect::<Result<Vec<_>, Refusal>>()?;
    found.sort_by(better);
    let found = name_graphs_once(found)?;
    let mut choice = Choice {
        nodes: args.nodes,
        ports: args.ports,
        least_nodes: least,
        most_nodes: most,
        found: found.len(),
        networks: Vec::new(),
    };
    for (network, also) in found.into_iter().take(args.top) {
        choice.networks.push(Ranked {
            profile: Profile::whole(&network)?,
            also,
        });
    }
    bar.finish_and_clear();
    if args.json {
        print_json(&choice)?;
    } else {
        show(&choice)?;
    }
    Ok(Outcome::Done)
}

/// Short ways first: diameter, mean distance; then fewer links. Of two names a base graph's, then the shorter.
fn better((a, a_network): &(Profile, Network), (b, b_network): &(Profile, Network)) -> Ordering {
    let hops = |profile: &Profile| profile.diameter.unwrap_or(u64::MAX);
    let mean = |profile: &Profile| profile.mean_distance.unwrap_or(f64::MAX);
    let built_up = |network: &Network| !matches!(network.family(), Family::Base(_));
    hops(a)
        .cmp(&hops(b))
        .then(mean(a).total_cmp(&mean(b)))
        .then(a.links.cmp(&b.links))
        .then(built_up(a_network).cmp(&built_up(b_network)))
        .then(a.expression.len().cmp(&b.expression.len()))
        .then(a.expression.cmp(&b.expression))
}

/// The networks in their order, each with the other names it goes by.
fn name_graphs_once(found: Vec<(Profile, Network)>) -> Result<Vec<(Network, Vec<String>)>, Refusal> {
    let mut kept: Vec<(Profile, Network, Option<Graph>, Vec<String>)> = Vec::new();
    for (profile, network) in found {
        let graph = if profile.nodes <= MOST_COMPARED {
            Some(Graph::build(&network)?)
        } else {
            None
        };
        let alike = |kept: &Profile| {
            let figures = |profile: &Profile| {
                (
                    profile.nodes,
                    profile.links,
                    profile.diameter,
                    profile.degree_min,
                    profile.degree_max,
                )
            };
            figures(kept) == figures(&profile) && kept.mean_distance == profile.mean_distance
        };
        let mut candidates = kept.iter_mut().rev().filter(|kept| alike(&kept.0));
        let twin = candidates.find(|kept| match (&kept.2, &graph) {
            (Some(a), Some(b)) => same_graph(&kept.1, a, &network, b),
            _ => false,
        });
        match twin {
            Some(twin) => twin.3.push(profile.expression),
            None => kept.push((profile, network, graph, Vec::new())),
        }
    }
    Ok(kept.into_iter().map(|(_, network, _, also)| (network, also)).collect())
}

/// Link by link, or up to numbering if all nodes of both are alike: then node 0 can be taken to node 0.
fn same_graph(a: &Network, a_graph: &Graph, b: &Network, b_graph: &Graph) -> bool {
    let alike = |network: &Network| network.topology().vertex_transitive();
    a_graph.edge_list().eq(b_graph.edge_list())
        || alike(a) && alike(b) && matches!(search(a_graph, b_graph, &[(0, 0)]), Found::Renumbering(_))
}

fn show(choice: &Choice) -> Result<(), Refusal> {
    let Choice {
        nodes, ports, found, ..
    } = choice;
    let size = match (choice.least_nodes, choice.most_nodes) {
        (least, most) if least == most => format!("exactly {nodes} nodes"),
        (least, most) => format!("{least} to {most} nodes"),
    };
    let shown = choice.networks.len();
    let list: Vec<Profile> = choice.networks.iter().map(|ranked| ranked.profile.clone()).collect();
    print(|out| {
        writeln!(
            out,
            "{found} networks of {size} with at most {ports} links a node; the best {shown} by diameter, then mean distance, then \
             links:\n"
        )?;
        writeln!(out, "{}", profiles(&list))?;
        for ranked in choice.networks.iter().filter(|ranked| !ranked.also.is_empty()) {
            writeln!(out, "{} is also {}", ranked.profile.expression, shortest(&ranked.also))?;
        }
        writeln!(out, "{LEGEND}")
    })
}

/// A few of the names, the shortest first.
fn shortest(names: &[String]) -> String {
    const MOST: usize = 3;
    let mut names = names.to_vec();
    names.sort_by_key(String::len);
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let list = names.join(", ");
    if more > 0 {
        format!("{list} and {more} more")
    } else {
        list
    }
}
