//! How far a ring has been read that DMA fills without end: arithmetic only, so that it is tested on a host.

/// Bytes of the smallest ring. A full one is 5 ms at one million baud; each half is read while the other fills. All ports at full speed with a
/// line in the log for every packet keep a port waiting for more than a millisecond, so half of 256 is not enough.
const MIN_RING: usize = 512;
/// Bytes of the largest ring.
pub(crate) const MAX_RING: usize = ring_bytes(*hopwise_node::wire::BAUD_RATES.end());

/// The bytes of a ring for a rate: 2 ms of a full line, and no more, since on a full line a frame waits until half of a ring has come.
pub(crate) const fn ring_bytes(baud: u32) -> usize {
    let millisecond = (baud as usize).div_ceil(10 * 1_000);
    if 2 * millisecond > MIN_RING {
        2 * millisecond
    } else {
        MIN_RING
    }
}

/// Up to where a ring has been read.
pub(crate) struct Reader {
    /// The bytes of the ring.
    pub(crate) size: usize,
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
    pub(crate) fn new(size: usize) -> Self {
        Reader { size, at: 0, halves: 0 }
    }

    /// The place in a ring that is this far from its beginning, less than two rounds.
    pub(crate) fn place(&self, distance: usize) -> usize {
        if distance < self.size {
            distance
        } else {
            distance - self.size
        }
    }

    /// What has come, if the next byte goes to `end` and there were so many interrupts, counted before `end` was looked at: those of what has come
    /// may be late, but none is early.
    pub(crate) fn advance(&mut self, halves: u32, end: usize) -> Piece {
        let begin = self.at;
        let count = self.place(end + self.size - begin);
        // There is an interrupt after each half.
        let half = self.size / 2;
        let crossed = (begin % half + count) / half;
        let late = crossed as i32 - halves.wrapping_sub(self.halves) as i32;
        self.at = self.place(end);
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
