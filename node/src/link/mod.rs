//! One cable: hello, sessions, and acknowledged delivery.
//!
//! A [`Link`] is one end of a UART wire. It is given received bytes and the time, and returns events and the
//! bytes to send. It is up once both ends have heard each other, down when nothing has been heard for a while. In between
//! is a session: packets arrive in order, once each, or the session ends and the packets in flight are returned to
//! their sender as [abandoned](End::abandoned), since it is unknown whether they arrived.
//!
//! A link that is up is [open](End::is_open), and packets are sent, once both ends [accept](End::accept) each other on it, which hello
//! tells. A link on which packets do not get through is given up and paused for a while, and so is one that keeps restarting: see
//! `flap_damping`.

mod ack_timeout;
mod canonical;
mod collector;
mod end;
mod flap_damping;
mod rate;
mod security;
mod sequences;
mod state;
mod window;

use core::ops::{Deref, DerefMut};

pub use canonical::CanonicalLink;
use collector::Collector;
pub use end::End;
use serde::{Deserialize, Serialize};
pub use window::{FrameResult, Token, WINDOW};

use crate::capacities::{LinkCapacities, LinkSizes};
use crate::key::Credentials;
use crate::wire::{
    FrameError, Header, Identity, LineFaults, LinkCounters, LinkFault, LinkReport, MAX_HEADER, Offer, Role, TimeSignal,
};

#[cfg(feature = "version-3")]
use crate::wire::version3;

/// Time in microseconds, from any origin.
pub type Micros = u64;

/// The time in milliseconds, which wrap after 49 days, where memory is scarce.
// Not inlined: the compiler would divide, which takes 64 bits a hundred cycles, long before it is known whether that is needed.
#[inline(never)]
pub(crate) fn millis(now: Micros) -> u32 {
    (now / 1_000) as u32
}

/// The reason why a link is not up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum Down {
    /// Nothing is heard.
    Silent,
    /// The other end is heard, but does not hear us: the wire is dead in one direction.
    OneWay,
    /// The other end has restarted.
    Restarted,
    /// The other end ended the session.
    Ended,
    /// The other end speaks another version of the wire format.
    Version(u8),
    /// Another peer is at the other end.
    Replaced,
    /// Packets do not get through, though the ends hear each other: nothing is acknowledged, or everything is refused.
    Stuck,
    /// The other end does not accept this one.
    Refused,
    /// Only one of the ends has a key.
    Unkeyed,
    /// The keys of the two ends differ.
    WrongKey,
}

/// A received event.
#[expect(missing_docs, reason = "the names of the fields say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A [packet](Link::packet) in order, and the virtual channel in which it waits. [`End::take`] must be called next if there is room for it.
    Packet { channel: u8, length: u16 },
    /// A time signal of the other end.
    Time(TimeSignal),
    /// A frame that the link has fully processed.
    Frame,
    /// Both ends hear each other.
    Up(Identity),
    /// Whether the link is [open](End::is_open), or [may be accepted](End::may_accept), has changed.
    Changed,
    /// The session is over. The packets in flight are [abandoned](End::abandoned).
    Down(Down),
    /// Not a frame.
    Damaged(FrameError),
}

/// What may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// [`End::write_control`] has something to send.
    Control,
    /// [`End::write_time`] is wanted.
    Time,
    /// The packet of this token is to be retransmitted.
    Retransmit(Token),
    /// A new packet that the other end has room for; [`End::write_control`] if there is none.
    New(Offer),
    /// Nothing for now.
    Nothing,
}

/// One end of a wire. `WIRE` is the [encoded length](crate::wire::encoded_len) of the largest frame; for a window and sequence numbers other
/// than a board's see [`LinkSizes`].
pub type Link<const WIRE: usize> = LinkOf<LinkSizes<WIRE>>;

/// One end of a wire, with sizes of its own.
#[derive(Clone, Debug)]
pub struct LinkOf<L: LinkCapacities> {
    collector: Collector<L::Frame>,
    /// Where the packet of the last frame begins.
    packet_begin: u8,
    end: End<L>,
}

/// What does not need the bytes of a frame.
impl<L: LinkCapacities> Deref for LinkOf<L> {
    type Target = End<L>;

    fn deref(&self) -> &End<L> {
        &self.end
    }
}

impl<L: LinkCapacities> DerefMut for LinkOf<L> {
    fn deref_mut(&mut self) -> &mut End<L> {
        &mut self.end
    }
}

impl<L: LinkCapacities> LinkOf<L> {
    /// An end that says hello at once.
    pub fn new(identity: Identity, baud: u32, now: Micros) -> Self {
        let collector = Collector::new();
        LinkOf {
            end: End::new(identity, baud, collector.room(), now),
            packet_begin: 0,
            collector,
        }
    }

    /// Like [`new`](Self::new), and accepts any peer.
    pub fn welcoming(identity: Identity, baud: u32, now: Micros) -> Self {
        let mut link = LinkOf::new(identity, baud, now);
        link.accept(true, now);
        link
    }

    /// Sets the speed of the wire. Must be called before it is [locked](Self::lock).
    pub fn set_baud(&mut self, baud: u32) {
        self.end.set_baud(baud, self.collector.room());
    }

    /// The fastest rate that it may have.
    pub fn fastest_baud(&self) -> u32 {
        self.end.fastest_baud()
    }

    /// The rate that the serial port must have from now on, if it is another than before. To be called whenever nothing is being sent,
    /// before anything else is written; [`is_due`](End::is_due) while there is one.
    pub fn take_baud(&mut self) -> Option<u32> {
        self.end.take_baud(self.collector.room())
    }

    /// Restricts the link to an end with the same key, and authenticates this one. Must be called before anything is sent.
    pub fn lock(&mut self, credentials: &Credentials) {
        self.end.lock(credentials, self.collector.room());
    }

    /// The fault of a link whose other end is heard.
    pub fn fault(&self) -> LinkFault {
        match self.foreigner() {
            Some(Down::Unkeyed) => LinkFault::Unkeyed,
            Some(Down::WrongKey) => LinkFault::WrongKey,
            Some(_) => LinkFault::Version,
            None if self.is_one_way() => LinkFault::OneWay,
            None => LinkFault::None,
        }
    }

    /// Its state, given whether it leads to a neighbor and how many packets wait for it.
    pub(crate) fn report(&self, wired: bool, waiting: usize) -> LinkReport {
        let peer = self.peer();
        LinkReport {
            up: self.is_up(),
            fault: self.fault(),
            peer: peer.map(|peer| (peer.network, peer.address, peer.port)),
            host: peer.is_some_and(|peer| peer.role == Role::Host),
            wired,
            waiting: waiting as u8,
            counters: *self.counters(),
            baud: self.baud(),
        }
    }

    /// The counters since the start or the last [`clear_counters`](Self::clear_counters).
    pub fn counters(&self) -> &LinkCounters {
        &self.end.counters
    }

    /// Counts line faults that the serial port has detected.
    pub fn note_line_faults(&mut self, faults: LineFaults) {
        self.end.counters.note(faults);
    }

    /// Resets the counters.
    pub fn clear_counters(&mut self) {
        self.end.counters = LinkCounters::default();
    }

    /// Consumes bytes from the front of `input` up to the end of a frame and returns its event; `None` when the input is used
    /// up. Call [`completed`](End::completed) and [`abandoned`](End::abandoned) after each.
    pub fn receive(&mut self, input: &mut &[u8], now: Micros) -> Option<Received> {
        let Some(frame) = self.collector.next(input, self.end.check()) else {
            if self.collector.is_partial() {
                self.end.hear_bytes(now);
            }
            return None;
        };
        let frame = frame.and_then(|frame| {
            let bytes = self.collector.bytes().get(..frame.length);
            Ok((bytes.ok_or(FrameError::TooLong)?, frame))
        });
        let received = self.end.receive(frame, now);
        if let (Received::Packet { length, .. }, Ok((bytes, _))) = (received, frame) {
            let after = usize::from(length) + self.end.ending();
            self.packet_begin = bytes.len().saturating_sub(after) as u8;
        }
        Some(received)
    }

    /// The bytes of the [packet](Received::Packet) of this length that was just received.
    pub fn packet(&self, length: u16) -> &[u8] {
        let rest = self.collector.bytes().get(self.packet_begin.into()..);
        rest.and_then(|rest| rest.get(..length.into())).unwrap_or(&[])
    }

    /// The same as a header and a body; `None` if it is malformed.
    pub fn header(&mut self, length: u16) -> Option<(Header, &[u8])> {
        let rest = self.collector.bytes().get(self.packet_begin.into()..)?;
        let packet = rest.get(..length.into())?;
        match self.version() {
            #[cfg(feature = "version-3")]
            version3::VERSION_3 => version3::read_header(packet),
            _ => self.end.sequences.read(packet),
        }
    }

    /// The time that bytes take on the wire.
    pub fn wire_time(&self, bytes: usize) -> Micros {
        self.end.bytes(bytes as u64)
    }

    /// The same for a header and a body. The header leaves out what the other end knows of the source.
    pub fn write(
        &mut self,
        token: Token,
        channel: u8,
        header: &Header,
        body: &[u8],
        now: Micros,
        out: &mut [u8],
    ) -> Option<usize> {
        let mut bytes = [0; MAX_HEADER];
        let is_retransmission = self.end.is_retransmission(token);
        let is_brief = !is_retransmission && self.end.sequences.may_be_brief(header);
        let length = match self.version() {
            #[cfg(feature = "version-3")]
            version3::VERSION_3 => version3::write_header(header, &mut bytes)?,
            _ => header.write_any(is_brief, &mut bytes)?,
        };
        let parts = [bytes.get(..length)?, body];
        let sent = self.end.write_packet(token, channel, parts, now, out)?;
        if !is_brief {
            self.end.sequences.sent(header, token, is_retransmission);
        }
        Some(sent)
    }
}
