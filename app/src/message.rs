//! The messages between programs and router.

use hopwise_core::Node;
use hopwise_node::router::Outcome;
use hopwise_node::wire::{AppPort, AppStatus, Body, Bytes};

use crate::MAX_MESSAGE;
use crate::error::{RequestError, SendError};

pub(crate) type Payload = Body<MAX_MESSAGE>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendMode {
    Datagram,
    ToHost,
    Confirmed,
    Broadcast,
    Request,
    RequestToHost,
    Response(RequestId, AppStatus),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestId {
    pub(crate) from_host: bool,
    pub(crate) number: u32,
    pub(crate) asked: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) how: SendMode,
    pub(crate) dest: Node,
    pub(crate) port: AppPort,
}

impl Job {
    pub(crate) fn new(how: SendMode, dest: Node, port: AppPort) -> Self {
        Job { how, dest, port }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum SendResult {
    /// The router has it. Most messages have no further result.
    Sent,
    Completed(Outcome),
    /// Its bytes are in the message's place.
    Response,
    Failed(RequestError),
    NotSent(SendError),
}

impl SendResult {
    /// Of a message that has no other result.
    pub(crate) fn sent(self) -> Result<(), SendError> {
        match self {
            SendResult::NotSent(error) => Err(error),
            _ => Ok(()),
        }
    }
}

/// How a message was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Service {
    /// [`Mesh::send`](crate::Mesh::send).
    Datagram,
    /// [`Mesh::broadcast`](crate::Mesh::broadcast).
    Broadcast,
    /// [`Mesh::send_confirmed`](crate::Mesh::send_confirmed).
    Confirmed,
    /// [`Mesh::request`](crate::Mesh::request): its sender waits for a response.
    Request,
}

/// A received message.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The sender.
    pub source: Node,
    /// Whether the host at that node sent it, not the node.
    pub from_host: bool,
    /// How it was sent.
    pub service: Service,
    pub(crate) payload: Payload,
    pub(crate) asker: RequestId,
}

impl Incoming {
    /// Room for a message.
    pub(crate) const fn empty() -> Self {
        Incoming {
            source: 0,
            from_host: false,
            service: Service::Datagram,
            payload: Payload::new(),
            asker: RequestId {
                from_host: false,
                number: 0,
                asked: 0,
            },
        }
    }

    /// Becomes a message with these bytes, without moving its buffer.
    pub(crate) fn put(&mut self, source: Node, service: Service, asker: RequestId, bytes: &[u8]) {
        (self.source, self.from_host) = (source, asker.from_host);
        (self.service, self.asker) = (service, asker);
        self.payload.truncate(0);
        // Cannot fail: they were in a packet.
        let _ = self.payload.extend_from_slice(bytes);
    }

    /// The payload.
    pub fn bytes(&self) -> &[u8] {
        &self.payload
    }
}

/// A neighbor in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Neighbor {
    /// The address of the neighbor.
    pub node: Node,
    /// Whether a link to it is up.
    pub is_up: bool,
}

/// Neighbors of a node, in port order. Those beyond the capacity are ignored.
pub(crate) type Neighbors = heapless::Vec<Neighbor, 16>;
