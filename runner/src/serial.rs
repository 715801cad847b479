//! The serial ports of links: any writer sends, and any reader receives, as [`PlainRx`]; a driver can provide more.

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
    /// When the last byte ended; `None` if that is unknown, or too long ago.
    pub(crate) fn ended(&self, baud: u32, now: Micros) -> Option<ClockTicks> {
        let idle_at = self.idle_at?;
        let byte = 10_000_000 * TICKS_PER_MICRO / u64::from(baud.max(1));
        let is_recent = clock_ticks(now.wrapping_sub(idle_at)) < SHORTEST_SIGNAL * byte;
        // In the middle of the clock's tick.
        is_recent.then(|| {
            clock_ticks(idle_at)
                .wrapping_add(TICKS_PER_MICRO / 2)
                .wrapping_sub(byte)
        })
    }
}

/// The receiving half of a serial port.
pub trait LinkRx {
    /// Waits until bytes have been received. It may return before that. Ideally a driver waits until the line is idle, or its buffer
    /// has to be read: each return costs the node a poll.
    async fn wait(&mut self);

    /// Passes on the received bytes, without waiting, directly from the driver's buffer.
    fn take(&mut self, give: impl FnOnce(Arrival<'_>));
}

/// Any reader as a link, with a buffer of `N` bytes.
#[derive(Debug)]
pub struct PlainRx<R, const N: usize = 256> {
    reader: R,
    buffer: [u8; N],
    length: usize,
    faults: LineFaults,
}

impl<R: Read, const N: usize> PlainRx<R, N> {
    /// A reader that has ended stays silent: one whose other end may come back must not report its end.
    pub fn new(reader: R) -> Self {
        PlainRx {
            reader,
            buffer: [0; N],
            length: 0,
            faults: LineFaults::default(),
        }
    }
}

impl<R: Read, const N: usize> LinkRx for PlainRx<R, N> {
    async fn wait(&mut self) {
        match self.reader.read(&mut self.buffer).await {
            Ok(0) => core::future::pending().await,
            Ok(length) => self.length = length,
            // For example a driver that stops at a framing error, and continues. If it is permanent, the others still run.
            Err(_) => {
                self.faults.framing = true;
                yield_now().await;
            }
        }
    }

    fn take(&mut self, give: impl FnOnce(Arrival<'_>)) {
        let length = core::mem::take(&mut self.length);
        give(Arrival {
            bytes: self.buffer.get(..length).unwrap_or(&[]),
            faults: core::mem::take(&mut self.faults),
            ..Arrival::default()
        });
    }
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
