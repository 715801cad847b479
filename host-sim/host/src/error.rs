//! The errors of the API.

use std::sync::Arc;

use hopwise_core::NoSuchNode;
use hopwise_node::limits::MAX_PAYLOAD;
use hopwise_node::wire::{BoardState, DropReason};

use crate::serial_line::BadPort;

#[derive(Debug, thiserror::Error)]
pub enum NoConnection {
    #[error("{0}")]
    Port(#[from] BadPort),
    #[error("the board at {0}: its image lacks the family of its network: flash one that has it")]
    NotInImage(String),
    #[error("the board at {port}: it is not part of a mesh ({state:?}): flash its config first")]
    NoMesh { port: String, state: BoardState },
    #[error("the board at {0}: it says hello and then does not respond")]
    NoResponse(String),
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

#[derive(Clone, Debug, thiserror::Error)]
pub enum SendError {
    #[error("{0}")]
    NoSuchNode(#[from] NoSuchNode),
    #[error("{0}")]
    TooLong(#[from] TooLong),
    #[error("the board at the serial port has no room for it")]
    NoRoom,
    #[error("the board at the serial port does not respond any more")]
    NoBoard,
    #[error("{0}")]
    Gone(Arc<BadPort>),
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum RequestError {
    #[error("{0}")]
    NotSent(#[from] SendError),
    #[error("undeliverable: {}", .0.name())]
    Undeliverable(DropReason),
    #[error("no application there serves the port")]
    PortUnreachable,
    #[error("the application has no room for it")]
    Busy,
    #[error("the application could not make sense of it")]
    Refused,
    /// No response came in time. The request may have been carried out or not.
    #[error("no response came in time")]
    TimedOut,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendResult {
    #[error("delivered")]
    Delivered,
    #[error("the node takes no more at present")]
    Busy,
    #[error("the node has restarted: it may have had the message before")]
    Interrupted,
    #[error("undeliverable: {}", .0.name())]
    Undeliverable(DropReason),
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoResponse {
    #[error("undeliverable: {}", .0.name())]
    Undeliverable(DropReason),
    #[error("a response that cannot be read")]
    Unreadable,
    #[error("no response")]
    Silence,
}
