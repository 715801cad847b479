//! What chips newer than the F4 have in common: clocks and reset flags.

use embassy_stm32::pac;

use super::ResetCause;

/// Whether the clocks come from an internal oscillator that nothing external keeps exact.
pub(super) fn is_clocked_from_inside() -> bool {
    #[cfg(feature = "nucleo-l476rg")]
    let inside = !pac::RCC.cr().read().msipllen();
    #[cfg(feature = "nucleo-g474re")]
    let inside = pac::RCC.pllcfgr().read().pllsrc() == embassy_stm32::rcc::PllSource::HSI;
    #[cfg(feature = "nucleo-h743zi")]
    let inside = pac::RCC.pllckselr().read().pllsrc() == embassy_stm32::rcc::PllSource::HSI;
    inside
}

/// Switches on what hides the wait states of the flash. On L4 and G4 the caches are on after reset; the prefetch embassy switches on for
/// the L4 only.
pub(super) fn accelerate() {
    #[cfg(feature = "nucleo-g474re")]
    pac::FLASH.acr().modify(|w| w.set_prften(true));
    #[cfg(feature = "nucleo-h743zi")]
    {
        // SAFETY: nothing else uses it. Code never changes, so the cache holds what is in the flash.
        let mut core = unsafe { cortex_m::Peripherals::steal() };
        core.SCB.enable_icache();
    }
}

/// Reads what a reset may have torn in the flash. On the H7 that is a bus fault, at every start. A priority as high as that of a fault
/// handler, with BFHFNMIGN, lets the core go on with anything, which a checksum finds.
#[cfg(feature = "nucleo-h743zi")]
pub(crate) fn read_torn(read: impl FnOnce()) {
    const BFHFNMIGN: u32 = 1 << 8;
    // SAFETY: no handler runs in between, and all is as it was afterwards but for the flags, which a one clears.
    unsafe {
        let scb = &*cortex_m::peripheral::SCB::PTR;
        scb.ccr.modify(|ccr| ccr | BFHFNMIGN);
        core::arch::asm!("cpsid f", "isb");
        read();
        core::arch::asm!("dsb", "cpsie f");
        scb.ccr.modify(|ccr| ccr & !BFHFNMIGN);
        // The bus fault's, not those of another kind.
        scb.cfsr.write(0xff00);
    }
    // With this flag set embassy refuses to write, and it does not clear it.
    for bank in 0..2 {
        pac::FLASH.bank(bank).ccr().write(|w| w.set_clr_dbeccerr(true));
    }
}

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
