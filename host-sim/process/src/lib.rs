//! A node of a mesh as a process: the [runner](hopwise_runner) on one thread, its program on another, and its cables on threads of their own.

mod cable;
mod executor;
mod place;
#[cfg(feature = "defmt")]
mod silent_log;

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::rc::Rc;

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use hopwise_app::{Clock as ProgramClock, Mesh};
use hopwise_node::capacities::Sizes;
use hopwise_node::store::{Flash, FlashFailed, Keys, Slot, Store, committed};
use hopwise_node::wire::CONFIG_BYTES;
use hopwise_runner::{Board, NoImages, Restart, Runner};
use serde::{Deserialize, Serialize};

use cable::Cable;
use executor::{Clock, ProgramThread, Task};
pub use place::{BadPlace, Place, needs_key};

/// Links to neighbors that a process can have.
pub const LINKS: usize = PORTS - 1;
/// Its serial ports, of which the last is for a host.
const PORTS: usize = 8;
const SLOT_BYTES: usize = 1_024;
/// Bytes received at once: several frames.
const RECEIVED_AT_ONCE: usize = 1_024;

hopwise_node::capacities! {
    /// A node with as many ports as the runner can serve.
    struct EightPorts { links: PORTS, ..Sizes::BOARD }
}

/// What the node and its program share, which run on different threads.
type Shared = hopwise_app::Shared<4, 6, 2, CriticalSectionRawMutex>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The config and the keys, as a board has them in its flash.
    flash: Vec<u8>,
    unique_id: [u8; 12],
    /// Where the cables of links lead, in the order of the network's ports; `None` where there is no cable.
    pub links: Vec<Option<Place>>,
    pub host: Option<Place>,
    pub baud: u32,
    /// Whether nothing is said of cables and restarts.
    pub is_quiet: bool,
}

impl Settings {
    /// A node without cables.
    pub fn new(config: &[u8; CONFIG_BYTES], keys: Option<Keys>, baud: u32) -> io::Result<Self> {
        let random = hopwise_host::random_bytes()?;
        let mut unique_id = [0; 12];
        unique_id.copy_from_slice(&random[..12]);
        // No two starts have the same number: a board counts its own, and a process has nothing that lasts.
        let epoch = u32::from_le_bytes([random[12], random[13], random[14], random[15]]) >> 1 | 1;
        Ok(Settings {
            flash: committed(config, keys, None, epoch).to_vec(),
            unique_id,
            links: vec![None; LINKS],
            host: None,
            baud,
            is_quiet: false,
        })
    }
}

/// Runs a node without a program until the process ends. What changes is said: terminals that were made, cables that do not work, restarts.
pub fn run(settings: &Settings, say: fn(&str)) -> io::Result<Infallible> {
    run_with(settings, say, |_| std::future::ready(()))
}

/// Runs a node with a program. The first line of standard input has the settings, as `hopwise node --app` writes it; the process ends with its input.
pub fn main<F: Future<Output = ()>>(
    program: impl Fn(Mesh<'static>) -> F + Clone + Send + 'static,
) -> io::Result<Infallible> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let settings: Settings = serde_json::from_str(&line)?;
    end_with_input();
    run_with(&settings, |text| eprintln!("{text}"), program)
}

/// Ends the process when its standard input ends, which it does with whoever started it, however that ends.
pub fn end_with_input() {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0);
    });
}

fn run_with<F: Future<Output = ()>>(
    settings: &Settings,
    say: fn(&str),
    program: impl Fn(Mesh<'static>) -> F + Clone + Send + 'static,
) -> io::Result<Infallible> {
    let say = if settings.is_quiet { |_: &str| {} } else { say };
    let mut places = settings.links.clone();
    places.resize(LINKS, None);
    places.push(settings.host.clone());
    let name = |port| match port == LINKS {
        true => "host".to_string(),
        false => format!("link {port}"),
    };
    let lay = |(port, place): (usize, Option<Place>)| Cable::lay(place, name(port), settings.baud, say);
    let cables: Vec<Cable> = places.into_iter().enumerate().map(lay).collect::<io::Result<_>>()?;
    let slots = Slots::holding(&settings.flash);
    let board = Board {
        unique_id: settings.unique_id,
        ..Board::default()
    };
    loop {
        let restart = run_once(&cables, &slots, board.clone(), program.clone());
        say(&format!("restarts: {restart:?}"));
    }
}

/// Runs a node until it is to restart.
fn run_once<F: Future<Output = ()>>(
    cables: &[Cable],
    slots: &Slots,
    board: Board,
    program: impl FnOnce(Mesh<'static>) -> F + Send + 'static,
) -> Restart {
    let clock = Clock::default();
    let start = Store::new(slots.clone()).start(1);
    let mut shared: Option<&'static Shared> = None;
    // What is left behind by a restart, some 100 KB, is not worth a second way to own a node: nodes restart by command only.
    let node: &'static Runner<Clock, EightPorts> = Runner::start(
        clock.clone(),
        board,
        NoImages,
        &start,
        |node| Box::leak(Box::new(node)),
        &mut |network, address| {
            let room = Shared::new(network, address, ProgramClock::LastExchange);
            *shared.insert(Box::leak(Box::new(room)))
        },
    );
    let mut tasks: Vec<Task<Restart>> = Vec::new();
    for (port, cable) in (0..).zip(cables) {
        let (mut rx, mut tx) = cable.ends();
        tasks.push(Box::pin(async move {
            match node.receive::<RECEIVED_AT_ONCE>(port, &mut rx).await {}
        }));
        tasks.push(Box::pin(async move { match node.transmit(port, &mut tx).await {} }));
    }
    tasks.push(Box::pin(async { match node.keep_time().await {} }));
    let mut _program = None;
    if let Some(shared) = shared {
        tasks.push(Box::pin(async { match node.serve(shared).await {} }));
        _program = Some(ProgramThread::start(move || program(Mesh::new(shared))));
    }
    let mut store = Store::new(slots.clone());
    tasks.push(Box::pin(async move { node.keep_house(&mut (), &mut store).await }));
    executor::run(&clock, tasks)
}

/// The slots of a board's flash, which last as long as the process.
#[derive(Clone)]
struct Slots(Rc<RefCell<[[u8; SLOT_BYTES]; 2]>>);

impl Slots {
    fn holding(first: &[u8]) -> Self {
        let mut slots = [[0xff; SLOT_BYTES]; 2];
        slots[0][..first.len()].copy_from_slice(first);
        Slots(Rc::new(RefCell::new(slots)))
    }
}

impl Flash for Slots {
    fn slot_bytes(&self) -> usize {
        SLOT_BYTES
    }

    fn read(&self, slot: Slot, at: usize, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.borrow()[slot as usize][at..at + bytes.len()]);
    }

    fn erase(&mut self, slot: Slot) -> Result<(), FlashFailed> {
        self.0.borrow_mut()[slot as usize].fill(0xff);
        Ok(())
    }

    fn write(&mut self, slot: Slot, at: usize, bytes: &[u8]) -> Result<(), FlashFailed> {
        self.0.borrow_mut()[slot as usize][at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}
