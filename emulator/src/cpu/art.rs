//! What reading the flash costs: wait states, and the accelerator (ART) that hides them. RM0390 section 3.4 (F4), RM0351 section
//! 3.3.5 (L4), RM0440 section 3.3.5 (G4).
//!
//! The flash gives a line at a time: 16 bytes on the F4, 8 on L4 and G4, 32 on the H7. Without the accelerator a fetch waits
//! whenever it leaves the line that it is in, and every load of data waits. With prefetch the next line is fetched while this one
//! executes. The instruction cache has 1 KiB, filled by fetches that had to wait; the data cache has 128 bytes on the F4, 256
//! on L4 and G4. Both forget what was used least recently. The H7 has no accelerator: the caches are in its core, 16 KiB of
//! instructions (ARM DDI 0489), and that of data stays off here.
//!
//! Of the caches the manuals tell the sizes and no more. The instruction cache is modeled as sets of 4 ways: a full search
//! would cost more than the instruction, and sets only make it a little worse than it is.

use std::ops::Range;

use super::cycles::Cycles;

const LATENCY: u32 = 0xf;
const PREFETCH: u32 = 1 << 8;
const INSTRUCTIONS: u32 = 1 << 9;
const DATA: u32 = 1 << 10;
const RESET_INSTRUCTIONS: u32 = 1 << 11;
const RESET_DATA: u32 = 1 << 12;

const WAYS: usize = 4;
/// No address has this line.
const NO_LINE: u32 = u32::MAX;

/// How the flash of a chip is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlashReading {
    /// Bytes of a line, as a power of two.
    line: u32,
    sets: usize,
    data_lines: usize,
    is_in_core: bool,
}

impl FlashReading {
    /// 128 bits at a time, with the accelerator of the F4.
    pub const F4: Self = Self::with_accelerator(4, 16, 8);
    /// 64 bits at a time, with that of L4 and G4.
    pub const L4_G4: Self = Self::with_accelerator(3, 32, 32);
    /// 256 bits at a time, with the cache of the Cortex-M7.
    pub const H7: Self = FlashReading {
        is_in_core: true,
        ..Self::with_accelerator(5, 128, 0)
    };

    const fn with_accelerator(line: u32, sets: usize, data_lines: usize) -> Self {
        FlashReading {
            line,
            sets,
            data_lines,
            is_in_core: false,
        }
    }
}

/// The accelerator's state. Lines are numbered by address / length.
#[derive(Hash)]
pub(super) struct Art {
    reading: FlashReading,
    /// Bits of an address within a line.
    pub(super) shift: u32,
    /// The lines of the flash: the rest of the memory has no wait states.
    flash: Range<u32>,
    /// FLASH_ACR.
    access: u32,
    wait: Cycles,
    /// The line that instructions come from.
    pub(super) line: u32,
    /// When the line after it will have been prefetched.
    next_ready: Cycles,
    /// The most recently used first.
    instructions: Vec<[u32; WAYS]>,
    data: Vec<u32>,
    /// Lines of the data cache whose flash has changed since.
    stale: Vec<u32>,
}

impl Art {
    pub(super) fn new(reading: FlashReading, access: u32) -> Self {
        let mut art = Art {
            reading,
            shift: reading.line,
            flash: 0x0800_0000 >> reading.line..0x0900_0000 >> reading.line,
            access: 0,
            wait: 0,
            line: NO_LINE,
            next_ready: 0,
            instructions: vec![[NO_LINE; WAYS]; reading.sets],
            data: vec![NO_LINE; reading.data_lines],
            stale: Vec::new(),
        };
        art.configure(access);
        art
    }

    /// FLASH_ACR has been written.
    pub(super) fn configure(&mut self, access: u32) {
        let access = if self.reading.is_in_core {
            access & LATENCY | self.access & INSTRUCTIONS
        } else {
            access
        };
        if access == self.access {
            return;
        }
        (self.access, self.wait) = (access, u64::from(access & LATENCY));
        if access & RESET_INSTRUCTIONS != 0 {
            self.forget_instructions();
        }
        if access & RESET_DATA != 0 {
            self.data.fill(NO_LINE);
            self.stale.clear();
        }
    }

    /// The instruction cache of the core is switched; nothing happens where there is none.
    pub(super) fn switch_core_cache(&mut self, on: bool) {
        if self.reading.is_in_core {
            self.access = self.access & !INSTRUCTIONS | if on { INSTRUCTIONS } else { 0 };
        }
    }

    pub(super) fn is_in_core(&self) -> bool {
        self.reading.is_in_core
    }

    pub(super) fn forget_instructions(&mut self) {
        self.instructions.fill([NO_LINE; WAYS]);
    }

    fn is_on(&self, part: u32) -> bool {
        self.access & part != 0
    }

    /// Execution goes on in another line: returns how long that waits.
    #[inline(never)]
    pub(super) fn enter(&mut self, line: u32, now: Cycles) -> Cycles {
        let follows = line == self.line.wrapping_add(1);
        self.line = line;
        if self.wait == 0 || !self.flash.contains(&line) {
            return 0;
        }
        let wait = if follows && self.is_on(PREFETCH) {
            self.next_ready.saturating_sub(now)
        } else {
            self.wait
        };
        // What a fetch would have to wait for is looked for in the cache, and kept there.
        let wait = if wait > 0 && self.is_on(INSTRUCTIONS) && self.has_or_keeps(line) {
            0
        } else {
            wait
        };
        self.next_ready = now + wait + self.wait + 1;
        wait
    }

    /// Whether the instruction cache has a line. It then has it, and it is the one that was used last.
    #[inline(always)]
    fn has_or_keeps(&mut self, line: u32) -> bool {
        let sets = self.instructions.len();
        let set = &mut self.instructions[line as usize & (sets - 1)];
        let found = set.iter().position(|kept| *kept == line);
        set[..=found.unwrap_or(WAYS - 1)].rotate_right(1);
        set[0] = line;
        found.is_some()
    }

    /// How long a load of data waits, and whether it gets what was there before the flash was changed.
    #[inline(always)]
    pub(super) fn load(&mut self, address: u32) -> (Cycles, bool) {
        if self.wait == 0 && self.access & DATA == 0 || !self.flash.contains(&(address >> self.shift)) {
            return (0, false);
        }
        self.load_line(address >> self.shift)
    }

    #[inline(never)]
    fn load_line(&mut self, line: u32) -> (Cycles, bool) {
        if !self.is_on(DATA) {
            return (self.wait, false);
        }
        match self.data.iter().position(|kept| *kept == line) {
            Some(place) => {
                self.data[..=place].rotate_right(1);
                (0, self.stale.contains(&line))
            }
            None => {
                self.data.rotate_right(1);
                let forgotten = std::mem::replace(&mut self.data[0], line);
                self.stale.retain(|stale| *stale != forgotten);
                (self.wait, false)
            }
        }
    }

    /// Some of the flash has been programmed or erased. The caches are not told.
    pub(super) fn flash_changed(&mut self, changed: &Range<u32>) {
        let length = 1 << self.shift;
        for line in self.data.iter().copied() {
            let begin = line.wrapping_mul(length);
            let end = begin.wrapping_add(length);
            if line != NO_LINE && begin < changed.end && changed.start < end && !self.stale.contains(&line) {
                self.stale.push(line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: u32 = 0x0800_0000 >> 4;

    /// How long each of some lines waits, if each is executed for ten cycles.
    fn waits(access: u32, lines: &[u32]) -> Vec<Cycles> {
        let mut art = Art::new(FlashReading::F4, access);
        let mut now = 0;
        let mut enter = |line: &u32| {
            let wait = art.enter(FIRST + line, now);
            now += wait + 10;
            wait
        };
        lines.iter().map(&mut enter).collect()
    }

    #[test]
    fn without_wait_states_nothing_waits() {
        assert_eq!(waits(0, &[0, 1, 7, 0]), [0, 0, 0, 0]);
        assert_eq!(Art::new(FlashReading::F4, 0).load(0x0800_0000), (0, false));
    }

    #[test]
    fn without_the_accelerator_every_line_waits() {
        assert_eq!(waits(5, &[0, 1, 7, 0]), [5, 5, 5, 5]);
        let mut art = Art::new(FlashReading::F4, 5);
        assert_eq!([art.load(0x0800_0000), art.load(0x0800_0004)], [(5, false); 2]);
        assert_eq!(art.load(0x2000_0000), (0, false), "RAM");
        assert_eq!(art.enter(0x2000_0000 >> 4, 0), 0, "RAM");
    }

    #[test]
    fn prefetch_hides_the_next_line_and_no_jump() {
        assert_eq!(waits(5 | PREFETCH, &[0, 1, 2, 7, 0]), [5, 0, 0, 5, 5]);
        // A line that is executed faster than the flash gives the next one.
        let mut art = Art::new(FlashReading::F4, 5 | PREFETCH);
        assert_eq!((art.enter(FIRST, 0), art.enter(FIRST + 1, 5 + 2)), (5, 4));
    }

    #[test]
    fn the_cache_knows_what_had_to_wait() {
        assert_eq!(waits(5 | INSTRUCTIONS, &[0, 1, 7, 0, 1, 7]), [5, 5, 5, 0, 0, 0]);
        // 64 lines fit, in any order; one more of the same set drives out the one that was used least recently.
        let mut lines: Vec<u32> = (0..64).chain(0..64).collect();
        assert_eq!(waits(5 | INSTRUCTIONS, &lines)[64..], [0; 64]);
        lines.extend([64, 0, 16]);
        assert_eq!(waits(5 | INSTRUCTIONS, &lines)[128..], [5, 5, 5]);
    }

    #[test]
    fn a_line_that_came_too_late_by_prefetch_is_kept_too() {
        // A loop over two lines, each left after three cycles.
        let mut art = Art::new(FlashReading::F4, 5 | PREFETCH | INSTRUCTIONS);
        let mut now = 0;
        let mut enter = |line: u32| {
            let wait = art.enter(FIRST + line, now);
            now += wait + 3;
            wait
        };
        assert_eq!([0, 1, 0, 1, 0, 1].map(&mut enter), [5, 3, 0, 0, 0, 0]);
    }

    #[test]
    fn eight_lines_of_data_are_kept() {
        let mut art = Art::new(FlashReading::F4, 5 | DATA);
        let mut load = |line: u32| art.load((FIRST + line) << 4).0;
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(&mut load), [5; 8]);
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(&mut load), [0; 8]);
        assert_eq!([8, 1, 0].map(&mut load), [5, 0, 5]);
    }

    #[test]
    fn data_from_before_a_change_is_stale_until_the_cache_is_reset() {
        let mut art = Art::new(FlashReading::F4, 5 | DATA);
        art.load(0x0806_0000);
        art.flash_changed(&(0x0806_0010..0x0806_0020));
        assert_eq!(art.load(0x0806_0004), (0, false), "its neighbor");
        art.flash_changed(&(0x0806_0000..0x0808_0000));
        assert_eq!(art.load(0x0806_0004), (0, true));
        art.configure(5);
        assert_eq!(art.load(0x0806_0004), (5, false), "the cache is off");
        art.configure(5 | DATA);
        assert_eq!(art.load(0x0806_0004), (0, true), "on again, it still has it");
        art.configure(5);
        art.configure(5 | RESET_DATA);
        art.configure(5 | DATA);
        assert_eq!(art.load(0x0806_0004), (5, false));
    }

    #[test]
    fn l4_and_g4_read_eight_bytes_at_a_time() {
        let first = 0x0800_0000 >> 3;
        let mut art = Art::new(FlashReading::L4_G4, 4 | INSTRUCTIONS);
        assert_eq!([0, 1, 0, 1].map(|line| art.enter(first + line, 0)), [4, 4, 0, 0]);
        let mut art = Art::new(FlashReading::L4_G4, 4 | DATA);
        let mut load = |address: u32| art.load(0x0800_0000 + address).0;
        assert_eq!([0, 4, 8, 0].map(&mut load), [4, 0, 4, 0]);
        // 32 lines fit.
        (0..32).for_each(|line| _ = load(8 * line));
        assert_eq!([load(0), load(8 * 32), load(8)], [0, 4, 4]);
    }

    #[test]
    fn the_h7_has_its_cache_in_the_core() {
        let first = 0x0800_0000 >> 5;
        let mut art = Art::new(FlashReading::H7, 4 | INSTRUCTIONS | DATA);
        let found = [0, 1, 0].map(|line| art.enter(first + line, 0));
        assert_eq!(found, [4, 4, 4], "off, whatever ACR says");
        art.switch_core_cache(true);
        art.configure(3);
        assert_eq!([1, 0, 1, 0].map(|line| art.enter(first + line, 0)), [3, 3, 0, 0]);
        art.forget_instructions();
        assert_eq!(art.enter(first + 1, 0), 3);
        let found = [art.load(0x0800_0000).0, art.load(0x0800_0000).0];
        assert_eq!(found, [3, 3], "data are not kept");
    }
}
