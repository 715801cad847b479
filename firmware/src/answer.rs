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

    /// The bytes of the question.
    pub(crate) fn echo(bytes: &[u8]) -> Self {
        Answer(Vec::from_slice(bytes).unwrap_or_default())
    }

    /// What any board can do, part of a mesh or not. What is to be done later is put into `order`.
    pub(crate) fn without_mesh(command: Command<'_>, about: &About, now: Micros, order: &mut Option<Order>) -> Self {
        let done = match command {
            Command::Status => return Answer::of(&about.status(now)),
            Command::ReadPage => return Answer::echo(&configuration::bytes()),
            Command::WritePage(page) => match configuration::understand(page) {
                Err(BoardState::NotInImage) => Done::NotInImage,
                // An empty page makes a board forget.
                Err(state) if state != BoardState::NoPage || page.iter().any(|byte| *byte != 0xff) => Done::BadPage,
                _ => {
                    *order = Some(Order::WritePage(*page));
                    Done::Done
                }
            },
            Command::Restart => {
                *order = Some(Order::Restart);
                Done::Done
            }
            Command::Broadcast(_) | Command::StartTraffic(_) | Command::Traffic | Command::LogPackets(_) => {
                Done::NotConfigured
            }
        };
        Answer::of(&done)
    }
}
