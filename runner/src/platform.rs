//! The requirements of a node on its platform.

use hopwise_node::clock::{ClockTicks, MeshTime};
use hopwise_node::link::Micros;
use hopwise_node::signature::Job;
use hopwise_node::store::{FlashFailed, Slot};
use hopwise_node::update;
use hopwise_node::wire::StepSet;

use crate::task::Task;

const RECORD: usize = hopwise_node::boot::RECORD;

/// The clock, the flash for images, and other facilities used by all parts of a node. Methods with a default are optional.
pub trait Platform {
    /// The flash for the next image; [`NoImages`] if there is none.
    type Images: update::Flash;

    /// The name of the board, in at most 16 letters.
    const NAME: &'static str;

    /// Whether the node may stand still for several tenths of a second, as a process on a busy machine does. Its neighbors then notice its death later.
    const MAY_STALL: bool = false;

    /// Microseconds since boot.
    fn now(&self) -> Micros;

    /// Waits until a time of [`now`](Self::now).
    async fn wait_until(&self, at: Micros);

    /// Whether a serial port can run at a rate: that of a link, or behind the last of them the one to the host.
    fn can_run_at(port: u8, baud: u32) -> bool {
        let _ = (port, baud);
        true
    }

    /// The rates above this one that a serial port can [change](crate::SerialPorts::free_buffer) to.
    fn rate_steps(port: u8, baud: u32) -> StepSet {
        let _ = (port, baud);
        0
    }

    /// Calls `start`, which starts to write a frame, and returns when its first bit was on the wire, if that is known to a few microseconds.
    /// Otherwise the neighbor does not learn the mesh time from this node.
    fn time_start(start: impl FnOnce()) -> Option<ClockTicks> {
        start();
        None
    }

    /// Publishes the mesh time whenever its estimate changes.
    fn publish(&self, time: &MeshTime) {
        let _ = time;
    }

    /// What is wrong with the hardware of the board, if anything.
    fn complaint() -> Option<&'static str> {
        None
    }

    /// Verifies the signature of an image; `None` as long as that is in progress. Called with the same job several times a second until it is done.
    ///
    /// A shell whose node must not stand still for tens of milliseconds has something of lower priority do it.
    fn verify(&self, job: &Job) -> Option<bool> {
        Some(job.is_valid())
    }

    /// Records the running task, to identify one that never ends.
    fn note_task(&self, task: Task) {
        let _ = task;
    }
}

/// Periodic work, all of it optional.
pub trait Upkeep {
    /// All tasks are alive: feeds the watchdog. Called several times a second.
    fn heartbeat(&mut self) {}

    /// Sets whether the LED is lit for the next eighth of a second.
    fn show(&mut self, lit: bool) {
        let _ = lit;
    }

    /// The unused stack in bytes, if measured since the last call.
    fn stack_free(&mut self) -> Option<u32> {
        None
    }

    /// The board runs stably, or is about to change: resets the count of crashes.
    fn settle(&mut self) {}
}

impl Upkeep for () {}

/// No flash for another image, and so no update.
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
