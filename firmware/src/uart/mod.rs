//! Serial ports: a frame is sent by DMA, and receiving is a DMA ring that is never stopped, whatever comes.
//!
//! embassy's own ring receiver stops at every framing error, loses what it has not yet read, and starts DMA again at the
//! beginning of the ring while it goes on reading elsewhere: after a cable was pulled, a quiet link would hear garbage for
//! a second. Here errors do not matter: DMA stores the byte, right or wrong, and the link's CRC rejects the frame. (Not on chips newer than
//! the F4: there DMA is not asked to take a byte without a stop bit, which is then missing. The CRC finds that, too.)
//! Interrupts only say when to look: when the line falls idle, and at the half and the end of the ring.
//!
//! It is also faster: embassy divides for every byte to find its place in the ring, which takes a twentieth of a full board's time.

#[cfg_attr(any(chip_f4, chip_h7), path = "dma_stream.rs")]
#[cfg_attr(not(any(chip_f4, chip_h7)), path = "dma_channel.rs")]
mod dma_registers;
#[cfg_attr(chip_f4, path = "registers_f4.rs")]
#[cfg_attr(not(chip_f4), path = "registers_newer.rs")]
mod registers;
mod ring;

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};
use core::task::Context;

use embassy_stm32::dma;
use embassy_stm32::interrupt::typelevel::{Handler, Interrupt};
use embassy_stm32::pac::usart::Usart;
use embassy_sync::waitqueue::AtomicWaker;
use hopwise_node::wire::{LineFaults, WIRE};
use hopwise_runner::{Arrival, PortEvents, SerialPorts};

pub(crate) use dma_registers::Dma;
pub(crate) use ring::ring_bytes;
use ring::{MAX_RING, Piece, Reader};

use crate::boards::PORTS;

/// Both directions of a serial port.
pub(crate) struct SerialPort {
    pub(crate) tx: Transmitter,
    pub(crate) rx: Receiver,
}

/// What has happened at the ports: those that have received in the low half, those that have sent in the high one.
static EVENTS: AtomicU32 = AtomicU32::new(0);
static HANDLER: AtomicWaker = AtomicWaker::new();
const SENT: u32 = 16;

/// Notes an event, and wakes the task unless an earlier one has.
fn note(event: u32) {
    if EVENTS.fetch_or(event, Ordering::Release) == 0 {
        HANDLER.wake();
    }
}

/// What the two halves of a port and its interrupt handlers share.
#[derive(Clone, Copy)]
pub(crate) struct PortParts {
    pub(crate) registers: Usart,
    pub(crate) tx_dma: Dma,
    pub(crate) rx_dma: Dma,
    pub(crate) noticed: &'static Noticed,
}

/// What an interrupt handler leaves.
pub(crate) struct Noticed {
    port: AtomicU8,
    /// Flags of the status register that were set since the receiver looked.
    flags: AtomicU8,
    /// Whether the end of what is being sent is an event.
    awaits_end: AtomicBool,
    /// When the line fell idle, in microseconds that go round.
    idle_at: AtomicU32,
    /// Halves of the ring that have been filled.
    halves: AtomicU32,
}

impl Noticed {
    pub(crate) const fn new() -> Self {
        Noticed {
            port: AtomicU8::new(0),
            flags: AtomicU8::new(0),
            awaits_end: AtomicBool::new(false),
            idle_at: AtomicU32::new(0),
            halves: AtomicU32::new(0),
        }
    }

    fn has_received(&self) {
        note(1 << self.port.load(Ordering::Relaxed));
    }
}

/// Flags of the status register, at the same places in all chips.
const FRAMING: u8 = 1 << 1;
const NOISE: u8 = 1 << 2;
const OVERRUN: u8 = 1 << 3;
const IDLE: u8 = 1 << 4;

/// A peripheral that is a serial port.
pub(crate) trait Port {
    fn parts() -> PortParts;
}

/// The interrupt handler that wakes the receiver when its line is idle, and notes what was wrong until then.
pub(crate) struct IdleHandler<T>(PhantomData<T>);

impl<T: Port, I: Interrupt> Handler<I> for IdleHandler<T> {
    // SAFETY: called by the interrupt only; it touches nothing but registers, the waker and atomic numbers.
    unsafe fn on_interrupt() {
        let PortParts { registers, noticed, .. } = T::parts();
        let flags = registers::take_flags(registers);
        if flags & IDLE != 0 {
            noticed.idle_at.store(crate::time::now() as u32, Ordering::Relaxed);
        }
        noticed.flags.fetch_or(flags, Ordering::Relaxed);
        if flags & IDLE != 0 {
            noticed.has_received();
        }
    }
}

/// The interrupt handler that wakes the receiver when half of its ring has been filled. It goes by the flags: an interrupt may come without one, after
/// they were cleared, and one may come for two.
pub(crate) struct RingHandler<T>(PhantomData<T>);

impl<T: Port, I: Interrupt> Handler<I> for RingHandler<T> {
    // SAFETY: called by the interrupt only; it touches nothing but flags of DMA, the waker and an atomic number.
    unsafe fn on_interrupt() {
        let PortParts { noticed, rx_dma, .. } = T::parts();
        let filled = rx_dma.take_halves();
        if filled > 0 {
            noticed.halves.fetch_add(filled, Ordering::Relaxed);
            noticed.has_received();
        }
    }
}

/// The interrupt handler of the end of what is being sent. One that comes late, for the frame before, does no harm: the task looks again.
pub(crate) struct SentHandler<T>(PhantomData<T>);

impl<T: Port, I: Interrupt> Handler<I> for SentHandler<T> {
    // SAFETY: called by the interrupt only; it touches nothing but flags of DMA, the waker and atomic numbers.
    unsafe fn on_interrupt() {
        let PortParts { noticed, tx_dma, .. } = T::parts();
        tx_dma.clear_flags();
        if noticed.awaits_end.swap(false, Ordering::Relaxed) {
            note(1 << SENT << noticed.port.load(Ordering::Relaxed));
        }
    }
}

/// Looks so often whether two bytes have left, of which the slowest rate takes half a millisecond.
const LONGEST_END: u32 = 100_000;

/// The sending half of a serial port: a frame at a time, by DMA.
pub(crate) struct Transmitter {
    noticed: &'static Noticed,
    registers: Usart,
    dma: Dma,
    /// Until the first frame is sent, for which embassy configures the channel; the others differ in their length alone.
    channel: Option<(dma::Channel<'static>, dma::Request)>,
    frame: *mut [u8; WIRE],
}

impl Transmitter {
    pub(crate) fn start(
        parts: PortParts,
        channel: dma::Channel<'static>,
        request: dma::Request,
        frame: &'static mut [u8; WIRE],
    ) -> Self {
        parts.registers.cr3().modify(|w| w.set_dmat(true));
        Transmitter {
            noticed: parts.noticed,
            registers: parts.registers,
            dma: parts.tx_dma,
            channel: Some((channel, request)),
            frame,
        }
    }

    /// Where the next frame is written, unless one is being sent, whose end is an event then.
    fn free_buffer(&mut self) -> Option<&mut [u8]> {
        if self.dma.remaining() > 0 {
            self.noticed.awaits_end.store(true, Ordering::Relaxed);
            // It may have ended before that was stored.
            if self.dma.remaining() > 0 {
                return None;
            }
            self.noticed.awaits_end.store(false, Ordering::Relaxed);
        }
        // SAFETY: it lives for ever, and DMA does not read it.
        Some(unsafe { &mut *self.frame })
    }

    /// Starts to send the first bytes of the frame; to be called after [`free_buffer`](Self::free_buffer).
    fn send(&mut self, length: usize) {
        let length = length.clamp(1, WIRE);
        registers::begin_to_send(self.registers);
        let Some((mut channel, request)) = self.channel.take() else {
            // What was written is in memory.
            fence(Ordering::SeqCst);
            return self.dma.restart(length);
        };
        let frame = core::ptr::slice_from_raw_parts(self.frame.cast::<u8>(), length);
        let data = registers::send_register(self.registers);
        // SAFETY: the register lives as long as the chip, and the frame for ever.
        let transfer = unsafe { channel.write_raw(request, frame, data, Default::default()) };
        // Dropping it would stop it.
        core::mem::forget(transfer);
    }
}

/// Starts a serial port that has just been reset, with eight bits and no parity, at the nearest rate that it has: one that cannot run at its rate
/// has no cable, or none that works.
#[inline(never)]
pub(crate) fn open(registers: Usart, port: u8, baud: u32) {
    // On newer chips DMA is not asked to take a byte that is marked as noisy: it would be missing. The link's CRC finds the wrong ones.
    registers.cr3().write(|w| w.set_onebit(cfg!(not(chip_f4))));
    registers.cr1().write(|w| {
        w.set_te(true);
        #[cfg(any(chip_g4, chip_h7))]
        w.set_fifoen(true);
    });
    set_baud(registers, port, baud);
}

/// Changes the rate of a serial port, once the last two bytes of a frame, which DMA no longer holds, have left. A byte that is being received
/// is lost, as it would be anyway.
#[inline(never)]
fn set_baud(registers: Usart, port: u8, baud: u32) {
    let Some(clock) = crate::boards::clock(port) else {
        return;
    };
    let divisor = clock.divisor(baud);
    let over8 = divisor < 16 && !clock.low_power;
    // A bounded time: a port that is off sends nothing.
    let _ = (0..LONGEST_END).any(|_| registers::has_sent_all(registers));
    registers.cr1().modify(|w| w.set_ue(false));
    registers.brr().write(|w| {
        w.0 = if over8 {
            divisor >> 3 << 4 | divisor & 7
        } else {
            divisor
        }
    });
    registers.cr1().modify(|w| {
        // OVER8; an LPUART has none.
        w.0 = w.0 & !(1 << 15) | u32::from(over8) << 15;
        w.set_ue(true);
    });
}

pub(crate) struct Receiver {
    noticed: &'static Noticed,
    dma: Dma,
    ring: *const u8,
    reader: Reader,
}

impl Receiver {
    pub(crate) fn start(
        parts: PortParts,
        port: u8,
        mut channel: dma::Channel<'static>,
        request: dma::Request,
        ring: &'static mut [u8],
        baud: u32,
    ) -> Self {
        let PortParts {
            registers,
            noticed,
            rx_dma,
            ..
        } = parts;
        noticed.port.store(port, Ordering::Relaxed);
        let data = registers::data_register(registers);
        let mut options = dma::TransferOptions::default();
        (options.circular, options.half_transfer_ir) = (true, true);
        let size = ring_bytes(baud).min(ring.len());
        let (ring, _) = ring.split_at_mut(size);
        let ring: *mut [u8] = ring;
        // SAFETY: the register lives as long as the chip; the ring is used for nothing else.
        let transfer = unsafe { channel.read_raw(request, data, ring, options) };
        // It never ends.
        core::mem::forget(transfer);
        registers.cr3().modify(|w| w.set_dmar(true));
        registers.cr1().modify(|w| {
            w.set_re(true);
            w.set_idleie(true);
        });
        Receiver {
            noticed,
            dma: rx_dma,
            ring: ring.cast(),
            reader: Reader::new(size),
        }
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
        self.reader.place(self.reader.size - self.dma.remaining())
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

pub(crate) struct Ports(pub(crate) [SerialPort; PORTS]);

impl Ports {
    fn get(&mut self, port: u8) -> Option<&mut SerialPort> {
        self.0.get_mut(usize::from(port))
    }
}

impl SerialPorts for Ports {
    /// On a busy line there are always bytes, which would be taken one by one, so only interrupts count.
    fn poll(&mut self, context: &mut Context<'_>) -> PortEvents {
        HANDLER.register(context.waker());
        let events = EVENTS.swap(0, Ordering::Acquire);
        PortEvents {
            received: events & ((1 << SENT) - 1),
            freed: events >> SENT,
        }
    }

    /// The buffer is on the stack while it is used, and one for all ports.
    fn take(&mut self, port: u8, give: impl FnOnce(Arrival<'_>)) {
        let Some(SerialPort { rx, .. }) = self.get(port) else {
            return;
        };
        let (faults, idle_at) = rx.take_notes();
        // Not cleared, which would take longer than all that is done with most frames' bytes.
        let mut buffer = [const { MaybeUninit::uninit() }; MAX_RING];
        let bytes = rx.read(&mut buffer);
        give(Arrival {
            bytes: bytes.unwrap_or(&[]),
            is_lost: bytes.is_none(),
            idle_at: idle_at.map(crate::time::whole),
            faults,
        });
    }

    fn free_buffer(&mut self, port: u8, new_baud: impl FnOnce() -> Option<u32>) -> Option<&mut [u8]> {
        let SerialPort { tx, .. } = self.get(port)?;
        let registers = tx.registers;
        let buffer = tx.free_buffer()?;
        if let Some(baud) = new_baud() {
            set_baud(registers, port, baud);
        }
        Some(buffer)
    }

    fn send(&mut self, port: u8, length: usize) {
        if let Some(SerialPort { tx, .. }) = self.get(port) {
            tx.send(length);
        }
    }
}
