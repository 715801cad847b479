//! A run of emulated boards: slice by slice of virtual time, with serial ports served and logs read.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use hopwise_core::Network;
use hopwise_emulator::boards::BoardKind;
use hopwise_emulator::chip::UARTS;
use hopwise_emulator::cpu::fault::FaultReport;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{BadWire, Board, Port, World};
use hopwise_node::authority::MeshKeys;
use hopwise_rig::board_log::{BoardLine, LogReaders};
use serde::Serialize;

use crate::by_board::{self, BoardFigures, Sent};
use crate::check::{CheckReport, check, check_links};
use crate::demangle;
use crate::gdb::{GdbFailed, GdbServer};
use crate::hosts::Hosts;
use crate::log::take_lines;
use crate::profile::{Executed, Profile};
use crate::serial::{CannotOpenPort, OpenPort};

/// How much is run at once if nobody outside listens.
const SLICE: Time = 10 * MILLISECOND;
/// How often serial ports of the host are served: the link protocol waits for few milliseconds only.
const SERIAL_SLICE: Time = MILLISECOND;
/// A host and its board find each other within this.
pub const HOSTS_WITHIN: Time = 200 * MILLISECOND;

/// The figures of a run. The names are those of the JSON keys of `hopwise emulate`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunFigures {
    /// Which kind of board they are; if there are several kinds, all of them with commas between.
    pub board: String,
    pub boards: usize,
    /// Instructions executed, over all boards.
    pub instructions: u64,
    /// How long the boards ran by their own time.
    pub virtual_seconds: f64,
    /// How long that took.
    pub wall_seconds: f64,
    pub faults: u64,
    pub resets: u64,
    pub uart_bytes_sent: u64,
    pub uart_bytes_received: u64,
    /// Bytes that came before the one before was read.
    pub uart_overruns: u64,
    /// Bytes without a stop bit.
    pub uart_framing_errors: u64,
    pub uart_noise_errors: u64,
    pub log_lines: u64,
    /// Pieces of logs that were no lines.
    pub log_undecodable: u64,
    /// What the firmware did that is not modeled.
    pub unmodelled: Vec<String>,
    /// The rules of the manuals that the firmware broke: the rule's name, a colon, and how.
    pub violations: Vec<String>,
    /// Of all that the boards remember: two runs with the same hash went the same.
    pub state_hash: String,
    /// What the check of the mesh found, if there was one.
    #[serde(flatten)]
    pub check: Option<CheckReport>,
    /// What each board has done, in the order of their addresses.
    pub by_board: Vec<BoardFigures>,
    /// Where the instructions went, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

pub struct Session<'f> {
    world: World,
    readers: LogReaders<'f>,
    ports: Vec<OpenPort>,
    begin: Instant,
    log_lines: u64,
    checked: Option<CheckReport>,
    hosts: Option<Hosts>,
    /// In the middle of the run.
    half: Sent,
}

/// The rules of the manuals that boards have broken, and what they did that is not modeled, each once.
pub fn offenses(boards: &[Board]) -> [Vec<String>; 2] {
    let violations: BTreeSet<String> = boards
        .iter()
        .flat_map(Board::violations)
        .map(ToString::to_string)
        .collect();
    let remarks: BTreeSet<String> = boards
        .iter()
        .flat_map(Board::remarks)
        .map(ToString::to_string)
        .collect();
    [violations, remarks].map(|said| said.into_iter().collect())
}

impl<'f> Session<'f> {
    /// Of boards that are wired and have not run yet, and what reads their logs.
    pub fn new(world: World, readers: LogReaders<'f>) -> Self {
        Session {
            half: Sent::by(&world),
            readers,
            world,
            ports: Vec::new(),
            begin: Instant::now(),
            log_lines: 0,
            checked: None,
            hosts: None,
        }
    }

    /// Counts the executions of every instruction of a board, or of all, from now on.
    pub fn start_profile(&mut self, only: Option<usize>) {
        let boards = self.world.boards_mut().iter_mut().enumerate();
        let counted = boards.filter(|(number, _)| only.is_none_or(|only| only == *number));
        counted.for_each(|(_, board)| board.start_profile());
    }

    /// What the boards of a kind have executed since then.
    pub fn executed(&self, kind: &BoardKind) -> Executed {
        let boards = self.world.boards().iter();
        Executed::by(boards.filter(|board| board.kind().name == kind.name))
    }

    /// Opens a board's serial port to other programs, and returns the path that they open: that of a socket, or of a
    /// pseudo-terminal.
    pub fn open_port(&mut self, port: Port, socket: Option<&Path>) -> Result<&str, CannotOpenPort> {
        self.world.connect_host(port)?;
        self.ports.push(OpenPort::open(port, socket)?);
        Ok(self.ports.last().map_or("", |port| &port.path))
    }

    /// Lets GDB hold a board until it detaches or the time is over; says which.
    pub fn hold(&mut self, server: GdbServer, board: usize, until: Time) -> Result<&'static str, GdbFailed> {
        let released = server.serve(&mut self.world, board, until);
        // GDB's user took the time, not the boards.
        self.begin = Instant::now();
        released
    }

    /// Connects a host to every board of a mesh, unless there is one.
    pub fn connect_hosts(&mut self, baud: u32, keys: Option<&MeshKeys>) -> Result<(), BadWire> {
        if self.hosts.is_none() {
            let mut hosts = Hosts::connect(&mut self.world, baud)?;
            if let Some(keys) = keys {
                hosts.lock(keys, Some(keys.management));
            }
            self.hosts = Some(hosts);
        }
        Ok(())
    }

    /// Checks a mesh of Hopwise's firmware through the hosts at its boards.
    pub fn check(&mut self, network: &Network) {
        let Some(hosts) = &mut self.hosts else { return };
        let report = check(&mut self.world, hosts, network, &mut self.readers);
        self.checked = Some(report);
    }

    pub fn check_links(&mut self, network: &Network) {
        let Some(hosts) = &mut self.hosts else { return };
        self.checked = Some(check_links(&mut self.world, hosts, network));
    }

    /// Begins the second half of the run: what lines carry is measured from now on.
    pub fn begin_second_half(&mut self) {
        self.half = Sent::by(&self.world);
    }

    /// What each board has done. Boards that have a host are asked, which takes a moment more. `links` are the serial ports of each board's
    /// ports with the rates that they are said to have.
    pub fn by_board(&mut self, links: &[Vec<(Port, u32)>]) -> Vec<BoardFigures> {
        let mut figures = by_board::seen(&self.world, &self.half, links);
        if let Some(hosts) = &mut self.hosts {
            let up_by = self.world.now() + HOSTS_WITHIN;
            while !hosts.all_up() && self.world.now() < up_by {
                let until = self.world.now() + SERIAL_SLICE;
                hosts.run_until(&mut self.world, until);
            }
            by_board::ask(&mut self.world, hosts, &mut figures);
        }
        figures
    }

    /// Instructions of each board so far.
    pub fn instructions(&self) -> impl Iterator<Item = u64> {
        self.world.boards().iter().map(|board| board.cpu.instructions)
    }

    pub fn boards(&self) -> usize {
        self.world.boards().len()
    }

    /// When it is in virtual time.
    pub fn now(&self) -> Time {
        self.world.now()
    }

    /// Runs for a piece of virtual time, up to `end` at most, and returns what the boards have logged.
    pub fn run_slice(&mut self, end: Time) -> Vec<BoardLine> {
        let slice = if self.ports.is_empty() { SLICE } else { SERIAL_SLICE };
        let until = (self.world.now() + slice).min(end);
        match &mut self.hosts {
            Some(hosts) => hosts.run_until(&mut self.world, until),
            None => self.world.run_until(until),
        }
        for port in &mut self.ports {
            port.exchange(&mut self.world);
        }
        if !self.ports.is_empty() {
            // Programs at the other end live in real time.
            let ahead = Duration::from_nanos(self.world.now() / 1000).saturating_sub(self.begin.elapsed());
            std::thread::sleep(ahead);
        }
        let lines = take_lines(&mut self.readers, &mut self.world);
        self.log_lines += lines.len() as u64;
        lines
    }

    /// The faults of all boards so far, in words, each with the stack that led there.
    pub fn faults(&self) -> Vec<String> {
        let boards = self.world.boards().iter().enumerate();
        let of_board = |(number, board): (usize, &Board)| {
            let in_words = |fault: &FaultReport| {
                let at = board.time_of(fault.at) as f64 / SECOND as f64;
                let names = fault.stack.iter().map(|(_, name)| name);
                let text = names.fold(fault.to_string(), |text, name| text.replace(name, &demangle(name)));
                format!("board {number}, {at:.6} s: {text}")
            };
            board.faults().iter().map(in_words).collect::<Vec<_>>()
        };
        boards.flat_map(of_board).collect()
    }

    pub fn figures(&self) -> RunFigures {
        let boards = self.world.boards();
        let ports = || {
            let of_board = |board: &'_ Board| (0..UARTS).map(|uart| board.traffic(uart)).collect::<Vec<_>>();
            boards.iter().flat_map(of_board)
        };
        let [violations, unmodelled] = offenses(boards);
        let mut kinds: Vec<&str> = Vec::new();
        for board in boards {
            if !kinds.contains(&board.kind().name) {
                kinds.push(board.kind().name);
            }
        }
        RunFigures {
            board: kinds.join(","),
            boards: boards.len(),
            instructions: self.world.instructions(),
            virtual_seconds: self.world.now() as f64 / SECOND as f64,
            wall_seconds: self.begin.elapsed().as_secs_f64(),
            faults: boards.iter().map(|board| board.cpu.fault_count).sum(),
            resets: boards.iter().map(|board| board.resets()).sum(),
            uart_bytes_sent: ports().map(|port| port.sent).sum(),
            uart_bytes_received: ports().map(|port| port.received).sum(),
            uart_overruns: ports().map(|port| port.overruns).sum(),
            uart_framing_errors: ports().map(|port| port.framing_errors).sum(),
            uart_noise_errors: ports().map(|port| port.noise_errors).sum(),
            log_lines: self.log_lines,
            log_undecodable: self.readers.undecodable,
            unmodelled,
            violations,
            state_hash: format!("{:016x}", self.world.state_hash()),
            check: self.checked.clone(),
            ..RunFigures::default()
        }
    }
}
