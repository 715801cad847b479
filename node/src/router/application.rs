//! What an application can do with its router.

use core::fmt;

use super::doors::{TooManyPorts, Welcome};
use super::event::{Event, Observer, Outcome};
use super::pool::{Origin, Place};
use super::seen::Judgement;
use super::{Router, add};
use crate::capacities::{Capacities, Queue};
use crate::limits::MAX_PAYLOAD;
use crate::link::Micros;
use crate::wire::{
    Addressed, AppPort, AppStatus, Body, Bytes, Confirmed, Content, DropReason, Kind, PacketOf, Query, Request,
    Response, Undeliverable, body_of,
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
    /// Whether the computer there sent it, not the node.
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
    fn read(packet: &PacketOf<B>) -> Option<Self> {
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

    /// The same to the computer at a node.
    pub fn send_to_computer(
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
        self.send_content(self.here, false, &content, now, observer)
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
        if !self.source.has_room(dest) {
            return Err(SendError::Full);
        }
        let content = Content::Confirmed(Confirmed {
            known_epoch: self.destination.peers.epoch_of(dest),
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

    /// Asks an application of the computer at a node; the answer comes as a [message](Self::next_message). Returns the question's number.
    pub fn ask_computer(
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
        self.network.check(dest).map_err(SendError::NoSuchNode)?;
        if content.payload().len() > C::SIZES.max_payload() {
            return Err(SendError::TooLong);
        }
        if !self.pool.outbox_has_room(content.kind()) {
            return Err(SendError::Full);
        }
        let mut packet = self.packet(content, dest, to_host).ok_or(SendError::TooLong)?;
        match content {
            Content::Confirmed(_) => packet.header.number = self.source.next_number(),
            Content::Request(request) => packet.header.traced = request.query == Query::Trace,
            _ => {}
        }
        let number = packet.header.number;
        let packet = self.sealed(packet).ok_or(SendError::TooLong)?;
        self.originate(packet, Origin::Application, now, observer)
            .ok_or(SendError::Full)?;
        self.catch_up(now, observer);
        Ok(number)
    }

    /// A packet that begins here, with its payload encrypted where that is wanted; `None` if it cannot be.
    pub(super) fn sealed(&mut self, mut packet: PacketOf<C::Body>) -> Option<PacketOf<C::Body>> {
        if let Some(cipher) = &mut self.cipher {
            cipher.seal(&mut packet)?;
        }
        Some(packet)
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
        let place = self.pool.admit(packet, origin, now)?;
        add(&mut self.counters.originated, 1);
        if header.kind == Kind::Confirmed {
            self.source.begin(header.dest, place, now);
            if let Some(slot) = self.pool.get_mut(place) {
                slot.kept = true;
            }
        }
        observer.note(Event::Accepted {
            packet: header.id(),
            dest: header.dest,
        });
        self.pool.route_soon(place);
        Some(place)
    }

    /// The fate of a confirmed packet that was sent from here, with its number.
    pub fn next_outcome(&mut self) -> Option<(u32, Outcome)> {
        self.source.next_outcome()
    }

    /// The next message for the application.
    pub fn next_message(&mut self) -> Option<MessageOf<C::Body>> {
        loop {
            let place = self.inbox.pop_front()?;
            let message = self.message_at(place);
            self.pool.take_from_inbox(place);
            self.pool.release_if_unused(place);
            // Only a member that misbehaves sends what cannot be read. It has been counted as delivered.
            if message.is_some() {
                return message;
            }
        }
    }

    /// What the packet in a buffer says.
    pub(super) fn message_at(&self, place: Place) -> Option<MessageOf<C::Body>> {
        let packet = &self.pool.get(place)?.packet;
        match &self.cipher {
            None => MessageOf::read(packet),
            Some(cipher) => {
                // What is sent on from the same buffer stays as it is.
                let mut packet = packet.clone();
                cipher.open(&mut packet).and_then(|()| MessageOf::read(&packet))
            }
        }
    }

    /// From now on only packets for ports that are served are taken, and no more of them than there is room for. Until
    /// this is first called everything is. An application has room for `room` packets more, to be said again whenever it
    /// has read some; 255 is no limit.
    pub fn serve(&mut self, port: AppPort, room: u8) -> Result<(), TooManyPorts> {
        self.doors.open(port, room)
    }

    /// From now on only packets for ports that are [served](Self::serve) are taken.
    pub fn serve_nothing(&mut self) {
        self.doors.close_all();
    }

    /// A port is served no longer.
    pub fn close(&mut self, port: AppPort) {
        self.doors.close(port);
    }

    /// How a packet for an application is met.
    pub(super) fn welcome(&self, port: AppPort) -> Welcome {
        match self.doors.welcome(port) {
            Welcome::Open if !self.pool.inbox_has_room() => Welcome::Busy,
            welcome => welcome,
        }
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
        let packet = self.packet(&response, question.source, question.from_host);
        let packet = packet
            .and_then(|packet| self.sealed(packet))
            .ok_or(SendError::TooLong)?;
        self.originate(packet, Origin::Service, now, observer)
            .ok_or(SendError::Full)?;
        self.catch_up(now, observer);
        Ok(())
    }

    /// A packet for this node.
    pub(super) fn arrive(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(header) = self.pool.get(place).map(|slot| slot.packet.header) else {
            return;
        };
        // This node may have had it before it restarted.
        let from_before = header.source != self.here && self.began_before_start(&header, now);
        let Some(slot) = self.pool.get_mut(place) else { return };
        if header.to_host {
            let Some(link) = self.host else {
                return self.give_up(place, DropReason::NoHost, now, observer);
            };
            return match self.seen.judge(&header, now) {
                Judgement::New => {
                    slot.packet.remove_trail();
                    self.enqueue(place, link);
                }
                Judgement::Duplicate => self.discard(place, DropReason::Duplicate, observer),
                Judgement::Uncertain => self.discard(place, DropReason::Uncertain, observer),
            };
        }
        match header.kind {
            Kind::Confirmed => return self.confirmed_here(place, now, observer),
            Kind::Confirmation => return self.confirmation_here(place, now, observer),
            _ => {}
        }
        if from_before {
            return self.discard(place, DropReason::Uncertain, observer);
        }
        match self.seen.judge(&header, now) {
            Judgement::New => {}
            Judgement::Duplicate => return self.discard(place, DropReason::Duplicate, observer),
            Judgement::Uncertain => return self.discard(place, DropReason::Uncertain, observer),
        }
        slot.packet.remove_trail();
        match header.kind {
            Kind::Request => self.answer(place, now, observer),
            Kind::Undeliverable => self.report_here(place, now, observer),
            _ if slot.packet.content().is_none() => self.discard(place, DropReason::Malformed, observer),
            _ => {
                self.hand_over(place, observer);
                self.pool.release_if_unused(place);
            }
        }
    }

    /// Gives a packet to the application.
    pub(super) fn hand_over(&mut self, place: Place, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get(place) else { return };
        let header = slot.packet.header;
        let port = slot.packet.content().and_then(|content| content.addressee());
        if self.is_block(place) {
            return self.hold_block(place);
        }
        match port.map_or(Welcome::Open, |port| self.doors.welcome(port)) {
            Welcome::Open => {}
            Welcome::Busy | Welcome::Full => return self.count_drop(&header, DropReason::InboxFull, observer),
            Welcome::Unserved => return self.count_drop(&header, DropReason::Unserved, observer),
        }
        if self.pool.deliver(place) {
            // There is room: the pool has counted.
            let _ = self.inbox.push_back(place);
            if let Some(port) = port {
                self.doors.enter(port);
            }
            add(&mut self.counters.delivered, 1);
            observer.note(Event::Delivered { packet: header.id() });
        } else {
            self.count_drop(&header, DropReason::InboxFull, observer);
        }
    }

    /// The node itself was meant, and has understood.
    pub(super) fn consume(&mut self, place: Place, observer: &mut impl Observer) {
        if let Some(slot) = self.pool.get(place) {
            add(&mut self.counters.delivered, 1);
            observer.note(Event::Delivered {
                packet: slot.packet.header.id(),
            });
        }
        self.pool.release_if_unused(place);
    }

    /// A packet of this node could not be delivered.
    fn report_here(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get(place) else { return };
        let at = slot.packet.header.source;
        match slot.packet.content() {
            Some(Content::Undeliverable(Undeliverable {
                kind: Kind::Confirmed,
                number,
                reason,
                ..
            })) => {
                self.source.undeliverable(number, at, reason, now);
                self.consume(place, observer);
            }
            Some(_) => {
                self.hand_over(place, observer);
                self.pool.release_if_unused(place);
            }
            None => self.discard(place, DropReason::Malformed, observer),
        }
    }
}
