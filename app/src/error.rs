use hopwise_core::Node;
use hopwise_node::wire::DropReason;

/// The reason why a message was not sent.
#[expect(missing_docs, reason = "the sentences say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SendError {
    #[error("there is no such node")]
    NoSuchNode,
    /// The message is longer than [`MAX_MESSAGE`](crate::MAX_MESSAGE).
    #[error("the message is too long")]
    TooLong,
}

/// The reason why a request has no response.
#[expect(missing_docs, reason = "the sentences say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum RequestError {
    /// It was not sent.
    #[error("{0}")]
    NotSent(SendError),
    /// It did not reach its destination.
    #[error("it ended at node {at}: {}", .reason.name())]
    Undeliverable { at: Node, reason: DropReason },
    #[error("no application there serves the port")]
    PortUnreachable,
    #[error("the application has no room for it")]
    Busy,
    #[error("the application could not make sense of it")]
    Refused,
    /// No response came in time. The request may have been carried out or not.
    #[error("no response came in time")]
    TimedOut,
    /// The response does not have the expected type, or the request does not fit a message.
    #[error("the message is not of the expected type")]
    BadFormat,
}

/// The reason why a port was not opened.
#[expect(missing_docs, reason = "the sentences say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum OpenError {
    /// Another receiver on this node serves it.
    #[error("someone else serves that port")]
    Taken,
    /// The maximum number of receivers is open.
    #[error("there is no room for another receiver")]
    NoRoom,
    #[error("ports below 16 are Hopwise's own")]
    Reserved,
}
