//! What the nodes of a partition still have to send by a schedule.

use std::ops::Range;

use crate::schedule::Schedule;
use crate::wiring::NONE;

/// The messages of some nodes: those that have a time, and those that wait for others.
pub(super) struct Agenda {
    /// Cycle, node and destination, the earliest last.
    timed: Vec<(u32, u32, u32)>,
    nodes: Vec<Rounds>,
    /// Nodes that may be able to send.
    awake: Vec<u32>,
}

#[derive(Default)]
struct Rounds {
    /// Round and destination, the first last.
    sends: Vec<(u32, u32)>,
    /// Rounds, and how many messages of each are still to come; the first last.
    awaited: Vec<(u32, u32)>,
}

impl Rounds {
    /// The next destination and its round, if everything of the rounds before has come.
    fn next(&mut self) -> Option<(u32, u32)> {
        while self.awaited.last().is_some_and(|&(_, missing)| missing == 0) {
            self.awaited.pop();
        }
        let complete_up_to = self.awaited.last().map_or(u32::MAX, |&(round, _)| round);
        self.sends.pop_if(|(round, _)| *round <= complete_up_to)
    }
}

impl Agenda {
    pub(super) fn new(schedule: &Schedule, nodes: Range<u32>) -> Self {
        let mut agenda = Agenda {
            timed: Vec::new(),
            nodes: nodes.clone().map(|_| Rounds::default()).collect(),
            awake: (0..nodes.len() as u32).collect(),
        };
        for message in schedule.messages() {
            if nodes.contains(&message.from) {
                let node = message.from - nodes.start;
                match message.round {
                    None => agenda.timed.push((message.at, node, message.to)),
                    Some(round) => agenda.nodes[node as usize].sends.push((round, message.to)),
                }
            }
            if let Some(round) = message.round.filter(|_| nodes.contains(&message.to)) {
                let rounds = &mut agenda.nodes[(message.to - nodes.start) as usize];
                rounds.awaited.push((round, 1));
            }
        }
        agenda.timed.sort_by_key(|&(at, _, _)| std::cmp::Reverse(at));
        for rounds in &mut agenda.nodes {
            rounds.sends.sort_by_key(|&(round, _)| std::cmp::Reverse(round));
            rounds.awaited.sort_unstable_by(|a, b| b.cmp(a));
            rounds.awaited.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0 };
                same
            });
        }
        agenda
    }

    /// Calls `send` with the node, the destination and the tag of every message that can go.
    pub(super) fn send(&mut self, now: u32, mut send: impl FnMut(u32, u32, u32)) {
        while let Some((_, node, dest)) = self.timed.pop_if(|(at, _, _)| *at <= now) {
            send(node, dest, NONE);
        }
        for node in self.awake.drain(..) {
            while let Some((round, dest)) = self.nodes[node as usize].next() {
                send(node, dest, round);
            }
        }
    }

    pub(super) fn has_timed(&self) -> bool {
        !self.timed.is_empty()
    }

    /// A message of a round has come to a node.
    pub(super) fn received(&mut self, node: u32, round: u32) {
        let awaited = &mut self.nodes[node as usize].awaited;
        if let Some((_, missing)) = awaited.iter_mut().rev().find(|(awaited, _)| *awaited == round) {
            *missing -= 1;
        }
        self.awake.push(node);
    }
}
