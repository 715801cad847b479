//! What a node needs of the machine that it runs on.

use hopwise_node::clock::{ClockTicks, MeshTime};
use hopwise_node::link::Micros;
use hopwise_node::store::{FlashFailed, Slot};
use hopwise_node::update;

use crate::task::Task;

/// Bytes of a record in the log of images.
const RECORD: usize = hopwise_node::boot::RECORD;

/// The clock, the flash for images, and what else all parts of a node use. What has a default can be left to it.
pub trait Platform {
    /// Where the next image goes; [`NoImages`] if there is no place for it.
    type Images: update::Flash;

    /// Which board it is, in at most 16 letters.
    const NAME: &'static str;

    /// Microseconds since the start.
    fn now(&self) -> Micros;

    /// Waits until a time of [`now`](Self::now).
    async fn wait_until(&self, at: Micros);

    /// Whether all serial ports can run at a rate.
    fn can_run_at(baud: u32) -> bool {
        let _ = baud;
        true
    }

    /// Calls `start`, which begins to write a frame, and tells when its first bit was on the wire, if that is known to a few microseconds.
    /// Otherwise the neighbor does not learn the time of the mesh from this node.
    fn time_start(start: impl FnOnce()) -> Option<ClockTicks> {
        start();
        None
    }

    /// What time it is in the mesh, whenever more is known of that.
    fn publish(&self, time: &MeshTime) {
        let _ = time;
    }

    /// This task runs now, should one never end.
    fn note_task(&self, task: Task) {
        let _ = task;
    }

    /// Has every [`wait`](crate::LinkRx::wait) return, though nothing may have come. Whether it did: otherwise it is not noticed if a
    /// receiver hangs alone.
    fn wake_receivers(&self) -> bool {
        false
    }
}

/// What is done regularly. Nothing of it is needed.
pub trait Upkeep {
    /// All tasks are alive: a watchdog is told so. Called several times a second.
    fn heartbeat(&mut self) {}

    /// Whether the LED is lit for the next eighth of a second.
    fn show(&mut self, lit: bool) {
        let _ = lit;
    }

    /// Bytes of the stack that were never used, if that has been found out since the last call.
    fn stack_free(&mut self) -> Option<u32> {
        None
    }

    /// The board runs as it should, or will be another one: crashes are counted anew.
    fn settle(&mut self) {}
}

impl Upkeep for () {}

/// There is no place for another image, and so no update.
#[derive(Clone, Copy, Debug)]
pub struct NoImages;

impl update::Flash for NoImages {
    fn board(&self) -> &'static str {
        ""
    }

    fn has_loader(&self) -> bool {
        false
    }

    fn own_slot(&self) -> Slot {
        Slot::First
    }

    fn log_records(&self) -> usize {
        0
    }

    fn read_record(&self, _: usize) -> [u8; RECORD] {
        [0xff; RECORD]
    }

    fn erase_log(&mut self) -> Result<(), FlashFailed> {
        Err(FlashFailed)
    }

    fn write_record(&mut self, _: usize, _: &[u8; RECORD]) -> Result<(), FlashFailed> {
        Err(FlashFailed)
    }

    fn slot_bytes(&self) -> usize {
        0
    }

    fn erase_sector(&mut self, _: usize) -> Result<usize, FlashFailed> {
        Err(FlashFailed)
    }

    fn read(&self, _: usize) -> [u8; RECORD] {
        [0xff; RECORD]
    }

    fn write(&mut self, _: usize, _: &[u8]) -> Result<(), FlashFailed> {
        Err(FlashFailed)
    }
}
