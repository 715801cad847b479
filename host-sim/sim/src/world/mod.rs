//! Boards, wires and time: the discrete-event engine.
//!
//! A frame is one event: its bytes reach the other end when the last one has left. That is exact as long as nobody looks at
//! half a frame, and when a cable is pulled or plugged in the middle of one, it is cut at the byte. `frames` has how they travel, `cables` what
//! happens to cables, `machine` what can be at their ends.

mod cables;
mod frames;
mod links;
mod machine;

use cables::Cable;
pub use frames::StepOutcome;
use hopwise_core::{Network, Node, Rule};
use hopwise_node::capacities;
use hopwise_node::capacities::{Capacities, Sizes};
use hopwise_node::clock::{TICKS_PER_MICRO, clock_ticks};
use hopwise_node::key::{Credentials, Secret};
use hopwise_node::limits::BODY;
use hopwise_node::link::Micros;
use hopwise_node::router::{Config, ConfigError, Event, Router};
use hopwise_node::wire::{self, Body, PacketId};
use links::{ALL_LINKS, LinkSet, only};
use machine::Machine;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::agenda::Agenda;
use super::clock::Clock;
use super::faulty_node::{FaultyBoard, FaultyNode};
use super::host::Host;
use super::wire::{Nanos, Noise};

/// A node with as many links and known peers as the simulation needs; all else as on the boards.
pub type SimNode<C> = Router<C>;

/// What a simulated node has room for: packets are as long as on the boards.
pub trait SimSizes: Capacities<Body = Body<BODY>> {}

impl<C: Capacities<Body = Body<BODY>>> SimSizes for C {}

capacities! {
    /// A node of few links, in a mesh no larger than boards are made for.
    pub struct Narrow { links: 8, ..Sizes::BOARD }
}

capacities! {
    /// A node of few links, in a larger mesh.
    pub struct NarrowOfMany { links: 8, peers: 256, ..Sizes::BOARD }
}

capacities! {
    /// A node of as many links as there can be.
    pub struct Wide { links: 32, peers: 256, ..Sizes::BOARD }
}

#[derive(Clone, Debug)]
pub struct Build {
    pub network: Network,
    /// Bits per second on the wires.
    pub baud: u32,
    /// From the last byte of a frame until the node processes it.
    pub processing: Nanos,
    pub noise: Noise,
    /// Boards' clocks are off by up to this many parts in a million, and begin anywhere; without it they are all the same.
    pub drift: Option<f64>,
    /// Timers are late by up to this, and frames are processed late by up to this.
    pub jitter: Nanos,
    pub seed: u64,
    pub faulty_boards: Vec<FaultyBoard>,
    /// The key of the mesh. Taps have none.
    pub key: Option<Secret>,
    pub rogue_has_key: bool,
    pub taps: Vec<WireEnd>,
    /// Boards at whose serial ports there are hosts. In the world a host is a board too, after those of the network.
    pub hosts: Vec<Node>,
}

/// An end of a cable: a board and the number of its link.
pub type WireEnd = (u32, u8);

#[derive(Clone, Debug)]
struct Transmitter {
    /// Room for the largest frame.
    bytes: Vec<u8>,
    /// Of the frame that is sent.
    length: usize,
    started: Nanos,
    /// Number of bytes of the frame that found no cable.
    missed: usize,
}

struct Board<C: Capacities> {
    machine: Machine<C>,
    epoch: u32,
    cables: Vec<Option<u32>>,
    transmitters: Vec<Transmitter>,
    /// Links on which a frame is sent.
    busy: LinkSet,
    timer: Nanos,
    clock: Clock,
    /// When what came on each link has been looked at.
    looked_at: Vec<Nanos>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Occasion<M> {
    /// A frame has left a board's link.
    Sent(u32, u8),
    /// A frame that has been thought about.
    Arrived(u32, u8, u32),
    /// A board looks at its clock.
    Timer(u32),
    /// A break on the way to an end of a cable may be over.
    Released(u32, u8),
    /// An event for the user of the world, at a time it asked for.
    Mark(M),
}

pub trait Watcher {
    fn note(&mut self, at: Nanos, board: u32, event: &Event);

    /// A frame leaves for the other end of a cable: the first `length` bytes. Says how long it is if it was changed.
    fn leaves(&mut self, _at: Nanos, _ends: [WireEnd; 2], _frame: &mut [u8], length: usize) -> usize {
        length
    }

    /// What has not left yet of the frame that is on its way from a link comes out at another end.
    fn redirected(&mut self, _from: WireEnd, _to: WireEnd) {}

    /// A faulty node has taken a packet and does not forward it.
    fn swallowed(&mut self, _packet: PacketId) {}
}

impl Watcher for () {
    fn note(&mut self, _at: Nanos, _board: u32, _event: &Event) {}
}

/// Boards and cables, with marks by which its user knows what it has asked for.
pub struct World<C: Capacities, M = ()> {
    build: Build,
    now: Nanos,
    byte_nanos: u64,
    boards: Vec<Board<C>>,
    cables: Vec<Cable>,
    /// Number of wires between boards; the others lead to hosts.
    wires: u32,
    agenda: Agenda<Occasion<M>>,
    /// Frames that are thought about, and when the last byte of each came.
    parked: Vec<(Nanos, Vec<u8>)>,
    free_parked: Vec<u32>,
    scratch: Vec<u8>,
    frames: u64,
    /// How often something was done to boards or cables.
    pub(crate) changes: u64,
    /// Decides epochs, clocks and delays.
    random: Xoshiro256PlusPlus,
    /// Decides how late boards read their clocks when frames come and go.
    latencies: Xoshiro256PlusPlus,
}

impl<C: SimSizes, M: Copy + Ord> World<C, M> {
    /// All boards of the network, wired port by port, not yet started.
    pub fn new(build: Build) -> Self {
        let network = build.network;
        let nodes = network.nodes() as u32;
        let byte_nanos = 10_000_000_000 / u64::from(build.baud.max(1));
        let mut world = World {
            byte_nanos,
            now: 0,
            boards: Vec::with_capacity(nodes as usize),
            cables: Vec::new(),
            wires: 0,
            agenda: Agenda::new(byte_nanos * wire::WIRE as u64),
            parked: Vec::new(),
            free_parked: Vec::new(),
            scratch: Vec::new(),
            frames: 0,
            changes: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(build.seed ^ 0x626f_6172),
            latencies: Xoshiro256PlusPlus::seed_from_u64(build.seed ^ 0x7469_6d65),
            build,
        };
        let hosts = world.build.hosts.clone();
        for board in 0..nodes + hosts.len() as u32 {
            let at_it = hosts.iter().filter(|&&node| node == u64::from(board)).count();
            // A host has one.
            let links = network
                .degree(u64::from(board))
                .map_or(1, |degree| degree as usize + at_it);
            let transmitter = Transmitter {
                bytes: vec![0; wire::WIRE],
                length: 0,
                started: 0,
                missed: 0,
            };
            world.boards.push(Board {
                machine: Machine::Off,
                epoch: 0,
                clock: Clock::TRUE,
                looked_at: vec![0; links],
                cables: vec![None; links],
                transmitters: vec![transmitter; links],
                busy: 0,
                timer: Nanos::MAX,
            });
        }
        for a in 0..nodes {
            let neighbors: Vec<Node> = network.neighbors(u64::from(a)).into_iter().flatten().collect();
            for (port, &b) in neighbors.iter().enumerate().filter(|&(_, &b)| b > u64::from(a)) {
                let back = network.port_to(b, u64::from(a)).ok().flatten().unwrap_or(0);
                world.lay((a, port as u8), (b as u32, back as u8));
            }
        }
        world.wires = world.cables.len() as u32;
        for tapped in world.build.taps.clone() {
            if let Some((cable, _)) = world.side(tapped) {
                world.cables[cable as usize].tap = Some(Box::default());
            }
        }
        for (host, board) in (nodes..).zip(hosts) {
            let serial_port = network.degree(board).unwrap_or(0) as u8;
            world.lay((board as u32, serial_port), (host, 0));
        }
        world
    }

    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Frames sent so far, of all kinds.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    pub fn when(&self, board: u32, micros: Micros) -> Nanos {
        self.boards[board as usize].clock.nanos(micros)
    }

    /// What time it is in the mesh, as a board's programs are told at this moment, in microseconds; `None` if it is off or does not know.
    pub fn mesh_time(&self, board: u32) -> Option<f64> {
        let local = self.boards[board as usize].clock.micros(self.now);
        let shown = self.node(board)?.mesh_time().at_tick(clock_ticks(local))?;
        Some(shown as f64 / TICKS_PER_MICRO as f64)
    }

    pub fn byte_nanos(&self) -> Nanos {
        self.byte_nanos
    }

    pub fn boards(&self) -> u32 {
        (self.boards.len() - self.build.hosts.len()) as u32
    }

    /// The hosts, each with the board at whose serial port it is.
    pub fn hosts(&self) -> impl Iterator<Item = (u32, u32)> + use<'_, C, M> {
        let boards = self.build.hosts.iter().map(|&board| board as u32);
        (self.boards()..).zip(boards)
    }

    /// At which board a host is; `None` if it is a board itself.
    pub fn board_of(&self, host: u32) -> Option<u32> {
        let place = host.checked_sub(self.boards())?;
        self.build.hosts.get(place as usize).map(|&board| board as u32)
    }

    /// How many cables there are between boards.
    pub fn cables(&self) -> u32 {
        self.wires
    }

    pub fn ends(&self, cable: u32) -> [WireEnd; 2] {
        self.cables[cable as usize].ends
    }

    pub fn cable_at(&self, (board, link): WireEnd) -> Option<u32> {
        *self.boards.get(board as usize)?.cables.get(usize::from(link))?
    }

    /// The ends of a board's cables at other boards.
    pub fn other_ends(&self, board: u32) -> impl Iterator<Item = WireEnd> + use<'_, C, M> {
        let cables = self.boards[board as usize].cables.iter().flatten();
        let ends = cables.flat_map(|&cable| self.ends(cable));
        ends.filter(move |&(other, _)| other != board && other < self.boards())
    }

    pub fn is_up(&self, (board, link): WireEnd) -> bool {
        let report = self.node(board).and_then(|node| node.link_report(link));
        report.is_some_and(|report| report.up)
    }

    pub fn node(&self, board: u32) -> Option<&SimNode<C>> {
        match &self.boards[board as usize].machine {
            Machine::Node(node) => Some(node),
            _ => None,
        }
    }

    pub fn is_on(&self, board: u32) -> bool {
        !matches!(self.boards[board as usize].machine, Machine::Off)
    }

    pub fn epoch(&self, board: u32) -> u32 {
        self.boards[board as usize].epoch
    }

    /// Switches a board on. It remembers nothing: its epoch is any number but 0.
    pub fn start(&mut self, board: u32, watcher: &mut impl Watcher) -> Result<(), ConfigError> {
        let is_host = self.board_of(board).is_some();
        // Whether a host is there is nothing to the mesh.
        self.changes += u64::from(!is_host);
        let state = &mut self.boards[board as usize];
        state.epoch = self.random.random_range(1..=u32::MAX);
        if let Some(drift) = self.build.drift {
            state.clock = Clock::draw(drift, self.now, &mut self.random);
        }
        let now = state.clock.micros(self.now);
        let Build {
            network,
            baud,
            seed,
            faulty_boards,
            key,
            rogue_has_key,
            ..
        } = &self.build;
        // Boards have no more randomness than their epoch, which here is drawn.
        let credentials = key.map(|secret| Credentials {
            secret,
            random: [0; 16],
        });
        let faulty = faulty_boards.iter().find(|faulty| faulty.node == u64::from(board));
        state.machine = match faulty {
            _ if is_host => Machine::Host(Box::new(Host::new(state.epoch, *baud, credentials, now))),
            Some(&faulty) => Machine::FaultyNode(Box::new(FaultyNode::new(
                faulty,
                network,
                state.epoch,
                *baud,
                *seed,
                credentials.filter(|_| *rogue_has_key),
                now,
            ))),
            None => {
                let degree = network.degree(u64::from(board)).unwrap_or(0) as u8;
                let links = state.cables.len() as u8;
                let config = Config {
                    network: *network,
                    address: u64::from(board),
                    epoch: state.epoch,
                    baud: *baud,
                    links,
                    hosts: (degree..links).fold(0, |links, link| links | only(link)),
                    rule: Rule::Exact,
                };
                let mut router = Box::new(Router::new(&config, now)?);
                credentials.iter().for_each(|credentials| router.lock(credentials));
                Machine::Node(router)
            }
        };
        self.serve(board, ALL_LINKS, ALL_LINKS, watcher);
        Ok(())
    }

    /// Switches a board off: what it is sending breaks off.
    pub fn stop(&mut self, board: u32, watcher: &mut impl Watcher) {
        self.changes += u64::from(self.board_of(board).is_none());
        let links = self.boards[board as usize].transmitters.len() as u8;
        for link in 0..links {
            self.break_off((board, link));
        }
        let machine = std::mem::replace(&mut self.boards[board as usize].machine, Machine::Off);
        if let Machine::FaultyNode(mut faulty) = machine {
            faulty.stop();
            faulty.swallowed().for_each(|packet| watcher.swallowed(packet));
        }
    }

    pub fn mark(&mut self, at: Nanos, mark: M) {
        self.agenda.plan(at, Occasion::Mark(mark));
    }

    /// Lets a board's application do something with its node.
    pub fn with_node<T>(
        &mut self,
        board: u32,
        watcher: &mut impl Watcher,
        act: impl FnOnce(&mut SimNode<C>, Micros, &mut dyn FnMut(Event)) -> T,
    ) -> Option<T> {
        let now = self.now;
        let state = &mut self.boards[board as usize];
        let Machine::Node(node) = &mut state.machine else {
            return None;
        };
        let micros = state.clock.micros(now);
        let result = act(node, micros, &mut |event| watcher.note(now, board, &event));
        self.serve(board, ALL_LINKS, ALL_LINKS, watcher);
        Some(result)
    }

    /// Lets someone do something with a host, if it is on.
    pub fn with_host<T>(
        &mut self,
        host: u32,
        watcher: &mut impl Watcher,
        act: impl FnOnce(&mut Host, Micros) -> T,
    ) -> Option<T> {
        let state = &mut self.boards[host as usize];
        let Machine::Host(machine) = &mut state.machine else {
            return None;
        };
        let result = act(machine, state.clock.micros(self.now));
        self.serve(host, ALL_LINKS, ALL_LINKS, watcher);
        Some(result)
    }
}
