//! What F4 chips have in common: clocks and reset flags.

use embassy_stm32::pac;
use embassy_stm32::rcc::*;
use embassy_stm32::time::Hertz;

use super::ResetCause;

/// The 8 MHz that the ST-LINK feeds into the HSE pin, divided by 4, times `mul`, divided by `divp`; and what the two buses
/// divide that by.
pub(super) fn clocks(mul: PllMul, divp: PllPDiv, apb1: APBPrescaler, apb2: APBPrescaler) -> embassy_stm32::Config {
    let mut config = embassy_stm32::Config::default();
    config.rcc.hse = Some(Hse {
        freq: Hertz(8_000_000),
        mode: HseMode::Bypass,
    });
    config.rcc.pll_src = PllSource::HSE;
    config.rcc.pll = Some(Pll {
        prediv: PllPreDiv::DIV4,
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
