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

pub(super) fn switch_pll(on: bool) {
    pac::RCC.cr().modify(|w| w.set_pllon(on));
    while pac::RCC.cr().read().pllrdy() != on {}
}

pub(super) fn feed_pll_from_outside() {
    pac::RCC.pllcfgr().modify(|w| {
        w.set_pllsrc(PllSource::HSE);
        w.set_pllm(CLOCK.prediv);
    });
}

/// Between a slow clock and one above 80 MHz the chip needs a microsecond at half of that.
pub(super) fn run_from(clock: Sysclk) {
    pac::RCC.cfgr().modify(|w| w.set_hpre(AHBPrescaler::DIV2));
    pac::RCC.cfgr().modify(|w| w.set_sw(clock));
    while pac::RCC.cfgr().read().sws() != clock {}
    cortex_m::asm::delay(170);
    pac::RCC.cfgr().modify(|w| w.set_hpre(CLOCK.ahb));
}

/// Has the PVD watch the supply, from 2.9 V down.
pub(super) fn watch_supply() {
    pac::PWR.cr2().modify(|w| {
        w.set_pls(6);
        w.set_pvde(true);
    });
}

pub(super) fn is_supply_low() -> bool {
    pac::PWR.sr2().read().pvdo()
}

/// Switches on what hides the wait states of the flash. The caches are on after reset.
pub(super) fn accelerate() {
    pac::FLASH.acr().modify(|w| w.set_prften(true));
}
