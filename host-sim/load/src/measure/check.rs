//! Whether an experiment makes sense.

use hopwise_language::{Destinations, Traffic};

use super::{Effort, Experiment};
use crate::bad::{BadLoad, bad};
use crate::parameters::Paths;
use crate::routes::MAX_TABLE_NODES;

/// Largest network that is simulated: port and channel numbers have 32 bits, and memory has an end.
const MAX_NODES: u64 = 1 << 24;
const MAX_LINK_ENDS: u64 = 1 << 27;

/// What routers make: there are no queries with answers here, and a storm is a rate that is too high.
fn can_make(traffic: Traffic) -> bool {
    !matches!(traffic, Traffic::PingAll | Traffic::BroadcastStorm)
}

pub fn check(experiment: &Experiment<'_>) -> Result<(), BadLoad> {
    experiment.parameters.check()?;
    let network = experiment.network;
    let nodes = network.nodes();
    if nodes > MAX_NODES {
        let why = format!("{network} has {nodes} nodes, too many to simulate (at most {MAX_NODES})");
        return Err(bad(why));
    }
    let topology = network.unchecked();
    let ends: u64 = (0..nodes).map(|node| topology.degree(node)).sum();
    if ends > MAX_LINK_ENDS {
        let why = format!("{network} has {ends} ends of links, too many to simulate (at most {MAX_LINK_ENDS})");
        return Err(bad(why));
    }
    let Effort {
        precision,
        most_cycles,
        latency_limit,
        batch_bits,
        ..
    } = experiment.effort;
    if !(precision > 0.0 && precision < 1.0) {
        return Err(bad(format!("a precision is above 0 and below 1, not {precision}")));
    }
    if latency_limit.is_nan() || latency_limit <= 0.0 {
        return Err(bad(format!("a latency limit is above 0, not {latency_limit}")));
    }
    if !(1..=20).contains(&batch_bits) {
        return Err(bad("a batch has 2 to 2^20 cycles"));
    }
    if most_cycles > 1 << 30 {
        return Err(bad("at most 2^30 cycles are measured"));
    }
    let rate = experiment.rate;
    if !(0.0..=1.0).contains(&rate) {
        let why = format!("a rate is from 0 to 1 packets per node and cycle, not {rate}");
        return Err(bad(why));
    }
    experiment.traffic.for_user("a load", can_make).map_err(bad)?;
    let paths = experiment.parameters.paths;
    for (wanted, what) in [
        (experiment.failures.is_some(), "failures"),
        (paths.is_adaptive(), "adaptive routing"),
    ] {
        if wanted && nodes > MAX_TABLE_NODES {
            let why = format!("{network} has {nodes} nodes, too many for {what} (at most {MAX_TABLE_NODES})");
            return Err(bad(why));
        }
    }
    if paths.is_adaptive() && (0..nodes).any(|node| topology.degree(node) > 32) {
        let why = format!("{network} has nodes with more than 32 links, too many for adaptive routing");
        return Err(bad(why));
    }
    let others = paths != Paths::Rule || experiment.failures.is_some() || experiment.traffic.is_broadcast();
    if experiment.routes.is_some() && others {
        let why =
            "routes of one's own are only for packets that go by the rule, without failures, and not for broadcasts";
        return Err(bad(why));
    }
    if experiment.traffic.is_broadcast() && (paths != Paths::Rule || experiment.failures.is_some()) {
        let why = "broadcasts go by their own rule: neither adaptive nor Valiant routing nor failures change it";
        return Err(bad(why));
    }
    Destinations::check(experiment.traffic, network).map_err(bad)
}
