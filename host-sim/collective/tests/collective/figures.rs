//! Rounds that the papers or plain reasoning tell.

use hopwise_collective::{Report, Request, values};
use hopwise_core::collective::{Operation, Ports};
use hopwise_testing::{figures, networks};

use crate::support::{network, right};

fn report(expression: &str, operation: Operation, ports: Ports) -> Report {
    let network = network(expression);
    let request = Request {
        ports,
        ..Request::new(operation, values(network.nodes(), 1))
    };
    right(&network, &request)
}

#[test]
fn hypercubes_take_a_round_for_each_bit() {
    for ports in [Ports::All, Ports::One] {
        for operation in [
            Operation::Barrier,
            Operation::AllReduce,
            Operation::Scan,
            Operation::AllGather,
            Operation::Fft,
        ] {
            let found = report("hypercube(6)", operation, ports);
            assert_eq!((found.rounds, found.bound), (6, 6), "{operation:?} {ports:?}");
        }
        assert_eq!(report("hypercube(6)", Operation::Sort, ports).rounds, 21);
    }
}

/// 2^k T(0) + 2^(k+1) - 2, which with all ports is the diameter, so the fewest possible.
#[test]
fn dual_nets_take_the_rounds_of_their_recursion() {
    for (expression, rounds) in [
        ("rdn(ring(3),1)", 4),
        ("rdn(ring(3),2)", 10),
        ("rdn(ring(5),1)", 6),
        ("dualcube(4)", 8),
    ] {
        for operation in [Operation::Scan, Operation::AllReduce, Operation::Barrier] {
            let found = report(expression, operation, Ports::All);
            let seen = (found.rounds, found.bound);
            assert_eq!(seen, (rounds, rounds), "{expression} {operation:?}");
        }
        assert_eq!(report(expression, Operation::Scan, Ports::All).published, Some(rounds));
    }
    for (expression, rounds) in [("rdn(ring(3),1)", 6), ("rdn(ring(3),2)", 14), ("rdn(ring(5),2)", 18)] {
        let found = report(expression, Operation::Broadcast, Ports::One);
        assert_eq!((found.rounds, found.published), (rounds, Some(rounds)), "{expression}");
    }
}

/// Ascend takes 2^(l-1) n + 2^l - 2, two fewer than printed; what need not come back, the diameter.
#[test]
fn swapped_networks_take_the_rounds_of_their_phases() {
    for (expression, ascend, published, diameter) in [
        ("rsn(2,hypercube(2))", 6, 8, 5),
        ("rsn(2,hypercube(3))", 8, 10, 7),
        ("rsn(3,hypercube(2))", 14, 16, 11),
    ] {
        for ports in [Ports::All, Ports::One] {
            let found = report(expression, Operation::Fft, ports);
            let scan = report(expression, Operation::Scan, ports).rounds;
            let expected = (ascend, Some(published), ascend);
            assert_eq!((found.rounds, found.published, scan), expected, "{expression}");
            let found = report(expression, Operation::AllReduce, ports);
            assert_eq!((found.rounds, found.bound), (diameter, diameter), "{expression}");
        }
        let sort = [Ports::All, Ports::One].map(|ports| report(expression, Operation::Sort, ports));
        assert_eq!(sort[0].rounds, sort[1].rounds, "{expression}");
        assert!(Some(sort[0].rounds) <= sort[0].published, "{expression}: {sort:?}");
    }
}

#[test]
fn products_take_their_diameter() {
    for expression in networks("products") {
        let found = report(expression, Operation::AllReduce, Ports::All);
        let fft = report(expression, Operation::Fft, Ports::All).rounds;
        assert_eq!([found.rounds, fft], [found.bound; 2], "{expression}");
    }
}

/// As few rounds as possible, but in rings and paths of odd length, where one node is left out of every round.
#[test]
fn with_one_port_lines_take_the_rounds_that_doubling_and_distance_allow() {
    let products = [
        ("ghc(4,4)", 4),
        ("mesh(4,4)", 6),
        ("torus(6,4)", 5),
        ("rdn(ring(4),1)", 6),
    ];
    let mut cases = Vec::from(products.map(|(expression, rounds)| (expression.to_string(), rounds, rounds)));
    for nodes in 4..=40 {
        let (doublings, odd) = (u64::from(u64::ilog2(nodes - 1)) + 1, nodes % 2);
        cases.push((format!("complete({nodes})"), doublings, doublings));
        cases.push((format!("path({nodes})"), nodes - 1 + odd, nodes - 1));
        cases.push((format!("ring({nodes})"), (nodes + 3 * odd) / 2, nodes.div_ceil(2)));
    }
    for (expression, rounds, bound) in cases {
        for operation in [Operation::AllReduce, Operation::Scan, Operation::AllGather] {
            let found = report(&expression, operation, Ports::One);
            let figures = (found.rounds, found.bound);
            assert_eq!(figures, (rounds, bound), "{expression} {operation:?}");
        }
    }
}

/// An all-reduce tells everyone what the root has, and all that a reduction is to find out.
#[test]
fn with_one_port_no_part_of_an_all_reduce_is_slower() {
    for expression in networks("one_port") {
        let rounds = |operation| report(expression, operation, Ports::One).rounds;
        let parts = [Operation::Broadcast, Operation::Reduce, Operation::Gather].map(rounds);
        let (all, total) = (rounds(Operation::AllGather), rounds(Operation::AllReduce));
        assert!(
            parts.iter().all(|rounds| *rounds <= total.min(all)),
            "{expression}: {parts:?}"
        );
    }
}

/// A total is one value, whatever way it goes.
#[test]
fn messages_of_a_program_are_small() {
    for expression in networks("with_totals") {
        let operations = [Operation::AllReduce, Operation::Barrier];
        let bytes = operations.map(|operation| report(expression, operation, Ports::All).bytes_max);
        assert_eq!(bytes, [8, 0], "{expression}");
    }
}

#[test]
fn the_tree_of_the_root_is_as_deep_as_the_network_is_far() {
    for expression in ["wk(4,3)", "nstar(5)", "partial-swapped", "hypernet(3,2)", "rcr(2,3,1)"] {
        for operation in [
            Operation::Broadcast,
            Operation::Reduce,
            Operation::Gather,
            Operation::Scatter,
        ] {
            let found = report(expression, operation, Ports::All);
            assert_eq!(found.rounds, found.bound, "{expression} {operation:?}");
        }
    }
}

/// Unit by unit, dual-net by dual-net: no message has more than the values of a unit, or what values have to change places for
/// first.
#[test]
fn transforms_follow_the_digits_of_units_and_dual_nets() {
    for (expression, figures) in figures("transforms") {
        let [rounds, values] = figures[..] else {
            panic!("{expression}")
        };
        let found = report(expression, Operation::Fft, Ports::All);
        assert_eq!(found.rounds, rounds, "{expression}");
        assert_eq!(found.bytes_max, 16 * values, "{expression}");
        assert_eq!(found.method, "digit by digit", "{expression}");
    }
}

fn shift(expression: &str, dimension: u64, ports: Ports) -> Report {
    let network = network(expression);
    let request = Request {
        ports,
        dimension: Some(dimension),
        ..Request::new(Operation::Shift, values(network.nodes(), 1))
    };
    right(&network, &request)
}

/// On products a link, on swapped networks at most the 2l - 1 of their paper, in dual-nets 2k + 1, in units to the pivot and back.
#[test]
fn shifts_along_a_dimension_have_a_low_dilation() {
    for (expression, dilations) in figures("shift_dilations") {
        let found: Vec<u64> = (0..dilations.len() as u64)
            .map(|dimension| {
                let found = shift(expression, dimension, Ports::All);
                shift(expression, dimension, Ports::One);
                assert_eq!(found.rounds, found.bound, "{expression}, dimension {dimension}");
                let within = found.published.is_none_or(|published| found.rounds <= published);
                assert!(within, "{expression}");
                found.dilation.unwrap()
            })
            .collect();
        assert_eq!(found, dilations, "{expression}");
    }
    assert_eq!(shift("rsn(3,path(3))", 3, Ports::All).published, Some(5));
}

/// The tree of Lemma 1: every value comes to the root once, in two hops a level at most.
#[test]
fn reductions_and_broadcasts_go_along_an_embedded_binary_tree() {
    for (expression, root, levels) in [
        ("rcr(2,2,2)", 0, 5),
        ("rcr(2,3,1)", 5, 4),
        ("ccc(3)", 23, 4),
        ("cor(2,2)", 9, 5),
        ("rdn(ring(3),1)", 4, 4),
        ("complete(2)", 1, 1),
    ] {
        let network = network(expression);
        for (operation, ports) in [
            (Operation::Reduce, Ports::All),
            (Operation::Reduce, Ports::One),
            (Operation::Broadcast, Ports::All),
            (Operation::Broadcast, Ports::One),
        ] {
            let request = Request {
                ports,
                root,
                operator: hopwise_collective::Operator::Affine,
                binary_tree: true,
                ..Request::new(operation, values(network.nodes(), 1))
            };
            let found = right(&network, &request);
            let begin = format!("binary tree of {levels} levels");
            assert!(found.method.starts_with(&begin), "{found:?}");
            assert!(found.dilation <= Some(2), "{found:?}");
        }
    }
}
