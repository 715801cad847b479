//! What the F4 chips have in common.

use embassy_stm32::pac;
use embassy_stm32::pac::usart::Usart;

use super::ResetCause;

/// Whether the line has fallen idle since the last call. Clears errors too.
pub(crate) fn take_line_idle(registers: Usart) -> bool {
    let idle = registers.sr().read().idle();
    if idle {
        // Reading the data register after the status clears all. The line has been quiet for a whole byte, so there is none
        // in it that DMA has not fetched.
        registers.dr().read();
    }
    idle
}

/// Where received bytes are.
pub(crate) fn data_register(registers: Usart) -> *mut u8 {
    registers.dr().as_ptr().cast()
}

/// Why the board started. Asked once: the flags are cleared for the next time.
pub(crate) fn reset_cause() -> ResetCause {
    let flags = pac::RCC.csr().read();
    pac::RCC.csr().modify(|w| w.set_rmvf(true));
    // The flag of the reset pin is set by all others, and that of software by some.
    if flags.wdgrstf() || flags.wwdgrstf() {
        ResetCause::Watchdog
    } else if flags.lpwrrstf() {
        ResetCause::LowPower
    } else if flags.sftrstf() {
        ResetCause::Software
    } else if flags.porrstf() || flags.borrstf() {
        ResetCause::Power
    } else if flags.padrstf() {
        ResetCause::ResetPin
    } else {
        ResetCause::Unknown
    }
}
