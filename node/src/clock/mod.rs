//! One clock for the mesh: all boards agree on the time by exchanging signals with their neighbors.
//!
//! The reference is the clock of the **root**, the live board with the lowest address. All others follow a neighbor that is
//! closer to it. Boards send [time signals](crate::wire::TimeSignal) on their links, and each tells when the previous one was sent, by the sender's local
//! clock and in mesh time. The receiver knows when that one arrived and how long bits take: so it knows the time, and, from local clocks
//! compared over seconds, the rate of the neighbor's crystal relative to its own. Rates are propagated from the root with the time, so that
//! at first a long path settles as fast as a short one; later each board measures mesh time itself.
//!
//! - Signals of the root are numbered, in **rounds**, and propagated at once. A board follows only a neighbor that knows of a newer round; a
//!   root whose rounds end is dead. So there are no cycles of followers, and no dead root is followed (DSDV, Perkins and Bhagwat 1994).
//! - A board that has just booted adopts the time of most of its neighbors, whatever its own address. If it is to be the root, it becomes so
//!   once it has the time. If no board has the time, the future root starts it.
//! - A time that differs from the known one is rejected. A neighbor that jumps, or runs faster than any crystal, is rejected, and
//!   after a while no longer followed, even if it is the root; then the next one becomes the root, and time goes on. Only a better
//!   root with another time, as when two meshes are joined, or the disagreement of most neighbors makes a board adopt another time.
//!
//! [`MeshTime`] is the result, and is monotonic.

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

/// Clock ticks per microsecond.
pub const TICKS_PER_MICRO: ClockTicks = 256;

/// Converts microseconds to clock ticks.
pub const fn clock_ticks(micros: Micros) -> ClockTicks {
    micros.wrapping_mul(TICKS_PER_MICRO)
}

/// One part per million, in the unit of rates.
const PPM: i32 = ((1_u64 << 32) / 1_000_000) as i32;
/// Maximum rate of a crystal relative to another or to mesh time: 250 parts per million.
const MAX_RATE: i32 = 250 * PPM;

/// A periodic report of a board's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tidings {
    pub(crate) root: Node,
    pub(crate) mesh: Micros,
    pub(crate) rate: i32,
}
