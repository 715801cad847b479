//! The layer between a node and the rest of the world. There is none on a correct board; others test the oracle.

use hopwise_node::limits::BODY;
use hopwise_node::router::{Event, Message};
use hopwise_node::wire::RouterCounters;

use super::wire::Nanos;
use super::world::WireEnd;

/// May change what nodes send, say and count, and what their applications get. Unless told otherwise it changes nothing.
pub trait Shell {
    /// A frame leaves a link: the first `length` bytes. Returns how long it is then.
    fn sends(&mut self, _at: Nanos, _from: WireEnd, _frame: &mut [u8], length: usize) -> usize {
        length
    }

    /// A node says what it did; `None` keeps that quiet.
    fn says(&mut self, _at: Nanos, _board: u32, event: &Event) -> Option<Event> {
        Some(*event)
    }

    /// Messages for the application of a board.
    fn brings(&mut self, _at: Nanos, _board: u32, _messages: &mut Vec<Message<BODY>>) {}

    fn counts(&mut self, _board: u32, counters: RouterCounters) -> RouterCounters {
        counters
    }
}
