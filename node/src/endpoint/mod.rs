//! A single link that sends and answers requests: a host, or one link of a board without a config, which is in no mesh.
//!
//! Like a [`Router`](crate::router::Router) an [`Endpoint`] does no I/O: bytes and the time go in, bytes come out. It forwards
//! nothing, so it has no virtual channels and no pool: `SLOTS` packets wait for the link or are in flight, in sending order.
//! A caller with more packets keeps them until there is [room](Endpoint::has_room).

use heapless::Vec;

use crate::cipher::Cipher;
use crate::key::Credentials;
use crate::limits::BODY;
use crate::link::{Down, FrameResult, Link, Micros, Received, Token, Turn};
use crate::service::{self, Subject};
use crate::wire::{
    BoardInfo, Body, Content, DropReason, Header, Identity, Kind, LinkReport, MAX_PACKET, NodeReport, Packet, Query,
    Request, Response, Role, RouterCounters, WIRE,
};
use hopwise_core::Node;

/// One end of a link that is not a router.
#[derive(Clone, Debug)]
pub struct Endpoint<const SLOTS: usize> {
    identity: Identity,
    started: Micros,
    /// The number of links of the board.
    links: u8,
    link: Link<WIRE>,
    outgoing: Vec<Outgoing, SLOTS>,
    next_number: u32,
    next_confirmed: u32,
    counters: RouterCounters,
    card: BoardInfo,
    /// Present where payloads are encrypted.
    cipher: Option<Cipher>,
}

/// A packet until the other end has it.
#[derive(Clone, Debug)]
struct Outgoing {
    token: Token,
    under_way: bool,
    packet: Packet<BODY>,
}

/// A received event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one at a time, and it is read at once"
)]
pub enum Heard {
    /// Both ends hear and accept each other.
    Up(Identity),
    /// They no longer do, or [never did](Down::Refused).
    Down(Down),
    /// A request for the board around the endpoint, relayed or not, or for an application of the host. [`Endpoint::reply`] answers it, and
    /// has room for that if it is called at once, unless it is a relayed one.
    Request(Packet<BODY>),
    /// Any other packet, with its [content](Packet::content).
    Packet(Packet<BODY>),
}

impl<const SLOTS: usize> Endpoint<SLOTS> {
    /// A host that says hello. The epoch must differ from the previous one, and not be 0.
    pub fn host(epoch: u32, baud: u32, now: Micros) -> Self {
        Endpoint::new(Role::Host, 0, 1, epoch, baud, now)
    }

    /// A link of a board with this many links, in no mesh, that says hello.
    pub fn board(link: u8, links: u8, epoch: u32, baud: u32, now: Micros) -> Self {
        Endpoint::new(Role::Node, link, links, epoch, baud, now)
    }

    fn new(role: Role, port: u8, links: u8, epoch: u32, baud: u32, now: Micros) -> Self {
        const {
            assert!(SLOTS > 0, "an endpoint without a slot cannot say a word");
            assert!(SLOTS <= Token::MAX as usize, "each slot has a token");
        }
        let identity = Identity {
            role,
            // No expression has this ID except by chance.
            network: 0,
            address: 0,
            port,
            epoch,
            mtu: MAX_PACKET as u16,
        };
        // As random as the epoch, so that a response to an earlier host is not taken for one to this host.
        let first_number = epoch.wrapping_mul(0x9e37_79b9);
        Endpoint {
            identity,
            started: now,
            links,
            link: Link::welcoming(identity, baud, now),
            outgoing: Vec::new(),
            next_number: first_number,
            next_confirmed: first_number.rotate_left(16),
            counters: RouterCounters::default(),
            card: BoardInfo::default(),
            cipher: None,
        }
    }

    /// Restricts the link to an end with the same key. Must be called before anything is sent.
    pub fn lock(&mut self, credentials: &Credentials) {
        self.link.lock(credentials);
        self.cipher = Cipher::of(&credentials.secret);
        if self.cipher.is_some() {
            // Nonces must not repeat, and the epoch of a host is only its clock.
            let [n0, n1, n2, n3, c0, c1, c2, c3, ..] = credentials.random;
            self.next_number ^= u32::from_le_bytes([n0, n1, n2, n3]);
            self.next_confirmed ^= u32::from_le_bytes([c0, c1, c2, c3]);
        }
    }

    /// Whether both ends hear and accept each other.
    pub fn is_up(&self) -> bool {
        self.link.is_open()
    }

    /// The identity of the other end, if it has been heard recently.
    pub fn peer(&self) -> Option<Identity> {
        self.link.peer()
    }

    /// The version of the wire format that the other end speaks.
    pub fn version(&self) -> u8 {
        self.link.version()
    }

    /// The state of the link.
    pub fn report(&self) -> LinkReport {
        let waiting = self.outgoing.iter().filter(|outgoing| !outgoing.under_way).count();
        self.link.report(false, waiting)
    }

    /// The packet counters.
    pub fn counters(&self) -> &RouterCounters {
        &self.counters
    }

    /// The board information in reports, filled in by the shell.
    pub fn card_mut(&mut self) -> &mut BoardInfo {
        &mut self.card
    }

    /// Whether there is room for another packet.
    pub fn has_room(&self) -> bool {
        !self.outgoing.is_full()
    }

    /// Whether the other end has everything that was sent.
    pub fn is_idle(&self) -> bool {
        self.outgoing.is_empty()
    }

    /// Whether a sent packet of a kind and number is still held.
    pub fn holds(&self, kind: Kind, number: u32) -> bool {
        let is_it =
            |outgoing: &Outgoing| (outgoing.packet.header.kind, outgoing.packet.header.number) == (kind, number);
        self.outgoing.iter().any(is_it)
    }

    /// A request to a node, to be [sent](Self::send).
    pub fn request(&mut self, dest: Node, query: Query, payload: &[u8], now: Micros) -> Option<Packet<BODY>> {
        let asked = now as u32;
        self.packet(dest, &Content::Request(Request { query, asked, payload }))
    }

    /// A packet with the next number of its kind, to be [sent](Self::send); `None` if its content is too long.
    pub fn packet(&mut self, dest: Node, content: &Content<'_>) -> Option<Packet<BODY>> {
        let mut packet = self.packet_of(content.kind(), dest, content.write()?);
        packet.header.traced = matches!(content, Content::Request(request) if request.query == Query::Trace);
        self.can_be_sent(packet)
    }

    /// Returns the packet, unless there is no room to encrypt it.
    fn can_be_sent(&self, packet: Packet<BODY>) -> Option<Packet<BODY>> {
        (self.cipher.is_none() || Cipher::has_room(&packet)).then_some(packet)
    }

    fn packet_of(&mut self, kind: Kind, dest: Node, body: Body<BODY>) -> Packet<BODY> {
        let next = match kind {
            Kind::Confirmed => &mut self.next_confirmed,
            _ => &mut self.next_number,
        };
        let number = *next;
        *next = number.wrapping_add(1);
        let header = Header {
            from_host: self.identity.role == Role::Host,
            epoch: self.identity.epoch as u16,
            number,
            // A router fills in the hops and, for its host, the source.
            ..Header::new(kind, self.identity.address, dest)
        };
        Packet { header, body }
    }

    /// Sends a packet, or returns it if there is no room.
    #[allow(clippy::result_large_err, reason = "who keeps packets gets the same one back")]
    pub fn send(&mut self, packet: Packet<BODY>) -> Result<(), Packet<BODY>> {
        let mut tokens = 0..SLOTS as Token;
        let free = tokens.find(|token| self.outgoing.iter().all(|outgoing| outgoing.token != *token));
        let Some(token) = free else { return Err(packet) };
        let outgoing = Outgoing {
            token,
            under_way: false,
            packet,
        };
        self.outgoing.push(outgoing).map_err(|outgoing| outgoing.packet)?;
        count(&mut self.counters.originated);
        Ok(())
    }

    /// Answers a [request](Heard::Request); `false` if the response is too long or there is no room.
    pub fn reply(&mut self, request_packet: &Packet<BODY>, response: &[u8]) -> bool {
        self.response_to(request_packet, response)
            .is_some_and(|packet| self.send(packet).is_ok())
    }

    /// The response to a [request](Heard::Request), to be [sent](Self::send); `None` if it is too long.
    pub fn response_to(&mut self, request_packet: &Packet<BODY>, response: &[u8]) -> Option<Packet<BODY>> {
        let Some(Content::Request(request)) = request_packet.content() else {
            return None;
        };
        let response = Response {
            query: request.query,
            asked: request.asked,
            number: request_packet.header.number,
            payload: response,
        };
        let packet = self.response(&request_packet.header, response.write()?);
        self.can_be_sent(packet)
    }

    fn response(&mut self, asked: &Header, body: Body<BODY>) -> Packet<BODY> {
        let mut packet = self.packet_of(Kind::Response, asked.source, body);
        packet.header.to_host = asked.from_host;
        packet
    }

    /// Consumes bytes from the front of `input` up to the next event for the shell; `None` when the input is used up.
    pub fn receive(&mut self, input: &mut &[u8], now: Micros) -> Option<Heard> {
        loop {
            let heard = match self.link.receive(input, now)? {
                Received::Packet { length, .. } => {
                    let packet = self
                        .link
                        .header(length)
                        .and_then(|(header, body)| Packet::new(header, body));
                    self.packet_in(packet, now)
                }
                Received::Up(_) | Received::Changed => self.opened(),
                Received::Down(reason) => Some(Heard::Down(reason)),
                Received::Frame | Received::Time(_) | Received::Damaged(_) => None,
            };
            self.settle();
            if heard.is_some() {
                return heard;
            }
        }
    }

    fn opened(&self) -> Option<Heard> {
        let peer = self.link.peer().filter(|_| self.link.is_open());
        peer.map(Heard::Up)
    }

    /// Processes a packet. A request is taken only if there is room for the response; the other end retransmits it. A relayed one is always
    /// taken, as two boards that relay to each other would otherwise wait for each other.
    fn packet_in(&mut self, mut packet: Option<Packet<BODY>>, now: Micros) -> Option<Heard> {
        if let (Some(cipher), Some(coming)) = (&self.cipher, &mut packet)
            && cipher.open(coming).is_none()
        {
            packet = None;
        }
        let content = packet.as_ref().and_then(Packet::content);
        let needs_room = matches!(content, Some(Content::Request(request)) if request.query != Query::Relay);
        if needs_room && !self.has_room() {
            return None;
        }
        self.link.take();
        count(&mut self.counters.received);
        let (Some(packet), Some(content)) = (&packet, content) else {
            self.counters.drop(DropReason::Malformed);
            return None;
        };
        let Content::Request(request) = content else {
            count(&mut self.counters.delivered);
            return Some(Heard::Packet(packet.clone()));
        };
        let for_shell = match request.query {
            Query::Board(_) => true,
            Query::Relay => self.identity.role == Role::Node,
            // A board in no mesh has no applications.
            Query::Application(_) => self.identity.role == Role::Host,
            _ => false,
        };
        if for_shell {
            count(&mut self.counters.delivered);
            return Some(Heard::Request(packet.clone()));
        }
        match service::respond(&request, packet.header.number, self, now) {
            Some(body) => {
                if request.query == Query::ClearCounters {
                    self.clear_counters();
                }
                count(&mut self.counters.delivered);
                let response = self.response(&packet.header, body);
                // Cannot fail: the room was checked.
                let _ = self.send(response);
            }
            None => self.counters.drop(DropReason::Malformed),
        }
        None
    }

    fn clear_counters(&mut self) {
        self.counters = RouterCounters {
            carried_over: self.counters.held(),
            ..RouterCounters::default()
        };
        self.link.clear_counters();
    }

    /// Completes packets that were in flight.
    fn settle(&mut self) {
        while let Some((token, result)) = self.link.completed() {
            match result {
                FrameResult::Taken => {
                    self.outgoing.retain(|outgoing| outgoing.token != token);
                    count(&mut self.counters.forwarded);
                }
                FrameResult::Refused => self.requeue(token),
            }
        }
        while let Some(token) = self.link.abandoned() {
            let is_response = |outgoing: &Outgoing| outgoing.packet.header.kind == Kind::Response;
            if self
                .outgoing
                .iter()
                .any(|outgoing| outgoing.token == token && is_response(outgoing))
            {
                // The sender may be gone, and the next host must not take the response for its own.
                self.outgoing.retain(|outgoing| outgoing.token != token);
                self.counters.drop(DropReason::NoHost);
            } else {
                // A duplicate request is answered twice, which does no harm.
                self.requeue(token);
            }
        }
    }

    fn requeue(&mut self, token: Token) {
        if let Some(outgoing) = self.outgoing.iter_mut().find(|outgoing| outgoing.token == token) {
            outgoing.under_way = false;
        }
    }

    /// Writes the next bytes to send on the free link, and returns their number; 0 if there is nothing to send. `out` has room for [`WIRE`].
    pub fn transmit(&mut self, now: Micros, out: &mut [u8]) -> usize {
        if let Some(peer) = self.link.peer().filter(|peer| usize::from(peer.mtu) < MAX_PACKET) {
            self.drop_too_long(peer.mtu);
        }
        let written = match self.link.turn(now) {
            // An endpoint sends no time signals.
            Turn::Nothing | Turn::Time => None,
            Turn::Control => self.link.write_control(now, out),
            Turn::Retransmit(token) => self.write(token, now, out),
            Turn::New(room) => match self.next_waiting().filter(|_| room.takes(0)) {
                Some(token) => self.write(token, now, out),
                None => {
                    if self.next_waiting().is_some() {
                        self.link.starves(now);
                    }
                    self.link.write_control(now, out)
                }
            },
        };
        written.unwrap_or(0)
    }

    fn next_waiting(&self) -> Option<Token> {
        let mut waiting = self.outgoing.iter().filter(|outgoing| !outgoing.under_way);
        waiting.next().map(|outgoing| outgoing.token)
    }

    /// Drops packets that are too long for the other end.
    fn drop_too_long(&mut self, most: u16) {
        let before = self.outgoing.len();
        self.outgoing
            .retain(|outgoing| outgoing.under_way || outgoing.packet.length() <= usize::from(most));
        (self.outgoing.len()..before).for_each(|_| self.counters.drop(DropReason::NoRoute));
    }

    fn write(&mut self, token: Token, now: Micros, out: &mut [u8]) -> Option<usize> {
        let outgoing = self.outgoing.iter_mut().find(|outgoing| outgoing.token == token)?;
        let mut sealed;
        let packet = match &mut self.cipher {
            None => &outgoing.packet,
            Some(cipher) => {
                sealed = outgoing.packet.clone();
                // The router there will fill in the same.
                sealed.header.source = self.link.peer()?.address;
                if cipher.seal(&mut sealed).is_none() {
                    // All nonces are used up; unencrypted packets can still be sent.
                    self.outgoing.retain(|outgoing| outgoing.token != token);
                    self.counters.drop(DropReason::NoRoute);
                    return None;
                }
                &sealed
            }
        };
        outgoing.under_way = true;
        self.link.write(token, 0, &packet.header, &packet.body, now, out)
    }

    /// Processes timeouts; returns the reason if the link has gone down.
    pub fn tick(&mut self, now: Micros) -> Option<Down> {
        let Some(Received::Down(reason)) = self.link.tick(now) else {
            return None;
        };
        self.settle();
        Some(reason)
    }

    /// The latest time to [`tick`](Self::tick) and [`transmit`](Self::transmit) if nothing is received.
    pub fn deadline(&self) -> Micros {
        self.link.deadline()
    }

    /// The time that bytes take on the wire.
    pub fn wire_time(&self, bytes: usize) -> Micros {
        self.link.wire_time(bytes)
    }
}

impl<const SLOTS: usize> Subject for Endpoint<SLOTS> {
    fn address(&self) -> Node {
        self.identity.address
    }

    fn report(&self, now: Micros) -> NodeReport {
        NodeReport {
            network: self.identity.network,
            address: self.identity.address,
            epoch: self.identity.epoch,
            uptime_ms: now.saturating_sub(self.started) / 1_000,
            links: self.links,
            neighbors: 0,
            neighbors_up: 0,
            card: self.card.clone(),
        }
    }

    fn counters(&self) -> &RouterCounters {
        &self.counters
    }

    fn link_report(&self, link: u8) -> Option<LinkReport> {
        (link == self.identity.port).then(|| self.report())
    }
}

/// Counters wrap rather than saturate.
fn count(counter: &mut u32) {
    *counter = counter.wrapping_add(1);
}

#[cfg(test)]
mod tests;
