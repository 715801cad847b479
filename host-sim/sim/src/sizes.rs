//! The simulator in the width that a network needs: nodes of few links are made smaller.

use std::io::Write;

use hopwise_node::capacities::Capacities;

use super::programs::{self, Program, Programs};
use super::run::{Account, RunError, SimRun, run};
use super::shell::Shell;
use super::world::{Narrow, NarrowOfMany, Wide};

/// Simulates a run; the trace is written down if there is somewhere to write it.
pub fn simulate<'a>(
    what: &'a SimRun,
    trace: Option<&'a mut (dyn Write + 'a)>,
    progress: &mut dyn FnMut(u64),
) -> Result<Account, RunError> {
    play(what, None, trace, None, progress)
}

/// The same with something between nodes and world.
pub fn simulate_with<'a>(
    what: &'a SimRun,
    shell: &'a mut dyn Shell,
    trace: Option<&'a mut (dyn Write + 'a)>,
    progress: &mut dyn FnMut(u64),
) -> Result<Account, RunError> {
    play(what, Some(shell), trace, None, progress)
}

/// Lets a program run on every board, in place of the traffic of a run: for its duration, or until all have ended.
pub fn simulate_programs(what: &SimRun, program: &Program<'_>) -> Result<Account, RunError> {
    let shared = programs::shared(&what.build.network);
    play(what, None, None, Some(Programs::new(program, &shared)), &mut |_| ())
}

fn play<'a>(
    what: &'a SimRun,
    shell: Option<&'a mut dyn Shell>,
    trace: Option<&'a mut (dyn Write + 'a)>,
    programs: Option<Programs<'a>>,
    progress: &mut dyn FnMut(u64),
) -> Result<Account, RunError> {
    let network = &what.build.network;
    let widest = (0..network.nodes()).filter_map(|node| network.degree(node).ok()).max();
    // A host takes a link of its board.
    let widest = widest.unwrap_or(0) + u64::from(!what.build.hosts.is_empty());
    let narrow = widest <= Narrow::SIZES.links as u64;
    let few = network.nodes() <= Narrow::SIZES.peers as u64;
    match (narrow, few) {
        (true, true) => run::<Narrow>(what, shell, trace, programs, progress),
        (true, false) => run::<NarrowOfMany>(what, shell, trace, programs, progress),
        (false, _) => run::<Wide>(what, shell, trace, programs, progress),
    }
}
