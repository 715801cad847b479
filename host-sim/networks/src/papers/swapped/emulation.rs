//! The paper's algorithms for ascending and for single dimensions, executed step by step on the network's own links.

use super::super::claim::Case;
use super::super::{Claims, How, Run, base, built};
use super::claim;
use crate::base::Formulas;
use crate::graph::Graph;
use crate::papers::CannotMeasure;

/// Data items on the nodes of a recursive swapped network: at first item i is at node i.
struct Machine {
    graph: Graph,
    nucleus: usize,
    items: Vec<usize>,
    steps: u64,
    /// Set if data moved where there is no link, or the wrong items met.
    wrong: bool,
}

impl Machine {
    fn new(levels: u32, nucleus: &str) -> Result<Machine, CannotMeasure> {
        let (_, graph) = built(&format!("rsn({levels},{nucleus})"))?;
        Ok(Machine {
            items: (0..graph.nodes()).collect(),
            nucleus: base(nucleus)?.nodes() as usize,
            graph,
            steps: 0,
            wrong: false,
        })
    }

    fn size(&self, levels: u32) -> usize {
        self.nucleus.pow(1 << (levels - 1))
    }

    /// All nodes, except leaders, exchange data over their link of a level.
    fn exchange(&mut self, level: u32) {
        let cluster = self.size(level - 1);
        let whole = cluster * cluster;
        let partner = |node: usize| {
            let within = node % whole;
            node - within + within % cluster * cluster + within / cluster
        };
        let nodes = 0..self.items.len();
        self.wrong |= nodes
            .clone()
            .any(|node| partner(node) != node && !self.graph.linked(node, partner(node)));
        self.items = nodes.map(|node| self.items[partner(node)]).collect();
        self.steps += 1;
    }

    /// Neighbors along bit `bit` of the nucleus work on their items, which must differ in `dimension` and nothing else.
    fn work(&mut self, bit: usize, dimension: usize) {
        let nodes = 0..self.items.len();
        let meets = |node: usize| {
            let other = node ^ 1 << bit;
            self.graph.linked(node, other) && self.items[node] ^ self.items[other] == 1 << dimension
        };
        self.wrong |= !nodes.clone().all(meets);
        self.steps += 1;
    }

    /// The four phases of the ascend algorithm, for networks over a hypercube of `bits` bits.
    fn ascend(&mut self, level: u32, bits: usize, next: &mut usize) {
        if level == 1 {
            for bit in 0..bits {
                self.work(bit, *next);
                *next += 1;
            }
            return;
        }
        self.ascend(level - 1, bits, next);
        self.exchange(level);
        self.ascend(level - 1, bits, next);
        self.exchange(level);
    }

    /// The phases in reverse order, each bit before the one below it.
    fn descend(&mut self, level: u32, bits: usize, left: &mut usize) {
        if level == 1 {
            for bit in (0..bits).rev() {
                *left -= 1;
                self.work(bit, *left);
            }
            return;
        }
        self.exchange(level);
        self.descend(level - 1, bits, left);
        self.exchange(level);
        self.descend(level - 1, bits, left);
    }

    fn is_home(&self) -> bool {
        self.items.iter().enumerate().all(|(node, &item)| node == item)
    }

    /// Emul: brings digit `digit` of all items into the nucleus, lets all nodes of a nucleus work on it, and brings it back.
    fn emulate(&mut self, levels: u32, digit: usize) {
        let mut swaps = Vec::new();
        let mut rest = digit;
        for level in (2..=levels).rev() {
            let half = 1 << (level - 2);
            if rest >= half {
                rest -= half;
                swaps.push(level);
            }
        }
        swaps.iter().for_each(|&level| self.exchange(level));
        let weight = self.nucleus.pow(digit as u32);
        let digit_of = |item: usize| item / weight % self.nucleus;
        let fits = |node: usize| {
            let first = node - node % self.nucleus;
            let (item, other) = (self.items[node], self.items[first]);
            let without = |item: usize| item - digit_of(item) * weight;
            digit_of(item) == node % self.nucleus && without(item) == without(other)
        };
        self.wrong |= !(0..self.items.len()).all(fits);
        self.steps += 1;
        swaps.iter().rev().for_each(|&level| self.exchange(level));
        self.wrong |= !self.is_home();
    }
}

pub(in super::super) fn ascend(run: &Run) -> Claims {
    let (mut printed, mut exact, mut back) = (Vec::new(), Vec::new(), Vec::new());
    for (levels, bits) in [(1u32, 3usize), (2, 2), (2, 3), (2, 5), (3, 1), (3, 2), (3, 3), (4, 1)] {
        let mut machine = Machine::new(levels, &format!("hypercube({bits})"))?;
        let name = format!("rsn({levels},hypercube({bits}))");
        (run.progress)(&name);
        let mut next = 0;
        machine.ascend(levels, bits, &mut next);
        let all = bits << (levels - 1);
        let right = !machine.wrong && machine.is_home() && next == all;
        let steps = if right { machine.steps } else { u64::MAX };
        printed.push(Case::new(&name, (all + (1 << levels)) as u64, steps));
        exact.push(Case::new(&name, (all + (1 << levels) - 2) as u64, steps));
        let (mut descending, mut left) = (Machine::new(levels, &format!("hypercube({bits})"))?, all);
        descending.descend(levels, bits, &mut left);
        let right = !descending.wrong && descending.is_home() && left == 0;
        back.push(Case::new(&name, steps, if right { descending.steps } else { u64::MAX }));
    }

    Ok(vec![
        claim("Section 3.2: ascend takes 2^(l-1) n + 2^l = (1 + 2/n) log2 N steps").exactly(How::AsPrinted, &printed),
        claim("Section 3.2 exact: its recurrence T(l) = 2 T(l-1) + 2 comes to 2^(l-1) n + 2^l - 2")
            .exactly(How::AsPrinted, &exact)
            .finding(),
        claim("Section 3.2: descend, the phases in reverse order, takes as long as ascend")
            .exactly(How::AsPrinted, &back),
    ])
}

pub(in super::super) fn single_dimension(run: &Run) -> Claims {
    let mut rows = Vec::new();
    for (text, networks) in [
        (
            "Section 3.3: RSN(l,Q_n) emulates a step of a hypercube in at most 2l - 1 steps",
            &[
                (1u32, "hypercube(3)"),
                (2, "hypercube(3)"),
                (3, "hypercube(2)"),
                (4, "hypercube(1)"),
            ][..],
        ),
        (
            "Section 4.1: RSN(l,K) emulates a generalized hypercube in 2l - 1",
            &[(2, "complete(5)"), (3, "complete(3)")][..],
        ),
        (
            "Section 4.2: RSN(l,GQ) emulates a generalized hypercube with slowdown 2l - 1",
            &[(2, "ghc(3,2)"), (3, "ghc(2,3)")][..],
        ),
        (
            "Section 4.3: RSN(l,mesh) emulates a high-dimensional mesh with slowdown 2l - 1",
            &[(2, "mesh(3,2)"), (3, "path(3)")][..],
        ),
    ] {
        let mut cases = Vec::new();
        for &(levels, nucleus) in networks {
            let mut machine = Machine::new(levels, nucleus)?;
            let mut most = 0;
            for digit in 0..1 << (levels - 1) {
                machine.steps = 0;
                machine.emulate(levels, digit);
                most = most.max(machine.steps);
            }
            let name = format!("rsn({levels},{nucleus})");
            (run.progress)(&name);
            let steps = if machine.wrong { u64::MAX } else { most };
            cases.push(Case::new(&name, u64::from(2 * levels - 1), steps));
        }
        let mut row = claim(text).at_most(How::AsPrinted, &cases);
        row.measured = format!("steps for the worst dimension: {}", row.measured);
        rows.push(row);
    }
    Ok(rows)
}

/// The path of Emul(j) from a node: swaps that bring dimension j into the nucleus, a link there, and the swaps back.
fn emulated_path(levels: u32, bits: u32, node: usize, dimension: u32) -> Vec<usize> {
    let (mut rest, mut swaps) = (dimension, Vec::new());
    for level in (2..=levels).rev() {
        // Half the bits of this level.
        let half = bits << (level - 2);
        if rest >= half {
            rest -= half;
            swaps.push(half);
        }
    }
    let mut path = vec![node];
    let mut at = node;
    let swapped = |node: usize, half: u32| {
        let low = (1usize << half) - 1;
        let whole = (1usize << (2 * half)) - 1;
        node & !whole | (node & low) << half | node >> half & low
    };
    for &half in &swaps {
        at = swapped(at, half);
        path.push(at);
    }
    at ^= 1 << rest;
    path.push(at);
    for &half in swaps.iter().rev() {
        at = swapped(at, half);
        path.push(at);
    }
    // A leader stays where it is while the others swap.
    path.dedup();
    path
}

/// Steps until all packets have gone their paths, one packet a step over a link in one direction: of those that wait, the one with the
/// most links ahead goes first. `None` if a path leaves the links.
fn steps_of_all(graph: &Graph, mut packets: Vec<Vec<usize>>) -> Option<u64> {
    let linked = |path: &Vec<usize>| path.windows(2).all(|pair| graph.linked(pair[0], pair[1]));
    if !packets.iter().all(linked) {
        return None;
    }
    packets.iter_mut().for_each(|path| path.reverse());
    let mut steps = 0;
    while !packets.is_empty() {
        packets.sort_by_key(|path| std::cmp::Reverse(path.len()));
        let mut taken = std::collections::HashSet::new();
        for path in &mut packets {
            let [.., next, here] = path[..] else { continue };
            if taken.insert((here, next)) {
                path.pop();
            }
        }
        packets.retain(|path| path.len() > 1);
        steps += 1;
    }
    Some(steps)
}

pub(in super::super) fn all_port(run: &Run) -> Claims {
    let (mut found, mut so, mut example) = (Vec::new(), true, None);
    for (levels, bits) in [(2u32, 2u32), (2, 3), (2, 4), (3, 1), (3, 2), (4, 1)] {
        let name = format!("rsn({levels},hypercube({bits}))");
        (run.progress)(&name);
        let (_, graph) = built(&name)?;
        let all = bits << (levels - 1);
        let nodes = 0..graph.nodes();
        let packets =
            nodes.flat_map(|node| (0..all).map(move |dimension| emulated_path(levels, bits, node, dimension)));
        let steps = steps_of_all(&graph, packets.collect()).unwrap_or(u64::MAX);
        let ratio = steps as f64 / f64::from(all);
        if ratio > 2.0 {
            so = false;
            example.get_or_insert(format!("{name}: {steps} steps, log2 N = {all}"));
        }
        found.push(format!("{name}: {steps} for log2 N = {all}"));
    }
    Ok(vec![
        claim(
            "Section 3.3: RSN(l,Q_n) emulates an all-port step of a hypercube in O(log N) (measured: at most 2 \
                 log2 N)",
        )
        .so(How::AsPrinted, so)
        .measured(format!("all Emul(j) at once, greedily: {}", found.join(", ")))
        .except(example)
        .growth(),
    ])
}
