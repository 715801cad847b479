//! The boot loader: starts one of the board's two images. `hopwise_node::boot` decides which one; here are the places in memory, the hash, and the
//! jump. It writes to no flash, so that no power cut can harm what it reads.
#![no_std]
#![no_main]

use core::panic::PanicInfo;
use core::ptr::addr_of;

use hopwise_node::boot::{Log, RECORD, TRIAL_BYTES, Trial, choose, has_image};
use hopwise_node::store::Slot;
use sha2::{Digest, Sha256};

unsafe extern "C" {
    // SAFETY: loader.x defines them. Only their addresses are used, or the memory behind them.
    static _log: u8;
    static _log_bytes: u8;
    static _first_image: u8;
    static _first_bytes: u8;
    static _second_image: u8;
    static _second_bytes: u8;
    static mut _trial: [u8; TRIAL_BYTES];
}

#[cfg(not(chip_h7))]
const WATCHDOG: *mut u32 = 0x4000_3000 as *mut u32;
#[cfg(chip_h7)]
const WATCHDOG: *mut u32 = 0x5800_4800 as *mut u32;

/// Where a slot is, and how many bytes it has.
fn place(slot: Slot) -> (u32, u32) {
    let (begin, bytes) = match slot {
        Slot::First => (addr_of!(_first_image), addr_of!(_first_bytes)),
        Slot::Second => (addr_of!(_second_image), addr_of!(_second_bytes)),
    };
    (begin as u32, bytes as u32)
}

fn word(address: u32) -> u32 {
    // SAFETY: all that is read is flash, and at a multiple of four.
    unsafe { (address as *const u32).read_volatile() }
}

fn begins_with_image(slot: Slot) -> bool {
    let (begin, bytes) = place(slot);
    has_image([word(begin), word(begin + 4)], begin, bytes)
}

/// The request to try an image, which is gone then.
fn take_trial() -> Option<Trial> {
    let trial = addr_of!(_trial).cast_mut();
    // SAFETY: nothing else uses the end of the stack, which is far away. Any bytes may be there.
    let bytes = unsafe { trial.read_volatile() };
    // SAFETY: as above.
    unsafe { trial.write_volatile([0; TRIAL_BYTES]) };
    Trial::read(&bytes).filter(|trial| {
        let (begin, bytes) = place(trial.slot);
        if trial.length > bytes {
            return false;
        }
        // SAFETY: it is in the slot, and nobody writes there now.
        let image = unsafe { core::slice::from_raw_parts(begin as *const u8, trial.length as usize) };
        Sha256::digest(image)[..] == trial.hash
    })
}

fn log() -> Log {
    let (begin, bytes) = (addr_of!(_log) as u32, addr_of!(_log_bytes) as u32);
    Log::read((begin..begin + bytes).step_by(RECORD).map(|record| {
        let mut bytes = [0; RECORD];
        for (place, part) in (0..).zip(bytes.as_chunks_mut::<4>().0) {
            *part = word(record + place * 4).to_le_bytes();
        }
        bytes
    }))
}

/// An image that hangs at once is reset, after half a minute or so.
fn start_watchdog() {
    const START: u32 = 0xcccc;
    const UNLOCK: u32 = 0x5555;
    const SLOWEST: u32 = 6;
    const LONGEST: u32 = 0xfff;
    // SAFETY: the registers KR, PR, RLR and SR; nothing else runs.
    unsafe {
        WATCHDOG.write_volatile(START);
        WATCHDOG.write_volatile(UNLOCK);
        WATCHDOG.add(1).write_volatile(SLOWEST);
        WATCHDOG.add(2).write_volatile(LONGEST);
        // Until both are taken over, which a slow oscillator does.
        let _ = (0..100_000).any(|_| WATCHDOG.add(3).read_volatile() & 3 == 0);
    }
}

/// Reads what a power cut may have torn. On an H7 that is a bus fault: a priority as high as that of a fault handler, with BFHFNMIGN, lets the core
/// go on with anything, which a checksum finds.
fn read_torn<T>(read: impl FnOnce() -> T) -> T {
    const BFHFNMIGN: u32 = 1 << 8;
    // SAFETY: no handler runs in between, and all is as it was afterwards but for the flags, which a one clears.
    unsafe {
        let scb = &*cortex_m::peripheral::SCB::PTR;
        scb.ccr.modify(|ccr| ccr | BFHFNMIGN);
        core::arch::asm!("cpsid f", "isb");
        let result = read();
        core::arch::asm!("dsb", "cpsie f");
        scb.ccr.modify(|ccr| ccr & !BFHFNMIGN);
        scb.cfsr.write(0xff00);
        result
    }
}

/// Where the processor starts.
// SAFETY: the name is the one that loader.x has.
#[unsafe(no_mangle)]
unsafe extern "C" fn start() -> ! {
    let (trial, chosen) = read_torn(|| {
        let trial = take_trial().map(|trial| trial.slot);
        (trial, choose(trial, log().kept, begins_with_image))
    });
    let Some(slot) = chosen else { wait() };
    if trial == Some(slot) {
        start_watchdog();
    }
    // SAFETY: an image is there, with its table first.
    unsafe { cortex_m::asm::bootload(place(slot).0 as *const u32) }
}

/// L4 and G4 tell by it of torn flash.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn on_nmi() {
    #[cfg(any(chip_g4, chip_l4))]
    {
        const ECCR: *mut u32 = 0x4002_2018 as *mut u32;
        // SAFETY: ECCD: a one clears it.
        unsafe { ECCR.write_volatile(ECCR.read_volatile() | 1 << 31) };
    }
}

/// Nothing can be started: a probe must flash the board.
// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn wait() -> ! {
    loop {
        cortex_m::asm::wfi();
    }
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    wait()
}
