//! Whether an experiment makes sense.

use hopwise_language::{BadDestinations, Destinations, Traffic, UnsuitableTraffic};

use super::{Effort, Experiment};
use crate::parameters::{BadParameters, Paths};
use crate::routes::MAX_TABLE_NODES;

/// Largest network that is simulated: port and channel numbers have 32 bits, and memory has an end.
const MAX_NODES: u64 = 1 << 24;
const MAX_LINK_ENDS: u64 = 1 << 27;

/// An experiment that makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadExperiment {
    #[error(transparent)]
    Parameters(#[from] BadParameters),
    #[error(transparent)]
    Traffic(#[from] UnsuitableTraffic),
    #[error(transparent)]
    Destinations(#[from] BadDestinations),
    #[error("{network} has {nodes} nodes, too many to simulate (at most {MAX_NODES})")]
    Nodes { network: String, nodes: u64 },
    #[error("{network} has {ends} ends of links, too many to simulate (at most {MAX_LINK_ENDS})")]
    LinkEnds { network: String, ends: u64 },
    #[error("a precision is above 0 and below 1, not {0}")]
    Precision(f64),
    #[error("a latency limit is above 0, not {0}")]
    LatencyLimit(f64),
    #[error("a batch has 2 to 2^20 cycles")]
    Batch,
    #[error("at most 2^30 cycles are measured")]
    Cycles,
    #[error("a rate is from 0 to 1 packets per node and cycle, not {0}")]
    Rate(f64),
    #[error("{network} has {nodes} nodes, too many for {what} (at most {MAX_TABLE_NODES})")]
    Tables {
        network: String,
        nodes: u64,
        what: &'static str,
    },
    #[error("{network} has nodes with more than 32 links, too many for adaptive routing")]
    Degree { network: String },
    #[error("broadcasts go by their own rule: neither adaptive nor Valiant routing nor failures change it")]
    Broadcast,
}

/// What routers make: there are no queries with answers here, and a storm is a rate that is too high.
fn can_make(traffic: Traffic) -> bool {
    !matches!(traffic, Traffic::PingAll | Traffic::BroadcastStorm)
}

/// Whether an experiment makes sense.
pub fn check(experiment: &Experiment<'_>) -> Result<(), BadExperiment> {
    experiment.parameters.check()?;
    let network = experiment.network;
    let nodes = network.nodes();
    if nodes > MAX_NODES {
        return Err(BadExperiment::Nodes {
            network: network.to_string(),
            nodes,
        });
    }
    let topology = network.unchecked();
    let ends: u64 = (0..nodes).map(|node| topology.degree(node)).sum();
    if ends > MAX_LINK_ENDS {
        return Err(BadExperiment::LinkEnds {
            network: network.to_string(),
            ends,
        });
    }
    let Effort {
        precision,
        most_cycles,
        latency_limit,
        batch_bits,
        ..
    } = experiment.effort;
    if !(precision > 0.0 && precision < 1.0) {
        return Err(BadExperiment::Precision(precision));
    }
    if latency_limit.is_nan() || latency_limit <= 0.0 {
        return Err(BadExperiment::LatencyLimit(latency_limit));
    }
    if !(1..=20).contains(&batch_bits) {
        return Err(BadExperiment::Batch);
    }
    if most_cycles > 1 << 30 {
        return Err(BadExperiment::Cycles);
    }
    if !(0.0..=1.0).contains(&experiment.rate) {
        return Err(BadExperiment::Rate(experiment.rate));
    }
    experiment.traffic.for_user("a load", can_make)?;
    let paths = experiment.parameters.paths;
    for (wanted, what) in [
        (experiment.failures.is_some(), "failures"),
        (paths.is_adaptive(), "adaptive routing"),
    ] {
        if wanted && nodes > MAX_TABLE_NODES {
            return Err(BadExperiment::Tables {
                network: network.to_string(),
                nodes,
                what,
            });
        }
    }
    if paths.is_adaptive() && (0..nodes).any(|node| topology.degree(node) > 32) {
        return Err(BadExperiment::Degree {
            network: network.to_string(),
        });
    }
    if experiment.traffic.is_broadcast() && (paths != Paths::Rule || experiment.failures.is_some()) {
        return Err(BadExperiment::Broadcast);
    }
    Ok(Destinations::check(experiment.traffic, network)?)
}
