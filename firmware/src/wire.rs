//! Receiving: a DMA ring that is never stopped, whatever comes.
//!
//! embassy's own ring receiver stops at every framing error, loses what it has not yet read, and starts DMA again at the
//! beginning of the ring while it goes on reading elsewhere: after a cable was pulled, a quiet link would hear rubbish for
//! a second. Here errors do not matter: DMA stores the byte, right or wrong, and the link's CRC finds out. Interrupts only
//! tell when to look: when the line falls idle, and at the half and the end of the ring.

use core::future::poll_fn;
use core::marker::PhantomData;
use core::task::Poll;

use embassy_stm32::dma::{self, ReadableRingBuffer};
use embassy_stm32::interrupt::typelevel::{Handler, Interrupt};
use embassy_stm32::pac::usart::Usart;
use embassy_sync::waitqueue::AtomicWaker;

use crate::boards::{data_register, take_line_idle};

/// Bytes of a ring. A full one is 2.5 ms at one million baud; each half is read within the other's time.
pub(crate) const RING: usize = 256;

/// A serial port, to its interrupt handler and its receiver.
pub(crate) trait Line {
    fn line() -> LineRef;
}

#[derive(Clone, Copy)]
pub(crate) struct LineRef {
    pub(crate) registers: Usart,
    pub(crate) waker: &'static AtomicWaker,
}

/// The interrupt handler that wakes the receiver when its line is idle.
pub(crate) struct LineIdle<T>(PhantomData<T>);

impl<T: Line, I: Interrupt> Handler<I> for LineIdle<T> {
    unsafe fn on_interrupt() {
        let line = T::line();
        if take_line_idle(line.registers) {
            line.waker.wake();
        }
    }
}

/// The receiving half of a serial port.
pub(crate) struct Receiver {
    line: LineRef,
    ring: ReadableRingBuffer<'static, u8>,
}

impl Receiver {
    pub(crate) fn start(
        line: LineRef,
        channel: dma::Channel<'static>,
        request: dma::Request,
        ring: &'static mut [u8; RING],
    ) -> Self {
        let data = data_register(line.registers);
        // SAFETY: the register lives as long as the chip; the ring is used for nothing else.
        let mut ring = unsafe { ReadableRingBuffer::new(channel, request, data, ring, Default::default()) };
        ring.start();
        line.registers.cr3().modify(|w| w.set_dmar(true));
        line.registers.cr1().modify(|w| {
            w.set_re(true);
            w.set_idleie(true);
        });
        Receiver { line, ring }
    }

    /// Waits for bytes; `None` if some were overwritten before they were read.
    ///
    /// It waits for an interrupt even if some are there: on a busy line there always are, and they would be taken one by
    /// one. An interrupt since the last call is not missed: it has woken the task, which therefore comes again.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let mut waited = false;
        poll_fn(|context| {
            self.line.waker.register(context.waker());
            self.ring.set_waker(context.waker());
            if !core::mem::replace(&mut waited, true) {
                return Poll::Pending;
            }
            match self.ring.read(buffer) {
                Ok((0, _)) => Poll::Pending,
                Ok((count, _)) => Poll::Ready(Some(count)),
                Err(_) => {
                    self.ring.clear();
                    Poll::Ready(None)
                }
            }
        })
        .await
    }
}
