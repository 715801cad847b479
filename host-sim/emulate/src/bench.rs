//! Emulated boards on a bench, for tests of programs.
//!
//! A [`Bench`] has a board for each node of a network, wired and configured, and a host at every board. Virtual time passes when it is
//! told to; logs, pins and messages are read, cables pulled, and requests asked in between. `docs/testing-your-program.md` is the chapter.
//!
//! ```
//! use std::sync::Arc;
//!
//! use hopwise_emulate::bench::{Bench, MILLISECOND};
//! use hopwise_emulator::image::Image;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A program of two instructions. A test of yours begins with `Bench::of_app("..", "ring(3)")?`.
//! let program = [0x1000u16, 0x2000, 0x0009, 0x0800, 0x3001, 0xe7fd];
//! let image = Image::from_bytes(program.iter().flat_map(|half| half.to_le_bytes()).collect());
//! let mut bench = Bench::of_image(Arc::new(image), "ring(3)")?;
//!
//! bench.at("1ms cut 0.0")?;            // the cable at port 0 of node 0 is pulled
//! bench.run_for(2 * MILLISECOND);
//! assert_eq!(bench.log(), []);         // what the boards have logged: this program logs nothing
//! assert_eq!(bench.led(1), None);      // it drives no LED
//! assert!(bench.world.boards()[2].cpu.r[0] > 1_000);
//! bench.assert_healthy();
//! # Ok(())
//! # }
//! ```

use std::path::Path;
use std::sync::Arc;

use hopwise_core::Network;
use hopwise_emulator::boards::{self, BoardKind};
use hopwise_emulator::chip::UARTS;
use hopwise_emulator::image::Image;
pub use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Script, World};
use hopwise_host::host_port::Incoming;
use hopwise_host::talk::{BoardRequest, Reply};
pub use hopwise_node::wire::AppPort;
use hopwise_node::wire::{AppStatus, DEFAULT_BAUD, Query};
use hopwise_rig::board_log::{BoardLine, LogFormat};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::{self, board_of};
use crate::hosts::Hosts;
use crate::script;
use crate::setup::{self, Differences, Program};

/// Why there is no bench, or something cannot be done on it, in one sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CannotRun(String);

impl CannotRun {
    fn of(error: impl ToString) -> Self {
        CannotRun(error.to_string())
    }
}

/// Emulated boards, with a host at each.
pub struct Bench {
    /// The boards, for all that this has no call for.
    pub world: World,
    network: Network,
    kind: &'static BoardKind,
    hosts: Hosts,
    format: LogFormat,
    logged: Vec<Vec<(Time, Vec<u8>)>>,
    events: Script,
}

impl Bench {
    /// Nucleo-F446RE boards that run a program: a crate, which is built as far as it has changed, or an ELF file.
    pub fn of_app(path: impl AsRef<Path>, network: &str) -> Result<Self, CannotRun> {
        Bench::of_app_on(boards::BOARDS[0].name, path, network)
    }

    /// The same on boards of another kind.
    pub fn of_app_on(board: &str, path: impl AsRef<Path>, network: &str) -> Result<Self, CannotRun> {
        let needs: Network = network.parse().map_err(CannotRun::of)?;
        let elf = app::elf(path.as_ref(), board, &needs, |line| eprintln!("{line}")).map_err(CannotRun::of)?;
        let elf = hopwise_files::read(&elf, hopwise_files::MAX_IMAGE).map_err(CannotRun::of)?;
        let image = Image::from_elf(&elf).map_err(CannotRun::of)?;
        let format = LogFormat::of_elf(&elf).map_err(CannotRun::of)?;
        Bench::new(Arc::new(image), format, network)
    }

    /// Boards with an image that logs nothing.
    pub fn of_image(image: Arc<Image>, network: &str) -> Result<Self, CannotRun> {
        Bench::new(image, LogFormat::none(), network)
    }

    fn new(image: Arc<Image>, format: LogFormat, network: &str) -> Result<Self, CannotRun> {
        let network: Network = network.parse().map_err(CannotRun::of)?;
        let kind = board_of(&image).unwrap_or(boards::BOARDS[0]);
        let differences = Differences::new(1, 20.0);
        let program = Program { kind, image };
        let mut world = setup::build_of(&program, &network, differences).map_err(CannotRun::of)?;
        let hosts = Hosts::connect(&mut world, DEFAULT_BAUD).map_err(CannotRun::of)?;
        Ok(Bench {
            logged: vec![Vec::new(); world.boards().len()],
            world,
            network,
            kind,
            hosts,
            format,
            events: Script::default(),
        })
    }

    /// Has things happen to cables and boards, in the words of `hopwise emulate --events`: `"2s cut 3.0; 4s plug 3.0; 5s reset 1"`. Times are
    /// since the boards were switched on, and to come.
    pub fn at(&mut self, events: &str) -> Result<(), CannotRun> {
        let read = script::read(events, &self.network, |name| script::port_on(self.kind, name));
        let new = read.map_err(CannotRun::of)?;
        let now = self.world.now();
        if let Some((at, _)) = new.events().iter().find(|(at, _)| *at < now) {
            let [at, now] = [*at, now].map(|time| time as f64 / SECOND as f64);
            return Err(CannotRun(format!("{at} s is over: it is {now} s")));
        }
        // What has happened does not happen again.
        let still = self.events.events().iter().filter(|(at, _)| *at > now);
        let all = Script::new(still.chain(new.events()).copied().collect());
        self.world.set_script(all.clone()).map_err(CannotRun::of)?;
        self.events = all;
        Ok(())
    }

    pub fn run_for(&mut self, time: Time) {
        let end = self.world.now() + time;
        self.hosts.run_until(&mut self.world, end);
    }

    /// All that the boards have logged so far, by time and then by board.
    pub fn log(&mut self) -> Vec<BoardLine> {
        for (logged, board) in self.logged.iter_mut().zip(self.world.boards_mut()) {
            logged.extend(board.take_log());
        }
        let mut readers = self.format.readers(self.logged.len());
        let mut lines = Vec::new();
        for (board, logged) in self.logged.iter().enumerate() {
            for (at, bytes) in logged {
                lines.extend(readers.decode(board, *at, bytes));
            }
        }
        lines.sort_by_key(|line| (line.at, line.board));
        lines
    }

    pub fn count_lines(&mut self, board: usize, text: &str) -> usize {
        let lines = self.log().into_iter();
        lines
            .filter(|line| line.board == board && line.text.contains(text))
            .count()
    }

    /// What has come for the host at a board since the last call.
    pub fn messages(&mut self, board: usize) -> Vec<Incoming> {
        self.hosts.messages(board)
    }

    /// From now on requests come among the messages for the host at a board. Before, who asks is told that nobody serves that.
    pub fn take_requests(&mut self, board: usize) {
        self.hosts.take_requests(board);
    }

    /// Has the host at a board answer a request that came, with bytes.
    pub fn respond(&mut self, board: usize, request: &Incoming, response: &[u8]) {
        self.hosts.respond(board, request, response);
    }

    /// Has the host at a board ask an application of a node, in postcard format, and lets time pass until the response is there; for five
    /// seconds at most. No response, or another one than expected, is an error.
    pub fn request<T: Serialize, U: DeserializeOwned>(
        &mut self,
        at: usize,
        node: u64,
        port: AppPort,
        request: &T,
    ) -> Result<U, CannotRun> {
        if at >= self.world.boards().len() {
            return Err(CannotRun(format!("there is no board {at}")));
        }
        let mut bytes = [0; hopwise_node::limits::MAX_PAYLOAD];
        let bytes = postcard::to_slice(request, &mut bytes).map_err(CannotRun::of)?;
        let request = BoardRequest::new(at, node, Query::Application(port)).with(bytes.to_vec());
        let reply = self.hosts.ask(&mut self.world, &[request], 5 * SECOND).pop();
        match reply.flatten() {
            Some(Reply::Response(bytes)) => match AppStatus::read(&bytes) {
                Some((AppStatus::Ok, response)) => postcard::from_bytes(response).map_err(CannotRun::of),
                status => Err(CannotRun(format!(
                    "the response is {:?}",
                    status.map(|(status, _)| status)
                ))),
            },
            other => Err(CannotRun(format!("there is no response: {other:?}"))),
        }
    }

    /// Whether a board's LED pin is high; `None` while it is no output.
    pub fn led(&self, board: usize) -> Option<bool> {
        let pin = self.kind.led;
        self.world.boards().get(board)?.output(pin.port, pin.number)
    }

    /// No processor has faulted, no rule of the manuals was broken, nothing was done that is not modeled, no byte was lost at a serial port.
    ///
    /// # Panics
    /// If that is not so; it says which board did what.
    pub fn assert_healthy(&self) {
        assert_healthy(&self.world);
    }
}

/// The same of any boards.
///
/// # Panics
/// If that is not so; it says which board did what.
pub fn assert_healthy(world: &World) {
    for (number, board) in world.boards().iter().enumerate() {
        let name = board.kind().name;
        if let Some(fault) = board.faults().first() {
            panic!("board {number}, a {name}: {fault}");
        }
        assert_eq!(board.violations(), [], "board {number}, a {name}");
        assert_eq!(board.remarks(), [], "board {number}, a {name}");
        for uart in 0..UARTS {
            let overruns = board.traffic(uart).overruns;
            assert_eq!(overruns, 0, "board {number}, a {name}, serial port {uart}");
        }
    }
}
