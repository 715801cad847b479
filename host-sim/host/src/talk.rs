//! Requests to boards, through serial ports that are real or emulated.

use hopwise_node::limits::BODY;
use hopwise_node::wire::{Command, Content, DropReason, Packet, Query, Verdict, read_structure};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardRequest {
    /// The board at whose serial port it is sent.
    pub at: usize,
    pub dest: u64,
    pub query: Query,
    pub more: Vec<u8>,
}

impl BoardRequest {
    pub fn new(at: usize, dest: u64, query: Query) -> Self {
        BoardRequest {
            at,
            dest,
            query,
            more: Vec::new(),
        }
    }

    pub fn with(self, more: Vec<u8>) -> Self {
        BoardRequest { more, ..self }
    }

    pub fn command(at: usize, command: &Command<'_>) -> Self {
        BoardRequest::new(at, at as u64, command.query()).with(command.payload().to_vec())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Response(Vec<u8>),
    Undeliverable(DropReason),
    /// The destination's decision about a confirmed packet.
    Confirmed(Verdict),
}

impl Reply {
    /// Decodes a response in postcard format.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        match self {
            Reply::Response(bytes) => read_structure(bytes),
            Reply::Undeliverable(_) | Reply::Confirmed(_) => None,
        }
    }

    /// The reply in a packet, and the number of the original packet.
    pub(crate) fn of(packet: &Packet<BODY>) -> Option<(u32, Reply)> {
        match packet.content()? {
            Content::Response(response) => Some((response.number, Reply::Response(response.payload.to_vec()))),
            Content::Undeliverable(report) => Some((report.number, Reply::Undeliverable(report.reason))),
            Content::Confirmation(confirmation) => Some((confirmation.number, Reply::Confirmed(confirmation.verdict))),
            Content::Datagram(_)
            | Content::Broadcast(_)
            | Content::Confirmed(_)
            | Content::Request(_)
            | Content::Flooded(_) => None,
        }
    }
}

/// Hosts at serial ports of some boards of a mesh.
pub trait Talk {
    /// The addresses of the boards with a host. A request's `at` is an index into this list.
    fn entrances(&self) -> Vec<u64>;

    /// Sends all requests and returns the replies in the same order; `None` where there was none in time.
    fn ask(&mut self, requests: &[BoardRequest]) -> Vec<Option<Reply>>;
}

/// Sends nodes the same request, each through the nearest entrance, and on timeout through the others. Returns the
/// replies in the order of the nodes.
pub fn ask_nodes(talk: &mut dyn Talk, nodes: &[u64], query: Query, more: &[u8]) -> Vec<Option<Reply>> {
    let entrances = talk.entrances();
    let mut replies: Vec<Option<Reply>> = vec![None; nodes.len()];
    for attempt in 0..entrances.len() {
        let open = (0..nodes.len()).filter(|place| !is_response(&replies[*place]));
        let open: Vec<usize> = open.collect();
        if open.is_empty() {
            break;
        }
        let ask = |place: &usize| {
            let own = entrances.iter().position(|address| *address == nodes[*place]);
            let at = (own.unwrap_or(0) + attempt) % entrances.len();
            BoardRequest::new(at, nodes[*place], query).with(more.to_vec())
        };
        let requests: Vec<BoardRequest> = open.iter().map(ask).collect();
        for (place, reply) in open.iter().zip(talk.ask(&requests)) {
            replies[*place] = reply.or(replies[*place].take());
        }
    }
    replies
}

fn is_response(reply: &Option<Reply>) -> bool {
    matches!(reply, Some(Reply::Response(_)))
}

pub fn read<T: DeserializeOwned>(reply: &Option<Reply>) -> Option<T> {
    reply.as_ref()?.read()
}
