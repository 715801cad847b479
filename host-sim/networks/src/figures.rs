//! The figures of a network, by formula or by search.

use hopwise_core::{Family, Network};
use serde::Serialize;

use super::closed_form::{self, ClosedForm};
use super::distances;
use super::graph::{Graph, MAX_NODES};
use super::levels::Levels;
use crate::CannotExamine;
use crate::base::Formulas;

/// Networks up to this size are searched from every node; larger ones from one node of each symmetry class.
const SEARCH_ALL: u64 = 20_000;

/// The output of `hopwise topo`, which adds how long it took; the fields are its JSON keys.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    pub expression: String,
    pub nodes: u64,
    pub edges: u128,
    pub degree_min: u64,
    pub degree_max: u64,
    pub connected: bool,
    /// The largest distance; unknown if there is no formula and the network is too large to search.
    pub diameter: Option<u64>,
    /// The sum of the distances over ordered pairs, likewise.
    pub distance_sum: Option<u128>,
    /// The mean distance between two different nodes, likewise.
    pub mean_distance: Option<f64>,
    /// Whether every node is known to see the same network.
    pub vertex_transitive: bool,
    pub method: String,
}

impl Figures {
    /// By formula; figures without one are left out.
    pub fn by_formula(network: &Network) -> Option<Figures> {
        let found = closed_form::figures(network)?;
        Some(Figures::of(network, &found, true, "closed form".into()))
    }

    /// Of what was found; of a network that is not connected there are no distances.
    fn of(network: &Network, found: &ClosedForm, connected: bool, method: String) -> Figures {
        let distance_sum = found.distance_sum.filter(|_| connected);
        Figures {
            expression: network.to_string(),
            nodes: network.nodes(),
            edges: found.edges,
            degree_min: found.degree_min,
            degree_max: found.degree_max,
            connected,
            diameter: found.diameter.filter(|_| connected),
            distance_sum,
            mean_distance: distance_sum.map(|sum| mean(sum, network.nodes())),
            vertex_transitive: network.vertex_transitive(),
            method,
        }
    }

    /// By breadth-first search: on the built-out graph, or straight on the addresses where all nodes are alike. `progress` is
    /// called with how much is done, of how much.
    pub fn by_search(network: &Network, progress: impl Fn(u64, u64) + Sync) -> Result<Figures, CannotExamine> {
        if network.nodes() > SEARCH_ALL && network.vertex_transitive() {
            return Self::from_one_node(network, progress);
        }
        let graph = Graph::build(network)?;
        let sources = sources(network);
        let found = distances::from_sources(&graph, &sources, |done| progress(done, sources.len() as u64));
        let (degree_min, degree_max) = graph.degree_range();
        let distance_sum = found.sum * u128::from(network.nodes()) / sources.len() as u128;
        let from = match sources.len() as u64 {
            all if all == network.nodes() => "every node".into(),
            some => format!("{some} nodes, one of each symmetry class"),
        };
        let counted = ClosedForm {
            edges: graph.edges() as u128,
            degree_min: degree_min as u64,
            degree_max: degree_max as u64,
            diameter: Some(found.largest),
            distance_sum: Some(distance_sum),
        };
        let method = format!("breadth-first search from {from}");
        Ok(Figures::of(network, &counted, found.connected, method))
    }

    /// By formula where that gives all figures, or as many as there can be because the network is too large to build out; else
    /// by search.
    pub fn find(network: &Network, progress: impl Fn(u64, u64) + Sync) -> Result<Figures, CannotExamine> {
        match Figures::by_formula(network) {
            Some(formula) if formula.is_complete() || network.nodes() > MAX_NODES => Ok(formula),
            _ => Figures::by_search(network, progress),
        }
    }

    fn from_one_node(network: &Network, progress: impl Fn(u64, u64)) -> Result<Figures, CannotExamine> {
        let topology = network.unchecked();
        let nodes = network.nodes();
        let found = Levels::search(topology, 0, |reached| progress(reached, nodes))?;
        let degree = topology.degree(0);
        let counted = ClosedForm {
            edges: u128::from(nodes) * u128::from(degree) / 2,
            degree_min: degree,
            degree_max: degree,
            diameter: Some(found.farthest()),
            distance_sum: Some(found.sum() * u128::from(nodes)),
        };
        let method = "breadth-first search from one node (vertex-transitive)".into();
        Ok(Figures::of(network, &counted, found.reached() == nodes, method))
    }

    pub fn is_complete(&self) -> bool {
        self.diameter.is_some() && self.distance_sum.is_some()
    }

    /// The figures in which two accounts of one network differ; what one does not know is not compared.
    pub fn differences(&self, other: &Figures) -> Vec<String> {
        fn differ<T: PartialEq + std::fmt::Display>(name: &str, a: Option<T>, b: Option<T>) -> Option<String> {
            let (a, b) = (a?, b?);
            (a != b).then(|| format!("{name} {a} and {b}"))
        }
        let all = [
            differ("nodes", Some(self.nodes), Some(other.nodes)),
            differ("edges", Some(self.edges), Some(other.edges)),
            differ("degree_min", Some(self.degree_min), Some(other.degree_min)),
            differ("degree_max", Some(self.degree_max), Some(other.degree_max)),
            differ("connected", Some(self.connected), Some(other.connected)),
            differ("diameter", self.diameter, other.diameter),
            differ("distance_sum", self.distance_sum, other.distance_sum),
        ];
        all.into_iter().flatten().collect()
    }
}

fn mean(sum: u128, nodes: u64) -> f64 {
    sum as f64 / (nodes as f64 * (nodes as f64 - 1.0))
}

/// Where to search from so that every node is like one of them, equally many like each.
fn sources(network: &Network) -> Vec<usize> {
    let nodes = network.nodes();
    let transitive = match network.family() {
        _ if nodes <= SEARCH_ALL => nodes,
        // A symmetry of the nucleus, applied to all digits, is one of the network: the first digit may be 0.
        Family::Wk(wk) => nodes / wk.nucleus().nodes(),
        // Flipping bits of the word is a symmetry.
        Family::Rcr(rcr) => rcr.ring(),
        // A symmetry of a frame, applied to its digit, is one of the network: only the position tells nodes apart.
        Family::Re(re) if re.digits_are_alike() => re.unit().nodes(),
        // A symmetry of the nucleus, applied to all digits, makes the highest digit 0. With diameter links it must not change
        // which digits are each other's mirror image: the bits of a cube may be complemented.
        Family::Rsn(rsn) if !rsn.has_diameter_links() && rsn.nucleus().vertex_transitive() => {
            nodes / rsn.nucleus().nodes()
        }
        Family::Rsn(rsn) if rsn.is_of_cubes() => nodes / rsn.nucleus().nodes(),
        Family::Hsn(hsn) if hsn.nucleus().vertex_transitive() => nodes / hsn.nucleus().nodes(),
        Family::Hcn3(hcn3) => nodes >> hcn3.bits(),
        _ => nodes,
    };
    (0..transitive as usize).collect()
}
