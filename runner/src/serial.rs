//! The serial ports of links: any readers and writers, or the [ports of a driver](SerialPorts) that does more.

use core::task::Context;

use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};
use hopwise_node::clock::{ClockTicks, TICKS_PER_MICRO, clock_ticks};
use hopwise_node::link::Micros;
use hopwise_node::wire::LineFaults;

/// Idle time in bytes after which the line may have carried another signal.
const SHORTEST_SIGNAL: u64 = 25;

/// Received bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival<'b> {
    /// The bytes; there may be none.
    pub bytes: &'b [u8],
    /// Whether some were overwritten before they were read.
    pub is_lost: bool,
    /// When the line became idle, one byte time after the last bit, if the driver knows that to a few microseconds. Without it the
    /// node does not learn the mesh time on this link.
    pub idle_at: Option<Micros>,
    /// The line faults of the bytes.
    pub faults: LineFaults,
}

impl Arrival<'_> {
    /// When the last byte ended, on a wire where each takes so long; `None` if that is unknown, or too long ago.
    pub(crate) fn ended(&self, byte_nanos: u32, now: Micros) -> Option<ClockTicks> {
        let idle_at = self.idle_at?;
        let byte = ClockTicks::from(byte_nanos.saturating_mul(TICKS_PER_MICRO as u32) / 1_000);
        let is_recent = clock_ticks(now.wrapping_sub(idle_at)) < SHORTEST_SIGNAL * byte;
        // In the middle of the clock's tick.
        is_recent.then(|| {
            clock_ticks(idle_at)
                .wrapping_add(TICKS_PER_MICRO / 2)
                .wrapping_sub(byte)
        })
    }
}

/// All serial ports of a node, of a driver whose interrupts note what happens: [`Runner::drive`](crate::Runner::drive) is then
/// the one task for them.
pub trait SerialPorts {
    /// The ports that have received something, and those that may send again, since the last call. The task is woken when there are
    /// more. Ideally a driver waits until the line is idle, or its buffer has to be read.
    fn poll(&mut self, context: &mut Context<'_>) -> PortEvents;

    /// Passes on the received bytes of a port, directly from the driver's buffer.
    fn take(&mut self, port: u8, give: impl FnOnce(Arrival<'_>));

    /// Where the next frame of a port is written; `None` while one is being sent, whose end is an event then. A port that has
    /// [steps](crate::Platform::rate_steps) takes its new rate, if there is one, once what was sent has left it.
    fn free_buffer(&mut self, port: u8, new_baud: impl FnOnce() -> Option<u32>) -> Option<&mut [u8]>;

    /// Starts to send the first bytes of the buffer.
    fn send(&mut self, port: u8, length: usize);
}

/// The ports with events, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortEvents {
    /// Those that have received something.
    pub received: u32,
    /// Those that were not free when that was last asked, and are now.
    pub freed: u32,
}

/// The numbers of the bits that are set.
pub(crate) fn bits(mut set: u32) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        let first = set.trailing_zeros() as u8;
        set &= set.wrapping_sub(1);
        (first < 32).then_some(first)
    })
}

/// Waits for bytes of a reader, and passes them on.
pub(crate) async fn read(reader: &mut impl Read, buffer: &mut [u8], give: impl FnOnce(Arrival<'_>)) {
    let mut arrival = Arrival::default();
    match reader.read(buffer).await {
        // A reader that has ended stays silent: one whose other end may come back must not report its end.
        Ok(0) => core::future::pending().await,
        Ok(length) => arrival.bytes = buffer.get(..length).unwrap_or(&[]),
        // For example a driver that stops at a framing error, and continues. If it is permanent, the others still run.
        Err(_) => {
            arrival.faults.framing = true;
            yield_now().await;
        }
    }
    give(arrival);
}

/// Sends a frame. If that fails it is lost, and the link notices.
#[allow(clippy::manual_async_fn, reason = "an `async fn` holds what it is given twice")]
pub(crate) fn send(tx: &mut impl Write, mut frame: &[u8]) -> impl Future<Output = ()> {
    async move {
        while !frame.is_empty() {
            match tx.write(frame).await {
                Ok(written) if written > 0 => frame = frame.get(written..).unwrap_or(&[]),
                _ => return,
            }
        }
    }
}
