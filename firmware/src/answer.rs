//! Commands that need no mesh, and the form of all answers.

use core::ops::Deref;

use hopwise_core::limits::BODY;
use hopwise_core::link::Micros;
use hopwise_core::wire::{BoardState, Body, Command, Done, PAGE_BYTES, write_structure};

use crate::about::About;
use crate::configuration;

/// What the board does once the answer has left.
pub(crate) enum Order {
    Restart,
    WritePage([u8; PAGE_BYTES]),
}

/// The bytes of an answer.
pub(crate) struct Answer(Body<BODY>);

impl Deref for Answer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Answer {
    /// An answer in postcard format.
    pub(crate) fn of<T: serde::Serialize>(value: &T) -> Self {
        Answer(write_structure(value).unwrap_or_default())
    }

    /// These very bytes, if they fit.
    fn echo(bytes: &[u8]) -> Self {
        Answer(Body::from_slice(bytes).unwrap_or_default())
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
