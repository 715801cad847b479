//! The figures by which networks are compared.

use hopwise_core::graph::Shape;
use hopwise_core::{Family, Network, Tree};
use rayon::prelude::*;
use serde::Serialize;

use super::bisection::{self, Bisection};
use super::broadcast::Broadcast;
use super::figures::Figures;
use super::graph::Graph;
use crate::CannotExamine;

/// Networks up to this size are searched even if there is a formula: the search is as good, and faster.
const ALWAYS_SEARCHED: u64 = 4096;
/// Networks up to this size are searched if a figure has no closed form; larger ones only if vertex-transitive.
const MAX_SEARCHED: u64 = 20_000;
/// Larger networks are not searched even from one node.
const MAX_FROM_ONE_NODE: u64 = 1 << 26;
/// Networks up to this size are broadcast on from every node; larger ones, up to [`MAX_BROADCAST`], if all nodes are alike.
const BROADCAST_FROM_ALL: u64 = 256;
const MAX_BROADCAST: u64 = 1 << 20;

/// The figures of a network that matter to who wires it. The names are those of the JSON keys; what is not known is null.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    pub expression: String,
    pub nodes: u64,
    pub links: u128,
    /// Links for each node: half the mean degree.
    pub links_per_node: f64,
    pub degree_min: u64,
    /// The largest degree: the ports a board must have.
    pub degree_max: u64,
    pub diameter: Option<u64>,
    pub mean_distance: Option<f64>,
    /// Largest degree times diameter.
    pub cost: Option<u64>,
    /// (Largest degree + diameter) / log2(nodes).
    pub cost_ratio: Option<f64>,
    pub bisection: Option<Bisection>,
    /// Steps of a broadcast from the worst source if a node sends one copy a step.
    pub broadcast_steps: Option<u64>,
    pub method: String,
}

/// The RDN paper's cost ratio.
pub fn cost_ratio(nodes: u64, degree: u64, diameter: u64) -> f64 {
    (degree + diameter) as f64 / (nodes as f64).log2()
}

impl Profile {
    /// Degrees, diameter and distances: by search of a small network, by formula for a large one, or by search where there is
    /// none and it does not take too long.
    pub fn distances(network: &Network) -> Result<Profile, CannotExamine> {
        let transitive = network.vertex_transitive();
        let searchable = network.nodes() <= if transitive { MAX_FROM_ONE_NODE } else { MAX_SEARCHED };
        let is_small = network.nodes() <= ALWAYS_SEARCHED;
        let formula = if is_small { None } else { Figures::by_formula(network) };
        let figures = match formula {
            Some(formula) if formula.is_complete() || !searchable => formula,
            _ => Figures::by_search(network, |_, _| ())?,
        };
        let (nodes, degree) = (figures.nodes, figures.degree_max);
        Ok(Profile {
            links: figures.edges,
            links_per_node: figures.edges as f64 / nodes as f64,
            degree_min: figures.degree_min,
            degree_max: degree,
            diameter: figures.diameter,
            mean_distance: figures.mean_distance,
            cost: figures.diameter.map(|diameter| degree * diameter),
            cost_ratio: figures.diameter.map(|diameter| cost_ratio(nodes, degree, diameter)),
            bisection: None,
            broadcast_steps: None,
            method: figures.method,
            expression: figures.expression,
            nodes,
        })
    }

    /// Without the bisection, which `hopwise choose` does not list.
    pub fn for_choice(network: &Network) -> Result<Profile, CannotExamine> {
        let mut profile = Profile::distances(network)?;
        profile.broadcast_steps = broadcast_steps(network);
        Ok(profile)
    }

    /// All of it: also the bounds of the bisection and the steps of a broadcast, where that does not take too long.
    pub fn whole(network: &Network) -> Result<Profile, CannotExamine> {
        let mut profile = Profile::for_choice(network)?;
        if network.nodes() <= bisection::MAX_NODES as u64 {
            profile.bisection = bisection::bounds(&Graph::build(network)?);
        }
        Ok(profile)
    }
}

/// From the worst source.
fn broadcast_steps(network: &Network) -> Option<u64> {
    let nodes = network.nodes();
    // All places of an orbit are alike.
    let places = match network.family() {
        Family::Base(base) => match base.shape() {
            Shape::Lift(lift) => lift.places(),
            _ => 1,
        },
        _ => 1,
    };
    let sources = match network.vertex_transitive() {
        true if nodes <= MAX_BROADCAST => 1,
        false if nodes / places <= BROADCAST_FROM_ALL => nodes / places,
        _ => return None,
    };
    let each = (0..sources).into_par_iter().map(|source| source * places);
    each.map(|source| Broadcast::follow(network, source, Tree::FewestSteps).one_port_steps())
        .max()
}
