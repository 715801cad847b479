//! What a node has seen of late, so that nothing arrives twice.
//!
//! Packets do not multiply by themselves: a link delivers each once. Only when a link dies with a packet on the way does its
//! sender not know, and sends a copy, marked as such. So the node remembers for each source which of its last packets came,
//! one bit each, and every copy for as long as a twin can be under way. A copy whose twin may have come before the memory
//! begins is not taken: lost and counted rather than delivered twice.

use heapless::Vec;

use super::times::{LIFETIME, SLACK};
use crate::Node;
use crate::link::Micros;
use crate::wire::{AGE_UNIT, Header, PacketId};

/// Copies are rare: they need a link to die. So many are remembered.
const COPIES: usize = 24;

/// Of each source so many packets are remembered, by number.
const SPAN: u32 = 128;
const WORDS: usize = (SPAN / Word::BITS) as usize;
/// What the processor shifts at once.
type Word = usize;

/// The last packets of one source.
#[derive(Clone, Copy, Debug)]
struct Window {
    source: Node,
    from_host: bool,
    epoch: u16,
    /// The highest number that came.
    highest: u32,
    /// Bit 0 of word 0 is `highest`, then those before it.
    bits: [Word; WORDS],
    /// In milliseconds, which go round after 49 days.
    heard: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Seen<const PEERS: usize> {
    windows: Vec<Window, PEERS>,
    /// When the last source that was forgotten had been heard: what came later is remembered.
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

impl<const PEERS: usize> Seen<PEERS> {
    pub(super) const fn new() -> Self {
        Seen {
            windows: Vec::new(),
            forgotten_at: None,
            copies: Vec::new(),
        }
    }

    /// Whether a packet is new. If it is, it is remembered.
    pub(super) fn judge(&mut self, header: &Header, now: Micros) -> Judgement {
        let id = header.id();
        if !self.copies.is_empty() {
            self.copies.retain(|&(_, at)| now.saturating_sub(at) < LIFETIME + SLACK);
            if self.copies.iter().any(|&(seen, _)| seen == id) {
                return Judgement::Duplicate;
            }
        }
        let born = now.saturating_sub(u64::from(header.age) * AGE_UNIT + SLACK);
        let uncertain = header.copied && (self.copies.is_full() || self.forgotten_at.is_some_and(|at| at >= born));
        let place = self.place(header, now);
        let Some(window) = self.windows.get_mut(place) else {
            return Judgement::Uncertain;
        };
        let standing = window.standing(header.number);
        if standing == Judgement::Duplicate || header.copied && standing == Judgement::Uncertain {
            return standing;
        }
        if uncertain {
            return Judgement::Uncertain;
        }
        window.mark(header.number, now);
        if header.copied {
            // There is room: a full memory is uncertain.
            let _ = self.copies.push((id, now));
        }
        Judgement::New
    }

    /// Where the window of a packet's source is: in place of the one not heard for longest, if it is new.
    fn place(&mut self, header: &Header, now: Micros) -> usize {
        let Header {
            source,
            from_host,
            epoch,
            number,
            ..
        } = *header;
        let same = |window: &Window| window.source == source && window.from_host == from_host && window.epoch == epoch;
        if let Some(place) = self.windows.iter().position(same) {
            return place;
        }
        let now_millis = millis(now);
        let fresh = Window {
            source,
            from_host,
            epoch,
            highest: number,
            bits: [0; WORDS],
            heard: now_millis,
        };
        let Err(fresh) = self.windows.push(fresh) else {
            return self.windows.len() - 1;
        };
        let silence = |window: &Window| now_millis.wrapping_sub(window.heard);
        let oldest = self
            .windows
            .iter_mut()
            .enumerate()
            .max_by_key(|(_, window)| silence(window));
        let Some((place, window)) = oldest else { return 0 };
        let heard = now.saturating_sub(Micros::from(silence(window)) * 1_000);
        self.forgotten_at = self.forgotten_at.max(Some(heard));
        *window = fresh;
        place
    }
}

pub(super) fn millis(now: Micros) -> u32 {
    (now / 1_000) as u32
}

impl Window {
    /// What a packet of this number is, if it is a copy.
    fn standing(&self, number: u32) -> Judgement {
        let behind = self.highest.wrapping_sub(number);
        if behind > u32::MAX / 2 {
            return Judgement::New;
        }
        match self.bits.get((behind / Word::BITS) as usize) {
            Some(word) if word >> (behind % Word::BITS) & 1 == 1 => Judgement::Duplicate,
            Some(_) => Judgement::New,
            None => Judgement::Uncertain,
        }
    }

    fn mark(&mut self, number: u32, now: Micros) {
        self.heard = millis(now);
        let ahead = number.wrapping_sub(self.highest);
        if ahead <= u32::MAX / 2 {
            self.shift(ahead);
            self.highest = number;
        }
        let behind = self.highest.wrapping_sub(number);
        if let Some(word) = self.bits.get_mut((behind / Word::BITS) as usize) {
            *word |= 1 << (behind % Word::BITS);
        }
    }

    /// All numbers are `by` further behind.
    fn shift(&mut self, by: u32) {
        let (words, bits) = ((by / Word::BITS) as usize, by % Word::BITS);
        let old = self.bits;
        for (place, word) in self.bits.iter_mut().enumerate() {
            let at = |place: Option<usize>| place.and_then(|place| old.get(place)).copied().unwrap_or(0);
            let high = at(place.checked_sub(words)) << bits;
            let low = at(place.checked_sub(words + 1))
                .checked_shr(Word::BITS - bits)
                .unwrap_or(0);
            *word = high | low;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Kind;
    use proptest::prelude::*;
    use std::collections::HashSet;
    use std::vec::Vec as List;

    fn header(source: Node, number: u32, copied: bool) -> Header {
        Header {
            kind: Kind::Datagram,
            copied,
            trail: false,
            traced: false,
            to_host: false,
            from_host: false,
            hops_left: 9,
            age: 10,
            epoch: 1,
            number,
            source,
            dest: 0,
        }
    }

    proptest! {
        /// Whatever comes in whatever order, as a copy or not: nothing is taken twice, and what is not a copy is taken.
        #[test]
        fn nothing_is_taken_twice(
            arrivals in proptest::collection::vec((0..6_u64, 0..600_u32, any::<bool>()), 0..400),
            base: u32,
        ) {
            let mut seen: Seen<4> = Seen::new();
            let mut taken = HashSet::new();
            let mut came: HashSet<(u64, u32)> = HashSet::new();
            for (step, (source, number, again)) in arrivals.into_iter().enumerate() {
                // There is one original, which may come before or after its copies.
                let copied = again || !came.insert((source, number));
                let header = header(source, base.wrapping_add(number), copied);
                let judgement = seen.judge(&header, 1_000_000 + step as u64 * 1_000);
                if judgement == Judgement::New {
                    prop_assert!(taken.insert((source, number)), "source {source} number {number}");
                } else {
                    let known = copied || taken.contains(&(source, number));
                    prop_assert!(known, "source {source} number {number} was refused, and no copy was taken");
                }
            }
        }
    }

    #[test]
    fn a_twin_that_comes_after_its_copy_is_known() {
        let mut seen: Seen<2> = Seen::new();
        assert_eq!(seen.judge(&header(7, 5, true), 0), Judgement::New);
        // Many others, so that the windows have moved on and the source is forgotten.
        let others: List<_> = (0..2_000)
            .map(|number| header(8 + u64::from(number % 3), number, false))
            .collect();
        for other in &others {
            seen.judge(other, 1_000_000);
        }
        assert_eq!(seen.judge(&header(7, 5, false), 2_000_000), Judgement::Duplicate);
    }

    #[test]
    fn a_copy_from_before_the_memory_is_uncertain() {
        let mut seen: Seen<2> = Seen::new();
        for number in 0..600 {
            assert_eq!(seen.judge(&header(7, number, false), 9_000_000), Judgement::New);
        }
        assert_eq!(seen.judge(&header(7, 1, true), 9_000_000), Judgement::Uncertain);
        assert_eq!(seen.judge(&header(7, 599, true), 9_000_000), Judgement::Duplicate);
    }
}
