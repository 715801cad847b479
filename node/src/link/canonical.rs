//! The state of a link as far as it determines future behavior: for a model checker, which visits each state once.
//!
//! Two links with equal canonical forms behave the same from now on, given the same inputs. Counters are omitted, times are relative to
//! now, and times too long ago to matter are normalized.

use hopwise_codec::Decoder;

use super::ack_timeout::AckTimeout;
use super::end::Liveness;
use super::end::pausing::Pause;
use super::flap_damping::FlapDamping;
use super::rate::Rates;
use super::security::CanonicalSecurity;
use super::sequences::Sequences;
use super::state::LinkState;
use super::window::{CanonicalSender, Receiver};
use super::{LinkOf, Micros};
use crate::capacities::LinkCapacities;
use crate::wire::{Identity, Offer};

/// The state of a link, to be compared and hashed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CanonicalLink<L: LinkCapacities> {
    /// The beginning of a frame, and the state of its decoding.
    partial: (L::Frame, Decoder),
    end: CanonicalEnd,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CanonicalEnd {
    pub(super) identity: Identity,
    pub(super) byte_nanos: u32,
    pub(super) first_timeout: u32,
    pub(super) state: LinkState,
    pub(super) session: u8,
    pub(super) sender: CanonicalSender,
    pub(super) receiver: Receiver,
    /// What is due, wanted or told.
    pub(super) flags: [bool; 6],
    pub(super) liveness: Liveness,
    /// The room at this end, as last told, and at the other.
    pub(super) room: [Offer; 3],
    pub(super) sequences: Sequences,
    pub(super) backoff: u8,
    /// Packets since the last acknowledgment, and those left that are acknowledged at once.
    pub(super) ack_counts: [u8; 2],
    pub(super) signs_left: u8,
    pub(super) flap_damping: FlapDamping,
    pub(super) ack_timeout: AckTimeout,
    pub(super) pause: Pause,
    /// Remaining times until events.
    pub(super) left: [Micros; 8],
    pub(super) rates: Rates,
    pub(super) security: Option<CanonicalSecurity>,
}

/// The remaining time; never stays never.
pub(super) fn left(until: Micros, now: Micros) -> Micros {
    match until {
        Micros::MAX => Micros::MAX,
        until => until.saturating_sub(now),
    }
}

impl<L: LinkCapacities> LinkOf<L> {
    /// The state as far as it determines future behavior.
    pub fn canonical(&self, now: Micros) -> CanonicalLink<L> {
        CanonicalLink {
            partial: self.collector.partial(),
            end: self.end.canonical(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::vec::Vec;

    use super::super::{Received, Turn};
    use super::*;
    use crate::capacities::LinkSizes;
    use crate::wire::Role;

    /// A link of a model: short frames, a window of two, numbers modulo four.
    type Small = LinkOf<LinkSizes<96, 2, 4>>;

    const BAUD: u32 = 1_000_000;
    /// Whole milliseconds and whole units of 1,024 microseconds.
    const LATER: Micros = 1_024_000;

    fn identity(port: u8) -> Identity {
        Identity {
            role: Role::Node,
            network: 1,
            address: u64::from(port),
            port,
            epoch: 5,
            mtu: 40,
        }
    }

    struct Pair {
        ends: [Small; 2],
        now: Micros,
    }

    impl Pair {
        fn up(now: Micros) -> Self {
            let ends = [0, 1].map(|port| Small::welcoming(identity(port), BAUD, now));
            let mut pair = Pair { ends, now };
            (0..4).for_each(|_| pair.exchange());
            assert!(pair.ends.iter().all(|end| end.is_open()));
            pair
        }

        /// Both ends send what they have, in ten milliseconds.
        fn exchange(&mut self) {
            self.now += 10_000;
            for from in [0, 1] {
                let mut out = [0; 96];
                if let Some(length) = self.ends[from].write_control(self.now, &mut out) {
                    self.hear(1 - from, &out[..length]);
                }
            }
        }

        fn hear(&mut self, to: usize, mut bytes: &[u8]) {
            while let Some(received) = self.ends[to].receive(&mut bytes, self.now) {
                if matches!(received, Received::Packet { .. }) {
                    self.ends[to].take();
                }
            }
        }

        /// The first end sends a packet, if allowed.
        fn send(&mut self, token: u8) -> Option<Vec<u8>> {
            let mut out = [0; 96];
            if !matches!(self.ends[0].turn(self.now), Turn::New(_)) {
                return None;
            }
            let length = self.ends[0].write_packet(token, 0, [b"he", b"llo"], self.now, &mut out)?;
            Some(out[..length].to_vec())
        }

        /// A packet is delivered and acknowledged.
        fn pass(&mut self, token: u8) {
            let frame = self.send(token).unwrap();
            self.hear(1, &frame);
            self.exchange();
            assert!(self.ends[0].completed().is_some());
        }

        fn canonical(&self) -> [CanonicalLink<LinkSizes<96, 2, 4>>; 2] {
            [0, 1].map(|end| self.ends[end].canonical(self.now))
        }
    }

    #[test]
    fn the_same_state_is_the_same_however_and_whenever_it_was_reached() {
        let (mut one, mut other) = (Pair::up(1_000), Pair::up(1_000 + 7 * LATER));
        assert_eq!(one.canonical(), other.canonical());
        // Noise is counted, and forgotten with the next frame; the second session of packets begins where the first did.
        other.hear(1, &[0, 7, 7, 7, 0]);
        for token in 0..4 {
            one.pass(token);
            other.pass(token);
        }
        assert_ne!(one.ends[1].counters(), other.ends[1].counters());
        assert_eq!(one.canonical(), other.canonical());
        // Four packets later the sequence numbers have wrapped.
        (4..8).for_each(|token| other.pass(token));
        (8..12).for_each(|token| one.pass(token));
        assert_eq!(one.canonical(), other.canonical());
    }

    #[test]
    fn different_states_differ() {
        let mut states = HashSet::new();
        let mut pair = Pair::up(1_000);
        assert!(states.insert(pair.canonical()));
        let frame = pair.send(3).unwrap();
        assert!(states.insert(pair.canonical()), "a frame is on the way");
        pair.hear(1, &frame[..4]);
        assert!(states.insert(pair.canonical()), "some bytes have come");
        pair.hear(1, &frame[4..]);
        assert!(states.insert(pair.canonical()), "the frame has come");
        assert!(pair.send(4).is_some() && pair.send(5).is_none(), "the window is two");
        assert!(states.insert(pair.canonical()), "two are on the way");
        pair.now += 1_000;
        assert!(states.insert(pair.canonical()), "it is later");
        pair.ends[0].offer(Offer::ONE);
        assert!(states.insert(pair.canonical()), "there is less room");
        pair.ends[0].accept(false, pair.now);
        assert!(states.insert(pair.canonical()), "it is not wanted");
        assert!(!states.insert(pair.canonical()));
    }
}
