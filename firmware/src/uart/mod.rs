//! Serial ports: transmitting is embassy's, receiving is a DMA ring that is never stopped, whatever comes.
//!
//! embassy's own ring receiver stops at every framing error, loses what it has not yet read, and starts DMA again at the
//! beginning of the ring while it goes on reading elsewhere: after a cable was pulled, a quiet link would hear garbage for
//! a second. Here errors do not matter: DMA stores the byte, right or wrong, and the link's CRC rejects the frame. (Not on chips newer than
//! the F4: there DMA is not asked to take a byte without a stop bit, which is then missing. The CRC finds that, too.)
//! Interrupts only say when to look: when the line falls idle, and at the half and the end of the ring.
//!
//! It is also faster: embassy divides for every byte to find its place in the ring, which takes a twentieth of a full board's time.

#[cfg_attr(chip_f4, path = "registers_f4.rs")]
#[cfg_attr(not(chip_f4), path = "registers_newer.rs")]
mod registers;
mod ring;

use core::future::poll_fn;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering, fence};
use core::task::Poll;

use embassy_stm32::dma;
use embassy_stm32::interrupt::typelevel::{Handler, Interrupt};
use embassy_stm32::mode::Async;
use embassy_stm32::pac::usart::Usart;
use embassy_stm32::usart::UartTx;
use embassy_sync::waitqueue::AtomicWaker;
use hopwise_node::wire::LineFaults;

use ring::{Piece, Reader};
pub(crate) use ring::{MAX_RING, ring_bytes};

/// Both directions of a serial port.
pub(crate) struct SerialPort {
    pub(crate) tx: UartTx<'static, Async>,
    pub(crate) rx: Receiver,
}

/// What a receiver and its interrupt handler share.
#[derive(Clone, Copy)]
pub(crate) struct ReceiverParts {
    pub(crate) registers: Usart,
    pub(crate) noticed: &'static Noticed,
}

/// What an interrupt handler leaves for its receiver.
pub(crate) struct Noticed {
    pub(crate) waker: AtomicWaker,
    /// Flags of the status register that were set since the receiver looked.
    flags: AtomicU8,
    /// When the line fell idle, in microseconds that go round.
    idle_at: AtomicU32,
    /// Halves of the ring that have been filled.
    halves: AtomicU32,
}

impl Noticed {
    pub(crate) const fn new() -> Self {
        Noticed {
            waker: AtomicWaker::new(),
            flags: AtomicU8::new(0),
            idle_at: AtomicU32::new(0),
            halves: AtomicU32::new(0),
        }
    }
}

/// Flags of the status register, at the same places in all chips.
const FRAMING: u8 = 1 << 1;
const NOISE: u8 = 1 << 2;
const OVERRUN: u8 = 1 << 3;
const IDLE: u8 = 1 << 4;

/// A peripheral that has a [`Receiver`].
pub(crate) trait Receives {
    fn parts() -> ReceiverParts;
}

/// The interrupt handler that wakes the receiver when its line is idle, and notes what was wrong until then.
pub(crate) struct IdleHandler<T>(PhantomData<T>);

impl<T: Receives, I: Interrupt> Handler<I> for IdleHandler<T> {
    // SAFETY: called by the interrupt only; it touches nothing but registers, the waker and atomic numbers.
    unsafe fn on_interrupt() {
        let ReceiverParts { registers, noticed } = T::parts();
        let flags = registers::take_flags(registers);
        if flags & IDLE != 0 {
            noticed.idle_at.store(crate::time::now() as u32, Ordering::Relaxed);
        }
        noticed.flags.fetch_or(flags, Ordering::Relaxed);
        if flags & IDLE != 0 {
            noticed.waker.wake();
        }
    }
}

/// The interrupt handler that wakes the receiver when half of its ring has been filled.
pub(crate) struct RingHandler<T>(PhantomData<T>);

impl<T: Receives, I: Interrupt> Handler<I> for RingHandler<T> {
    // SAFETY: called by the interrupt only; it touches nothing but the waker and an atomic number.
    unsafe fn on_interrupt() {
        let ReceiverParts { noticed, .. } = T::parts();
        noticed.halves.fetch_add(1, Ordering::Relaxed);
        noticed.waker.wake();
    }
}

/// The receiving half of a serial port.
pub(crate) struct Receiver {
    noticed: &'static Noticed,
    /// It never ends.
    transfer: dma::Transfer<'static>,
    ring: *const u8,
    reader: Reader,
}

impl Receiver {
    pub(crate) fn start(
        parts: ReceiverParts,
        channel: &'static mut dma::Channel<'static>,
        request: dma::Request,
        ring: &'static mut [u8],
        baud: u32,
    ) -> Self {
        let ReceiverParts { registers, noticed } = parts;
        let data = registers::data_register(registers);
        let mut options = dma::TransferOptions::default();
        (options.circular, options.half_transfer_ir) = (true, true);
        let size = ring_bytes(baud).min(ring.len());
        let (ring, _) = ring.split_at_mut(size);
        let ring: *mut [u8] = ring;
        // SAFETY: the register lives as long as the chip; the ring is used for nothing else.
        let transfer = unsafe { channel.read_raw(request, data, ring, options) };
        registers.cr3().modify(|w| w.set_dmar(true));
        registers.cr1().modify(|w| {
            w.set_re(true);
            w.set_idleie(true);
        });
        Receiver {
            noticed,
            transfer,
            ring: ring.cast(),
            reader: Reader::new(size),
        }
    }

    /// Waits for an interrupt, even if bytes are there: on a busy line there always are, and they would be taken one by one. An
    /// interrupt since the last call is not missed: it has woken the task, which is therefore polled again.
    pub(crate) async fn interrupt(&mut self) {
        let mut waited = false;
        poll_fn(|context| {
            self.noticed.waker.register(context.waker());
            if core::mem::replace(&mut waited, true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await
    }

    /// What was wrong with bytes since the last call, and when the line fell idle, if it did; in microseconds that go round.
    pub(crate) fn take_notes(&mut self) -> (LineFaults, Option<u32>) {
        let flags = self.noticed.flags.swap(0, Ordering::Relaxed);
        let faults = LineFaults {
            framing: flags & FRAMING != 0,
            noise: flags & NOISE != 0,
            overrun: flags & OVERRUN != 0,
        };
        let idle_at = self.noticed.idle_at.load(Ordering::Relaxed);
        (faults, (flags & IDLE != 0).then_some(idle_at))
    }

    /// The place in the ring that the next byte goes to.
    fn end(&self) -> usize {
        self.reader.place(self.reader.size - self.transfer.get_remaining_transfers() as usize)
    }

    /// The bytes that have come; `None` if some were overwritten before they were read.
    pub(crate) fn read<'b>(&mut self, buffer: &'b mut [MaybeUninit<u8>; MAX_RING]) -> Option<&'b [u8]> {
        // First the interrupts, then the place.
        let halves = self.noticed.halves.load(Ordering::Acquire);
        let end = self.end();
        let Piece { begin, count, is_lost } = self.reader.advance(halves, end);
        fence(Ordering::Acquire);
        let first = count.min(self.reader.size - begin);
        // SAFETY: `begin + first` is at most the ring's length, and so are `count - first` and the buffer's `count`. DMA writes elsewhere
        // in the ring meanwhile, or what is copied is not used.
        unsafe {
            core::ptr::copy_nonoverlapping(self.ring.add(begin).cast(), buffer.as_mut_ptr(), first);
            core::ptr::copy_nonoverlapping(self.ring.cast(), buffer.as_mut_ptr().add(first), count - first);
        }
        fence(Ordering::Acquire);
        let meanwhile = self.reader.place(self.end() + self.reader.size - end);
        if is_lost || count + meanwhile >= self.reader.size {
            return None;
        }
        // SAFETY: the first `count` bytes have just been written.
        Some(unsafe { buffer.get(..count)?.assume_init_ref() })
    }
}
