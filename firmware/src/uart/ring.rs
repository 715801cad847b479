//! How far a ring has been read that DMA fills without end: arithmetic only, so that it is tested on a host.

/// Bytes of a ring. A full one is 5 ms at one million baud; each half is read while the other fills. All ports at full speed with a
/// line in the log for every packet keep a port waiting for more than a millisecond, so half of 256 is not enough.
pub(crate) const RING: usize = 512;
/// There is an interrupt after so many bytes.
const HALF: usize = RING / 2;

/// Up to where a ring has been read.
#[derive(Default)]
pub(crate) struct Reader {
    /// The place in the ring.
    at: usize,
    /// Interrupts of the halves up to there.
    halves: u32,
}

/// What there is to read.
pub(crate) struct Piece {
    /// Where in the ring it begins.
    pub(crate) begin: usize,
    /// Its length; it goes on at the beginning of the ring where that ends.
    pub(crate) count: usize,
    /// Whether the ring has gone round since the last call, and what there was is lost.
    pub(crate) is_lost: bool,
}

impl Reader {
    /// What has come, if the next byte goes to `end` and there were so many interrupts, counted before `end` was looked at: those of what has come
    /// may be late, but none is early.
    pub(crate) fn advance(&mut self, halves: u32, end: usize) -> Piece {
        let begin = self.at;
        let count = end.wrapping_sub(begin) % RING;
        let crossed = (begin % HALF + count) / HALF;
        let late = crossed as i32 - halves.wrapping_sub(self.halves) as i32;
        self.at = end % RING;
        // More than one cannot be on its way: the others have become one. A round of the ring has two.
        let to_come = if late < 0 { late & 1 } else { late.min(1) };
        self.halves = halves.wrapping_add(to_come as u32);
        Piece {
            begin,
            count,
            // More halves than those bytes fill.
            is_lost: late < 0,
        }
    }
}
