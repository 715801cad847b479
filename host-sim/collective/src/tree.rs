//! Up and down a tree, round by round.

use hopwise_core::Node;
use hopwise_core::collective::Tree;

use crate::machine::{Conflict, Machine, Message, Sent};
use crate::operator::Operator;

/// A tree with what every node knows of itself, asked once.
#[derive(Clone)]
pub struct Known {
    root: Node,
    /// The rounds after which the root can begin to tell more.
    period: u64,
    told: Vec<u64>,
    parent: Vec<Option<Node>>,
    rounds: u64,
}

impl Known {
    pub fn new(tree: Tree<'_>) -> Self {
        let nodes = 0..tree.network().nodes();
        let told: Vec<u64> = nodes.clone().map(|node| tree.told(node).unwrap_or(0)).collect();
        let parent = nodes.map(|node| tree.parent(node).ok().flatten()).collect();
        Known {
            root: tree.root(),
            period: tree.period(),
            rounds: told.iter().copied().max().unwrap_or(0),
            told,
            parent,
        }
    }

    /// The tree of those messages of a schedule by which nodes hear of the root first, if so many blocks take fewer rounds then.
    pub fn or_as_told_by(mut self, schedule: &[Vec<Sent>], blocks: u64) -> Self {
        let nodes = self.told.len();
        let (mut told, mut parent) = (vec![u64::MAX; nodes], vec![None; nodes]);
        told[self.root as usize] = 0;
        for (round, messages) in (0..).zip(schedule) {
            for &(from, to, _) in messages {
                if told[from as usize] <= round && told[to as usize] > round + 1 {
                    (told[to as usize], parent[to as usize]) = (round + 1, Some(from));
                }
            }
        }
        let rounds = told.iter().copied().max().unwrap_or(0);
        // From a node's first child to its last.
        let mut first = vec![u64::MAX; nodes];
        let parents = || {
            parent
                .iter()
                .zip(&told)
                .filter_map(|(parent, told)| Some(((*parent)? as usize, *told)))
        };
        parents().for_each(|(parent, told)| first[parent] = told.min(first[parent]));
        let period = parents()
            .map(|(parent, told)| told - first[parent] + 1)
            .max()
            .unwrap_or(1);
        if rounds + (blocks - 1) * period < self.rounds + (blocks - 1) * self.period {
            (self.told, self.parent, self.rounds, self.period) = (told, parent, rounds, period);
        }
        self
    }

    /// The rounds that one way takes.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    fn told_after(&self, rounds: u64) -> impl Iterator<Item = Node> + '_ {
        let all = (0..).zip(&self.told);
        all.filter(move |&(_, &told)| told == rounds).map(|(node, _)| node)
    }

    /// The messages down of a round: from whom to whom.
    pub(crate) fn down(&self, round: u64) -> impl Iterator<Item = (Node, Node)> + '_ {
        self.told_after(round + 1)
            .filter_map(|node| Some((self.parent[node as usize]?, node)))
    }

    /// The child of `here` behind which a node is.
    fn branch(&self, here: Node, mut node: Node) -> Option<Node> {
        loop {
            let parent = self.parent[node as usize]?;
            if parent == here {
                return Some(node);
            }
            node = parent;
        }
    }

    /// Everyone sends what it has, together with what its children sent, to its parent; the root has all in the end.
    pub fn up<T: Clone>(
        &self,
        machine: &mut Machine,
        mut held: Vec<T>,
        bytes: impl Fn(&T) -> u64,
        join: impl Fn(&mut T, T),
    ) -> Result<T, Conflict> {
        for round in 0..self.rounds {
            let messages: Vec<Message<T>> = self
                .told_after(self.rounds - round)
                .filter_map(|from| {
                    let body = held[from as usize].clone();
                    let to = self.parent[from as usize]?;
                    Some(Message::new(from, to, bytes(&body), body))
                })
                .collect();
            machine.round(&messages)?;
            for message in messages {
                join(&mut held[message.to as usize], message.body);
            }
        }
        Ok(held.swap_remove(self.root as usize))
    }

    /// Everyone gets what the root has, in so many blocks one after the other; how many blocks each has in the end.
    pub fn broadcast(&self, machine: &mut Machine, bytes: u64, blocks: u64) -> Result<Vec<u64>, Conflict> {
        let period = if blocks > 1 { self.period } else { 1 };
        let mut held = vec![0; self.told.len()];
        held[self.root as usize] = blocks;
        for round in 0..self.rounds + (blocks - 1) * period {
            let mut messages = Vec::new();
            for block in 0..blocks.min(round / period + 1) {
                for (from, to) in self.down(round - block * period) {
                    if held[from as usize] <= block {
                        return Err(machine.has_not(from));
                    }
                    messages.push(Message::new(from, to, bytes, block));
                }
            }
            machine.round(&messages)?;
            messages.iter().for_each(|message| held[message.to as usize] += 1);
        }
        Ok(held)
    }

    /// Everyone gets its own of what the root has, which goes down in bundles.
    pub fn scatter<T: Clone>(&self, machine: &mut Machine, items: Vec<T>, item_bytes: u64) -> Result<Vec<T>, Conflict> {
        let mut held: Vec<Vec<(Node, T)>> = vec![Vec::new(); self.told.len()];
        held[self.root as usize] = (0..).zip(items).collect();
        for round in 0..self.rounds {
            let mut messages = Vec::new();
            for (from, to) in self.down(round) {
                let own = std::mem::take(&mut held[from as usize]);
                let (body, kept): (Vec<_>, Vec<_>) = own
                    .into_iter()
                    .partition(|&(node, _)| self.branch(from, node) == Some(to));
                held[from as usize] = kept;
                if body.is_empty() {
                    return Err(machine.has_not(from));
                }
                messages.push(Message::new(from, to, item_bytes * body.len() as u64, body));
            }
            machine.round(&messages)?;
            for message in messages {
                held[message.to as usize].extend(message.body);
            }
        }
        let own = (0..).zip(held).map(|(node, mut held)| match (held.len(), held.pop()) {
            (1, Some((own, item))) if own == node => Ok(item),
            _ => Err(machine.lacks(node)),
        });
        own.collect()
    }
}

/// Values folded as far as they are next to each other: pieces of consecutive nodes, in node order.
#[derive(Clone, Debug)]
pub struct Partial {
    operator: Operator,
    /// First node, the one after the last, and what they come to.
    pieces: Vec<(Node, Node, i64)>,
}

impl Partial {
    pub fn new(operator: Operator, node: Node, value: i64) -> Self {
        Partial {
            operator,
            pieces: vec![(node, node + 1, value)],
        }
    }

    pub fn bytes(&self) -> u64 {
        8 * self.pieces.len() as u64
    }

    /// Joins two: where the order does not matter to one value, else only what is next to each other.
    pub fn join(&mut self, other: Partial) {
        self.pieces.extend(other.pieces);
        self.pieces.sort_unstable_by_key(|piece| piece.0);
        let operator = self.operator;
        self.pieces.dedup_by(|later, earlier| {
            let joins = operator.is_commutative() || earlier.1 == later.0;
            if joins {
                *earlier = (earlier.0, later.1, operator.fold(earlier.2, later.2));
            }
            joins
        });
    }

    /// What all values come to, if they are one piece.
    pub fn total(&self) -> Option<i64> {
        match self.pieces[..] {
            [(_, _, total)] => Some(total),
            _ => None,
        }
    }
}
