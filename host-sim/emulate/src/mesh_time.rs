//! What time it is in the mesh, by every board, against the time of the world that the boards are in.

use std::collections::BTreeMap;
use std::sync::Arc;

use hopwise_core::Network;
use hopwise_emulator::boards::BOARDS;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Action, Board, Port, Script, World};
use hopwise_language::Failure;
use hopwise_node::clock::{ClockTicks, MeshTime, TICKS_PER_MICRO};
use hopwise_node::wire::{BoardConfig, Pattern, Traffic};

use crate::setup::{self, Blueprint, CannotBuild, Differences};

const VARIABLE: &str = "HOPWISE_MESH_TIME";
/// The count of the timer that is a board's own clock: TIM2, which counts microseconds.
const TIMER_COUNT: u32 = 0x4000_0024;
/// Where it begins again: its time driver uses 16 of its bits.
const TIMER_TURN: u64 = 1 << 16;
/// What is drawn of a board besides its crystal.
const STARTS: u64 = 0x7374_6172_7473;
/// By then a started board has cleared its memory.
const BOOTED: Time = 50 * MILLISECOND;
const FULL: Traffic = Traffic::new(100_000, 0, Pattern::Neighbors, 200);

pub struct TimedBoards {
    pub network: Network,
    pub world: World,
    starts: Vec<Time>,
    dies: Option<(usize, Time)>,
    origins: BTreeMap<usize, Origin>,
}

/// The cycle in which a board's own clock began: the first and the last that it can have been, as far as is known. Each look tells
/// more.
#[derive(Clone, Copy, Debug)]
struct Origin {
    first: i64,
    last: i64,
}

impl TimedBoards {
    /// A board for each node, started by chance within a time; with traffic on all links if they are to be full.
    pub fn new(
        network: &Network,
        image: &Arc<Image>,
        differences: Differences,
        starts_within: Time,
        full: bool,
    ) -> Result<Self, CannotBuild> {
        setup::check_size(BOARDS[0], network)?;
        let start = |node: u64| setup::scatter(differences.seed ^ setup::scatter(node ^ STARTS)) % starts_within.max(1);
        let mut blueprint = Blueprint {
            starts: (0..network.nodes()).map(start).collect(),
            ..Blueprint::default()
        };
        for node in 0..network.nodes() {
            let config = BoardConfig::new(&network.to_string(), node).map_err(CannotBuild::Config)?;
            let traffic = full.then_some(FULL);
            blueprint.configs.push(BoardConfig { traffic, ..config }.write());
            setup::lay_wires(BOARDS[0], network, node, &mut blueprint.wires)?;
        }
        Ok(TimedBoards {
            network: *network,
            world: setup::assemble(&blueprint, image, differences)?,
            starts: blueprint.starts,
            dies: None,
            origins: BTreeMap::new(),
        })
    }

    pub fn last_start(&self) -> Time {
        self.starts.iter().copied().max().unwrap_or(0)
    }

    pub fn fail(&mut self, failure: Failure) -> Result<(), CannotBuild> {
        let (network, at) = (&self.network, self.world.now());
        let action = match failure {
            Failure::Board(node) => {
                self.dies = Some((node as usize, at));
                Action::Off(node as usize)
            }
            Failure::Cable(a, b) => Action::Cut(setup::place(BOARDS[0], network, a, network.port_to(a, b)?)?),
        };
        let failed = |error| match action {
            Action::Cut(Port { board, .. }) => CannotBuild::Wire(board as u64, board as u64, error),
            _ => CannotBuild::Wire(0, 0, error),
        };
        self.world.set_script(Script::new(vec![(at, action)])).map_err(failed)
    }

    /// What `now` says at this moment on every board that has power, in microseconds; `None` on those that do not know the time.
    pub fn read(&mut self) -> Vec<Option<f64>> {
        let now = self.world.now();
        let runs = |number: usize| {
            let started = self.starts.get(number).is_none_or(|start| now >= start + BOOTED);
            started && self.dies.is_none_or(|(dies, at)| dies != number || now < at)
        };
        let boards = self.world.boards_mut().iter_mut().enumerate();
        let boards = boards.filter(|(number, _)| runs(*number));
        boards
            .map(|(number, board)| shown(board, number, now, &mut self.origins))
            .collect()
    }
}

fn shown(board: &mut Board, number: usize, now: Time, origins: &mut BTreeMap<usize, Origin>) -> Option<f64> {
    let words: [u32; MeshTime::WORDS] = board.variable(VARIABLE, MeshTime::WORDS)?.try_into().ok()?;
    let local = local_time(board, number, now, origins)?;
    // As the board itself reads it, in whole microseconds.
    let shown = MeshTime::from_words(words).at_tick(local / TICKS_PER_MICRO * TICKS_PER_MICRO)?;
    Some(shown as f64 / TICKS_PER_MICRO as f64)
}

fn local_time(
    board: &mut Board,
    number: usize,
    now: Time,
    origins: &mut BTreeMap<usize, Origin>,
) -> Option<ClockTicks> {
    const SPAN: u64 = 1 << 32;
    let cycle = board.cpu.now;
    let seconds = (board.time_of(cycle + SPAN) - board.time_of(cycle)) as f64 / SECOND as f64;
    // Crystals are good to far less than one part in a hundred.
    let per_micro = (SPAN as f64 / seconds / 1e6).round() as u64;
    let count = u64::from(board.cpu.read_register(TIMER_COUNT)?);
    let turn = (per_micro * TIMER_TURN) as i64;
    let last = cycle as i64 - (count * per_micro) as i64;
    // It began in the first turn.
    let origin = origins.entry(number).or_insert(Origin {
        first: last.rem_euclid(turn) - per_micro as i64 + 1,
        last: last.rem_euclid(turn),
    });
    let turns = (last - origin.last + turn / 2).div_euclid(turn);
    let last = last - turns * turn;
    origin.last = origin.last.min(last);
    origin.first = origin.first.max(last - per_micro as i64 + 1);
    let origin = (origin.first + origin.last) / 2;
    let after = (now as f64 - board.time_of(cycle) as f64) / SECOND as f64 * (SPAN as f64 / seconds);
    let cycles = cycle as f64 + after - origin as f64;
    Some((cycles / per_micro as f64 * TICKS_PER_MICRO as f64) as ClockTicks)
}
