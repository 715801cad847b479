//! The steps of a network's program, round by round.

use hopwise_core::Node;
use hopwise_core::collective::{Axis, Lend, Pass, Step, Swap, Tell};

use crate::machine::{Conflict, Machine, Message};
use crate::operator::Operator;
use crate::tree::Known;

/// What a node holds while it goes through a program.
pub trait Held: Clone {
    /// What it lets the others along an axis know.
    type Item: Clone;

    fn item(&self) -> Self::Item;

    fn item_bytes(item: &Self::Item) -> u64;

    /// The size of all of it, for when it is moved or told.
    fn bytes(&self) -> u64;

    /// The items of everyone along an axis, in the order of the digit; its own is at `digit`.
    fn learn(&mut self, digit: usize, items: Vec<Self::Item>, axis: &Axis);

    /// Back from the other type of a dual-net: a node's own type, and what it held for one of the other.
    fn meet(&mut self, _: u64, _: Self) {}

    /// What a pivot of its unit has found out.
    fn take(&mut self, _: &Self) {}

    /// After what the pivot found out has come to everyone in the unit, the pivot included.
    fn settle(&mut self) {}

    /// What goes over a crossing of a dual-net; what does not go stays.
    fn lend(&mut self, _: &Lend) -> Self {
        self.clone()
    }

    /// What came over a crossing of a dual-net.
    fn borrow(&mut self, _: &Lend, _: Self) {}
}

pub fn step<H: Held>(machine: &mut Machine, step: &Step, held: &mut Vec<H>) -> Result<(), Conflict> {
    match step {
        Step::Share(axis) => share(machine, axis, held),
        Step::Swap(swap) => exchange(machine, swap, held).map(|_| ()),
        Step::Return(swap) => {
            let hosted = exchange(machine, swap, held)?;
            for ((node, held), hosted) in (0..).zip(held).zip(hosted) {
                held.meet(swap.kind(node), hosted);
            }
            Ok(())
        }
        Step::Pass(pass) => hand_on(machine, pass, held),
        Step::Tell(tell) => tell_all(machine, tell, held),
        Step::Lend(lend) => cross(machine, lend, held),
    }
}

fn message<H: Held>(from: Node, to: Node, body: H) -> Message<H> {
    let bytes = body.bytes();
    Message::new(from, to, bytes, body)
}

/// A round in which what comes is added to what is held there.
fn hand_over<H: Held>(machine: &mut Machine, messages: &[Message<H>], held: &mut [H]) -> Result<(), Conflict> {
    machine.round(messages)?;
    for message in messages {
        held[message.to as usize].take(&message.body);
    }
    Ok(())
}

/// What nodes of one type hold, or a part of it, goes to those of the other.
fn cross<H: Held>(machine: &mut Machine, lend: &Lend, held: &mut [H]) -> Result<(), Conflict> {
    let sends = (0..held.len() as Node).filter_map(|from| Some((from, lend.send(from)?)));
    let messages: Vec<_> = sends
        .map(|(from, to)| message(from, to, held[from as usize].lend(lend)))
        .collect();
    machine.round(&messages)?;
    for message in messages {
        held[message.to as usize].borrow(lend, message.body);
    }
    Ok(())
}

/// Items with the digit of who had them first.
type Labelled<I> = Vec<(u64, I)>;

/// Everyone gets the items of all along the axis.
fn share<H: Held>(machine: &mut Machine, axis: &Axis, held: &mut [H]) -> Result<(), Conflict> {
    let size = axis.size() as usize;
    let takes_part = |node: usize| axis.takes_part(node as Node);
    let mut known: Vec<Vec<Option<H::Item>>> = (0..held.len())
        .map(|node| {
            let mut items = vec![None; if takes_part(node) { size } else { 0 }];
            if let Some(own) = items.get_mut(axis.digit(node as Node) as usize) {
                *own = Some(held[node].item());
            }
            items
        })
        .collect();
    for round in 0..axis.rounds(machine.ports) {
        let mut messages: Vec<Message<Labelled<H::Item>>> = Vec::new();
        for from in 0..held.len() as Node {
            let first = messages.len();
            for (to, source) in axis.sends(from, round, machine.ports) {
                let Some(item) = known[from as usize][source as usize].clone() else {
                    return Err(machine.has_not(from));
                };
                let bytes = H::item_bytes(&item);
                match messages[first..].iter_mut().find(|message| message.to == to) {
                    Some(message) => {
                        message.bytes += bytes;
                        message.body.push((source, item));
                    }
                    None => messages.push(Message::new(from, to, bytes, vec![(source, item)])),
                }
            }
        }
        machine.round(&messages)?;
        for message in messages {
            for (source, item) in message.body {
                known[message.to as usize][source as usize] = Some(item);
            }
        }
    }
    for (node, items) in known.into_iter().enumerate().filter(|&(node, _)| takes_part(node)) {
        let all: Option<Vec<H::Item>> = items.into_iter().collect();
        let lacks = machine.lacks(node as Node);
        held[node].learn(axis.digit(node as Node) as usize, all.ok_or(lacks)?, axis);
    }
    Ok(())
}

/// What nodes hold changes places; what they held before.
fn exchange<H: Held>(machine: &mut Machine, swap: &Swap, held: &mut Vec<H>) -> Result<Vec<H>, Conflict> {
    let messages: Vec<Message<&H>> = (0..)
        .zip(held.iter())
        .map(|(from, body)| Message::new(from, swap.partner(from), body.bytes(), body))
        .filter(|message| message.from != message.to)
        .collect();
    machine.round(&messages)?;
    let mut after = held.clone();
    for message in messages {
        after[message.to as usize] = message.body.clone();
    }
    Ok(std::mem::replace(held, after))
}

fn hand_on<H: Held>(machine: &mut Machine, pass: &Pass, held: &mut [H]) -> Result<(), Conflict> {
    for round in 0..pass.rounds() {
        let sends = (0..held.len() as Node).filter_map(|from| Some((from, pass.send(from, round)?)));
        let messages: Vec<_> = sends
            .map(|(from, to)| message(from, to, held[from as usize].clone()))
            .collect();
        hand_over(machine, &messages, held)?;
    }
    Ok(())
}

fn tell_all<H: Held>(machine: &mut Machine, tell: &Tell, held: &mut [H]) -> Result<(), Conflict> {
    let unit = tell.unit();
    let tree = Known::new(tell.tree(&unit, machine.ports));
    let positions = unit.nodes();
    for round in 0..tree.rounds() {
        let mut messages = Vec::new();
        for (from, to) in tree.down(round) {
            for first in (0..held.len() as Node).step_by(positions as usize) {
                let body = held[(first + from) as usize].clone();
                messages.push(message(first + from, first + to, body));
            }
        }
        hand_over(machine, &messages, held)?;
    }
    held.iter_mut().for_each(Held::settle);
    Ok(())
}

/// How much of a fold is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing but that all have come.
    Arrival,
    /// What all values come to.
    Total,
    /// What the values before one's own come to.
    Prefix,
}

/// A fold in node order: of the block of consecutive nodes that a node has heard of so far.
#[derive(Clone, Copy, Debug)]
pub struct Folded {
    operator: Operator,
    wanted: Wanted,
    /// The values of the block before its own.
    pub(crate) prefix: i64,
    /// What comes before the node's unit, while only the pivot knows.
    before: i64,
    total: i64,
}

impl Folded {
    pub fn new(operator: Operator, wanted: Wanted, value: i64) -> Self {
        Folded {
            operator,
            wanted,
            prefix: operator.identity(),
            before: operator.identity(),
            total: value,
        }
    }

    pub fn total(&self) -> i64 {
        self.total
    }
}

impl Held for Folded {
    type Item = (i64, u64);

    fn item(&self) -> (i64, u64) {
        (self.total, if self.wanted == Wanted::Arrival { 0 } else { 8 })
    }

    fn item_bytes(item: &(i64, u64)) -> u64 {
        item.1
    }

    fn bytes(&self) -> u64 {
        match self.wanted {
            Wanted::Arrival => 0,
            Wanted::Total => 8,
            Wanted::Prefix => 16,
        }
    }

    fn learn(&mut self, digit: usize, items: Vec<(i64, u64)>, axis: &Axis) {
        let fold = |items: &[(i64, u64)]| self.operator.fold_all(items.iter().map(|item| item.0));
        let earlier = fold(&items[..digit]);
        self.total = fold(&items);
        let later = if axis.is_at_pivots() {
            &mut self.before
        } else {
            &mut self.prefix
        };
        *later = self.operator.fold(earlier, *later);
    }

    fn meet(&mut self, kind: u64, hosted: Self) {
        if kind == 0 {
            self.total = self.operator.fold(self.total, hosted.total);
        } else {
            self.prefix = self.operator.fold(hosted.total, self.prefix);
            self.total = self.operator.fold(hosted.total, self.total);
        }
    }

    fn take(&mut self, pivot: &Self) {
        self.before = pivot.before;
        self.total = pivot.total;
    }

    fn settle(&mut self) {
        self.prefix = self.operator.fold(self.before, self.prefix);
        self.before = self.operator.identity();
    }
}

/// The values that a node has heard of.
#[derive(Clone, Debug)]
pub struct Gathered {
    values: std::sync::Arc<Vec<(Node, i64)>>,
}

impl Gathered {
    pub fn new(node: Node, value: i64) -> Self {
        Gathered {
            values: vec![(node, value)].into(),
        }
    }

    pub fn in_order(&self) -> Vec<i64> {
        let mut values = self.values.to_vec();
        values.sort_unstable_by_key(|value| value.0);
        values.into_iter().map(|value| value.1).collect()
    }
}

impl Held for Gathered {
    type Item = Gathered;

    fn item(&self) -> Gathered {
        self.clone()
    }

    fn item_bytes(item: &Gathered) -> u64 {
        item.bytes()
    }

    fn bytes(&self) -> u64 {
        8 * self.values.len() as u64
    }

    fn learn(&mut self, _: usize, items: Vec<Gathered>, _: &Axis) {
        let all = items.iter().flat_map(|item| item.values.iter().copied());
        self.values = all.collect::<Vec<_>>().into();
    }

    fn meet(&mut self, _: u64, hosted: Self) {
        let both = self.values.iter().chain(hosted.values.iter());
        self.values = both.copied().collect::<Vec<_>>().into();
    }

    fn take(&mut self, pivot: &Self) {
        self.values = pivot.values.clone();
    }
}
