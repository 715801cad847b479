//! Every operation, on golden and on random networks.

use hopwise_collective::{Operator, Request, run, values};
use hopwise_core::Network;
use hopwise_core::collective::{Operation, Ports, Ring};
use hopwise_networks::distances::hops_from;
use hopwise_networks::graph::Graph;
use hopwise_testing::{networks, rows};
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
    for (case, sentence) in rows(
        "
        ring(5) reduce one-value-less => ring(5) has 5 nodes, and there are 4 values
        ring(5) reduce root-5 => there is no node 5: the network has nodes 0 to 4
        ring(5) reduce no-blocks => a broadcast has 1 to 65536 blocks, not 0
        ring(5) reduce two-blocks => only a broadcast goes in blocks, reduce does not
        ring(5) reduce dimension-1 => only a shift goes along a dimension, reduce does not
        ring(5) shift dimension-1 => ring(5) has no dimension 1 to shift along: it has 0 only
        wk(3,2) shift dimension-1 => wk(3,2) has no dimension 1 to shift along: its node numbers have no digits with links of their own
        ring(5) sort binary-tree => a binary tree serves reduce, and broadcast of one block, not sort
        path(15) reduce binary-tree => no complete binary tree of 4 levels with its root at node 0 and dilation 2 was found in path(15)
        hypercube(13) all-to-all nothing => hypercube(13) has 8192 nodes, too many to carry out all-to-all on (at most 4096)
        ",
    ) {
        let [expression, name, change] = case.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{case}")
        };
        let (network, mut operations) = (network(expression), Operation::ALL.into_iter());
        let operation = operations.find(|operation| operation.name() == name).expect(name);
        let mut request = Request::new(operation, vec![1; network.nodes() as usize]);
        match change {
            "one-value-less" => drop(request.values.pop()),
            "root-5" => request.root = 5,
            "no-blocks" => request.blocks = 0,
            "two-blocks" => request.blocks = 2,
            "dimension-1" => request.dimension = Some(1),
            "binary-tree" => request.binary_tree = true,
            _ => {}
        }
        assert_eq!(run(&network, &request).unwrap_err().to_string(), sentence, "{case}");
    }
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
