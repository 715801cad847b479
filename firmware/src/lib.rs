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
//! async fn thermometer(mesh: Mesh<'static>) {
//!     loop {
//!         let _ = mesh.send_confirmed(0, AppPort(16), &read().to_le_bytes()).await;
//!         mesh.sleep(1_000_000).await;
//!     }
//! }
//! ```
//!
//! The node is `hopwise-runner`'s; this is the chip's part. A module uses only those below it:
//!
//! - `verification`: signatures of images; [`platform`]: what the runner uses of the chip; [`programs`]: those that hang, and those that change the flash;
//! - [`configuration`], [`images`]: what is kept in the flash; [`retained_ram`]: what survives a reset;
//! - [`boards`]: what differs between boards, and between chips; [`uart`]: serial ports;
//! - [`time`]: the board's own clock, and what time it is in the mesh;
//! - [`log`]: the log; [`priority`]: how the node interrupts programs, and their lock;
//! - `copy.s`: how memory is copied; `divide.s`: how numbers of 64 bits are divided; [`crash`]: panics and faults; [`stack`]: how much of it was never used.
#![no_std]

mod boards;
mod configuration;
mod crash;
mod images;
mod log;
mod platform;
mod priority;
mod programs;
mod retained_ram;
mod stack;
mod time;
mod uart;
#[cfg(feature = "signed")]
mod verification;

use embassy_executor::Spawner;
use embassy_stm32::gpio::Input;
use embassy_time::{Duration, Ticker};
pub use hopwise_app::{AppPort, MAX_MESSAGE, Mesh, Outcome};
use hopwise_node::store::Store;
use hopwise_node::wire::Failure;
use hopwise_runner::{Board, MakePrograms, PROGRAM, Programs, Restart, Runner, Task};
use static_cell::StaticCell;

use boards::NodeSizes;
use configuration::Slots;
use images::Images;
use platform::{Chip, Rest};
pub use priority::NodeLock;
pub use programs::change_flash;
use time::CLOCK;
use uart::Ports;

core::arch::global_asm!(include_str!("copy.s"), include_str!("divide.s"), options(raw));

/// What `hopwise about` shows. The linker scripts leave it out of the flash.
// SAFETY: a section of its own, which nothing runs or reads.
#[unsafe(link_section = ".hopwise_about")]
#[used]
static ABOUT: [u8; include_bytes!(concat!(env!("OUT_DIR"), "/about.json")).len()] =
    *include_bytes!(concat!(env!("OUT_DIR"), "/about.json"));

defmt::timestamp!("{=u64:us}", embassy_time::Instant::now().as_micros());

/// What a board and its programs share; its parameters say how much room there is.
pub type Shared<const SENDS: usize = 4, const RECEIVERS: usize = 6, const DEPTH: usize = 2> =
    hopwise_app::Shared<SENDS, RECEIVERS, DEPTH, NodeLock>;

type Node = Runner<Chip, NodeSizes>;

/// Cycles for which a board only listens: about a millisecond at 180 MHz.
const LISTEN_FIRST: u32 = 120_000;
/// Why spawning a task cannot fail.
const ONCE: &str = "each task is spawned once";
/// Between two looks at the button: longer than it bounces, shorter than anyone presses it.
const BUTTON_INTERVAL: Duration = Duration::from_millis(25);

/// Runs the board, and on it a program, if the board is part of a mesh. `room` is for what the two share; the program may spawn others and give
/// them its handle. One that ends leaves the board to its router.
///
/// The node interrupts programs, whatever they do, and they run in the time that it leaves.
pub async fn run<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize, F: Future<Output = ()>>(
    spawner: Spawner,
    room: &'static StaticCell<Shared<SENDS, RECEIVERS, DEPTH>>,
    program: impl FnOnce(Mesh<'static>) -> F,
) -> ! {
    if let Some(shared) = run_node(room) {
        time::know_tasks().await;
        programs::begin(spawner);
        program(Mesh::new(shared)).await;
    }
    core::future::pending().await
}

/// Starts the node. Returns what it shares with its programs, if it is part of a mesh.
// Not async: all that is used here would be kept for ever.
fn run_node<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize>(
    room: &'static StaticCell<Shared<SENDS, RECEIVERS, DEPTH>>,
) -> Option<&'static Shared<SENDS, RECEIVERS, DEPTH>> {
    // First of all: whatever hangs from here on ends in a restart.
    boards::start_watchdog();
    let mut peripherals = boards::start();
    let mut shared: Option<&'static Shared<SENDS, RECEIVERS, DEPTH>> = None;
    let slots = Slots(boards::flash(peripherals.FLASH.reborrow()));
    let node = start(slots, &mut |network, address| {
        *shared.insert(room.init(Shared::new(network, address, CLOCK)))
    });
    let board = boards::open(peripherals, |port| (node.baud(port), node.fastest_baud(port)));
    // Boards that are switched on together all listen before the first of them says hello.
    cortex_m::asm::delay(LISTEN_FIRST);
    // From here on only its own tasks use the node.
    priority::start_node(|spawner| {
        spawner.spawn(drive(node, Ports(board.ports)).expect(ONCE));
        spawner.spawn(keep_time(node).expect(ONCE));
        spawner.spawn(watch_button(node, board.button, board.pressed_high).expect(ONCE));
        if let Some(shared) = shared {
            spawner.spawn(serve(node, shared).expect(ONCE));
        }
        let rest = Rest::new(board.led);
        spawner.spawn(keep_house(node, rest, Store::new(Slots(board.flash))).expect(ONCE));
    });
    shared
}

/// Makes of the board what its config says.
fn start(slots: Slots<'_>, programs: MakePrograms<'_, NodeSizes>) -> &'static Node {
    let unique_id = embassy_stm32::uid::uid();
    let cause = boards::reset_cause();
    let boot = retained_ram::boot(&unique_id, cause);
    let start = Store::new(slots).start(boot.epoch);
    if start.config.is_some() && !start.is_marked {
        defmt::warn!("this start could not be counted in the flash: the next one may have the same epoch");
    }
    defmt::info!(
        "{} on {}, epoch {}, started by {}",
        PROGRAM,
        boards::NAME,
        start.epoch,
        cause
    );
    let board = Board {
        unique_id,
        reset_cause: cause as u8,
        fault: boot.fault,
        crashes_again: boot.crashes_again,
    };
    static NODE: StaticCell<Node> = StaticCell::new();
    Node::start(Chip, board, Images::new(), &start, |node| NODE.init(node), programs)
}

fn restart(why: Restart) -> ! {
    match why {
        Restart::Commanded | Restart::GoneBack => boards::reset(),
        Restart::Reconfigured => {
            retained_ram::settle();
            boards::reset()
        }
        Restart::Image(trial) => {
            retained_ram::settle();
            images::restart_with(&trial)
        }
        Restart::Hanging(task) => retained_ram::restart_with(&retained_ram::hanging(task.number())),
        Restart::Failure(Failure::StackOverflow) => {
            stack::overflow(0);
            boards::reset()
        }
        // The watchdog ends it. Interrupts are served, tasks are not; asleep in between, which spares power and emulators.
        Restart::Failure(Failure::Hang) => loop {
            cortex_m::asm::wfi();
        },
    }
}

// Most tasks are not `async fn`s, since those store their arguments twice.

#[embassy_executor::task]
fn drive(node: &'static Node, mut ports: Ports) -> impl Future<Output = ()> {
    async move { node.drive(&mut ports).await }
}

#[embassy_executor::task]
async fn keep_time(node: &'static Node) {
    node.keep_time().await
}

/// Moves messages between the node and its programs.
#[embassy_executor::task]
fn serve(node: &'static Node, programs: &'static dyn Programs<NodeSizes>) -> impl Future<Output = ()> {
    async move { node.serve(programs).await }
}

#[embassy_executor::task]
fn keep_house(node: &'static Node, mut rest: Rest, mut store: Store<Slots<'static>>) -> impl Future<Output = ()> {
    async move { restart(node.keep_house(&mut rest, &mut store).await) }
}

/// Looks at the button now and then: that needs no interrupt, and the button does not bounce from one look to the next.
#[embassy_executor::task]
async fn watch_button(node: &'static Node, button: Input<'static>, pressed_high: bool) {
    node.add_task(Task::BUTTON);
    let mut ticker = Ticker::every(BUTTON_INTERVAL);
    let is_pressed = || button.is_high() == pressed_high;
    let mut was_pressed = is_pressed();
    loop {
        ticker.next().await;
        node.heartbeat(Task::BUTTON);
        let pressed = is_pressed();
        node.set_button(pressed);
        if pressed && !was_pressed {
            node.press_button();
        }
        was_pressed = pressed;
    }
}
