//! Everything to its destination by next hops, round by round.

use std::collections::HashSet;

use hopwise_core::collective::Ports;
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
/// With one port, a message goes in the first round in which neither end is taken, port by port, since ports that are directions do not meet. The
/// routes follow from addresses, so every node can know that round.
pub fn route<T>(
    machine: &mut Machine,
    hops: &mut Hops,
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
                        let port = port(machine, from, to)?;
                        let (bytes, body) = (item_bytes(&item.body), vec![item]);
                        messages.push((port, Message::new(from, to, bytes, body)));
                    }
                }
            }
        }
        if messages.is_empty() {
            return Ok(arrived);
        }
        messages.sort_by_key(|(port, _)| *port);
        let mut taken = HashSet::new();
        for (round, Message { from, to, .. }) in &mut messages {
            let ends = |round: u64| [(true, *from, round), (false, *to, round)];
            let is_free =
                |round: &u64| machine.ports == Ports::All || !ends(*round).iter().any(|end| taken.contains(end));
            *round = (0..).find(is_free).unwrap_or(0);
            taken.extend(ends(*round));
        }
        messages.sort_by_key(|(round, _)| *round);
        while let Some(&(round, _)) = messages.first() {
            let rest = messages.split_off(messages.partition_point(|(other, _)| *other == round));
            let now: Vec<_> = messages.into_iter().map(|(_, message)| message).collect();
            machine.round(&now)?;
            for message in now {
                waiting[message.to as usize].extend(message.body);
            }
            messages = rest;
        }
    }
}

fn port(machine: &Machine, from: Node, to: Node) -> Result<u64, Conflict> {
    let port = machine.network.unchecked().port_to(from, to);
    port.ok_or(Conflict::NoLink {
        round: machine.rounds,
        from,
        to,
    })
}
