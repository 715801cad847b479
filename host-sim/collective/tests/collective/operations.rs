//! Every operation, on golden and on random networks.

use hopwise_collective::{Operator, Request, run, values};
use hopwise_core::Network;
use hopwise_core::collective::{Operation, Ports, Ring};
use hopwise_networks::distances::hops_from;
use hopwise_networks::graph::Graph;
use hopwise_testing::networks;
use proptest::prelude::*;

use crate::support::{all_operations, golden, network, right};

#[path = "../../../../core/tests/all/expressions.rs"]
mod expressions;

/// Larger ones are the long target's.
const SMALL: u64 = 200;

#[test]
fn every_operation_is_right_on_golden_networks() {
    let networks = golden(SMALL);
    assert!(networks.len() > 30);
    for (seed, network) in (1..).zip(networks) {
        all_operations(&network, seed);
    }
}

#[test]
fn every_operation_is_right_on_the_smallest_networks() {
    for expression in networks("smallest_of_each_family") {
        all_operations(&network(expression), 3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_operation_is_right_on_random_networks(network in small_network(), seed in any::<u64>()) {
        all_operations(&network, seed);
    }

    /// Commutative operators fold what is not next to each other, too.
    #[test]
    fn every_operator_folds_in_node_order(
        network in small_network(),
        which in 0..Operator::ALL.len(),
        seed in any::<u64>(),
    ) {
        for operation in [Operation::Reduce, Operation::AllReduce, Operation::Scan, Operation::ExclusiveScan] {
            let begin = Request::new(operation, values(network.nodes(), seed));
            right(&network, &Request { operator: Operator::ALL[which], seed, ..begin });
        }
    }

    #[test]
    fn long_broadcasts_follow_each_other(
        network in small_network(),
        blocks in 1..20u64,
        one_port in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let ports = if one_port { Ports::One } else { Ports::All };
        let root = seed % network.nodes();
        let request = Request {
            ports,
            root,
            blocks,
            seed,
            ..Request::new(Operation::Broadcast, values(network.nodes(), seed))
        };
        let report = right(&network, &request);
        let single = right(&network, &Request { blocks: 1, ..request });
        let most = network.nodes() - 1;
        prop_assert!(report.rounds >= single.rounds + blocks - 1);
        let longest_period = if one_port { most } else { 1 };
        prop_assert!(report.rounds <= single.rounds + (blocks - 1) * longest_period);
        prop_assert_eq!(report.messages, blocks * most);
    }
}

/// A network of at most 130 nodes.
fn small_network() -> impl Strategy<Value = Network> {
    expressions::expression().prop_filter_map("no network of a few nodes", |text| {
        let network: Network = text.parse().ok()?;
        (network.nodes() <= 130).then(|| network.with_search_memory(usize::MAX))
    })
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    let ring = network("ring(5)");
    let refusal = |request: Request| run(&ring, &request).unwrap_err().to_string();
    let sum = || Request::new(Operation::Reduce, vec![1; 5]);
    assert_eq!(
        refusal(Request {
            values: vec![1; 4],
            ..sum()
        }),
        "ring(5) has 5 nodes, and there are 4 values"
    );
    let seen = refusal(Request { root: 5, ..sum() });
    assert_eq!(seen, "there is no node 5: the network has nodes 0 to 4");
    let seen = refusal(Request { blocks: 0, ..sum() });
    assert_eq!(seen, "a broadcast has 1 to 65536 blocks, not 0");
    let seen = refusal(Request { blocks: 2, ..sum() });
    assert_eq!(seen, "only a broadcast goes in blocks, reduce does not");
    let dimension = Some(1);
    let seen = refusal(Request { dimension, ..sum() });
    assert_eq!(seen, "only a shift goes along a dimension, reduce does not");
    let shift = |network: &str| {
        let network: Network = network.parse().unwrap();
        let begin = Request::new(Operation::Shift, vec![1; network.nodes() as usize]);
        run(&network, &Request { dimension, ..begin }).unwrap_err().to_string()
    };
    let seen = shift("ring(5)");
    assert_eq!(seen, "ring(5) has no dimension 1 to shift along: it has 0 only");
    let why = "wk(3,2) has no dimension 1 to shift along: its node numbers have no digits with links of their own";
    assert_eq!(shift("wk(3,2)"), why);
    let tree = |network: &str, operation, values| {
        let begin = Request::new(operation, vec![1; values]);
        let request = Request {
            binary_tree: true,
            ..begin
        };
        run(&network.parse().unwrap(), &request).unwrap_err().to_string()
    };
    let expected = "a binary tree serves reduce, and broadcast of one block, not sort";
    assert_eq!(tree("ring(5)", Operation::Sort, 5), expected);
    let why = "no complete binary tree of 4 levels with its root at node 0 and dilation 2 was found in path(15)";
    assert_eq!(tree("path(15)", Operation::Reduce, 15), why);
    let large = network("hypercube(13)");
    let error = run(&large, &Request::new(Operation::AllToAll, vec![1; 1 << 13])).unwrap_err();
    let why = "hypercube(13) has 8192 nodes, too many to carry out all-to-all on (at most 4096)";
    assert_eq!(error.to_string(), why);
}

/// Shifts go round one ring of all nodes, whose neighbors are within its dilation.
#[test]
fn rings_of_golden_networks_pass_every_node_once() {
    let mut hamiltonian = 0;
    for network in golden(700) {
        let ring = Ring::new(&network);
        hamiltonian += usize::from(ring.dilation() == 1);
        let graph = Graph::build(&network).unwrap();
        let (mut here, mut passed) = (0, 0);
        loop {
            let next = ring.next(here).unwrap();
            let hops = hops_from(&graph, here as usize)[next as usize];
            let within = u64::from(hops) <= ring.dilation();
            assert!(within, "{network}: {hops} hops from {here} to {next}");
            (here, passed) = (next, passed + 1);
            if here == 0 || passed > network.nodes() {
                break;
            }
        }
        assert_eq!(passed, network.nodes(), "{network}");
    }
    assert!(hamiltonian > 2, "{hamiltonian}");
}
