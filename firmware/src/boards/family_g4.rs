//! The G4: clocks and flash.

use embassy_stm32::pac;
use embassy_stm32::rcc::*;

use super::CLOCK;

pub(super) use embassy_stm32::pac::IWDG as WATCHDOG;
pub(super) use embassy_stm32::rcc::PllRDiv as PllDiv;

/// PWR_CR5: voltage range 1 without the boost.
const R1MODE: u32 = 1 << 8;

/// Without anything at the HSE pins, the internal oscillator of 16 MHz takes its place.
const INTERNAL: PllPreDiv = PllPreDiv::DIV4;
pub(super) const FULL_SPEED: Sysclk = Sysclk::PLL1_R;
const _: () = assert!(CLOCK.pll_input == 4_000_000, "both clocks are divided to the same");

/// The PVD's level, 2.9 V.
pub(super) const PVD_LEVEL: u8 = 6;

/// 170 MHz needs the boost mode. embassy divides and waits as it should, but does not get it: stm32-metapac 21 has R1MODE at bit 0 of PWR_CR5,
/// RM0440 at 8. And it resets the PWR when it begins, so it begins with its own 16 MHz.
pub(super) fn start() -> embassy_stm32::Peripherals {
    let mut config = clocks();
    let clocks = core::mem::take(&mut config.rcc);
    let mut peripherals = embassy_stm32::init(config);
    pac::PWR.cr5().modify(|w| w.0 &= !R1MODE);
    reinit(clocks, &mut peripherals.RCC);
    peripherals
}

fn clocks() -> embassy_stm32::Config {
    let mut config = embassy_stm32::Config::default();
    config.rcc.hse = super::hse();
    let external = config.rcc.hse.is_some();
    config.rcc.hsi = !external;
    config.rcc.pll = Some(Pll {
        source: if external { PllSource::HSE } else { PllSource::HSI },
        prediv: if external { CLOCK.prediv } else { INTERNAL },
        mul: CLOCK.mul,
        divp: None,
        divq: None,
        divr: Some(CLOCK.div),
    });
    super::divide(&mut config.rcc);
    config.rcc.sys = FULL_SPEED;
    config.rcc.boost = true;
    config
}

pub(super) fn is_clocked_from_inside() -> bool {
    pac::RCC.pllcfgr().read().pllsrc() == PllSource::HSI
}

pub(super) fn feed_pll_from_hse() {
    pac::RCC.pllcfgr().modify(|w| {
        w.set_pllsrc(PllSource::HSE);
        w.set_pllm(CLOCK.prediv);
    });
}

/// Switches on what hides the wait states of the flash. The caches are on after reset.
pub(super) fn accelerate() {
    pac::FLASH.acr().modify(|w| w.set_prften(true));
}
