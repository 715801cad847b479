//! What goes over a wire: levels, many of them at once.

/// Bits behind the point of the length of a level: clocks of two boards differ by a few parts in a million.
const FRACTION: u32 = 16;

/// What a wire does from a moment on: levels of equal length, one after the other, of which the last stays. It replaces all that was
/// said before about the time after that moment. Times are cycles of a board, or picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wave {
    /// When the first level begins.
    pub(crate) at: u64,
    /// How long each lasts, in 2^-16 of the unit.
    length: u64,
    /// The levels, the first in the lowest bit; idle is high.
    levels: u16,
    /// How many there are: at least one.
    count: u32,
}

impl Wave {
    pub(crate) fn level(at: u64, level: bool) -> Self {
        Wave::frame(at, 0, u16::from(level), 1)
    }

    /// `count` levels, at least one, from the lowest bit of `levels` on.
    pub(crate) fn frame(at: u64, length: u64, levels: u16, count: u32) -> Self {
        Wave {
            at,
            length: length << FRACTION,
            levels,
            count,
        }
    }

    /// The same in the time of another clock, which converts moments and lengths.
    pub(crate) fn converted(self, moment: impl Fn(u64) -> u64, length: impl Fn(u64) -> u64) -> Self {
        Wave {
            at: moment(self.at),
            length: length(self.length),
            ..self
        }
    }

    pub(crate) fn begins_high(&self) -> bool {
        self.level_of(0)
    }

    pub(super) fn begin(&self, place: u32) -> u64 {
        self.at + ((u64::from(place) * self.length) >> FRACTION)
    }

    pub(super) fn level_of(&self, place: u32) -> bool {
        self.levels >> place.min(self.count - 1) & 1 != 0
    }

    /// A bit for each level that differs from the one before it.
    pub(super) fn changes(&self, before: bool) -> u16 {
        let all = u16::MAX >> (16 - self.count);
        (self.levels ^ (self.levels << 1 | u16::from(before))) & all
    }

    /// The levels of a frame of `count` bits that the receiver takes to be `length` long, if it looks at each only while it is there:
    /// from `first` to `last` after where it should begin.
    pub(super) fn read(&self, count: u32, length: u64, first: u64, last: u64) -> Option<u16> {
        // Where this is so for the first and the last bit it is so for those between them.
        let is_there = |place: u32| {
            let due = self.at + u64::from(place) * length;
            due + first >= self.begin(place) && due + last < self.begin(place + 1)
        };
        let is_whole = count == self.count && is_there(0) && is_there(count - 1);
        is_whole.then_some(self.levels)
    }

    /// What is left of it at a moment after its begin: the level then, and those that follow.
    pub(crate) fn rest(&self, now: u64) -> impl Iterator<Item = Wave> {
        let next = (1..self.count).find(|place| self.begin(*place) > now);
        let present = Wave::level(now, self.level_of(next.unwrap_or(self.count) - 1));
        let rest = next.map(|place| Wave {
            at: self.begin(place),
            levels: self.levels >> place,
            count: self.count - place,
            ..*self
        });
        std::iter::once(present).chain(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A start bit, 0x4b and a stop bit.
    fn frame(at: u64, length: u64) -> Wave {
        Wave::frame(at, length, 0x4b << 1 | 1 << 9, 10)
    }

    #[test]
    fn a_frame_is_read_by_who_looks_at_the_middle_of_its_bits() {
        let wave = frame(1000, 160);
        for (length, is_read) in [(160, true), (155, true), (165, true), (150, false), (170, false)] {
            let read = wave.read(10, length, length / 2, length * 10 / 16);
            assert_eq!(read.is_some(), is_read, "{length}");
            assert!(read.is_none_or(|levels| levels >> 1 & 0xff == 0x4b));
        }
        assert_eq!(wave.read(11, 160, 80, 100), None, "another number of bits");
    }

    #[test]
    fn the_rest_of_a_frame_is_the_level_and_what_follows() {
        let level = |waves: &[Wave], time| {
            let wave = waves.iter().rfind(|wave| wave.at <= time).expect("a level");
            let place = (0..16).rfind(|place| wave.begin(*place) <= time || *place == 0);
            wave.level_of(place.expect("a place"))
        };
        let wave = frame(1000, 160);
        for now in 1000..1000 + 160 * 11 {
            let rest: Vec<Wave> = wave.rest(now).collect();
            for time in (now..1000 + 160 * 12).step_by(37) {
                assert_eq!(level(&rest, time), level(&[wave], time), "at {time}, from {now} on");
            }
        }
    }

    #[test]
    fn lengths_keep_their_fractions_in_another_time() {
        // A bit of 180 cycles of 5555.55 ps each.
        let there = frame(9, 180).converted(|at| at * 50_000 / 9, |length| length * 50_000 / 9);
        assert!(there.begin(9).abs_diff(50_000 + 9_000_000) <= 1);
        let back = there.converted(|at| at * 9 / 50_000, |length| length * 9 / 50_000);
        assert!(back.begin(9).abs_diff(9 + 9 * 180) <= 1);
    }
}
