//! The simulator in the width that a network needs: nodes of few links are made smaller.

use std::io::Write;

use hopwise_core::limits::PEERS;

use super::run::{Account, Plan, RunError, run};

/// Boards of few links, and of as many as a node can have.
const NARROW: usize = 8;
const WIDE: usize = 32;
/// Peers that a node of a larger mesh than the default is made for remembers.
const MANY: usize = 256;

/// Runs a plan; the trace is written down if there is somewhere to write it.
pub fn simulate<'a>(
    plan: &'a Plan,
    trace: Option<&'a mut (dyn Write + 'a)>,
    progress: &mut dyn FnMut(u64),
) -> Result<Account, RunError> {
    let network = &plan.build.network;
    let widest = (0..network.nodes()).filter_map(|node| network.degree(node).ok()).max();
    let narrow = widest.unwrap_or(0) <= NARROW as u64;
    let few = network.nodes() <= PEERS as u64;
    match (narrow, few) {
        (true, true) => run::<NARROW, PEERS>(plan, trace, progress),
        (true, false) => run::<NARROW, MANY>(plan, trace, progress),
        (false, _) => run::<WIDE, MANY>(plan, trace, progress),
    }
}
