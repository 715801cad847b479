//! Boards at real serial ports: the ST-LINK's USB port, or a pseudo-terminal of an emulated board.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::update::Boards;
pub use hopwise_host::serial_line::{BadPort, PortFault};
use hopwise_host::serial_line::{SerialLine, exchange_all};
use hopwise_host::talk::{BoardRequest, Reply, Talk};
use hopwise_node::authority::MeshKeys;
use hopwise_node::wire::{AppPort, VERSION};

/// A request is answered within this, or not at all: packets live for six seconds, but a mesh that takes longer than this is
/// overloaded.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);
/// A board that takes no packet for so long takes none any more: links to its neighbors may pause.
const TAKES_WITHIN: Duration = Duration::from_secs(5);
/// Requests on their way at once.
const AT_ONCE: usize = 4;

pub struct SerialMesh {
    lines: Vec<SerialLine>,
    begin: Instant,
}

impl SerialMesh {
    pub fn open(paths: &[PathBuf], baud: u32, keys: Option<MeshKeys>) -> Result<Self, BadPort> {
        let lines = paths.iter().map(|path| SerialLine::open(path, baud, keys));
        let mut mesh = SerialMesh {
            lines: lines.collect::<Result<_, _>>()?,
            begin: Instant::now(),
        };
        while mesh.lines.iter().any(|line| !line.port.is_up()) {
            if let Some(missing) = mesh.lines.iter().find_map(SerialLine::missing) {
                return Err(missing);
            }
            mesh.step()?;
        }
        Ok(mesh)
    }

    /// Lets go of the ports. Nobody answers then.
    pub fn close(&mut self) {
        self.lines.clear();
    }

    /// Takes over the ports of another, with its own time.
    pub fn reopen(&mut self, other: SerialMesh) {
        self.lines = other.lines;
    }

    /// Boards of version 3 of the wire format may be updated: see [`HostPort::trust_version_3`](hopwise_host::host_port::HostPort::trust_version_3).
    pub fn trust_version_3(&mut self) {
        self.lines.iter_mut().for_each(|line| line.port.trust_version_3());
    }

    fn step(&mut self) -> Result<(), BadPort> {
        exchange_all(&mut self.lines)
    }

    /// Keeps the links up for a while.
    pub fn idle(&mut self, time: Duration) -> Result<(), BadPort> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.step()?;
        }
        Ok(())
    }

    fn stream_all(&mut self, blocks: Vec<Vec<u8>>) -> Result<(), BadPort> {
        let mut blocks = VecDeque::from(blocks);
        let mut taken_at = Instant::now();
        while taken_at.elapsed() < TAKES_WITHIN {
            let Some(line) = self.lines.first_mut() else {
                return Ok(());
            };
            if blocks.is_empty() && line.port.all_taken() {
                return Ok(());
            }
            let before = blocks.len();
            line.port.stream(AppPort::UPDATE, &mut blocks);
            if blocks.len() < before {
                taken_at = Instant::now();
            }
            self.step()?;
        }
        self.lines[0].port.give_up_all();
        Ok(())
    }

    fn ask_all(&mut self, requests: &[BoardRequest]) -> Result<Vec<Option<Reply>>, BadPort> {
        let mut replies = vec![None; requests.len()];
        let mut waiting: Vec<usize> = (0..requests.len()).rev().collect();
        // By line and number: the request, and until when its response is waited for.
        let mut open: BTreeMap<(usize, u32), (usize, Instant)> = BTreeMap::new();
        while !waiting.is_empty() || !open.is_empty() {
            while open.len() < AT_ONCE * self.lines.len() {
                let Some(index) = waiting.pop() else { break };
                let request = &requests[index];
                let line = &mut self.lines[request.at];
                let now = line.now();
                let number = line.port.ask(request.dest, request.query, &request.more, now);
                open.insert((request.at, number), (index, Instant::now() + RESPONSE_TIMEOUT));
            }
            self.step()?;
            for (place, line) in self.lines.iter_mut().enumerate() {
                for (number, reply) in line.port.replies() {
                    if let Some((index, _)) = open.remove(&(place, number)) {
                        replies[index] = Some(reply);
                    }
                }
            }
            open.retain(|_, (_, until)| Instant::now() < *until);
        }
        Ok(replies)
    }
}

impl Boards for SerialMesh {
    fn wait(&mut self, time: Duration) {
        if self.idle(time).is_err() {
            // A port that is gone takes no time.
            std::thread::sleep(time);
        }
    }

    fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    fn wire_version(&self) -> u8 {
        let first = self.lines.first();
        first.map_or(VERSION, |line| line.port.wire_version())
    }

    /// A port that fails takes nothing.
    fn stream(&mut self, blocks: Vec<Vec<u8>>) {
        let _ = self.stream_all(blocks);
    }
}

impl Talk for SerialMesh {
    fn entrances(&self) -> Vec<u64> {
        let address = |line: &SerialLine| line.port.board().map_or(0, |board| board.address);
        self.lines.iter().map(address).collect()
    }

    /// A port that fails is a port without answers.
    fn ask(&mut self, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
        let none = vec![None; requests.len()];
        if self.lines.is_empty() {
            none
        } else {
            self.ask_all(requests).unwrap_or(none)
        }
    }
}
