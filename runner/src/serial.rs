//! The serial port of a link. Anything that reads and writes will do, as [`PlainRx`] and [`PlainTx`]; a driver that knows more says so.

use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};
use hopwise_core::clock::Grains;
use hopwise_core::wire::LineFaults;

/// Bytes that have come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival<'b> {
    /// The bytes; there may be none.
    pub bytes: &'b [u8],
    /// When the last bit of the last byte came, if the driver knows that to a few microseconds. Without it the node does not learn the time
    /// of the mesh on this link.
    pub ended: Option<Grains>,
    /// What was wrong with them.
    pub faults: LineFaults,
}

/// The receiving half of a serial port.
pub trait LinkRx {
    /// Waits until bytes have come. It may return before that. A driver does best that waits until the line falls idle, or so many bytes
    /// have come that it must not wait: each return costs the node a look.
    async fn wait(&mut self);

    /// Hands over what has come, without waiting, from wherever the driver has it.
    fn take(&mut self, give: impl FnOnce(Arrival<'_>));
}

/// The sending half of a serial port.
pub trait LinkTx {
    /// Sends a frame, and returns when the next may follow. What cannot be sent is lost: the link notices.
    ///
    /// If there is a `started`, a driver that knows to a few microseconds when the first bit was on the wire calls it as soon as it is. Others
    /// do not: then the neighbor does not learn the time of the mesh on this link.
    async fn send(&mut self, frame: &[u8], started: Option<impl FnOnce(Grains)>);
}

/// Any reader, with a buffer of `N` bytes, as a link.
#[derive(Debug)]
pub struct PlainRx<R, const N: usize = 256> {
    reader: R,
    buffer: [u8; N],
    length: usize,
    faults: LineFaults,
}

impl<R: Read, const N: usize> PlainRx<R, N> {
    /// A reader that has ended stays silent: one whose other end may come back must not say that it has ended.
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
            // Such as of a driver that stops at a byte without a stop bit, and goes on. If it is for good, others still run.
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
            ended: None,
            faults: core::mem::take(&mut self.faults),
        });
    }
}

/// Any writer as a link.
#[derive(Debug)]
pub struct PlainTx<W>(pub W);

impl<W: Write> LinkTx for PlainTx<W> {
    async fn send(&mut self, mut frame: &[u8], _: Option<impl FnOnce(Grains)>) {
        while !frame.is_empty() {
            match self.0.write(frame).await {
                Ok(written) if written > 0 => frame = frame.get(written..).unwrap_or(&[]),
                _ => return,
            }
        }
        // What was not sent is sent again.
        let _ = self.0.flush().await;
    }
}
