//! Commands that need no mesh, and the form of all answers.

use heapless::Vec;
use hopwise_core::board::{BoardState, Command, Done, PAGE_BYTES};
use hopwise_core::limits::BODY;
use hopwise_core::link::Micros;

use crate::about::About;
use crate::configuration;

/// What the board does once the answer has left.
pub(crate) enum Deferred {
    Restart,
    WritePage([u8; PAGE_BYTES]),
}

/// The bytes of an answer.
pub(crate) type Answer = Vec<u8, BODY>;

/// An answer in postcard format.
pub(crate) fn encode<T: serde::Serialize>(value: &T) -> Answer {
    let mut bytes = [0; BODY];
    let written = postcard::to_slice(value, &mut bytes);
    written.map_or(Answer::new(), |written| copy_of(written))
}

/// An answer of these very bytes, which are no more than a packet holds.
pub(crate) fn copy_of(bytes: &[u8]) -> Answer {
    Answer::from_slice(bytes).unwrap_or_default()
}

/// What any board can do, part of a mesh or not. What is to be done later is put into `deferred`.
pub(crate) fn without_mesh(
    command: Command<'_>,
    about: &About,
    now: Micros,
    deferred: &mut Option<Deferred>,
) -> Answer {
    let done = match command {
        Command::Status => return encode(&about.status(now)),
        Command::ReadPage => return copy_of(&configuration::bytes()),
        Command::WritePage(page) => match configuration::understand(page) {
            Err(BoardState::NotInImage) => Done::NotInImage,
            // An empty page makes a board forget.
            Err(state) if state != BoardState::NoPage || page.iter().any(|byte| *byte != 0xff) => Done::BadPage,
            _ => {
                *deferred = Some(Deferred::WritePage(*page));
                Done::Done
            }
        },
        Command::Restart => {
            *deferred = Some(Deferred::Restart);
            Done::Done
        }
        Command::Broadcast(_) | Command::StartTraffic(_) | Command::Traffic | Command::LogPackets(_) => {
            Done::NotConfigured
        }
    };
    encode(&done)
}
