//! Boards, wires and time: the discrete-event engine.
//!
//! A frame is one event: its bytes reach the other end when the last one has left. That is exact as long as nobody looks at
//! half a frame, and when a cable is pulled or plugged in the middle of one, it is cut at the byte.

use hopwise_core::link::Micros;
use hopwise_core::router::{Config, ConfigError, Event, Router};
use hopwise_core::wire::PacketId;
use hopwise_core::{Network, Node, Rule, limits, wire};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::agenda::Agenda;
use super::clock::Clock;
use super::rogue::{Rogue, RogueBoard};
use super::wire::{Direction, Nanos, Noise, PASSES_SOON};

/// A node with as many links and known peers as the simulation needs; all else as on the boards.
pub type SimNode<const PORTS: usize, const PEERS: usize> =
    Router<PORTS, { limits::BUFFERS }, { limits::BODY }, { wire::WIRE }, PEERS>;

/// What all boards have in common.
#[derive(Clone, Debug)]
pub struct Build {
    /// The network.
    pub network: Network,
    /// Bits per second on the wires.
    pub baud: u32,
    /// From the last byte of a frame to the node's looking at it.
    pub processing: Nanos,
    /// What the wires do by chance.
    pub noise: Noise,
    /// Clocks of boards run wrong by up to so many parts of a million, and begin anywhere; without it they are all the same.
    pub drift: Option<f64>,
    /// Timers come late by up to this, and frames are looked at so much later.
    pub jitter: Nanos,
    /// Decides all chance.
    pub seed: u64,
    /// Boards that misbehave.
    pub rogues: Vec<RogueBoard>,
}

/// An end of a cable: a board and the number of its link.
pub type WireEnd = (u32, u8);

struct Cable {
    ends: [WireEnd; 2],
    /// From each end to the other.
    directions: [Direction; 2],
    random: Xoshiro256PlusPlus,
    plugged: bool,
}

impl Cable {
    /// Its ends, that one first.
    fn seen_from(&self, from: WireEnd) -> [WireEnd; 2] {
        let [a, b] = self.ends;
        if a == from { [a, b] } else { [b, a] }
    }

    fn is_bad(&self) -> bool {
        self.directions.iter().any(Direction::is_bad)
    }
}

#[derive(Clone, Debug)]
struct Transmitter {
    /// Room for the largest frame.
    bytes: Vec<u8>,
    /// Of the frame that is sent.
    length: usize,
    started: Nanos,
    /// So many bytes of the frame found no cable.
    missed: usize,
}

struct Board<const PORTS: usize, const PEERS: usize> {
    node: Option<Box<SimNode<PORTS, PEERS>>>,
    /// In place of a node.
    rogue: Option<Box<Rogue>>,
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

/// Links of a board: bit 0 is link 0.
type LinkSet = u32;
const ALL_LINKS: LinkSet = LinkSet::MAX;

const fn only(link: u8) -> LinkSet {
    1 << link
}

/// So many links, from link 0 on.
fn first(count: usize) -> LinkSet {
    ALL_LINKS.checked_shr(LinkSet::BITS - count as u32).unwrap_or(0)
}

/// The links of a set.
fn each(mut links: LinkSet) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let link = links.trailing_zeros() as u8;
        links &= links.checked_sub(1)?;
        Some(link)
    })
}

/// Something for whoever uses the world, at a time it asked for.
pub type Mark = u32;

#[derive(Clone, Copy)]
enum Occasion {
    /// A frame has left a board's link.
    Sent(u32, u8),
    /// A frame that has been thought about.
    Arrived(u32, u8, u32),
    /// A board looks at its clock.
    Timer(u32),
    /// A break on the way to an end of a cable may be over.
    Released(u32, u8),
    Mark(Mark),
}

/// Takes note of what boards do.
pub trait Watcher {
    /// A board's node noticed or did something.
    fn note(&mut self, at: Nanos, board: u32, event: &Event);

    /// A frame leaves for the other end of a cable: the first `length` bytes. Says how long it is if it was changed.
    fn leaves(&mut self, _at: Nanos, _ends: [WireEnd; 2], _frame: &mut [u8], length: usize) -> usize {
        length
    }

    /// A rogue board has taken a packet over and does not bring it on.
    fn swallowed(&mut self, _packet: PacketId) {}
}

/// The mesh.
pub struct World<const PORTS: usize, const PEERS: usize> {
    build: Build,
    now: Nanos,
    byte_nanos: u64,
    boards: Vec<Board<PORTS, PEERS>>,
    cables: Vec<Cable>,
    agenda: Agenda<Occasion>,
    parked: Vec<Vec<u8>>,
    free_parked: Vec<u32>,
    scratch: Vec<u8>,
    frames: u64,
    changes: u64,
    /// Decides epochs, clocks and delays.
    random: Xoshiro256PlusPlus,
}

impl<const PORTS: usize, const PEERS: usize> World<PORTS, PEERS> {
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
            agenda: Agenda::new(byte_nanos * wire::WIRE as u64),
            parked: Vec::new(),
            free_parked: Vec::new(),
            scratch: Vec::new(),
            frames: 0,
            changes: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(build.seed ^ 0x626f_6172),
            build,
        };
        for board in 0..nodes {
            let degree = network.degree(u64::from(board)).unwrap_or(0) as usize;
            let transmitter = Transmitter {
                bytes: vec![0; wire::WIRE],
                length: 0,
                started: 0,
                missed: 0,
            };
            world.boards.push(Board {
                node: None,
                rogue: None,
                epoch: 0,
                clock: Clock::TRUE,
                looked_at: vec![0; degree],
                cables: vec![None; degree],
                transmitters: vec![transmitter; degree],
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
        world
    }

    fn lay(&mut self, a: WireEnd, b: WireEnd) {
        let index = self.cables.len() as u32;
        let seed = self.build.seed ^ 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(u64::from(index) + 1);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let noise = &self.build.noise;
        self.cables.push(Cable {
            ends: [a, b],
            directions: [Direction::new(noise, &mut random), Direction::new(noise, &mut random)],
            random,
            plugged: true,
        });
        for (board, link) in [a, b] {
            self.boards[board as usize].cables[usize::from(link)] = Some(index);
        }
    }

    /// The time.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Frames sent so far, of all kinds.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// How often something was done to boards or cables.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// How long a byte takes.
    pub fn byte_nanos(&self) -> Nanos {
        self.byte_nanos
    }

    /// How many boards there are.
    pub fn boards(&self) -> u32 {
        self.boards.len() as u32
    }

    /// How many cables there are.
    pub fn cables(&self) -> u32 {
        self.cables.len() as u32
    }

    /// The ends of a cable.
    pub fn ends(&self, cable: u32) -> [WireEnd; 2] {
        self.cables[cable as usize].ends
    }

    /// The cable at a link, if one is laid there.
    pub fn cable_at(&self, (board, link): WireEnd) -> Option<u32> {
        *self.boards.get(board as usize)?.cables.get(usize::from(link))?
    }

    /// The node of a board, if it is on.
    pub fn node(&self, board: u32) -> Option<&SimNode<PORTS, PEERS>> {
        self.boards[board as usize].node.as_deref()
    }

    /// Whether a board is on.
    pub fn is_on(&self, board: u32) -> bool {
        let state = &self.boards[board as usize];
        state.node.is_some() || state.rogue.is_some()
    }

    /// A board's boot epoch.
    pub fn epoch(&self, board: u32) -> u32 {
        self.boards[board as usize].epoch
    }

    /// Switches a board on. It remembers nothing: its epoch is any number but 0.
    pub fn start(&mut self, board: u32, watcher: &mut impl Watcher) -> Result<(), ConfigError> {
        self.changes += 1;
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
            rogues,
            ..
        } = &self.build;
        if let Some(&rogue) = rogues.iter().find(|rogue| rogue.node == u64::from(board)) {
            let rogue = Rogue::new(rogue, network, state.epoch, *baud, *seed, now);
            state.rogue = Some(Box::new(rogue));
            self.serve(board, ALL_LINKS, ALL_LINKS, watcher);
            return Ok(());
        }
        let config = Config {
            network: self.build.network,
            address: u64::from(board),
            epoch: state.epoch,
            baud: self.build.baud,
            links: state.cables.len() as u8,
            computers: 0,
            rule: Rule::Exact,
        };
        let node = Router::new(&config, now)?;
        state.node = Some(Box::new(node));
        self.serve(board, ALL_LINKS, ALL_LINKS, watcher);
        Ok(())
    }

    /// Switches a board off: what it is sending breaks off.
    pub fn stop(&mut self, board: u32) {
        self.changes += 1;
        let links = self.boards[board as usize].transmitters.len() as u8;
        for link in 0..links {
            self.break_off((board, link));
        }
        self.boards[board as usize].node = None;
        self.boards[board as usize].rogue = None;
    }

    /// Pulls a cable or plugs it in.
    pub fn plug(&mut self, cable: u32, plugged: bool, watcher: &mut impl Watcher) {
        if self.cables[cable as usize].plugged == plugged {
            return;
        }
        self.changes += 1;
        self.change_both(cable, watcher, |cable| cable.plugged = plugged);
    }

    /// Makes the direction of a cable that leads to `to` dead or live.
    pub fn set_dead(&mut self, to: WireEnd, dead: bool, watcher: &mut impl Watcher) {
        if let Some((cable, side)) = self.side(to) {
            self.changes += 1;
            self.change_both(cable, watcher, |cable| cable.directions[1 - side].dead = dead);
        }
    }

    /// Holds the line that leads to `to` low, or lets go of it.
    pub fn set_stuck(&mut self, to: WireEnd, stuck: bool, watcher: &mut impl Watcher) {
        if let Some((cable, side)) = self.side(to) {
            self.changes += 1;
            self.change_both(cable, watcher, |cable| cable.directions[1 - side].stuck_low = stuck);
        }
    }

    /// Gives the line that leads to `to` its own chance of a bit to be flipped; without one, that of all. What passes soon is no
    /// change of the mesh.
    pub fn set_noise(&mut self, to: WireEnd, bit_errors: Option<f64>, passes_soon: bool, watcher: &mut impl Watcher) {
        let noise = Noise {
            bit_errors: bit_errors.unwrap_or(self.build.noise.bit_errors),
            ..self.build.noise
        };
        if let Some((cable, side)) = self.side(to) {
            self.changes += u64::from(!passes_soon);
            self.change_both(cable, watcher, |cable| {
                cable.directions[1 - side].set_noise(noise, &mut cable.random);
            });
        }
    }

    /// Holds the line that leads to `to` low for a time: whatever bytes it touches arrive as zeros, and an idle line brings one.
    pub fn send_break(&mut self, to: WireEnd, length: Option<Nanos>, watcher: &mut impl Watcher) {
        let Some((cable, side)) = self.side(to) else { return };
        let length = length.unwrap_or(2 * self.byte_nanos);
        let until = self.now + length;
        self.changes += u64::from(length > PASSES_SOON);
        let from = self.cables[cable as usize].ends[1 - side];
        let idle = self.boards[from.0 as usize].busy & only(from.1) == 0;
        self.change_both(cable, watcher, |cable| {
            let direction = &mut cable.directions[1 - side];
            direction.low_until = direction.low_until.max(until);
            direction.long_break |= length > PASSES_SOON;
        });
        if idle && self.cables[cable as usize].plugged {
            self.deliver(to, &[0], watcher);
        }
        self.agenda.plan(until, Occasion::Released(cable, side as u8));
    }

    /// What a break has touched until its end arrives as zeros, with the byte that is under way.
    fn release(&mut self, cable: u32, side: usize, watcher: &mut impl Watcher) {
        let from = self.cables[cable as usize].ends[1 - side];
        if self.boards[from.0 as usize].busy & only(from.1) != 0 {
            let touched = self.passed(from) + 1;
            self.carry(from, touched, watcher);
        }
        let direction = &mut self.cables[cable as usize].directions[1 - side];
        if direction.low_until <= self.now {
            self.changes += u64::from(std::mem::take(&mut direction.long_break));
        }
    }

    /// Whether two boards that are on can talk to each other over a cable, and are neighbours.
    fn joins(&self, cable: &Cable) -> bool {
        let [a, b] = cable.ends.map(|(board, _)| board);
        let whole = cable.plugged && cable.directions.iter().all(|direction| direction.is_whole(self.now));
        let neighbors = || self.build.network.port_to(u64::from(a), u64::from(b));
        whole && self.node(a).is_some() && self.node(b).is_some() && neighbors().is_ok_and(|port| port.is_some())
    }

    /// Whether some cable damages more than every other of the longest frames.
    pub fn has_bad_cables(&self) -> bool {
        self.cables.iter().any(Cable::is_bad)
    }

    /// The parts of the mesh that are connected, by the lowest board of each: of every board, which part it is in. Bad cables count
    /// only if said so.
    pub fn parts(&self, with_bad: bool) -> Vec<u32> {
        let mut part: Vec<u32> = (0..self.boards()).collect();
        fn root(part: &mut [u32], mut board: u32) -> u32 {
            while part[board as usize] != board {
                let above = part[part[board as usize] as usize];
                part[board as usize] = above;
                board = above;
            }
            board
        }
        for cable in self.cables.iter().filter(|cable| with_bad || !cable.is_bad()) {
            if self.joins(cable) {
                let [a, b] = cable.ends.map(|(board, _)| root(&mut part, board));
                part[a.max(b) as usize] = a.min(b);
            }
        }
        (0..self.boards()).map(|board| root(&mut part, board)).collect()
    }

    /// Exchanges the plugs at two links.
    pub fn swap(&mut self, a: WireEnd, b: WireEnd, watcher: &mut impl Watcher) {
        let (Some((cable_a, side_a)), Some((cable_b, side_b))) = (self.side(a), self.side(b)) else {
            return;
        };
        self.changes += 1;
        self.change_both(cable_a, watcher, |_| ());
        self.change_both(cable_b, watcher, |_| ());
        self.cables[cable_a as usize].ends[side_a] = b;
        self.cables[cable_b as usize].ends[side_b] = a;
        self.boards[a.0 as usize].cables[usize::from(a.1)] = Some(cable_b);
        self.boards[b.0 as usize].cables[usize::from(b.1)] = Some(cable_a);
    }

    fn side(&self, from: WireEnd) -> Option<(u32, usize)> {
        let cable = self.cable_at(from)?;
        let side = self.cables[cable as usize].ends.iter().position(|&end| end == from)?;
        Some((cable, side))
    }

    /// Changes a cable in the midst of what it carries: what has passed arrives, the rest fares as the change has it.
    fn change_both(&mut self, cable: u32, watcher: &mut impl Watcher, change: impl FnOnce(&mut Cable)) {
        let ends = self.cables[cable as usize].ends;
        for from in ends {
            let passed = self.passed(from);
            if passed > 0 {
                self.carry(from, passed, watcher);
            }
        }
        change(&mut self.cables[cable as usize]);
    }

    /// Bytes of the frame under way that have left and not been carried.
    fn passed(&self, (board, link): WireEnd) -> usize {
        let state = &self.boards[board as usize];
        if state.busy & only(link) == 0 {
            return 0;
        }
        let transmitter = &state.transmitters[usize::from(link)];
        let passed = (self.now - transmitter.started) / self.byte_nanos;
        (passed as usize)
            .min(transmitter.length)
            .saturating_sub(transmitter.missed)
    }

    fn break_off(&mut self, end: WireEnd) {
        let state = &mut self.boards[end.0 as usize];
        if state.busy & only(end.1) != 0 {
            let transmitter = &mut state.transmitters[usize::from(end.1)];
            // The rest never comes.
            let passed = ((self.now - transmitter.started) / self.byte_nanos) as usize;
            transmitter.length = transmitter.length.min(passed);
        }
    }

    /// Asks for a mark at a time.
    pub fn mark(&mut self, at: Nanos, mark: Mark) {
        self.agenda.plan(at, Occasion::Mark(mark));
    }

    /// Lets a board's application do something with its node.
    pub fn with_node<T>(
        &mut self,
        board: u32,
        watcher: &mut impl Watcher,
        act: impl FnOnce(&mut SimNode<PORTS, PEERS>, Micros, &mut dyn FnMut(Event)) -> T,
    ) -> Option<T> {
        let now = self.now;
        let state = &mut self.boards[board as usize];
        let (node, clock) = (state.node.as_deref_mut()?, &state.clock);
        let result = act(node, clock.micros(now), &mut |event| watcher.note(now, board, &event));
        self.serve(board, ALL_LINKS, ALL_LINKS, watcher);
        Some(result)
    }

    /// Goes on to the next thing that happens, not after `until`. Says which board may have something for its application, or
    /// which mark came.
    pub fn step(&mut self, until: Nanos, watcher: &mut impl Watcher) -> StepOutcome {
        if self.agenda.is_empty() {
            return StepOutcome::End;
        }
        let Some((at, occasion)) = self.agenda.next(until) else {
            self.now = until;
            return StepOutcome::End;
        };
        self.now = at;
        match occasion {
            Occasion::Mark(mark) => StepOutcome::Mark(mark),
            Occasion::Timer(board) => {
                let state = &mut self.boards[board as usize];
                if state.timer != at {
                    return StepOutcome::Nothing;
                }
                state.timer = Nanos::MAX;
                let micros = state.clock.micros(at);
                if let Some(node) = state.node.as_deref_mut() {
                    node.tick(micros, &mut |event: Event| watcher.note(at, board, &event));
                }
                if let Some(rogue) = state.rogue.as_deref_mut() {
                    rogue.tick(micros);
                }
                self.serve(board, ALL_LINKS, ALL_LINKS, watcher);
                StepOutcome::Board(board)
            }
            Occasion::Released(cable, side) => {
                self.release(cable, usize::from(side), watcher);
                StepOutcome::Nothing
            }
            Occasion::Sent(board, link) => self.sent((board, link), watcher),
            Occasion::Arrived(board, link, parked) => {
                let bytes = std::mem::take(&mut self.parked[parked as usize]);
                self.give((board, link), &bytes, watcher);
                self.parked[parked as usize] = bytes;
                self.free_parked.push(parked);
                StepOutcome::Board(board)
            }
        }
    }

    /// The last byte of a frame has left: it arrives, and the next one may be sent.
    fn sent(&mut self, from: WireEnd, watcher: &mut impl Watcher) -> StepOutcome {
        let length = self.boards[from.0 as usize].transmitters[usize::from(from.1)].length;
        let reached = self.carry(from, length, watcher);
        let free = only(from.1);
        self.boards[from.0 as usize].busy &= !free;
        // The others were asked when something happened to them.
        self.serve(from.0, free, 0, watcher);
        reached.map_or(StepOutcome::Nothing, StepOutcome::Board)
    }

    /// Carries the next `count` bytes of the frame under way to the other end, and says which board that is.
    fn carry(&mut self, from: WireEnd, count: usize, watcher: &mut impl Watcher) -> Option<u32> {
        let (cable, side) = self.side(from)?;
        let Cable {
            ends,
            directions,
            random,
            plugged,
        } = &mut self.cables[cable as usize];
        let transmitter = &mut self.boards[from.0 as usize].transmitters[usize::from(from.1)];
        let end = (transmitter.missed + count).min(transmitter.length);
        let begin = std::mem::replace(&mut transmitter.missed, end).min(end);
        let to = ends[1 - side];
        if !*plugged {
            return None;
        }
        let sent = std::mem::take(&mut transmitter.bytes);
        let mut scratch = std::mem::take(&mut self.scratch);
        let arrived = directions[side].carry(self.now, &sent[begin..end], random, &mut scratch);
        let reached = !arrived.is_empty();
        if reached {
            self.deliver(to, arrived, watcher);
        }
        self.scratch = scratch;
        self.boards[from.0 as usize].transmitters[usize::from(from.1)].bytes = sent;
        reached.then_some(to.0)
    }

    fn deliver(&mut self, to: WireEnd, bytes: &[u8], watcher: &mut impl Watcher) {
        let Build { processing, jitter, .. } = self.build;
        if processing == 0 && jitter == 0 {
            return self.give(to, bytes, watcher);
        }
        let place = self.free_parked.pop().unwrap_or_else(|| {
            self.parked.push(Vec::new());
            self.parked.len() as u32 - 1
        });
        let parked = &mut self.parked[place as usize];
        parked.clear();
        parked.extend_from_slice(bytes);
        let late = lateness(jitter, &mut self.random);
        // What came before is looked at first.
        let looked_at = &mut self.boards[to.0 as usize].looked_at[usize::from(to.1)];
        *looked_at = (*looked_at).max(self.now + processing + late);
        self.agenda.plan(*looked_at, Occasion::Arrived(to.0, to.1, place));
    }

    fn give(&mut self, (board, link): WireEnd, bytes: &[u8], watcher: &mut impl Watcher) {
        let now = self.now;
        let state = &mut self.boards[board as usize];
        let micros = state.clock.micros(now);
        if let Some(rogue) = state.rogue.as_deref_mut() {
            rogue.receive(link, bytes, micros);
            return self.serve(board, ALL_LINKS, only(link), watcher);
        }
        let Some(node) = state.node.as_deref_mut() else {
            return;
        };
        node.receive(link, bytes, micros, &mut |event: Event| {
            watcher.note(now, board, &event)
        });
        self.serve(board, ALL_LINKS, only(link), watcher);
    }

    /// Sends what a board has to send on those of some links that are free, and sees to its clock. Something has come on
    /// the links `used` since that was done last.
    fn serve(&mut self, board: u32, links: LinkSet, mut used: LinkSet, watcher: &mut impl Watcher) {
        let now = self.now;
        if self.boards[board as usize].rogue.is_some() {
            return self.serve_rogue(board, watcher);
        }
        let state = &mut self.boards[board as usize];
        let Some(node) = state.node.as_deref_mut() else { return };
        let micros = state.clock.micros(now);
        let all = first(state.transmitters.len());
        for link in each(links & !state.busy & all) {
            let transmitter = &mut state.transmitters[usize::from(link)];
            let note = &mut |event: Event| watcher.note(now, board, &event);
            let length = node.transmit(link, micros, &mut transmitter.bytes, note);
            if length == 0 {
                continue;
            }
            let this = only(link);
            let cable = state.cables[usize::from(link)].map(|cable| &self.cables[cable as usize]);
            let ends = cable.map(|cable| cable.seen_from((board, link)));
            let length = ends.map_or(length, |ends| watcher.leaves(now, ends, &mut transmitter.bytes, length));
            transmitter.length = length;
            state.busy |= this;
            used |= this;
            transmitter.started = now;
            transmitter.missed = 0;
            self.frames += 1;
            let done = now + length as u64 * self.byte_nanos;
            self.agenda.plan(done, Occasion::Sent(board, link));
        }
        // Those of the other links have not changed, and the clock is set for them.
        let ends = each(used & all).map(|link| node.links()[usize::from(link)].deadline());
        let deadline = ends.fold(node.own_deadline(), Micros::min);
        let deadline = state.clock.nanos(deadline).max(now + 1_000);
        let deadline = deadline.saturating_add(lateness(self.build.jitter, &mut self.random));
        if deadline < state.timer {
            state.timer = deadline;
            self.agenda.plan(deadline, Occasion::Timer(board));
        }
    }

    /// The same for a rogue.
    fn serve_rogue(&mut self, board: u32, watcher: &mut impl Watcher) {
        let now = self.now;
        let state = &mut self.boards[board as usize];
        let Some(rogue) = state.rogue.as_deref_mut() else {
            return;
        };
        let micros = state.clock.micros(now);
        rogue.swallowed().for_each(|packet| watcher.swallowed(packet));
        for (link, transmitter) in state.transmitters.iter_mut().enumerate() {
            let this = only(link as u8);
            if state.busy & this != 0 {
                continue;
            }
            let length = rogue.transmit(link as u8, micros, &mut transmitter.bytes);
            if length == 0 {
                continue;
            }
            let cable = state.cables[link].map(|cable| &self.cables[cable as usize]);
            let ends = cable.map(|cable| cable.seen_from((board, link as u8)));
            let length = ends.map_or(length, |ends| watcher.leaves(now, ends, &mut transmitter.bytes, length));
            transmitter.length = length;
            transmitter.started = now;
            transmitter.missed = 0;
            state.busy |= this;
            self.frames += 1;
            let done = now + length as u64 * self.byte_nanos;
            self.agenda.plan(done, Occasion::Sent(board, link as u8));
        }
        let deadline = state.clock.nanos(rogue.deadline()).max(now + 1_000);
        if deadline < state.timer {
            state.timer = deadline;
            self.agenda.plan(deadline, Occasion::Timer(board));
        }
    }
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// Nothing for anyone.
    Nothing,
    /// This board's node has done something.
    Board(u32),
    /// A mark has come.
    Mark(Mark),
    /// Nothing more happens until then.
    End,
}

/// Up to so much later.
fn lateness(jitter: Nanos, random: &mut Xoshiro256PlusPlus) -> Nanos {
    if jitter == 0 {
        0
    } else {
        random.random_range(0..=jitter)
    }
}
