//! A machine of synchronous rounds: what is sent in a round is there at its end. It refuses what links or ports cannot carry.

use std::collections::HashMap;

use hopwise_core::collective::Ports;
use hopwise_core::{Network, Node};

#[derive(Clone, Debug)]
pub struct Message<T> {
    pub from: Node,
    /// A neighbor of the sender.
    pub to: Node,
    pub bytes: u64,
    pub body: T,
}

impl<T> Message<T> {
    /// From a node to a neighbor, with its size and what it carries.
    pub fn new(from: Node, to: Node, bytes: u64, body: T) -> Self {
        Message { from, to, bytes, body }
    }
}

/// Why a round is refused: the schedule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    #[error("round {round}: node {from} sends to node {to}, which is not a neighbor")]
    NoLink { round: u64, from: Node, to: Node },
    #[error("round {round}: two messages from node {from} to node {to}")]
    TwiceOnLink { round: u64, from: Node, to: Node },
    #[error("round {round}: node {node} sends two messages, with one port")]
    SendsTwice { round: u64, node: Node },
    #[error("round {round}: node {node} receives two messages, with one port")]
    ReceivesTwice { round: u64, node: Node },
    #[error("round {round}: node {node} should send what it does not have")]
    HasNot { round: u64, node: Node },
    #[error("round {round}: node {node} lacks what it should have by now")]
    Lacks { round: u64, node: Node },
}

#[derive(Clone, Copy, Debug, Default)]
struct Load {
    messages: u64,
    /// The last round in which it was used, plus one.
    used: u64,
}

pub struct Machine<'a> {
    pub(crate) network: &'a Network,
    pub(crate) ports: Ports,
    pub(crate) rounds: u64,
    pub(crate) messages: u64,
    pub(crate) bytes_max: u64,
    loads: HashMap<(Node, Node), Load>,
    /// By node, the last round in which it sent and received, plus one.
    sent: Vec<u64>,
    received: Vec<u64>,
    /// By round, if they are written down.
    written: Option<Vec<Vec<Sent>>>,
}

/// A message that was sent: from, to, bytes.
pub type Sent = (Node, Node, u64);

impl<'a> Machine<'a> {
    /// A machine that has done nothing.
    pub fn new(network: &'a Network, ports: Ports) -> Self {
        let nodes = network.nodes() as usize;
        Machine {
            network,
            ports,
            rounds: 0,
            messages: 0,
            bytes_max: 0,
            loads: HashMap::new(),
            sent: vec![0; nodes],
            received: vec![0; nodes],
            written: None,
        }
    }

    pub fn write_down(&mut self) {
        self.written = Some(Vec::new());
    }

    /// The messages of each round, as far as they were written down.
    pub fn into_rounds(self) -> Vec<Vec<Sent>> {
        self.written.unwrap_or_default()
    }

    pub(crate) fn has_not(&self, node: Node) -> Conflict {
        let round = self.rounds;
        Conflict::HasNot { round, node }
    }

    pub(crate) fn lacks(&self, node: Node) -> Conflict {
        let round = self.rounds;
        Conflict::Lacks { round, node }
    }

    pub fn link_load(&self) -> u64 {
        self.loads.values().map(|load| load.messages).max().unwrap_or(0)
    }

    pub fn round<T>(&mut self, messages: &[Message<T>]) -> Result<(), Conflict> {
        let round = self.rounds;
        let mark = round + 1;
        for &Message { from, to, bytes, .. } in messages {
            let load = self.loads.entry((from, to)).or_default();
            // A link that was used once is there.
            if load.messages == 0 && !matches!(self.network.port_to(from, to), Ok(Some(_))) {
                return Err(Conflict::NoLink { round, from, to });
            }
            if load.used == mark {
                return Err(Conflict::TwiceOnLink { round, from, to });
            }
            *load = Load {
                messages: load.messages + 1,
                used: mark,
            };
            let sent = std::mem::replace(&mut self.sent[from as usize], mark);
            let received = std::mem::replace(&mut self.received[to as usize], mark);
            if self.ports == Ports::One && sent == mark {
                return Err(Conflict::SendsTwice { round, node: from });
            }
            if self.ports == Ports::One && received == mark {
                return Err(Conflict::ReceivesTwice { round, node: to });
            }
            self.messages += 1;
            self.bytes_max = self.bytes_max.max(bytes);
        }
        if let Some(written) = &mut self.written {
            let sent = messages.iter().map(|message| (message.from, message.to, message.bytes));
            written.push(sent.collect());
        }
        self.rounds += 1;
        Ok(())
    }
}
