//! The computer's end of a board's serial port: asks questions, collects answers.
//!
//! It does no I/O: bytes and the time go in and out, so that it serves a real serial port and an emulated board alike.

use std::collections::{BTreeMap, VecDeque};

use hopwise_core::board::Command;
use hopwise_core::limits::{BODY, WIRE};
use hopwise_core::link::{Fate, Identity, Link, Micros, Received, Role, Token, Turn, WINDOW};
use hopwise_core::node::{DropReason, Header, Kind, MAX_HEADER, Query};
use serde::Deserialize;

/// What came back for a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The answer's bytes.
    Answer(Vec<u8>),
    /// The question, or the packet, did not reach its destination.
    Undeliverable(DropReason),
    /// What the destination says of a confirmed packet.
    Confirmed(Verdict),
}

/// What became of a confirmed packet, as its destination says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has been delivered, once.
    Delivered,
    /// There was no room for it.
    Busy,
    /// The destination has restarted, and may have had it before.
    Restarted,
}

impl Reply {
    /// An answer that is in postcard format.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        match self {
            Reply::Answer(bytes) => postcard::from_bytes(bytes).ok(),
            Reply::Undeliverable(_) | Reply::Confirmed(_) => None,
        }
    }
}

/// A computer at a board's serial port.
#[derive(Debug)]
pub struct HostPort {
    link: Link<WIRE>,
    epoch: u32,
    next_number: u32,
    next_confirmed: u32,
    waiting: VecDeque<Vec<u8>>,
    under_way: BTreeMap<Token, Vec<u8>>,
    replies: Vec<(u32, Reply)>,
    free_at: Micros,
}

impl HostPort {
    /// A computer that says hello. The epoch must differ from that of the last one, and not be 0.
    pub fn new(epoch: u32, baud: u32, now: Micros) -> Self {
        let identity = Identity {
            role: Role::Host,
            network: 0,
            address: 0,
            port: 0,
            epoch,
            largest: (BODY + MAX_HEADER) as u16,
        };
        HostPort {
            link: Link::new(identity, baud, now),
            epoch,
            next_number: 0,
            next_confirmed: 0,
            waiting: VecDeque::new(),
            under_way: BTreeMap::new(),
            replies: Vec::new(),
            free_at: now,
        }
    }

    /// Whether the board answers.
    pub fn is_up(&self) -> bool {
        self.link.is_up()
    }

    /// The address of the board, if it is there.
    pub fn board(&self) -> Option<Identity> {
        self.link.peer()
    }

    /// Asks a node; returns the question's number.
    pub fn ask(&mut self, dest: u64, query: Query, more: &[u8], now: Micros) -> u32 {
        let mut body = vec![query.number()];
        body.extend((now as u32).to_le_bytes());
        body.extend(more);
        let number = count_up(&mut self.next_number);
        self.send(Kind::Request, number, dest, query == Query::Trace, &body);
        number
    }

    /// Sends a datagram; returns its number.
    pub fn datagram(&mut self, dest: u64, payload: &[u8]) -> u32 {
        let number = count_up(&mut self.next_number);
        self.send(Kind::Datagram, number, dest, false, payload);
        number
    }

    /// Sends a packet that its destination confirms; returns its number. Such packets have numbers of their own.
    pub fn confirmed(&mut self, dest: u64, payload: &[u8]) -> u32 {
        let number = count_up(&mut self.next_confirmed);
        // The destination's epoch is not known here.
        let body = [&[0, 0], payload].concat();
        self.send(Kind::Confirmed, number, dest, false, &body);
        number
    }

    /// Tells the board around a node to do something; returns the question's number.
    pub fn command(&mut self, dest: u64, command: &Command<'_>, now: Micros) -> u32 {
        self.ask(dest, command.query(), &command.payload(), now)
    }

    fn send(&mut self, kind: Kind, number: u32, dest: u64, traced: bool, body: &[u8]) {
        let header = Header {
            kind,
            copied: false,
            trail: false,
            traced,
            to_host: false,
            from_host: true,
            // The board fills these in.
            hops_left: 0,
            source: 0,
            age: 0,
            epoch: self.epoch as u16,
            number,
            dest,
        };
        let mut packet = vec![0; MAX_HEADER];
        let length = header.write(&mut packet).unwrap_or(0);
        packet.truncate(length);
        packet.extend(body);
        self.waiting.push_back(packet);
    }

    /// Whether the board has taken over all that was sent.
    pub fn all_taken(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_empty()
    }

    /// Takes in what came from the board.
    pub fn receive(&mut self, mut bytes: &[u8], now: Micros) {
        while let Some(received) = self.link.receive(&mut bytes, now) {
            if let Received::Packet { packet, .. } = received {
                let reply = Header::read(packet).and_then(|(header, body)| read_reply(&header, body));
                self.link.take();
                self.replies.extend(reply);
            }
            self.settle();
        }
    }

    fn settle(&mut self) {
        while let Some((token, fate)) = self.link.settled() {
            let packet = self.under_way.remove(&token);
            if fate == Fate::Refused {
                packet.into_iter().for_each(|packet| self.waiting.push_front(packet));
            }
        }
        while let Some(token) = self.link.abandoned() {
            // A question asked twice is answered twice; that does no harm.
            self.under_way
                .remove(&token)
                .into_iter()
                .for_each(|packet| self.waiting.push_front(packet));
        }
    }

    /// The replies that have come since the last call, with the numbers of their questions.
    pub fn replies(&mut self) -> Vec<(u32, Reply)> {
        std::mem::take(&mut self.replies)
    }

    /// The bytes to send now; none while those before are still on the wire.
    pub fn transmit(&mut self, now: Micros) -> Vec<u8> {
        if self.link.tick(now).is_some() {
            self.settle();
        }
        if now < self.free_at {
            return Vec::new();
        }
        let mut out = vec![0; WIRE];
        let length = match self.link.turn(now) {
            Turn::Nothing => None,
            Turn::Control => self.link.write_control(now, &mut out),
            Turn::Again(token) => {
                let packet = self.under_way.get(&token);
                packet.and_then(|packet| self.link.write_packet(token, 0, [packet, &[]], now, &mut out))
            }
            Turn::New(room) if room.takes(0) && !self.waiting.is_empty() => self.send_next(now, &mut out),
            Turn::New(_) => self.link.write_control(now, &mut out),
        };
        out.truncate(length.unwrap_or(0));
        self.free_at = now + self.link.wire_time(out.len());
        out
    }

    fn send_next(&mut self, now: Micros, out: &mut [u8]) -> Option<usize> {
        // The link takes no more than a window of packets, so one is free.
        let token = (0..=WINDOW as Token).find(|token| !self.under_way.contains_key(token))?;
        let packet = self.waiting.pop_front()?;
        let written = self.link.write_packet(token, 0, [&packet, &[]], now, out);
        self.under_way.insert(token, packet);
        written
    }
}

fn count_up(counter: &mut u32) -> u32 {
    let number = *counter;
    *counter = number.wrapping_add(1);
    number
}

fn read_reply(header: &Header, body: &[u8]) -> Option<(u32, Reply)> {
    match header.kind {
        Kind::Response => {
            let (_, number, _, answer) = Query::read_answer(body);
            Some((number, Reply::Answer(answer.to_vec())))
        }
        Kind::Undeliverable => {
            let (&[n0, n1, n2, n3, _, reason], _) = body.split_first_chunk()?;
            let reason = DropReason::from_number(reason)?;
            Some((u32::from_le_bytes([n0, n1, n2, n3]), Reply::Undeliverable(reason)))
        }
        Kind::Confirmation => {
            let (&[n0, n1, n2, n3, _, _, verdict], _) = body.split_first_chunk()?;
            let verdict = match verdict {
                0 => Verdict::Delivered,
                1 => Verdict::Busy,
                2 => Verdict::Restarted,
                _ => return None,
            };
            Some((u32::from_le_bytes([n0, n1, n2, n3]), Reply::Confirmed(verdict)))
        }
        _ => None,
    }
}
