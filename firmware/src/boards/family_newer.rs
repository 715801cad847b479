//! What chips newer than the F4 have in common.

use embassy_stm32::pac;
use embassy_stm32::pac::usart::Usart;

use super::ResetCause;

/// Whether the line has fallen idle since the last call. Clears errors too: an overrun would stop the receiver for good.
pub(crate) fn take_line_idle(registers: Usart) -> bool {
    let flags = registers.isr().read();
    registers.icr().write(|w| {
        w.set_idle(true);
        w.set_ore(true);
        w.set_fe(true);
        w.set_ne(true);
    });
    flags.idle()
}

/// Where received bytes are.
pub(crate) fn data_register(registers: Usart) -> *mut u8 {
    registers.rdr().as_ptr().cast()
}

/// Why the board started. Asked once: the flags are cleared for the next time.
pub(crate) fn reset_cause() -> ResetCause {
    #[cfg(not(feature = "nucleo-h743zi"))]
    let (watchdog, power, flags) = {
        let flags = pac::RCC.csr().read();
        pac::RCC.csr().modify(|w| w.set_rmvf(true));
        (flags.iwdgrstf() || flags.wwdgrstf(), flags.borrstf(), flags)
    };
    #[cfg(feature = "nucleo-h743zi")]
    let (watchdog, power, flags) = {
        let flags = pac::RCC.rsr().read();
        pac::RCC.rsr().modify(|w| w.set_rmvf(true));
        (
            flags.iwdg1rstf() || flags.wwdg1rstf(),
            flags.porrstf() || flags.borrstf(),
            flags,
        )
    };
    // The flag of the reset pin is set by all others, and that of software by some.
    if watchdog {
        ResetCause::Watchdog
    } else if flags.lpwrrstf() {
        ResetCause::LowPower
    } else if flags.sftrstf() {
        ResetCause::Software
    } else if power {
        ResetCause::Power
    } else if flags.pinrstf() {
        ResetCause::ResetPin
    } else {
        ResetCause::Unknown
    }
}
