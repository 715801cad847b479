//! Runs of which everything is drawn by a seed. `tools/campaign swarm` tries 2,000.

use hopwise_sim::Settings;
use hopwise_sim::reduce::{reduce, violation};
use hopwise_sim::swarm::draw;
use rayon::prelude::*;

fn drawn(seed: u64) -> Settings {
    draw(seed, &Settings::default())
}

#[test]
fn sixty_runs_of_which_everything_is_drawn_break_no_guarantee() {
    let broken = |seed: u64| violation(&drawn(seed)).map(|violation| (seed, violation));
    let broken: Vec<_> = (1..=60_u64).into_par_iter().filter_map(broken).collect();
    if let Some((seed, first)) = broken.first() {
        let (settings, violation) = reduce(&drawn(*seed), first.clone());
        let seeds: Vec<u64> = broken.iter().map(|(seed, _)| *seed).collect();
        panic!(
            "seeds {seeds:?}; the first, made short: {}: {}",
            settings.command(),
            violation.what
        );
    }
}
