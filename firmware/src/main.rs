//! Hopwise on a Nucleo board.
//!
//! The router of `hopwise-core` decides everything about packets; this carries bytes and time to and from it. A module
//! uses only those below it:
//!
//! - [`housekeeping`]: watchdog, button, and what the board does to itself; [`led`]: what the LED shows;
//! - [`driver`]: the tasks that share one router: two for each serial port, and one for the clock;
//! - [`mesh`]: a board with a configuration; [`unconfigured`]: one without;
//! - [`answer`]: what both reply to a computer's commands; [`about`]: what a board knows about itself;
//! - [`configuration`]: what is kept in the flash; [`traffic`]: packets of its own; [`observer`]: events, for log and LED;
//! - [`boards`]: one file a board; [`uart`]: serial ports;
//! - [`copy`]: how memory is copied; [`crash`]: panics and faults; [`kept`]: what survives a reset; [`stack`]: how much of
//!   it was never used.
#![no_std]
#![no_main]

mod about;
mod answer;
mod boards;
mod configuration;
mod copy;
mod crash;
mod driver;
mod housekeeping;
mod kept;
mod led;
mod mesh;
mod observer;
mod stack;
mod traffic;
mod uart;
mod unconfigured;

use defmt_rtt as _;
use embassy_executor::Spawner;
use hopwise_core::router::ConfigError;
use hopwise_core::store::Store;
use hopwise_core::wire::BoardState;
use static_cell::StaticCell;

use about::About;
use boards::LINKS;
use configuration::Slots;
use driver::{Driver, Mode, Task, now};
use mesh::Mesh;
use unconfigured::Unconfigured;

defmt::timestamp!("{=u64:us}", embassy_time::Instant::now().as_micros());

/// Cycles for which a board only listens: about a millisecond at 180 MHz.
const LISTEN_FIRST: u32 = 120_000;
/// Why spawning a task cannot fail.
const ONCE: &str = "a task is spawned once for each port that it serves";

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    // First of all: whatever hangs from here on ends in a restart.
    let mut watchdog = boards::watchdog();
    watchdog.unleash();
    let mut peripherals = boards::start();
    let driver = start(Slots(boards::flash(peripherals.FLASH.reborrow())));
    driver.about.log();
    let board = boards::open(peripherals, driver.about.baud);
    // Boards that are switched on together all listen before the first of them says hello.
    cortex_m::asm::delay(LISTEN_FIRST);
    let in_mesh = matches!(&*driver.mode(), Mode::Mesh(_));
    for (link, port) in (0..).zip(board.ports) {
        // A board without configuration is silent on its links.
        if in_mesh || link == LINKS as u8 {
            driver.add_task(Task::receiver(link));
            driver.add_task(Task::transmitter(link));
            spawner.spawn(driver::receive(driver, link, port.rx).expect(ONCE));
            spawner.spawn(driver::transmit(driver, link, port.tx).expect(ONCE));
        }
    }
    driver.add_task(Task::CLOCK);
    driver.add_task(Task::BUTTON);
    spawner.spawn(driver::keep_time(driver).expect(ONCE));
    spawner.spawn(housekeeping::watch_button(driver, board.button, board.pressed_high).expect(ONCE));
    housekeeping::run(driver, board.led, watchdog, Store::new(Slots(board.flash))).await
}

/// Makes of the board what its configuration page says.
// Not inlined: its stack frame, which holds a whole router, ends with it.
#[inline(never)]
fn start(slots: Slots<'_>) -> &'static Driver {
    static DRIVER: StaticCell<Driver> = StaticCell::new();
    let unique_id = embassy_stm32::uid::uid();
    let cause = boards::reset_cause();
    let boot = kept::boot(&unique_id, cause);
    let start = Store::new(slots).start(boot.epoch);
    if start.page.is_some() && !start.is_marked {
        defmt::warn!("this start could not be counted in the flash: the next one may have the same epoch");
    }
    // What the configuration says may be what the board crashes at.
    let found = match boot.crashes_again {
        true => Err(BoardState::CrashLoop),
        false => configuration::understand_start(&start),
    };
    let state = found.as_ref().err().copied().unwrap_or(BoardState::Configured);
    let page = found.as_ref().ok().map(|(page, _)| page);
    let mut about = About::new(boot, &start, cause, unique_id, state, page);
    let mesh = found.and_then(|(page, network)| {
        Mesh::new(&page, network, &about, now()).map_err(|error| match error {
            ConfigError::NoSuchNode(_) | ConfigError::EpochZero => BoardState::BadAddress,
            ConfigError::TooFewLinks { .. } => BoardState::TooFewLinks,
        })
    });
    let mode = match mesh {
        Ok(mesh) => Mode::Mesh(mesh),
        Err(state) => {
            about.state = state;
            Mode::Unconfigured(Unconfigured::new(&about, now()))
        }
    };
    DRIVER.init(Driver::new(mode, about))
}
