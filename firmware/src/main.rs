//! Hopwise on a Nucleo board.
//!
//! The node of `hopwise-core` decides everything about packets; this is what carries bytes and time to and from it.
//!
//! - [`boards`]: one file a board;
//! - [`wire`]: receiving by DMA; [`shell`]: the tasks around the node;
//! - [`configuration`]: the page in the flash; [`mesh`]: a board that has one; [`lobby`]: one that has none;
//! - [`about`], [`answer`]: what it tells a computer; [`watch`]: what it logs; [`traffic`]: packets of its own;
//! - [`life`], [`stack`], [`kept`]: LED, button, watchdog, stack, and what survives a reset;
//! - [`runtime`], [`division`]: what the compiler calls.
#![no_std]
#![no_main]

mod about;
mod answer;
mod boards;
mod configuration;
mod division;
mod kept;
mod life;
mod lobby;
mod mesh;
mod runtime;
mod shell;
mod stack;
mod traffic;
mod watch;
mod wire;

use defmt_rtt as _;
use embassy_executor::Spawner;
use hopwise_core::router::ConfigError;
use hopwise_core::wire::BoardState;
use static_cell::StaticCell;

use about::About;
use boards::LINKS;
use lobby::Lobby;
use mesh::Mesh;
use shell::{Brain, Shell, now};

defmt::timestamp!("{=u64:us}", embassy_time::Instant::now().as_micros());

/// Cycles for which a board only listens: about a millisecond at 180 MHz.
const LISTEN_FIRST: u32 = 120_000;

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let peripherals = embassy_stm32::init(boards::clocks());
    let shell = start();
    shell.about.log();
    let board = boards::open(peripherals, shell.about.baud);
    // Boards that are switched on together all listen before the first of them says hello.
    cortex_m::asm::delay(LISTEN_FIRST);
    let in_mesh = matches!(&*shell.brain(), Brain::Mesh(_));
    for (link, wire) in (0..).zip(board.wires) {
        // A board without configuration is silent on its links.
        if in_mesh || link == LINKS as u8 {
            spawner.spawn(defmt::unwrap!(shell::receive(shell, link, wire.rx).ok()));
            spawner.spawn(defmt::unwrap!(shell::transmit(shell, link, wire.tx).ok()));
        }
    }
    spawner.spawn(defmt::unwrap!(shell::keep_time(shell).ok()));
    spawner.spawn(defmt::unwrap!(
        life::watch_button(shell, board.button, board.pressed_high).ok()
    ));
    life::live(shell, board.led, board.watchdog, board.flash).await
}

/// What the board is to be, from its configuration page.
#[inline(never)]
fn start() -> &'static Shell {
    static SHELL: StaticCell<Shell> = StaticCell::new();
    let unique_id = embassy_stm32::uid::uid();
    let boot = kept::boot(&unique_id);
    let cause = boards::reset_cause();
    let found = configuration::understand(&configuration::bytes());
    let state = found.as_ref().err().copied().unwrap_or(BoardState::Configured);
    let page = found.as_ref().ok().map(|(page, _)| page);
    let mut about = About::new(boot, cause, unique_id, state, page);
    let mesh = found.and_then(|(page, network)| {
        Mesh::new(&page, network, &about, now()).map_err(|error| match error {
            ConfigError::NoSuchNode(_) | ConfigError::EpochZero => BoardState::BadAddress,
            ConfigError::TooFewLinks { .. } => BoardState::TooFewLinks,
        })
    });
    let brain = match mesh {
        Ok(mesh) => Brain::Mesh(mesh),
        Err(state) => {
            about.state = state;
            Brain::Lobby(Lobby::new(&about, now()))
        }
    };
    SHELL.init(Shell::new(brain, about))
}
