//! The state of one end: hello, session, and what is on the way.

use super::frame::{Ack, Frame, FrameError, write_ack, write_data, write_hello};
use super::hello::{Hello, Identity, VERSION};
use super::window::{Arrival, Fate, Receiver, Sender, Sent, Token};
use super::{Down, LinkCounters, Micros, Offer, Received, Turn};

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
/// So many hellos of an end that does not hear us, in a row, are no coincidence.
const UNHEARD_HELLOS: u8 = 4;
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
    up: bool,
    session: u8,
    /// Of this session.
    tag: u16,
    peer: Option<Peer>,
    /// The link is down if nothing is heard until then.
    dead_at: Micros,
    unheard_hellos: u8,
    one_way: bool,
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

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Peer {
    identity: Identity,
    session: u8,
    tag: u16,
}

impl Peer {
    fn of(hello: &Hello) -> Self {
        Peer {
            identity: hello.identity,
            session: hello.session,
            tag: hello.identity.tag(hello.session),
        }
    }
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
            up: false,
            session: FIRST_SESSION,
            tag: identity.tag(FIRST_SESSION),
            peer: None,
            dead_at: now,
            unheard_hellos: 0,
            one_way: false,
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
        self.up
    }

    pub(super) fn is_one_way(&self) -> bool {
        self.one_way
    }

    pub(super) fn peer(&self) -> Option<Identity> {
        self.peer.map(|peer| peer.identity)
    }

    pub(super) fn offer(&mut self, room: Offer) {
        self.room_here = room;
        // Good news is worth a frame of its own; bad news goes with the next acknowledgement.
        self.ack_due |= self.up && room.is_news_after(self.told_room);
    }

    pub(super) fn receive<'a>(&mut self, frame: Result<&'a [u8], FrameError>, now: Micros) -> Received<'a> {
        let frame = match frame.and_then(Frame::read) {
            Ok(frame) => frame,
            Err(error) => return self.damaged(error),
        };
        count(&mut self.counters.frames_received);
        match frame {
            Frame::Hello(hello) => self.hear(&hello, now),
            Frame::Ack(ack) => match self.acknowledged(&ack, now) {
                Ok(()) => Received::Frame,
                Err(received) => received,
            },
            Frame::Data {
                ack,
                sequence,
                round,
                lane,
                packet,
            } => {
                if let Err(received) = self.acknowledged(&ack, now) {
                    return received;
                }
                self.ack_due = true;
                match self.receiver.arrive(sequence, round) {
                    Arrival::InOrder => {
                        count(&mut self.counters.packets_received);
                        count(&mut self.counters.refused_here);
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
        if self.up {
            self.ack_due |= self.receiver.damaged();
        }
        Received::Damaged(error)
    }

    /// Takes an acknowledgement in, if it is of this session.
    fn acknowledged<'a>(&mut self, ack: &Ack, now: Micros) -> Result<(), Received<'a>> {
        let Some(peer) = self.peer.filter(|_| ack.tag == self.tag) else {
            count(&mut self.counters.useless);
            return Err(Received::Frame);
        };
        self.heard(now);
        if !self.up {
            // It names our session, so it hears us. Should a packet be in the frame, it is sent again.
            return Err(self.come_up(peer.identity));
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
        if hello.version != VERSION {
            self.end_session(Down::Version(hello.version), now);
            return Received::Down(Down::Version(hello.version));
        }
        let before = self.peer.replace(Peer::of(hello));
        self.heard(now);
        let news = before != self.peer;
        if news {
            self.answer_soon(now);
        }
        let heard_us = hello.heard == self.tag;
        if self.up {
            if !news {
                return self.hear_again(heard_us, now);
            }
            let ended = self.end_session(reason(before, hello), now);
            self.peer = Some(Peer::of(hello));
            return ended.unwrap_or(Received::Frame);
        }
        if heard_us {
            self.answer_soon(now);
            return self.come_up(hello.identity);
        }
        self.unheard_hellos = self.unheard_hellos.saturating_add(1);
        if self.unheard_hellos == UNHEARD_HELLOS {
            self.one_way = true;
            return Received::Down(Down::OneWay);
        }
        if hello.heard != 0 {
            // It has heard an earlier session of ours.
            self.answer_soon(now);
        }
        Received::Frame
    }

    /// The other end says hello while the link is up.
    fn hear_again<'a>(&mut self, heard_us: bool, now: Micros) -> Received<'a> {
        if heard_us {
            self.unheard_hellos = 0;
            return Received::Frame;
        }
        // It is not up, and cannot be without a hello: data that goes on all the time must not hold that up.
        self.answer_soon(now);
        self.unheard_hellos = self.unheard_hellos.saturating_add(1);
        if self.unheard_hellos < UNHEARD_HELLOS {
            return Received::Frame;
        }
        self.end_session(Down::OneWay, now);
        // It has been said.
        self.unheard_hellos = UNHEARD_HELLOS;
        self.one_way = true;
        Received::Down(Down::OneWay)
    }

    fn come_up<'a>(&mut self, peer: Identity) -> Received<'a> {
        self.up = true;
        self.one_way = false;
        self.unheard_hellos = 0;
        self.ack_due = false;
        self.told_room = Offer::ALL;
        self.room_there = Offer::ALL;
        self.closed_until = Micros::MAX;
        count(&mut self.counters.sessions);
        Received::Up(peer)
    }

    /// Gives the session up and begins another; `None` if there was none.
    fn end_session<'a>(&mut self, reason: Down, now: Micros) -> Option<Received<'a>> {
        self.peer = None;
        if !self.up {
            return None;
        }
        self.up = false;
        self.unheard_hellos = 0;
        self.session = self.session.wrapping_add(1);
        self.tag = self.identity.tag(self.session);
        self.receiver = Receiver::default();
        self.timeout_at = Micros::MAX;
        self.backoff = 0;
        self.ack_due = false;
        self.answer_soon(now);
        Some(Received::Down(reason))
    }

    fn answer_soon(&mut self, now: Micros) {
        self.hello_at = self
            .hello_at
            .min(now.max(self.hello_sent_at.saturating_add(self.bytes(HELLO_SPACING))));
    }

    pub(super) fn take(&mut self) {
        self.receiver.take();
        self.counters.refused_here = self.counters.refused_here.wrapping_sub(1);
    }

    pub(super) fn settled(&mut self) -> Option<(Token, Fate)> {
        let settled = self.sender.next_settled()?;
        if settled.1 == Fate::Refused {
            count(&mut self.counters.refused_there);
        }
        Some(settled)
    }

    pub(super) fn abandoned(&mut self) -> Option<Token> {
        if self.up {
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
        if self.up && now >= self.dead_at {
            self.end_session(Down::Silent, now);
            return Some(Down::Silent);
        }
        if !self.up && self.peer.is_some() && now >= self.dead_at {
            // What was heard is old: it is not answered, and a one-way wire is not one any more.
            self.peer = None;
            self.unheard_hellos = 0;
            if self.one_way {
                self.one_way = false;
                return Some(Down::Silent);
            }
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
        let dead = if self.peer.is_some() { self.dead_at } else { Micros::MAX };
        self.hello_at.min(dead).min(self.timeout_at).min(self.closed_until)
    }

    /// Whether there is something to send besides new packets.
    pub(super) fn is_due(&self, now: Micros) -> bool {
        now >= self.hello_at || self.up && (self.ack_due || self.sender.behind())
    }

    pub(super) fn turn(&mut self, now: Micros) -> Turn {
        if now >= self.hello_at {
            return Turn::Control;
        }
        if !self.up {
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
        if !self.up || !self.ack_due {
            return None;
        }
        let ack = self.acknowledgement()?;
        let length = write_ack(&ack, out)?;
        self.sent(length, now);
        Some(length)
    }

    fn write_hello(&mut self, now: Micros, out: &mut [u8]) -> Option<usize> {
        let hello = Hello {
            version: VERSION,
            identity: self.identity,
            session: self.session,
            heard: self.peer.map_or(0, |peer| peer.tag),
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
        if !self.up {
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
        let length = write_data(&ack, sequence, round, lane, packet, again, out)?;
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
        let peer = self.peer?;
        self.ack_due = false;
        self.told_room = self.room_here;
        Some(self.receiver.acknowledgement(peer.tag, self.room_here))
    }

    /// Any frame says that we are here: the next hello is due after a quiet interval.
    fn sent(&mut self, length: usize, now: Micros) {
        count(&mut self.counters.frames_sent);
        let interval = if self.up {
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

    fn heard(&mut self, now: Micros) {
        self.dead_at = now.saturating_add(self.interval() * DEAD_HALF_INTERVALS / 2);
    }

    fn timeout(&self) -> Micros {
        (self.bytes(u64::from(self.wire)) * TIMEOUT_FRAMES + THINKING) << self.backoff
    }
}

/// What a hello that differs from the one before tells.
fn reason(before: Option<Peer>, hello: &Hello) -> Down {
    match before {
        Some(Peer { identity, .. })
            if (identity.address, identity.role) != (hello.identity.address, hello.identity.role) =>
        {
            Down::Replaced
        }
        Some(Peer { identity, .. }) if identity.epoch != hello.identity.epoch => Down::Restarted,
        _ => Down::Ended,
    }
}
