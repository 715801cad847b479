//! Traffic that is written down beforehand: the packets of a trace at their times, or the messages of a collective, each as soon as
//! what its sender waits for has come.

use std::io::BufRead;

use hopwise_core::collective::{Operation, Phase, Plan, Ports, Ring, Step, Tree};
use hopwise_core::{Network, NoSuchNode, Node};
use hopwise_node::router::Event;
use hopwise_node::wire::Kind;
use hopwise_trace::line::{Nanos, Record};
use hopwise_trace::reader::Reader;

use super::bad::{BadLoad, bad};

/// A message of a schedule; it is sent as one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub from: u32,
    pub to: u32,
    /// The cycle in which it is made, if it has no round.
    pub at: u32,
    /// It is made once its sender has all messages of the rounds before.
    pub round: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    messages: Vec<Message>,
    /// What it is: `trace` or the name of the collective.
    name: String,
}

/// Bits of a flit on a serial line: 8 bytes of 10 bits.
const FLIT_BITS: f64 = 80.0;

impl Schedule {
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The packets of a trace but for broadcasts, at the times at which their nodes accepted them. A cycle is the time that a link of the traced
    /// mesh takes for a flit of 8 bytes; the first packet is made in cycle 0.
    pub fn trace(network: &Network, input: impl BufRead) -> Result<Self, BadLoad> {
        let reader = Reader::new(input).map_err(bad)?;
        let baud = reader.header().and_then(|header| header.baud).filter(|&baud| baud > 0);
        let no_baud = || bad("the trace does not say how long a byte takes: its first line has no baud rate");
        let cycle = FLIT_BITS * 1e9 / f64::from(baud.ok_or_else(no_baud)?);
        let last = network.nodes().saturating_sub(1);
        let mut times = Vec::new();
        for line in reader {
            let line = line.map_err(bad)?;
            let Record::Event(Event::Accepted { packet, dest }) = line.record else {
                continue;
            };
            let from = packet.source;
            if packet.kind == Kind::Broadcast {
                continue;
            }
            if from > last || dest > last {
                let what = format!("the trace has a packet from node {from} to node {dest}");
                return Err(bad(format!("{what}, and {network} has nodes 0 to {last}")));
            }
            if from != dest {
                times.push((line.at, from as u32, dest as u32));
            }
        }
        times.sort_by_key(|&(at, _, _)| at);
        let begin = times.first().map_or(0, |first| first.0);
        let message = |(time, from, to): (Nanos, u32, u32)| Message {
            from,
            to,
            at: ((time - begin) as f64 / cycle) as u32,
            round: None,
        };
        Self::of("trace", times.into_iter().map(message).collect())
    }

    /// The messages of a collective, in the all-port model, round by round as [`Plan`] has them. A message is one packet, whatever it
    /// holds.
    pub fn collective(network: &Network, operation: Operation, root: Node) -> Result<Self, BadLoad> {
        if matches!(operation, Operation::Permute | Operation::Fft) {
            let name = operation.name();
            let why = format!("{name} has no schedule of its own: what goes where depends on the values");
            return Err(bad(why));
        }
        let plan = Plan::new(network, operation, Ports::All, root).map_err(bad)?;
        let mut writer = Writer {
            network,
            messages: Vec::new(),
            round: 0,
        };
        if operation == Operation::Shift {
            let ring = Ring::new(network);
            for node in 0..network.nodes() {
                writer.add(0, node, ring.next(node).map_err(bad)?);
            }
            return Self::of(operation.name(), writer.messages);
        }
        for phase in (0..).map_while(|index| plan.phase(index)) {
            writer.phase(phase).map_err(bad)?;
        }
        Self::of(operation.name(), writer.messages)
    }

    fn of(name: &str, messages: Vec<Message>) -> Result<Self, BadLoad> {
        if messages.is_empty() {
            return Err(bad(format!("the {name} has nothing to send")));
        }
        Ok(Schedule {
            messages,
            name: name.into(),
        })
    }
}

/// Writes down the phases of a collective, one after the other.
struct Writer<'a> {
    network: &'a Network,
    messages: Vec<Message>,
    /// The first round of the phase.
    round: u32,
}

impl Writer<'_> {
    fn add(&mut self, round: u64, from: Node, to: Node) {
        let message = Message {
            from: from as u32,
            to: to as u32,
            at: 0,
            round: Some(self.round + round as u32),
        };
        if from != to && self.messages.last() != Some(&message) {
            self.messages.push(message);
        }
    }

    fn phase(&mut self, phase: Phase<'_>) -> Result<(), NoSuchNode> {
        let nodes = self.network.nodes();
        let rounds = match phase {
            Phase::Up(tree) => self.tree(tree, &[0], true)?,
            Phase::Down(tree) => self.tree(tree, &[0], false)?,
            Phase::Step(Step::Share(axis)) => {
                let rounds = axis.rounds(Ports::All);
                for round in 0..rounds {
                    for from in 0..nodes {
                        let mut others: Vec<Node> = axis.sends(from, round, Ports::All).map(|(to, _)| to).collect();
                        others.sort_unstable();
                        others.dedup();
                        others.into_iter().for_each(|to| self.add(round, from, to));
                    }
                }
                rounds
            }
            Phase::Step(Step::Swap(swap) | Step::Return(swap)) => {
                (0..nodes).for_each(|from| self.add(0, from, swap.partner(from)));
                1
            }
            Phase::Step(Step::Lend(lend)) => {
                let sends = (0..nodes).filter_map(|from| Some((from, lend.send(from)?)));
                sends.for_each(|(from, to)| self.add(0, from, to));
                1
            }
            Phase::Step(Step::Pass(pass)) => {
                for round in 0..pass.rounds() {
                    let sends = (0..nodes).filter_map(|from| Some((from, pass.send(from, round)?)));
                    sends.for_each(|(from, to)| self.add(round, from, to));
                }
                pass.rounds()
            }
            Phase::Step(Step::Tell(tell)) => {
                let unit = tell.unit();
                let firsts: Vec<Node> = (0..nodes).step_by(unit.nodes().max(1) as usize).collect();
                self.tree(tell.tree(&unit, Ports::All), &firsts, false)?
            }
            Phase::Compare(sorting, stage) => {
                for node in 0..nodes {
                    if let Some(comparator) = sorting.comparator(stage, node) {
                        self.add(0, node, comparator.partner);
                    }
                }
                1
            }
            Phase::Route => {
                // Each begins with the next node, so that they do not all turn to the same.
                for from in 0..nodes {
                    (1..nodes).for_each(|ahead| self.add(0, from, (from + ahead) % nodes));
                }
                1
            }
        };
        self.round += rounds as u32;
        Ok(())
    }

    /// A tree up or down, in copies that begin at some nodes; returns its rounds.
    fn tree(&mut self, tree: Tree<'_>, firsts: &[Node], up: bool) -> Result<u64, NoSuchNode> {
        let rounds = tree.rounds();
        for node in 0..tree.network().nodes() {
            let (told, Some(parent)) = (tree.told(node)?, tree.parent(node)?) else {
                continue;
            };
            for first in firsts {
                if up {
                    self.add(rounds - told, first + node, first + parent);
                } else {
                    self.add(told - 1, first + parent, first + node);
                }
            }
        }
        Ok(rounds)
    }
}
