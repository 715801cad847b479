//! LED, button, watchdog, and what a board does to itself.

use cortex_m::peripheral::SCB;
use embassy_stm32::flash::{Blocking, Flash};
use embassy_stm32::gpio::{Input, Output};
use embassy_stm32::wdg::{IndependentWatchdog, Instance};
use embassy_time::{Duration, Ticker};
use hopwise_core::link::Micros;

use crate::answer::Deferred;
use crate::configuration;
use crate::driver::{Driver, Mode, now};
use crate::led::Rhythmic;
use crate::stack::StackProbe;

/// A step of the LED.
const LED_STEP: Duration = Duration::from_millis(125);
/// By then an answer has left.
const ANSWER_LEAVES: Micros = 200_000;
/// Between two looks at the button: longer than it bounces, shorter than anyone presses it.
const BUTTON_INTERVAL: Duration = Duration::from_millis(25);

/// Everything that is done once for each step of the LED.
pub(crate) async fn run<W: Instance>(
    driver: &Driver,
    mut led: Output<'static>,
    mut watchdog: IndependentWatchdog<'static, W>,
    mut flash: Option<Flash<'static, Blocking>>,
) -> ! {
    let mut ticker = Ticker::every(LED_STEP);
    let mut probe = StackProbe::new();
    let mut rhythmic = Rhythmic::default();
    loop {
        watchdog.pet();
        if let Some(free) = probe.step() {
            driver.set_stack_free(free);
        }
        led.set_level(rhythmic.step(driver).into());
        match driver.deferred.take() {
            Some((deferred, since)) if now() >= since + ANSWER_LEAVES => {
                watchdog.pet();
                carry_out(&deferred, &mut flash);
            }
            not_yet => driver.deferred.set(not_yet),
        }
        ticker.next().await;
    }
}

fn carry_out(deferred: &Deferred, flash: &mut Option<Flash<'static, Blocking>>) {
    if let Deferred::WritePage(page) = deferred {
        if !flash.as_mut().is_some_and(|flash| configuration::write(flash, page)) {
            defmt::error!("the configuration page could not be written");
            return;
        }
        defmt::info!("the configuration page is written");
    }
    SCB::sys_reset();
}

/// Looks at the button now and then: that needs no interrupt, and the button does not bounce from one look to the next.
#[embassy_executor::task]
pub(crate) async fn watch_button(driver: &'static Driver, button: Input<'static>, pressed_high: bool) {
    let mut ticker = Ticker::every(BUTTON_INTERVAL);
    let is_pressed = || button.is_high() == pressed_high;
    let mut was_pressed = is_pressed();
    loop {
        ticker.next().await;
        let pressed = is_pressed();
        if pressed && !was_pressed {
            if let Mode::Mesh(mesh) = &mut *driver.mode() {
                mesh.broadcast_ping(now());
            }
            driver.has_changed();
        }
        was_pressed = pressed;
    }
}
