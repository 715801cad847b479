//! Runs of which everything is drawn by a seed. `tools/campaign swarm` tries 2,000.

use hopwise_sim::Settings;
use hopwise_sim::reduce::{reduce, violation};
use hopwise_sim::swarm::draw;
use rayon::prelude::*;

fn drawn(seed: u64) -> Settings {
    draw(seed, &Settings::default())
}

/// The first that breaks a guarantee is made short: the command that shows it is printed.
#[test]
fn two_hundred_runs_of_which_everything_is_drawn_break_no_guarantee() {
    let broken = |seed: u64| violation(&drawn(seed)).map(|violation| (seed, violation));
    if let Some((seed, first)) = (1..=200_u64).into_par_iter().find_map_any(broken) {
        let (settings, violation) = reduce(&drawn(seed), first);
        panic!("seed {seed}, made short: {}: {}", settings.command(), violation.what);
    }
}
