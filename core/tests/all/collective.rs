//! Programs of networks with units: carried out link by link, everyone learns of everyone.

use std::collections::BTreeSet;

use hopwise_core::collective::{Axis, Pass, Ports, Program, Step, Tell};

use crate::support::{Network, Node, network};

/// The nodes that a node has heard of.
type Known = BTreeSet<Node>;

/// Nothing goes where there is no link.
fn assert_link(network: &Network, from: Node, to: Node) {
    assert!(
        matches!(network.port_to(from, to), Ok(Some(_))),
        "{network}: {from} to {to}"
    );
}

fn share(network: &Network, axis: &Axis, ports: Ports, known: &mut [Known]) {
    let size = axis.size() as usize;
    let mut items: Vec<Vec<Option<Known>>> = vec![vec![None; size]; known.len()];
    for (node, items) in items.iter_mut().enumerate() {
        items[axis.digit(node as Node) as usize] = Some(known[node].clone());
    }
    for round in 0..axis.rounds(ports) {
        let before = items.clone();
        for from in 0..known.len() as Node {
            for (to, source) in axis.sends(from, round, ports) {
                assert_link(network, from, to);
                let item = before[from as usize][source as usize].clone();
                assert!(
                    item.is_some(),
                    "{network}: {from} has nothing of place {source} in round {round}"
                );
                items[to as usize][source as usize] = item;
            }
        }
    }
    for (node, items) in items.into_iter().enumerate() {
        if axis.takes_part(node as Node) {
            assert!(items.iter().all(Option::is_some), "{network}: {node} lacks something");
            known[node] = items.into_iter().flatten().flatten().collect();
        }
    }
}

fn pass(network: &Network, pass: &Pass, known: &mut [Known]) {
    assert!(pass.rounds() > 0);
    for round in 0..pass.rounds() {
        let sent: Vec<(Node, Node)> = (0..known.len() as Node)
            .filter_map(|from| Some((from, pass.send(from, round)?)))
            .collect();
        assert!(!sent.is_empty(), "{network}: nobody passes on in round {round}");
        for (from, to) in sent {
            assert_link(network, from, to);
            let news = known[from as usize].clone();
            known[to as usize].extend(news);
        }
    }
}

fn tell(tell: &Tell, ports: Ports, known: &mut [Known]) {
    let unit = tell.unit();
    let tree = tell.tree(&unit, ports);
    for unit_nodes in known.chunks_mut(unit.nodes() as usize) {
        let news = unit_nodes[tree.root() as usize].clone();
        unit_nodes.iter_mut().for_each(|known| known.extend(&news));
    }
}

#[test]
fn units_with_phases_bring_everything_to_everyone() {
    let mut passes = 0;
    for expression in [
        "re(ring(3),ring(3),1)",
        "re(ring(4),complete(3),2)",
        "re(path(3),hypercube(2),2)",
        "re(hypercube(2),ring(3),2)",
        "rcr(2,2,1)",
        "rcr(2,3,2)",
        "rcr(1,3,2)",
        "rcr(3,1,0)",
        "rcr(2,4,2)",
    ] {
        let network = network(expression);
        for ports in [Ports::One, Ports::All] {
            for program in [Program::new(&network), Program::of_totals(&network)] {
                let program = program.unwrap_or_else(|| panic!("{expression} has no program"));
                let mut known: Vec<Known> = (0..network.nodes()).map(|node| Known::from([node])).collect();
                for index in 0..program.length() {
                    let step = program.step(index);
                    match step.unwrap_or_else(|| panic!("{expression} has no step {index}")) {
                        Step::Share(axis) => share(&network, &axis, ports, &mut known),
                        Step::Pass(way) => {
                            passes += 1;
                            pass(&network, &way, &mut known);
                        }
                        Step::Tell(all) => tell(&all, ports, &mut known),
                        other => panic!("{expression}: {other:?} in a network with units"),
                    }
                }
                assert_eq!(program.step(program.length()), None, "{expression}");
                for (node, known) in known.iter().enumerate() {
                    assert_eq!(known.len() as u64, network.nodes(), "{expression}: {node}");
                }
            }
        }
    }
    assert!(passes > 0, "some phase has another pivot than the one before it");
}

/// Where a unit is a single node, all nodes take part in every step, and nothing is left to tell.
#[test]
fn units_of_one_node_are_no_units() {
    let network = network("rcr(3,1,0)");
    let program = Program::new(&network).expect("a program");
    let steps: Vec<Step> = (0..program.length()).filter_map(|index| program.step(index)).collect();
    assert_eq!(steps.len(), 3, "one for each bit");
    for step in steps {
        assert!(
            matches!(step, Step::Share(axis) if axis.size() == 2 && !axis.is_at_pivots()),
            "{step:?}"
        );
    }
}
