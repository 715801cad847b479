//! Senders of confirmed packets: which of their packets have been delivered.
//!
//! A sender numbers its confirmed packets and has no two in flight to one destination that are [`SPAN`] or more apart. So one
//! number and one word of bits record for every packet in flight whether it was delivered: a run. When a sender restarts, with another
//! epoch and another first number, or has sent many packets elsewhere, a new run begins. Epochs have no order. The order of two runs is
//! known from when their packets began: those of a later run began later. So a leftover packet of an earlier run is distinguished from the
//! first of a new one, and a forged packet, whatever its content, neither ends a run nor makes packets of it
//! seem delivered. Within one epoch of a sender numbers only rise: what lies before all its runs has expired.
//!
//! A sender is forgotten only when none of its packets can arrive any more; until then others may find no room, are told so, and
//! retransmit.

use super::super::times::{REMEMBER_PEER, SLACK};
use crate::capacities::{Capacities, List};
use crate::link::{Micros, millis};
use crate::wire::Header;
use hopwise_core::Node;

/// Maximum spread of the numbers of packets in flight at once.
pub(in crate::router) const SPAN: u32 = u32::BITS;

/// Number of runs remembered per sender: the present one, and one before or, should that be forged, beside it.
const RUNS: usize = 2;

/// Packets of a sender whose numbers lie close together.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    epoch: u16,
    /// The first number delivered or refused, and the highest.
    first: u32,
    highest: u32,
    /// Which of `highest` (bit 0) and those before it were delivered or refused. 0: there is no run.
    decided: u32,
    /// Which of those were refused: their application did not take them, and their sender was notified.
    refused: u32,
    /// When the first packet to arrive began, or [`REMEMBER_PEER`] ago if that is later: in milliseconds, which wrap after 49 days.
    since: u32,
}

#[derive(Clone, Copy, Debug)]
struct Peer {
    node: Node,
    host: bool,
    /// As last heard.
    epoch: u16,
    /// In milliseconds, which wrap after 49 days.
    heard: u32,
    runs: [Run; RUNS],
}

/// The classification of a confirmed packet at its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) enum Standing {
    /// To be delivered.
    New,
    Delivered,
    Refused,
    /// A leftover from before the sender's last restart, or from long ago.
    Stale,
    /// Perhaps a leftover: if not, its sender will retransmit it, which resolves that.
    Unclear,
    /// There is no room to remember another sender.
    NoRoom,
}

#[derive(Clone, Debug)]
pub(in crate::router) struct Peers<C: Capacities> {
    peers: C::Peers<Peer>,
}

impl<C: Capacities> Peers<C> {
    pub(in crate::router) fn new() -> Self {
        Peers {
            peers: C::Peers::default(),
        }
    }

    #[inline(never)]
    fn find(&mut self, node: Node, host: bool) -> Option<&mut Peer> {
        self.peers
            .iter_mut()
            .find(|peer| peer.node == node && peer.host == host)
    }

    /// The epoch of a node as last heard, 0 if it is not known.
    pub(in crate::router) fn epoch_of(&self, node: Node) -> u16 {
        let peer = self.peers.iter().find(|peer| peer.node == node && !peer.host);
        peer.map_or(0, |peer| peer.epoch)
    }

    pub(in crate::router) fn note_epoch(&mut self, node: Node, epoch: u16, now: Micros) {
        if let Some(peer) = self.find(node, false) {
            peer.epoch = epoch;
            return;
        }
        self.add(Peer::new(node, false, epoch, now), now);
    }

    /// Adds a peer in place of one that can be forgotten; `false` if there is none.
    fn add(&mut self, peer: Peer, now: Micros) -> bool {
        let Err(peer) = self.peers.push(peer) else {
            return true;
        };
        let forgettable = |known: &&mut Peer| !known.has_run() || known.silence(now) >= REMEMBER_PEER;
        let oldest = self
            .peers
            .iter_mut()
            .filter(forgettable)
            .max_by_key(|known| known.silence(now));
        let Some(place) = oldest else { return false };
        *place = peer;
        true
    }

    /// Classifies a confirmed packet that has been in flight for `age` microseconds. A new one must be
    /// [recorded](Self::record) if it is delivered.
    pub(in crate::router) fn standing(&mut self, header: &Header, age: u32, now: Micros) -> Standing {
        if self.find(header.source, header.from_host).is_none()
            && !self.add(Peer::new(header.source, header.from_host, header.epoch, now), now)
        {
            return Standing::NoRoom;
        }
        let Some(peer) = self.find(header.source, header.from_host) else {
            return Standing::NoRoom;
        };
        if peer.silence(now) >= REMEMBER_PEER {
            peer.runs = [Run::default(); RUNS];
        }
        peer.runs
            .iter_mut()
            .for_each(|run| run.forget_old_beginning(millis(now)));
        let standing = peer.standing(header, born(age, now));
        if standing != Standing::Stale {
            peer.heard = millis(now);
            peer.epoch = header.epoch;
        }
        standing
    }

    /// Records that a packet was delivered, or refused for good.
    pub(in crate::router) fn record(&mut self, header: &Header, delivered: bool, age: u32, now: Micros) {
        if let Some(peer) = self.find(header.source, header.from_host) {
            peer.record(header, delivered, born(age, now));
        }
    }
}

/// When a packet of this age began, in milliseconds.
fn born(age: u32, now: Micros) -> u32 {
    millis(now).wrapping_sub(age / 1_000)
}

/// How much later one time is than another, in milliseconds; negative if it is earlier.
fn later_by(time: u32, than: u32) -> i64 {
    i64::from(time.wrapping_sub(than) as i32)
}

impl Peer {
    fn new(node: Node, host: bool, epoch: u16, now: Micros) -> Self {
        Peer {
            node,
            host,
            epoch,
            heard: millis(now),
            runs: [Run::default(); RUNS],
        }
    }

    fn silence(&self, now: Micros) -> Micros {
        Micros::from(millis(now).wrapping_sub(self.heard)) * 1_000
    }

    fn has_run(&self) -> bool {
        self.runs.iter().any(Run::is_one)
    }

    fn standing(&self, header: &Header, born: u32) -> Standing {
        let own = || self.runs.iter().filter(|run| run.holds(header));
        if own().next().is_some() {
            let decided = own().find(|run| run.has(run.decided, header.number));
            return match decided {
                Some(run) if run.has(run.refused, header.number) => Standing::Refused,
                Some(_) => Standing::Delivered,
                None => Standing::New,
            };
        }
        let same_life = || self.runs.iter().filter(|run| run.is_one() && run.epoch == header.epoch);
        let before_all = same_life().next().is_some() && !same_life().any(|run| run.is_before(header));
        if before_all || same_life().any(|run| run.spans(header.number)) {
            // A leftover from long ago, or a replay.
            return Standing::Stale;
        }
        let slack = (SLACK / 1_000) as i64;
        let others = self.runs.iter().filter(|run| run.is_one() && !run.is_before(header));
        others.fold(Standing::New, |standing, run| match later_by(born, run.since) {
            earlier if earlier < -slack => Standing::Stale,
            about if about <= slack && standing == Standing::New => Standing::Unclear,
            _ => standing,
        })
    }

    fn record(&mut self, header: &Header, delivered: bool, born: u32) {
        let mut recorded = false;
        for run in self.runs.iter_mut().filter(|run| run.holds(header)) {
            run.record(header.number, delivered);
            recorded = true;
        }
        if recorded {
            return;
        }
        let free = |run: &Run| {
            if run.is_one() {
                later_by(born, run.since)
            } else {
                i64::MAX
            }
        };
        if let Some(place) = self.runs.iter_mut().max_by_key(|run| free(run)) {
            *place = Run {
                epoch: header.epoch,
                first: header.number,
                highest: header.number,
                decided: 1,
                refused: u32::from(!delivered),
                since: born,
            };
        }
    }
}

impl Run {
    fn is_one(&self) -> bool {
        self.decided != 0
    }

    /// Nothing that began so long ago still arrives. Without this, times more than half of the wrap apart would compare the wrong way.
    fn forget_old_beginning(&mut self, now: u32) {
        let most = (REMEMBER_PEER / 1_000) as u32;
        if now.wrapping_sub(self.since) > most {
            self.since = now.wrapping_sub(most);
        }
    }

    /// Whether a packet has one of its numbers, or may have one of the next.
    fn holds(&self, header: &Header) -> bool {
        let near = |distance: u32| distance < SPAN;
        let (behind, ahead) = (
            self.highest.wrapping_sub(header.number),
            header.number.wrapping_sub(self.highest),
        );
        self.is_one() && self.epoch == header.epoch && (near(behind) || near(ahead))
    }

    /// Whether a number lies between those delivered or refused.
    fn spans(&self, number: u32) -> bool {
        number.wrapping_sub(self.first) <= self.highest.wrapping_sub(self.first)
    }

    /// Whether a packet of the same epoch has a higher number than all of the run.
    fn is_before(&self, header: &Header) -> bool {
        self.epoch == header.epoch && header.number.wrapping_sub(self.highest) <= u32::MAX / 2
    }

    /// Whether a number is in one of its sets.
    fn has(&self, numbers: u32, number: u32) -> bool {
        let behind = self.highest.wrapping_sub(number);
        numbers.checked_shr(behind).is_some_and(|bits| bits & 1 == 1)
    }

    fn record(&mut self, number: u32, delivered: bool) {
        let ahead = number.wrapping_sub(self.highest);
        if ahead <= u32::MAX / 2 {
            self.decided = self.decided.checked_shl(ahead).unwrap_or(0) | 1;
            self.refused = self.refused.checked_shl(ahead).unwrap_or(0) | u32::from(!delivered);
            self.highest = number;
        } else {
            let behind = ahead.wrapping_neg();
            self.decided |= 1_u32.checked_shl(behind).unwrap_or(0);
            self.refused |= u32::from(!delivered).checked_shl(behind).unwrap_or(0);
            if !self.spans(number) {
                self.first = number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacities::tests::FourPeers;
    use crate::wire::Kind;

    fn packet(epoch: u16, number: u32) -> Header {
        Header::new(Kind::Confirmed, 2, 7).numbered(epoch, number)
    }

    /// What a packet is that has just been sent.
    fn standing(peers: &mut Peers<FourPeers>, epoch: u16, number: u32, now: Micros) -> Standing {
        peers.standing(&packet(epoch, number), 0, now)
    }

    fn deliver(peers: &mut Peers<FourPeers>, header: &Header) {
        deliver_at(peers, header, START);
    }

    fn deliver_at(peers: &mut Peers<FourPeers>, header: &Header, now: Micros) {
        assert_eq!(peers.standing(header, 0, now), Standing::New, "{header:?}");
        peers.record(header, true, 0, now);
        assert_eq!(peers.standing(header, 0, now), Standing::Delivered, "{header:?}");
    }

    const START: Micros = 100_000_000;
    const AGE: u32 = 2_000_000;

    /// Epochs have no order: any other one is a new run, and leftovers of the previous one are known by their age.
    #[test]
    fn a_packet_of_an_earlier_life_is_told_from_one_of_a_new_life() {
        for (old, new) in [(1, 2), (2, 1), (500, 499), (7, 60_000)] {
            let mut peers = Peers::new();
            deliver_at(&mut peers, &packet(old, 40), START);
            let later = START + 1_000_000;
            deliver_at(&mut peers, &packet(new, 9_000), later);
            assert_eq!(standing(&mut peers, old, 40, later), Standing::Delivered);
            // A third epoch; then leftovers of the first are no longer known by their numbers.
            let latest = later + 1_000_000;
            deliver_at(&mut peers, &packet(3, 5), latest);
            assert_eq!(peers.standing(&packet(old, 40), AGE, latest), Standing::Stale);
            assert_eq!(standing(&mut peers, new, 9_000, latest), Standing::Delivered);
            assert_eq!(peers.epoch_of(2), new, "as last heard");
        }
    }

    /// Packets that never pause for long, over days in which milliseconds wrap; then the sender restarts.
    #[test]
    fn a_restart_is_noticed_after_any_number_of_days() {
        const DAY: Micros = 24 * 3_600 * 1_000_000;
        for days in [1, 24, 25, 40, 49, 50] {
            let mut peers = Peers::new();
            // The other run is that of a forged packet, which nothing renews.
            deliver_at(&mut peers, &packet(7, 1), START);
            let begin = START + SLACK + 2_000;
            let pause = REMEMBER_PEER - 1_000_000;
            let count = (days * DAY / pause) as u32;
            for number in 0..count {
                let now = begin + Micros::from(number) * pause;
                assert_eq!(standing(&mut peers, 1, number, now), Standing::New);
                peers.record(&packet(1, number), true, 0, now);
            }
            let end = begin + Micros::from(count) * pause;
            assert_eq!(standing(&mut peers, 1, count - 1, end), Standing::Delivered);
            for epoch in [2, 3] {
                deliver_at(&mut peers, &packet(epoch, 40), end + Micros::from(epoch) * 1_000_000);
            }
        }
    }

    #[test]
    fn what_began_at_about_the_same_time_must_come_again() {
        let mut peers = Peers::new();
        deliver_at(&mut peers, &packet(1, 40), START);
        let soon = START + SLACK - 1_000;
        assert_eq!(standing(&mut peers, 2, 40, soon), Standing::Unclear);
        deliver_at(&mut peers, &packet(2, 40), soon + 2_000);
    }

    /// A refused packet stays refused, and is distinguished from delivered ones before and after it.
    #[test]
    fn what_was_refused_stays_refused() {
        let mut peers: Peers<FourPeers> = Peers::new();
        let is_refused = |number: u32| number.is_multiple_of(3);
        for number in [5, 3, 4, 9, 8, 6, 7] {
            assert_eq!(standing(&mut peers, 1, number, START), Standing::New);
            peers.record(&packet(1, number), !is_refused(number), 0, START);
        }
        for number in 3..10 {
            let expected = if is_refused(number) {
                Standing::Refused
            } else {
                Standing::Delivered
            };
            assert_eq!(standing(&mut peers, 1, number, START), expected, "{number}");
        }
        assert_eq!(standing(&mut peers, 1, 10, START), Standing::New);
    }

    /// One forged packet of any number or epoch: those of the sender are still delivered, once each. Only the
    /// packet with the same ID is lost.
    #[test]
    fn a_forged_packet_neither_blocks_a_sender_nor_confirms_anything() {
        for (epoch, number) in [(1, 1_000), (1, 140), (1, u32::MAX / 4), (9, 0), (65, 100), (0, 5_000)] {
            let mut peers = Peers::new();
            deliver_at(&mut peers, &packet(1, 100), START);
            let forged = packet(epoch, number);
            let now = START + 1_000_000;
            assert_eq!(peers.standing(&forged, 0, now), Standing::New);
            peers.record(&forged, true, 0, now);
            assert_eq!(standing(&mut peers, 1, 100, now), Standing::Delivered);
            for next in (101..300_u32).filter(|&next| (epoch, number) != (1, next)) {
                let time = now + u64::from(next) * 10_000;
                assert_eq!(
                    standing(&mut peers, 1, next, time),
                    Standing::New,
                    "{next} after {forged:?}"
                );
                peers.record(&packet(1, next), true, 0, time);
                assert_eq!(standing(&mut peers, 1, next, time), Standing::Delivered);
            }
        }
    }

    /// Everything a sender sent is replayed, as if it were young.
    #[test]
    fn what_was_delivered_is_never_new_again() {
        let mut peers = Peers::new();
        let mut now = START;
        let sent = (1..40).chain(100..180).chain([250, 252, 251]).chain(400..500_u32);
        for number in sent.clone() {
            now += 20_000;
            deliver_at(&mut peers, &packet(1, number), now);
            for earlier in sent.clone().take_while(|&earlier| earlier != number) {
                let found = standing(&mut peers, 1, earlier, now);
                let is_known = matches!(found, Standing::Delivered | Standing::Stale);
                assert!(is_known, "{earlier} after {number}: {found:?}");
            }
        }
    }

    /// A sender that has sent much elsewhere: its next packet is new, leftovers from before are not.
    #[test]
    fn a_jump_of_the_numbers_is_no_restart() {
        let mut peers = Peers::new();
        deliver_at(&mut peers, &packet(1, 100), START);
        deliver_at(&mut peers, &packet(1, 200), START + 1_000_000);
        assert_eq!(standing(&mut peers, 1, 100, START + 1_000_000), Standing::Delivered);
        deliver_at(&mut peers, &packet(1, 300), START + 2_000_000);
        for age in [0, AGE] {
            assert_eq!(
                peers.standing(&packet(1, 100), age, START + 2_000_000),
                Standing::Stale,
                "{age}"
            );
        }
        // The memory of a sender ends with what it may have in flight.
        let later = START + 2_000_000 + REMEMBER_PEER;
        assert_eq!(standing(&mut peers, 1, 100, later), Standing::New);
    }

    #[test]
    fn numbers_are_told_apart_in_any_order() {
        let mut peers = Peers::new();
        for number in [u32::MAX - 1, 3, 0, u32::MAX, 2, 1, 29] {
            deliver(&mut peers, &packet(9, number));
        }
        for number in [u32::MAX - 1, 3, 0, u32::MAX, 2, 1, 29] {
            assert_eq!(standing(&mut peers, 9, number, START), Standing::Delivered, "{number}");
        }
        assert_eq!(standing(&mut peers, 9, 4, START), Standing::New);
    }

    #[test]
    fn a_sender_is_remembered_until_its_packets_have_died_out() {
        let mut peers = Peers::new();
        let of = |source| Header { source, ..packet(1, 5) };
        for source in 0..4 {
            deliver(&mut peers, &of(source));
        }
        assert_eq!(
            peers.standing(&of(4), 0, START + REMEMBER_PEER - 1_000),
            Standing::NoRoom
        );
        assert_eq!(peers.standing(&of(4), 0, START + REMEMBER_PEER), Standing::New);
    }
}
