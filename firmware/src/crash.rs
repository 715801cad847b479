//! Panics and hard faults: each is kept in words, and the board restarts.

use core::fmt::Write;
use core::panic::PanicInfo;

use cortex_m::peripheral::SCB;
use cortex_m_rt::{ExceptionFrame, exception};

use crate::kept::{Trouble, restart_with};

/// Keeps the place, then as much of the message as there is room for.
///
/// The place is the true one because every panic is one of `core`: those of defmt, which embassy uses when its feature
/// `defmt` is on, come here without one.
#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    cortex_m::interrupt::disable();
    let mut trouble = Trouble::new();
    let _ = trouble.push_str("panic");
    if let Some(place) = info.location() {
        // The end of the path says more than its beginning.
        let name = place.file().rsplit('/').next().unwrap_or_default();
        let _ = write!(trouble, " {}:{}", name, place.line());
    }
    let _ = write!(trouble, ": {}", info.message());
    restart_with(&trouble)
}

/// Keeps where the fault was: the address of the instruction, of its caller, and the fault status register.
// SAFETY: `cortex-m-rt` calls it as the exception's handler, with the frame that the core has stacked.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    // SAFETY: reading this register changes nothing.
    let status = unsafe { (*SCB::PTR).cfsr.read() };
    let mut trouble = Trouble::new();
    let _ = write!(
        trouble,
        "fault at {:x} from {:x} cfsr {:x}",
        frame.pc(),
        frame.lr(),
        status
    );
    restart_with(&trouble)
}

/// L4 and G4 tell by it of a double word of the flash that they cannot correct: a reset cut its programming off. What was read is wrong,
/// and its checksum tells so. Without a handler the board would hang here at every start, until the watchdog restarts it.
// SAFETY: `cortex-m-rt` calls it as the exception's handler.
#[cfg(any(feature = "nucleo-g474re", feature = "nucleo-l476rg"))]
#[exception]
unsafe fn NonMaskableInt() {
    // ECCD: a one clears it.
    embassy_stm32::pac::FLASH.eccr().modify(|w| w.0 |= 1 << 31);
}
