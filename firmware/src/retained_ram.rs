//! What is kept over a reset, in RAM that the start-up code leaves alone: the boot epoch, what went wrong, and how often in a row.

use core::cell::UnsafeCell;
use core::fmt::Write;
use core::mem::MaybeUninit;
use core::ptr::addr_of_mut;

use hopwise_node::store::next_epoch;
use hopwise_runner::FaultText;

use crate::boards::{self, ResetCause};

/// Tells kept RAM from RAM after power-on.
const MAGIC: u32 = 0x6b65_7074;

/// After so many crashes in a row, each soon after its start, a board leaves its configuration alone.
const CRASHES: u32 = 4;

#[repr(C)]
struct Retained {
    magic: u32,
    epoch: u32,
    /// The complement of the epoch, so that half-decayed RAM is not taken for kept.
    epoch_check: u32,
    /// Runs in a row that ended in a crash before they had [settled](settle).
    crashes: u32,
    /// The task that ran last.
    task: u32,
    /// Bytes of `text`.
    length: u32,
    text: [u8; 72],
}

struct KeptCell(UnsafeCell<MaybeUninit<Retained>>);

// SAFETY: it is used at boot before anything else runs, and in a crash when nothing else runs any more.
unsafe impl Sync for KeptCell {}

// In `.uninit`, which the start-up code neither zeroes nor fills: the linker script puts it after the zeroed variables.
#[unsafe(link_section = ".uninit.hopwise_kept")]
static KEPT: KeptCell = KeptCell(UnsafeCell::new(MaybeUninit::uninit()));

fn kept() -> *mut Retained {
    KEPT.0.get().cast()
}

/// What a start begins with.
pub(crate) struct Boot {
    /// The number of the start for a board that has none in its flash. Differs from that of the last start, also in its low half, which
    /// is not 0.
    pub(crate) epoch: u32,
    /// Why the last run ended, if it was a panic, a fault or something that hung.
    pub(crate) fault: Option<FaultText>,
    /// Several runs have crashed soon after they began.
    pub(crate) crashes_again: bool,
}

/// What RAM holds, word by word: a volatile read of the whole is hundreds of instructions.
fn read() -> Retained {
    const WORDS: usize = size_of::<Retained>() / size_of::<u32>();
    let mut words = [0; WORDS];
    for (at, word) in words.iter_mut().enumerate() {
        // SAFETY: nothing else runs yet, and `Retained` is made of so many words. Volatile, since nothing has written them in this run.
        *word = unsafe { kept().cast::<u32>().add(at).read_volatile() };
    }
    // SAFETY: any bits are a valid `Retained`.
    unsafe { core::mem::transmute::<[u32; WORDS], Retained>(words) }
}

/// Takes what the last run left. Called once.
pub(crate) fn boot(unique_id: &[u8; 12], cause: ResetCause) -> Boot {
    let last = read();
    let survived = last.magic == MAGIC && last.epoch_check == !last.epoch;
    let hung = matches!(cause, ResetCause::Watchdog);
    let fault = match survived {
        true if hung => Some(hanging(last.task)),
        true => read_text(&last),
        false => None,
    };
    // A new beginning, also where the power was away for so short a time that RAM has survived.
    let is_fresh = !survived || matches!(cause, ResetCause::Power);
    let crashes = if is_fresh { 0 } else { last.crashes };
    let crashes = crashes.saturating_add(hung.into());
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
    let fresh = Retained {
        magic: MAGIC,
        epoch,
        epoch_check: !epoch,
        crashes,
        task: 0,
        length: 0,
        text: last.text,
    };
    // SAFETY: nothing else runs yet.
    unsafe { kept().write(fresh) };
    Boot {
        epoch,
        fault,
        crashes_again: crashes >= CRASHES,
    }
}

/// That a task hangs, in words.
pub(crate) fn hanging(task: u32) -> FaultText {
    let mut fault = FaultText::new();
    let _ = write!(fault, "task {task} hung");
    fault
}

/// Keeps which task runs, in case that it never ends.
pub(crate) fn run_task(task: u32) {
    // SAFETY: nobody else uses this field in this run. Volatile, since it is read only in the next.
    unsafe { addr_of_mut!((*kept()).task).write_volatile(task) };
}

/// The board runs as it should, or will be another one: crashes are counted anew.
pub(crate) fn settle() {
    // SAFETY: as above; a crash uses the field, but never goes on.
    unsafe { addr_of_mut!((*kept()).crashes).write_volatile(0) };
}

/// FNV-1a.
fn stir(hash: u32, byte: &u8) -> u32 {
    (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
}

fn read_text(last: &Retained) -> Option<FaultText> {
    let bytes = last
        .text
        .get(..last.length as usize)
        .filter(|bytes| !bytes.is_empty())?;
    FaultText::try_from(core::str::from_utf8(bytes).ok()?).ok()
}

/// Keeps what went wrong and restarts.
pub(crate) fn restart_with(fault: &FaultText) -> ! {
    // SAFETY: nothing else runs any more, and any bits are a valid `Retained`.
    unsafe {
        let kept = &mut *kept();
        for (kept, byte) in kept.text.iter_mut().zip(fault.as_bytes()) {
            *kept = *byte;
        }
        kept.length = fault.len() as u32;
        kept.crashes = kept.crashes.saturating_add(1);
    }
    // Last, in case the log is what failed.
    defmt::error!("{}", fault.as_str());
    boards::reset()
}
