//! Rounds that the papers or plain reasoning tell.

use hopwise_collective::{Report, Request, values};
use hopwise_core::collective::{Operation, Ports};

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
            assert_eq!(
                (found.rounds, found.bound),
                (rounds, rounds),
                "{expression} {operation:?}"
            );
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
            assert_eq!(
                (found.rounds, found.published),
                (ascend, Some(published)),
                "{expression}"
            );
            assert_eq!(
                report(expression, Operation::Scan, ports).rounds,
                ascend,
                "{expression}"
            );
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
    for expression in [
        "torus(4,5)",
        "mesh(3,4)",
        "ghc(4,3,2)",
        "folded(heawood,2)",
        "folded(petersen,2)",
        "complete(9)",
    ] {
        let found = report(expression, Operation::AllReduce, Ports::All);
        assert_eq!(found.rounds, found.bound, "{expression}");
        assert_eq!(
            report(expression, Operation::Fft, Ports::All).rounds,
            found.bound,
            "{expression}"
        );
    }
}

/// A total is one value, whatever way it goes.
#[test]
fn messages_of_a_program_are_small() {
    for expression in [
        "hypercube(5)",
        "rdn(ring(3),2)",
        "rsn(2,complete(4))",
        "re(ring(4),complete(3),3)",
        "ccc(4)",
    ] {
        assert_eq!(
            report(expression, Operation::AllReduce, Ports::All).bytes_max,
            8,
            "{expression}"
        );
        assert_eq!(
            report(expression, Operation::Barrier, Ports::All).bytes_max,
            0,
            "{expression}"
        );
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
