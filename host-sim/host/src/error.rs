//! The errors of the API.

use std::sync::Arc;

use hopwise_core::NoSuchNode;
use hopwise_node::limits::MAX_PAYLOAD;
use hopwise_node::wire::{BoardState, DropReason};

use crate::serial_line::BadPort;

/// The reason why there is no connection to a mesh.
#[derive(Debug, thiserror::Error)]
pub enum NoConnection {
    /// The serial port is unusable, or no board responds there.
    #[error("{0}")]
    Port(#[from] BadPort),
    /// Its board cannot run its network.
    #[error("the board at {0}: its image lacks the family of its network: flash one that has it")]
    NotInImage(String),
    /// Its board has no configuration.
    #[error("the board at {port}: it is not part of a mesh ({state:?}): flash its config first")]
    NoMesh {
        /// The path of the serial port.
        port: String,
        /// The reported state.
        state: BoardState,
    },
    /// Its board says hello, but does not respond.
    #[error("the board at {0}: it says hello and then does not respond")]
    NoResponse(String),
    /// Its board sends malformed responses.
    #[error("the board at {0}: it does not say what its network is")]
    NoNetwork(String),
}

/// A packet that cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet carries at most {MAX_PAYLOAD} bytes, not {0}")]
pub struct TooLong(pub usize);

/// Rejects a payload that no packet can carry, before anything is sent.
pub fn check_length(bytes: &[u8]) -> Result<(), TooLong> {
    match bytes.len() {
        0..=MAX_PAYLOAD => Ok(()),
        long => Err(TooLong(long)),
    }
}

/// The reason why a message was not sent.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SendError {
    /// The node does not exist.
    #[error("{0}")]
    NoSuchNode(#[from] NoSuchNode),
    /// It is longer than a packet.
    #[error("{0}")]
    TooLong(#[from] TooLong),
    /// The board at the serial port has no room for it.
    #[error("the board at the serial port has no room for it")]
    NoRoom,
    /// The board at the serial port is switched off, or its cable is pulled.
    #[error("the board at the serial port does not respond any more")]
    NoBoard,
    /// The serial port has failed.
    #[error("{0}")]
    Gone(Arc<BadPort>),
}

/// The reason why a request has no response.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RequestError {
    #[error("{0}")]
    NotSent(#[from] SendError),
    /// It did not reach its destination.
    #[error("undeliverable: {}", .0.name())]
    Undeliverable(DropReason),
    /// No application there serves the port.
    #[error("no application there serves the port")]
    PortUnreachable,
    /// The application has no room for it.
    #[error("the application has no room for it")]
    Busy,
    /// The application rejected it as malformed.
    #[error("the application could not make sense of it")]
    Refused,
    /// No response came in time. The request may have been carried out or not.
    #[error("no response came in time")]
    TimedOut,
    /// The response does not have the expected type.
    #[error("the response is not of the expected type")]
    BadFormat,
}

impl RequestError {
    /// A machine-readable name.
    pub fn name(&self) -> &'static str {
        match self {
            RequestError::NotSent(error) => error.name(),
            RequestError::Undeliverable(reason) => reason.name(),
            RequestError::PortUnreachable => "port-unreachable",
            RequestError::Busy => "busy",
            RequestError::Refused => "refused",
            RequestError::TimedOut => "timed-out",
            RequestError::BadFormat => "bad-format",
        }
    }
}

impl SendError {
    /// A machine-readable name.
    pub fn name(&self) -> &'static str {
        match self {
            SendError::NoSuchNode(_) => "no-such-node",
            SendError::TooLong(_) => "too-long",
            SendError::NoRoom => "no-room",
            SendError::NoBoard => "no-board",
            SendError::Gone(_) => "port-gone",
        }
    }
}

/// The result of a confirmed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendResult {
    /// The destination has it.
    #[error("delivered")]
    Delivered,
    /// The destination is busy.
    #[error("the node takes no more at present")]
    Busy,
    /// The destination restarted.
    #[error("the node has restarted: it may have had the message before")]
    Interrupted,
    /// It could not be delivered, for this reason.
    #[error("undeliverable: {}", .0.name())]
    Undeliverable(DropReason),
    /// No response came in time.
    #[error("no response came in time: it may have been delivered or not")]
    Unknown,
}

impl SendResult {
    /// A machine-readable name.
    pub fn name(&self) -> &'static str {
        match self {
            SendResult::Delivered => "delivered",
            SendResult::Busy => "busy",
            SendResult::Interrupted => "interrupted",
            SendResult::Undeliverable(reason) => reason.name(),
            SendResult::Unknown => "unknown",
        }
    }
}

/// The reason why a request to a node has no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoResponse {
    /// It was not delivered.
    #[error("undeliverable: {}", .0.name())]
    Undeliverable(DropReason),
    /// The response is malformed.
    #[error("a response that cannot be read")]
    Unreadable,
    /// Nothing came in time.
    #[error("no response")]
    Silence,
}
