//! The L4: clocks. It runs from the internal MSI, kept exact by a crystal of 32 kHz.

use embassy_stm32::pac;
use embassy_stm32::rcc::*;
use embassy_stm32::time::Hertz;

use super::CLOCK;

pub(super) use embassy_stm32::pac::IWDG as WATCHDOG;
pub(super) use embassy_stm32::rcc::PllRDiv as PllDiv;

const _: () = assert!(CLOCK.pll_input == 4_000_000, "the MSI has 4 MHz");

/// The PVD's level, 2.9 V.
pub(super) const PVD_LEVEL: pac::pwr::vals::Pls = pac::pwr::vals::Pls::V2_9;

pub(super) fn start() -> embassy_stm32::Peripherals {
    let mut config = embassy_stm32::Config::default();
    config.rcc.msi = Some(MSIRange::RANGE4M);
    config.rcc.ls = LsConfig {
        rtc: RtcClockSource::DISABLE,
        lsi: false,
        lse: lse_runs().then_some(LseConfig {
            frequency: Hertz(32_768),
            mode: LseMode::Oscillator(DRIVE),
        }),
    };
    config.rcc.pll = Some(Pll {
        source: PllSource::MSI,
        prediv: CLOCK.prediv,
        mul: CLOCK.mul,
        divp: None,
        divq: None,
        divr: Some(CLOCK.div),
    });
    super::divide(&mut config.rcc);
    config.rcc.sys = Sysclk::PLL1_R;
    embassy_stm32::init(config)
}

const DRIVE: LseDrive = LseDrive::MediumHigh;

/// Whether the crystal of 32 kHz runs. embassy would wait for it for ever. It takes up to two seconds after power-on.
fn lse_runs() -> bool {
    pac::RCC.apb1enr1().modify(|w| w.set_pwren(true));
    pac::PWR.cr1().modify(|w| w.set_dbp(true));
    pac::RCC.bdcr().modify(|w| w.set_lsedrv(DRIVE.into()));
    pac::RCC.bdcr().modify(|w| w.set_lseon(true));
    // At the 4 MHz that the chip begins with, about two seconds.
    let runs = (0..10 * super::LOOKS).any(|_| pac::RCC.bdcr().read().lserdy());
    if !runs {
        pac::RCC.bdcr().modify(|w| w.set_lseon(false));
    }
    runs
}

/// Whether nothing external keeps the clocks exact.
pub(super) fn is_clocked_from_inside() -> bool {
    !pac::RCC.cr().read().msipllen()
}

/// The caches are on after reset, and embassy switches on the prefetch.
pub(super) fn accelerate() {}
