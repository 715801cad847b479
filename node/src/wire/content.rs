//! The content of packet bodies.

use super::application::{Addressed, AppPort};
use super::body::{Bytes, Kind};
use super::confirmed::{Confirmation, Confirmed};
use super::flooded::Flooded;
use super::request::{Query, Request, Response};
use super::undeliverable::Undeliverable;

/// The body of a packet, without the trail of a detour, parsed according to its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// For an application.
    Datagram(Addressed<'a>),
    /// For an application of every node.
    Broadcast(Addressed<'a>),
    /// A payload to be confirmed.
    Confirmed(Confirmed<'a>),
    /// The confirmation of such a packet.
    Confirmation(Confirmation),
    /// A failure report.
    Undeliverable(Undeliverable),
    /// A request.
    Request(Request<'a>),
    /// The response.
    Response(Response<'a>),
    /// A flooded packet.
    Flooded(Flooded<'a>),
}

impl<'a> Content<'a> {
    /// Parses the body of a packet of a kind; `None` if it is malformed.
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

    /// The kind of a packet with this content.
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

    /// The application that it is addressed to, if any.
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

    /// The application that it is for, or from in a response; [`AppPort::NONE`] if there is none.
    pub const fn port(&self) -> AppPort {
        match self {
            Content::Datagram(addressed) | Content::Broadcast(addressed) => addressed.port,
            Content::Confirmed(confirmed) => confirmed.port,
            Content::Request(request) => request.query.port(),
            Content::Response(response) => response.query.port(),
            Content::Confirmation(_) | Content::Undeliverable(_) | Content::Flooded(_) => AppPort::NONE,
        }
    }

    /// The application's payload; empty where there is none.
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
