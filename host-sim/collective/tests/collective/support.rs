//! What the tests share: the golden expressions, and an operation carried out in both port models.

use hopwise_collective::{Operator, Report, Request, run, values};
use hopwise_core::Network;
use hopwise_core::collective::{Operation, Ports};

pub(crate) fn golden(most: u64) -> Vec<Network> {
    let text = include_str!("../../../../core/tests/golden/networks.json");
    let all: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
    assert_eq!(all.len(), 64);
    let networks = all.iter().map(|entry| network(entry["spec"].as_str().unwrap()));
    networks.filter(|network| network.nodes() <= most).collect()
}

pub(crate) fn network(expression: &str) -> Network {
    let network: Network = expression.parse().unwrap();
    network.with_search_memory(usize::MAX)
}

/// Carries out an operation; the test fails unless it is right and no faster than possible.
pub(crate) fn right(network: &Network, request: &Request) -> Report {
    let name = request.operation.name();
    let command = format!(
        "hopwise collective '{network}' --op {name} --port-model {} --operator {} --root {} --seed {}",
        if request.ports == Ports::One { "one" } else { "all" },
        request.operator.name(),
        request.root,
        request.seed
    );
    let done = run(network, request).unwrap_or_else(|error| panic!("{command}: {error}"));
    let report = done.report;
    assert!(report.correct, "{command}: wrong result");
    assert!(report.rounds >= report.bound, "{command}: {report:?}");
    assert_eq!(done.held.len() as u64, network.nodes(), "{command}");
    report
}

/// All operations in both port models, folding with an operator that does not commute.
pub(crate) fn all_operations(network: &Network, seed: u64) {
    for operation in Operation::ALL {
        for ports in [Ports::All, Ports::One] {
            let request = Request {
                ports,
                operator: Operator::Affine,
                root: seed % network.nodes(),
                seed,
                ..Request::new(operation, values(network.nodes(), seed))
            };
            right(network, &request);
        }
    }
}
