//! What a node answers by itself: ping, trace, counters, who it is.

use heapless::String;
use serde::{Deserialize, Serialize};

use super::counters::add;
use super::event::{DropReason, Event, Observer};
use super::packet::{Body, Kind, Packet};
use super::pool::Place;
use super::trail::Trail;
use super::{Node, NodeCounters};
use crate::link::{LinkCounters, Micros, Role};
use crate::{Node as Address, varint};

/// A question to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Query {
    /// Are you there? The answer repeats what came with the question.
    Ping,
    /// By which way? The answer has every node on it and how long the packet was there: [`hops_of_trace`].
    Trace,
    /// Who are you? The answer is a [`NodeReport`].
    Identity,
    /// What have you done? The answer is [`NodeCounters`].
    Counters,
    /// What of a link, whose number comes with the question? The answer is a [`LinkReport`].
    Link,
    /// Begin to count anew.
    ClearCounters,
    /// Something for the board around the node, told apart by its number. It comes as a
    /// [message](super::MessageKind::Question); [`Node::reply`] answers it.
    Board(u8),
}

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
            Query::Board(number) => BOARD.saturating_add(number),
        }
    }

    /// The question of a number on the wire.
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

    /// Takes the body of a question for the board apart: its number, when it was asked, and what comes with it.
    pub fn read_question(body: &[u8]) -> (u8, u32, &[u8]) {
        match body {
            &[query, a0, a1, a2, a3, ref more @ ..] => {
                (query.saturating_sub(BOARD), u32::from_le_bytes([a0, a1, a2, a3]), more)
            }
            _ => (0, 0, &[]),
        }
    }

    /// The body of an answer; `None` if it is too long.
    pub fn write_answer<const BODY: usize>(query: Query, number: u32, asked: u32, answer: &[u8]) -> Option<Body<BODY>> {
        let mut body = Body::new();
        body.push(query.number()).ok()?;
        body.extend_from_slice(&asked.to_le_bytes()).ok()?;
        body.extend_from_slice(&number.to_le_bytes()).ok()?;
        body.extend_from_slice(answer).ok()?;
        Some(body)
    }

    /// Takes the body of an answer apart: to which question, of which number, asked when, and what the answer is.
    pub fn read_answer(body: &[u8]) -> (Query, u32, u32, &[u8]) {
        match body {
            &[query, a0, a1, a2, a3, n0, n1, n2, n3, ref answer @ ..] => (
                Query::from_number(query).unwrap_or(Query::Ping),
                u32::from_le_bytes([n0, n1, n2, n3]),
                u32::from_le_bytes([a0, a1, a2, a3]),
                answer,
            ),
            _ => (Query::Ping, 0, 0, &[]),
        }
    }
}

/// Bytes of a question before what comes with it: its kind, and when it was asked.
const QUESTION: usize = 5;

/// What the shell knows about its board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The board's name.
    pub name: String<16, u8>,
    /// The program that runs on it.
    pub program: String<24, u8>,
    /// Why it last started, as the shell numbers it.
    pub reset_cause: u8,
    /// Bytes of stack that were never used.
    pub stack_free: u32,
}

/// Who a node is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReport {
    /// Of the network's expression.
    pub network: u32,
    /// Its address.
    pub address: Address,
    /// Its boot epoch.
    pub epoch: u32,
    /// Milliseconds since it started.
    pub uptime_ms: u64,
    /// How many links it has.
    pub links: u8,
    /// Neighbours it should have.
    pub neighbors: u8,
    /// Neighbours it reaches.
    pub neighbors_up: u8,
    /// What the shell says of the board.
    pub card: Card,
}

/// One link of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkReport {
    /// Both ends hear each other.
    pub up: bool,
    /// The other end does not hear this one.
    pub one_way: bool,
    /// Who is there: the network, the address and the number of its port.
    pub peer: Option<(u32, Address, u8)>,
    /// A computer is there.
    pub host: bool,
    /// It leads to a neighbour, as it should.
    pub wired: bool,
    /// Packets that wait for it.
    pub waiting: u8,
    /// What has happened on it.
    pub counters: LinkCounters,
}

/// A packet that could not be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) number: u32,
    pub(super) kind: Kind,
    pub(super) dest: Address,
    pub(super) reason: DropReason,
}

impl Report {
    pub(super) fn write<const BODY: usize>(&self) -> Body<BODY> {
        let mut dest = [0; varint::MAX_BYTES];
        let length = varint::write(self.dest, &mut dest).unwrap_or(0);
        let mut body = Body::new();
        // Sixteen bytes fit any body.
        let _ = body.extend_from_slice(&self.number.to_le_bytes());
        let _ = body.extend_from_slice(&[self.kind as u8, self.reason as u8]);
        let _ = body.extend_from_slice(dest.get(..length).unwrap_or(&[]));
        body
    }

    pub(super) fn read(body: &[u8]) -> Option<Report> {
        let (&[n0, n1, n2, n3, kind, reason], rest) = body.split_first_chunk()?;
        let (dest, _) = varint::read_node(rest)?;
        Some(Report {
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            kind: Kind::from_number(kind)?,
            dest,
            reason: DropReason::from_number(reason)?,
        })
    }
}

/// The way of a trace: each node, and how many microseconds the packet waited there before it was sent on.
pub fn hops_of_trace(mut answer: &[u8]) -> impl Iterator<Item = (Address, u64)> + '_ {
    core::iter::from_fn(move || {
        let (node, rest) = varint::read_node(answer)?;
        let (waited, rest) = varint::read(rest)?;
        answer = rest;
        Some((node, waited))
    })
}

impl<const PORTS: usize, const BUFFERS: usize, const BODY: usize, const WIRE: usize, const PEERS: usize>
    Node<PORTS, BUFFERS, BODY, WIRE, PEERS>
{
    /// Answers a question that has come, or leaves it to the board.
    pub(super) fn answer(&mut self, place: Place, now: Micros, observer: &mut impl Observer) {
        let Some(slot) = self.pool.get(place) else { return };
        let header = slot.packet.header;
        let body = slot.packet.body.as_slice();
        let (Some(&kind), Some(asked)) = (body.first(), body.get(1..QUESTION)) else {
            return self.discard(place, DropReason::Malformed, observer);
        };
        let Some(query) = Query::from_number(kind) else {
            return self.discard(place, DropReason::Malformed, observer);
        };
        if let Query::Board(_) = query {
            self.hand_over(place, observer);
            return self.pool.release_if_unused(place);
        }
        let more = body.get(QUESTION..).unwrap_or(&[]);
        let mut answer: Body<BODY> = Body::new();
        let _ = answer.push(kind);
        let _ = answer.extend_from_slice(asked);
        let _ = answer.extend_from_slice(&header.number.to_le_bytes());
        let mut report = [0; BODY];
        let written = match query {
            Query::Ping => Some(more),
            // Handed over above.
            Query::Board(_) => None,
            Query::Trace => {
                let mut last = [0; 2 * varint::MAX_BYTES];
                let length = varint::write(self.here, &mut last).unwrap_or(0);
                let _ = answer.extend_from_slice(more);
                // The packet goes no further: it waits for nothing here.
                last.get(..length + 1)
                    .map(|end| {
                        let _ = answer.extend_from_slice(end);
                    })
                    .map(|()| &[][..])
            }
            Query::Identity => postcard::to_slice(&self.report(now), &mut report)
                .ok()
                .map(|bytes| &*bytes),
            Query::Counters => postcard::to_slice(&self.counters, &mut report)
                .ok()
                .map(|bytes| &*bytes),
            Query::Link => {
                let link = more.first().and_then(|&link| self.link_report(link));
                postcard::to_slice(&link, &mut report).ok().map(|bytes| &*bytes)
            }
            Query::ClearCounters => Some(&[][..]),
        };
        let complete = written.is_some_and(|written| answer.extend_from_slice(written).is_ok());
        if !complete {
            return self.discard(place, DropReason::Malformed, observer);
        }
        if !self.pool.make_service(place, now) {
            return self.discard(place, DropReason::Busy, observer);
        }
        if query == Query::ClearCounters {
            self.clear_counters();
        }
        add(&mut self.counters.delivered, 1);
        add(&mut self.counters.originated, 1);
        observer.note(Event::Delivered { packet: header.id() });
        let header = self.header(Kind::Response, header.source, header.from_host);
        if let Some(slot) = self.pool.get_mut(place) {
            slot.packet = Packet { header, body: answer };
        }
        observer.note(Event::Accepted {
            packet: header.id(),
            dest: header.dest,
        });
        self.pool.let_go(place);
    }

    /// Begins to count anew. What is in the buffers is carried over, so that the account still adds up.
    pub fn clear_counters(&mut self) {
        self.counters = NodeCounters {
            carried_over: self.counters.held(),
            ..NodeCounters::default()
        };
        for link in &mut self.links {
            link.clear_counters();
        }
    }

    /// Who this node is.
    pub fn report(&self, now: Micros) -> NodeReport {
        let up = self.wiring.ports().filter(|(_, link)| link.is_some()).count();
        NodeReport {
            network: self.network.id(),
            address: self.here,
            epoch: self.epoch,
            uptime_ms: now.saturating_sub(self.started) / 1_000,
            links: self.links.len() as u8,
            neighbors: self.wiring.ports().count() as u8,
            neighbors_up: up as u8,
            card: self.card.clone(),
        }
    }

    /// The state of a link; `None` if there is none of that number.
    pub fn link_report(&self, link: u8) -> Option<LinkReport> {
        let end = self.links.get(usize::from(link))?;
        let peer = end.peer();
        Some(LinkReport {
            up: end.is_up(),
            one_way: end.is_one_way(),
            peer: peer.map(|peer| (peer.network, peer.address, peer.port)),
            host: peer.is_some_and(|peer| peer.role == Role::Host),
            wired: self.wiring.neighbor_at(link).is_some(),
            waiting: self.queues.get(usize::from(link)).map_or(0, |queue| queue.len() as u8),
            counters: *end.counters(),
        })
    }

    /// Adds this node, and how long the packet was here, to a packet that is traced. One without room goes on without.
    pub(super) fn sign(&mut self, place: Place, now: Micros) {
        let here = self.here;
        let Some(slot) = self.pool.get_mut(place) else { return };
        if !slot.packet.header.traced || slot.signed {
            return;
        }
        slot.signed = true;
        let waited = (now as u32).wrapping_sub(slot.arrived);
        let mut record = [0; 2 * varint::MAX_BYTES];
        let Some(length) = varint::write(here, &mut record) else {
            return;
        };
        let more = record
            .get_mut(length..)
            .and_then(|rest| varint::write(u64::from(waited), rest));
        let length = length + more.unwrap_or(0);
        let Packet { header, body } = &mut slot.packet;
        if body.len() + length > BODY {
            return;
        }
        let end = if header.trail {
            Trail::of(body).map_or(0, |trail| trail.bytes())
        } else {
            0
        };
        let at = body.len() - end.min(body.len());
        // There is room: it was looked for.
        let trail: Body<BODY> = Body::from_slice(body.get(at..).unwrap_or(&[])).unwrap_or_default();
        body.truncate(at);
        let _ = body.extend_from_slice(record.get(..length).unwrap_or(&[]));
        let _ = body.extend_from_slice(&trail);
    }
}
