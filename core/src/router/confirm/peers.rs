//! Senders of confirmed packets: which of their packets have been delivered.
//!
//! A sender numbers its confirmed packets and has no two under way that are [`SPAN`] or more apart. So one number and one word
//! of bits tell for every packet whether it was delivered. A sender is forgotten only when none of its packets can come any
//! more; until then others may find no room, are told so, and try again.

use heapless::Vec;

use super::super::seen::millis;

use super::super::times::REMEMBER_PEER;
use crate::Node;
use crate::link::Micros;
use crate::wire::Header;

/// Numbers of packets under way at once lie within so many.
pub(in super::super) const SPAN: u32 = 64;

/// A board does not start more often than this while a packet can be under way.
const EARLIER_EPOCHS: u16 = 64;

#[derive(Clone, Copy, Debug)]
struct Peer {
    node: Node,
    host: bool,
    epoch: u16,
    /// The highest number delivered.
    highest: u32,
    /// Which were delivered of `highest` (bit 0) and those before it. None: only the epoch is known.
    delivered: u64,
    /// In milliseconds, which go round after 49 days.
    heard: u32,
}

/// What a confirmed packet is to its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Standing {
    /// To be delivered.
    New,
    /// Delivered before.
    Delivered,
    /// From before the sender's last restart.
    Stale,
    /// There is no room to remember another sender.
    NoRoom,
}

#[derive(Clone, Debug)]
pub(in super::super) struct Peers<const N: usize> {
    peers: Vec<Peer, N>,
}

impl<const N: usize> Peers<N> {
    pub(in super::super) const fn new() -> Self {
        Peers { peers: Vec::new() }
    }

    fn find(&mut self, node: Node, host: bool) -> Option<&mut Peer> {
        self.peers
            .iter_mut()
            .find(|peer| peer.node == node && peer.host == host)
    }

    /// The epoch of a node as last heard, 0 if it is not known.
    pub(in super::super) fn epoch_of(&self, node: Node) -> u16 {
        let peer = self.peers.iter().find(|peer| peer.node == node && !peer.host);
        peer.map_or(0, |peer| peer.epoch)
    }

    /// A node has told its epoch, in an answer.
    pub(in super::super) fn note_epoch(&mut self, node: Node, epoch: u16, now: Micros) {
        if let Some(peer) = self.find(node, false) {
            peer.restart(epoch);
            return;
        }
        self.add(Peer::new(node, false, epoch, now), now);
    }

    /// Adds a peer in place of one that can be forgotten; `false` if there is none.
    fn add(&mut self, peer: Peer, now: Micros) -> bool {
        let Err(peer) = self.peers.push(peer) else {
            return true;
        };
        let millis = millis(now);
        let silence = |known: &Peer| Micros::from(millis.wrapping_sub(known.heard)) * 1_000;
        let forgettable = |known: &&mut Peer| known.delivered == 0 || silence(known) >= REMEMBER_PEER;
        let oldest = self
            .peers
            .iter_mut()
            .filter(forgettable)
            .max_by_key(|known| silence(known));
        let Some(place) = oldest else { return false };
        *place = peer;
        true
    }

    /// Where a confirmed packet stands. One that is new must be [recorded](Self::record) if it is delivered.
    pub(in super::super) fn standing(&mut self, header: &Header, now: Micros) -> Standing {
        if self.find(header.source, header.from_host).is_none()
            && !self.add(Peer::new(header.source, header.from_host, header.epoch, now), now)
        {
            return Standing::NoRoom;
        }
        let Some(peer) = self.find(header.source, header.from_host) else {
            return Standing::NoRoom;
        };
        if is_before(header.epoch, peer.epoch) {
            return Standing::Stale;
        }
        peer.restart(header.epoch);
        peer.heard = millis(now);
        let behind = peer.highest.wrapping_sub(header.number);
        if peer.delivered == 0 || behind > u32::MAX / 2 {
            return Standing::New;
        }
        if behind >= SPAN || peer.delivered >> behind & 1 == 1 {
            Standing::Delivered
        } else {
            Standing::New
        }
    }

    /// A packet has been delivered.
    pub(in super::super) fn record(&mut self, header: &Header) {
        let Some(peer) = self.find(header.source, header.from_host) else {
            return;
        };
        let ahead = header.number.wrapping_sub(peer.highest);
        if peer.delivered == 0 {
            peer.highest = header.number;
            peer.delivered = 1;
        } else if ahead <= u32::MAX / 2 {
            peer.delivered = peer.delivered.checked_shl(ahead).unwrap_or(0) | 1;
            peer.highest = header.number;
        } else {
            peer.delivered |= 1_u64.checked_shl(ahead.wrapping_neg()).unwrap_or(0);
        }
    }
}

/// Whether an epoch is one of the last before another. A board counts its starts, so packets of an earlier one that still come
/// are told from those after a loss of power, when it begins anew anywhere.
fn is_before(epoch: u16, known: u16) -> bool {
    (1..=EARLIER_EPOCHS).contains(&known.wrapping_sub(epoch))
}

impl Peer {
    fn new(node: Node, host: bool, epoch: u16, now: Micros) -> Self {
        Peer {
            node,
            host,
            epoch,
            highest: 0,
            delivered: 0,
            heard: millis(now),
        }
    }

    /// The peer has an epoch: if it is another than was known, and not one before, it has restarted.
    fn restart(&mut self, epoch: u16) {
        if epoch != self.epoch && !is_before(epoch, self.epoch) {
            self.epoch = epoch;
            self.delivered = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Kind;

    fn packet(epoch: u16, number: u32) -> Header {
        Header {
            kind: Kind::Confirmed,
            copied: false,
            trail: false,
            traced: false,
            to_host: false,
            from_host: false,
            hops_left: 9,
            age: 0,
            epoch,
            number,
            source: 2,
            dest: 7,
        }
    }

    fn deliver(peers: &mut Peers<4>, header: &Header) {
        assert_eq!(peers.standing(header, 0), Standing::New, "{header:?}");
        peers.record(header);
        assert_eq!(peers.standing(header, 0), Standing::Delivered, "{header:?}");
    }

    #[test]
    fn a_packet_of_an_earlier_life_does_not_make_the_present_one_forgotten() {
        for start in [1, 500, 0, u16::MAX] {
            let mut peers = Peers::new();
            deliver(&mut peers, &packet(start.wrapping_add(2), 0));
            for earlier in [start, start.wrapping_add(1)] {
                assert_eq!(peers.standing(&packet(earlier, 0), 0), Standing::Stale);
                peers.note_epoch(2, earlier, 0);
            }
            assert_eq!(
                peers.standing(&packet(start.wrapping_add(2), 0), 0),
                Standing::Delivered
            );
            deliver(&mut peers, &packet(start.wrapping_add(3), 0));
        }
    }

    #[test]
    fn numbers_are_told_apart_in_any_order() {
        let mut peers = Peers::new();
        for number in [u32::MAX - 1, 3, 0, u32::MAX, 2, 1, 60] {
            deliver(&mut peers, &packet(9, number));
        }
        for number in [u32::MAX - 1, 3, 0, u32::MAX, 2, 1, 60] {
            assert_eq!(peers.standing(&packet(9, number), 0), Standing::Delivered, "{number}");
        }
        assert_eq!(peers.standing(&packet(9, 4), 0), Standing::New);
    }

    #[test]
    fn a_sender_is_remembered_until_its_packets_have_died_out() {
        let mut peers = Peers::new();
        let of = |source| Header { source, ..packet(1, 5) };
        for source in 0..4 {
            deliver(&mut peers, &of(source));
        }
        assert_eq!(peers.standing(&of(4), REMEMBER_PEER - 1_000), Standing::NoRoom);
        assert_eq!(peers.standing(&of(4), REMEMBER_PEER), Standing::New);
    }
}
