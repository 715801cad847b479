//! Requests that nodes answer by themselves.

use std::time::{Duration, Instant};

use hopwise_node::wire::{Command, CommandResult, NodeReport, Query, RouterCounters, trace_records};
use serde::de::DeserializeOwned;

use crate::error::NoResponse;
use crate::mesh::Mesh;
use crate::talk::Reply;

/// Timeout of a request: packets live for six seconds, but a mesh that takes longer than this is faulty.
const NODE_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of concurrent requests.
const AT_ONCE: usize = 4;
const PING: &[u8] = b"hopwise";

/// The reports of one node; `None` where it did not respond.
#[derive(Clone, Debug)]
pub struct NodeState {
    pub node: u64,
    pub report: Option<NodeReport>,
    pub counters: Option<RouterCounters>,
}

impl NoResponse {
    /// The error of an unexpected reply.
    pub fn of(reply: &Option<Reply>) -> Self {
        match reply {
            Some(Reply::Undeliverable(reason)) => NoResponse::Undeliverable(*reason),
            Some(_) => NoResponse::Unreadable,
            None => NoResponse::Silence,
        }
    }
}

impl Mesh {
    pub fn ping(&self, node: u64) -> Result<Duration, NoResponse> {
        let begin = Instant::now();
        let reply = self.ask(node, Query::Ping, PING, NODE_TIMEOUT);
        match &reply {
            Some(Reply::Response(bytes)) if bytes == PING => Ok(begin.elapsed()),
            _ => Err(NoResponse::of(&reply)),
        }
    }

    /// The path to a node: the nodes on it, and the waiting time at each in microseconds; or the failure reason.
    pub fn trace(&self, node: u64) -> Result<Vec<(u64, u64)>, NoResponse> {
        let reply = self.ask(node, Query::Trace, &[], NODE_TIMEOUT);
        match &reply {
            Some(Reply::Response(response)) => Ok(trace_records(response)
                .map(|record| (record.node, record.waited))
                .collect()),
            _ => Err(NoResponse::of(&reply)),
        }
    }

    pub fn counters(&self, nodes: &[u64]) -> Vec<NodeState> {
        let mut states = Vec::new();
        for some in nodes.chunks(AT_ONCE) {
            std::thread::scope(|scope| {
                let asked = some.iter().map(|node| scope.spawn(|| self.counters_of(*node)));
                let asked: Vec<_> = asked.collect();
                states.extend(asked.into_iter().filter_map(|state| state.join().ok()));
            });
        }
        states
    }

    fn counters_of(&self, node: u64) -> NodeState {
        NodeState {
            node,
            report: self.read(node, Query::Identity),
            counters: self.read(node, Query::Counters),
        }
    }

    /// Makes a node broadcast a text for the logs of all; or returns the failure reason.
    pub fn broadcast_from(&self, node: u64, bytes: &[u8]) -> Result<(), NoResponse> {
        let command = Command::Broadcast(bytes);
        let reply = self.ask(node, command.query(), &command.payload(), NODE_TIMEOUT);
        match reply.as_ref().and_then(Reply::read) {
            Some(CommandResult::Done) => Ok(()),
            _ => Err(NoResponse::of(&reply)),
        }
    }

    fn read<T: DeserializeOwned>(&self, node: u64, query: Query) -> Option<T> {
        self.ask(node, query, &[], NODE_TIMEOUT)?.read()
    }
}
