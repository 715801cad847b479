//! What the body of a packet says.

use super::application::{Addressed, AppPort};
use super::body::{Bytes, Kind};
use super::confirmed::{Confirmation, Confirmed};
use super::flooded::Flooded;
use super::request::{Query, Request, Response};
use super::undeliverable::Undeliverable;

/// The body of a packet, without the trail of a detour, taken apart as its kind says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// For an application.
    Datagram(Addressed<'a>),
    /// For an application of every node.
    Broadcast(Addressed<'a>),
    /// A payload to be confirmed.
    Confirmed(Confirmed<'a>),
    /// What became of it.
    Confirmation(Confirmation),
    /// A packet could not be delivered.
    Undeliverable(Undeliverable),
    /// A question.
    Request(Request<'a>),
    /// The answer.
    Response(Response<'a>),
    /// A packet that goes through everyone.
    Flooded(Flooded<'a>),
}

impl<'a> Content<'a> {
    /// Reads the body of a packet of a kind; `None` if it is none.
    pub fn read(kind: Kind, body: &'a [u8]) -> Option<Self> {
        Some(match kind {
            Kind::Datagram => Content::Datagram(Addressed::read(body)?),
            Kind::Broadcast => Content::Broadcast(Addressed::read(body)?),
            Kind::Confirmed => Content::Confirmed(Confirmed::read(body)?),
            Kind::Confirmation => Content::Confirmation(Confirmation::read(body)?),
            Kind::Undeliverable => Content::Undeliverable(Undeliverable::read(body)?),
            Kind::Request => Content::Request(Request::read(body)?),
            Kind::Response => Content::Response(Response::read(body)?),
            Kind::Flooded => Content::Flooded(Flooded::read(body)?),
        })
    }

    /// Writes the body; `None` if it is too long.
    pub fn write<B: Bytes>(&self) -> Option<B> {
        match self {
            Content::Datagram(addressed) | Content::Broadcast(addressed) => addressed.write(),
            Content::Confirmed(confirmed) => confirmed.write(),
            Content::Confirmation(confirmation) => confirmation.write(),
            Content::Undeliverable(report) => report.write(),
            Content::Request(request) => request.write(),
            Content::Response(response) => response.write(),
            Content::Flooded(flooded) => flooded.write(),
        }
    }

    /// The kind of a packet that says this.
    pub const fn kind(&self) -> Kind {
        match self {
            Content::Datagram(_) => Kind::Datagram,
            Content::Broadcast(_) => Kind::Broadcast,
            Content::Confirmed(_) => Kind::Confirmed,
            Content::Confirmation(_) => Kind::Confirmation,
            Content::Undeliverable(_) => Kind::Undeliverable,
            Content::Request(_) => Kind::Request,
            Content::Response(_) => Kind::Response,
            Content::Flooded(_) => Kind::Flooded,
        }
    }

    /// The application of the destination that it is for, if it is for one.
    pub const fn addressee(&self) -> Option<AppPort> {
        match self {
            Content::Datagram(addressed) | Content::Broadcast(addressed) => Some(addressed.port),
            Content::Confirmed(confirmed) => Some(confirmed.port),
            Content::Request(Request {
                query: Query::Application(port),
                ..
            }) => Some(*port),
            _ => None,
        }
    }

    /// The application that it is for, or from in an answer; [`AppPort::NONE`] if there is none.
    pub const fn port(&self) -> AppPort {
        match self {
            Content::Datagram(addressed) | Content::Broadcast(addressed) => addressed.port,
            Content::Confirmed(confirmed) => confirmed.port,
            Content::Request(request) => request.query.port(),
            Content::Response(response) => response.query.port(),
            Content::Confirmation(_) | Content::Undeliverable(_) | Content::Flooded(_) => AppPort::NONE,
        }
    }

    /// The part that is the application's own; nothing where there is no such part.
    pub const fn payload(&self) -> &'a [u8] {
        match self {
            Content::Datagram(addressed) | Content::Broadcast(addressed) => addressed.payload,
            Content::Confirmed(confirmed) => confirmed.payload,
            Content::Request(request) => request.payload,
            Content::Response(response) => response.payload,
            Content::Confirmation(_) | Content::Undeliverable(_) | Content::Flooded(_) => &[],
        }
    }
}
