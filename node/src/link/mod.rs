//! One cable: hello, sessions, and acknowledged delivery.
//!
//! A [`Link`] is one end of a UART wire. It takes the bytes that come and the time, and says what they mean; it gives the
//! bytes to send. It is up once both ends have heard each other, down when nothing has been heard for a while. In between
//! is a session: packets arrive in order, once each, or the session ends and the packets that were on the way come back to
//! their sender as [abandoned](Link::abandoned), their fate unknown.
//!
//! A link that is up is [open](Link::is_open), and packets are sent, once both ends [accept](Link::accept) each other on it. Hello
//! says so. A link on which packets do not come through is given up and left alone for a while, and so is one that comes up again
//! and again: see `flap_damping`.

mod ack_timeout;
mod canonical;
mod collector;
mod end;
mod flap_damping;

mod security;
mod state;
mod window;

pub use canonical::CanonicalLink;
use collector::Collector;
use end::End;
use serde::{Deserialize, Serialize};
pub use window::{Fate, Token, WINDOW};

use crate::capacities::{LinkCapacities, LinkSizes};
use crate::key::Credentials;
use crate::wire::{FrameError, Identity, LineFaults, LinkCounters, LinkTrouble, Offer, TimeSignal};

/// Time in microseconds, from any beginning.
pub type Micros = u64;

/// The same in milliseconds, where bytes are dear: they go round after 49 days.
pub(crate) fn millis(now: Micros) -> u32 {
    (now / 1_000) as u32
}

/// Why a link is not up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum Down {
    /// Nothing is heard.
    Silent,
    /// The other end speaks, but does not hear us: the wire is dead in one direction.
    OneWay,
    /// The other end has restarted.
    Restarted,
    /// The other end gave the session up.
    Ended,
    /// The other end speaks another version of the wire format.
    Version(u8),
    /// The other end is not who was there before.
    Replaced,
    /// Packets do not come through, though the ends hear each other: nothing is acknowledged, or all is refused.
    Stuck,
    /// The other end does not want this one there.
    Refused,
    /// One of the ends has a key, the other has none.
    Unkeyed,
    /// The other end has another key.
    WrongKey,
}

/// What came in.
#[derive(Debug, PartialEq, Eq)]
pub enum Received<'a> {
    /// A packet in order. [`Link::take`] must be called next if there is room for it.
    Packet {
        /// The lane in which it waits.
        lane: u8,
        /// Its bytes.
        packet: &'a [u8],
    },
    /// What the other end says of the time.
    Time(TimeSignal),
    /// A frame that has no more to say than the link has already understood.
    Frame,
    /// Both ends hear each other.
    Up(Identity),
    /// Whether the link is [open](Link::is_open), or [may be accepted](Link::may_accept), is not as it was.
    Changed,
    /// The session is over. What was on the way is [abandoned](Link::abandoned).
    Down(Down),
    /// Not a frame.
    Damaged(FrameError),
}

/// What may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// [`Link::write_control`] has something to send.
    Control,
    /// [`Link::write_time`] is wanted.
    Time,
    /// The packet of this token, again.
    Again(Token),
    /// A new packet that the other end has room for; [`Link::write_control`] if there is none.
    New(Offer),
    /// Nothing for now.
    Nothing,
}

/// One end of a wire. `WIRE` is the [encoded length](crate::wire::encoded_len) of the largest frame; of a window and numbers other than a
/// board's see [`LinkSizes`].
pub type Link<const WIRE: usize> = LinkOf<LinkSizes<WIRE>>;

/// One end of a wire, of sizes of its own.
#[derive(Clone, Debug)]
pub struct LinkOf<L: LinkCapacities> {
    collector: Collector<L::Frame>,
    end: End<L>,
}

impl<L: LinkCapacities> LinkOf<L> {
    /// An end that says hello at once.
    pub fn new(identity: Identity, baud: u32, now: Micros) -> Self {
        let collector = Collector::new();
        LinkOf {
            end: End::new(identity, baud, collector.room(), now),
            collector,
        }
    }

    /// The same, and it accepts whoever is at the other end.
    pub fn welcoming(identity: Identity, baud: u32, now: Micros) -> Self {
        let mut link = LinkOf::new(identity, baud, now);
        link.accept(true, now);
        link
    }

    /// From now on it talks only to an end with the same key, and proves to have it. To be called before anything is sent.
    pub fn lock(&mut self, credentials: &Credentials) {
        self.end.lock(credentials);
    }

    /// Whether both ends hear each other.
    pub fn is_up(&self) -> bool {
        self.end.is_up()
    }

    /// Whether packets can be sent: both ends accept each other.
    pub fn is_open(&self) -> bool {
        self.end.is_open()
    }

    /// Whether this end accepts the other.
    pub fn accepts(&self) -> bool {
        self.end.accepts()
    }

    /// Accepts whoever is at the other end, or does not any more. Of a link that was open the other end then ends the session.
    pub fn accept(&mut self, accepts: bool, now: Micros) {
        self.end.accept(accepts, now);
    }

    /// Whether it makes sense to accept the other end: the link is up, and neither end leaves it alone.
    pub fn may_accept(&self) -> bool {
        self.end.may_accept()
    }

    /// Packets wait that the other end has no room for. If that goes on for long, the link is given up.
    pub fn starves(&mut self, now: Micros) {
        self.end.starves(now);
    }

    /// Whether the other end is heard but does not hear us.
    pub fn is_one_way(&self) -> bool {
        self.end.is_one_way()
    }

    /// Why there can be no link with whoever is at the other end: [`Down::Version`], [`Down::Unkeyed`] or [`Down::WrongKey`].
    pub fn foreigner(&self) -> Option<Down> {
        self.end.foreigner()
    }

    /// What is wrong with the link, though someone is there.
    pub fn trouble(&self) -> LinkTrouble {
        match self.foreigner() {
            Some(Down::Unkeyed) => LinkTrouble::Unkeyed,
            Some(Down::WrongKey) => LinkTrouble::WrongKey,
            Some(_) => LinkTrouble::Version,
            None if self.is_one_way() => LinkTrouble::OneWay,
            None => LinkTrouble::None,
        }
    }

    /// Who is at the other end, if it has been heard since the link went down.
    pub fn peer(&self) -> Option<Identity> {
        self.end.peer()
    }

    /// What has happened so far.
    pub fn counters(&self) -> &LinkCounters {
        &self.end.counters
    }

    /// Counts what the serial port has found wrong with bytes that came.
    pub fn note_line_faults(&mut self, faults: LineFaults) {
        self.end.counters.note(faults);
    }

    /// Begins to count anew.
    pub fn clear_counters(&mut self) {
        self.end.counters = LinkCounters::default();
    }

    /// Says how much room is here for packets of this link.
    pub fn offer(&mut self, room: Offer) {
        self.end.offer(room);
    }

    /// Takes bytes from the front of `input` up to the end of a frame and says what it means; `None` when the input is used
    /// up. [`settled`](Self::settled) and [`abandoned`](Self::abandoned) are to be asked after each.
    pub fn receive(&mut self, input: &mut &[u8], now: Micros) -> Option<Received<'_>> {
        let frame = self.collector.next(input)?;
        Some(self.end.receive(frame, now))
    }

    /// The packet just received has found room.
    pub fn take(&mut self) {
        self.end.take();
    }

    /// A packet whose fate is known.
    pub fn settled(&mut self) -> Option<(Token, Fate)> {
        self.end.settled()
    }

    /// A packet that was on the way when the session ended: it may or may not have come. The oldest first.
    pub fn abandoned(&mut self) -> Option<Token> {
        self.end.abandoned()
    }

    /// Looks at the clock, and says what has come of it: [`Received::Down`] or [`Received::Changed`].
    pub fn tick(&mut self, now: Micros) -> Option<Received<'static>> {
        self.end.tick(now)
    }

    /// When to look at the clock and at [`turn`](Self::turn) again, though nothing comes.
    pub fn deadline(&self) -> Micros {
        self.end.deadline()
    }

    /// Whether there is something to send now besides new packets.
    pub fn is_due(&self, now: Micros) -> bool {
        self.end.is_due(now)
    }

    /// What may be sent now, the wire being free.
    pub fn turn(&mut self, now: Micros) -> Turn {
        self.end.turn(now)
    }

    /// Writes hello or an acknowledgement, if one is due, and returns how many bytes to send.
    pub fn write_control(&mut self, now: Micros, out: &mut [u8]) -> Option<usize> {
        self.end.write_control(now, out)
    }

    /// Has a time signal sent soon, if the link is open.
    pub fn want_time(&mut self) {
        self.end.want_time();
    }

    /// Writes a time signal that [`turn`](Self::turn) has asked for, and returns how many bytes to send.
    pub fn write_time(&mut self, signal: &TimeSignal, now: Micros, out: &mut [u8]) -> Option<usize> {
        self.end.write_time(signal, now, out)
    }

    /// Will hear and say nothing for up to so many times [`PAUSE_UNIT`](crate::wire::PAUSE_UNIT), once the next frame has told the other end. The link
    /// stays up, and neither end sends anything until [`end_pause`](Self::end_pause).
    pub fn pause(&mut self, units: u8) {
        self.end.pause(units);
    }

    /// Whether one of the ends hears nothing for a while, and has said so.
    pub fn is_paused(&self, now: Micros) -> bool {
        self.end.is_paused(now)
    }

    /// Is here again.
    pub fn end_pause(&mut self, now: Micros) {
        self.end.end_pause(now);
    }

    /// How long a byte takes on the wire, in nanoseconds.
    pub fn byte_nanos(&self) -> u32 {
        self.end.byte_nanos()
    }

    /// How long so many bytes take on the wire.
    pub fn wire_time(&self, bytes: usize) -> Micros {
        self.end.bytes(bytes as u64)
    }

    /// Writes a packet, given in two parts, that [`turn`](Self::turn) has allowed. `lane` is that of the first time if it is sent again.
    pub fn write_packet(
        &mut self,
        token: Token,
        lane: u8,
        packet: [&[u8]; 2],
        now: Micros,
        out: &mut [u8],
    ) -> Option<usize> {
        self.end.write_packet(token, lane, packet, now, out)
    }
}
