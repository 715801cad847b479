//! Schedules that are broken on purpose: the machine refuses them.

use hopwise_collective::Operator;
use hopwise_collective::machine::{Conflict, Machine, Message};
use hopwise_collective::program::{Folded, Wanted, step};
use hopwise_collective::tree::Known;
use hopwise_core::Network;
use hopwise_core::collective::{Ports, Program, Step, Tree};

use crate::support::network;

/// What each round of a ring of five is told, by ports and messages.
#[test]
fn what_links_and_ports_do_not_carry_is_refused() {
    let ring = network("ring(5)");
    for (ports, messages, refusal) in [
        (
            Ports::All,
            [(0, 2), (0, 1)],
            "node 0 sends to node 2, which is not a neighbor",
        ),
        (Ports::All, [(0, 1), (0, 1)], "two messages from node 0 to node 1"),
        (Ports::All, [(3, 4), (3, 2)], ""),
        (Ports::One, [(0, 1), (1, 0)], ""),
        (Ports::One, [(0, 1), (0, 4)], "node 0 sends two messages, with one port"),
        (
            Ports::One,
            [(0, 1), (2, 1)],
            "node 1 receives two messages, with one port",
        ),
    ] {
        let mut machine = Machine::new(&ring, ports);
        assert_eq!(machine.round(&[Message::new(3, 4, 8, ())]), Ok(()));
        let sent = messages.map(|(from, to)| Message::new(from, to, 8, ()));
        let said = machine.round(&sent).map_err(|conflict| conflict.to_string());
        let expected = if refusal.is_empty() {
            Ok(())
        } else {
            Err(format!("round 1: {refusal}"))
        };
        assert_eq!(said, expected, "{messages:?}");
    }
}

/// The same schedules that pass elsewhere, made for all ports and run with one.
#[test]
fn schedules_for_all_ports_do_not_pass_with_one() {
    let torus = network("torus(3,3)");
    let tree = Known::new(Tree::new(&torus, 0, Ports::All).unwrap());
    let broadcast = tree.broadcast(&mut Machine::new(&torus, Ports::One), 8, 1);
    assert_eq!(broadcast, Err(Conflict::SendsTwice { round: 0, node: 0 }));
    let machine = &mut Machine::new(&torus, Ports::One);
    let gathered = tree.up(machine, vec![1; 9], |_| 8, |all, more| *all += more);
    assert!(matches!(gathered, Err(Conflict::ReceivesTwice { .. })), "{gathered:?}");
}

#[test]
fn blocks_that_follow_too_fast_collide() {
    let star = network("star(4)");
    let tree = Known::new(Tree::new(&star, 0, Ports::One).unwrap());
    // Right with the period of the tree, three children; as if all ports could send, wrong.
    assert!(tree.broadcast(&mut Machine::new(&star, Ports::One), 8, 4).is_ok());
    let hasty = Known::new(Tree::new(&star, 0, Ports::All).unwrap());
    assert!(hasty.broadcast(&mut Machine::new(&star, Ports::One), 8, 4).is_err());
}

/// A program of another network goes over links that are not there; a step left out gives a wrong total.
#[test]
fn a_step_of_another_network_or_a_missing_one_is_noticed() {
    let (dual, cube) = (network("rdn(hypercube(1),1)"), network("hypercube(3)"));
    // A bit of its own for each node shows who was heard of, and how often.
    let begin = || {
        (0..8)
            .map(|node| Folded::new(Operator::Sum, Wanted::Total, 1 << (8 * node)))
            .collect::<Vec<_>>()
    };
    let all = 0x0101_0101_0101_0101;
    let run = |network: &Network, program: &Program, left_out: Option<u64>| {
        let (mut machine, mut held) = (Machine::new(network, Ports::All), begin());
        for index in (0..program.length()).filter(|&index| Some(index) != left_out) {
            let next: Step = program.step(index).unwrap();
            step(&mut machine, &next, &mut held)?;
        }
        Ok::<_, Conflict>(held.iter().map(Folded::total).collect::<Vec<_>>())
    };
    let program = Program::new(&cube).unwrap();
    assert_eq!(run(&cube, &program, None), Ok(vec![all; 8]));
    assert!(matches!(run(&dual, &program, None), Err(Conflict::NoLink { .. })));
    for index in 0..program.length() {
        let found = run(&cube, &program, Some(index));
        assert_ne!(found, Ok(vec![all; 8]), "without step {index}");
    }
    let program = Program::new(&dual).unwrap();
    assert_eq!(run(&dual, &program, None), Ok(vec![all; 8]));
    for index in 0..program.length() {
        let found = run(&dual, &program, Some(index));
        assert_ne!(found, Ok(vec![all; 8]), "without step {index}");
    }
}
