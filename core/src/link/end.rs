//! One end: what it has heard, what is on the way, and when to send what.

use super::state::{Change, Hears, LinkState, Peer};
use super::window::{Arrival, Fate, Receiver, Sender, Sent, Token};
use super::{Down, Micros, Received, Turn};
use crate::wire::{
    Ack, DataHeader, Frame, FrameError, Hello, Identity, LinkCounters, Offer, write_ack, write_data, write_hello,
};

/// Between two hellos of a quiet link that is up, at any speed of the wire where that is not too often.
const HELLO_INTERVAL: Micros = 100_000;
/// A hello takes at most a tenth of a slow wire.
const HELLO_BYTES: Micros = 400;
/// A link that is down says hello more often.
const HELLO_WHILE_DOWN: Micros = 2;
/// Without a frame for so many intervals, in halves, the link is down.
const DEAD_HALF_INTERVALS: Micros = 7;
/// An answer to news from the other end waits at least so long after the last hello, in bytes of the wire.
const HELLO_SPACING: Micros = 60;
/// Where there was said to be no room it is tried again after so long, should the word that there is some have been lost.
const CLOSED_FOR: Micros = 20_000;
/// An acknowledgement comes at most two frames later; and the other end takes some time to think.
const TIMEOUT_FRAMES: Micros = 3;
const THINKING: Micros = 2_000;
/// Each time nothing is acknowledged, the sender waits twice as long, so many times.
const MAX_BACKOFF: u8 = 3;

#[derive(Clone, Debug)]
pub(super) struct End {
    identity: Identity,
    /// How long a byte takes on the wire, in nanoseconds.
    byte_nanos: u32,
    /// The largest frame, encoded.
    wire: u16,
    state: LinkState,
    session: u8,
    /// By which the other end names this session.
    tag: u16,
    hello_at: Micros,
    hello_sent_at: Micros,
    sender: Sender,
    receiver: Receiver,
    ack_due: bool,
    /// Lanes with room here, now and as last told.
    room_here: Offer,
    told_room: Offer,
    /// Lanes with room there, and until when one without is left alone.
    room_there: Offer,
    closed_until: Micros,
    /// When what is on the way is sent again; never if nothing is.
    timeout_at: Micros,
    backoff: u8,
    pub(super) counters: LinkCounters,
}

const FIRST_SESSION: u8 = 1;

/// Counters go round rather than stop.
fn count(counter: &mut u32) {
    *counter = counter.wrapping_add(1);
}

impl End {
    pub(super) fn new(identity: Identity, baud: u32, wire: usize, now: Micros) -> Self {
        End {
            identity,
            // A start bit, eight of data, a stop bit.
            byte_nanos: (10_000_000_000 / u64::from(baud.max(1))).min(u64::from(u32::MAX)) as u32,
            wire: wire.min(usize::from(u16::MAX)) as u16,
            state: LinkState::Silent,
            session: FIRST_SESSION,
            tag: identity.tag(FIRST_SESSION),
            hello_at: now,
            hello_sent_at: now,
            sender: Sender::default(),
            receiver: Receiver::default(),
            ack_due: false,
            room_here: Offer::ALL,
            told_room: Offer::ALL,
            room_there: Offer::ALL,
            closed_until: Micros::MAX,
            timeout_at: Micros::MAX,
            backoff: 0,
            counters: LinkCounters::default(),
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.state.is_up()
    }

    pub(super) fn is_one_way(&self) -> bool {
        self.state.is_one_way()
    }

    pub(super) fn peer(&self) -> Option<Identity> {
        self.state.peer().map(|peer| peer.identity)
    }

    pub(super) fn offer(&mut self, room: Offer) {
        self.room_here = room;
        // Good news is worth a frame of its own; bad news goes with the next acknowledgement.
        self.ack_due |= self.is_up() && room.is_news_after(self.told_room);
    }

    pub(super) fn receive<'a>(&mut self, frame: Result<&'a [u8], FrameError>, now: Micros) -> Received<'a> {
        let frame = match frame.and_then(Frame::read) {
            Ok(frame) => frame,
            Err(error) => return self.damaged(error),
        };
        count(&mut self.counters.frames_received);
        match frame {
            Frame::Hello(hello) => self.hear(&hello, now),
            Frame::OtherVersion(version) => {
                let change = self.state.other_version(version);
                self.follow(change, now)
            }
            Frame::Ack(ack) => match self.acknowledged(&ack, now) {
                Ok(()) => Received::Frame,
                Err(received) => received,
            },
            Frame::Data { header, packet } => {
                if let Err(received) = self.acknowledged(&header.ack, now) {
                    return received;
                }
                self.ack_due = true;
                match self.receiver.arrive(header.sequence, header.round) {
                    Arrival::InOrder => {
                        count(&mut self.counters.packets_received);
                        // Until it is taken.
                        count(&mut self.counters.not_taken);
                        let lane = header.lane;
                        Received::Packet { lane, packet }
                    }
                    Arrival::Repeated | Arrival::Early => {
                        count(&mut self.counters.useless);
                        Received::Frame
                    }
                }
            }
        }
    }

    fn damaged<'a>(&mut self, error: FrameError) -> Received<'a> {
        count(&mut self.counters.damaged);
        if self.is_up() {
            self.ack_due |= self.receiver.damaged();
        }
        Received::Damaged(error)
    }

    /// Takes an acknowledgement in, if it is of this session.
    fn acknowledged<'a>(&mut self, ack: &Ack, now: Micros) -> Result<(), Received<'a>> {
        if self.state.peer().is_none() || ack.tag != self.tag {
            count(&mut self.counters.useless);
            return Err(Received::Frame);
        }
        let change = self.state.named(self.heard_until(now));
        if change != Change::None {
            // The link was not up. Should a packet be in the frame, it is sent again.
            return Err(self.follow(change, now));
        }
        self.room_there = ack.offer;
        self.closed_until = if ack.offer.packets() == 0 {
            now.saturating_add(CLOSED_FOR)
        } else {
            Micros::MAX
        };
        let progress = self.sender.acknowledge(ack);
        if progress.settled > 0 || progress.back {
            self.backoff = 0;
            self.timeout_at = if self.sender.idle() {
                Micros::MAX
            } else {
                now.saturating_add(self.timeout())
            };
        }
        Ok(())
    }

    fn hear<'a>(&mut self, hello: &Hello, now: Micros) -> Received<'a> {
        let hears = match hello.heard {
            0 => Hears::Nobody,
            tag if tag == self.tag => Hears::Us,
            _ => Hears::Another,
        };
        let (change, answer) = self.state.hello(Peer::of(hello), hears, self.heard_until(now));
        if answer {
            self.answer_soon(now);
        }
        self.follow(change, now)
    }

    /// Does what a change of state asks for, and says what came of it.
    fn follow<'a>(&mut self, change: Change, now: Micros) -> Received<'a> {
        match change {
            Change::None => Received::Frame,
            Change::Begins(peer) => {
                self.begin_session();
                Received::Up(peer)
            }
            Change::Ends(reason) => {
                self.end_session(now);
                Received::Down(reason)
            }
            Change::Prevented(reason) => Received::Down(reason),
        }
    }

    fn begin_session(&mut self) {
        self.ack_due = false;
        self.told_room = Offer::ALL;
        self.room_there = Offer::ALL;
        self.closed_until = Micros::MAX;
        count(&mut self.counters.sessions);
    }

    /// Gives the session up: the next one has another number.
    fn end_session(&mut self, now: Micros) {
        self.session = self.session.wrapping_add(1);
        self.tag = self.identity.tag(self.session);
        self.receiver = Receiver::default();
        self.timeout_at = Micros::MAX;
        self.backoff = 0;
        self.ack_due = false;
        self.answer_soon(now);
    }

    fn answer_soon(&mut self, now: Micros) {
        self.hello_at = self
            .hello_at
            .min(now.max(self.hello_sent_at.saturating_add(self.bytes(HELLO_SPACING))));
    }

    pub(super) fn take(&mut self) {
        self.receiver.take();
        self.counters.not_taken = self.counters.not_taken.wrapping_sub(1);
    }

    pub(super) fn settled(&mut self) -> Option<(Token, Fate)> {
        let settled = self.sender.next_settled()?;
        if settled.1 == Fate::Refused {
            count(&mut self.counters.refused_by_peer);
        }
        Some(settled)
    }

    pub(super) fn abandoned(&mut self) -> Option<Token> {
        if self.is_up() {
            return None;
        }
        let token = self.sender.abandon();
        if token.is_none() {
            // All are fetched: the next session begins at the beginning.
            self.sender = Sender::default();
        }
        token
    }

    pub(super) fn tick(&mut self, now: Micros) -> Option<Down> {
        let change = self.state.tick(now);
        if let Received::Down(reason) = self.follow(change, now) {
            return Some(reason);
        }
        if now >= self.closed_until {
            // Should the word that there is room have been lost.
            self.room_there = Offer::ONE;
            self.closed_until = Micros::MAX;
        }
        if now >= self.timeout_at {
            count(&mut self.counters.timeouts);
            self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
            self.sender.go_back();
            self.timeout_at = Micros::MAX;
        }
        None
    }

    pub(super) fn deadline(&self) -> Micros {
        let silence = self.state.deadline();
        self.hello_at.min(silence).min(self.timeout_at).min(self.closed_until)
    }

    /// Whether there is something to send besides new packets.
    pub(super) fn is_due(&self, now: Micros) -> bool {
        now >= self.hello_at || self.is_up() && (self.ack_due || self.sender.behind())
    }

    pub(super) fn turn(&mut self, now: Micros) -> Turn {
        if now >= self.hello_at {
            return Turn::Control;
        }
        if !self.is_up() {
            return Turn::Nothing;
        }
        if let Some(sent) = self.sender.again() {
            return Turn::Again(sent.token);
        }
        if self.sender.has_room() {
            return Turn::New(self.room_there.without(self.sender.lanes()));
        }
        if self.ack_due { Turn::Control } else { Turn::Nothing }
    }

    pub(super) fn write_control(&mut self, now: Micros, out: &mut [u8]) -> Option<usize> {
        if now >= self.hello_at {
            return self.write_hello(now, out);
        }
        if !self.is_up() || !self.ack_due {
            return None;
        }
        let ack = self.acknowledgement()?;
        let length = write_ack(&ack, out)?;
        self.sent(length, now);
        Some(length)
    }

    fn write_hello(&mut self, now: Micros, out: &mut [u8]) -> Option<usize> {
        let hello = Hello {
            identity: self.identity,
            session: self.session,
            heard: self.state.peer().map_or(0, |peer| peer.tag),
        };
        let length = write_hello(&hello, out)?;
        self.hello_sent_at = now;
        self.sent(length, now);
        Some(length)
    }

    pub(super) fn write_packet(
        &mut self,
        token: Token,
        lane: u8,
        packet: [&[u8]; 2],
        now: Micros,
        out: &mut [u8],
    ) -> Option<usize> {
        if !self.is_up() {
            return None;
        }
        let again = match self.sender.again() {
            Some(sent) => sent.token == token && sent.lane == lane,
            None => false,
        };
        if !again && !self.sender.push(Sent { token, lane }) {
            return None;
        }
        let ack = self.acknowledgement()?;
        let (sequence, round) = self.sender.advance();
        let header = DataHeader {
            ack,
            sequence,
            round,
            lane,
        };
        let length = write_data(&header, packet, again, out)?;
        count(if again {
            &mut self.counters.resent
        } else {
            &mut self.counters.packets_sent
        });
        self.sent(length, now);
        if self.timeout_at == Micros::MAX {
            let sent_at = now.saturating_add(self.bytes(length as u64));
            self.timeout_at = sent_at.saturating_add(self.timeout());
        }
        Some(length)
    }

    fn acknowledgement(&mut self) -> Option<Ack> {
        let tag = self.state.peer()?.tag;
        self.ack_due = false;
        self.told_room = self.room_here;
        Some(self.receiver.acknowledgement(tag, self.room_here))
    }

    /// Any frame says that we are here: the next hello is due after a quiet interval.
    fn sent(&mut self, length: usize, now: Micros) {
        count(&mut self.counters.frames_sent);
        let interval = if self.is_up() {
            self.interval()
        } else {
            self.interval() / HELLO_WHILE_DOWN
        };
        self.hello_at = now.saturating_add(self.bytes(length as u64) + interval);
    }

    pub(super) fn bytes(&self, bytes: u64) -> Micros {
        let nanos = bytes * u64::from(self.byte_nanos);
        match u32::try_from(nanos) {
            // As of all frames at usual rates; a Cortex-M divides 32 bits in one instruction and calls a routine for 64.
            Ok(nanos) => Micros::from(nanos.div_ceil(1_000)),
            Err(_) => nanos.div_ceil(1_000),
        }
    }

    fn interval(&self) -> Micros {
        HELLO_INTERVAL.max(self.bytes(HELLO_BYTES))
    }

    /// Until when what is heard now is recent.
    fn heard_until(&self, now: Micros) -> Micros {
        now.saturating_add(self.interval() * DEAD_HALF_INTERVALS / 2)
    }

    fn timeout(&self) -> Micros {
        (self.bytes(u64::from(self.wire)) * TIMEOUT_FRAMES + THINKING) << self.backoff
    }
}
