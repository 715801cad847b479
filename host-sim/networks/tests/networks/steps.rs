//! One-port broadcast steps of many networks, beside those of the best order for the same tree.

use std::fmt::Write;

use hopwise_core::Tree;
use hopwise_networks::broadcast::Broadcast;
use hopwise_testing::networks;
use rayon::prelude::*;

const SOURCES: usize = 24;

#[test]
fn one_port_steps() {
    let rows = networks("one_port_steps").into_par_iter().map(|expression| {
        let network = crate::audit::network(expression);
        let step = (network.nodes() as usize).div_ceil(SOURCES);
        let sources = (0..network.nodes()).step_by(step);
        let follow = |source| Broadcast::follow(&network, source, Tree::LeastDepth);
        let trees: Vec<Broadcast> = sources.map(follow).collect();
        let most = |steps: fn(&Broadcast) -> u64| trees.iter().map(steps).max().unwrap();
        let (steps, best) = (most(Broadcast::one_port_steps), most(Broadcast::best_one_port_steps));
        (expression, steps, best)
    });
    let rows: Vec<_> = rows.collect();
    let mut table = format!("{:<44} {:>5} {:>5}\n", "most over up to 24 sources", "steps", "best");
    for (expression, steps, best) in rows {
        assert!(best <= steps, "{expression}");
        writeln!(table, "{expression:<44} {steps:>5} {best:>5}").unwrap();
    }
    insta::assert_snapshot!(table);
}
