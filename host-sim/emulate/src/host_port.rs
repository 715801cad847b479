//! The computer's end of a board's serial port: asks questions, collects answers.
//!
//! It does no I/O: bytes and the time go in and out, so that it serves a real serial port and an emulated board alike. It is an
//! [`Endpoint`] of the core, and keeps what that has no room for.

use std::collections::VecDeque;

use hopwise_core::endpoint::{Endpoint, Heard};
use hopwise_core::limits::BODY;
use hopwise_core::link::{Down, Micros, WINDOW};
use hopwise_core::wire::{
    Addressed, AppPort, Command, Confirmed, Content, DropReason, Identity, Packet, Query, Verdict, WIRE, read_structure,
};
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

impl Reply {
    /// An answer that is in postcard format.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        match self {
            Reply::Answer(bytes) => read_structure(bytes),
            Reply::Undeliverable(_) | Reply::Confirmed(_) => None,
        }
    }

    /// What a packet says of an earlier one, and the number of that.
    fn of(packet: &Packet<BODY>) -> Option<(u32, Reply)> {
        match packet.content()? {
            Content::Response(response) => Some((response.number, Reply::Answer(response.payload.to_vec()))),
            Content::Undeliverable(report) => Some((report.number, Reply::Undeliverable(report.reason))),
            Content::Confirmation(confirmation) => Some((confirmation.number, Reply::Confirmed(confirmation.verdict))),
            Content::Datagram(_)
            | Content::Broadcast(_)
            | Content::Confirmed(_)
            | Content::Request(_)
            | Content::Flooded(_) => None,
        }
    }
}

/// A computer at a board's serial port.
#[derive(Debug)]
pub struct HostPort {
    endpoint: Endpoint<WINDOW>,
    waiting: VecDeque<Packet<BODY>>,
    replies: Vec<(u32, Reply)>,
    free_at: Micros,
    refused: bool,
}

impl HostPort {
    /// A computer that says hello. The epoch must differ from that of the last one, and not be 0.
    pub fn new(epoch: u32, baud: u32, now: Micros) -> Self {
        HostPort {
            endpoint: Endpoint::computer(epoch, baud, now),
            waiting: VecDeque::new(),
            replies: Vec::new(),
            free_at: now,
            refused: false,
        }
    }

    /// Whether the board answers.
    pub fn is_up(&self) -> bool {
        self.endpoint.is_up()
    }

    /// Whether the board is there, but takes no computer here, or has another one.
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    /// The address of the board, if it is there.
    pub fn board(&self) -> Option<Identity> {
        self.endpoint.peer()
    }

    /// Asks a node; returns the question's number. Here as below, a payload that does not fit a packet is a mistake of the caller, who
    /// checks what people write.
    pub fn ask(&mut self, dest: u64, query: Query, payload: &[u8], now: Micros) -> u32 {
        let packet = self.endpoint.question(dest, query, payload, now);
        self.send(packet)
    }

    /// Sends a datagram; returns its number.
    pub fn datagram(&mut self, dest: u64, port: AppPort, payload: &[u8]) -> u32 {
        let content = Content::Datagram(Addressed { port, payload });
        let packet = self.endpoint.packet(dest, &content);
        self.send(packet)
    }

    /// Sends a packet that its destination confirms; returns its number. Such packets have numbers of their own.
    pub fn confirmed(&mut self, dest: u64, port: AppPort, payload: &[u8]) -> u32 {
        let content = Content::Confirmed(Confirmed {
            // It is not known here.
            known_epoch: 0,
            port,
            payload,
        });
        let packet = self.endpoint.packet(dest, &content);
        self.send(packet)
    }

    /// Tells the board around a node to do something; returns the question's number.
    pub fn command(&mut self, dest: u64, command: &Command<'_>, now: Micros) -> u32 {
        self.ask(dest, command.query(), &command.payload(), now)
    }

    fn send(&mut self, packet: Option<Packet<BODY>>) -> u32 {
        let packet = packet.expect("what the commands send fits a packet");
        let number = packet.header.number;
        self.waiting.push_back(packet);
        number
    }

    /// Whether the board has taken over all that was sent.
    pub fn all_taken(&self) -> bool {
        self.waiting.is_empty() && self.endpoint.is_idle()
    }

    /// Takes in what came from the board.
    pub fn receive(&mut self, mut bytes: &[u8], now: Micros) {
        while let Some(heard) = self.endpoint.receive(&mut bytes, now) {
            match heard {
                Heard::Packet(packet) => self.replies.extend(Reply::of(&packet)),
                Heard::Up(_) => self.refused = false,
                Heard::Down(_) | Heard::Question(_) => {}
            }
        }
    }

    /// The replies that have come since the last call, with the numbers of their questions.
    pub fn replies(&mut self) -> Vec<(u32, Reply)> {
        std::mem::take(&mut self.replies)
    }

    /// The bytes to send now; none while those before are still on the wire.
    pub fn transmit(&mut self, now: Micros) -> Vec<u8> {
        if let Some(reason) = self.endpoint.tick(now) {
            self.refused = reason == Down::Refused;
        }
        if now < self.free_at {
            return Vec::new();
        }
        while let Some(packet) = self.waiting.pop_front() {
            if let Err(packet) = self.endpoint.send(packet) {
                self.waiting.push_front(packet);
                break;
            }
        }
        let mut out = vec![0; WIRE];
        let length = self.endpoint.transmit(now, &mut out);
        out.truncate(length);
        self.free_at = now + self.endpoint.wire_time(length);
        out
    }
}
