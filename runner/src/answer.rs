//! Commands that need no mesh, and the form of all answers.

use hopwise_node::boot::Trial;
use hopwise_node::limits::BODY;
use hopwise_node::link::Micros;
use hopwise_node::wire::{BoardState, Body, CONFIG_BYTES, Command, CommandResult, Failure, write_structure};

use crate::about::About;
use crate::configuration;
use crate::platform::Platform;

/// What the board does once the answer has left.
pub(crate) enum Deferred {
    Restart,
    WritePage { page: [u8; CONFIG_BYTES], on_trial: bool },
    KeepPage,
    Fail(Failure),
    Switch(Trial),
    KeepImage,
}

/// The bytes of an answer.
pub(crate) type Answer = Body<BODY>;

/// An answer in postcard format.
pub(crate) fn encode<T: serde::Serialize>(value: &T) -> Answer {
    write_structure(value).unwrap_or_default()
}

/// What came with a command, if who sent it may give it. A board with keys asks for proof. One without does most of what
/// anyone says, but takes another page only at its own port, or while someone holds its button.
pub(crate) fn admit<'a, P: Platform>(
    number: u8,
    payload: &'a [u8],
    from_afar: bool,
    about: &About<P>,
) -> Option<&'a [u8]> {
    match &about.authority {
        _ if !Command::changes(number) => Some(payload),
        Some(authority) => authority.borrow_mut().check(number, payload),
        None => {
            let is_page = number == Command::WRITE_PAGE;
            Some(payload).filter(|_| !is_page || !from_afar || about.is_pressed.get())
        }
    }
}

/// What any board can do, part of a mesh or not. What is to be done later is put into `deferred`. `from_afar` says that the command
/// came over the mesh.
pub(crate) fn without_mesh<P: Platform>(
    command: Command<'_>,
    from_afar: bool,
    about: &About<P>,
    now: Micros,
    deferred: &mut Option<Deferred>,
) -> Answer {
    let done = match command {
        Command::Status => return encode(&about.status(now)),
        Command::ReadPage => {
            return Answer::from_slice(&about.page).unwrap_or_default();
        }
        Command::Challenge => match &about.authority {
            Some(authority) => return encode(&authority.borrow().challenge()),
            None => CommandResult::Unknown,
        },
        Command::WritePage(page) => match configuration::understand::<P>(page, about.links) {
            Err(BoardState::NotInImage) => CommandResult::NotInImage,
            // An empty page makes a board forget.
            Err(state) if state != BoardState::NoPage || page.iter().any(|byte| *byte != 0xff) => {
                CommandResult::BadConfig
            }
            _ => {
                // Who is at the board's own port can write another one; who is not might never reach the board again.
                *deferred = Some(Deferred::WritePage {
                    page: *page,
                    on_trial: from_afar,
                });
                CommandResult::Done
            }
        },
        Command::KeepPage => {
            *deferred = Some(Deferred::KeepPage);
            CommandResult::Done
        }
        Command::Fail(failure) => {
            *deferred = Some(Deferred::Fail(failure));
            CommandResult::Done
        }
        Command::ReadBlock { id, index } => match about.next_image.block(id, index) {
            Some(block) => return block,
            None => CommandResult::NotThere,
        },
        Command::Update => match about.next_image.state() {
            Some(state) => return encode(&state),
            None => CommandResult::Unknown,
        },
        Command::BeginUpdate(plan) => about.next_image.begin(plan),
        Command::SwitchImage(hash) => match about.next_image.trial(hash) {
            Some(trial) => {
                *deferred = Some(Deferred::Switch(trial));
                CommandResult::Done
            }
            None => CommandResult::NotThere,
        },
        Command::KeepImage => {
            *deferred = Some(Deferred::KeepImage);
            CommandResult::Done
        }
        Command::Restart => {
            *deferred = Some(Deferred::Restart);
            CommandResult::Done
        }
        Command::Broadcast(_)
        | Command::SendBlock(_)
        | Command::StartTraffic(_)
        | Command::Traffic
        | Command::LogPackets(_) => CommandResult::NotConfigured,
    };
    encode(&done)
}
