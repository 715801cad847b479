//! What F4 chips have in common: clocks, flash and reset flags.

use cortex_m::peripheral::DWT;
use embassy_stm32::pac;
use embassy_stm32::rcc::*;
use embassy_time::Instant;

use super::{CLOCK, ResetFlags};

pub(super) use embassy_stm32::pac::IWDG as WATCHDOG;
pub(super) use embassy_stm32::rcc::PllPDiv as PllDiv;

/// Without anything at the HSE pins, the internal oscillator of 16 MHz takes its place.
const INTERNAL: PllPreDiv = PllPreDiv::DIV8;
pub(super) const FULL_SPEED: Sysclk = Sysclk::PLL1_P;
const _: () = assert!(CLOCK.pll_input == 2_000_000, "both clocks are divided to the same");

/// The PVD's level, 2.9 V: writing 32 bits of the flash at once takes 2.7.
pub(super) const PVD_LEVEL: u8 = 7;

pub(super) fn start() -> embassy_stm32::Peripherals {
    let mut config = embassy_stm32::Config::default();
    config.rcc.hse = super::hse();
    let external = config.rcc.hse.is_some();
    config.rcc.pll_src = if external { PllSource::HSE } else { PllSource::HSI };
    config.rcc.pll = Some(Pll {
        prediv: if external { CLOCK.prediv } else { INTERNAL },
        mul: CLOCK.mul,
        divp: Some(CLOCK.div),
        divq: None,
        divr: None,
    });
    super::divide(&mut config.rcc);
    config.rcc.sys = FULL_SPEED;
    embassy_stm32::init(config)
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
    if pac::FLASH.cr().read().lock() {
        super::FLASH_KEYS
            .into_iter()
            .for_each(|key| pac::FLASH.keyr().write_value(key));
    }
    pac::FLASH
        .cr()
        .modify(|w| w.set_psize(pac::flash::vals::Psize::PSIZE32));
}

/// Does something during which the core may stand still, and has embassy's clock catch up with what it missed. That clock counts halves of its
/// timer's round, 32 ms each, by interrupts, of which a core that stands still sees two at most.
pub(super) fn standing_still<R>(change: impl FnOnce() -> R) -> R {
    count_cycles();
    let (result, missed) = cortex_m::interrupt::free(|_| {
        let begun = Begun::now();
        let result = change();
        (result, begun.missed())
    });
    catch_up(missed);
    result
}

// What does not depend on the change is not compiled for each: so these are not inlined.

#[inline(never)]
fn count_cycles() {
    // SAFETY: nothing else uses the cycle counter.
    let mut core = unsafe { cortex_m::Peripherals::steal() };
    core.DCB.enable_trace();
    core.DWT.enable_cycle_counter();
}

/// When something began.
struct Begun {
    ticks: u64,
    pending: u32,
    cycles: u32,
}

impl Begun {
    #[inline(never)]
    fn now() -> Self {
        Begun {
            ticks: Instant::now().as_ticks(),
            pending: pending(),
            cycles: DWT::cycle_count(),
        }
    }

    /// Halves of the timer's round since then that embassy's clock will not count.
    #[inline(never)]
    fn missed(self) -> u64 {
        const HALF: u64 = 1 << 15;
        let cycles_per_tick = embassy_stm32::rcc::frequency::<embassy_stm32::peripherals::DMA1>().0 / 1_000_000;
        let ticks = DWT::cycle_count().wrapping_sub(self.cycles) / cycles_per_tick.max(1);
        let halves = (self.ticks + u64::from(ticks)) / HALF - self.ticks / HALF;
        halves.saturating_sub(u64::from(pending() - self.pending))
    }
}

#[inline(never)]
fn catch_up(missed: u64) {
    for _ in 0..missed {
        // Its interrupt comes at once, and counts one half.
        pac::TIM2.egr().write(|w| w.set_ccg(0, true));
        cortex_m::asm::dsb();
        cortex_m::asm::isb();
    }
}

/// Halves of the timer's round that embassy's clock has yet to count.
fn pending() -> u32 {
    let flags = pac::TIM2.sr().read();
    u32::from(flags.uif()) + u32::from(flags.ccif(0))
}

/// Why the board started, and clears that.
pub(super) fn reset_flags() -> ResetFlags {
    let flags = pac::RCC.csr().read();
    pac::RCC.csr().modify(|w| w.set_rmvf(true));
    ResetFlags {
        watchdog: flags.wdgrstf() || flags.wwdgrstf(),
        low_power: flags.lpwrrstf(),
        software: flags.sftrstf(),
        power: flags.porrstf() || flags.borrstf(),
        pin: flags.padrstf(),
    }
}
