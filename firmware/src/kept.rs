//! What is kept over a reset, in RAM that the start-up code leaves alone: the boot epoch, and what went wrong.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::panic::{Location, PanicInfo};

use cortex_m::peripheral::SCB;
use cortex_m_rt::{ExceptionFrame, exception};
use heapless::String;

/// Tells kept RAM from RAM after power-on.
const MAGIC: u32 = 0x6b65_7074;

/// What went wrong, in words.
pub(crate) type Trouble = String<72>;

#[repr(C)]
struct Kept {
    magic: u32,
    epoch: u32,
    /// So that half-decayed RAM is not taken for kept.
    epoch_check: u32,
    /// Bytes of `text`.
    length: u32,
    text: [u8; 72],
}

struct KeptCell(UnsafeCell<MaybeUninit<Kept>>);

// SAFETY: used at boot before anything else runs, and when nothing else runs any more.
unsafe impl Sync for KeptCell {}

#[unsafe(link_section = ".uninit.hopwise_kept")]
static KEPT: KeptCell = KeptCell(UnsafeCell::new(MaybeUninit::uninit()));

fn kept() -> *mut Kept {
    KEPT.0.get().cast()
}

/// What a start begins with.
pub(crate) struct Boot {
    /// Differs from that of the last start, also in its low half, which is not 0.
    pub(crate) epoch: u32,
    /// Why the last run ended, if it was a panic or a fault.
    pub(crate) trouble: Option<Trouble>,
}

/// Takes what the last run left. Called once.
pub(crate) fn boot(unique_id: &[u8; 12]) -> Boot {
    // SAFETY: nothing else runs yet, and the memory is there; what it holds is looked at after it was read.
    let last = unsafe { read(kept()) };
    let survived = last.magic == MAGIC && last.epoch_check == !last.epoch;
    let trouble = if survived { read_text(&last) } else { None };
    let epoch = if survived {
        next_epoch(last.epoch)
    } else {
        // What RAM holds after power-on differs from time to time; the chip's number differs from board to board.
        let noise = last
            .text
            .iter()
            .chain(unique_id)
            .chain(&last.epoch.to_le_bytes())
            .fold(0x811c_9dc5, stir);
        next_epoch(noise)
    };
    let fresh = Kept {
        magic: MAGIC,
        epoch,
        epoch_check: !epoch,
        length: 0,
        text: last.text,
    };
    // SAFETY: as above.
    unsafe { kept().write(fresh) };
    Boot { epoch, trouble }
}

/// What memory holds, though nobody has written it. Byte by byte: a volatile read of a whole is as many instructions in
/// a row.
///
/// # Safety
///
/// `place` is memory that nobody else uses.
#[inline(never)]
unsafe fn read(place: *const Kept) -> Kept {
    let mut bytes = [0; size_of::<Kept>()];
    for (at, byte) in bytes.iter_mut().enumerate() {
        // SAFETY: within `Kept`.
        *byte = unsafe { place.cast::<u8>().add(at).read_volatile() };
    }
    // SAFETY: every pattern of bits is a valid `Kept`, and it has no padding.
    unsafe { core::mem::transmute(bytes) }
}

/// FNV-1a.
fn stir(hash: u32, byte: &u8) -> u32 {
    (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
}

fn next_epoch(last: u32) -> u32 {
    let next = last.wrapping_add(1);
    if next & 0xffff == 0 { next | 1 } else { next }
}

fn read_text(last: &Kept) -> Option<Trouble> {
    let bytes = last
        .text
        .get(..last.length as usize)
        .filter(|bytes| !bytes.is_empty())?;
    Trouble::try_from(core::str::from_utf8(bytes).ok()?).ok()
}

/// Keeps what went wrong and restarts.
fn restart_with(trouble: &Trouble) -> ! {
    // SAFETY: nothing else runs any more; the cell was initialised at boot.
    unsafe {
        let kept = &mut *kept();
        for (kept, byte) in kept.text.iter_mut().zip(trouble.as_bytes()) {
            *kept = *byte;
        }
        kept.length = trouble.len() as u32;
    }
    // Last, should it be the log that is in trouble.
    defmt::error!("{}", trouble.as_str());
    SCB::sys_reset()
}

fn push_number(text: &mut Trouble, number: u32, base: u32) {
    const DIGITS: &str = "0123456789abcdef";
    let mut unit = 1;
    while number / unit >= base {
        unit *= base;
    }
    while unit > 0 {
        let digit = (number / unit % base) as usize;
        push(text, DIGITS.get(digit..=digit).unwrap_or_default());
        unit /= base;
    }
}

/// What does not fit is left out.
fn push(text: &mut Trouble, part: &str) {
    let _ = text.push_str(part);
}

/// Keeps the place and not the message, which the place tells: whatever reads a message links all that could write one.
#[panic_handler]
#[allow(
    unused_attributes,
    reason = "inlined into what builds the message, it lets the linker leave that out"
)]
#[inline(always)]
fn panic(info: &PanicInfo) -> ! {
    panicked_at(info.location())
}

#[inline(never)]
fn panicked_at(place: Option<&Location>) -> ! {
    cortex_m::interrupt::disable();
    let mut trouble = Trouble::new();
    push(&mut trouble, "panic ");
    if let Some(place) = place {
        // The end of the path says more than its beginning.
        let path = place.file();
        let name = path.bytes().rev().take_while(|&byte| byte != b'/').count();
        push(&mut trouble, path.get(path.len() - name..).unwrap_or(path));
        push(&mut trouble, ":");
        push_number(&mut trouble, place.line(), 10);
    }
    restart_with(&trouble)
}

#[defmt::panic_handler]
fn defmt_panic() -> ! {
    core::panic!("unwrap")
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    let mut trouble = Trouble::new();
    for (name, value) in [
        ("fault at ", frame.pc()),
        (" from ", frame.lr()),
        (" cfsr ", fault_status()),
    ] {
        push(&mut trouble, name);
        push_number(&mut trouble, value, 16);
    }
    restart_with(&trouble)
}

fn fault_status() -> u32 {
    // SAFETY: reading it changes nothing.
    unsafe { (*SCB::PTR).cfsr.read() }
}
