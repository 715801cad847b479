//! Requests that a node itself answers, and their responses.

use super::application::AppPort;
use super::body::{Bytes, body_of};

/// The query of a request to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Query {
    /// An echo: the response repeats the payload.
    Ping,
    /// The path: the response has every node on it and the waiting time there: [`trace_records`](super::trace_records).
    Trace,
    /// The identity and state: the response is a [`NodeReport`](super::NodeReport).
    Identity,
    /// The packet counters: the response is [`RouterCounters`](super::RouterCounters).
    Counters,
    /// The state of the link whose number is the payload: the response is a [`LinkReport`](super::LinkReport).
    Link,
    /// Resets the counters.
    ClearCounters,
    /// A request to an application. The response begins with an [`AppStatus`](super::AppStatus).
    Application(AppPort),
    /// Another request, which boards without a config pass on along a list of ports: [`relay_step`](super::relay_step).
    Relay,
    /// A request to the board around the node: a [`Command`](super::Command) of this number.
    Board(u8),
}

/// The number of all requests to applications.
const APPLICATION: u8 = 6;

/// The first number of the board's commands.
const BOARD: u8 = 0x40;

impl Query {
    /// The number on the wire.
    pub const fn number(self) -> u8 {
        match self {
            Query::Ping => 0,
            Query::Trace => 1,
            Query::Identity => 2,
            Query::Counters => 3,
            Query::Link => 4,
            Query::ClearCounters => 5,
            Query::Application(_) => APPLICATION,
            Query::Relay => 7,
            Query::Board(number) => BOARD.saturating_add(number),
        }
    }

    /// The requested application; [`AppPort::NONE`] if there is none.
    pub const fn port(self) -> AppPort {
        match self {
            Query::Application(port) => port,
            _ => AppPort::NONE,
        }
    }

    /// The query of a number on the wire, if the number alone determines it.
    pub const fn from_number(number: u8) -> Option<Query> {
        Some(match number {
            0 => Query::Ping,
            1 => Query::Trace,
            2 => Query::Identity,
            3 => Query::Counters,
            4 => Query::Link,
            5 => Query::ClearCounters,
            7 => Query::Relay,
            BOARD.. => Query::Board(number - BOARD),
            _ => return None,
        })
    }

    /// The query of a number on the wire, and the payload, which the port of an application precedes.
    fn read(number: u8, rest: &[u8]) -> Option<(Query, &[u8])> {
        if number != APPLICATION {
            return Some((Query::from_number(number)?, rest));
        }
        let (&port, rest) = rest.split_first()?;
        Some((Query::Application(AppPort(port)), rest))
    }

    /// What is between a request's fixed part and its payload.
    fn written_port(self) -> Option<u8> {
        match self {
            Query::Application(port) => Some(port.0),
            _ => None,
        }
    }
}

/// The body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The query of the request.
    pub query: Query,
    /// When it was sent, in microseconds of the sender's clock, which wrap after 71 minutes.
    pub asked: u32,
    /// The payload of the request.
    pub payload: &'a [u8],
}

impl<'a> Request<'a> {
    /// The number of bytes before the payload, but for requests to applications.
    pub const PREFIX: usize = 5;

    /// A query that was sent at a time, with its payload.
    pub const fn new(query: Query, asked: u32, payload: &'a [u8]) -> Self {
        Request { query, asked, payload }
    }

    /// Parses the body; `None` if it is malformed.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let &[query, a0, a1, a2, a3, ref rest @ ..] = body else {
            return None;
        };
        let (query, payload) = Query::read(query, rest)?;
        Some(Request {
            query,
            asked: u32::from_le_bytes([a0, a1, a2, a3]),
            payload,
        })
    }

    /// Writes the body; `None` if it is too long.
    pub fn write<B: Bytes>(&self) -> Option<B> {
        let (number, asked, port) = (
            [self.query.number()],
            self.asked.to_le_bytes(),
            self.query.written_port(),
        );
        body_of(&[&number, &asked, port.as_slice(), self.payload])
    }
}

/// The body of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// The query of the request.
    pub query: Query,
    /// When the request was sent, copied from it.
    pub asked: u32,
    /// The number of the request.
    pub number: u32,
    /// The payload of the response.
    pub payload: &'a [u8],
}

impl<'a> Response<'a> {
    /// The number of bytes before the payload.
    pub const PREFIX: usize = 9;

    /// Parses the body; `None` if it is malformed.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let &[query, a0, a1, a2, a3, n0, n1, n2, n3, ref rest @ ..] = body else {
            return None;
        };
        let (query, payload) = Query::read(query, rest)?;
        Some(Response {
            query,
            asked: u32::from_le_bytes([a0, a1, a2, a3]),
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            payload,
        })
    }

    /// Writes the body; `None` if it is too long.
    pub fn write<B: Bytes>(&self) -> Option<B> {
        let (asked, number) = (self.asked.to_le_bytes(), self.number.to_le_bytes());
        let port = self.query.written_port();
        body_of(&[&[self.query.number()], &asked, &number, port.as_slice(), self.payload])
    }
}
