//! What an application can do with its router.

use core::fmt;

use super::Router;
use super::event::{Observer, Outcome};
use super::forwarding::{Origin, Place, Reader};
use super::services::TooManyPorts;
use crate::capacities::Capacities;
use crate::limits::MAX_PAYLOAD;
use crate::link::Micros;
use crate::wire::{
    Addressed, AppPort, AppStatus, Body, Bytes, Confirmed, Content, DropReason, Kind, PacketOf, Query, Request,
    Response, body_of,
};
use hopwise_core::{NoSuchNode, Node};

/// Why a packet was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendError {
    /// There is no such destination.
    NoSuchNode(NoSuchNode),
    /// The payload is longer than the node's [sizes](crate::capacities::Sizes::max_payload) allow: [`MAX_PAYLOAD`] by default.
    TooLong,
    /// All buffers for it are taken: try again when some packets have left.
    Full,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::NoSuchNode(error) => error.fmt(f),
            SendError::TooLong => write!(f, "a payload has at most {MAX_PAYLOAD} bytes"),
            SendError::Full => f.write_str("the buffers are full"),
        }
    }
}

impl core::error::Error for SendError {}

/// What came for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// A datagram.
    Datagram,
    /// A broadcast.
    Broadcast,
    /// A confirmed packet; its sender is told that it has come.
    Confirmed,
    /// A question for the board around the node, of this number; [`Router::reply`] answers it.
    Question {
        /// The number in [`Query::Board`].
        number: u8,
    },
    /// A request to an application of this node; [`Router::respond`] answers it.
    Request,
    /// The answer to a [question](Query).
    Answer(Query),
    /// A datagram or a question could not be delivered.
    Undeliverable {
        /// Its number.
        number: u32,
        /// Where it was to go.
        dest: Node,
        /// Why it did not come there.
        reason: DropReason,
    },
}

/// A message for the application, with a payload of at most `BODY` bytes.
pub type Message<const BODY: usize> = MessageOf<Body<BODY>>;

/// A message for the application, whose payload is in a buffer of its own kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageOf<B> {
    /// What it is.
    pub kind: MessageKind,
    /// Who sent it: of an undeliverable packet, who found out.
    pub source: Node,
    /// Whether the host there sent it, not the node.
    pub from_host: bool,
    /// The application it is for, or that answers; [`AppPort::NONE`] if there is none.
    pub port: AppPort,
    /// The number its source gave it; of an answer, the number of the question.
    pub number: u32,
    /// Of an answer, when the question was asked, in microseconds of this node's clock (it goes round after 71 minutes).
    pub asked: u32,
    /// The payload.
    pub payload: B,
}

impl<B: Bytes> MessageOf<B> {
    /// What a packet says to an application; `None` if it says nothing to one.
    pub(super) fn read(packet: &PacketOf<B>) -> Option<Self> {
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
                    Query::Board(number) => MessageKind::Question { number },
                    Query::Application(_) => MessageKind::Request,
                    _ => return None,
                }
            }
            Content::Response(response) => {
                (number, asked) = (response.number, response.asked);
                MessageKind::Answer(response.query)
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
            payload: body_of(&[content.payload()])?,
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

    /// The same to the host at a node.
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
    /// [`next_outcome`](Self::next_outcome) tells what became of it. Returns its number.
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

    /// Asks a node something; the answer comes as a [message](Self::next_message). Returns the question's number.
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

    /// Asks an application of the host at a node; the answer comes as a [message](Self::next_message). Returns the question's number.
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

    /// Gives a packet that begins here a buffer, to be routed soon; `None` if there is no buffer.
    pub(super) fn originate(
        &mut self,
        packet: PacketOf<C::Body>,
        origin: Origin,
        now: Micros,
        observer: &mut impl Observer,
    ) -> Option<Place> {
        let header = packet.header;
        let place = self.forwarding.pool.admit(packet, origin, now)?;
        if header.kind == Kind::Confirmed {
            self.transport.keep(header.dest, place, now);
            if let Some(slot) = self.forwarding.pool.get_mut(place) {
                slot.kept = true;
            }
        }
        self.forwarding.begin(place, &header, observer);
        Some(place)
    }

    /// The fate of a confirmed packet that was sent from here, with its number.
    pub fn next_outcome(&mut self) -> Option<(u32, Outcome)> {
        self.transport.next_outcome()
    }

    /// The next message for the application.
    pub fn next_message(&mut self) -> Option<MessageOf<C::Body>> {
        loop {
            let place = self.services.next_message()?;
            let message = self.message_at(place);
            self.forwarding.pool.take_from_inbox(place);
            self.forwarding.pool.release_if_unused(place);
            // Only a member that misbehaves sends what cannot be read. It has been counted as delivered.
            if message.is_some() {
                return message;
            }
        }
    }

    /// What the packet in a buffer says.
    fn message_at(&self, place: Place) -> Option<MessageOf<C::Body>> {
        self.transport.read(&self.forwarding.pool.get(place)?.packet)
    }

    /// From now on broadcasts to [`AppPort::UPDATE`], also those of this node and its host, wait for [`write_block`](Self::write_block).
    #[cfg(feature = "update")]
    pub fn take_blocks(&mut self) {
        self.services.blocks.take();
    }

    /// Whether a block waits.
    pub fn has_block(&self) -> bool {
        self.services.blocks.waiting().is_some()
    }

    /// Gives a block to `write`, and the same one again next time, until `write` is done with it and says so.
    pub fn write_block(&mut self, observer: &mut impl Observer, write: impl FnOnce(&[u8]) -> bool) {
        let Some(place) = self.services.blocks.waiting() else {
            return;
        };
        let message = self.message_at(place);
        if message.is_some_and(|message| !write(&message.payload)) {
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

    /// From now on only packets for ports that are served are taken, and no more of them than there is room for. Until
    /// this is first called everything is. An application has room for `room` packets more, to be said again whenever it
    /// has read some; 255 is no limit.
    pub fn serve(&mut self, port: AppPort, room: u8) -> Result<(), TooManyPorts> {
        self.services.ports.open(port, room)
    }

    /// From now on only packets for ports that are [served](Self::serve) are taken.
    pub fn serve_nothing(&mut self) {
        self.services.ports.close_all();
    }

    /// A port is served no longer.
    pub fn close(&mut self, port: AppPort) {
        self.services.ports.close(port);
    }

    /// Answers a request to an application.
    pub fn respond(
        &mut self,
        request: &MessageOf<C::Body>,
        status: AppStatus,
        answer: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<(), SendError> {
        let mut payload = C::Body::default();
        payload.push(status as u8).map_err(|_| SendError::TooLong)?;
        payload.extend_from_slice(answer).map_err(|_| SendError::TooLong)?;
        self.reply(request, &payload, now, observer)
    }

    /// Answers a question for the board. Of a request to an application the answer begins with its [status](AppStatus).
    pub fn reply(
        &mut self,
        question: &MessageOf<C::Body>,
        answer: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<(), SendError> {
        let query = match question.kind {
            MessageKind::Question { number } => Query::Board(number),
            MessageKind::Request => Query::Application(question.port),
            _ => return Ok(()),
        };
        let response = Content::Response(Response {
            query,
            asked: question.asked,
            number: question.number,
            payload: answer,
        });
        let packet = self.transport.packet(&response, question.source, question.from_host);
        let packet = packet
            .and_then(|packet| self.transport.sealed(packet))
            .ok_or(SendError::TooLong)?;
        self.originate(packet, Origin::Service, now, observer)
            .ok_or(SendError::Full)?;
        self.catch_up(now, observer);
        Ok(())
    }
}
