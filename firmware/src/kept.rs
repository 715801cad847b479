//! What is kept over a reset, in RAM that the start-up code leaves alone: the boot epoch, and what went wrong.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use cortex_m::peripheral::SCB;
use heapless::String;
use hopwise_core::store::next_epoch;

/// Tells kept RAM from RAM after power-on.
const MAGIC: u32 = 0x6b65_7074;

/// What went wrong, in words.
pub(crate) type Trouble = String<72>;

#[repr(C)]
struct Kept {
    magic: u32,
    epoch: u32,
    /// The complement of the epoch, so that half-decayed RAM is not taken for kept.
    epoch_check: u32,
    /// Bytes of `text`.
    length: u32,
    text: [u8; 72],
}

struct KeptCell(UnsafeCell<MaybeUninit<Kept>>);

// SAFETY: it is used at boot before anything else runs, and in a crash when nothing else runs any more.
unsafe impl Sync for KeptCell {}

// In `.uninit`, which the start-up code neither zeroes nor fills: the linker script puts it after the zeroed variables.
#[unsafe(link_section = ".uninit.hopwise_kept")]
static KEPT: KeptCell = KeptCell(UnsafeCell::new(MaybeUninit::uninit()));

fn kept() -> *mut Kept {
    KEPT.0.get().cast()
}

/// What a start begins with.
pub(crate) struct Boot {
    /// The number of the start for a board that has none in its flash. Differs from that of the last start, also in its low half, which
    /// is not 0.
    pub(crate) epoch: u32,
    /// Why the last run ended, if it was a panic or a fault.
    pub(crate) trouble: Option<Trouble>,
}

/// Takes what the last run left. Called once.
pub(crate) fn boot(unique_id: &[u8; 12]) -> Boot {
    // SAFETY: nothing else runs yet, and any bits are a valid `Kept`. Volatile, since nothing has written them in this run.
    let last = unsafe { kept().read_volatile() };
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
    // SAFETY: nothing else runs yet.
    unsafe { kept().write(fresh) };
    Boot { epoch, trouble }
}

/// FNV-1a.
fn stir(hash: u32, byte: &u8) -> u32 {
    (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
}

fn read_text(last: &Kept) -> Option<Trouble> {
    let bytes = last
        .text
        .get(..last.length as usize)
        .filter(|bytes| !bytes.is_empty())?;
    Trouble::try_from(core::str::from_utf8(bytes).ok()?).ok()
}

/// Keeps what went wrong and restarts.
pub(crate) fn restart_with(trouble: &Trouble) -> ! {
    // SAFETY: nothing else runs any more, and any bits are a valid `Kept`.
    unsafe {
        let kept = &mut *kept();
        for (kept, byte) in kept.text.iter_mut().zip(trouble.as_bytes()) {
            *kept = *byte;
        }
        kept.length = trouble.len() as u32;
    }
    // Last, in case the log is what failed.
    defmt::error!("{}", trouble.as_str());
    SCB::sys_reset()
}
