//! Sending: the next frame and its content.

use super::pausing::Pause;
use super::{End, HELLO_WHILE_DOWN, Liveness, coarse, count};
use crate::capacities::LinkCapacities;
use crate::link::security::Security;
use crate::link::window::{Sent, Token};
use crate::link::{Micros, Turn};
use crate::wire::{
    Ack, DataHeader, Hello, Proof, Seal, Stance, TimeSignal, write_ack, write_data, write_hello_of, write_time,
};

#[cfg(feature = "version-3")]
use crate::wire::version3;

/// The seal of the next frame, in a mesh that has a key; `None` if the other end is not known, so that none can be made.
pub(super) fn next_seal(security: &mut Option<Security>) -> Option<Option<Seal<'_>>> {
    match security {
        Some(security) => security.seal().map(Some),
        None => Some(None),
    }
}

impl<L: LinkCapacities> End<L> {
    /// What may be sent now that the wire is free.
    pub fn turn(&mut self, now: Micros) -> Turn {
        if self.rates.has_message() {
            return Turn::Control;
        }
        if self.is_silent(now) || self.rates.is_quiet() {
            return Turn::Nothing;
        }
        if now >= self.hello_at || self.pause_due().is_some() {
            return Turn::Control;
        }
        if self.is_open() && self.told {
            if self.wants_time() {
                return Turn::Time;
            }
            if let Some(sent) = self.sender.retransmit() {
                return Turn::Retransmit(sent.token);
            }
            if self.sender.has_room() {
                return Turn::New(self.room_there.without(self.sender.channels()));
            }
        }
        if self.is_up() && self.is_ack_due() {
            Turn::Control
        } else {
            Turn::Nothing
        }
    }

    /// Writes a hello or an acknowledgment, if one is due, and returns the number of bytes to send.
    pub fn write_control(&mut self, now: Micros, out: &mut [u8]) -> Option<usize> {
        if self.rates.has_message() {
            return self.write_rate(now, out);
        }
        if self.is_silent(now) || self.rates.is_quiet() {
            return None;
        }
        let mut sign_of_life = false;
        if now >= self.hello_at && !self.is_paused(now) {
            let Some(left) = self.signs_left.checked_sub(1) else {
                return self.write_hello(now, out);
            };
            (sign_of_life, self.signs_left) = (true, left);
        }
        let pause = self.pause_due();
        if !self.is_up() || !self.is_ack_due() && !sign_of_life && pause.is_none() {
            return None;
        }
        let ack = Ack {
            pause: pause.unwrap_or(0),
            ..self.acknowledgement()?
        };
        let (version, seal) = (self.version(), next_seal(&mut self.security)?);
        let length = match version {
            #[cfg(feature = "version-3")]
            version3::VERSION_3 => version3::write_ack(&ack, sign_of_life, seal, out)?,
            _ => write_ack(&ack, sign_of_life, seal, out)?,
        };
        self.sent(length, now);
        match pause {
            Some(0) => self.pause = Pause::None,
            Some(_) => self.pause = Pause::Told,
            None => {}
        }
        Some(length)
    }

    fn write_hello(&mut self, now: Micros, out: &mut [u8]) -> Option<usize> {
        let hello = Hello {
            identity: self.identity,
            session: self.session,
            heard: self.state.peer().map_or(0, |peer| peer.tag),
            stance: Stance {
                accepts: self.accepts(),
                holds: self.flap_damping.is_on(),
            },
            keyed: self.security.is_some(),
            keeps_alive: self.keeps_alive(),
            steps: self.rates.own,
        };
        let (padding, version) = (self.padding(), self.version());
        let mut write = |proof: Option<Proof<'_>>| {
            // Without room for the longest frame, a short one is sent.
            write_hello_of(version, &hello, padding, proof, out)
                .or_else(|| write_hello_of(version, &hello, 0, proof, out))
        };
        let length = match &mut self.security {
            Some(security) => security.with_proof(|proof| write(Some(proof)))?,
            None => write(None)?,
        };
        self.hello_sent_at = now as u32;
        self.told = hello.stance.accepts && self.is_up();
        self.sent(length, now);
        self.defer_hello();
        Some(length)
    }

    /// Whether a time signal is to be sent. None is while packets are not acknowledged: where only short frames get through, the other end would
    /// take the link for a good one.
    pub(super) fn wants_time(&self) -> bool {
        self.time_due && self.told && self.backoff == 0
    }

    /// Schedules a time signal, if the link is open.
    pub fn want_time(&mut self) {
        self.time_due = true;
    }

    /// Writes a time signal requested by [`turn`](Self::turn), and returns the number of bytes to send.
    pub fn write_time(&mut self, signal: &TimeSignal, now: Micros, out: &mut [u8]) -> Option<usize> {
        self.time_due = false;
        let seal = next_seal(&mut self.security)?;
        let length = write_time(self.state.peer()?.tag, signal, seal, out)?;
        self.sent(length, now);
        Some(length)
    }

    /// On probation, the hello after a pause is as long as the longest packet. Where long frames do not get through, the other end
    /// does not learn that the pause is over, and no packet is risked.
    fn padding(&self) -> usize {
        if self.is_open() || self.flap_damping.is_on() || !self.flap_damping.on_probation {
            return 0;
        }
        let there = self.state.peer().map_or(0, |peer| peer.identity.mtu);
        self.identity.mtu.min(there).into()
    }

    /// Whether the packet of this token is the next to be sent again.
    pub(in crate::link) fn is_retransmission(&self, token: Token) -> bool {
        self.sender.retransmit().is_some_and(|sent| sent.token == token)
    }

    /// Writes a packet, given in two parts, that [`turn`](Self::turn) has allowed. A retransmission has the `channel` of the first time.
    pub fn write_packet(
        &mut self,
        token: Token,
        channel: u8,
        packet: [&[u8]; 2],
        now: Micros,
        out: &mut [u8],
    ) -> Option<usize> {
        if !self.is_open() {
            return None;
        }
        let retransmit = self.is_retransmission(token);
        let since = coarse(now);
        if !retransmit && !self.sender.push(Sent { token, channel, since }) {
            return None;
        }
        let ack = self.acknowledgement()?;
        let (sequence, round) = self.sender.advance();
        let header = DataHeader {
            ack,
            sequence,
            round,
            channel,
        };
        let (version, seal) = (self.version(), next_seal(&mut self.security)?);
        let length = match version {
            #[cfg(feature = "version-3")]
            version3::VERSION_3 => version3::write_data(&header, packet, retransmit, seal, out)?,
            _ => write_data(&header, packet, retransmit, seal, out)?,
        };
        count(if retransmit {
            &mut self.counters.resent
        } else {
            &mut self.counters.packets_sent
        });
        self.sent(length, now);
        self.defer_hello();
        let (waited, timeout) = (self.oldest_waited(now), self.first_timeout.into());
        self.ack_timeout.sent(waited, timeout, now);
        if self.timeout_at == Micros::MAX {
            self.sooner = true;
            let sent_at = now.saturating_add(self.bytes(length as u64));
            self.timeout_at = sent_at.saturating_add(self.timeout());
        }
        Some(length)
    }

    fn acknowledgement(&mut self) -> Option<Ack> {
        let tag = self.state.peer()?.tag;
        (self.ack_due, self.unacknowledged) = (false, 0);
        self.told_room = self.room_here;
        Some(self.receiver.acknowledgement(tag, self.room_here))
    }

    /// Any frame shows that we are present: the next hello is due after a quiet interval, and signs of life before it.
    pub(super) fn sent(&mut self, length: usize, now: Micros) {
        count(&mut self.counters.frames_sent);
        // A frame that acknowledges nothing, and puts off the next sign of life.
        self.ack_due |= self.unacknowledged > 0;
        let often = if self.is_open() { 1 } else { HELLO_WHILE_DOWN };
        let interval = if self.liveness == Liveness::Hellos {
            self.hello_interval() / Micros::from(often)
        } else {
            self.sign_interval.into()
        };
        self.hello_at = now.saturating_add(self.bytes(length as u64) + interval);
    }

    /// A hello or a packet says that this end accepts the other, which other frames do not: only after these the next hello may be late.
    fn defer_hello(&mut self) {
        let often = if self.is_open() { 1 } else { HELLO_WHILE_DOWN };
        if self.liveness != Liveness::Hellos {
            self.signs_left = self.signs / often;
        }
    }
}
