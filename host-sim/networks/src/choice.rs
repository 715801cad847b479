//! The best networks for a number of boards with a number of ports.

use std::cmp::Ordering;

use hopwise_core::graph::Shape;
use hopwise_core::{Family, Network};
use rayon::prelude::*;
use serde::Serialize;

use super::catalogue;
use super::graph::Graph;
use super::isomorphism::{Found, Sorted, search};
use super::lifts::anneal::Effort;
use super::lifts::bound::Bound;
use super::lifts::grow::grown;
use super::lifts::{Catalogue, anneal};
use super::profile::Profile;
use super::usage::Usage;
use crate::CannotExamine;

/// Networks up to this size are compared link by link, to tell one graph under two names.
const MAX_COMPARED: u64 = 1_024;

/// Networks whose boards search all digits for the next hop are routed up to this size, for the figures that need all routes: larger ones
/// take seconds each.
const MAX_BY_DIGITS: u64 = 128;

/// Steps of a search for a lift of a size that the catalogue has not got, and for where to put nodes into one: some seconds.
const LIFT: Effort = Effort { steps: 60_000, seed: 1 };
const GROWTH: Effort = Effort { steps: 400, seed: 1 };

/// A mean distance that is less than this above the bound is good, and nothing else is looked for.
const GOOD: f64 = 0.03;

/// A network that a person can read is recommended if its mean distance is at most this much above that of the best.
pub const NEAR_THE_BEST: f64 = 0.05;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub nodes: u64,
    /// How many links each can have.
    pub ports: u64,
    /// Also sizes that differ by up to this many percent.
    pub within_percent: u64,
    pub top: usize,
}

/// The networks for them. The names are those of the JSON keys of `hopwise choose`.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    pub nodes: u64,
    pub ports: u64,
    /// The smallest size looked at.
    pub least_nodes: u64,
    /// The largest size looked at.
    pub most_nodes: u64,
    /// No graph of the wanted size has a smaller mean distance.
    pub bound_mean_distance: f64,
    /// Nor a smaller diameter.
    pub bound_diameter: u64,
    /// Networks that fit, each under every name it has.
    pub found: usize,
    pub best: Option<Pick>,
    /// The best one that a person can read and a board computes quickly, if it is [near](NEAR_THE_BEST).
    pub recommended: Option<Pick>,
    /// The best of them, best first.
    pub networks: Vec<Ranked>,
    /// Remarks: why some ports stay unused, and which sizes nearby are better.
    pub remarks: Vec<String>,
    /// The edges of a graph for the wanted size, routed by tables, where no network is near the bound.
    pub graph: Option<Grown>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Pick {
    pub network: String,
    pub mean: Option<f64>,
    /// No graph of its size has a smaller one.
    pub bound: f64,
    /// How a board finds the next hop.
    pub next_hop: &'static str,
}

impl Pick {
    fn new((profile, network): &(Profile, Network), ports: u64) -> Self {
        Pick {
            network: profile.expression.clone(),
            mean: profile.mean_distance,
            bound: Bound::new(profile.nodes, ports).mean(),
            next_hop: next_hop(network),
        }
    }
}

/// How a board finds the next hop: by a [formula](FORMULA) or by a search, of a graph or of the orders of digits. Base graphs and most families
/// have formulas; lifts do not, nor do recursive expansions that are no walk along a simple unit.
pub fn next_hop(network: &Network) -> &'static str {
    let walks = |unit| matches!(unit, Shape::Line(..) | Shape::Star(_));
    match network.family() {
        Family::Re(re) if !re.routes_by_walk() || !walks(re.unit().shape()) => "search",
        _ if network.to_string().contains("lift(") => "search",
        _ => FORMULA,
    }
}

/// What [`next_hop`] says of networks whose boards need hundreds of instructions for it, and not thousands.
pub const FORMULA: &str = "formula";

/// A graph that is no network of the language.
#[derive(Clone, Debug, Serialize)]
pub struct Grown {
    pub diameter: u64,
    pub mean_distance: f64,
    /// By which share that is above the bound.
    pub excess: f64,
    /// Every edge once.
    pub edges: Vec<(usize, usize)>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Ranked {
    #[serde(flatten)]
    pub profile: Profile,
    /// By which share its mean distance is above the bound for its size and the wanted ports.
    pub excess: Option<f64>,
    pub next_hop: &'static str,
    /// Lanes that its routes use on boards; unknown for large ones.
    pub virtual_channels: Option<u64>,
    /// Packets that a node can make in a cycle until some link is always busy, uniform traffic; likewise.
    pub saturation_estimate: Option<f64>,
    /// Other names of the same graph.
    pub also: Vec<String>,
}

impl Ranked {
    fn new(network: &Network, also: Vec<String>, ports: u64) -> Result<Self, CannotExamine> {
        let by_digits = matches!(network.family(), Family::Re(re) if !re.routes_by_walk());
        let quick = !by_digits || network.nodes() <= MAX_BY_DIGITS;
        let measure = if quick { Profile::for_choice } else { Profile::distances };
        let profile = measure(network)?;

        let usage = if quick { Usage::of(network) } else { None };
        let excess = |mean| Bound::new(network.nodes(), ports).excess(mean);
        Ok(Ranked {
            excess: profile.mean_distance.map(excess),
            next_hop: next_hop(network),
            virtual_channels: usage.map(|usage| usage.virtual_channels),
            saturation_estimate: usage.map(|usage| usage.saturation),
            profile,
            also,
        })
    }
}

impl Choice {
    /// Measures every network of the catalogues that fits. `progress` is called with how many of how many are measured.
    pub fn of(wanted: Wanted, progress: impl Fn(u64, u64) + Sync) -> Result<Choice, CannotExamine> {
        let Wanted { nodes, ports, .. } = wanted;
        let margin = nodes * wanted.within_percent / 100;
        let (least_nodes, most_nodes) = ((nodes - margin).max(2), nodes + margin);
        let lifts = Catalogue::kept();
        let candidates = (least_nodes..=most_nodes).flat_map(|nodes| catalogue::networks(nodes, ports));
        let mut candidates: Vec<Network> = candidates.collect();
        candidates.extend((least_nodes..=most_nodes).filter_map(|size| lift(&lifts, size, ports, size == nodes)));
        let all = candidates.len() as u64;
        let done = std::sync::atomic::AtomicU64::new(0);
        let measured = candidates.into_par_iter().map(|network| {
            progress(1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed), all);
            Ok((Profile::distances(&network)?, network))
        });
        let mut found = measured.collect::<Result<Vec<_>, CannotExamine>>()?;
        found.sort_by(better);
        let bound = Bound::new(nodes, ports);
        let mut choice = Choice {
            nodes,
            ports,
            least_nodes,
            most_nodes,
            bound_mean_distance: bound.mean(),
            bound_diameter: bound.diameter(),
            found: found.len(),
            best: found.first().map(|best| Pick::new(best, ports)),
            recommended: recommended(&found).map(|found| Pick::new(found, ports)),
            networks: Vec::new(),
            remarks: Vec::new(),
            graph: None,
        };
        let listed = name_graphs_once(found, wanted.top)?.into_par_iter();
        let ranked = listed.map(|(network, also)| Ranked::new(&network, also, ports));
        choice.networks = ranked.collect::<Result<_, CannotExamine>>()?;
        choice.look_further(&lifts);
        Ok(choice)
    }

    /// The alternatives if no network of the requested size is near the bound.
    fn look_further(&mut self, lifts: &Catalogue) {
        let Choice { nodes, ports, .. } = *self;
        let ends = nodes * ports;
        if ends % 2 == 1 {
            self.remarks.push(format!(
                "{nodes} boards cannot all have {ports} links: {ends} ends of cables are odd. {} and {} boards can, or {} links",
                nodes - 1,
                nodes + 1,
                ports - 1
            ));
        }
        let mine = self.networks.iter().filter(|network| network.profile.nodes == nodes);
        let best = mine.filter_map(|network| network.excess).fold(f64::INFINITY, f64::min);
        if best <= GOOD {
            return;
        }
        let good = |size: u64| {
            let entry = lifts.get(size, ports)?;
            let mean = entry.distance_sum as f64 / (size * (size - 1)) as f64;
            let excess = Bound::new(size, ports).excess(mean);
            (excess <= GOOD).then_some((size, excess))
        };
        let near = [(2..nodes).rev().find_map(good), (nodes + 1..2 * nodes).find_map(good)];
        for (size, excess) in near.into_iter().flatten() {
            self.remarks.push(format!(
                "{size} boards come {:.1}% above their bound: hopwise choose --nodes {size} --ports {ports}",
                100.0 * excess
            ));
        }
        let bound = Bound::new(nodes, ports);
        if let Some((graph, found)) = grown(lifts, nodes, ports, GROWTH) {
            let mean = found.sum as f64 / (nodes * (nodes - 1)) as f64;
            if bound.excess(mean) < best {
                self.graph = Some(Grown {
                    diameter: found.largest,
                    mean_distance: mean,
                    excess: bound.excess(mean),
                    edges: graph.edge_list().collect(),
                });
            }
        }
    }
}

/// Of networks in order the first with a formula, if it is near the best.
fn recommended(found: &[(Profile, Network)]) -> Option<&(Profile, Network)> {
    let most = (1.0 + NEAR_THE_BEST) * found.first()?.0.mean_distance?;
    let is_near = |(profile, _): &&(Profile, Network)| profile.mean_distance.is_some_and(|mean| mean <= most);
    let mut near = found.iter().take_while(is_near);

    near.find(|(_, network)| next_hop(network) == FORMULA)
}

/// The best lift known; if none is, and it is worth it, it is looked for. If the ends of cables would be odd in number, one with a link
/// less at each node.
fn lift(lifts: &Catalogue, nodes: u64, ports: u64, look: bool) -> Option<Network> {
    let ports = ports - if ports > 3 { nodes % 2 * (ports % 2) } else { 0 };
    let expression = match lifts.get(nodes, ports) {
        Some(entry) => entry.expression.clone(),
        None if look => anneal::search(nodes, ports, LIFT)?.expression,
        None => return None,
    };
    expression.parse().ok()
}

/// Short paths first: mean distance, diameter; then fewer links; then the [preferred](catalogue::preference) name.
fn better((a, a_network): &(Profile, Network), (b, b_network): &(Profile, Network)) -> Ordering {
    let hops = |profile: &Profile| profile.diameter.unwrap_or(u64::MAX);
    let mean = |profile: &Profile| profile.mean_distance.unwrap_or(f64::MAX);
    mean(a)
        .total_cmp(&mean(b))
        .then(hops(a).cmp(&hops(b)))
        .then(a.links.cmp(&b.links))
        .then_with(|| catalogue::preference(a_network).cmp(&catalogue::preference(b_network)))
}
/// A network that is kept, and what later ones are compared with.
struct Kept {
    profile: Profile,
    network: Network,
    graph: Option<Sorted>,
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

    /// Up to numbering. Where all nodes are alike, node 0 can be taken to node 0.
    fn is_graph_of(&self, network: &Network, graph: Option<&Sorted>) -> bool {
        let (Some(a), Some(b)) = (&self.graph, graph) else {
            return false;
        };
        let alike = self.network.vertex_transitive() || network.vertex_transitive();
        let pins: &[_] = if alike { &[(0, 0)] } else { &[] };
        matches!(search(a, b, pins), Found::Renumbering(_))
    }
}

/// The first `top` graphs in order, each with the other names it goes by.
fn name_graphs_once(found: Vec<(Profile, Network)>, top: usize) -> Result<Vec<(Network, Vec<String>)>, CannotExamine> {
    let mut kept: Vec<Kept> = Vec::new();
    for (profile, network) in found {
        // Names of the same graph follow each other.
        if kept.len() >= top && kept.last().is_none_or(|last| !last.has_figures_of(&profile)) {
            break;
        }
        let small = profile.nodes <= MAX_COMPARED;
        let sorted = |graph| Sorted::new(graph, network.vertex_transitive());
        let graph = small.then(|| Graph::build(&network)).transpose()?.map(sorted);

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
    kept.truncate(top);
    Ok(kept.into_iter().map(|kept| (kept.network, kept.also)).collect())
}
