//! Questions that a node itself answers, and the answers.

use super::application::AppPort;
use super::body::Bytes;

/// A question to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Query {
    /// Are you there? The answer repeats what came with the question.
    Ping,
    /// By which path? The answer has every node on it and how long the packet was there: [`trace_records`](super::trace_records).
    Trace,
    /// Who are you? The answer is a [`NodeReport`](super::NodeReport).
    Identity,
    /// What have you done? The answer is [`RouterCounters`](super::RouterCounters).
    Counters,
    /// What of a link, whose number comes with the question? The answer is a [`LinkReport`](super::LinkReport).
    Link,
    /// Begin to count anew.
    ClearCounters,
    /// Something for an application. The answer begins with an [`AppStatus`](super::AppStatus).
    Application(AppPort),
    /// Something for the board around the node: a [`Command`](super::Command) of this number.
    Board(u8),
}

/// The number of all questions to applications.
const APPLICATION: u8 = 6;

/// From here on numbers are the board's.
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
            Query::Board(number) => BOARD.saturating_add(number),
        }
    }

    /// The application that is asked; [`AppPort::NONE`] if none is.
    pub const fn port(self) -> AppPort {
        match self {
            Query::Application(port) => port,
            _ => AppPort::NONE,
        }
    }

    /// The question of a number on the wire, if nothing but the number names it.
    pub const fn from_number(number: u8) -> Option<Query> {
        Some(match number {
            0 => Query::Ping,
            1 => Query::Trace,
            2 => Query::Identity,
            3 => Query::Counters,
            4 => Query::Link,
            5 => Query::ClearCounters,
            BOARD.. => Query::Board(number - BOARD),
            _ => return None,
        })
    }

    /// The question of a number on the wire, and what comes with it: the port of an application comes before that.
    fn read(number: u8, rest: &[u8]) -> Option<(Query, &[u8])> {
        if number != APPLICATION {
            return Some((Query::from_number(number)?, rest));
        }
        let (&port, rest) = rest.split_first()?;
        Some((Query::Application(AppPort(port)), rest))
    }

    /// Writes what stands between a question's fixed part and its payload.
    fn write_port<B: Bytes>(self, body: &mut B) -> Option<()> {
        match self {
            Query::Application(port) => body.push(port.0).ok(),
            _ => Some(()),
        }
    }
}

/// The body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The question.
    pub query: Query,
    /// When it was asked, in microseconds of the asker's clock; they go round after 71 minutes.
    pub asked: u32,
    /// What comes with it.
    pub payload: &'a [u8],
}

impl<'a> Request<'a> {
    /// Reads the body; `None` if it is none.
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
        let mut body = B::default();
        body.push(self.query.number()).ok()?;
        body.extend_from_slice(&self.asked.to_le_bytes()).ok()?;
        self.query.write_port(&mut body)?;
        body.extend_from_slice(self.payload).ok()?;
        Some(body)
    }
}

/// The body of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// The question.
    pub query: Query,
    /// When it was asked, as the request said.
    pub asked: u32,
    /// The number of the request.
    pub number: u32,
    /// The answer.
    pub payload: &'a [u8],
}

impl<'a> Response<'a> {
    /// Bytes before the answer.
    pub const PREFIX: usize = 9;

    /// Reads the body; `None` if it is none.
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
        let mut body = B::default();
        body.push(self.query.number()).ok()?;
        body.extend_from_slice(&self.asked.to_le_bytes()).ok()?;
        body.extend_from_slice(&self.number.to_le_bytes()).ok()?;
        self.query.write_port(&mut body)?;
        body.extend_from_slice(self.payload).ok()?;
        Some(body)
    }
}
