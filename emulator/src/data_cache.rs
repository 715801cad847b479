//! The data cache of a Cortex-M7 over the RAM that DMA reaches. The core sees what it has written and read; DMA sees the RAM itself, which is behind.
//!
//! What silicon has in its cache at a moment depends on everything that ran before, also on reads that the core did ahead. Here a seed says it: a line may be
//! in the cache or not whenever DMA comes by. Firmware that cleans and invalidates as the manual says (PM0253, ST's AN4839) does not notice.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::hash::mix;

const LINE: usize = 32;
/// Sets of 4 ways in its 16 KiB.
const SETS: usize = 128;
/// Accesses of DMA after which other lines are in the cache.
const EPOCH: u64 = 64;

/// What is done to lines of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maintenance {
    Invalidate,
    Clean,
    CleanAndInvalidate,
}

#[derive(Hash)]
pub(crate) struct DataCache {
    /// RAM, from its first byte.
    behind: Vec<u8>,
    /// Lines that DMA has written to while they were in the cache, with what the core saw then, and sees until the line is read anew.
    stale: BTreeMap<usize, Vec<u8>>,
    /// Regions of the MPU, in offsets, and whether the cache keeps what is there: the last one that has a place decides.
    pub(crate) regions: Vec<(Range<usize>, bool)>,
    accesses: u64,
}

fn line(of: usize) -> Range<usize> {
    let begin = of / LINE * LINE;
    begin..begin + LINE
}

impl DataCache {
    pub(crate) fn new(ram: &[u8]) -> Self {
        DataCache {
            behind: ram.to_vec(),
            stale: BTreeMap::new(),
            regions: Vec::new(),
            accesses: 0,
        }
    }

    /// What DMA sees.
    pub(crate) fn behind(&self) -> &[u8] {
        &self.behind
    }

    fn is_cached(&self, at: usize) -> bool {
        let of_place = self.regions.iter().rfind(|(range, _)| range.contains(&at));
        of_place.is_none_or(|(_, is_cached)| *is_cached)
    }

    /// Does something to the line of an offset, of which `ram` is what the core sees.
    pub(crate) fn maintain(&mut self, what: Maintenance, at: usize, ram: &mut [u8]) {
        let line = line(at);
        let (Some(seen), Some(behind)) = (ram.get_mut(line.clone()), self.behind.get_mut(line.clone())) else {
            return;
        };
        // What the core has not written to since is not written back.
        let is_dirty = self.stale.get(&line.start).is_none_or(|before| before != seen);
        if what != Maintenance::Invalidate && is_dirty {
            behind.copy_from_slice(seen);
            self.stale.remove(&line.start);
        }
        if what != Maintenance::Clean {
            seen.copy_from_slice(behind);
            self.stale.remove(&line.start);
        }
    }

    /// The same to a set, by a way of it: here the first stands for all four.
    pub(crate) fn maintain_set(&mut self, what: Maintenance, set_and_way: u32, ram: &mut [u8]) {
        let (set, way) = ((set_and_way >> 5) as usize % SETS, set_and_way >> 30);
        for at in (set * LINE..ram.len()).step_by(SETS * LINE).filter(|_| way == 0) {
            self.maintain(what, at, ram);
        }
    }

    /// DMA comes by: a line that is not in the cache has been written back, and is read anew. Returns whether it is in the cache.
    fn pass(&mut self, at: usize, ram: &mut [u8]) -> bool {
        if !self.is_cached(at) {
            self.maintain(Maintenance::CleanAndInvalidate, at, ram);
            return false;
        }
        let is_cached = mix(line(at).start as u64 ^ mix(self.accesses / EPOCH)) & 1 != 0;
        self.accesses += 1;
        if !is_cached {
            self.maintain(Maintenance::CleanAndInvalidate, at, ram);
        }
        is_cached
    }

    pub(crate) fn dma_load(&mut self, at: usize, ram: &mut [u8]) -> Option<u8> {
        self.pass(at, ram);
        self.behind.get(at).copied()
    }

    pub(crate) fn dma_store(&mut self, at: usize, byte: u8, ram: &mut [u8]) -> Option<()> {
        let is_cached = self.pass(at, ram);
        *self.behind.get_mut(at)? = byte;
        if is_cached {
            let seen = ram.get(line(at))?;
            self.stale.entry(line(at).start).or_insert_with(|| seen.to_vec());
        } else {
            *ram.get_mut(at)? = byte;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAM: usize = 4096;

    #[test]
    fn what_the_core_writes_over_a_stale_line_is_written_back() {
        let mut ram = vec![0; RAM];
        let mut cache = DataCache::new(&ram);
        (0..RAM).for_each(|at| cache.dma_store(at, 2, &mut ram).expect("RAM"));
        assert!(!cache.stale.is_empty());
        ram.fill(3);
        (0..RAM)
            .step_by(LINE)
            .for_each(|at| cache.maintain(Maintenance::Clean, at, &mut ram));
        assert_eq!((cache.behind(), cache.stale.len()), (&ram[..], 0));
    }

    /// What arrives of a message that the core writes and DMA sends, and of one that DMA writes and the core reads, for each line.
    fn arrives(
        regions: Vec<(Range<usize>, bool)>,
        before: Option<Maintenance>,
        after: Option<Maintenance>,
    ) -> [usize; 2] {
        let mut ram = vec![0; RAM];
        let mut cache = DataCache::new(&ram);
        cache.regions = regions;
        ram.fill(1);
        let whole = |cache: &mut DataCache, what: Option<Maintenance>, ram: &mut [u8]| {
            for at in (0..RAM).step_by(LINE) {
                what.into_iter().for_each(|what| cache.maintain(what, at, ram));
            }
        };
        whole(&mut cache, before, &mut ram);
        let sent = (0..RAM).filter(|at| cache.dma_load(*at, &mut ram) == Some(1)).count();
        for at in 0..RAM {
            cache.dma_store(at, 2, &mut ram).expect("RAM");
        }
        whole(&mut cache, after, &mut ram);
        [sent, ram.iter().filter(|byte| **byte == 2).count()]
    }

    #[test]
    fn dma_and_the_core_agree_if_the_cache_is_cleaned_and_invalidated() {
        let [clean, invalidate] = [Maintenance::Clean, Maintenance::Invalidate].map(Some);
        assert_eq!(arrives(vec![], clean, invalidate), [RAM; 2]);
        assert_eq!(arrives(vec![(0..RAM, false)], None, None), [RAM; 2], "not cached");
        for regions in [vec![], vec![(0..RAM, false), (0..RAM, true)]] {
            let found = arrives(regions, None, None);
            assert!(found.iter().all(|arrived| (1..RAM).contains(arrived)), "{found:?}");
        }
        // Invalidating in place of cleaning loses what the core has written.
        assert_eq!(arrives(vec![], invalidate, invalidate), [0, RAM]);
    }

    #[test]
    fn sets_and_ways_are_all_lines() {
        let mut ram = vec![0; RAM * 4];
        let mut cache = DataCache::new(&ram);
        ram.fill(1);
        for set in 0..SETS as u32 {
            (0..4).for_each(|way| cache.maintain_set(Maintenance::CleanAndInvalidate, way << 30 | set << 5, &mut ram));
        }
        assert_eq!(cache.behind(), ram);
    }
}
