//! The interface of a router to its applications.

use super::Router;
use super::event::{Observer, Outcome};
use super::forwarding::{Origin, Place, Reader};
use super::services::TooManyPorts;
use crate::capacities::{Capacities, List};
use crate::limits::MAX_PAYLOAD;
use crate::link::Micros;
use crate::wire::{
    Addressed, AppPort, AppStatus, Body, Bytes, Confirmed, Content, DropReason, Kind, PacketOf, Query, Request,
    Response, body_of,
};
use hopwise_core::{NoSuchNode, Node};

/// The reason why a packet was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum SendError {
    /// The destination does not exist.
    #[error("{0}")]
    NoSuchNode(NoSuchNode),
    /// The payload is longer than the node's [sizes](crate::capacities::Sizes::max_payload) allow: [`MAX_PAYLOAD`] by default.
    #[error("a payload has at most {MAX_PAYLOAD} bytes")]
    TooLong,
    /// All buffers for it are in use: retry when some packets have left.
    #[error("the buffers are full")]
    Full,
}

/// The kind of a message for the application.
#[expect(missing_docs, reason = "the names of the fields say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// A datagram.
    Datagram,
    /// A broadcast.
    Broadcast,
    /// A confirmed packet, whose sender is notified of the delivery.
    Confirmed,
    /// A request for the board around the node, with the number in [`Query::Board`]; [`Router::reply`] answers it.
    BoardRequest { number: u8 },
    /// A request to an application of this node; [`Router::respond`] answers it.
    Request,
    /// The response to a [request](Query).
    Response(Query),
    /// The datagram or request of this number could not be delivered.
    Undeliverable {
        number: u32,
        dest: Node,
        reason: DropReason,
    },
}

/// A message for the application, with a payload of at most `BODY` bytes.
pub type Message<const BODY: usize> = MessageOf<Body<BODY>>;

/// A message for the application, with its payload in any kind of buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageOf<B> {
    /// The kind of the message.
    pub kind: MessageKind,
    /// The sender; for an undeliverable packet, the node that reported it.
    pub source: Node,
    /// Whether the host at that node sent it, not the node.
    pub from_host: bool,
    /// The application it is for, or that responds; [`AppPort::NONE`] if there is none.
    pub port: AppPort,
    /// The number given by its source; for a response, the number of the request.
    pub number: u32,
    /// For a response, when the request was sent, in microseconds of this node's clock (which wrap after 71 minutes).
    pub asked: u32,
    /// The payload in its buffer.
    pub payload: B,
}

impl<'p> MessageOf<&'p [u8]> {
    /// The message in a packet; `None` if it has none for an application.
    pub(super) fn read<B: Bytes>(packet: &'p PacketOf<B>) -> Option<Self> {
        let header = &packet.header;
        let content = packet.content()?;
        let (mut number, mut asked) = (header.number, 0);
        let kind = match content {
            Content::Datagram(_) => MessageKind::Datagram,
            Content::Broadcast(_) => MessageKind::Broadcast,
            Content::Confirmed(_) => MessageKind::Confirmed,
            Content::Request(request) => {
                asked = request.asked;
                match request.query {
                    Query::Board(number) => MessageKind::BoardRequest { number },
                    Query::Application(_) => MessageKind::Request,
                    _ => return None,
                }
            }
            Content::Response(response) => {
                (number, asked) = (response.number, response.asked);
                MessageKind::Response(response.query)
            }
            Content::Undeliverable(report) => MessageKind::Undeliverable {
                number: report.number,
                dest: report.dest,
                reason: report.reason,
            },
            Content::Confirmation(_) | Content::Flooded(_) => return None,
        };
        Some(MessageOf {
            kind,
            source: header.source,
            from_host: header.from_host,
            port: content.port(),
            number,
            asked,
            payload: content.payload(),
        })
    }

    /// The same with a copy of the payload; `None` if that is too long.
    pub fn copied<B: Bytes>(&self) -> Option<MessageOf<B>> {
        Some(MessageOf {
            kind: self.kind,
            source: self.source,
            from_host: self.from_host,
            port: self.port,
            number: self.number,
            asked: self.asked,
            payload: body_of(&[self.payload])?,
        })
    }
}

impl<C: Capacities> Router<C> {
    /// Sends a datagram: each hop is reliable, but it is lost if a board dies with it. Returns its number.
    pub fn send(
        &mut self,
        dest: Node,
        port: AppPort,
        payload: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        let content = Content::Datagram(Addressed { port, payload });
        self.send_content(dest, false, &content, now, observer)
    }

    /// Like [`send`](Self::send), to the host at a node.
    pub fn send_to_host(
        &mut self,
        at: Node,
        port: AppPort,
        payload: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        let content = Content::Datagram(Addressed { port, payload });
        self.send_content(at, true, &content, now, observer)
    }

    /// Sends a broadcast: every other live and connected node receives it once. Returns its number.
    pub fn broadcast(
        &mut self,
        port: AppPort,
        payload: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        let content = Content::Broadcast(Addressed { port, payload });
        self.send_content(self.address(), false, &content, now, observer)
    }

    /// Sends a confirmed packet: it is delivered exactly once unless an end restarts, and
    /// [`next_outcome`](Self::next_outcome) reports the result. Returns its number.
    pub fn send_confirmed(
        &mut self,
        dest: Node,
        port: AppPort,
        payload: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        let known_epoch = self.transport.may_confirm(dest).ok_or(SendError::Full)?;
        let content = Content::Confirmed(Confirmed {
            known_epoch,
            port,
            payload,
        });
        self.send_content(dest, false, &content, now, observer)
    }

    /// Sends a request to a node; the response comes as a [message](Self::next_message). Returns the request's number.
    pub fn ask(
        &mut self,
        dest: Node,
        query: Query,
        payload: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        let asked = now as u32;
        let content = Content::Request(Request { query, asked, payload });
        self.send_content(dest, false, &content, now, observer)
    }

    /// Sends a request to an application of the host at a node; the response comes as a [message](Self::next_message). Returns its number.
    pub fn ask_host(
        &mut self,
        at: Node,
        port: AppPort,
        payload: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        let content = Content::Request(Request {
            query: Query::Application(port),
            asked: now as u32,
            payload,
        });
        self.send_content(at, true, &content, now, observer)
    }

    fn send_content(
        &mut self,
        dest: Node,
        to_host: bool,
        content: &Content<'_>,
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        self.network().check(dest).map_err(SendError::NoSuchNode)?;
        if content.payload().len() > C::SIZES.max_payload() {
            return Err(SendError::TooLong);
        }
        if !self.forwarding.pool.outbox_has_room(content.kind()) {
            return Err(SendError::Full);
        }
        let packet = self.transport.message(content, dest, to_host)?;
        let number = packet.header.number;
        self.originate(packet, Origin::Application, now, observer)
            .ok_or(SendError::Full)?;
        self.catch_up(now, observer);
        Ok(number)
    }

    /// Gives a packet of this node a buffer, to be routed soon; `None` if there is no buffer.
    pub(super) fn originate(
        &mut self,
        packet: PacketOf<C::Body>,
        origin: Origin,
        now: Micros,
        observer: &mut impl Observer,
    ) -> Option<Place> {
        let header = packet.header;
        let place = self.forwarding.pool.admit(&packet.header, &packet.body, origin, now)?;
        self.sweep_soon(now);
        // A confirmed packet has a deadline of its own.
        self.own_stirred = true;
        if header.kind == Kind::Confirmed {
            self.transport.source.begin(header.dest, place, now);
            if let Some(slot) = self.forwarding.pool.get_mut(place) {
                slot.kept = true;
            }
        }
        self.forwarding.begin(place, &header, observer);
        Some(place)
    }

    /// The next completed confirmed packet of this node: its number and the result.
    pub fn next_outcome(&mut self) -> Option<(u32, Outcome)> {
        self.transport.source.next_outcome()
    }

    /// The next message for the application.
    pub fn next_message(&mut self) -> Option<MessageOf<C::Body>> {
        self.take_message(|message| message.copied()).flatten()
    }

    /// Gives the next message for the application to `take`, without a copy; `None` if there is none.
    pub fn take_message<R>(&mut self, mut take: impl FnMut(&MessageOf<&[u8]>) -> R) -> Option<R> {
        loop {
            let place = self.services.inbox.pop_front()?;
            let taken = self.read_message(place, &mut take);
            self.forwarding.pool.take_from_inbox(place);
            self.forwarding.pool.release_if_unused(place);
            // Only a faulty node sends unreadable packets. It has been counted as delivered.
            if taken.is_some() {
                return taken;
            }
        }
    }

    fn read_message<R>(&self, place: Place, take: impl FnOnce(&MessageOf<&[u8]>) -> R) -> Option<R> {
        self.transport.read(&self.forwarding.pool.get(place)?.packet, take)
    }

    /// Makes broadcasts to [`AppPort::UPDATE`], including those of this node and its host, wait for [`write_block`](Self::write_block).
    #[cfg(feature = "update")]
    pub fn take_blocks(&mut self) {
        self.services.blocks.take();
    }

    /// Whether a block waits.
    pub fn has_block(&self) -> bool {
        self.services.blocks.waiting().is_some()
    }

    /// Gives the next block to `write`, and the same one each time, until `write` returns that it is done with it.
    pub fn write_block(&mut self, observer: &mut impl Observer, write: impl FnOnce(&[u8]) -> bool) {
        let Some(place) = self.services.blocks.waiting() else {
            return;
        };
        if self.read_message(place, |message| write(message.payload)) == Some(false) {
            return;
        }
        let pool = &mut self.forwarding.pool;
        if let Some(slot) = pool.get_mut(place) {
            slot.reader = Reader::Nobody;
        }
        self.forwarding.consume(place, observer);
        let pool = &self.forwarding.pool;
        let waits = |place: &Place| pool.get(*place).is_some_and(|slot| slot.reader == Reader::Board);
        self.services.blocks.written(pool.places().find(waits));
    }

    /// Restricts delivery to served ports, and to as many packets as they have room for. Until the first call everything is delivered.
    /// An application has room for `room` more packets, to be updated whenever it
    /// has read some; 255 is no limit.
    pub fn serve(&mut self, port: AppPort, room: u8) -> Result<(), TooManyPorts> {
        self.services.ports.open(port, room)
    }

    /// Restricts delivery to ports that are [served](Self::serve).
    pub fn serve_nothing(&mut self) {
        self.services.ports.close_all();
    }

    /// Stops serving a port.
    pub fn close(&mut self, port: AppPort) {
        self.services.ports.close(port);
    }

    /// Answers a request to an application.
    pub fn respond<B>(
        &mut self,
        request: &MessageOf<B>,
        status: AppStatus,
        response: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<(), SendError> {
        let mut payload = C::Body::default();
        payload.push(status as u8).map_err(|_| SendError::TooLong)?;
        payload.extend_from_slice(response).map_err(|_| SendError::TooLong)?;
        self.reply(request, &payload, now, observer)
    }

    /// Answers a request for the board. The response of an application begins with its [status](AppStatus).
    pub fn reply<B>(
        &mut self,
        request: &MessageOf<B>,
        response: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<(), SendError> {
        let query = match request.kind {
            MessageKind::BoardRequest { number } => Query::Board(number),
            MessageKind::Request => Query::Application(request.port),
            _ => return Ok(()),
        };
        let response = Content::Response(Response {
            query,
            asked: request.asked,
            number: request.number,
            payload: response,
        });
        let packet = self.transport.packet(&response, request.source, request.from_host);
        let packet = packet
            .and_then(|packet| self.transport.sealed(packet))
            .ok_or(SendError::TooLong)?;
        self.originate(packet, Origin::Service, now, observer)
            .ok_or(SendError::Full)?;
        self.catch_up(now, observer);
        Ok(())
    }
}
