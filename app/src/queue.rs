//! The received messages of a port, in order.

use crate::message::Incoming;

/// Each message is written and read where it stays: it is mostly room, and moving that takes longer than all else that is done with one.
#[derive(Debug)]
pub(crate) struct Queue<const DEPTH: usize> {
    messages: [Incoming; DEPTH],
    first: usize,
    length: usize,
}

impl<const DEPTH: usize> Queue<DEPTH> {
    pub(crate) const fn new() -> Self {
        Queue {
            messages: [const { Incoming::empty() }; DEPTH],
            first: 0,
            length: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    fn place(&self, number: usize) -> usize {
        (self.first + number).checked_rem(DEPTH).unwrap_or(0)
    }

    /// Adds a message, which is to be written; `None` if there is no room.
    pub(crate) fn add(&mut self) -> Option<&mut Incoming> {
        if self.length == DEPTH {
            return None;
        }
        let place = self.place(self.length);
        self.length += 1;
        self.messages.get_mut(place)
    }

    pub(crate) fn first(&self) -> Option<&Incoming> {
        self.messages.get(self.first).filter(|_| self.length > 0)
    }

    /// Removes the first message.
    pub(crate) fn remove(&mut self) {
        self.first = self.place(1);
        self.length = self.length.saturating_sub(1);
    }
}
