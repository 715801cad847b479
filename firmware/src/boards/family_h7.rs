//! The H7: clocks, torn flash and reset flags.

use embassy_stm32::pac;
use embassy_stm32::rcc::*;

use super::{CLOCK, ResetFlags};

pub(super) use embassy_stm32::pac::IWDG1 as WATCHDOG;
pub(super) use embassy_stm32::rcc::PllDiv;

/// Without anything at the HSE pins, the internal oscillator of 64 MHz takes its place.
const INTERNAL: PllPreDiv = PllPreDiv::DIV8;
pub(super) const FULL_SPEED: Sysclk = Sysclk::PLL1_P;
const _: () = assert!(CLOCK.pll_input == 8_000_000, "both clocks are divided to the same");

/// The PVD's level, 2.85 V.
pub(super) const PVD_LEVEL: u8 = 6;

pub(super) fn start() -> embassy_stm32::Peripherals {
    let mut config = embassy_stm32::Config::default();
    config.rcc.hse = super::hse();
    let external = config.rcc.hse.is_some();
    config.rcc.pll1 = Some(Pll {
        source: if external { PllSource::HSE } else { PllSource::HSI },
        prediv: if external { CLOCK.prediv } else { INTERNAL },
        mul: CLOCK.mul,
        fracn: None,
        divp: Some(CLOCK.div),
        divq: None,
        divr: None,
    });
    config.rcc.sys = FULL_SPEED;
    super::divide(&mut config.rcc);
    config.rcc.apb3_pre = CLOCK.apb1;
    config.rcc.apb4_pre = CLOCK.apb1;
    config.rcc.voltage_scale = VoltageScale::Scale1;
    embassy_stm32::init(config)
}

pub(super) fn is_clocked_from_inside() -> bool {
    pac::RCC.pllckselr().read().pllsrc() == PllSource::HSI
}

pub(super) fn feed_pll_from_hse() {
    pac::RCC.pllckselr().modify(|w| {
        w.set_pllsrc(PllSource::HSE);
        w.set_divm(0, CLOCK.prediv);
    });
}

/// Switches on what hides the wait states of the flash.
pub(super) fn accelerate() {
    // SAFETY: nothing else uses it. Code never changes, so the cache holds what is in the flash.
    let mut core = unsafe { cortex_m::Peripherals::steal() };
    core.SCB.enable_icache();
}

/// Has 64 bits of the flash erased at once. embassy leaves 8 after each write: a sector may take four seconds then, which is more than neighbors are
/// told, and as long as the watchdog waits.
pub(super) fn widen_erase() {
    for bank in 0..2 {
        let bank = pac::FLASH.bank(bank);
        if bank.cr().read().lock() {
            super::FLASH_KEYS
                .into_iter()
                .for_each(|key| bank.keyr().write_value(key));
        }
        bank.cr().modify(|w| w.set_psize(3));
    }
}

/// RAM is corrected in words of 64 bits: less than one waits until something else is written, and is lost by a reset before. So something else is
/// written here.
pub(super) fn settle_ram() {
    #[repr(align(8))]
    struct Word([u32; 2]);
    static mut ELSEWHERE: Word = Word([0; 2]);
    // SAFETY: nobody reads it. Volatile, since nobody does.
    unsafe { core::ptr::addr_of_mut!(ELSEWHERE.0[0]).write_volatile(0) };
}

/// Reads what a reset may have torn in the flash. That is a bus fault, at every start. A priority as high as that of a fault
/// handler, with BFHFNMIGN, lets the core go on with anything, which a checksum finds.
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

/// Why the board started, and clears that.
pub(super) fn reset_flags() -> ResetFlags {
    let flags = pac::RCC.rsr().read();
    pac::RCC.rsr().modify(|w| w.set_rmvf(true));
    ResetFlags {
        watchdog: flags.iwdg1rstf() || flags.wwdg1rstf(),
        low_power: flags.lpwrrstf(),
        software: flags.sftrstf(),
        power: flags.porrstf() || flags.borrstf(),
        pin: flags.pinrstf(),
    }
}
