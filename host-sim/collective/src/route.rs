//! Everything to its destination by next hops, round by round.

use hopwise_core::collective::{Ports, Turns};
use hopwise_core::{Network, Node, Rule};

use crate::machine::{Conflict, Machine, Message};

#[derive(Clone, Debug)]
pub struct Item<T> {
    pub to: Node,
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

    /// Remembers all responses.
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
    item_bytes: impl Fn(&T) -> u64,
) -> Result<Vec<Vec<T>>, Conflict> {
    let mut arrived: Vec<Vec<T>> = waiting.iter().map(|_| Vec::new()).collect();
    loop {
        let mut messages: Vec<(u64, Message<Vec<Item<T>>>)> = Vec::new();
        for (from, items) in (0..).zip(&mut waiting) {
            let first = messages.len();
            for item in std::mem::take(items) {
                if item.to == from {
                    arrived[from as usize].push(item.body);
                    continue;
                }
                let to = hops.next(from, item.to);
                let known = messages[first..].iter_mut().find(|(_, message)| message.to == to);
                match known {
                    Some((_, message)) => {
                        message.bytes += item_bytes(&item.body);
                        message.body.push(item);
                    }
                    None => {
                        let turn = turn(machine, turns, from, to)?;
                        let (bytes, body) = (item_bytes(&item.body), vec![item]);
                        messages.push((turn, Message::new(from, to, bytes, body)));
                    }
                }
            }
        }
        if messages.is_empty() {
            return Ok(arrived);
        }
        messages.sort_by_key(|(turn, _)| *turn);
        while let Some(&(turn, _)) = messages.first() {
            let rest = messages.split_off(messages.partition_point(|(other, _)| *other == turn));
            let now: Vec<_> = messages.into_iter().map(|(_, message)| message).collect();
            machine.round(&now)?;
            for message in now {
                waiting[message.to as usize].extend(message.body);
            }
            messages = rest;
        }
    }
}

/// The turn in which a node sends to a neighbor; with all ports there is one only.
fn turn(machine: &Machine, turns: Option<&Turns>, from: Node, to: Node) -> Result<u64, Conflict> {
    let (Ports::One, Some(turns)) = (machine.ports(), turns) else {
        return Ok(0);
    };
    let network = machine.network();
    let port = network.unchecked().port_to(from, to);
    let turn = port.and_then(|port| turns.of(network, from, port));
    turn.ok_or(Conflict::NoLink {
        round: machine.rounds(),
        from,
        to,
    })
}
