//! The best networks for a number of boards with a number of ports.

use std::cmp::Ordering;

use hopwise_core::{Family, Network};
use rayon::prelude::*;
use serde::Serialize;

use super::catalogue;
use super::figures::CannotSearch;
use super::graph::Graph;
use super::isomorphism::{Found, search};
use super::profile::Profile;

/// Networks up to this size are compared link by link, to tell one graph under two names.
const MOST_COMPARED: u64 = 256;

/// What boards there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How many.
    pub nodes: u64,
    /// How many links each can have.
    pub ports: u64,
    /// Also sizes that differ by up to so many percent.
    pub within_percent: u64,
    /// How many networks to list.
    pub top: usize,
}

/// The networks for them. The names are those of the JSON keys of `hopwise choose`.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The boards that there are.
    pub nodes: u64,
    /// The links that each can have.
    pub ports: u64,
    /// The smallest size looked at.
    pub least_nodes: u64,
    /// The largest size looked at.
    pub most_nodes: u64,
    /// Networks that fit, the same graph under different names counted once.
    pub found: usize,
    /// The best of them, best first.
    pub networks: Vec<Ranked>,
}

/// A network of the choice.
#[derive(Clone, Debug, Serialize)]
pub struct Ranked {
    /// Its figures.
    #[serde(flatten)]
    pub profile: Profile,
    /// Other names of the same graph.
    pub also: Vec<String>,
}

impl Choice {
    /// Measures every network of the catalogue that fits. `progress` is called with how many of how many are measured.
    pub fn of(wanted: Wanted, progress: impl Fn(u64, u64) + Sync) -> Result<Choice, CannotSearch> {
        let margin = wanted.nodes * wanted.within_percent / 100;
        let (least_nodes, most_nodes) = ((wanted.nodes - margin).max(2), wanted.nodes + margin);
        let candidates: Vec<Network> = (least_nodes..=most_nodes)
            .flat_map(|nodes| catalogue::networks(nodes, wanted.ports))
            .collect();
        let all = candidates.len() as u64;
        let done = std::sync::atomic::AtomicU64::new(0);
        let measured = candidates.into_par_iter().map(|network| {
            progress(1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed), all);
            Ok((Profile::distances(&network)?, network))
        });
        let mut found = measured.collect::<Result<Vec<_>, CannotSearch>>()?;
        found.sort_by(better);
        let found = name_graphs_once(found)?;
        let mut choice = Choice {
            nodes: wanted.nodes,
            ports: wanted.ports,
            least_nodes,
            most_nodes,
            found: found.len(),
            networks: Vec::new(),
        };
        for (network, also) in found.into_iter().take(wanted.top) {
            let profile = Profile::whole(&network)?;
            choice.networks.push(Ranked { profile, also });
        }
        Ok(choice)
    }
}

/// Short paths first: diameter, mean distance; then fewer links. Of two names a base graph's, then the shorter.
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

/// A network that is kept, and what later ones are compared with.
struct Kept {
    profile: Profile,
    network: Network,
    graph: Option<Graph>,
    also: Vec<String>,
}

impl Kept {
    fn has_figures_of(&self, profile: &Profile) -> bool {
        let figures = |profile: &Profile| {
            let degrees = (profile.degree_min, profile.degree_max);
            (profile.nodes, profile.links, profile.diameter, degrees)
        };
        figures(&self.profile) == figures(profile) && self.profile.mean_distance == profile.mean_distance
    }

    /// Link by link, or up to numbering if all nodes of both are alike: then node 0 can be taken to node 0.
    fn is_graph_of(&self, network: &Network, graph: Option<&Graph>) -> bool {
        let (Some(a), Some(b)) = (&self.graph, graph) else {
            return false;
        };
        let alike = |network: &Network| network.vertex_transitive();
        a.edge_list().eq(b.edge_list())
            || alike(&self.network) && alike(network) && matches!(search(a, b, &[(0, 0)]), Found::Renumbering(_))
    }
}

/// The networks in their order, each with the other names it goes by.
fn name_graphs_once(found: Vec<(Profile, Network)>) -> Result<Vec<(Network, Vec<String>)>, CannotSearch> {
    let mut kept: Vec<Kept> = Vec::new();
    for (profile, network) in found {
        let small = profile.nodes <= MOST_COMPARED;
        let graph = if small { Some(Graph::build(&network)?) } else { None };
        let mut candidates = kept.iter_mut().rev().filter(|kept| kept.has_figures_of(&profile));
        match candidates.find(|kept| kept.is_graph_of(&network, graph.as_ref())) {
            Some(twin) => twin.also.push(profile.expression),
            None => kept.push(Kept {
                profile,
                network,
                graph,
                also: Vec::new(),
            }),
        }
    }
    Ok(kept.into_iter().map(|kept| (kept.network, kept.also)).collect())
}
