//! One-port broadcast steps of many networks, beside those of the best order for the same tree.

use std::fmt::Write;

use hopwise_core::Tree;
use hopwise_networks::broadcast::Broadcast;
use rayon::prelude::*;

const NETWORKS: [&str; 41] = [
    "ring(7)",
    "ring(8)",
    "path(6)",
    "complete(6)",
    "star(6)",
    "hypercube(5)",
    "folded-hypercube(5)",
    "torus(4,4,4)",
    "torus(5,5)",
    "mesh(4,5)",
    "ghc(3,4)",
    "nstar(4)",
    "nstar(5)",
    "petersen",
    "heawood",
    "rdn(ring(3),1)",
    "rdn(ring(3),2)",
    "rdn(torus(3,3),1)",
    "rdn(heawood,1)",
    "re(ring(4),complete(3),3)",
    "re(ring(4),complete(3),5)",
    "re(ring(4),ring(4),2)",
    "re(ring(4),ring(4),4)",
    "re(complete(2),ring(6),6)",
    "re(complete(2),complete(8),8)",
    "re(ring(4),path(3),3)",
    "re(ring(5),star(4),3)",
    "re(hypercube(3),hypercube(3),2)",
    "re([ring(3),ring(4),ring(5)],complete(3))",
    "re(heawood,heawood,1)",
    "re(ring(4),ring(4),2,sd)",
    "rcr(2,2,1)",
    "rcr(2,3,4)",
    "rcr(2,5,3)",
    "rcr(2,2,2)",
    "rcr(1,4,3)",
    "rcr(1,6,5)",
    "rcr(3,3,3)",
    "rcr(2,6,4)",
    "rcr(3,5,4)",
    "ccc(5)",
];

/// Sources tried in each network.
const SOURCES: usize = 24;

#[test]
fn one_port_steps() {
    let rows = NETWORKS.par_iter().map(|expression| {
        let network = crate::audit::network(expression);
        let step = (network.nodes() as usize).div_ceil(SOURCES);
        let sources = (0..network.nodes()).step_by(step);
        let trees: Vec<Broadcast> = sources
            .map(|source| Broadcast::follow(&network, source, Tree::LeastDepth))
            .collect();
        let most = |steps: fn(&Broadcast) -> u64| trees.iter().map(steps).max().unwrap();
        (
            expression,
            most(Broadcast::one_port_steps),
            most(Broadcast::best_one_port_steps),
        )
    });
    let rows: Vec<_> = rows.collect();
    let mut table = format!("{:<44} {:>5} {:>5}\n", "most over up to 24 sources", "steps", "best");
    for (expression, steps, best) in rows {
        assert!(best <= steps, "{expression}");
        writeln!(table, "{expression:<44} {steps:>5} {best:>5}").unwrap();
    }
    insta::assert_snapshot!(table);
}

/// Theorem 3 of the RDN paper: 2^k B + 2^(k+1) - 2 over a base that takes B steps.
#[test]
fn dual_nets_take_the_steps_of_the_paper() {
    for (base, levels) in [
        ("ring(3)", 1),
        ("ring(3)", 2),
        ("ring(5)", 2),
        ("hypercube(2)", 2),
        ("petersen", 1),
    ] {
        let base_steps = Broadcast::follow(&crate::audit::network(base), 0, Tree::LeastDepth).one_port_steps();
        let network = crate::audit::network(&format!("rdn({base},{levels})"));
        let expected = (base_steps << levels) + (2 << levels) - 2;
        for source in [0, network.nodes() / 2, network.nodes() - 1] {
            assert_eq!(
                Broadcast::follow(&network, source, Tree::LeastDepth).one_port_steps(),
                expected,
                "{network} from {source}"
            );
        }
    }
}
