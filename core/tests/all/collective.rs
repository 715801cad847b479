//! Programs, carried out link by link: everyone learns of everyone, and every item goes along every digit.
//! And turns: nobody sends or receives twice.

use std::collections::{BTreeMap, BTreeSet};

use hopwise_core::collective::{Axis, Lend, Lent, Pass, Ports, Program, Step, Swap, Tell};

use crate::support::{Network, Node, network, networks};

/// The nodes that a node has heard of.
type Known = BTreeSet<Node>;

fn assert_link(network: &Network, from: Node, to: Node) {
    let is_link = matches!(network.port_to(from, to), Ok(Some(_)));
    assert!(is_link, "{network}: {from} to {to}");
}

/// What is held along the axis, in the order of the digit, for each node that takes part.
fn share<T: Clone>(network: &Network, axis: &Axis, ports: Ports, held: &[T]) -> Vec<Option<Vec<T>>> {
    let size = axis.size() as usize;
    let mut items: Vec<Vec<Option<T>>> = vec![vec![None; size]; held.len()];
    for (node, items) in items.iter_mut().enumerate() {
        items[axis.digit(node as Node) as usize] = Some(held[node].clone());
    }
    for round in 0..axis.rounds(ports) {
        let before = items.clone();
        let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
        for from in 0..held.len() as Node {
            for (to, source) in axis.sends(from, round, ports) {
                assert_link(network, from, to);
                let item = before[from as usize][source as usize].clone();
                let has_it = item.is_some();
                assert!(has_it, "{network}: {from} has nothing of {source} in round {round}");
                items[to as usize][source as usize] = item;
                if ports == Ports::One {
                    let only_to = *sent.entry(from).or_insert(to);
                    assert_eq!(only_to, to, "{network}: {from} sends twice in round {round}");
                    let only_from = *received.entry(to).or_insert(from);
                    assert_eq!(only_from, from, "{network}: {to} receives twice in round {round}");
                }
            }
        }
    }
    let complete = |(node, items): (usize, Vec<Option<T>>)| {
        axis.takes_part(node as Node).then(|| {
            assert!(items.iter().all(Option::is_some), "{network}: {node} lacks something");
            items.into_iter().flatten().collect()
        })
    };
    items.into_iter().enumerate().map(complete).collect()
}

fn exchange<T: Clone>(network: &Network, swap: &Swap, held: &[T]) -> Vec<T> {
    let held_by_partner = |node| {
        let partner = swap.partner(node);
        if partner != node {
            assert_link(network, partner, node);
        }
        held[partner as usize].clone()
    };
    (0..held.len() as Node).map(held_by_partner).collect()
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

/// Whom everyone has heard of in the end.
fn learn(network: &Network, program: &Program<'_>, ports: Ports) -> Vec<Known> {
    let mut known: Vec<Known> = (0..network.nodes()).map(|node| Known::from([node])).collect();
    for index in 0..program.length() {
        let step = program.step(index);
        match step.unwrap_or_else(|| panic!("{network} has no step {index}")) {
            Step::Share(axis) => {
                let all = share(network, &axis, ports, &known);
                for (known, items) in known.iter_mut().zip(all) {
                    items.into_iter().flatten().for_each(|item| known.extend(item));
                }
            }
            Step::Pass(way) => pass(network, &way, &mut known),
            Step::Tell(all) => tell(&all, ports, &mut known),
            Step::Swap(swap) => known = exchange(network, &swap, &known),
            Step::Return(swap) => {
                let hosted = known.clone();
                known = exchange(network, &swap, &known);
                let pairs = known.iter_mut().zip(&hosted);
                pairs.for_each(|(known, other)| known.extend(other));
            }
            Step::Lend(lend) => panic!("{network}: {lend:?} where nothing need come to its own node"),
        }
    }
    assert_eq!(program.step(program.length()), None, "{network}");
    known
}

fn assert_everyone_learns_all(expression: &str) {
    let network = network(expression);
    for ports in [Ports::One, Ports::All] {
        for program in [Program::new(&network), Program::of_totals(&network)] {
            let program = program.unwrap_or_else(|| panic!("{expression} has no program"));
            for (node, known) in learn(&network, &program, ports).iter().enumerate() {
                assert_eq!(known.len() as u64, network.nodes(), "{expression}: {node}");
            }
        }
    }
}

fn has_pass(network: &Network) -> bool {
    let program = Program::new(network).expect("a program");
    (0..program.length()).any(|index| matches!(program.step(index), Some(Step::Pass(_))))
}

#[test]
fn units_with_phases_bring_everything_to_everyone() {
    let expressions = networks("with_phases");
    expressions
        .iter()
        .for_each(|expression| assert_everyone_learns_all(expression));
    let one_has = expressions.into_iter().any(|expression| has_pass(&network(expression)));
    assert!(one_has, "some phase has another pivot than the one before it");
}

/// Graphs of several kinds, as their turns with one port differ, and networks that bring digits to where the links are.
#[test]
fn digits_bring_everything_to_everyone() {
    for expression in networks("with_digits") {
        assert_everyone_learns_all(expression);
    }
}

/// They need not come back to where they were.
#[test]
fn totals_take_fewer_steps() {
    for expression in ["hsn(3,ring(3))", "hcn3(1)", "rsn(2,hypercube(2))"] {
        let network = network(expression);
        let programs = [Program::of_totals(&network), Program::new(&network)];
        let [totals, all] = programs.map(|program| program.expect("a program").length());
        assert!(totals < all, "{expression}: {totals} and {all}");
    }
}

/// An item: its place, and the places of those that it has met.
type Item = (Node, Known);

/// A node may hold several items, in the same order as the others along the digit: each meets those of its own index.
fn meet(along: &[&[Item]], own: usize) -> Vec<Item> {
    let met = |(index, &(place, _)): (usize, &Item)| {
        let known = along.iter().flat_map(|items| items[index].1.iter().copied());
        (place, known.collect())
    };
    along[own].iter().enumerate().map(met).collect()
}

/// What goes over a crossing. The crossing is a digit too: where items join, those of both types meet. Says where.
fn cross(network: &Network, lend: &Lend, held: &mut [Vec<Item>]) -> Vec<Node> {
    let sent: Vec<(Node, Node)> = (0..held.len() as Node)
        .filter_map(|from| Some((from, lend.send(from)?)))
        .collect();
    for &(from, to) in &sent {
        assert_link(network, from, to);
        let theirs = held[from as usize].clone();
        let half = theirs.len() / 2;
        held[to as usize] = match lend.lent() {
            Lent::Join => {
                let along = [&theirs[..], &held[to as usize]];
                [meet(&along, 0), meet(&along, 1)].concat()
            }
            Lent::Cross => theirs,
            Lent::Part => {
                held[from as usize].truncate(half);
                theirs[half..].to_vec()
            }
        };
    }
    match lend.lent() {
        Lent::Join => sent.into_iter().map(|(_, to)| to).collect(),
        Lent::Cross | Lent::Part => Vec::new(),
    }
}

/// After each digit an item has met just those that have its lower digits: no lower digit was done before.
fn assert_higher_digits_are_done(network: &Network, items: &[Item], step: u64) {
    for (place, known) in items {
        let weight = network.nodes() / known.len() as u64;
        let alike = (0..network.nodes()).filter(|other| other % weight == place % weight);
        assert!(known.iter().copied().eq(alike), "{network}: {place} after step {step}");
    }
}

/// From the highest digit down, as a transform needs it; in the end every node has its own item again, and no other.
#[test]
fn items_go_along_every_digit_from_the_highest() {
    for expression in networks("with_descending_digits") {
        let network = network(expression);
        let program = Program::descending(&network).unwrap_or_else(|| panic!("{expression} has no program"));
        let item = |node| vec![(program.place(node), Known::from([program.place(node)]))];
        let mut held: Vec<Vec<Item>> = (0..network.nodes()).map(item).collect();
        for index in 0..program.length() {
            let step = program.step(index);
            let done = match step.unwrap_or_else(|| panic!("{expression} has no step {index}")) {
                Step::Share(axis) => {
                    let mut done = Vec::new();
                    for (node, along) in (0..).zip(share(&network, &axis, Ports::All, &held)) {
                        let Some(along) = along else { continue };
                        let along: Vec<&[Item]> = along.iter().map(Vec::as_slice).collect();
                        held[node as usize] = meet(&along, axis.digit(node) as usize);
                        done.push(node);
                    }
                    done
                }
                Step::Swap(swap) => {
                    held = exchange(&network, &swap, &held);
                    Vec::new()
                }
                Step::Lend(lend) => cross(&network, &lend, &mut held),
                other => panic!("{expression}: {other:?} in a network without units"),
            };
            for node in done {
                assert_higher_digits_are_done(&network, &held[node as usize], index);
            }
        }
        assert_eq!(program.step(program.length()), None, "{expression}");
        for (node, items) in (0..).zip(&held) {
            let [(place, known)] = &items[..] else {
                panic!("{expression}: {node} holds {} items", items.len());
            };
            assert_eq!(*place, program.place(node), "{expression}: {node}");
            assert_eq!(known.len() as u64, network.nodes(), "{expression}: {node}");
        }
    }
}

/// Where a unit is a single node, all nodes take part in every step, and nothing is left to tell.
#[test]
fn units_of_one_node_are_no_units() {
    let network = network("rcr(3,1,0)");
    let program = Program::new(&network).expect("a program");
    let steps: Vec<Step> = (0..program.length()).filter_map(|index| program.step(index)).collect();
    assert_eq!(steps.len(), 3, "one for each bit");
    for step in steps {
        let is_share = matches!(step, Step::Share(axis) if axis.size() == 2 && !axis.is_at_pivots());
        assert!(is_share, "{step:?}");
    }
}
