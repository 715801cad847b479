//! Commands that need no mesh, and the encoding of all responses.

use hopwise_node::boot::Trial;
use hopwise_node::limits::BODY;
use hopwise_node::link::Micros;
use hopwise_node::wire::{BoardState, Body, Bytes, CONFIG_BYTES, Command, CommandResult, Failure, write_structure};

use crate::about::About;
use crate::configuration;
use crate::platform::Platform;

/// Actions after the response has left.
#[derive(PartialEq)]
pub(crate) enum Deferred {
    Restart,
    WriteConfig {
        board_config: [u8; CONFIG_BYTES],
        on_trial: bool,
    },
    KeepConfig,
    Fail(Failure),
    Switch(Trial),
    KeepImage,
}

pub(crate) type Response = Body<BODY>;

/// Encodes a response in postcard format.
pub(crate) fn encode<T: serde::Serialize>(value: &T) -> Response {
    write_structure(value).unwrap_or_default()
}

/// The payload of a command, if it is authorized. A board with keys requires a tag. One without obeys most
/// commands of any sender, but takes another config only at its own port, or while its button is held down.
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
            let is_config = number == Command::WRITE_CONFIG;
            Some(payload).filter(|_| !is_config || !from_afar || about.is_pressed.get())
        }
    }
}

/// Adds the tag by which a board with keys proves that the response to a request with these bytes is its own.
pub(crate) fn prove<P: Platform>(number: u8, request: &[u8], response: &mut Response, about: &About<P>) {
    if let Some(authority) = about.authority.as_ref().filter(|_| Command::is_proven(number)) {
        let tag = authority.borrow().prove(number, request, response);
        // Cannot fail: these responses are short.
        let _ = response.extend_from_slice(&tag);
    }
}

/// Commands that any board can execute, part of a mesh or not. `from_afar` says that the command came over the mesh.
pub(crate) fn without_mesh<P: Platform>(
    command: Command<'_>,
    from_afar: bool,
    about: &About<P>,
    now: Micros,
) -> Response {
    let done = match command {
        Command::Status => return encode(&about.status(now)),
        Command::ReadConfig => {
            return Response::from_slice(&about.board_config).unwrap_or_default();
        }
        Command::Challenge => match &about.authority {
            Some(authority) => return encode(&authority.borrow().challenge()),
            None => CommandResult::Unknown,
        },
        Command::WriteConfig(board_config) => match configuration::understand::<P>(board_config, about.links) {
            Err(BoardState::NotInImage) => CommandResult::NotInImage,
            // An empty config makes a board forget its own.
            Err(state) if state != BoardState::NoConfig || board_config.iter().any(|byte| *byte != 0xff) => {
                CommandResult::BadConfig
            }
            _ => {
                // A host at the board's own port can write another one; one farther away might never reach the board again.
                let board_config = *board_config;
                let on_trial = from_afar;
                about.defer(Deferred::WriteConfig { board_config, on_trial }, now)
            }
        },
        Command::KeepConfig => about.defer(Deferred::KeepConfig, now),
        Command::Fail(failure) => about.defer(Deferred::Fail(failure), now),
        Command::ReadBlock { id, index } => match about.next_image.block(id, index) {
            Some(block) => return block,
            None => CommandResult::NotThere,
        },
        Command::Update => match about.next_image.state() {
            Some(state) => return encode(&state),
            None => CommandResult::Unknown,
        },
        Command::BeginUpdate(plan, signature) => about.next_image.begin(plan, signature.as_ref()),
        Command::SwitchImage(hash) => match about.next_image.trial(hash) {
            Some(trial) => about.defer(Deferred::Switch(trial), now),
            None => CommandResult::NotThere,
        },
        Command::KeepImage => about.defer(Deferred::KeepImage, now),
        Command::Restart => about.defer(Deferred::Restart, now),
        Command::Broadcast(_)
        | Command::SendBlock(_)
        | Command::StartTraffic(_)
        | Command::Traffic
        | Command::LogPackets(_) => CommandResult::NotConfigured,
    };
    encode(&done)
}
