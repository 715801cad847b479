//! Asking boards, through serial ports that are real or emulated.

use hopwise_node::wire::Query;
use serde::de::DeserializeOwned;

use hopwise_emulate::computers::Question;
use hopwise_emulate::host_port::Reply;

/// Computers at serial ports of some boards of a mesh.
pub trait Talk {
    /// The addresses of the boards where a computer is. A question's `at` is a place in this list.
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
    match reply {
        Some(Reply::Answer(bytes)) => postcard::from_bytes(bytes).ok(),
        _ => None,
    }
}
