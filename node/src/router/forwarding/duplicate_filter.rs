//! Recently seen packets, so that nothing is delivered twice.
//!
//! Packets do not multiply by themselves: a link delivers each once. Only when a link dies with a packet in flight is its
//! sender uncertain, and sends a copy, marked as such. So the node remembers for each source which of its last packets came,
//! one bit each, and every copy for as long as its twin can be in flight. A copy whose twin may have come before the memory
//! begins is rejected: dropped and counted rather than delivered twice. So is a packet that began before this node did, since the
//! node may have had its twin before it restarted.
//!
//! A [flood](super::broadcast) comes to a node through every link. A second bit for each packet records that it was flooded.

use heapless::Vec;

use super::super::times::{LIFETIME, SLACK};
use crate::capacities::{Capacities, List};
use crate::link::{Micros, millis};
use crate::wire::{AGE_UNIT, Header, PacketId};
use hopwise_core::Node;

/// Number of copies remembered. Copies are rare: they need a link to die.
const COPIES: usize = 24;

/// Number of packets remembered per source, by number.
const SPAN: u32 = 128;
const WORDS: usize = (SPAN / Word::BITS) as usize;
type Word = usize;
type Bits = [Word; WORDS];

/// The last packets of one source.
#[derive(Clone, Copy, Debug)]
struct Window {
    source: Node,
    from_host: bool,
    epoch: u16,
    highest: u32,
    /// Which have come: bit 0 of word 0 is `highest`, then those before it.
    came: Bits,
    /// Which of them were passed on to every neighbor.
    flooded: Bits,
    /// In milliseconds, which wrap after 49 days.
    heard: u32,
}

#[derive(Clone, Debug)]
pub(in crate::router) struct DuplicateFilter<C: Capacities> {
    windows: C::Peers<Window>,
    /// When the last forgotten source had been heard: later packets are remembered.
    forgotten_at: Option<Micros>,
    /// The same for the last one with floods.
    flood_forgotten_at: Option<Micros>,
    copies: Vec<(PacketId, Micros), COPIES>,
}

/// The classification of a packet for this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) enum Classification {
    New,
    Duplicate,
    /// Its twin may have come.
    Uncertain,
}

/// The classification of a broadcast, or of a copy of a flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) enum Passing {
    /// Not seen before: it is delivered and forwarded.
    New,
    /// It is here already, or was before this node restarted; as a flood it is still forwarded.
    Known,
    /// There is nothing left to do with it.
    Duplicate,
    /// Its twin may have come.
    Uncertain,
}

impl<C: Capacities> DuplicateFilter<C> {
    // Not inlined, as the layer's own `new`.
    #[inline(never)]
    pub(in crate::router) fn new() -> Self {
        DuplicateFilter {
            windows: C::Peers::default(),
            forgotten_at: None,
            flood_forgotten_at: None,
            copies: Vec::new(),
        }
    }

    /// Classifies a packet for this node alone. If it is new, it is remembered.
    pub(in crate::router) fn classify(&mut self, header: &Header, now: Micros) -> Classification {
        if self.is_known_copy(header, now) {
            return Classification::Duplicate;
        }
        let uncertain = header.copied && (self.copies.is_full() || self.may_be_forgotten(header, now));
        let place = self.place(header, now);
        let Some(window) = self.windows.get_mut(place) else {
            return Classification::Uncertain;
        };
        let standing = window.standing(header.number);
        if standing != Classification::New {
            return standing;
        }
        if uncertain {
            return Classification::Uncertain;
        }
        window.mark(header.number, now);
        if header.copied {
            // Cannot fail: a full memory is uncertain.
            let _ = self.copies.push((header.id(), now));
        }
        Classification::New
    }

    /// The same for a packet that is for, or passes through, every node. A flood is [marked](Header::copied) as a copy.
    pub(in crate::router) fn classify_passing(&mut self, header: &Header, now: Micros) -> Passing {
        if self.is_known_copy(header, now) {
            return Passing::Duplicate;
        }
        let forgotten_at = if header.copied {
            self.forgotten_at
        } else {
            self.flood_forgotten_at
        };
        let forgotten = forgotten_at.is_some_and(|at| at >= born(header, now));
        let place = self.place(header, now);
        let Some(window) = self.windows.get_mut(place) else {
            return Passing::Uncertain;
        };
        let flood = header.copied;
        match window.standing(header.number) {
            Classification::Duplicate if flood && !window.has_flooded(header.number) => {
                window.note_flooded(header.number);
                return Passing::Known;
            }
            Classification::Duplicate => return Passing::Duplicate,
            Classification::Uncertain => return Passing::Uncertain,
            // Of a flood any copy may have come; of a tree broadcast only one that was flooded as well.
            Classification::New if forgotten => return Passing::Uncertain,
            Classification::New => {}
        }
        window.mark(header.number, now);
        if flood {
            window.note_flooded(header.number);
        }
        Passing::New
    }

    /// Records that a packet is now forwarded as a flood.
    pub(in crate::router) fn note_flooded(&mut self, header: &Header) {
        if let Some(window) = self.windows.iter_mut().find(|window| window.is_of(header)) {
            window.note_flooded(header.number);
        }
    }

    /// Whether a packet for every node would be a [duplicate](Passing::Duplicate).
    pub(in crate::router) fn has_passed(&self, header: &Header) -> bool {
        let window = self.windows.iter().find(|window| window.is_of(header));
        window.is_some_and(|window| {
            window.standing(header.number) == Classification::Duplicate
                && (!header.copied || window.has_flooded(header.number))
        })
    }

    fn is_known_copy(&mut self, header: &Header, now: Micros) -> bool {
        if self.copies.is_empty() {
            return false;
        }
        self.copies.retain(|&(_, at)| now.saturating_sub(at) < LIFETIME + SLACK);
        let id = header.id();
        self.copies.iter().any(|&(seen, _)| seen == id)
    }

    /// Whether a source may have been forgotten since a packet began.
    fn may_be_forgotten(&self, header: &Header, now: Micros) -> bool {
        self.forgotten_at.is_some_and(|at| at >= born(header, now))
    }

    /// The index of the window of a packet's source: if it is new, in place of the one not heard for longest.
    fn place(&mut self, header: &Header, now: Micros) -> usize {
        let Header {
            source,
            from_host,
            epoch,
            number,
            ..
        } = *header;
        if let Some(place) = self.windows.iter().position(|window| window.is_of(header)) {
            return place;
        }
        let now_millis = millis(now);
        let fresh = Window {
            source,
            from_host,
            epoch,
            highest: number,
            came: [0; WORDS],
            flooded: [0; WORDS],
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
        if window.flooded != [0; WORDS] {
            self.flood_forgotten_at = self.flood_forgotten_at.max(Some(heard));
        }
        *window = fresh;
        place
    }
}

/// When a packet began, or a little before.
fn born(header: &Header, now: Micros) -> Micros {
    now.saturating_sub(u64::from(header.age) * AGE_UNIT + SLACK)
}

impl Window {
    fn is_of(&self, header: &Header) -> bool {
        self.source == header.source && self.from_host == header.from_host && self.epoch == header.epoch
    }

    /// The classification of a packet of this number, if it is a copy.
    fn standing(&self, number: u32) -> Classification {
        let behind = self.highest.wrapping_sub(number);
        if behind > u32::MAX / 2 {
            return Classification::New;
        }
        match bit(&self.came, behind) {
            Some(true) => Classification::Duplicate,
            Some(false) => Classification::New,
            None => Classification::Uncertain,
        }
    }

    fn mark(&mut self, number: u32, now: Micros) {
        self.heard = millis(now);
        let ahead = number.wrapping_sub(self.highest);
        if ahead <= u32::MAX / 2 {
            self.came = shifted(&self.came, ahead);
            self.flooded = shifted(&self.flooded, ahead);
            self.highest = number;
        }
        set_bit(&mut self.came, self.highest.wrapping_sub(number));
    }

    fn has_flooded(&self, number: u32) -> bool {
        bit(&self.flooded, self.highest.wrapping_sub(number)) == Some(true)
    }

    fn note_flooded(&mut self, number: u32) {
        set_bit(&mut self.flooded, self.highest.wrapping_sub(number));
    }
}

/// A bit; `None` if it is beyond the last.
fn bit(bits: &Bits, place: u32) -> Option<bool> {
    let word = bits.get((place / Word::BITS) as usize)?;
    Some(word >> (place % Word::BITS) & 1 == 1)
}

/// Sets a bit; one past the last is ignored.
fn set_bit(bits: &mut Bits, place: u32) {
    if let Some(word) = bits.get_mut((place / Word::BITS) as usize) {
        *word |= 1 << (place % Word::BITS);
    }
}

/// All bits shifted up by `by` places.
fn shifted(old: &Bits, by: u32) -> Bits {
    let (words, bits) = ((by / Word::BITS) as usize, by % Word::BITS);
    let at = |place: Option<usize>| place.and_then(|place| old.get(place)).copied().unwrap_or(0);
    core::array::from_fn(|place| {
        let high = at(place.checked_sub(words)) << bits;
        let low = at(place.checked_sub(words + 1))
            .checked_shr(Word::BITS - bits)
            .unwrap_or(0);
        high | low
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacities::tests::{FourPeers, TwoPeers};
    use crate::wire::Kind;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn header(source: Node, number: u32, copied: bool) -> Header {
        Header {
            copied,
            age: 10,
            ..Header::new(Kind::Datagram, source, 0).numbered(1, number)
        }
    }

    #[test]
    fn a_packet_began_its_age_ago() {
        let old = Header {
            age: 4_000,
            ..header(1, 0, true)
        };
        assert_eq!(born(&old, 9_000_000), 9_000_000 - 4_000 * AGE_UNIT - SLACK);
        assert_eq!(born(&old, 1_000), 0);
    }

    proptest! {
        /// In whatever order packets and copies come, nothing is taken twice, and what is not a copy is taken, unless it
        /// comes so late that it may be a replay.
        #[test]
        fn nothing_is_taken_twice(
            arrivals in proptest::collection::vec((0..6_u64, 0..600_u32, any::<bool>()), 0..400),
            base: u32,
            millis_wrap in any::<bool>(),
        ) {
            let begin = if millis_wrap { (1_000 << 32) - 200_000 } else { 1_000_000 };
            let mut seen: DuplicateFilter<FourPeers> = DuplicateFilter::new();
            let mut taken = HashSet::new();
            let mut came: HashSet<(u64, u32)> = HashSet::new();
            let mut highest = [0; 6];
            for (step, (source, number, again)) in arrivals.into_iter().enumerate() {
                // There is one original, which may come before or after its copies.
                let copied = again || !came.insert((source, number));
                let header = header(source, base.wrapping_add(number), copied);
                let classification = seen.classify(&header, begin + step as u64 * 1_000);
                highest[source as usize] = number.max(highest[source as usize]);
                if classification == Classification::New {
                    prop_assert!(taken.insert((source, number)), "source {source} number {number}");
                } else {
                    let late = number + SPAN <= highest[source as usize];
                    let known = copied || late || taken.contains(&(source, number));
                    prop_assert!(known, "source {source} number {number} was refused, and no copy was taken");
                }
            }
        }
    }

    /// What a broadcast is, or a copy of it as a flood.
    fn passing(seen: &mut DuplicateFilter<TwoPeers>, source: Node, number: u32, copied: bool, now: Micros) -> Passing {
        seen.classify_passing(&header(source, number, copied), now)
    }

    /// A flood is taken once and forwarded once, whether a copy along the tree comes before, after, or when its source is forgotten.
    #[test]
    fn a_flood_is_new_once_and_known_once() {
        let mut seen = DuplicateFilter::new();
        let (tree, flood) = (header(7, 5, false), header(7, 5, true));
        assert_eq!(passing(&mut seen, 7, 5, false, 9_000_000), Passing::New);
        assert!(seen.has_passed(&tree) && !seen.has_passed(&flood));
        assert_eq!(passing(&mut seen, 7, 5, true, 9_000_000), Passing::Known);
        assert_eq!(passing(&mut seen, 7, 5, true, 9_000_000), Passing::Duplicate);
        assert!(seen.has_passed(&flood));
        assert_eq!(passing(&mut seen, 7, 6, true, 9_000_000), Passing::New);
        assert_eq!(passing(&mut seen, 7, 6, false, 9_000_000), Passing::Duplicate);
        // Two other sources, and it is forgotten. What begins later is new.
        for source in [8, 9] {
            assert_eq!(passing(&mut seen, source, 1, false, 9_001_000), Passing::New);
        }
        for copied in [false, true] {
            assert_eq!(passing(&mut seen, 7, 6, copied, 9_002_000), Passing::Uncertain);
        }
        assert_eq!(passing(&mut seen, 7, 7, true, 9_600_000), Passing::New);
    }

    /// Without floods a forgotten source is no reason to drop a broadcast.
    #[test]
    fn broadcasts_along_the_tree_need_no_memory() {
        let mut seen = DuplicateFilter::new();
        for (number, source) in (0..300).flat_map(|number| (0..9).map(move |source| (number, source))) {
            let now = 9_000_000 + u64::from(number);
            assert_eq!(passing(&mut seen, source, number, false, now), Passing::New);
        }
    }

    #[test]
    fn a_twin_that_comes_after_its_copy_is_known() {
        let mut seen: DuplicateFilter<TwoPeers> = DuplicateFilter::new();
        assert_eq!(seen.classify(&header(7, 5, true), 0), Classification::New);
        // Many others, so that the windows have moved on and the source is forgotten.
        for number in 0..2_000 {
            seen.classify(&header(8 + u64::from(number % 3), number, false), 1_000_000);
        }
        let twin = seen.classify(&header(7, 5, false), 2_000_000);
        assert_eq!(twin, Classification::Duplicate);
    }

    #[test]
    fn a_copy_from_before_the_memory_is_uncertain() {
        let mut seen: DuplicateFilter<TwoPeers> = DuplicateFilter::new();
        let mut classify = |number, copied| seen.classify(&header(7, number, copied), 9_000_000);
        assert!((0..600).all(|number| classify(number, false) == Classification::New));
        assert_eq!(classify(1, true), Classification::Uncertain);
        assert_eq!(
            classify(1, false),
            Classification::Uncertain,
            "a board may have kept it"
        );
        assert_eq!(classify(599, true), Classification::Duplicate);
    }
}
