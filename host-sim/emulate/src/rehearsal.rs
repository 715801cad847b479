//! A bench to rehearse on: emulated boards in real time, with cables to plug in, and with probes and serial ports while their USB cables
//! are plugged in.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hopwise_emulator::boards::BoardKind;
use hopwise_emulator::image::{FLASH, Image};
use hopwise_emulator::time::{MILLISECOND, Time};
use hopwise_emulator::world::{Action, BadWire, Board, Port, Script, World};
use hopwise_host::random_bytes;
use hopwise_language::script::PortName;
use hopwise_rig::mesh::{Mesh, NodeKind, NodePort, is_same_probe};
use hopwise_rig::plan::WiringPlan;
use serde_json::{Value, json};

use crate::rig::{self, CannotEmulate};
use crate::script;
use crate::serial::OpenPort;
use crate::setup::{self, Differences, Program, scatter};

/// How often serial ports are served: the link protocol waits for few milliseconds only.
const SLICE: Time = MILLISECOND;
/// A host that is slower than boards by more than this does not catch up: they would run too fast then.
const MAX_LAG: Duration = Duration::from_millis(50);

/// What comes of something that is done at the bench; why it cannot be done is a sentence.
pub type Done<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

struct Place {
    kind: &'static BoardKind,
    /// As probe-rs selects it.
    probe: String,
    /// While its USB cable leads to the host.
    serial: Option<OpenPort>,
}

pub struct Rehearsal {
    world: World,
    mesh: Mesh,
    places: Vec<Place>,
    /// Cables that lead out of this world.
    outlets: Vec<OpenPort>,
    events: Script,
    begin: Instant,
    late: Duration,
}

impl Rehearsal {
    /// A board without power for each node of a mesh; its probe is the one that the mesh file names, if any. Boards that there is no program
    /// for are blank.
    pub fn new(mesh: Mesh, programs: &[Program], is_wired: bool, seed: u64) -> Result<Self, CannotEmulate> {
        let blank = Arc::new(Image::from_bytes(Vec::new()));
        let mut blueprint = rig::wired(&mesh, rig::port)?;
        blueprint.wires.retain(|_| is_wired);
        let mut places = Vec::new();
        for node in mesh.nodes() {
            let kind = rig::board(mesh.kind_of(node).name)?;
            let program = programs.iter().find(|program| program.kind.name == kind.name);
            let image = program.map_or(&blank, |program| &program.image).clone();
            blueprint.programs.push(Program { kind, image });
            let number = scatter(scatter(seed) ^ node);
            let any = || format!("{}:066DFF53{number:016X}", mesh.kind_of(node).probe);
            places.push(Place {
                kind,
                probe: mesh.probe(node).unwrap_or_else(any),
                serial: None,
            });
        }
        let mut world = setup::assemble(&blueprint, &blank, Differences::new(seed, 20.0))?;
        for (number, place) in places.iter().enumerate() {
            world.connect_host(Port::new(number, place.kind.host()))?;
            // What a free link sends goes nowhere. It would otherwise be kept, and arrive all at once when a cable comes.
            for link in place.kind.links().iter().map(|link| Port::new(number, link.uart)) {
                if world.far_end(link).is_none() {
                    world.join(link, None)?;
                }
            }
            let board = &mut world.boards_mut()[number];
            board.read_log_every(None);
            board.cut_power(seed);
        }
        Ok(Rehearsal {
            world,
            mesh,
            places,
            outlets: Vec::new(),
            events: Script::default(),
            begin: Instant::now(),
            late: Duration::ZERO,
        })
    }

    /// The emulated boards of a mesh whose other nodes live elsewhere, switched on. Cables that lead there have sockets in a folder, by their numbers
    /// in the plan, or are at the serial ports that the mesh file names.
    pub fn among_others(mesh: Mesh, programs: &[Program], folder: &Path, say: fn(&str)) -> Done<Self> {
        // The nodes elsewhere may live on: what is sent to them must not be as it was the last time.
        let seed = u128::from_le_bytes(random_bytes()?) as u64;
        let mut bench = Rehearsal::new(mesh, programs, true, seed)?;
        let mesh = &bench.mesh;
        let is_here = |end: NodePort| mesh.node_kind(end.node) == NodeKind::Emulated;
        for cable in WiringPlan::new(mesh).cables {
            let [from, to] = [cable.from, cable.to].map(|end| end.node_port());
            let (here, there) = if is_here(from) { (from, to) } else { (to, from) };
            if is_here(there) {
                continue;
            }
            for end in [here, there] {
                bench.world.join(rig::port(mesh, end)?, None)?;
            }
            if is_here(here) {
                let port = rig::port(mesh, here)?;
                bench.world.boards_mut()[port.board].connect_host(port.uart);
                let socket = folder.join(format!("cable-{}", cable.number));
                // That of an earlier run, which was killed.
                let _ = std::fs::remove_file(&socket);
                let outlet = match mesh.serial(here) {
                    Some(path) => OpenPort::wired(port, path, mesh.rate(here), say),
                    None => OpenPort::open(port, Some(&socket)),
                };
                bench.outlets.push(outlet?);
            }
        }
        let here: Vec<u64> = mesh
            .nodes()
            .filter(|node| mesh.node_kind(*node) == NodeKind::Emulated)
            .collect();
        for node in here {
            bench.plug_usb(node as usize, "in")?;
        }
        Ok(bench)
    }

    /// What other programs open as the serial port of a board, while its USB cable leads to the host.
    pub fn terminal(&self, board: usize) -> Option<&str> {
        self.places.get(board)?.serial.as_ref().map(|port| port.path.as_str())
    }

    /// How far the boards have fallen behind the clock on the wall.
    pub fn late(&self) -> Duration {
        self.late
    }

    /// Lets a moment pass, and says how long to wait so that no more has passed than on the clock on the wall.
    pub fn run_slice(&mut self) -> Duration {
        self.world.run_until(self.world.now() + SLICE);
        for (number, place) in self.places.iter_mut().enumerate() {
            match &mut place.serial {
                Some(port) => port.exchange(&mut self.world),
                // Nobody hears it.
                None => drop(self.world.boards_mut()[number].take_bytes(place.kind.host())),
            }
        }
        self.outlets.iter_mut().for_each(|port| port.exchange(&mut self.world));
        let (passed, elapsed) = (Duration::from_nanos(self.world.now() / 1000), self.begin.elapsed());
        let lag = elapsed.saturating_sub(passed);
        if lag > MAX_LAG {
            self.begin += lag;
            self.late += lag;
        }
        passed.saturating_sub(elapsed)
    }

    /// What one sees, and, if the mesh file says so by now, which node a board is.
    pub fn state(&self, file: Option<&Mesh>) -> Value {
        let of_board = |(number, place): (usize, &Place)| {
            let (board, led) = (&self.world.boards()[number], place.kind.led);
            let links = self.mesh.kind_of(number as u64).links.iter().zip(place.kind.links());
            let is_it = |mesh: &Mesh, node| {
                mesh.probe(node)
                    .is_some_and(|probe| is_same_probe(&probe, &place.probe))
            };
            json!({
                "kind": place.kind.name,
                "probe": place.probe,
                "tty": place.serial.as_ref().map(|port| &port.path),
                "powered": board.is_powered(),
                "led": board.is_powered() && board.output(led.port, led.number) == Some(true),
                "node": file.and_then(|mesh| mesh.nodes().find(|node| is_it(mesh, *node))),
                "links": links.map(|(uart, link)| json!({
                    "uart": uart.name,
                    "tx": uart.tx.header,
                    "rx": uart.rx.header,
                    "to": self.world.far_end(Port::new(number, link.uart)).map(|port| port.to_string()),
                })).collect::<Value>(),
            })
        };
        json!({
            "network": self.mesh.network.to_string(),
            "late_seconds": self.late.as_secs_f64(),
            "boards": self.places.iter().enumerate().map(of_board).collect::<Value>(),
        })
    }

    /// Does something to cables and boards, now: `usb in 0`, `jumper 0.USART1` from TX to RX, or in the words of scripts `plug 0.USART1 1.USART3`. Boards have the numbers of
    /// their places on the bench.
    pub fn act(&mut self, text: &str) -> Done {
        let words: Vec<&str> = text.split_whitespace().collect();
        if let ["usb", how, number] = words[..] {
            let number = number.parse().ok().filter(|number| *number < self.places.len());
            let number = number.ok_or_else(|| format!("there is no board {}", words[2]))?;
            return self.plug_usb(number, how);
        }
        if text.contains([';', '#', '\n']) {
            return Err("one thing at a time, without ';' and '#'".into());
        }
        let kind = |node| rig::board(self.mesh.kind_of(node).name).unwrap_or(self.places[0].kind);
        let port = |name: &PortName| script::port_on(kind(name.node), name);
        if let ["jumper", place] = words[..] {
            let port = port(&place.parse()?)?;
            return match self.world.far_end(port) {
                Some(_) => Err(BadWire::Taken(port).into()),
                None => Ok(self.world.join(port, Some(port))?),
            };
        }
        let read = script::read(&format!("0s {text}"), &self.mesh.network, port);
        for (after, action) in read.map_err(|error| error.reason)?.events() {
            match *action {
                Action::Cut(port) => self.pull(port)?,
                other => self.happen(*after, other)?,
            }
        }
        Ok(())
    }

    /// Has something happen, besides what is still to come.
    fn happen(&mut self, after: Time, action: Action) -> Result<(), BadWire> {
        let now = self.world.now();
        let to_come = self.events.events().iter().filter(|(at, _)| *at >= now);
        let events = Script::new(to_come.copied().chain([(now + after, action)]).collect());
        self.world.set_script(events.clone())?;
        self.events = events;
        // What is done next is done after it.
        self.world.run_until(now + 1);
        Ok(())
    }

    /// A cable that is cut elsewhere is still there; here it is gone.
    fn pull(&mut self, port: Port) -> Result<(), BadWire> {
        let far = self.world.far_end(port).ok_or(BadWire::NoWire(port))?;
        self.world.join(port, None)?;
        self.world.join(far, None)
    }

    /// A USB cable goes into the host, or out, with a supply of its own or without.
    fn plug_usb(&mut self, number: usize, how: &str) -> Done {
        let place = &mut self.places[number];
        let action = match how {
            "in" if place.serial.is_some() => return Ok(()),
            "in" => {
                place.serial = Some(OpenPort::open(Port::new(number, place.kind.host()), None)?);
                Action::On(number)
            }
            "power" => Action::On(number),
            "out" => Action::Off(number),
            other => return Err(format!("a USB cable goes in, power or out, not '{other}'").into()),
        };
        if how != "in" {
            place.serial = None;
        }
        Ok(self.happen(0, action)?)
    }

    /// What a probe does, and the bytes that it reads. Numbers are hexadecimal.
    pub fn probe(&mut self, probe: &str, call: &[&str], bytes: &[u8]) -> Done<Vec<u8>> {
        let is_it = |place: &Place| place.serial.is_some() && is_same_probe(&place.probe, probe);
        // As probe-rs says it.
        let number = self.places.iter().position(is_it).ok_or("Probe not found")?;
        let board = &mut self.world.boards_mut()[number];
        let parsed = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16);
        match *call {
            ["elf"] => {
                let has_any = |piece: &[u8]| piece.iter().any(|byte| *byte != 0xff);
                download(board, FLASH, Image::from_elf(bytes)?.bytes(), has_any)?;
            }
            ["bytes", address] => download(board, parsed(address)?, bytes, |_| true)?,
            ["read", address, length] => {
                let read = board.cpu.memory.bytes(parsed(address)?, parsed(length)? as usize);
                return Ok(read.ok_or("there is no such memory")?);
            }
            ["log", block] => return Ok(board.read_log_at(parsed(block)?).unwrap_or_default()),
            ["reset"] => self.happen(0, Action::Reset(number))?,
            _ => return Err("probes here cannot do that".into()),
        }
        Ok(Vec::new())
    }
}

/// Writes to the flash as a probe does: whole sectors are erased, and the core stands still until the next reset. Sectors that there is nothing
/// for are left alone.
fn download(board: &mut Board, address: u32, bytes: &[u8], is_for: impl Fn(&[u8]) -> bool) -> Done {
    let (first, mut begin) = (address as usize, FLASH as usize);
    let end = first + bytes.len();
    for size in board.kind().model.memory().sectors {
        let (after, from) = (begin + *size as usize, first.max(begin));
        let piece = bytes.get(from - first..end.min(after).saturating_sub(first));
        if let Some(piece) = piece.filter(|piece| !piece.is_empty() && is_for(piece)) {
            let mut sector = vec![0xff; *size as usize];
            sector[from - begin..][..piece.len()].copy_from_slice(piece);
            board.write_flash(begin as u32, &sector)?;
        }
        begin = after;
    }
    board.halt();
    match address < FLASH || end > begin {
        true => Err("that is more than the flash".into()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use hopwise_emulator::world::BoardOptions;

    use super::*;

    #[test]
    fn a_probe_erases_the_sectors_that_it_writes_and_no_others() {
        let image = Arc::new(Image::from_bytes(vec![1; 0x1_0000]));
        let mut board = Board::new(&image, BoardOptions::default());
        // Something for the first sector and for the third, of 16 KiB each.
        let mut bytes = vec![0xff; 0x8004];
        bytes[..4].fill(2);
        bytes[0x8000..].fill(3);
        download(&mut board, FLASH, &bytes, |piece| {
            piece.iter().any(|byte| *byte != 0xff)
        })
        .unwrap();
        let found = [0, 4, 0x4000, 0x8000, 0x8004, 0xc000].map(|offset| board.cpu.memory.byte(FLASH + offset));
        assert_eq!(found, [2, 0xff, 1, 3, 0xff, 1].map(Some));
        assert!(board.is_halted());
        let last = FLASH + board.cpu.memory.flash_size() - 1;
        download(&mut board, last, &[4], |_| true).unwrap();
        download(&mut board, last, &[4; 2], |_| true).unwrap_err();
    }
}
