//! Commands that need no mesh, and the form of all answers.

use core::ops::Deref;

use heapless::Vec;
use hopwise_core::board::{BoardState, Command, Done, PAGE_BYTES};
use hopwise_core::limits::BODY;
use hopwise_core::link::Micros;
use postcard::ser_flavors::Slice;

use crate::about::About;
use crate::configuration;

/// What the board does once the answer has left.
pub(crate) enum Order {
    Restart,
    WritePage([u8; PAGE_BYTES]),
}

/// The bytes of an answer.
pub(crate) struct Answer(Vec<u8, BODY>);

impl Deref for Answer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Answer {
    /// An answer in postcard format.
    pub(crate) fn of<T: serde::Serialize>(value: &T) -> Self {
        let mut bytes = [0; BODY];
        let written = postcard::serialize_with_flavor(value, Slice::new(&mut bytes));
        Answer(
            written
                .map(|written| Vec::from_slice(written).unwrap_or_default())
                .unwrap_or_default(),
        )
    }

    /// What any board can do, part of a mesh or not.
    pub(crate) fn without_mesh(command: Command<'_>, about: &About, now: Micros) -> (Self, Option<Order>) {
        match command {
            Command::Status => (Answer::of(&about.status(now)), None),
            Command::ReadPage => (
                Answer(Vec::from_slice(&configuration::bytes()).unwrap_or_default()),
                None,
            ),
            Command::WritePage(page) => match configuration::understand(page) {
                Ok(_) => (Answer::of(&Done::Done), Some(Order::WritePage(*page))),
                // An empty page makes a board forget.
                Err(BoardState::NoPage) if page.iter().all(|byte| *byte == 0xff) => {
                    (Answer::of(&Done::Done), Some(Order::WritePage(*page)))
                }
                Err(BoardState::NotInImage) => (Answer::of(&Done::NotInImage), None),
                Err(_) => (Answer::of(&Done::BadPage), None),
            },
            Command::Restart => (Answer::of(&Done::Done), Some(Order::Restart)),
            Command::Broadcast(_) | Command::StartTraffic(_) | Command::Traffic | Command::LogPackets(_) => {
                (Answer::of(&Done::NotConfigured), None)
            }
        }
    }
}
