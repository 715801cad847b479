//! The errors of the API.

use core::fmt;

use hopwise_core::Node;
use hopwise_node::wire::DropReason;

/// The reason why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SendError {
    /// The node does not exist.
    NoSuchNode,
    /// The message is longer than [`MAX_MESSAGE`](crate::MAX_MESSAGE).
    TooLong,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::NoSuchNode => "there is no such node",
            SendError::TooLong => "the message is too long",
        })
    }
}

impl core::error::Error for SendError {}

/// The reason why a request has no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum RequestError {
    /// It was not sent.
    NotSent(SendError),
    /// It did not reach its destination.
    Undeliverable {
        /// The node that dropped it.
        at: Node,
        /// The failure reason.
        reason: DropReason,
    },
    /// No application there serves the port.
    PortUnreachable,
    /// The application has no room for it.
    Busy,
    /// The application rejected it as malformed.
    Refused,
    /// No response came in time. The request may have been carried out or not.
    TimedOut,
    /// The response does not have the expected type, or the request does not fit a message.
    BadFormat,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::NotSent(error) => error.fmt(f),
            RequestError::Undeliverable { at, reason } => write!(f, "it ended at node {at}: {}", reason.name()),
            RequestError::PortUnreachable => f.write_str("no application there serves the port"),
            RequestError::Busy => f.write_str("the application has no room for it"),
            RequestError::Refused => f.write_str("the application could not make sense of it"),
            RequestError::TimedOut => f.write_str("no response came in time"),
            RequestError::BadFormat => f.write_str("the message is not of the expected type"),
        }
    }
}

impl core::error::Error for RequestError {}

/// The reason why a port was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum OpenError {
    /// Another receiver on this node serves it.
    Taken,
    /// The maximum number of receivers is open.
    NoRoom,
    /// It is reserved for Hopwise.
    Reserved,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OpenError::Taken => "someone else serves that port",
            OpenError::NoRoom => "there is no room for another receiver",
            OpenError::Reserved => "ports below 16 are Hopwise's own",
        })
    }
}

impl core::error::Error for OpenError {}
