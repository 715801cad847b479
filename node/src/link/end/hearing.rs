//! Processing of received frames.

use hopwise_codec::{CRC_BYTES, Check, Decoded};

use super::{CLOSED_FOR, End, Liveness, count};
use crate::capacities::LinkCapacities;
use crate::key::TAG_BYTES;
use crate::link::flap_damping::TRUSTED;
use crate::link::security::Verdict;
use crate::link::state::{Change, Hears, Peer};
use crate::link::window::Arrival;
use crate::link::{Down, Micros, Received};
use crate::wire::{Ack, Checked, Frame, FrameError, Hello, Tagged, VERSION, mask, tag_of};
#[cfg(feature = "version-3")]
use crate::wire::{Role, version3};

impl<L: LinkCapacities> End<L> {
    pub(in crate::link) fn receive(&mut self, frame: Result<(&[u8], Decoded), FrameError>, now: Micros) -> Received {
        let (bytes, frame) = match frame.and_then(|(bytes, decoded)| Ok((bytes, self.read(bytes, decoded)?))) {
            Ok(read) => read,
            Err(error) => return self.damaged(error, now),
        };
        count(&mut self.counters.frames_received);
        match frame {
            Frame::Hello(hello) => self.hear(&hello, VERSION, bytes, now),
            #[cfg(feature = "version-3")]
            Frame::OtherVersion(version3::VERSION_3) if self.identity.role == Role::Host => {
                match version3::read_hello(bytes) {
                    Some(hello) => self.hear(&hello, version3::VERSION_3, bytes, now),
                    None => self.useless(),
                }
            }
            // Anyone can send that, so an authenticated peer is not given up for it.
            Frame::OtherVersion(_) if self.security.is_some() && self.peer().is_some() => self.useless(),
            Frame::OtherVersion(version) => self.turn_away(Down::Version(version), now),
            Frame::Unknown => self.useless(),
            Frame::Time { signal, .. } => match self.addressed(now) {
                Ok(()) => Received::Time(signal),
                Err(received) => received,
            },
            Frame::Rate { message, .. } => match self.addressed(now) {
                Ok(()) => self.hear_rate(message, now),
                Err(received) => received,
            },
            Frame::Ack(ack) => match self.acknowledged(&ack, now) {
                Ok(()) => {
                    if ack.pause > 0 {
                        self.allow_pause(ack.pause, now);
                    }
                    Received::Frame
                }
                Err(received) => received,
            },
            Frame::Data { header, packet } => {
                if let Err(received) = self.acknowledged(&header.ack, now) {
                    return received;
                }
                let change = self.state.packet();
                if !matches!(change, Change::None) {
                    // The packet will be retransmitted.
                    return self.follow(change, now);
                }
                match self.receiver.arrive::<L>(header.sequence, header.round) {
                    Arrival::InOrder => {
                        self.owe_ack();
                        count(&mut self.counters.packets_received);
                        // Counted as not taken until it is.
                        count(&mut self.counters.not_taken);
                        Received::Packet {
                            channel: header.channel,
                            length: packet.len() as u16,
                        }
                    }
                    Arrival::Repeated | Arrival::Early => {
                        self.ack_due = true;
                        self.useless()
                    }
                }
            }
        }
    }

    /// The number of bytes after the packet of a frame.
    pub(in crate::link) fn ending(&self) -> usize {
        match self.security {
            None => CRC_BYTES,
            Some(_) => TAG_BYTES,
        }
    }

    /// With a key, nearly all frames have a tag instead of a CRC.
    pub(in crate::link) fn check(&self) -> Check {
        match self.security {
            None => Check::Crc,
            Some(_) => Check::None,
        }
    }

    /// Parses a frame. With a key, only those with the tag of this session, and hellos.
    fn read<'a>(&mut self, bytes: &'a [u8], decoded: Decoded) -> Result<Frame<'a>, FrameError> {
        #[cfg(feature = "version-3")]
        if self.speaks_3 {
            return self.read_version_3(bytes);
        }
        let Some(security) = &mut self.security else {
            return if bytes.len() < CRC_BYTES {
                Err(FrameError::Form)
            } else if decoded.has_crc(mask(self.tag)) {
                Frame::read_checked(bytes, Checked::For(self.tag))
            } else if decoded.has_crc(0) {
                Frame::read_checked(bytes, Checked::ForAll)
            } else if tag_of(bytes).is_some() {
                // For another end, or of another session.
                Ok(Frame::Unknown)
            } else {
                Err(FrameError::Crc)
            };
        };
        match Tagged::frame(bytes) {
            Some(tagged) if security.authenticates(&tagged) => tagged.read(self.tag),
            Some(_) => Err(FrameError::Tag),
            None => match Frame::read(bytes, self.tag)? {
                Frame::Ack(_) | Frame::Data { .. } | Frame::Time { .. } | Frame::Rate { .. } => Err(FrameError::Tag),
                frame => Ok(frame),
            },
        }
    }

    /// The same for a frame of version 3, or a hello of this one.
    #[cfg(feature = "version-3")]
    fn read_version_3<'a>(&mut self, bytes: &'a [u8]) -> Result<Frame<'a>, FrameError> {
        if let Some(security) = &mut self.security
            && let Some(tagged) = Tagged::frame(bytes)
        {
            return match security.authenticates(&tagged) {
                true => version3::read_content(tagged.content(), self.tag, true),
                false => Err(FrameError::Tag),
            };
        }
        let (content, _) = bytes.split_last_chunk::<CRC_BYTES>().ok_or(FrameError::Form)?;
        match Frame::read(bytes, 0)? {
            Frame::Unknown if self.security.is_none() => version3::read_content(content, self.tag, false),
            frame => Ok(frame),
        }
    }

    fn useless(&mut self) -> Received {
        count(&mut self.counters.useless);
        Received::Frame
    }

    /// Rejects an end with which there can be no link.
    fn turn_away(&mut self, reason: Down, now: Micros) -> Received {
        let change = self.state.foreign(reason, self.heard_until(now));
        self.follow(change, now)
    }

    fn damaged(&mut self, error: FrameError, now: Micros) -> Received {
        count(&mut self.counters.damaged);
        self.rates.damaged(now);
        self.sooner = true;
        if self.is_up() {
            self.ack_due |= self.receiver.damaged();
        }
        self.hear_bytes(now);
        Received::Damaged(error)
    }

    /// Bytes came that are no frame, or not yet. The other end is alive, though not for ever: they may be noise.
    pub(in crate::link) fn hear_bytes(&mut self, now: Micros) {
        self.hear_noise(now);
        let is_watched = self.liveness == Liveness::Watched && !self.is_paused(now);
        if is_watched && self.since_intact(now) < self.long_silence() {
            self.state.wait_until(self.heard_until(now));
        }
    }

    /// A frame came that names our session and is no hello, so the other end knows of the session. A link that did not last is not watched:
    /// where whole frames get lost, it would be down again and again.
    fn named(&mut self, now: Micros) -> Change {
        if self.liveness == Liveness::Shown && (self.flap_damping.is_clean() || self.lasted(now) >= TRUSTED) {
            self.liveness = Liveness::Watched;
            self.sooner = true;
        }
        if self.rates.intact() {
            self.end_trial(now);
        }
        let until = self.intact_until(now);
        self.state.named(until)
    }

    /// The same, and whether the rest of the frame counts.
    fn addressed(&mut self, now: Micros) -> Result<(), Received> {
        if self.state.peer().is_none() {
            return Err(self.useless());
        }
        let change = self.named(now);
        self.is_back(now);
        match change {
            Change::None => Ok(()),
            // The link was not up. A packet in the frame will be retransmitted.
            change => Err(self.follow(change, now)),
        }
    }

    /// Processes an acknowledgment, if it is of this session.
    fn acknowledged(&mut self, ack: &Ack, now: Micros) -> Result<(), Received> {
        self.addressed(now)?;
        let progress = self.sender.acknowledge(ack);
        if ack.offer.packets() > 0 {
            self.closed_until = Micros::MAX;
        } else if progress.completed > 0 || ack.offer != self.room_there || self.closed_until == Micros::MAX {
            // What only says the same again, such as a sign of life, does not make the wait longer.
            self.sooner = true;
            self.closed_until = now.saturating_add(CLOSED_FOR);
        }
        self.room_there = ack.offer;
        if progress.back {
            self.ack_timeout.went_back(now);
        }
        if progress.completed > 0 {
            let (waited, timeout) = (self.oldest_waited(now), self.first_timeout.into());
            self.ack_timeout.acknowledged(progress.taken > 0, waited, timeout, now);
            self.flap_damping.packets_taken(progress.taken);
        }
        if progress.completed > 0 || progress.back {
            self.backoff = 0;
            self.timeout_at = if self.sender.idle() {
                Micros::MAX
            } else {
                self.sooner = true;
                now.saturating_add(self.timeout())
            };
        }
        Ok(())
    }

    fn hear(&mut self, hello: &Hello, version: u8, bytes: &[u8], now: Micros) -> Received {
        let hears = match hello.heard {
            0 => Hears::Nobody,
            tag if tag == self.tag => Hears::Us,
            _ => Hears::Another,
        };
        match self.verify(hello, bytes, hears) {
            Ok(hears) => {
                self.speak(version);
                self.believe(hello, hears, now)
            }
            Err(Some(reason)) => self.turn_away(reason, now),
            Err(None) => self.useless(),
        }
    }

    /// The end that a hello names, if it is authenticated; else the reason why there is no link with its sender, if that is known.
    fn verify(&mut self, hello: &Hello, bytes: &[u8], hears: Hears) -> Result<Hears, Option<Down>> {
        let Some(security) = &mut self.security else {
            return if hello.keyed {
                Err(Some(Down::Unkeyed))
            } else {
                Ok(hears)
            };
        };
        let (is_known, is_up) = (self.state.peer().is_some(), self.state.is_up());
        match security.verify(hello, bytes, hears == Hears::Us, is_known, is_up) {
            Verdict::Authenticated => Ok(Hears::Us),
            Verdict::Announced => Ok(Hears::Nobody),
            Verdict::AnnouncedAnew => {
                self.number_session();
                Ok(Hears::Nobody)
            }
            Verdict::Unkeyed => Err(Some(Down::Unkeyed)),
            Verdict::WrongKey => Err(Some(Down::WrongKey)),
            Verdict::Worthless => Err(None),
        }
    }

    fn believe(&mut self, hello: &Hello, hears: Hears, now: Micros) -> Received {
        let was_open = self.is_open();
        self.is_back(now);
        let until = self.intact_until(now);
        let (mut change, reply) = self.state.hello(Peer::of(hello), hears, hello.stance, until);
        if reply {
            self.respond_soon(now);
        }
        if change == Change::Stance && was_open && !self.is_open() {
            // It is unknown what became of the packets in flight.
            change = self.state.give_up(Down::Refused);
        }
        self.follow(change, now)
    }
}
