//! The procedure, on boards that are a few variables each.

use std::collections::BTreeSet;
use std::time::Duration;

use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::store::Slot;
use hopwise_node::wire::{
    Block, Command, CommandResult, NAMED_BLOCKS, Query, UpdatePhase, UpdatePlan, UpdateState, write_structure,
};

use super::package::Linked;
use super::*;

const BOARD: &str = "nucleo-f446re";

fn package() -> Package {
    let bytes = |seed: u8| {
        (0..30_000_u32)
            .map(|place| (place / 7) as u8 ^ seed)
            .collect::<Vec<u8>>()
    };
    Package::new(
        BOARD,
        [
            Linked::new(BOARD, Slot::First, bytes(1)),
            Linked::new(BOARD, Slot::Second, bytes(2)),
        ],
    )
}

fn written<T: Serialize>(response: &T) -> Vec<u8> {
    write_structure::<T, hopwise_node::wire::Body<244>>(response)
        .expect("a response")
        .to_vec()
}

struct Board {
    name: &'static str,
    slot: Slot,
    on_trial: bool,
    has_loader: bool,
    plan: Option<UpdatePlan>,
    missing: BTreeSet<u16>,
    /// Blocks that it does not hear, counted down.
    deaf_for: usize,
    /// The firmware of a version that has no updates.
    old: bool,
    silent: bool,
    /// It does not come up with a new image.
    goes_back: bool,
    /// It loses its power when it is told to keep one.
    dies_keeping: bool,
    /// It loses its power when so many blocks have come.
    dies_at: Option<usize>,
    taken: usize,
    /// It writes slowly: blocks that have come and wait, and one of them is written whenever it is asked how far it is.
    writes_slowly: bool,
    /// It takes only what is signed, version 7; its firmware is too old for signatures; it has verified one.
    owned: bool,
    knows_no_signatures: bool,
    has_verified: bool,
    /// What it gets turns out wrong so many times.
    damaged: usize,
    waiting: Vec<Vec<u8>>,
}

struct Mesh {
    boards: Vec<Board>,
    now: Duration,
    told: Vec<(u64, u8)>,
}

impl Mesh {
    fn new(boards: usize) -> Self {
        let board = |_| Board {
            name: BOARD,
            slot: Slot::First,
            on_trial: false,
            has_loader: true,
            plan: None,
            missing: BTreeSet::new(),
            deaf_for: 0,
            old: false,
            silent: false,
            goes_back: false,
            dies_keeping: false,
            dies_at: None,
            taken: 0,
            writes_slowly: false,
            owned: false,
            knows_no_signatures: false,
            has_verified: false,
            damaged: 0,
            waiting: Vec::new(),
        };
        Mesh {
            boards: (0..boards).map(board).collect(),
            now: Duration::ZERO,
            told: Vec::new(),
        }
    }

    fn update(&mut self) -> Result<UpdateReport, CannotUpdate> {
        let nodes: Vec<u64> = (0..self.boards.len() as u64).rev().collect();
        update(self, &package(), &[nodes])
    }
}

impl Board {
    fn take(&mut self, payload: &[u8]) {
        let block = Block::read(payload).expect("a block");
        if self.plan.is_none_or(|plan| plan.id() != block.id) {
            return;
        }
        if self.deaf_for > 0 {
            self.deaf_for -= 1;
            return;
        }
        self.missing.remove(&block.index);
        self.taken += 1;
        if self.dies_at == Some(self.taken) {
            self.plan = None;
        }
    }

    fn state(&self) -> UpdateState {
        UpdateState {
            board: self.name.try_into().expect("a name"),
            slot: self.slot,
            on_trial: self.on_trial,
            has_loader: self.has_loader,
            phase: match &self.plan {
                None => UpdatePhase::Idle,
                Some(_) if self.missing.is_empty() && self.damaged > 0 => UpdatePhase::Damaged,
                Some(_) if self.missing.is_empty() => UpdatePhase::Whole,
                Some(_) => UpdatePhase::Receiving,
            },
            id: self.plan.map_or(0, |plan| plan.id()),
            missing: self.missing.len() as u16,
            first_missing: self.missing.iter().copied().take(NAMED_BLOCKS).collect(),
        }
    }

    fn obey(&mut self, command: Command<'_>) -> Vec<u8> {
        let done = match command {
            _ if self.old => CommandResult::Unknown,
            Command::Update => {
                if let Some(block) = self.waiting.pop() {
                    self.take(&block);
                }
                return written(&self.state());
            }
            Command::BeginUpdate(_, Some(_)) if self.knows_no_signatures => CommandResult::Unknown,
            Command::BeginUpdate(_, None) if self.owned => CommandResult::NoSignature,
            Command::BeginUpdate(_, Some(_)) if self.owned && !core::mem::replace(&mut self.has_verified, true) => {
                CommandResult::Busy
            }
            Command::BeginUpdate(_, Some(signature)) if self.owned && signature.version < 7 => CommandResult::Outdated,
            Command::BeginUpdate(_, Some(signature)) if self.owned && signature.version > 7 => {
                CommandResult::BadSignature
            }
            Command::BeginUpdate(plan, _) => {
                if self.state().phase == UpdatePhase::Damaged {
                    self.damaged -= 1;
                }
                self.plan = Some(plan);
                self.missing = (0..plan.blocks() as u16).collect();
                CommandResult::Done
            }
            Command::SwitchImage(hash) => match self.plan.take() {
                Some(plan) if self.missing.is_empty() && plan.hash == *hash => {
                    if !self.goes_back {
                        self.slot = plan.slot;
                        self.on_trial = true;
                    }
                    CommandResult::Done
                }
                _ => CommandResult::NotThere,
            },
            Command::KeepImage => {
                if self.dies_keeping {
                    self.slot = self.slot.other();
                }
                self.on_trial = false;
                CommandResult::Done
            }
            _ => CommandResult::Unknown,
        };
        written(&done)
    }
}

impl Talk for Mesh {
    fn entrances(&self) -> Vec<u64> {
        vec![0]
    }

    fn ask(&mut self, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
        let mut response = |request: &BoardRequest| {
            let Query::Board(number) = request.query else {
                panic!("no command: {request:?}");
            };
            let command = Command::read(number, &request.more).expect("a command");
            self.told.push((request.dest, number));
            if let Command::SendBlock(block) = command {
                self.boards.iter_mut().for_each(|board| board.take(block));
                return Some(Reply::Response(written(&CommandResult::Done)));
            }
            let board = &mut self.boards[request.dest as usize];
            (!board.silent).then(|| Reply::Response(board.obey(command)))
        };
        requests.iter().map(&mut response).collect()
    }
}

impl Boards for Mesh {
    fn wait(&mut self, time: Duration) {
        self.now += time;
    }

    fn elapsed(&self) -> Duration {
        self.now
    }

    fn stream(&mut self, blocks: Vec<Vec<u8>>) {
        let last = blocks.len() - 5;
        for (place, block) in blocks.into_iter().enumerate() {
            for board in &mut self.boards {
                match board.writes_slowly && place >= last {
                    true => board.waiting.push(block.clone()),
                    false => board.take(&block),
                }
            }
        }
    }
}

#[test]
fn all_boards_get_it_each_for_its_slot_and_in_the_order_given() {
    let mut mesh = Mesh::new(4);
    mesh.boards[2].slot = Slot::Second;
    let report = mesh.update().expect("an update");
    assert_eq!((report.boards, report.retries, report.bricked), (4, 0, 0));
    assert_eq!(report.blocks, 2 * 30_016_usize.div_ceil(192), "for either slot");
    let slots: Vec<Slot> = mesh.boards.iter().map(|board| board.slot).collect();
    assert_eq!(slots, [Slot::Second, Slot::Second, Slot::First, Slot::Second]);
    assert!(mesh.boards.iter().all(|board| !board.on_trial));
    let switch = Command::SwitchImage(&[0; 32]).number();
    let switched = mesh.told.iter().filter(|(_, number)| *number == switch);
    let switched: Vec<u64> = switched.map(|(node, _)| *node).collect();
    assert_eq!(switched, [2, 3, 1, 0]);
}

#[test]
fn what_is_still_being_written_is_not_sent_again() {
    let mut mesh = Mesh::new(3);
    mesh.boards[1].writes_slowly = true;
    let report = mesh.update().expect("an update");
    assert_eq!((report.boards, report.retries), (3, 0));
}

#[test]
fn a_board_with_wrong_blocks_begins_anew_once() {
    let mut mesh = Mesh::new(3);
    mesh.boards[1].damaged = 1;
    let report = mesh.update().expect("an update");
    assert_eq!((report.boards, report.retries), (3, report.blocks));
    mesh.boards[1].damaged = 2;
    assert_eq!(mesh.update(), Err(CannotUpdate::Damaged(vec![1])));
    assert!(mesh.boards.iter().all(|board| board.slot == Slot::Second), "as it was");
}

#[test]
fn what_is_lost_is_retransmitted_and_who_restarted_begins_anew() {
    let mut mesh = Mesh::new(3);
    mesh.boards[1].deaf_for = 60;
    mesh.boards[2].dies_at = Some(100);
    let report = mesh.update().expect("an update");
    assert_eq!(report.boards, 3);
    // 60 of one, in two goes, and all of the other.
    assert!(report.retries >= 157, "{report:?}");
    let is_new = |board: &Board| board.slot == Slot::Second && !board.on_trial;
    assert!(mesh.boards.iter().all(is_new));
}

#[test]
fn each_obstacle_is_told_and_nothing_is_switched() {
    let refused = |prepare: &dyn Fn(&mut Board)| {
        let mut mesh = Mesh::new(2);
        prepare(&mut mesh.boards[1]);
        let before: Vec<Slot> = mesh.boards.iter().map(|board| board.slot).collect();
        let sentence = mesh.update().expect_err("a refusal").to_string();
        let after: Vec<Slot> = mesh.boards.iter().map(|board| board.slot).collect();
        assert_eq!(before, after, "{sentence}");
        let begun = mesh.told.iter().filter(|(_, number)| *number == 12).count();
        assert_eq!(begun, 0, "{sentence}");
        sentence
    };
    let why = "a board does not respond: node 1; `hopwise check` says what is heard of it";
    assert_eq!(refused(&|board| board.silent = true), why);
    let why = "the firmware of node 1 takes no updates through the mesh: `hopwise flash` brings one that does";
    assert_eq!(refused(&|board| board.old = true), why);
    let found = refused(&|board| board.name = "nucleo-f411re");
    assert_eq!(found, "the image is for nucleo-f446re, and node 1 is a nucleo-f411re");
    let why = "node 1 has no flash for an image: a node in a process is updated with its `hopwise` command, and started again";
    assert_eq!(refused(&|board| board.name = ""), why);
    let why = "a board has no boot loader: `hopwise flash` brings it once, with a probe: node 1";
    assert_eq!(refused(&|board| board.has_loader = false), why);
    assert!(refused(&|board| board.on_trial = true).starts_with("the image on node 1 is still on trial"));
}

#[test]
fn a_board_that_goes_back_or_lacks_blocks_is_named() {
    let mut mesh = Mesh::new(2);
    mesh.boards[1].goes_back = true;
    assert_eq!(mesh.update(), Err(CannotUpdate::WentBack(vec![1])));
    // Nobody was told to keep it.
    assert!(mesh.boards[0].on_trial);
    let mut mesh = Mesh::new(2);
    mesh.boards[1].dies_keeping = true;
    assert_eq!(mesh.update(), Err(CannotUpdate::WentBack(vec![1])));
    let mut mesh = Mesh::new(2);
    mesh.boards[1].deaf_for = usize::MAX;
    assert_eq!(mesh.update(), Err(CannotUpdate::Missing(vec![1])));
    assert_eq!(mesh.boards[0].slot, Slot::First);
}

#[test]
fn boards_with_an_owner_get_what_is_signed_and_those_too_old_for_that_get_it_too() {
    let told = |version: Option<u32>| {
        let mut mesh = Mesh::new(3);
        mesh.boards[0].owned = true;
        mesh.boards[1].knows_no_signatures = true;
        let mut package = package();
        if let Some(version) = version {
            package.sign(&[3; 32], version, 0);
        }
        update(&mut mesh, &package, &[vec![2, 1, 0]]).map(|report| report.boards)
    };
    assert_eq!(told(Some(7)), Ok(3));
    assert_eq!(told(Some(6)), Err(CannotUpdate::Outdated { version: 6, node: 0 }));
    assert_eq!(told(Some(8)), Err(CannotUpdate::BadSignature(0)));
    assert_eq!(told(None), Err(CannotUpdate::NoSignature(0)));
}
