//! What a board does besides talking: it writes its flash, waits for its button, resets itself, and lets its watchdog bite.
//! It lives four times; what it has seen is in [`KEPT`], which no reset touches.
#![no_std]
#![no_main]

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

use defmt::{info, unwrap};
use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_stm32::exti::{self, ExtiInput};
use embassy_stm32::flash::Flash;
use embassy_stm32::gpio::Pull;
use embassy_stm32::wdg::IndependentWatchdog;
use embassy_stm32::{bind_interrupts, interrupt};
use embassy_time::Timer;
use panic_probe as _;

bind_interrupts!(struct Interrupts {
    EXTI15_10 => exti::InterruptHandler<interrupt::typelevel::EXTI15_10>;
});

const MAGIC: u32 = 0x6b65_7074;
const RCC_CSR: *mut u32 = 0x4002_3874 as *mut u32;

/// Magic number, lives, the reset flags of each of four, erase times of sectors 3 and 7 in milliseconds, whether what
/// was written could be read, when the button was pressed in milliseconds, the first four bytes of the unique number.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".uninit.KEPT")]
static KEPT: MaybeUninit<[AtomicU32; 11]> = MaybeUninit::uninit();

fn kept(place: usize) -> &'static AtomicU32 {
    // SAFETY: any bits are a number.
    let words = unsafe { KEPT.assume_init_ref() };
    &words[place]
}

/// Since the board began this life. Not embassy's time: that loses what passes while the flash is busy, because its
/// driver needs an interrupt every 33 ms.
fn milliseconds() -> u32 {
    cortex_m::peripheral::DWT::cycle_count() / 16_000
}

/// Erases a sector, writes a text there and reads it. Returns the milliseconds of the erasure and whether it was read.
fn try_sector(flash: &mut Flash<'_, embassy_stm32::flash::Blocking>, from: u32, to: u32) -> (u32, bool) {
    let text = b"hopwise writes its configuration";
    let begin = milliseconds();
    unwrap!(flash.blocking_erase(from, to));
    let time = milliseconds() - begin;
    unwrap!(flash.blocking_write(from, text));
    let mut read = [0; 40];
    unwrap!(flash.blocking_read(from, &mut read));
    (time, read[..32] == text[..] && read[32..] == [0xff; 8])
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let p = embassy_stm32::init(Default::default());
    let mut core = unwrap!(cortex_m::Peripherals::take());
    core.DCB.enable_trace();
    core.DWT.enable_cycle_counter();
    if kept(0).swap(MAGIC, Ordering::Relaxed) != MAGIC {
        (1..11).for_each(|place| kept(place).store(0, Ordering::Relaxed));
    }
    let life = kept(1).fetch_add(1, Ordering::Relaxed) as usize;
    // SAFETY: a register that is always there.
    let flags = unsafe { RCC_CSR.read_volatile() };
    unsafe { RCC_CSR.write_volatile(1 << 24) };
    kept(2 + life.min(3)).store(flags >> 24, Ordering::Relaxed);
    info!("life {}, reset flags {:x}", life, flags >> 24);
    match life {
        0 => {
            let mut flash = Flash::new_blocking(p.FLASH);
            let (small, small_read) = try_sector(&mut flash, 0xc000, 0x1_0000);
            let (large, large_read) = try_sector(&mut flash, 0x6_0000, 0x8_0000);
            kept(6).store(small, Ordering::Relaxed);
            kept(7).store(large, Ordering::Relaxed);
            kept(8).store(u32::from(small_read && large_read), Ordering::Relaxed);
            let number = embassy_stm32::uid::uid();
            kept(10).store(
                u32::from_le_bytes([number[0], number[1], number[2], number[3]]),
                Ordering::Relaxed,
            );
            let mut button = ExtiInput::new(p.PC13, p.EXTI13, Pull::None, Interrupts);
            button.wait_for_falling_edge().await;
            kept(9).store(milliseconds(), Ordering::Relaxed);
            button.wait_for_rising_edge().await;
            cortex_m::peripheral::SCB::sys_reset();
        }
        1 => {
            let mut iwdg = IndependentWatchdog::new(p.IWDG, 50_000);
            iwdg.unleash();
            for _ in 0..5 {
                Timer::after_millis(30).await;
                iwdg.pet();
            }
            core::future::pending::<()>().await;
        }
        _ => core::future::pending::<()>().await,
    }
}
