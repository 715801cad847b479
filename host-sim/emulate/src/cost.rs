//! What the firmware costs: instructions of emulated boards for a packet, beyond those of the same time when nothing happens.

use std::fmt::Debug;

use hopwise_core::Network;
use hopwise_emulator::chip::UARTS;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Board, World};
use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::authority::MeshKeys;
use hopwise_node::key::{Key, Secret};
use hopwise_node::wire::{AppPort, AppStatus, Command, CommandResult, Pattern, Query, Traffic, TrafficReport};
use hopwise_rig::boards;
use hopwise_rig::mesh::{Mesh, MeshRule};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::check::{path, wait_for_links};
use crate::hosts::Hosts;
use crate::profile::{DebugInfo, Executed, Profile, RoomCount};
use crate::rig::{CannotEmulate, EmulatedMesh};
use crate::setup::{self, Program};

/// Where forwarding is measured. In lifts, and where the unit has no formula for its walks, a next hop is searched for.
pub const NETWORKS: [&str; 8] = [
    "path(3)",
    "ring(6)",
    "torus(3,3)",
    "rdn(ring(3),1)",
    "rcr(2,2,1)",
    "re(heawood,path(2),1)",
    "lift(8,bcc2,b4c7)",
    "re(path(2),heawood,1)",
];
/// The keys of meshes that have some here.
pub const KEYS: MeshKeys = MeshKeys {
    mesh: Secret::new(Key::new(*b"of a whole mesh!"), false),
    management: Key::new(*b"of its managers!"),
};
/// Packets that are forwarded, and how many a second: in no simple ratio to the boards' timers, so that all phases count.
const PACKETS: u32 = 200;
const RATE: u32 = 487;
/// As long as that takes, and a little longer.
const FORWARDING: Time = 700 * MILLISECOND;
/// How often a program does something, and as long as that takes.
const TIMES: i64 = 100;
const TRIAL: Time = 1_500 * MILLISECOND;
const ANSWERED: Time = SECOND;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotMeasure {
    /// A sentence.
    #[error("{0}")]
    Failed(String),
    #[error("{0}")]
    Mesh(#[from] MeshRule),
    #[error("{0}")]
    Emulate(#[from] CannotEmulate),
}

impl CannotMeasure {
    fn unexpected(board: usize, reply: &impl Debug) -> Self {
        CannotMeasure::Failed(format!("board {board} did not answer as expected: {reply:?}"))
    }

    pub(crate) fn lost(board: usize, received: u32) -> Self {
        CannotMeasure::Failed(format!("only {received} packets came to board {board}"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// How many bytes.
    pub size: u8,
    /// Whether these are random; zeros otherwise.
    pub random: bool,
}

pub const PAYLOADS: [Payload; 4] = [
    payload(40, false),
    payload(40, true),
    payload(200, false),
    payload(200, true),
];

const fn payload(size: u8, random: bool) -> Payload {
    Payload { size, random }
}

/// What something costs one board, beyond idle time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Instructions, each time.
    pub instructions: u64,
    /// Bytes sent on all wires, each time.
    pub sent_bytes: u64,
    /// How often it was done, by all boards that were counted together.
    pub times: i64,
    /// What was executed for all of that, if the boards' profiles were counted.
    pub executed: Executed,
}

impl Cost {
    /// Instructions by room, each time; rooms without any are left out.
    fn rooms(&self, program: &Program, debug: &DebugInfo<'_>) -> Vec<RoomCount> {
        let mut rooms = Profile::new([(&self.executed, &*program.image, debug)].into_iter()).rooms;
        rooms.iter_mut().for_each(|room| room.instructions /= self.times);
        rooms.retain(|room| room.instructions != 0);
        rooms
    }
}

struct Spent {
    instructions: i64,
    sent_bytes: i64,
    executed: Executed,
}

impl Spent {
    fn by(world: &World, boards: &[usize]) -> Self {
        let boards = || boards.iter().map(|board| &world.boards()[*board]);
        let sent = |board: &Board| (0..UARTS).map(|uart| board.traffic(uart).sent as i64).sum::<i64>();
        Spent {
            instructions: boards().map(|board| board.cpu.instructions as i64).sum(),
            sent_bytes: boards().map(sent).sum(),
            executed: Executed::by(boards()),
        }
    }

    fn without(self, other: &Spent) -> Self {
        Spent {
            instructions: self.instructions - other.instructions,
            sent_bytes: self.sent_bytes - other.sent_bytes,
            executed: self.executed.without(&other.executed),
        }
    }

    fn each(self, times: i64) -> Cost {
        Cost {
            instructions: (self.instructions / times).max(0) as u64,
            sent_bytes: (self.sent_bytes / times).max(0) as u64,
            times,
            executed: self.executed,
        }
    }
}

/// What something costs. The names are those of the JSON keys of `hopwise cost`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What: forward a packet, send a datagram from a program, receive one in a program, request something and receive the response, or respond.
    pub operation: &'static str,
    pub network: String,
    /// Bytes of the payload.
    pub payload: u8,
    /// What these are: zeros or random; each the same for programs.
    pub payload_bytes: &'static str,
    pub keyed: bool,
    /// Instructions. Not known if the board has too few links for the network.
    pub instructions: Option<u64>,
    /// Bytes that the board sends for it, acknowledgments included. Not known where instructions are not.
    pub sent_bytes: Option<u64>,
    /// Instructions by room, if the boards' profiles were counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rooms: Vec<RoomCount>,
}

/// What forwarding costs boards with a program in a network, with each payload, with and without a key. Rooms are told by debug information.
pub fn forwarding(
    program: &Program,
    network: &Network,
    keyed: bool,
    debug: Option<&DebugInfo<'_>>,
) -> Result<Vec<Row>, CannotMeasure> {
    let row = |payload: &Payload| Row {
        operation: "forward",
        network: network.to_string(),
        payload: payload.size,
        payload_bytes: if payload.random { "random" } else { "zeros" },
        keyed,
        instructions: None,
        sent_bytes: None,
        rooms: Vec::new(),
    };
    let mut rows = PAYLOADS.each_ref().map(row).to_vec();
    if setup::check_size(program.kind, network).is_err() {
        return Ok(rows);
    }
    let mut mesh = start(program, network, keyed.then_some(KEYS), debug.is_some())?;
    let mut measured = Measured::of(&mut mesh);
    for (row, payload) in rows.iter_mut().zip(PAYLOADS) {
        let cost = measured.forwarding(network, payload)?;
        row.instructions = Some(cost.instructions);
        row.sent_bytes = Some(cost.sent_bytes);
        if let Some(debug) = debug {
            row.rooms = cost.rooms(program, debug);
        }
    }
    Ok(rows)
}

/// What programs cost boards with the image of `firmware/examples/trials`, between nodes 0 and 1 of a network. Rooms are told by debug information.
pub fn programs(
    program: &Program,
    network: &Network,
    debug: Option<&DebugInfo<'_>>,
) -> Result<Vec<Row>, CannotMeasure> {
    let mut rows = Vec::new();
    for (trial, operations) in [(Trial::Send, ["send", "receive"]), (Trial::Ask, ["request", "respond"])] {
        let mut mesh = start(program, network, None, debug.is_some())?;
        let costs = Measured::of(&mut mesh).trial(trial)?;
        rows.extend(operations.into_iter().zip(costs).map(|(operation, cost)| Row {
            operation,
            network: network.to_string(),
            payload: 32,
            payload_bytes: "same",
            keyed: false,
            instructions: Some(cost.instructions),
            sent_bytes: Some(cost.sent_bytes),
            rooms: debug.map_or_else(Vec::new, |debug| cost.rooms(program, debug)),
        }));
    }
    Ok(rows)
}

/// Boards whose links are up.
fn start(
    program: &Program,
    network: &Network,
    keys: Option<MeshKeys>,
    is_profiled: bool,
) -> Result<EmulatedMesh, CannotMeasure> {
    let mut mesh = plan(program, network)?;
    mesh.keys = keys;
    let mut emulated = EmulatedMesh::start_real(&mesh, std::slice::from_ref(program), &[])?;
    if is_profiled {
        emulated.world.boards_mut().iter_mut().for_each(Board::start_profile);
    }
    Measured::of(&mut emulated).wait_for_links(network)?;
    Ok(emulated)
}

pub(crate) fn plan(program: &Program, network: &Network) -> Result<Mesh, CannotMeasure> {
    let name = program.kind.name;
    let kind = boards::kind(name).ok_or_else(|| CannotEmulate::NoSuchBoard(name.into()))?;
    Ok(Mesh::new(*network, kind)?)
}

/// Boards with a host at each, which are checked, or of which something is measured.
pub struct Measured<'w> {
    pub world: &'w mut World,
    pub hosts: &'w mut Hosts,
}

impl<'w> Measured<'w> {
    pub(crate) fn of(mesh: &'w mut EmulatedMesh) -> Self {
        Measured {
            world: &mut mesh.world,
            hosts: &mut mesh.hosts,
        }
    }

    pub(crate) fn run_for(&mut self, time: Time) {
        self.hosts.run_until(self.world, self.world.now() + time);
    }

    fn ask_one<T: DeserializeOwned>(&mut self, request: BoardRequest) -> Result<T, CannotMeasure> {
        let board = request.at;
        let reply = self.hosts.ask(self.world, &[request], ANSWERED).pop().flatten();
        let response = reply.as_ref().and_then(Reply::read);
        response.ok_or_else(|| CannotMeasure::unexpected(board, &reply))
    }

    pub fn wait_for_links(&mut self, network: &Network) -> Result<(), CannotMeasure> {
        let (expected, up) = wait_for_links(self.world, self.hosts, network);
        match up == expected {
            true => Ok(()),
            false => Err(CannotMeasure::Failed(format!(
                "{up} of {expected} links of {network} came up"
            ))),
        }
    }

    pub(crate) fn start_traffic(&mut self, board: usize, traffic: Traffic) -> Result<(), CannotMeasure> {
        match self.ask_one(BoardRequest::command(board, &Command::StartTraffic(traffic)))? {
            CommandResult::Done => Ok(()),
            other => Err(CannotMeasure::unexpected(board, &other)),
        }
    }

    /// What it costs to forward a packet, its acknowledgements included: in the mean over all boards on the longest way between a node and the
    /// one whose address is counted from the other end. All links are up, and nothing else happens.
    pub fn forwarding(&mut self, network: &Network, payload: Payload) -> Result<Cost, CannotMeasure> {
        let opposite = |node: u64| network.nodes() - 1 - node;
        let ways = (0..network.nodes()).map(|node| path(network, node, opposite(node)));
        // The first of the longest.
        let way = ways.rev().max_by_key(Vec::len).filter(|way| way.len() > 2);
        let none = || format!("{network} has no node that forwards packets between opposite nodes");
        let way = way.ok_or_else(|| CannotMeasure::Failed(none()))?;
        let way: Vec<usize> = way.into_iter().map(|node| node as usize).collect();
        let (from, to, between) = (way[0], way[way.len() - 1], &way[1..way.len() - 1]);
        let received = |all: &mut Self| all.ask_one(BoardRequest::command(to, &Command::Traffic));
        let before: TrafficReport = received(self)?;

        let begin = Spent::by(self.world, between);
        self.run_for(FORWARDING);
        let quiet = Spent::by(self.world, between);
        let end = self.world.now() + FORWARDING;
        let traffic = Traffic {
            random: payload.random,
            ..Traffic::new(RATE, PACKETS, Pattern::Opposite, payload.size)
        };
        self.start_traffic(from, traffic)?;
        self.run_for(end.saturating_sub(self.world.now()));
        let busy = Spent::by(self.world, between).without(&quiet);
        let idle = quiet.without(&begin);

        let after: TrafficReport = received(self)?;
        match after.received.wrapping_sub(before.received) {
            PACKETS => Ok(busy.without(&idle).each(i64::from(PACKETS) * between.len() as i64)),
            received => Err(CannotMeasure::lost(to, received)),
        }
    }

    /// What it costs boards 0 and 1 that the program of board 0 does something with board 1: a trial of `firmware/examples/trials`.
    pub fn trial(&mut self, trial: Trial) -> Result<[Cost; 2], CannotMeasure> {
        let spent = |all: &Self| [0, 1].map(|board| Spent::by(all.world, &[board]));
        let begin = spent(self);
        self.run_for(TRIAL);
        let quiet = spent(self);
        order(self.world, self.hosts, 0, trial as u8, 1)?;
        // Answering the order is not part of it. It begins later.
        let ordered = spent(self);
        self.run_for(TRIAL);
        let mut costs = Vec::new();
        for (((after, ordered), quiet), begin) in spent(self).into_iter().zip(ordered).zip(quiet).zip(begin) {
            let idle = quiet.without(&begin);
            costs.push(after.without(&ordered).without(&idle).each(TIMES));
        }
        let [first, second] = costs.try_into().unwrap_or_else(|_| unreachable!("two boards"));
        Ok([first, second])
    }
}

/// Trials of `firmware/examples/trials` that are measured, by their numbers there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Trial {
    /// A request of 32 bytes and its response.
    Ask = 3,
    /// A datagram of 32 bytes.
    Send = 4,
}

/// Has a board begin a trial of `firmware/examples/trials` with a node.
pub fn order(world: &mut World, hosts: &mut Hosts, board: usize, trial: u8, node: u8) -> Result<(), CannotMeasure> {
    let request = BoardRequest::new(board, board as u64, Query::Application(AppPort(100))).with(vec![trial, node]);
    let reply = hosts.ask(world, &[request], ANSWERED).pop().flatten();
    match reply == Some(Reply::Response(vec![AppStatus::Ok as u8])) {
        true => Ok(()),
        false => Err(CannotMeasure::unexpected(board, &reply)),
    }
}
