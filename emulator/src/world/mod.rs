//! Many boards and the wires between them, in one virtual time.
//!
//! Boards run independently of each other for as long as nothing that one does can reach another: an edge on a wire is
//! noticed by software only when the receiver has seen the whole frame that it begins, nine bits later, or not at all.
//! So all boards run to a common time, exchange what they have sent, and go on. Because that is done at fixed times only, it
//! does not matter in which order, or on how many threads, boards run in between. When all boards sleep, time jumps
//! to the next thing that wakes one.

mod board;
mod cables;
mod conductor;
mod rounds;
mod script;
mod supply;

pub use board::{Board, BoardOptions};
pub use cables::BadWire;
pub use conductor::Port;
pub use script::{Action, Script};
pub use supply::PowerCut;

use std::hash::{Hash, Hasher};

use crate::chip::UARTS;
use crate::hash::{StateHash, mix};
use crate::time::Time;
use board::Intervention;
use cables::{Arrivals, Cables};
use conductor::Condition;

/// Boards, wires and what happens to them.
pub struct World {
    boards: Vec<Board>,
    cables: Cables,
    connected: Vec<[bool; UARTS]>,
    /// What was sent in the last round and has not arrived yet.
    on_the_way: Arrivals,
    script: Script,
    happened: usize,
    seed: u64,
    now: Time,
    rounds: u64,
    threads: usize,
}

impl World {
    /// A world without boards. The seed decides all that happens by chance.
    pub fn new(seed: u64) -> Self {
        World {
            boards: Vec::new(),
            cables: Cables::default(),
            connected: Vec::new(),
            on_the_way: Vec::new(),
            script: Script::default(),
            happened: 0,
            seed,
            now: 0,
            rounds: 0,
            threads: 1,
        }
    }

    /// On how many threads the boards run. The result does not depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    /// Adds a board and returns its number.
    pub fn add(&mut self, board: Board) -> usize {
        self.boards.push(board);
        self.connected.push([false; UARTS]);
        self.cables.add_board();
        self.boards.len() - 1
    }

    /// Connects two ports, the TX of each to the RX of the other.
    pub fn wire(&mut self, a: Port, b: Port) -> Result<(), BadWire> {
        for port in [a, b] {
            self.take(port)?;
        }
        self.cables.lay(a, b);
        Ok(())
    }

    /// Leads one wire from the TX of a port to an RX, also that of the same port, whatever was there before; or takes it away.
    pub fn join(&mut self, tx: Port, rx: Option<Port>) -> Result<(), BadWire> {
        for port in rx.into_iter().chain([tx]) {
            if !self.has(port) {
                return Err(BadWire::NoSuchPort(port));
            }
            self.connect(port);
        }
        self.cables.prepare(tx);
        let mut seen = Arrivals::new();
        self.cables.join(tx, rx, self.now, &mut seen);
        self.on_the_way.extend(seen);
        Ok(())
    }

    fn has(&self, port: Port) -> bool {
        let board = self.boards.get(port.board);
        board.is_some_and(|board| board.cpu.bus.uart(port.uart).is_some())
    }

    /// Whether the port was connected already.
    fn connect(&mut self, port: Port) -> bool {
        self.boards[port.board].wire(port.uart);
        std::mem::replace(&mut self.connected[port.board][port.uart], true)
    }

    fn take(&mut self, port: Port) -> Result<(), BadWire> {
        if !self.has(port) {
            return Err(BadWire::NoSuchPort(port));
        }
        if self.connect(port) {
            return Err(BadWire::Taken(port));
        }
        Ok(())
    }

    /// Connects a port to the host instead of to another board; see [`Board::take_bytes`] and [`Board::feed`].
    pub fn connect_host(&mut self, port: Port) -> Result<(), BadWire> {
        self.take(port)?;
        self.boards[port.board].connect_host(port.uart);
        Ok(())
    }

    /// Sets what will happen. Every event must be about a wire or a board that there is.
    pub fn set_script(&mut self, script: Script) -> Result<(), BadWire> {
        for (_, action) in script.events() {
            if let Action::PlugInto(port, to) = *action {
                let missing = [port, to].into_iter().find(|end| !self.has(*end));
                missing.map_or(Ok(()), |end| Err(BadWire::NoSuchPort(end)))?;
            }
        }
        let is_free = |port: Port| !self.connected[port.board][port.uart] || self.cables.is_prepared(port);
        for port in self.cables.check(&script, is_free)? {
            self.cables.prepare(port);
            self.connect(port);
        }
        self.script = script;
        self.happened = 0;
        Ok(())
    }

    /// Where the wire at a port ends.
    pub fn far_end(&self, port: Port) -> Option<Port> {
        self.cables.far_end(port)
    }

    /// All ports that have a wire to another board.
    pub fn wired_ports(&self) -> Vec<Port> {
        self.cables.ports().collect()
    }

    /// The boards by number.
    pub fn boards(&self) -> &[Board] {
        &self.boards
    }

    /// The boards, to be changed.
    pub fn boards_mut(&mut self) -> &mut [Board] {
        &mut self.boards
    }

    /// How far everything has run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// How many times the boards have exchanged what they have sent.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Instructions that all boards have executed.
    pub fn instructions(&self) -> u64 {
        self.boards.iter().map(|board| board.cpu.instructions).sum()
    }

    /// A hash of everything that decides what will happen, in boards and on wires, and of all logs.
    pub fn state_hash(&self) -> u64 {
        let mut hash = StateHash::default();
        (self.now, self.happened, &self.cables, &self.on_the_way).hash(&mut hash);
        for board in &self.boards {
            board.state_hash().hash(&mut hash);
        }
        hash.finish()
    }

    /// Does what the script says for the present time. Returns what arrives because of it.
    fn play(&mut self, interventions: &mut Vec<(usize, Intervention)>) -> Arrivals {
        let mut seen = Arrivals::new();
        while let Some(&(time, action)) = self
            .script
            .events()
            .get(self.happened)
            .filter(|event| event.0 <= self.now)
        {
            self.happened += 1;
            let now = self.now;
            let (cut, whole, low) = (Some(Condition::Cut), Some(Condition::Whole), Some(Condition::StuckLow));
            match action {
                Action::Cut(port) | Action::Reverse(port) => self.cables.set(port, cut, cut, now, &mut seen),
                Action::Plug(port) => self.cables.set(port, whole, whole, now, &mut seen),
                Action::PlugInto(port, to) => self.cables.plug(port, to, now, &mut seen),
                Action::Swap(a, b) => self.cables.swap(a, b, now, &mut seen),
                Action::OneWay(port) => self.cables.set(port, cut, None, now, &mut seen),
                Action::BothWays(port) => self.cables.set(port, whole, None, now, &mut seen),
                Action::Stuck(port) => self.cables.set(port, low, None, now, &mut seen),
                Action::Noise(port, chance) => interventions.push(self.noise(port, chance, 0, Time::MAX, time)),
                Action::NoiseAbove(port, chance, baud) => {
                    interventions.push(self.noise(port, chance, baud, Time::MAX, time));
                }
                Action::Burst(port, length) => interventions.push(self.noise(port, 0.5, 0, now + length, time)),
                Action::Quiet(Port { board, uart }) => {
                    interventions.push((board, Intervention::Noise { uart, noise: None }));
                }
                Action::Press(board) => interventions.push((board, Intervention::Button(true))),
                Action::Release(board) => interventions.push((board, Intervention::Button(false))),
                Action::Reset(board) => interventions.push((board, Intervention::Reset)),
                Action::Brownout(board, within) => interventions.push((board, Intervention::Brownout(within))),
                Action::Off(board) => {
                    let seed = mix(self.seed ^ mix(time) ^ mix(board as u64));
                    interventions.push((board, Intervention::Off { seed }));
                }
                Action::On(board) => interventions.push((board, Intervention::On)),
            }
        }
        seen
    }

    fn noise(&self, port: Port, chance: f64, above: u32, until: Time, at: Time) -> (usize, Intervention) {
        let seed = mix(self.seed ^ mix(at) ^ mix((port.board * UARTS + port.uart) as u64));
        let chance = (chance * f64::from(u32::MAX)) as u32;
        (
            port.board,
            Intervention::Noise {
                uart: port.uart,
                noise: Some((chance, seed, until, above)),
            },
        )
    }
}
