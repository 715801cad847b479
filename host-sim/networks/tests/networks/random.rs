//! Every guarantee, on networks drawn at random. A failure prints the smallest expression that fails.

use proptest::prelude::*;

#[path = "../../../../core/tests/all/expressions.rs"]
mod expressions;

/// Networks up to this size are audited; larger ones, which take minutes, are drawn again.
const MAX_NODES: u64 = 300;

fn small(expression: &str) -> bool {
    let parsed = expression.parse::<hopwise_core::Network>();
    parsed.is_ok_and(|network| network.nodes() <= MAX_NODES)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn drawn_networks_keep_their_guarantees(expression in expressions::expression().prop_filter("small enough", |text| small(text))) {
        crate::audit::audit(&expression);
    }
}
