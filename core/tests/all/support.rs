//! What the tests use of core, under the names that they use.

pub(crate) use hopwise_core::{Network, Rule, Tree};

pub(crate) use hopwise_testing::{Random, cases, figures, networks, rows};

pub(crate) type Node = u64;

pub(crate) fn network(expression: &str) -> Network {
    expression
        .parse()
        .unwrap_or_else(|error| panic!("{expression}: {error}"))
}
