//! What chips newer than the F4 have in common: reset flags.

use embassy_stm32::pac;

use super::ResetCause;

/// Why the board started. To be called once: it clears the flags for the next start.
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
    // Every reset also sets the flag of the reset pin, and some set that of a software reset.
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
