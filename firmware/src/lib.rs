//! Hopwise on a board: [`run`] makes of a board what its configuration says, and runs a program on it.
//!
//! ```text
//! static ROOM: StaticCell<Shared> = StaticCell::new();
//!
//! #[embassy_executor::main]
//! async fn main(spawner: Spawner) {
//!     hopwise_firmware::run(spawner, &ROOM, thermometer).await
//! }
//!
//! async fn thermometer(mesh: Handle<'static>) {
//!     loop {
//!         let _ = mesh.send_confirmed(0, AppPort(16), &read().to_le_bytes()).await;
//!         mesh.sleep(1_000_000).await;
//!     }
//! }
//! ```
//!
//! The router of `hopwise-core` decides everything about packets; this carries bytes and time to and from it. A module
//! uses only those below it:
//!
//! - [`housekeeping`]: watchdog, button, and what the board does to itself; [`led`]: what the LED shows;
//! - [`driver`]: the tasks that share one router: two for each serial port, and one for the clock;
//! - [`mesh`]: a board with a configuration; [`unconfigured`]: one without;
//! - [`answer`]: what both reply to a computer's commands; [`about`]: what a board knows about itself;
//! - [`programs`]: what runs on the board besides;
//! - [`configuration`]: what is kept in the flash; [`next_image`]: new firmware; [`traffic`]: packets of its own; [`observer`]: events, for log and LED;
//! - [`boards`]: one file a board; [`uart`]: serial ports;
//! - [`time`]: the board's own clock, and what time it is in the mesh;
//! - [`copy`]: how memory is copied; [`crash`]: panics and faults; [`kept`]: what survives a reset; [`stack`]: how much of
//!   it was never used.
#![no_std]

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
mod next_image;
mod observer;
mod programs;
mod stack;
mod time;
mod traffic;
mod uart;
mod unconfigured;

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_futures::join::join;
pub use hopwise_app::{AppPort, MAX_MESSAGE, Mesh as Handle, Outcome, Shared};
use hopwise_app::{Clock, Network, Node};
use hopwise_node::router::ConfigError;
use hopwise_node::store::Store;
use hopwise_node::wire::BoardState;
use static_cell::StaticCell;

use about::About;
use boards::LINKS;
use configuration::Slots;
use driver::{Driver, Mode, Task};
use programs::Programs;
use time::now;

defmt::timestamp!("{=u64:us}", embassy_time::Instant::now().as_micros());

/// Cycles for which a board only listens: about a millisecond at 180 MHz.
const LISTEN_FIRST: u32 = 120_000;
/// Why spawning a task cannot fail.
const ONCE: &str = "a task is spawned once for each port that it serves";

/// Runs the board, and on it a program, if the board is part of a mesh. `room` is for what the two share; the program may spawn others and give
/// them its handle. One that ends leaves the board to its router.
pub async fn run<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize, F: Future<Output = ()>>(
    spawner: Spawner,
    room: &'static StaticCell<Shared<SENDS, RECEIVERS, DEPTH>>,
    program: impl FnOnce(Handle<'static, SENDS, RECEIVERS, DEPTH>) -> F,
) -> ! {
    // First of all: whatever hangs from here on ends in a restart.
    let mut watchdog = boards::watchdog();
    watchdog.unleash();
    let mut peripherals = boards::start();
    let mut shared: Option<&'static Shared<SENDS, RECEIVERS, DEPTH>> = None;
    let slots = Slots(boards::flash(peripherals.FLASH.reborrow()));
    let driver = start(slots, &mut |network, address| {
        *shared.insert(room.init(Shared::new(network, address, Clock::Function(now))))
    });
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
    let housekeeping = housekeeping::run(driver, board.led, watchdog, Store::new(Slots(board.flash)));
    let programs = async {
        if let Some(shared) = shared {
            join(program(Handle::new(shared)), programs::carry(driver, shared)).await;
        }
    };
    join(housekeeping, programs).await.0
}

/// Makes of the board what its configuration page says.
fn start(slots: Slots<'_>, programs: &mut dyn FnMut(Network, Node) -> &'static dyn Programs) -> &'static Driver {
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
        false if start.keys.is_some() && !start.is_marked => Err(BoardState::Uncounted),
        false => configuration::understand_start(&start),
    };
    let state = found.as_ref().err().copied().unwrap_or(BoardState::Configured);
    let page = found.as_ref().ok().map(|(page, _)| page);
    let driver = place(About::new(boot, &start, cause, unique_id, state, page));
    if let Ok((page, network)) = found
        && let Err(error) = driver.join_mesh(&page, network, programs)
    {
        driver.remain_alone(match error {
            ConfigError::NoSuchNode(_) | ConfigError::EpochZero => BoardState::BadAddress,
            ConfigError::TooFewLinks { .. } | ConfigError::TooFewVirtualChannels { .. } => BoardState::TooFewLinks,
        });
    }
    driver
}

/// Puts the board, part of no mesh yet, where it stays.
// Not inlined: its stack frame, which holds room for a whole router, ends with it.
#[inline(never)]
fn place(about: About) -> &'static mut Driver {
    static DRIVER: StaticCell<Driver> = StaticCell::new();
    DRIVER.init(Driver::new(about))
}
