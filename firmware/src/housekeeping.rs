//! LED, button, watchdog, and what a board does to itself.

use cortex_m::peripheral::SCB;
use embassy_stm32::gpio::{Input, Output};
use embassy_stm32::wdg::{IndependentWatchdog, Instance};
use embassy_time::{Duration, Ticker};
use hopwise_node::link::Micros;
use hopwise_node::store::Store;
use hopwise_node::wire::{BoardState, Failure};

use crate::answer::Deferred;
use crate::configuration::Slots;
use crate::driver::{Driver, Mode, Task};
use crate::kept;
use crate::led::Rhythmic;
use crate::next_image;
use crate::stack::{self, StackProbe};
use crate::time::now;

/// A step of the LED.
const LED_STEP: Duration = Duration::from_millis(125);
/// Every so many steps all tasks are called.
const ROLL_CALL: u32 = 8;
/// A task that has not come so many steps after a call hangs: two seconds, which is less than the watchdog waits at its fastest.
const PATIENCE: u32 = 16;
/// A board that has run for so long does not crash soon after its start.
const SETTLED: Micros = 10_000_000;
/// A configuration on trial that nobody has kept by then is given up.
const TRIAL: Micros = 60_000_000;
/// By then an answer has left.
const ANSWER_LEAVES: Micros = 200_000;
/// Making room for a while takes less, in quarters of a second: two seconds at most for a sector of 128 KiB, and what came before it.
const PAUSE: u8 = 14;
/// Between two looks at the button: longer than it bounces, shorter than anyone presses it.
const BUTTON_INTERVAL: Duration = Duration::from_millis(25);

/// So many steps pass before room is made for an image.
const ROOM_STEPS: u8 = 2;

/// Making room for the next image, during which nothing else runs.
#[derive(Clone, Copy)]
enum Room {
    /// It is not, since so many steps.
    Left(u8),
    /// The neighbours know, and it begins with the next step.
    Announced,
}

/// Everything that is done once for each step of the LED.
pub(crate) async fn run<W: Instance>(
    driver: &Driver,
    mut led: Output<'static>,
    mut watchdog: IndependentWatchdog<'static, W>,
    mut store: Store<Slots<'static>>,
) -> ! {
    let mut ticker = Ticker::every(LED_STEP);
    let mut probe = StackProbe::new();
    let mut rhythmic = Rhythmic::default();
    let mut since_call = 0;
    let mut room = Room::Left(0);
    loop {
        driver.is_here(Task::HOUSEKEEPING);
        since_call += 1;
        match driver.missing_tasks() {
            0 => {
                watchdog.pet();
                if since_call >= ROLL_CALL {
                    since_call = 0;
                    driver.call_roll();
                }
            }
            missing if since_call >= PATIENCE => kept::restart_with(&kept::hanging(missing.trailing_zeros())),
            _ => {}
        }
        if now() >= SETTLED && driver.about.state != BoardState::CrashLoop {
            kept::settle();
        }
        if let Some(free) = probe.step() {
            driver.set_stack_free(free);
        }
        driver.repair();
        // Programs learn of links that have come or gone.
        driver.exchange();
        led.set_level(rhythmic.step(driver).into());
        match driver.deferred.take() {
            Some((deferred, since)) if now() >= since + ANSWER_LEAVES => {
                watchdog.pet();
                carry_out(&deferred, driver, &mut store);
                // Where that took long, nothing else has run meanwhile, and now everything may.
                ticker.reset();
                since_call = 0;
            }
            not_yet => driver.deferred.set(not_yet),
        }
        let next_image = &driver.about.next_image;
        room = match (next_image.is_making_room(), room) {
            (false, Room::Announced) => {
                driver.end_pause();
                Room::Left(0)
            }
            (false, _) => Room::Left(0),
            // The answer leaves first, and between two erases what has waited for the one before.
            (true, Room::Left(steps)) if steps < ROOM_STEPS => Room::Left(steps + 1),
            (true, Room::Left(_)) => {
                driver.pause(PAUSE);
                Room::Announced
            }
            (true, Room::Announced) => {
                next_image.make_room(|| watchdog.pet());
                driver.end_pause();
                ticker.reset();
                since_call = 0;
                Room::Left(ROOM_STEPS)
            }
        };
        if driver.about.on_trial.get() && now() >= TRIAL {
            watchdog.pet();
            defmt::warn!("nobody has kept the configuration: back to the one before");
            if store.go_back(driver.about.epoch).is_err() {
                defmt::error!("it could not be erased");
            }
            // A page that is still there is given up by itself after a few starts.
            SCB::sys_reset();
        }
        if driver.about.next_image.on_trial.get() && now() >= TRIAL {
            defmt::warn!("nobody has kept the image: back to the one before");
            SCB::sys_reset();
        }
        ticker.next().await;
    }
}

fn carry_out(deferred: &Deferred, driver: &Driver, store: &mut Store<Slots<'static>>) {
    let next_image = &driver.about.next_image;
    let done = match deferred {
        Deferred::Switch(trial) => {
            kept::settle();
            next_image::restart_with(trial)
        }
        Deferred::KeepImage => {
            if next_image.keep().is_err() {
                defmt::error!("that the image is kept could not be written");
            }
            return;
        }
        Deferred::Restart => SCB::sys_reset(),
        Deferred::WritePage { page, on_trial } => store.write_page(page, *on_trial, driver.about.epoch),
        Deferred::KeepPage => store.keep(),
        Deferred::Fail(Failure::StackOverflow) => {
            stack::overflow(0);
            Ok(())
        }
        // The watchdog ends it. Interrupts are served, tasks are not; asleep in between, which spares power and emulators.
        Deferred::Fail(Failure::Hang) => loop {
            cortex_m::asm::wfi();
        },
    };
    match (done, deferred) {
        (Err(_), _) => defmt::error!("the configuration could not be written"),
        (Ok(()), Deferred::KeepPage) => driver.about.on_trial.set(false),
        (Ok(()), _) => {
            defmt::info!("the configuration is written");
            kept::settle();
            SCB::sys_reset();
        }
    }
}

/// Looks at the button now and then: that needs no interrupt, and the button does not bounce from one look to the next.
#[embassy_executor::task]
pub(crate) async fn watch_button(driver: &'static Driver, button: Input<'static>, pressed_high: bool) {
    let mut ticker = Ticker::every(BUTTON_INTERVAL);
    let is_pressed = || button.is_high() == pressed_high;
    let mut was_pressed = is_pressed();
    loop {
        ticker.next().await;
        driver.is_here(Task::BUTTON);
        let pressed = is_pressed();
        driver.about.is_pressed.set(pressed);
        if pressed && !was_pressed {
            if let Mode::Mesh(mesh) = &mut *driver.mode() {
                mesh.broadcast_ping(now());
            }
            driver.has_changed();
        }
        was_pressed = pressed;
    }
}
