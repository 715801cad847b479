//! What a node has seen of late, so that nothing arrives twice.
//!
//! Packets do not multiply by themselves: a link delivers each once. Only when a link dies with a packet on the way does its
//! sender not know, and sends a copy, marked as such. So the node remembers what it took: ordinary packets as long as
//! there is room, copies as long as a twin can be under way. A copy whose twin may have come before the memory begins is not
//! taken: lost and counted rather than delivered twice.

use heapless::Vec;

use super::packet::{AGE_UNIT, Header, PacketId};
use super::times::{LIFETIME, SLACK};
use crate::link::Micros;

/// Copies are rare: they need a link to die. So many are remembered.
const COPIES: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct Seen<const N: usize> {
    ordinary: Vec<(PacketId, Micros), N>,
    /// Where in `ordinary` the oldest is, once it is full.
    oldest: usize,
    /// When the last one that was forgotten had come: what came later is remembered.
    forgotten_at: Option<Micros>,
    copies: Vec<(PacketId, Micros), COPIES>,
}

/// What a packet is to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Not seen before.
    New,
    /// Its twin has come.
    Duplicate,
    /// Its twin may have come.
    Uncertain,
}

impl<const N: usize> Seen<N> {
    pub(super) const fn new() -> Self {
        Seen {
            ordinary: Vec::new(),
            oldest: 0,
            forgotten_at: None,
            copies: Vec::new(),
        }
    }

    /// Whether a packet is new. It must be [remembered](Self::remember) if it is taken.
    pub(super) fn judge(&mut self, header: &Header, now: Micros) -> Judgement {
        let id = header.id();
        self.copies.retain(|&(_, at)| now.saturating_sub(at) < LIFETIME + SLACK);
        if self.copies.iter().any(|&(seen, _)| seen == id) {
            return Judgement::Duplicate;
        }
        if !header.copied {
            return Judgement::New;
        }
        if self.ordinary.iter().any(|&(seen, _)| seen == id) {
            return Judgement::Duplicate;
        }
        let born = now.saturating_sub(u64::from(header.age) * AGE_UNIT + SLACK);
        if self.copies.is_full() || self.forgotten_at.is_some_and(|at| at >= born) {
            return Judgement::Uncertain;
        }
        Judgement::New
    }

    pub(super) fn remember(&mut self, header: &Header, now: Micros) {
        let entry = (header.id(), now);
        if header.copied {
            // There is room: a full memory was judged uncertain.
            let _ = self.copies.push(entry);
        } else if let Err(entry) = self.ordinary.push(entry) {
            if let Some(slot) = self.ordinary.get_mut(self.oldest) {
                self.forgotten_at = Some(slot.1);
                *slot = entry;
            }
            self.oldest = (self.oldest + 1) % N.max(1);
        }
    }
}
