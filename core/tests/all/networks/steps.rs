//! Broadcasts where a node sends one copy at a time.

use super::guarantees::follow;
use crate::support::*;

/// Steps of the tree of fewest steps, the most over all sources.
#[test]
fn broadcasts_of_fewest_steps() {
    for (expression, steps) in figures("fewest_steps") {
        let network = network(expression);
        let steps_from = |source| follow(&network, source, Tree::FewestSteps).1;
        assert_eq!(
            (0..network.nodes()).map(steps_from).max(),
            Some(steps[0]),
            "{expression}"
        );
    }
    let (_, steps) = follow(&network("folded(heawood,3)"), 1_234, Tree::FewestSteps);
    assert_eq!(steps, 12);
}

/// Theorem 3 of the RDN paper: 2^k B + 2^(k+1) - 2 over a base that takes B steps.
#[test]
fn dual_nets_take_the_steps_of_the_paper() {
    for (base, levels) in [
        ("ring(3)", 1),
        ("ring(3)", 2),
        ("ring(5)", 1),
        ("ring(5)", 2),
        ("hypercube(2)", 2),
        ("petersen", 1),
    ] {
        let (_, base_steps) = follow(&network(base), 0, Tree::LeastDepth);
        let network = network(&format!("rdn({base},{levels})"));
        for source in [0, network.nodes() / 2, network.nodes() - 1] {
            let (_, steps) = follow(&network, source, Tree::LeastDepth);
            let expected = (base_steps << levels) + (2 << levels) - 2;
            assert_eq!(steps, expected, "{network} from {source}");
        }
    }
}
