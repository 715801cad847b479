//! Every guarantee, on all pairs of many small networks besides the golden ones.

use crate::audit::{audit_all, network};
use hopwise_core::graph::Shape;
use hopwise_core::{Family, Rule};
use hopwise_networks::distances::hops_from;
use hopwise_networks::graph::Graph;
use hopwise_testing::{figures, networks};

hopwise_testing::audit_groups!(audit_all);

#[test]
fn named_lifts() {
    audit_all(networks("named_lifts"));
}

/// The cages and their like are what they are called: the distances of each are those by which it is known.
#[test]
fn named_lifts_have_the_distances_of_their_names() {
    for (name, levels) in figures("levels_of_lifts") {
        let graph = Graph::build(&network(name)).unwrap();
        for node in 0..graph.nodes() {
            let mut found = vec![0; levels.len()];
            for hops in hops_from(&graph, node) {
                found[hops as usize] += 1;
            }
            assert_eq!(found, levels, "{name} from {node}");
        }
    }
}

/// A hop depends on the two orbits and the difference of the places alone.
#[test]
fn routes_of_a_lift_turn_with_it() {
    for expression in ["mcgee", "lift(33,b,b4b7)", "lift(16,b1bcd8,b5c4,d9,d7)"] {
        let network = network(expression);
        let Family::Base(base) = network.family() else {
            unreachable!()
        };
        let Shape::Lift(lift) = base.shape() else {
            unreachable!()
        };
        let m = lift.places();
        let turn = |node: u64| node / m * m + (node % m + 1) % m;
        for here in 0..network.nodes() {
            for dest in 0..network.nodes() {
                let port = network.next_port(here, dest, Rule::Exact);
                let found = network.next_port(turn(here), turn(dest), Rule::Exact);
                assert_eq!(found, port, "{expression}: {here} to {dest}");
            }
        }
    }
}
