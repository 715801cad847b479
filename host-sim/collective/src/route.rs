//! Everything to its destination by next hops, round by round.

use std::collections::BTreeMap;

use hopwise_core::collective::{Ports, Turns};
use hopwise_core::{Network, Node, Rule};

use crate::machine::{Conflict, Machine, Message};

/// Something on its way.
#[derive(Clone, Debug)]
pub struct Item<T> {
    /// Where it goes.
    pub to: Node,
    /// What it is.
    pub body: T,
}

/// The next hops of a network, each asked once where many are asked for: exact rules can be slow.
pub struct Hops<'a> {
    network: &'a Network,
    /// By node and destination; `UNKNOWN` until asked for.
    known: Vec<u32>,
}

const UNKNOWN: u32 = u32::MAX;

impl<'a> Hops<'a> {
    /// Asks anew each time.
    pub fn new(network: &'a Network) -> Self {
        Hops {
            network,
            known: Vec::new(),
        }
    }

    /// Remembers all answers.
    pub fn remembered(network: &'a Network) -> Self {
        let nodes = network.nodes() as usize;
        Hops {
            network,
            known: vec![UNKNOWN; nodes * nodes],
        }
    }

    fn next(&mut self, here: Node, dest: Node) -> Node {
        let ask = || self.network.unchecked().next(here, dest, Rule::Exact);
        match self.known.get_mut((here * self.network.nodes() + dest) as usize) {
            None => ask(),
            Some(known) => {
                if *known == UNKNOWN {
                    *known = ask() as u32;
                }
                Node::from(*known)
            }
        }
    }
}

/// Brings all items to their destinations; what arrived at each node. What goes the same way in a round is one message.
///
/// With one port, a node sends through its links in turn. Turns in which nobody would send are left out: the routes follow from
/// addresses, so all nodes can know these.
pub fn route<T>(
    machine: &mut Machine,
    hops: &mut Hops,
    turns: Option<&Turns>,
    mut waiting: Vec<Vec<Item<T>>>,
    item_bytes: u64,
) -> Result<Vec<Vec<T>>, Conflict> {
    let network = machine.network();
    let mut arrived: Vec<Vec<T>> = waiting.iter().map(|_| Vec::new()).collect();
    loop {
        // By turn, then by sender and neighbour.
        let mut links: BTreeMap<u64, BTreeMap<(Node, Node), Vec<Item<T>>>> = BTreeMap::new();
        for (from, items) in (0..).zip(&mut waiting) {
            for item in items.drain(..) {
                if item.to == from {
                    arrived[from as usize].push(item.body);
                    continue;
                }
                let next = hops.next(from, item.to);
                let port = || network.unchecked().port_to(from, next);
                let turn = match (machine.ports(), turns) {
                    (Ports::One, Some(turns)) => port().and_then(|port| turns.of(network, from, port)),
                    _ => Some(0),
                };
                let round = machine.rounds();
                let turn = turn.ok_or(Conflict::NoLink { round, from, to: next })?;
                links
                    .entry(turn)
                    .or_default()
                    .entry((from, next))
                    .or_default()
                    .push(item);
            }
        }
        if links.is_empty() {
            return Ok(arrived);
        }
        for links in links.into_values() {
            let messages: Vec<Message<Vec<Item<T>>>> = links
                .into_iter()
                .map(|((from, to), body)| Message {
                    from,
                    to,
                    bytes: item_bytes * body.len() as u64,
                    body,
                })
                .collect();
            machine.round(&messages)?;
            for message in messages {
                waiting[message.to as usize].extend(message.body);
            }
        }
    }
}
