//! The log: defmt's frames in a buffer that a debug probe reads, in the layout of SEGGER's real-time transfer.
//!
//! Whoever writes a line keeps the node out until it is whole, so the node's lines and those of the programs that it interrupts all arrive.
//! Logging neither waits for the probe nor holds up interrupts: a line that has no room, and one of an interrupt handler in the middle of
//! another line, is counted instead, and the loss is logged.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use defmt::Encoder;

use crate::priority::{keep_node_out, restore};

/// A power of two.
const SIZE: usize = 4_096;
/// Room for the line that says how many are lost.
const ROOM_TO_TELL: usize = 64;
/// SEGGER's mode in which what has no room is left out. A probe may set another, in which boards would wait for it: they never do.
const SKIP: u32 = 0;

/// The block by which a probe finds the buffer.
#[repr(C)]
struct ControlBlock {
    id: [u8; 16],
    up_channels: u32,
    down_channels: u32,
    name: *const u8,
    buffer: *const Buffer,
    size: u32,
    /// Where the next byte goes.
    written: AtomicU32,
    /// Up to where the probe has read.
    read: AtomicU32,
    mode: AtomicU32,
}

// SAFETY: its pointers are constant.
unsafe impl Sync for ControlBlock {}

struct Buffer(UnsafeCell<[u8; SIZE]>);

// SAFETY: only the line that is being written is written to it.
unsafe impl Sync for Buffer {}

// SAFETY: the name by which probes and emulator find it.
#[unsafe(no_mangle)]
static _SEGGER_RTT: ControlBlock = ControlBlock {
    id: *b"SEGGER RTT\0\0\0\0\0\0",
    up_channels: 1,
    down_channels: 0,
    name: NAME.as_ptr(),
    buffer: &raw const BUFFER,
    size: SIZE as u32,
    written: AtomicU32::new(0),
    read: AtomicU32::new(0),
    mode: AtomicU32::new(SKIP),
};

// SAFETY: nobody reads what was not written. It is not zeroed, to save time.
#[unsafe(link_section = ".uninit.hopwise_log")]
static BUFFER: Buffer = Buffer(UnsafeCell::new([0; SIZE]));

/// By it probes know what is in the channel. In RAM as all else that they read.
#[unsafe(link_section = ".data.hopwise_log")]
static NAME: [u8; 6] = *b"defmt\0";

/// The line that is being written.
struct Line {
    encoder: Encoder,
    place: Place,
    /// What the priority was.
    before: u8,
}

/// Where a line goes in the buffer.
struct Place {
    /// The place of its next byte.
    at: usize,
    /// The last one before what the probe has not read.
    end: usize,
    /// There is no room for all of it.
    is_lost: bool,
}

struct LineCell(UnsafeCell<Line>);

// SAFETY: only the one who has begun a line uses it.
unsafe impl Sync for LineCell {}

static LINE: LineCell = LineCell(UnsafeCell::new(Line {
    encoder: Encoder::new(),
    place: Place {
        at: 0,
        end: 0,
        is_lost: false,
    },
    before: 0,
}));

/// How many lines have been begun and not ended. All but the first are lost: they belong to interrupt handlers, each of which ends its line before
/// the interrupted one goes on.
static OPEN: AtomicU8 = AtomicU8::new(0);
static LOST: AtomicU32 = AtomicU32::new(0);

impl Place {
    fn put(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.at == self.end {
                self.is_lost = true;
                return;
            }
            // SAFETY: it is less than the size, and the probe does not read there yet.
            unsafe { BUFFER.0.get().cast::<u8>().add(self.at).write(*byte) };
            self.at = (self.at + 1) % SIZE;
        }
    }
}

impl Line {
    fn begin(&mut self, before: u8) {
        self.before = before;
        self.place = Place {
            at: _SEGGER_RTT.written.load(Ordering::Relaxed) as usize % SIZE,
            end: (_SEGGER_RTT.read.load(Ordering::Acquire) as usize).wrapping_sub(1) % SIZE,
            is_lost: false,
        };
        self.encoder.start_frame(|bytes| self.place.put(bytes));
    }

    fn write(&mut self, bytes: &[u8]) {
        self.encoder.write(bytes, |bytes| self.place.put(bytes));
    }

    fn end(&mut self) {
        self.encoder.end_frame(|bytes| self.place.put(bytes));
        match self.place.is_lost {
            true => lose(),
            // Now the probe sees all of it.
            false => _SEGGER_RTT.written.store(self.place.at as u32, Ordering::Release),
        }
    }
}

fn lose() {
    LOST.fetch_add(1, Ordering::Relaxed);
}

#[defmt::global_logger]
struct Logger;

// SAFETY: lines do not mix: the node does not interrupt them, and a handler that does only counts its own.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        let before = keep_node_out();
        if OPEN.fetch_add(1, Ordering::Relaxed) == 0 {
            // SAFETY: nobody else has one open.
            unsafe { (*LINE.0.get()).begin(before) };
        } else {
            lose();
            // SAFETY: it is what was there before.
            unsafe { restore(before) };
        }
    }

    unsafe fn write(bytes: &[u8]) {
        if OPEN.load(Ordering::Relaxed) == 1 {
            // SAFETY: the only open line is the caller's.
            unsafe { (*LINE.0.get()).write(bytes) };
        }
    }

    unsafe fn flush() {}

    unsafe fn release() {
        if OPEN.load(Ordering::Relaxed) > 1 {
            OPEN.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        // SAFETY: the only open line is the caller's.
        let before = unsafe {
            let line = &mut *LINE.0.get();
            line.end();
            line.before
        };
        OPEN.fetch_sub(1, Ordering::Release);
        // SAFETY: it is what was there when the line was begun.
        unsafe { restore(before) };
    }
}

#[derive(Default)]
pub(crate) struct Losses {
    told: u32,
}

impl Losses {
    /// Logs how many lines were lost since the last time, once there is room for it.
    pub(crate) fn tell(&mut self) {
        let lost = LOST.load(Ordering::Relaxed);
        let ControlBlock { written, read, .. } = &_SEGGER_RTT;
        let used = written
            .load(Ordering::Relaxed)
            .wrapping_sub(read.load(Ordering::Relaxed)) as usize
            % SIZE;
        if lost != self.told && used < SIZE - ROOM_TO_TELL {
            defmt::warn!("{} lines of the log are lost", lost.wrapping_sub(self.told));
            self.told = lost;
        }
    }
}
