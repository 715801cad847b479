//! Runs of which everything is drawn by a seed. `tools/campaign swarm` tries 2,000.

use hopwise_sim::reduce::{reduce, violation};
use hopwise_sim::swarm::draw;
use rayon::prelude::*;

#[test]
fn sixty_runs_of_which_everything_is_drawn_break_no_promise() {
    let broken = |seed: u64| violation(&draw(seed)).map(|violation| (seed, violation));
    let broken: Vec<_> = (1..=60_u64).into_par_iter().filter_map(broken).collect();
    if let Some((seed, first)) = broken.first() {
        let (settings, violation) = reduce(&draw(*seed), first.clone());
        let seeds: Vec<u64> = broken.iter().map(|(seed, _)| *seed).collect();
        panic!(
            "seeds {seeds:?}; the first, made short: {}: {}",
            settings.command(),
            violation.what
        );
    }
}
