//! The board's own clock, and what time it is in the mesh.
//!
//! Frames are timed by interrupts: that of an idle line comes when a whole byte has not come after the last one. What passes between an
//! event on the wire and the look at the clock is the same each time, and taken off.

use core::cell::Cell;

use cortex_m::interrupt::{self, Mutex};
use embassy_time::Instant;
use hopwise_node::clock::{GRAINS, Grains, MeshTime, grains};
use hopwise_node::link::Micros;

/// From the line's falling idle to the clock's reading, in grains; half a tick of the clock is taken off.
const IDLE_LATENCY: Grains = 0;
/// From the first bit on the wire to the clock's reading.
const START_LATENCY: Grains = 200;
/// A line that was idle for longer than so many bytes when this is looked at may have carried a signal since.
const SHORTEST_SIGNAL: u64 = 25;

/// What time it is in the mesh. By its name it is found from outside.
#[unsafe(no_mangle)]
static HOPWISE_MESH_TIME: Mutex<Cell<MeshTime>> = Mutex::new(Cell::new(MeshTime::UNKNOWN));

/// Microseconds since the start.
pub(crate) fn now() -> Micros {
    Instant::now().as_micros()
}

/// What time it is in the mesh, for programs.
pub(crate) fn publish(time: &MeshTime) {
    interrupt::free(|token| HOPWISE_MESH_TIME.borrow(token).set(*time));
}

/// The middle of the present tick of the clock.
fn middle(micros: Micros) -> Grains {
    grains(micros).wrapping_add(GRAINS / 2)
}

/// When a frame began that was started just now.
pub(crate) fn started() -> Grains {
    middle(now()).wrapping_sub(START_LATENCY)
}

/// When the last byte ended on a line that fell idle at a time whose low half is known; `None` if that is too long ago to tell.
pub(crate) fn ended(idle_at: u32, baud: u32, now: Micros) -> Option<Grains> {
    let byte = 10_000_000 * GRAINS / u64::from(baud.max(1));
    let ago = u64::from((now as u32).wrapping_sub(idle_at));
    (grains(ago) < SHORTEST_SIGNAL * byte).then(|| middle(now.wrapping_sub(ago)).wrapping_sub(byte + IDLE_LATENCY))
}
