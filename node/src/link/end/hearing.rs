//! Processing of received frames.

use super::{CLOSED_FOR, End, count};
use crate::capacities::LinkCapacities;
use crate::link::security::Verdict;
use crate::link::state::{Change, Hears, Peer};
use crate::link::window::Arrival;
use crate::link::{Down, Micros, Received};
use crate::wire::{Ack, Frame, FrameError, Hello, Tagged};

impl<L: LinkCapacities> End<L> {
    pub(in crate::link) fn receive<'a>(&mut self, frame: Result<&'a [u8], FrameError>, now: Micros) -> Received<'a> {
        let (bytes, frame) = match frame.and_then(|bytes| Ok((bytes, self.read(bytes)?))) {
            Ok(read) => read,
            Err(error) => return self.damaged(error),
        };
        count(&mut self.counters.frames_received);
        match frame {
            Frame::Hello(hello) => self.hear(&hello, bytes, now),
            // Anyone can send that, so an authenticated peer is not given up for it.
            Frame::OtherVersion(_) if self.security.is_some() && self.peer().is_some() => self.useless(),
            Frame::OtherVersion(version) => self.turn_away(Down::Version(version), now),
            Frame::Unknown => self.useless(),
            Frame::Time { tag, signal } => {
                if self.state.peer().is_none() || tag != self.tag {
                    return self.useless();
                }
                self.is_back(now);
                match self.state.named(self.heard_until(now)) {
                    Change::None => Received::Time(signal),
                    change => self.follow(change, now),
                }
            }
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
                if change != Change::None {
                    // The packet will be retransmitted.
                    return self.follow(change, now);
                }
                self.ack_due = true;
                match self.receiver.arrive::<L>(header.sequence, header.round) {
                    Arrival::InOrder => {
                        count(&mut self.counters.packets_received);
                        // Counted as not taken until it is.
                        count(&mut self.counters.not_taken);
                        let channel = header.channel;
                        Received::Packet { channel, packet }
                    }
                    Arrival::Repeated | Arrival::Early => self.useless(),
                }
            }
        }
    }

    /// Parses a frame. With a key, only those with the tag of this session, and hellos.
    fn read<'a>(&mut self, bytes: &'a [u8]) -> Result<Frame<'a>, FrameError> {
        let Some(security) = &mut self.security else {
            return Frame::read(bytes);
        };
        match Tagged::frame(bytes) {
            Some(tagged) if security.authenticates(&tagged) => tagged.read(self.tag),
            Some(_) => Err(FrameError::Tag),
            None => match Frame::read(bytes)? {
                Frame::Ack(_) | Frame::Data { .. } | Frame::Time { .. } => Err(FrameError::Tag),
                frame => Ok(frame),
            },
        }
    }

    fn useless<'a>(&mut self) -> Received<'a> {
        count(&mut self.counters.useless);
        Received::Frame
    }

    /// Rejects an end with which there can be no link.
    fn turn_away<'a>(&mut self, reason: Down, now: Micros) -> Received<'a> {
        let change = self.state.foreign(reason, self.heard_until(now));
        self.follow(change, now)
    }

    fn damaged<'a>(&mut self, error: FrameError) -> Received<'a> {
        count(&mut self.counters.damaged);
        if self.is_up() {
            self.ack_due |= self.receiver.damaged();
        }
        Received::Damaged(error)
    }

    /// Processes an acknowledgment, if it is of this session.
    fn acknowledged<'a>(&mut self, ack: &Ack, now: Micros) -> Result<(), Received<'a>> {
        if self.state.peer().is_none() || ack.tag != self.tag {
            return Err(self.useless());
        }
        let change = self.state.named(self.heard_until(now));
        self.is_back(now);
        if change != Change::None {
            // The link was not up. A packet in the frame will be retransmitted.
            return Err(self.follow(change, now));
        }
        self.room_there = ack.offer;
        self.closed_until = if ack.offer.packets() == 0 {
            now.saturating_add(CLOSED_FOR)
        } else {
            Micros::MAX
        };
        let progress = self.sender.acknowledge(ack);
        if progress.back {
            self.ack_timeout.went_back(now);
        }
        if progress.completed > 0 {
            let (waited, timeout) = (self.oldest_waited(now), self.first_timeout());
            self.ack_timeout.acknowledged(progress.taken > 0, waited, timeout, now);
            self.flap_damping.packets_taken(progress.taken);
        }
        if progress.completed > 0 || progress.back {
            self.backoff = 0;
            self.timeout_at = if self.sender.idle() {
                Micros::MAX
            } else {
                now.saturating_add(self.timeout())
            };
        }
        Ok(())
    }

    fn hear<'a>(&mut self, hello: &Hello, bytes: &[u8], now: Micros) -> Received<'a> {
        let hears = match hello.heard {
            0 => Hears::Nobody,
            tag if tag == self.tag => Hears::Us,
            _ => Hears::Another,
        };
        match self.verify(hello, bytes, hears) {
            Ok(hears) => self.believe(hello, hears, now),
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

    fn believe<'a>(&mut self, hello: &Hello, hears: Hears, now: Micros) -> Received<'a> {
        let was_open = self.is_open();
        self.is_back(now);
        let until = self.heard_until(now);
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
