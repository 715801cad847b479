//! How well boards agree on the time of the mesh.

use hopwise_core::{Network, Node};
use hopwise_language::Failure;
use hopwise_node::capacities::Capacities;
use hopwise_node::router::ConfigError;
use hopwise_node::wire::AppPort;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::wire::{Nanos, Noise};
use crate::world::{Build, Narrow, StepOutcome, World};

/// More links than this a board does not have here.
pub const MAX_LINKS: u64 = Narrow::SIZES.links as u64;

const BAUD: u32 = 1_000_000;
/// Boards look at frames, and at their timers, up to this much later.
const JITTER: Nanos = 100_000;
/// Bytes of a packet that fills links, and how often a board has more of them.
const PAYLOAD: [u8; 200] = [0; 200];
const MORE_EVERY: Nanos = 1_000_000;
/// No more packets at once.
const BURST: usize = 4;

#[derive(Clone, Debug)]
pub struct Trial {
    pub network: Network,
    pub seed: u64,
    /// Crystals are off by up to this many parts in a million.
    pub drift: f64,
    /// The last board starts at most so much later than the first.
    pub starts_within: Nanos,
    /// All links are full.
    pub full: bool,
}

/// Whether a board is started, or sends more, and which one.
type Mark = (bool, u32);

pub struct TimedNodes {
    world: World<Narrow, Mark>,
    network: Network,
    full: bool,
    last_start: Nanos,
    /// Where each board goes on sending.
    next: Vec<usize>,
}

impl TimedNodes {
    /// All boards of the network, each to be started at its time.
    pub fn new(trial: &Trial) -> Self {
        let mut world = World::new(Build {
            network: trial.network,
            baud: BAUD,
            processing: 0,
            noise: Noise::default(),
            drift: Some(trial.drift),
            jitter: JITTER,
            seed: trial.seed,
            faulty_boards: Vec::new(),
            key: None,
            rogue_has_key: false,
            taps: Vec::new(),
            hosts: Vec::new(),
        });
        let mut random = Xoshiro256PlusPlus::seed_from_u64(trial.seed ^ 0x7374_6172);
        let mut last_start = 0;
        for board in 0..world.boards() {
            let start = random.random_range(0..=trial.starts_within);
            last_start = last_start.max(start);
            world.mark(start, (true, board));
        }
        TimedNodes {
            next: vec![0; world.boards() as usize],
            world,
            network: trial.network,
            full: trial.full,
            last_start,
        }
    }

    pub fn last_start(&self) -> Nanos {
        self.last_start
    }

    pub fn now(&self) -> Nanos {
        self.world.now()
    }

    pub fn run_until(&mut self, end: Nanos) -> Result<(), ConfigError> {
        loop {
            match self.world.step(end, &mut ()) {
                StepOutcome::End => return Ok(()),
                StepOutcome::Nothing => {}
                StepOutcome::Board(board) => self.read_all(board),
                StepOutcome::Mark((true, board)) => {
                    self.world.start(board, &mut ())?;
                    if self.full {
                        self.world.mark(self.world.now() + MORE_EVERY, (false, board));
                    }
                }
                StepOutcome::Mark((false, board)) => {
                    self.send_more(board);
                    self.world.mark(self.world.now() + MORE_EVERY, (false, board));
                }
            }
        }
    }

    fn read_all(&mut self, board: u32) {
        if self.world.node(board).is_some_and(|node| node.has_news()) {
            self.world
                .with_node(board, &mut (), |node, _, _| while node.next_message().is_some() {});
        }
    }

    /// Has a board send to its neighbors in turn, as far as there is room.
    fn send_more(&mut self, board: u32) {
        let neighbors: Vec<Node> = self.network.neighbors(board.into()).into_iter().flatten().collect();
        let next = &mut self.next[board as usize];
        self.world.with_node(board, &mut (), |node, now, mut note| {
            for _ in 0..BURST {
                let Some(neighbor) = neighbors.get(*next % neighbors.len().max(1)) else {
                    break;
                };
                if node
                    .send(*neighbor, AppPort::TRAFFIC, &PAYLOAD, now, &mut note)
                    .is_err()
                {
                    break;
                }
                *next += 1;
            }
        });
    }

    pub fn fail(&mut self, failure: Failure) {
        match failure {
            Failure::Board(board) => self.world.stop(board as u32, &mut ()),
            Failure::Cable(a, b) => {
                let port = self.network.port_to(a, b).ok().flatten().unwrap_or(u64::MAX);
                if let Some(cable) = self.world.cable_at((a as u32, port.min(255) as u8)) {
                    self.world.plug(cable, false, &mut ());
                }
            }
        }
    }

    /// What every board that is on shows at this moment, in microseconds; `None` if it does not know the time.
    pub fn read(&self) -> Vec<Option<f64>> {
        let boards = (0..self.world.boards()).filter(|&board| self.world.node(board).is_some());
        boards.map(|board| self.world.mesh_time(board)).collect()
    }
}
