//! One clock for the mesh: all boards agree on what time it is, each by what its neighbors say.
//!
//! The clock is that of the **root**, the board with the lowest address among those that are alive. All others follow a neighbor that is
//! nearer to it. Boards send [time signals](TimeSignal) on their links, and each tells when the one before it has left, by the sender's own clock
//! and in time of the mesh. The receiver knows when it came, and how long bits take: so it knows the time, and by comparing own clocks over
//! seconds how much faster the neighbor's crystal is than its own. Rates are passed on from the root with the time, so that at first a
//! long path does not take longer to settle than a short one; later each board measures the time itself.
//!
//! - Signals of the root are numbered, in **rounds**, and passed on at once. A board follows only who knows of a newer round; a root whose
//!   rounds end is dead. So nobody follows in a cycle, or whom others only remember (DSDV, Perkins and Bhagwat 1994).
//! - A board that has just started takes over the time that most of its neighbors have, whatever its own address. It becomes the root, if it is to,
//!   once it has the time. If nobody has one, the board that is to be the root begins it.
//! - What differs from what a board knows is not taken over. A neighbor that jumps, or runs faster than any crystal, is refused, and
//!   after a while not followed any more, the root included; then the next one is the root, and the time goes on. Only if a better root is
//!   heard of that has another time, where two meshes become one, or if most neighbors disagree, the other time is taken.
//!
//! [`MeshTime`] is what comes of it, and never goes back.

#[cfg(feature = "clock")]
mod follow;
#[cfg(not(feature = "clock"))]
mod off;
mod time;

#[cfg(feature = "clock")]
pub(crate) use follow::MeshClock;
#[cfg(not(feature = "clock"))]
pub(crate) use off::MeshClock;
pub use time::MeshTime;

use crate::link::Micros;
use hopwise_core::Node;

/// Time in 256ths of a microsecond.
pub type ClockTicks = u64;

/// ClockTicks of a microsecond.
pub const TICKS_PER_MICRO: ClockTicks = 256;

/// A time in the finer unit.
pub const fn clock_ticks(micros: Micros) -> ClockTicks {
    micros.wrapping_mul(TICKS_PER_MICRO)
}

/// Parts in a million, as rates are kept.
const PPM: i32 = ((1_u64 << 32) / 1_000_000) as i32;
/// No crystal differs from another by more, nor from the time of the mesh: 250 parts in a million.
const MAX_RATE: i32 = 250 * PPM;

/// What a board tells of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tidings {
    pub(crate) root: Node,
    pub(crate) mesh: Micros,
    pub(crate) rate: i32,
}
