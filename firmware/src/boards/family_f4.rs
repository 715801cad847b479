//! What F4 chips have in common: clocks, flash and reset flags.

use embassy_stm32::pac;
use embassy_stm32::rcc::*;
use embassy_stm32::time::Hertz;

use super::ResetCause;

/// The 8 MHz at the HSE pins, fed by the ST-LINK or of a crystal, divided by 4, times `mul`, divided by `divp`; and what the
/// two buses divide that by. Without them the internal oscillator, of 16 MHz.
pub(super) fn clocks(
    mode: HseMode,
    mul: PllMul,
    divp: PllPDiv,
    apb1: APBPrescaler,
    apb2: APBPrescaler,
) -> embassy_stm32::Config {
    let mut config = embassy_stm32::Config::default();
    let external = super::hse_runs(mode == HseMode::Bypass);
    config.rcc.hse = external.then_some(Hse {
        freq: Hertz(8_000_000),
        mode,
    });
    config.rcc.pll_src = if external { PllSource::HSE } else { PllSource::HSI };
    config.rcc.pll = Some(Pll {
        prediv: if external { PllPreDiv::DIV4 } else { PllPreDiv::DIV8 },
        mul,
        divp: Some(divp),
        divq: None,
        divr: None,
    });
    config.rcc.ahb_pre = AHBPrescaler::DIV1;
    config.rcc.apb1_pre = apb1;
    config.rcc.apb2_pre = apb2;
    config.rcc.sys = Sysclk::PLL1_P;
    config
}

/// Whether the clocks come from the internal oscillator.
pub(super) fn is_clocked_from_inside() -> bool {
    pac::RCC.pllcfgr().read().pllsrc() == PllSource::HSI
}

/// Switches on what hides the wait states of the flash. embassy leaves it off: a board then has time for three quarters of its
/// links.
pub(super) fn accelerate() {
    pac::FLASH.acr().modify(|w| {
        w.set_prften(true);
        w.set_icen(true);
        w.set_dcen(true);
    });
}

/// Has 32 bits of the flash erased at once. embassy takes what it finds, which is 8: that may take longer than the watchdog waits.
pub(super) fn widen_erase() {
    const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];
    if pac::FLASH.cr().read().lock() {
        KEYS.into_iter().for_each(|key| pac::FLASH.keyr().write_value(key));
    }
    pac::FLASH
        .cr()
        .modify(|w| w.set_psize(pac::flash::vals::Psize::PSIZE32));
}

/// Why the board started. To be called once: it clears the flags for the next start.
pub(crate) fn reset_cause() -> ResetCause {
    let flags = pac::RCC.csr().read();
    pac::RCC.csr().modify(|w| w.set_rmvf(true));
    // Every reset also sets the flag of the reset pin, and some set that of a software reset.
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
