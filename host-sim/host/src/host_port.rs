//! The host's end of a board's serial port: sends requests, collects responses.
//!
//! It does no I/O: bytes and the time go in and out, so that it serves a real serial port and an emulated board alike. It is an
//! [`Endpoint`] of `hopwise-node`, with larger queues.

use std::collections::VecDeque;

use hopwise_node::endpoint::{Endpoint, Heard};
use hopwise_node::key::{Credentials, Key};
use hopwise_node::limits::BODY;
use hopwise_node::link::{Down, Micros, WINDOW};
use hopwise_node::wire::{
    Addressed, AppPort, AppStatus, Command, Confirmed, Content, Identity, Kind, Packet, Query, VERSION, WIRE,
};

use super::authorized_commands::{AuthorizedCommands, Next};
use super::talk::Reply;

/// Maximum number of messages kept until they are fetched; further ones are lost.
const MAX_MESSAGES: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    pub source: u64,
    pub from_host: bool,
    pub port: AppPort,
    pub bytes: Vec<u8>,
    /// Set if it is a request, whose sender waits for a response.
    pub pending: Option<PendingRequest>,
}

/// A request that awaits its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingRequest(Box<Packet<BODY>>);

impl Incoming {
    /// The message in a packet for this host, if there is one.
    fn of(packet: &Packet<BODY>) -> Option<Self> {
        let (port, payload, pending) = match packet.content()? {
            Content::Datagram(Addressed { port, payload }) => (port, payload, None),
            Content::Request(request) => match request.query {
                Query::Application(port) => (port, request.payload, Some(PendingRequest(Box::new(packet.clone())))),
                _ => return None,
            },
            _ => return None,
        };
        Some(Incoming {
            source: packet.header.source,
            from_host: packet.header.from_host,
            port,
            bytes: payload.to_vec(),
            pending,
        })
    }
}

fn to_host(mut packet: Packet<BODY>) -> Packet<BODY> {
    packet.header.to_host = true;
    packet
}

/// A host at a board's serial port.
#[derive(Debug)]
pub struct HostPort {
    endpoint: Endpoint<WINDOW>,
    waiting: VecDeque<Packet<BODY>>,
    replies: Vec<(u32, Reply)>,
    messages: VecDeque<Incoming>,
    free_at: Micros,
    refused: bool,
    takes_requests: bool,
    /// The last reported reason why there can be no link with the board.
    foreign: Option<Down>,
    authorized_commands: Option<AuthorizedCommands>,
}

impl HostPort {
    /// A host that says hello. The epoch must differ from the previous one, and not be 0.
    pub fn new(epoch: u32, baud: u32, now: Micros) -> Self {
        HostPort {
            endpoint: Endpoint::host(epoch, baud, now),
            waiting: VecDeque::new(),
            replies: Vec::new(),
            messages: VecDeque::new(),
            free_at: now,
            refused: false,
            takes_requests: false,
            foreign: None,
            authorized_commands: None,
        }
    }

    /// Adds requests to the [messages](Self::messages) from now on, each to be [answered](Self::respond_with). Before, they are answered as
    /// port unreachable.
    pub fn take_requests(&mut self) {
        self.takes_requests = true;
    }

    /// Restricts the link to a board of the mesh with this key, and, with the management key, authorizes commands. Must be called before
    /// anything is sent.
    pub fn lock(&mut self, credentials: &Credentials, management: Option<Key>) {
        self.endpoint.lock(credentials);
        self.authorized_commands = management.map(|key| AuthorizedCommands::new(key, credentials.random));
    }

    /// Signs commands of an update for boards that say that they speak version 3 of the wire format, in which they prove nothing. The user must
    /// have said that there are such.
    pub fn trust_version_3(&mut self) {
        let commands = self.authorized_commands.iter_mut();
        commands.for_each(AuthorizedCommands::trust_version_3);
    }

    /// The reason why there can be no link with the board: [`Down::Unkeyed`] and [`Down::WrongKey`] are matters of keys.
    pub fn foreign(&self) -> Option<Down> {
        self.foreign
    }

    pub fn is_up(&self) -> bool {
        self.endpoint.is_up()
    }

    /// Whether the board is there, but accepts no host here, or has another one.
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    pub fn board(&self) -> Option<Identity> {
        self.endpoint.peer()
    }

    pub fn wire_version(&self) -> u8 {
        self.endpoint.version()
    }

    /// Sends a request to a node; returns its number. Here as below, a payload that does not fit a packet is a bug of the caller, which
    /// checks user input.
    pub fn ask(&mut self, dest: u64, query: Query, payload: &[u8], now: Micros) -> u32 {
        let packet = self.endpoint.request(dest, query, payload, now);
        let number = packet.as_ref().map_or(0, |packet| packet.header.number);
        let is_old = self.is_old();
        let authorized_commands = self.authorized_commands.as_mut();
        if let Some(next) = authorized_commands.and_then(|it| it.begin(number, dest, query, payload, is_old)) {
            self.act(next, now);
            return number;
        }
        self.send(packet)
    }

    /// Sends a request to an application of the host at a node; returns its number.
    pub fn ask_host(&mut self, at: u64, port: AppPort, payload: &[u8], now: Micros) -> u32 {
        let packet = self.endpoint.request(at, Query::Application(port), payload, now);
        self.send(packet.map(to_host))
    }

    /// Answers a request; returns the response's number.
    pub fn respond_with(&mut self, pending: &PendingRequest, status: AppStatus, payload: &[u8]) -> u32 {
        let response = [&[status as u8], payload].concat();
        let packet = self.endpoint.response_to(&pending.0, &response);
        self.send(packet)
    }

    /// Whether the boards speak a version in which they prove nothing.
    fn is_old(&self) -> bool {
        self.endpoint.version() < VERSION
    }

    fn replied(&mut self, number: u32, reply: Reply, now: Micros) {
        let is_old = self.is_old();
        match &mut self.authorized_commands {
            Some(authorized_commands) => {
                for next in authorized_commands.reply(number, reply, is_old, now) {
                    self.act(next, now);
                }
            }
            None => self.replies.push((number, reply)),
        }
    }

    fn act(&mut self, next: Next, now: Micros) {
        match next {
            Next::Pass(number, reply) => self.replies.push((number, reply)),
            Next::Ask { dest, number, nonce } => {
                let asked = self.ask(dest, Command::Challenge.query(), &nonce, now);
                if let Some(authorized_commands) = &mut self.authorized_commands {
                    authorized_commands.asked(number, asked, nonce);
                }
            }
            Next::Send {
                dest,
                number,
                command,
                payload,
            } => {
                let packet = self.endpoint.request(dest, Query::Board(command), &payload, now);
                let sent = self.send(packet);
                if let Some(authorized_commands) = &mut self.authorized_commands {
                    authorized_commands.sent(number, sent);
                }
            }
        }
    }

    /// Sends a datagram; returns its number.
    pub fn datagram(&mut self, dest: u64, port: AppPort, payload: &[u8]) -> u32 {
        let content = Content::Datagram(Addressed { port, payload });
        let packet = self.endpoint.packet(dest, &content);
        self.send(packet)
    }

    /// Like [`datagram`](Self::datagram), to the host at a node.
    pub fn datagram_to_host(&mut self, at: u64, port: AppPort, payload: &[u8]) -> u32 {
        let content = Content::Datagram(Addressed { port, payload });
        let packet = self.endpoint.packet(at, &content);
        self.send(packet.map(to_host))
    }

    /// Sends a message to every node; to the one at whose serial port this is only [blocks of an image](AppPort::UPDATE). Returns its number.
    pub fn broadcast(&mut self, port: AppPort, payload: &[u8]) -> u32 {
        let board = self.board().map_or(0, |board| board.address);
        let content = Content::Broadcast(Addressed { port, payload });
        let packet = self.endpoint.packet(board, &content);
        self.send(packet)
    }

    /// Sends a confirmed packet; returns its number. Such packets are numbered separately.
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

    /// Sends a command to the board around a node; returns the request's number.
    pub fn command(&mut self, dest: u64, command: &Command<'_>, now: Micros) -> u32 {
        self.ask(dest, command.query(), &command.payload(), now)
    }

    fn send(&mut self, packet: Option<Packet<BODY>>) -> u32 {
        let packet = packet.expect("what the commands send fits a packet");
        let number = packet.header.number;
        self.waiting.push_back(packet);
        number
    }

    /// Sends as many of these broadcasts as the link can take, removing them from the front. What the board has no room for waits
    /// here. Must be called before each [`transmit`](Self::transmit), until none are left and [all are taken](Self::all_taken).
    pub fn stream(&mut self, port: AppPort, payloads: &mut VecDeque<Vec<u8>>) {
        if self.waiting.is_empty()
            && let Some(payload) = payloads.pop_front()
        {
            self.broadcast(port, &payload);
        }
    }

    /// Drops what the link has not begun to send.
    pub fn give_up_all(&mut self) {
        self.waiting.clear();
    }

    pub fn all_taken(&self) -> bool {
        self.waiting.is_empty() && self.endpoint.is_idle()
    }

    /// Whether a packet is still here, not with the board.
    pub fn holds(&self, kind: Kind, number: u32) -> bool {
        let waits = |packet: &Packet<BODY>| (packet.header.kind, packet.header.number) == (kind, number);
        self.waiting.iter().any(waits) || self.endpoint.holds(kind, number)
    }

    /// Drops a packet that the link has not begun to send.
    pub fn give_up(&mut self, kind: Kind, number: u32) {
        self.waiting
            .retain(|packet| (packet.header.kind, packet.header.number) != (kind, number));
    }

    pub fn receive(&mut self, mut bytes: &[u8], now: Micros) {
        while let Some(heard) = self.endpoint.receive(&mut bytes, now) {
            match heard {
                Heard::Packet(packet) | Heard::Request(packet) => {
                    if let Some((number, reply)) = Reply::of(&packet) {
                        self.replied(number, reply, now);
                    }
                    if let Some(incoming) = Incoming::of(&packet) {
                        self.take_in(incoming);
                    }
                }
                Heard::Up(_) => (self.refused, self.foreign) = (false, None),
                Heard::Down(reason @ (Down::Unkeyed | Down::WrongKey)) => self.foreign = Some(reason),
                Heard::Down(_) => {}
            }
        }
    }

    /// Keeps a message if there is room. If not, only the sender of a request is notified.
    fn take_in(&mut self, incoming: Incoming) {
        let room = self.messages.len() < MAX_MESSAGES;
        match &incoming.pending {
            Some(pending) if !self.takes_requests => {
                self.respond_with(pending, AppStatus::PortUnreachable, &[]);
            }
            Some(pending) if !room => {
                self.respond_with(pending, AppStatus::Busy, &[]);
            }
            _ if room => self.messages.push_back(incoming),
            _ => {}
        }
    }

    /// The replies since the last call, with the numbers of their requests.
    pub fn replies(&mut self) -> Vec<(u32, Reply)> {
        std::mem::take(&mut self.replies)
    }

    /// The messages for this host since the last call.
    pub fn messages(&mut self) -> VecDeque<Incoming> {
        std::mem::take(&mut self.messages)
    }

    /// The bytes to send now; none while the previous ones are still on the wire.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_nobody_fetches_are_bounded() {
        const BAUD: u32 = 1_000_000;
        let mut board: Endpoint<WINDOW> = Endpoint::board(0, 1, 7, BAUD, 0);
        let mut host = HostPort::new(9, BAUD, 0);
        let mut sent = 0_u16;
        for now in (0..10_000_000).step_by(1_000) {
            if board.is_up() && board.has_room() && usize::from(sent) < MAX_MESSAGES + 50 {
                let content = Content::Datagram(Addressed {
                    port: AppPort(16),
                    payload: &sent.to_le_bytes(),
                });
                let packet = board.packet(0, &content).expect("a short packet");
                board.send(packet).expect("room");
                sent += 1;
            }
            let mut out = [0; WIRE];
            board.tick(now);
            let length = board.transmit(now, &mut out);
            host.receive(&out[..length], now);
            let response = host.transmit(now);
            let mut response = &response[..];
            while board.receive(&mut response, now).is_some() {}
        }
        assert!(usize::from(sent) == MAX_MESSAGES + 50 && board.is_idle());
        let messages = host.messages();
        let expected = (0..MAX_MESSAGES as u16).map(|number| number.to_le_bytes().to_vec());
        assert!(messages.iter().map(|message| message.bytes.clone()).eq(expected));
    }
}
