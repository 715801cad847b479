//! Application ports, and the status of requests to applications.

use serde::{Deserialize, Serialize};

use super::body::{Bytes, body_of};

/// The port of an application on a node, not to be confused with the ports of a network, which number neighbors.
///
/// Numbers below [`AppPort::FIRST_FREE`] are reserved for Hopwise; the others are for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(transparent)]
pub struct AppPort(pub u8);

impl AppPort {
    /// No application.
    pub const NONE: AppPort = AppPort(0);
    /// Packets of the [traffic generator](super::Traffic).
    pub const TRAFFIC: AppPort = AppPort(1);
    /// Text for the log: the button's ping, and the default of `hopwise send`.
    pub const TEXT: AppPort = AppPort(2);
    /// [Blocks](super::Block) of a new image for boards.
    pub const UPDATE: AppPort = AppPort(3);
    /// The first number for users.
    pub const FIRST_FREE: AppPort = AppPort(16);

    /// Whether it is reserved for Hopwise.
    pub const fn is_reserved(self) -> bool {
        self.0 < AppPort::FIRST_FREE.0
    }
}

/// The body of a datagram or a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressed<'a> {
    /// The port of the receiver.
    pub port: AppPort,
    /// The application's payload.
    pub payload: &'a [u8],
}

impl<'a> Addressed<'a> {
    /// A payload for a port.
    pub const fn new(port: AppPort, payload: &'a [u8]) -> Self {
        Addressed { port, payload }
    }

    /// Parses the body; `None` if it is malformed.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let (&port, payload) = body.split_first()?;
        Some(Addressed {
            port: AppPort(port),
            payload,
        })
    }

    /// Writes the body; `None` if it is too long.
    pub fn write<B: Bytes>(&self) -> Option<B> {
        body_of(&[&[self.port.0], self.payload])
    }
}

/// The status of a request to an application: the first byte of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AppStatus {
    /// It has a response.
    Ok,
    /// No application serves the port.
    PortUnreachable,
    /// The application has no room for it.
    Busy,
    /// The application rejected it as malformed.
    Refused,
}

impl AppStatus {
    /// The status of a number on the wire.
    pub const fn from_number(number: u8) -> Option<AppStatus> {
        Some(match number {
            0 => AppStatus::Ok,
            1 => AppStatus::PortUnreachable,
            2 => AppStatus::Busy,
            3 => AppStatus::Refused,
            _ => return None,
        })
    }

    /// Splits a response; `None` if it is malformed.
    pub fn read(response: &[u8]) -> Option<(AppStatus, &[u8])> {
        let (&status, rest) = response.split_first()?;
        Some((AppStatus::from_number(status)?, rest))
    }
}
