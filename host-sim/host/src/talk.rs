//! Asking boards, through serial ports that are real or emulated.

use hopwise_node::limits::BODY;
use hopwise_node::wire::{Command, Content, DropReason, Packet, Query, Verdict, read_structure};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A question: asked at a board, of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The board at whose serial port it is asked.
    pub at: usize,
    /// Whom it is for.
    pub dest: u64,
    /// What is asked.
    pub query: Query,
    /// What comes with it.
    pub more: Vec<u8>,
}

impl Question {
    /// A question without more.
    pub fn new(at: usize, dest: u64, query: Query) -> Self {
        Question {
            at,
            dest,
            query,
            more: Vec::new(),
        }
    }

    /// A command to the board where it is given.
    pub fn command(at: usize, command: &Command<'_>) -> Self {
        Question {
            at,
            dest: at as u64,
            query: command.query(),
            more: command.payload().to_vec(),
        }
    }
}

/// What came back for a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The answer's bytes.
    Answer(Vec<u8>),
    /// The question, or the packet, did not reach its destination.
    Undeliverable(DropReason),
    /// What the destination says of a confirmed packet.
    Confirmed(Verdict),
}

impl Reply {
    /// An answer that is in postcard format.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        match self {
            Reply::Answer(bytes) => read_structure(bytes),
            Reply::Undeliverable(_) | Reply::Confirmed(_) => None,
        }
    }

    /// What a packet says of an earlier one, and the number of that.
    pub(crate) fn of(packet: &Packet<BODY>) -> Option<(u32, Reply)> {
        match packet.content()? {
            Content::Response(response) => Some((response.number, Reply::Answer(response.payload.to_vec()))),
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
    /// The addresses of the boards where a host is. A question's `at` is a place in this list.
    fn entrances(&self) -> Vec<u64>;

    /// Asks all questions and returns the replies in the same order; `None` where there was none in time.
    fn ask(&mut self, questions: &[Question]) -> Vec<Option<Reply>>;
}

/// Asks nodes the same question, each at the entrance nearest to it, and those that do not answer at the others. Returns the
/// replies in the order of the nodes.
pub fn ask_nodes(talk: &mut dyn Talk, nodes: &[u64], query: Query, more: &[u8]) -> Vec<Option<Reply>> {
    let entrances = talk.entrances();
    let mut replies: Vec<Option<Reply>> = vec![None; nodes.len()];
    for attempt in 0..entrances.len() {
        let open: Vec<usize> = (0..nodes.len()).filter(|place| !is_answer(&replies[*place])).collect();
        if open.is_empty() {
            break;
        }
        let ask = |place: &usize| {
            let own = entrances
                .iter()
                .position(|address| *address == nodes[*place])
                .unwrap_or(0);
            Question {
                at: (own + attempt) % entrances.len(),
                dest: nodes[*place],
                query,
                more: more.to_vec(),
            }
        };
        let questions: Vec<Question> = open.iter().map(ask).collect();
        for (place, reply) in open.iter().zip(talk.ask(&questions)) {
            replies[*place] = reply.or(replies[*place].take());
        }
    }
    replies
}

fn is_answer(reply: &Option<Reply>) -> bool {
    matches!(reply, Some(Reply::Answer(_)))
}

/// What an answer in postcard format says.
pub fn read<T: DeserializeOwned>(reply: &Option<Reply>) -> Option<T> {
    reply.as_ref()?.read()
}
