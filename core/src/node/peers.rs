//! Senders of confirmed packets: which of their packets have been delivered.
//!
//! A sender numbers its confirmed packets and has no two under way that are [`SPAN`] or more apart. So one number and one word
//! of bits tell for every packet whether it was delivered. A sender is forgotten only when none of its packets can come any
//! more; until then others may find no room, are told so, and try again.

use heapless::Vec;

use super::packet::Header;
use super::seen::millis;
use super::times::REMEMBER_PEER;
use crate::Node;
use crate::link::Micros;

/// Numbers of packets under way at once lie within so many.
pub(super) const SPAN: u32 = 64;

#[derive(Clone, Copy, Debug)]
struct Peer {
    node: Node,
    host: bool,
    epoch: u16,
    /// The epoch before the last restart, whose packets may still come; the same if there was none.
    earlier_epoch: u16,
    /// The highest number delivered.
    highest: u32,
    /// Which were delivered of `highest` (bit 0) and those before it. None: only the epoch is known.
    delivered: u64,
    /// In milliseconds, which go round after 49 days.
    heard: u32,
}

/// What a confirmed packet is to its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
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
pub(super) struct Peers<const N: usize> {
    peers: Vec<Peer, N>,
}

impl<const N: usize> Peers<N> {
    pub(super) const fn new() -> Self {
        Peers { peers: Vec::new() }
    }

    fn find(&mut self, node: Node, host: bool) -> Option<&mut Peer> {
        self.peers
            .iter_mut()
            .find(|peer| peer.node == node && peer.host == host)
    }

    /// The epoch of a node as last heard, 0 if it is not known.
    pub(super) fn epoch_of(&self, node: Node) -> u16 {
        let peer = self.peers.iter().find(|peer| peer.node == node && !peer.host);
        peer.map_or(0, |peer| peer.epoch)
    }

    /// A node has told its epoch, in an answer.
    pub(super) fn note_epoch(&mut self, node: Node, epoch: u16, now: Micros) {
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
        let silence = |known: &Peer| Micros::from(millis(now).wrapping_sub(known.heard)) * 1_000;
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
    pub(super) fn standing(&mut self, header: &Header, now: Micros) -> Standing {
        if self.find(header.source, header.from_host).is_none()
            && !self.add(Peer::new(header.source, header.from_host, header.epoch, now), now)
        {
            return Standing::NoRoom;
        }
        let Some(peer) = self.find(header.source, header.from_host) else {
            return Standing::NoRoom;
        };
        if peer.earlier_epoch == header.epoch && peer.epoch != header.epoch {
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
    pub(super) fn record(&mut self, header: &Header) {
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

impl Peer {
    fn new(node: Node, host: bool, epoch: u16, now: Micros) -> Self {
        Peer {
            node,
            host,
            epoch,
            earlier_epoch: epoch,
            highest: 0,
            delivered: 0,
            heard: millis(now),
        }
    }

    fn restart(&mut self, epoch: u16) {
        if epoch != self.epoch {
            self.earlier_epoch = self.epoch;
            self.epoch = epoch;
            self.delivered = 0;
        }
    }
}
