//! The simulator in the width that a network needs: nodes of few links are made smaller.

use std::io::Write;

use hopwise_core::limits::PEERS;

use super::run::{Account, RunError, SimRun, run};

/// Boards of few links, and of as many as a node can have.
const NARROW: usize = 8;
const WIDE: usize = 32;
/// Peers that a node of a larger mesh than the default is made for remembers.
const MANY: usize = 256;

/// Simulates a run; the trace is written down if there is somewhere to write it.
pub fn simulate<'a>(
    what: &'a SimRun,
    trace: Option<&'a mut (dyn Write + 'a)>,
    progress: &mut dyn FnMut(u64),
) -> Result<Account, RunError> {
    let network = &what.build.network;
    let widest = (0..network.nodes()).filter_map(|node| network.degree(node).ok()).max();
    let narrow = widest.unwrap_or(0) <= NARROW as u64;
    let few = network.nodes() <= PEERS as u64;
    match (narrow, few) {
        (true, true) => run::<NARROW, PEERS>(what, trace, progress),
        (true, false) => run::<NARROW, MANY>(what, trace, progress),
        (false, _) => run::<WIDE, MANY>(what, trace, progress),
    }
}
