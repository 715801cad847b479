//! What the flash was doing when the power failed: a word that is half programmed, a sector that is half erased.

use crate::hash::mix;

/// A change of the flash that takes time: what was there before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InterruptedFlashOp {
    /// Where, from the beginning of the flash.
    pub(crate) offset: u32,
    pub(crate) before: Vec<u8>,
    /// It is erased; else it is programmed.
    pub(crate) is_erase: bool,
}

impl InterruptedFlashOp {
    pub(crate) fn new(offset: u32, before: Vec<u8>, is_erase: bool) -> Self {
        InterruptedFlashOp {
            offset,
            before,
            is_erase,
        }
    }

    /// What is found there when the power comes back, by a seed; `after` is what there would have been.
    pub(crate) fn torn(&self, after: &[u8], seed: u64) -> Vec<u8> {
        let length = self.before.len().max(1) as u64;
        let how_far = mix(seed) % (length + 1);
        let chance = |place: u64| mix(seed ^ mix(place));
        let bytes = (0..).zip(self.before.iter().zip(after));
        let byte = |(place, (before, after)): (u64, (&u8, &u8))| {
            let whole = |is_changed: bool| if is_changed { u8::MAX } else { 0 };
            let changed = match (self.is_erase, mix(seed ^ 1) % 3) {
                // As far as it got, with a border between old and new.
                (true, 0) => whole(place < how_far),
                // Word by word.
                (true, 1) => whole(chance(place / 4) & 1 == 0),
                // Bit by bit.
                _ => chance(place) as u8,
            };
            before & !changed | after & changed
        };
        bytes.map(byte).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_word_has_bits_of_before_and_after_and_no_others() {
        let word = InterruptedFlashOp::new(0, vec![0xff; 4], false);
        let after = [0x0f, 0x00, 0xf0, 0xff];
        let torn: Vec<Vec<u8>> = (0..200).map(|seed| word.torn(&after, seed)).collect();
        let possible = |torn: &Vec<u8>| torn.iter().zip(after).all(|(torn, after)| torn & after == after);
        assert!(torn.iter().all(possible));
        let different: std::collections::BTreeSet<_> = torn.iter().collect();
        assert!(different.len() > 150, "{}", different.len());
    }

    #[test]
    fn a_torn_erase_leaves_part_of_what_was_there() {
        let sector = InterruptedFlashOp::new(0, (0..255).collect(), true);
        let (mut some_left, mut borders) = (0, 0);
        for seed in 0..100 {
            let torn = sector.torn(&[0xff; 255], seed);
            let mut bytes = torn.iter().zip(&sector.before);
            assert!(bytes.all(|(torn, before)| torn & before == *before));
            let is_old = torn.iter().zip(&sector.before).map(|(torn, before)| torn == before);
            let is_old: Vec<bool> = is_old.collect();
            some_left += u32::from(is_old.contains(&true) && is_old.contains(&false));
            borders += u32::from(is_old.is_sorted());
        }
        assert!(some_left > 90 && borders > 20, "{some_left} {borders}");
    }
}
