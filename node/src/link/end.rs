//! One end of a link: its state, the frames in flight, and when to send what.

mod changing_rate;
mod hearing;
pub(super) mod pausing;
mod speaking;

use super::ack_timeout::AckTimeout;
use super::canonical::{CanonicalEnd, left};
use super::flap_damping::{FlapDamping, TRUSTED};
use super::rate::{DEAF, Rates};
use super::security::Security;
use super::sequences::Sequences;
use super::state::{Change, LinkState, Peer};
use super::window::{FrameResult, Receiver, Sender, Token};
use super::{Down, Micros, Received, millis};
use crate::capacities::LinkCapacities;
use crate::key::Credentials;
use crate::wire::{Identity, LinkCounters, OVERHEAD, Offer, Role, SEALED_OVERHEAD, VERSION};
use pausing::{Leave, Pause};

/// Interval of hellos on a quiet link that is up, unless the wire is too slow for it.
const HELLO_INTERVAL: Micros = 100_000;
/// Bytes of wire time per hello, so that hellos take at most a tenth of a slow wire.
const HELLO_BYTES: Micros = 400;
/// Factor by which a link that is not open says hello more often.
const HELLO_WHILE_DOWN: u8 = 2;
/// Number of half intervals without a frame after which the link is down.
const DEAD_HALF_INTERVALS: Micros = 7;
/// The same for nodes of which one may stand still for a while, as a process on a busy machine does.
const PATIENT_HALF_INTERVALS: Micros = 16;
/// Silence of this end, and in bytes on a slow wire, after which a node shows another that it is alive.
const SIGN_INTERVAL: Micros = 12_000;
const SIGN_BYTES: Micros = 1_200;
/// A sign of life is sent this part of the interval early if the node is awake, so that it wakes for all its links at once.
const SIGN_EARLY: u32 = 4;
/// Twelfths of that interval without a byte after which a node that shows that it is alive is dead. So a hung board, whose DMA still sends the
/// longest frame, is noticed within 20 ms, and signs of life may be late by 5 ms. None gets lost as a whole, since damaged ones count.
const DEAD_SIGN_TWELFTHS: u32 = 17;
/// Minimum time between the last hello and a response to news from the other end, in bytes on the wire.
const HELLO_SPACING: Micros = 60;
/// Time after which an end without room is tried anyway, in case the message about new room was lost.
const CLOSED_FOR: Micros = 20_000;
/// An acknowledgment waits for the frame that the other end is sending, and is in the next. Besides, each end may notice bytes half a
/// ring buffer late, which is less than a frame, and then needs some processing time.
const TIMEOUT_FRAMES: Micros = 4;
const THINKING: Micros = 1_000;
/// The shortest timeout: boards with five full links take their time, however fast the wires are, and a missing frame is reported at once.
const MIN_TIMEOUT: Micros = 10_000;
/// Number of packets after one for which room was scarce, at either end, whose acknowledgments do not wait.
const PROMPT: u8 = 32;
/// Maximum number of times that the timeout doubles while nothing is acknowledged.
const MAX_BACKOFF: u8 = 3;

/// One end of a link, without the bytes that it collects.
#[derive(Clone, Debug)]
pub struct End<L: LinkCapacities> {
    identity: Identity,
    /// The time of a byte on the wire, in nanoseconds.
    byte_nanos: u32,
    /// [`SIGN_INTERVAL`], or longer on a slow wire.
    sign_interval: u32,
    /// Number of signs of life between two hellos on a quiet link.
    signs: u8,
    /// Whether this end may stand still for a while, unannounced.
    may_stall: bool,
    first_timeout: u32,
    /// Whether the [deadline](Self::deadline) may be earlier than when this was last [asked](Self::take_sooner).
    sooner: bool,
    state: LinkState,
    session: u8,
    /// The tag by which the other end names this session.
    tag: u16,
    /// When the next hello is due, or the next sign of life if there are some before it.
    hello_at: Micros,
    signs_left: u8,
    /// The low half of the time, which wraps after 71 minutes.
    hello_sent_at: u32,
    sender: Sender<L>,
    receiver: Receiver,
    pub(super) sequences: Sequences,
    /// Whether an acknowledgment is to be sent at once, though no other frame is.
    ack_due: bool,
    /// Number of packets taken that were not acknowledged yet.
    unacknowledged: u8,
    /// Number of packets whose acknowledgments do not wait, since room was scarce.
    prompt: u8,
    time_due: bool,
    /// Room at this end by virtual channel, now and as last told.
    room_here: Offer,
    told_room: Offer,
    /// Room at the other end, and until when a channel without room is left alone.
    room_there: Offer,
    closed_until: Micros,
    /// When the frames in flight are retransmitted; never if there are none.
    timeout_at: Micros,
    backoff: u8,
    /// Whether the owner accepts the peer.
    accepts: bool,
    /// Whether the other end has been told so in this session: no packet comes before that.
    told: bool,
    flap_damping: FlapDamping,
    /// One of the ends is a host. Such a link is not damped: there is no other path to a host, and it may come and go.
    host: bool,
    liveness: Liveness,
    /// When the last frame for this end came that was not damaged, in the units of [`coarse`].
    intact_at: u16,
    /// Since when the link is open, or up if it is not open; in milliseconds.
    since: u32,
    ack_timeout: AckTimeout,
    pause: Pause,
    /// Until when the other end announced a pause; 0 if there is none.
    away_until: Micros,
    leave: Leave,
    rates: Rates,
    /// Present in a mesh that has a key.
    security: Option<Security>,
    /// The other end speaks version 3 of the wire format.
    #[cfg(feature = "version-3")]
    speaks_3: bool,
    pub(super) counters: LinkCounters,
}

/// How the ends of a session show that they are alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Liveness {
    /// By hellos: one of the ends is a host, or knows nothing else.
    Hellos,
    /// This end sends signs of life, and the other will as soon as it hears of the session.
    Shown,
    /// Both ends do.
    Watched,
}

const FIRST_SESSION: u8 = 1;
/// The additional length of a frame with a tag.
const TAG_MORE: usize = SEALED_OVERHEAD - OVERHEAD;

/// The send time of a frame, in units of 1024 microseconds that wrap after a minute.
fn coarse(now: Micros) -> u16 {
    (now >> COARSE_BITS) as u16
}

const COARSE_BITS: u32 = 10;

/// A time that is short on any wire worth the name.
fn short(time: Micros) -> u32 {
    time.min(u32::MAX.into()) as u32
}

/// Whether a window of packets may be more than there is room for.
fn is_scarce<L: LinkCapacities>(room: Offer) -> bool {
    usize::from(room.packets()) < L::WINDOW
}

/// Counters wrap rather than saturate.
fn count(counter: &mut u32) {
    *counter = counter.wrapping_add(1);
}

impl<L: LinkCapacities> End<L> {
    pub(super) fn new(identity: Identity, baud: u32, wire: usize, now: Micros) -> Self {
        let mut end = End {
            sign_interval: 0,
            signs: 0,
            may_stall: false,
            first_timeout: 0,
            sooner: true,
            identity,
            byte_nanos: 0,
            state: LinkState::Silent,
            session: FIRST_SESSION,
            tag: identity.tag(FIRST_SESSION),
            hello_at: now,
            signs_left: 0,
            hello_sent_at: now as u32,
            sender: Sender::default(),
            receiver: Receiver::default(),
            sequences: Sequences::default(),
            ack_due: false,
            unacknowledged: 0,
            prompt: 0,
            time_due: false,
            room_here: Offer::ALL,
            told_room: Offer::ALL,
            room_there: Offer::ALL,
            closed_until: Micros::MAX,
            timeout_at: Micros::MAX,
            backoff: 0,
            accepts: false,
            told: false,
            flap_damping: FlapDamping::new(),
            host: false,
            liveness: Liveness::Hellos,
            intact_at: 0,
            since: millis(now),
            ack_timeout: AckTimeout::new(),
            pause: Pause::None,
            away_until: 0,
            leave: Leave::default(),
            rates: Rates::new(baud),
            security: None,
            #[cfg(feature = "version-3")]
            speaks_3: false,
            counters: LinkCounters::default(),
        };
        end.set_baud(baud, wire);
        end
    }

    /// Sets the speed of the wire, whose largest frame has so many bytes.
    pub(super) fn set_baud(&mut self, baud: u32, wire: usize) {
        self.rates = Rates::new(baud);
        self.set_byte_time(baud, wire);
    }

    fn set_byte_time(&mut self, baud: u32, wire: usize) {
        // A start bit, eight of data, a stop bit.
        self.byte_nanos = (10_000_000_000 / u64::from(baud.max(1))).min(u64::from(u32::MAX)) as u32;
        let sign_interval = SIGN_INTERVAL.max(self.bytes(SIGN_BYTES));
        self.sign_interval = short(sign_interval);
        self.signs = (self.hello_interval() / sign_interval).min(u8::MAX.into()) as u8;
        let less = if self.security.is_some() { 0 } else { TAG_MORE };
        self.set_timeout(wire.saturating_sub(less));
    }

    /// Sets the timeout for a largest frame of so many bytes, encoded.
    fn set_timeout(&mut self, wire: usize) {
        self.first_timeout = short((self.bytes(wire as u64) * TIMEOUT_FRAMES + THINKING).max(MIN_TIMEOUT));
    }

    /// This end may stand still for several tenths of a second, as a process on a busy machine does: it says so, and the link stays up. Must be
    /// called before anything is sent.
    pub fn expect_stalls(&mut self) {
        self.may_stall = true;
    }

    pub(super) fn canonical(&self, now: Micros) -> CanonicalEnd {
        let spacing = self.bytes(HELLO_SPACING);
        let away = match self.away_until {
            0 => Micros::MAX,
            until => left(until, now),
        };
        CanonicalEnd {
            identity: self.identity,
            byte_nanos: self.byte_nanos,
            first_timeout: self.first_timeout,
            state: self.state.canonical(now),
            session: self.session,
            sender: self.sender.canonical(coarse(now)),
            receiver: self.receiver.clone(),
            sequences: self.sequences.clone(),
            flags: [
                self.ack_due,
                self.time_due,
                self.accepts,
                self.told,
                self.host,
                self.may_stall,
            ],
            liveness: self.liveness,
            room: [self.room_here, self.told_room, self.room_there],
            backoff: self.backoff,
            ack_counts: [self.unacknowledged, self.prompt],
            signs_left: self.signs_left,
            flap_damping: self.flap_damping.canonical(now),
            ack_timeout: self.ack_timeout.canonical(now),
            pause: self.pause,
            left: [
                left(self.hello_at, now),
                Micros::from((now as u32).wrapping_sub(self.hello_sent_at)).min(spacing),
                left(self.closed_until, now),
                left(self.timeout_at, now),
                away,
                self.lasted(now).min(TRUSTED),
                self.leave.debt(now).into(),
                self.since_intact(now).min(self.long_silence()),
            ],
            rates: self.rates.canonical(now),
            security: self.security.as_ref().map(Security::canonical),
        }
    }

    pub(super) fn lock(&mut self, credentials: &Credentials, wire: usize) {
        self.set_timeout(wire);
        self.security = Some(Security::new(credentials, &self.identity));
    }

    /// The version of the wire format in use: that of the other end, if this is a host that speaks it.
    pub fn version(&self) -> u8 {
        #[cfg(feature = "version-3")]
        if self.speaks_3 {
            return crate::wire::version3::VERSION_3;
        }
        VERSION
    }

    /// Speaks the version of the other end from now on. If it has changed, so has its epoch, and the session ends.
    fn speak(&mut self, version: u8) {
        #[cfg(feature = "version-3")]
        {
            self.speaks_3 = version == crate::wire::version3::VERSION_3;
        }
        #[cfg(not(feature = "version-3"))]
        let _ = version;
    }

    /// Whether both ends hear each other.
    pub fn is_up(&self) -> bool {
        self.state.is_up()
    }

    /// Whether packets can be sent: both ends accept each other.
    pub fn is_open(&self) -> bool {
        self.accepts() && self.state.there().is_some_and(|there| there.accepts)
    }

    /// Whether this end accepts the other.
    pub fn accepts(&self) -> bool {
        self.accepts && !self.flap_damping.is_on()
    }

    /// Accepts the peer, or no longer does. On an open link the other end then ends the session.
    pub fn accept(&mut self, accepts: bool, now: Micros) {
        if self.accepts == accepts {
            return;
        }
        self.accepts = accepts;
        self.stance_changed(now);
        self.respond_soon(now);
    }

    /// Whether the peer can be accepted: the link is up, and neither end pauses it.
    pub fn may_accept(&self) -> bool {
        !self.flap_damping.is_on() && self.state.there().is_some_and(|there| !there.holds)
    }

    /// Reports that packets wait for which the other end has no room. If that lasts, the link is given up.
    pub fn starves(&mut self, now: Micros) {
        self.ack_timeout.starves(now);
    }

    /// Whether the other end is heard but does not hear us.
    pub fn is_one_way(&self) -> bool {
        self.state.is_one_way()
    }

    /// The reason why there can be no link with the other end: [`Down::Version`], [`Down::Unkeyed`] or [`Down::WrongKey`].
    pub fn foreigner(&self) -> Option<Down> {
        self.state.foreigner()
    }

    /// The identity of the other end, if it has been heard since the link went down.
    pub fn peer(&self) -> Option<Identity> {
        self.state.peer().map(|peer| peer.identity)
    }

    /// Sets the room for packets of this link at this end. Returns whether the other end is to be told at once.
    pub fn offer(&mut self, room: Offer) -> bool {
        self.room_here = room;
        // More room is worth a frame of its own; less room is told with the next acknowledgment, which then does not wait.
        let is_awaited = self.unacknowledged > 0 && is_scarce::<L>(room) && !self.ack_due;
        let is_news = self.is_open() && (is_awaited || room.is_news_after(self.told_room));
        self.ack_due |= is_news;
        is_news
    }

    fn follow(&mut self, change: Change, now: Micros) -> Received {
        self.sooner = true;
        match change {
            Change::None => Received::Frame,
            Change::Begins(peer) => {
                self.begin_session(now);
                Received::Up(peer)
            }
            Change::Stance => {
                self.stance_changed(now);
                Received::Changed
            }
            Change::Ends(reason) => {
                self.end_session(reason, now);
                Received::Down(reason)
            }
            Change::Prevented(reason) => Received::Down(reason),
        }
    }

    fn begin_session(&mut self, now: Micros) {
        let host = |identity: Identity| identity.role == Role::Host;
        self.host = host(self.identity) || self.peer().is_some_and(host);
        let shows = !self.host && self.keeps_alive() && self.state.peer().is_some_and(|peer| peer.keeps_alive);
        self.liveness = if shows { Liveness::Shown } else { Liveness::Hellos };
        self.since = millis(now);
        self.told = false;
        self.respond_soon(now);
        self.stance_changed(now);
        (self.ack_due, self.unacknowledged) = (false, 0);
        self.time_due = false;
        self.told_room = Offer::ALL;
        self.room_there = Offer::ALL;
        self.closed_until = Micros::MAX;
        self.begin_rates(now);
        count(&mut self.counters.sessions);
    }

    /// One of the ends accepts the other, or no longer does.
    fn stance_changed(&mut self, now: Micros) {
        self.told &= self.accepts();
        if self.is_open() {
            self.since = millis(now);
            self.ack_timeout.open();
        } else if self.accepts() && self.is_up() {
            self.ack_timeout.await_acceptance(now);
        } else {
            self.ack_timeout.end();
        }
    }

    /// How long the link has been open, or up if it is not open.
    fn lasted(&self, now: Micros) -> Micros {
        Micros::from(millis(now).wrapping_sub(self.since)) * 1_000
    }

    /// Damps the link if packets did not get through, or if its sessions are short.
    fn learn(&mut self, failed: bool, now: Micros) {
        let lasted = self.lasted(now);
        match (self.host, failed) {
            (true, _) => {}
            (false, true) => self.flap_damping.failed(lasted, now),
            (false, false) => self.flap_damping.session_over(lasted, now),
        }
    }

    /// Ends the session: the next one has another number.
    fn end_session(&mut self, reason: Down, now: Micros) {
        // The other end has not heard us, though we sent it frames, and took none: hellos get through, and longer frames do not.
        let in_vain = reason == Down::Ended && !self.sender.idle() && self.flap_damping.nothing_taken();
        self.learn(reason == Down::Stuck || in_vain, now);
        self.ack_timeout.end();
        self.pause = Pause::None;
        self.away_until = 0;
        self.rates.end(now);
        (self.liveness, self.signs_left) = (Liveness::Hellos, 0);
        self.state.wait_until(self.heard_until(now));
        self.number_session();
        if let Some(security) = &mut self.security {
            security.renew(self.state.peer().is_some());
        }
        self.receiver = Receiver::default();
        self.sequences = Sequences::default();
        self.timeout_at = Micros::MAX;
        self.backoff = 0;
        (self.ack_due, self.unacknowledged) = (false, 0);
        self.respond_soon(now);
    }

    /// A packet came. Between nodes that show that they are alive, an acknowledgment waits for a frame that goes to the other end anyway, the
    /// next sign of life at the latest, or for half a window of packets; unless room is scarce or was a moment ago, where a sender that is told
    /// late gets less of it than the others.
    fn owe_ack(&mut self) {
        self.unacknowledged = self.unacknowledged.saturating_add(1);
        let is_scarce = is_scarce::<L>(self.room_here) || is_scarce::<L>(self.room_there);
        self.prompt = if is_scarce {
            PROMPT
        } else {
            self.prompt.saturating_sub(1)
        };
        self.ack_due |= self.prompt > 0
            || self.liveness == Liveness::Hellos
            || usize::from(self.unacknowledged) >= L::WINDOW.div_ceil(2);
    }

    /// Whether an acknowledgment is to be sent at once: a refused packet is sent again.
    fn is_ack_due(&self) -> bool {
        self.ack_due || self.receiver.has_refused(self.unacknowledged)
    }

    fn number_session(&mut self) {
        self.session = self.session.wrapping_add(1);
        self.tag = self.identity.tag(self.session);
    }

    /// Forgets a peer that did not get as far as a session, and its nonces.
    fn forget_pair(&mut self) {
        let is_known = self.state.peer().is_some();
        if let Some(security) = self
            .security
            .as_mut()
            .filter(|security| !is_known && security.is_paired())
        {
            security.renew(false);
            self.number_session();
        }
    }

    fn respond_soon(&mut self, now: Micros) {
        self.sooner = true;
        let ago = Micros::from((now as u32).wrapping_sub(self.hello_sent_at));
        let wait = self.bytes(HELLO_SPACING).saturating_sub(ago);
        let due = match core::mem::take(&mut self.signs_left) {
            0 => self.hello_at,
            _ => Micros::MAX,
        };
        self.hello_at = due.min(now.saturating_add(wait));
    }

    /// Confirms that the packet just received has found room.
    pub fn take(&mut self) {
        self.receiver.take();
        self.counters.not_taken = self.counters.not_taken.wrapping_sub(1);
    }

    /// The next packet that was acknowledged, as taken or refused.
    pub fn completed(&mut self) -> Option<(Token, FrameResult)> {
        let completed = self.sender.next_completed()?;
        self.sequences.completed(completed.0, completed.1);
        if completed.1 == FrameResult::Refused {
            count(&mut self.counters.refused_by_peer);
        }
        Some(completed)
    }

    /// The next packet that was in flight when the session ended, the oldest first. It may or may not have arrived.
    pub fn abandoned(&mut self) -> Option<Token> {
        if self.is_up() {
            return None;
        }
        let token = self.sender.abandon();
        if token.is_none() {
            // All are fetched: the next session starts over.
            self.sender = Sender::default();
        }
        token
    }

    /// Processes timeouts, and returns the event: [`Received::Down`] or [`Received::Changed`].
    pub fn tick(&mut self, now: Micros) -> Option<Received> {
        let early = if self.signs_left > 0 {
            Micros::from(self.sign_interval / SIGN_EARLY)
        } else {
            0
        };
        // Where packets find no room, that has no deadline of its own.
        if now.saturating_add(early) < self.deadline() && !self.ack_timeout.is_starving() {
            return None;
        }
        self.sooner = true;
        if self.is_paused(now) {
            return None;
        }
        self.tick_rates(now);
        if self.rates.is_quiet() {
            return None;
        }
        self.is_back(now);
        let mut change = self.state.tick(now);
        if !matches!(change, Change::Ends(_)) {
            self.forget_pair();
        }
        if change == Change::None && self.is_stuck(now) {
            change = if self.is_open() {
                self.state.give_up(Down::Stuck)
            } else {
                self.ack_timeout.end();
                self.learn(true, now);
                self.respond_soon(now);
                Change::Prevented(Down::Refused)
            };
        }
        if change != Change::None {
            return Some(self.follow(change, now));
        }
        if self.flap_damping.tick(now) {
            self.since = millis(now);
            self.stance_changed(now);
            self.respond_soon(now);
            return Some(Received::Changed);
        }
        if self.signs_left > 0 && self.hello_at <= now.saturating_add(early) {
            self.hello_at = self.hello_at.min(now);
        }
        if now >= self.closed_until {
            // In case the message about new room was lost.
            self.room_there = Offer::ONE;
            self.closed_until = Micros::MAX;
        }
        if now >= self.timeout_at {
            count(&mut self.counters.timeouts);
            self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
            self.sender.go_back();
            self.ack_timeout.went_back(now);
            self.timeout_at = Micros::MAX;
        }
        None
    }

    fn is_stuck(&self, now: Micros) -> bool {
        let starved = self.ack_timeout.is_starved(self.flap_damping.on_probation, now);
        self.ack_timeout.is_over(now) || starved && self.is_open()
    }

    /// Whether the [deadline](Self::deadline) may be earlier than at the last call.
    pub fn take_sooner(&mut self) -> bool {
        core::mem::take(&mut self.sooner)
    }

    /// The next time to call [`tick`](Self::tick) and [`turn`](Self::turn) if nothing is received.
    pub fn deadline(&self) -> Micros {
        if self.pause == Pause::Told {
            return Micros::MAX;
        }
        if self.away_until > 0 {
            return self.away_until;
        }
        if self.rates.is_quiet() {
            return self.rates.deadline;
        }
        let silence = self
            .state
            .deadline()
            .min(self.flap_damping.until)
            .min(self.ack_timeout.until)
            .min(self.rates.deadline);
        self.hello_at.min(silence).min(self.timeout_at).min(self.closed_until)
    }

    /// Whether there is something to send now besides new packets.
    pub fn is_due(&self, now: Micros) -> bool {
        if self.rates.is_due() {
            return true;
        }
        if self.is_silent(now) || self.rates.is_quiet() {
            return false;
        }
        let open = self.is_open();
        now >= self.hello_at
            || self.pause_due().is_some()
            || self.is_up() && (self.is_ack_due() || open && (self.wants_time() || self.sender.behind()))
    }

    /// The time of a byte on the wire, in nanoseconds.
    pub fn byte_nanos(&self) -> u32 {
        self.byte_nanos
    }

    #[inline(never)]
    pub(super) fn bytes(&self, bytes: u64) -> Micros {
        let nanos = bytes * u64::from(self.byte_nanos);
        match u32::try_from(nanos) {
            // The case of all frames at usual rates; a Cortex-M divides 32 bits in one instruction and calls a routine for 64.
            Ok(nanos) => Micros::from(nanos.div_ceil(1_000)),
            Err(_) => nanos.div_ceil(1_000),
        }
    }

    /// Whether this end shows another node that it is alive. On the slowest wires hellos suffice.
    fn keeps_alive(&self) -> bool {
        self.identity.role == Role::Node && self.signs > 0 && !self.may_stall
    }

    /// [`HELLO_INTERVAL`], or longer on a slow wire.
    fn hello_interval(&self) -> Micros {
        HELLO_INTERVAL.max(self.bytes(HELLO_BYTES))
    }

    /// Until when a frame received now counts as recent.
    fn heard_until(&self, now: Micros) -> Micros {
        let silence = if self.liveness == Liveness::Watched {
            (self.sign_interval / 12 * DEAD_SIGN_TWELFTHS).into()
        } else {
            self.long_silence()
        };
        now.saturating_add(silence)
    }

    /// The same for a frame of the other end that is not damaged.
    fn intact_until(&mut self, now: Micros) -> Micros {
        self.intact_at = coarse(now);
        self.heard_until(now)
    }

    fn long_silence(&self) -> Micros {
        // A node that does not show that it is alive though the wire is fast enough for it may stand still.
        let stalls = |peer: &Peer| self.may_stall || self.signs > 0 && !peer.keeps_alive;
        let is_patient = !self.host && self.is_up() && self.state.peer().is_some_and(stalls);
        self.hello_interval()
            * if is_patient {
                PATIENT_HALF_INTERVALS
            } else {
                DEAD_HALF_INTERVALS
            }
            / 2
    }

    /// Time since the last frame for this end that was not damaged.
    fn since_intact(&self, now: Micros) -> Micros {
        Micros::from(coarse(now).wrapping_sub(self.intact_at)) << COARSE_BITS
    }

    fn timeout(&self) -> Micros {
        // An acknowledgment may wait for a sign of life, and each end may notice bytes late.
        let first = match self.liveness {
            Liveness::Hellos => self.first_timeout,
            Liveness::Shown | Liveness::Watched => self.sign_interval + self.first_timeout / 2,
        };
        Micros::from(first) << self.backoff
    }

    fn oldest_waited(&self, now: Micros) -> Option<Micros> {
        let since = self.sender.oldest()?;
        Some(Micros::from(coarse(now).wrapping_sub(since)) << COARSE_BITS)
    }
}
