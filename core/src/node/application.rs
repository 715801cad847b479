//! What an application can do with its node.

use core::fmt;

use super::counters::add;
use super::event::{DropReason, Event, Observer, Outcome};
use super::packet::{Body, Header, Kind, Packet};
use super::pool::{From, Place};
use super::seen::Judgement;
use super::service::{Query, Report};
use super::trail::Trail;
use super::{Node, confirm, forward};
use crate::limits::MAX_PAYLOAD;
use crate::link::Micros;
use crate::{NoSuchNode, Node as Address};

/// Why a packet was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendError {
    /// There is no such destination.
    NoSuchNode(NoSuchNode),
    /// The payload is longer than [`MAX_PAYLOAD`].
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
    /// A question for the board around the node, of this number; [`Node::reply`] answers it.
    Question {
        /// The number in [`Query::Board`].
        number: u8,
        /// Whether a computer asks.
        from_host: bool,
    },
    /// The answer to a [question](Query).
    Answer(Query),
    /// A datagram or a question could not be delivered.
    Undeliverable {
        /// Its number.
        number: u32,
        /// Where it was to go.
        dest: Address,
        /// Why it did not come there.
        reason: DropReason,
    },
}

/// A message for the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<const BODY: usize> {
    /// What it is.
    pub kind: MessageKind,
    /// Who sent it: of an undeliverable packet, who found out.
    pub source: Address,
    /// The number its source gave it; of an answer, the number of the question.
    pub number: u32,
    /// Of an answer, when the question was asked, in microseconds of this node's clock (it goes round after 71 minutes).
    pub asked: u32,
    /// The payload.
    pub payload: Body<BODY>,
}

impl<const PORTS: usize, const BUFFERS: usize, const BODY: usize, const WIRE: usize, const PEERS: usize>
    Node<PORTS, BUFFERS, BODY, WIRE, PEERS>
{
    /// Sends a datagram: each hop is reliable, but it is lost if a board dies with it. Returns its number.
    pub fn send(
        &mut self,
        dest: Address,
        payload: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        self.send_as(Kind::Datagram, dest, &[payload], now, observer)
    }

    /// Sends a broadcast: every other live and connected node receives it once. Returns its number.
    pub fn broadcast(&mut self, payload: &[u8], now: Micros, observer: &mut impl Observer) -> Result<u32, SendError> {
        self.send_as(Kind::Broadcast, self.here, &[payload], now, observer)
    }

    /// Sends a confirmed packet: it is delivered exactly once unless an end restarts, and
    /// [`next_outcome`](Self::next_outcome) tells what became of it. Returns its number.
    pub fn send_confirmed(
        &mut self,
        dest: Address,
        payload: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        if !self.confirm.has_room() {
            return Err(SendError::Full);
        }
        let epoch = self.peers.epoch_of(dest).to_le_bytes();
        self.send_as(Kind::Confirmed, dest, &[&epoch, payload], now, observer)
    }

    /// Asks a node something; the answer comes as a [message](Self::next_message). Returns the question's number.
    pub fn ask(
        &mut self,
        dest: Address,
        query: Query,
        more: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        let stamp = (now as u32).to_le_bytes();
        self.send_as(Kind::Request, dest, &[&[query.number()], &stamp, more], now, observer)
    }

    fn send_as(
        &mut self,
        kind: Kind,
        dest: Address,
        parts: &[&[u8]],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<u32, SendError> {
        self.network.check(dest).map_err(SendError::NoSuchNode)?;
        if parts.last().is_some_and(|payload| payload.len() > MAX_PAYLOAD) {
            return Err(SendError::TooLong);
        }
        if !self.pool.outbox_has_room(kind) {
            return Err(SendError::Full);
        }
        let mut body = Body::new();
        for part in parts {
            body.extend_from_slice(part).map_err(|_| SendError::TooLong)?;
        }
        let mut header = self.header(kind, dest, false);
        header.traced = kind == Kind::Request && body.first() == Some(&Query::Trace.number());
        if kind == Kind::Confirmed {
            header.number = self.confirm.next_number();
        }
        let number = header.number;
        self.originate(Packet { header, body }, From::Application, now, observer)
            .ok_or(SendError::Full)?;
        self.catch_up(now, observer);
        Ok(number)
    }

    /// The header of a packet that begins here.
    pub(super) fn header(&mut self, kind: Kind, dest: Address, to_host: bool) -> Header {
        Header {
            kind,
            copied: false,
            trail: false,
            traced: false,
            to_host,
            from_host: false,
            hops_left: self.hops,
            age: 0,
            epoch: self.epoch as u16,
            number: self.number(),
            source: self.here,
            dest,
        }
    }

    /// Gives a packet that begins here a buffer and its way; `None` if there is no buffer.
    pub(super) fn originate(
        &mut self,
        packet: Packet<BODY>,
        from: From,
        now: Micros,
        observer: &mut impl Observer,
    ) -> Option<()> {
        let header = packet.header;
        let place = self.pool.admit(packet, from, 0, now)?;
        add(&mut self.counters.originated, 1);
        if header.kind == Kind::Confirmed {
            self.confirm.begin(place, now);
            if let Some(slot) = self.pool.get_mut(place) {
                slot.kept = true;
            }
        }
        observer.note(Event::Accepted {
            packet: header.id(),
            dest: header.dest,
        });
        self.pool.let_go(place);
        Some(())
    }

    /// The fate of a confirmed packet that was sent from here, with its number.
    pub fn next_outcome(&mut self) -> Option<(u32, Outcome)> {
        self.confirm.next_outcome()
    }

    /// The next message for the application.
    pub fn next_message(&mut self) -> Option<Message<BODY>> {
        let place = self.inbox.pop_front()?;
        let packet = &mut self.pool.get_mut(place)?.packet;
        let Header {
            kind,
            source,
            number,
            from_host,
            ..
        } = packet.header;
        // A broadcast may be on a detour from here while it waits for the application.
        let trail = if packet.header.trail {
            Trail::of(&mut packet.body).map_or(0, |trail| trail.bytes())
        } else {
            0
        };
        let body = packet.body.get(..packet.body.len() - trail).unwrap_or(&[]);
        let mut message = Message {
            kind: MessageKind::Datagram,
            source,
            number,
            asked: 0,
            payload: Body::new(),
        };
        let payload = match kind {
            Kind::Broadcast => {
                message.kind = MessageKind::Broadcast;
                body
            }
            Kind::Confirmed => {
                message.kind = MessageKind::Confirmed;
                body.get(confirm::PREFIX..).unwrap_or(&[])
            }
            Kind::Request => {
                let (query, asked, more) = Query::read_question(body);
                message.kind = MessageKind::Question {
                    number: query,
                    from_host,
                };
                message.asked = asked;
                more
            }
            Kind::Response => {
                let (query, number, asked, answer) = Query::read_answer(body);
                message.kind = MessageKind::Answer(query);
                message.number = number;
                message.asked = asked;
                answer
            }
            Kind::Undeliverable => {
                if let Some(report) = Report::read(body) {
                    message.kind = MessageKind::Undeliverable {
                        number: report.number,
                        dest: report.dest,
                        reason: report.reason,
                    };
                }
                &[]
            }
            _ => body,
        };
        // A body holds its own part.
        let _ = message.payload.extend_from_slice(payload);
        self.pool.take_from_inbox(place);
        self.pool.release_if_unused(place);
        Some(message)
    }

    /// Answers a question for the board.
    pub fn reply(
        &mut self,
        question: &Message<BODY>,
        answer: &[u8],
        now: Micros,
        observer: &mut impl Observer,
    ) -> Result<(), SendError> {
        let MessageKind::Question { number, from_host } = question.kind else {
            return Ok(());
        };
        let body = Query::write_answer(Query::Board(number), question.number, question.asked, answer);
        let body = body.ok_or(SendError::TooLong)?;
        let header = self.header(Kind::Response, question.source, from_host);
        let packet = Packet { header, body };
        self.originate(packet, From::Service, now, observer)
            .ok_or(SendError::Full)?;
        self.catch_up(now, observer);
        Ok(())
    }

    /// A packet for this node.
    pub(super) fn arrive(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get_mut(place) else { return };
        let header = slot.packet.header;
        if header.to_host {
            return match self.host {
                Some(link) => {
                    forward::remove_trail(&mut slot.packet);
                    self.enqueue(place, link);
                }
                None => self.give_up(place, DropReason::NoHost, now, observer),
            };
        }
        match header.kind {
            Kind::Confirmed => return self.confirmed_here(place, now, observer),
            Kind::Confirmation => return self.confirmation_here(place, now, observer),
            _ => {}
        }
        match self.seen.judge(&header, now) {
            Judgement::New => {}
            Judgement::Duplicate => return self.discard(place, DropReason::Duplicate, observer),
            Judgement::Uncertain => return self.discard(place, DropReason::Uncertain, observer),
        }
        forward::remove_trail(&mut slot.packet);
        match header.kind {
            Kind::Request => self.answer(place, now, observer),
            Kind::Undeliverable => self.report_here(place, now, observer),
            _ => {
                self.hand_over(place, observer);
                self.pool.release_if_unused(place);
            }
        }
    }

    /// Gives a packet to the application.
    pub(super) fn hand_over(&mut self, place: Place, observer: &mut impl Observer) {
        let Some(header) = self.pool.get(place).map(|slot| slot.packet.header) else {
            return;
        };
        if self.pool.deliver(place) {
            // There is room: the pool has counted.
            let _ = self.inbox.push_back(place);
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
        match Report::read(&slot.packet.body) {
            Some(report) if report.kind == Kind::Confirmed => {
                self.confirm.undeliverable(report.number, at, report.reason, now);
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
