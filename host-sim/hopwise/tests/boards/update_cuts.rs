//! Power that fails during updates: whatever a board is at, it starts with one of its two images, all of it.

use std::collections::BTreeMap;
use std::time::Duration;

use hopwise_emulator::time::{MICROSECOND, MILLISECOND, SECOND, Time};
use hopwise_emulator::world::Action;
use hopwise_host::talk::{BoardRequest, Reply, Talk};
use hopwise_node::signature::owner_key;
use hopwise_node::store::Slot;
use hopwise_node::wire::{AppPort, Block, Command};
use hopwise_rig::boards::DEFAULT;
use hopwise_rig::update::{Boards, CannotUpdate, Package, update};
use hopwise_testing::Random;

use crate::firmware_support::Rig;
use crate::signed::{SEED, own};
use crate::update::{HostEnd, Images, START, images};

const AWAY: Time = 50 * MILLISECOND;
/// An image on trial that nobody keeps is left by then.
const TRIAL: Time = 62 * SECOND;
/// What is written last, the beginning of an image or a record of the log, takes so long,
const WRITE: Time = 150 * MICROSECOND;
/// begins within this,
const WRITES_WITHIN: Time = 600 * MILLISECOND;
/// and nothing is written for so long before it.
const QUIET: Time = 5 * MILLISECOND;

/// By then a board has written the blocks that it has taken.
const WRITTEN: Time = 100 * MILLISECOND;
/// Blocks that a host sends before it may be gone.
const SOME: usize = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// It makes room.
    Erase,
    /// Blocks come.
    Blocks,
    /// The last block has been sent: the image is compared, and gets its beginning.
    Finish,
    /// It has been told to switch: it restarts, and the boot loader compares the image.
    Switch,
    /// The new image runs.
    Trial,
    /// It has been told to keep it.
    Keep,
}

impl Phase {
    const ALL: [Phase; 6] = [
        Phase::Erase,
        Phase::Blocks,
        Phase::Finish,
        Phase::Switch,
        Phase::Trial,
        Phase::Keep,
    ];

    /// After what it begins with, the power fails between so long and so long. Where a window reaches into the next phase, the cut counts there.
    fn window(self) -> (Time, Time) {
        let (from, to) = match self {
            Phase::Erase => (0, 4_200),
            Phase::Blocks => (0, 2_300),
            Phase::Finish => (0, 45),
            Phase::Switch => (0, 780),
            Phase::Trial => (850, 3_000),
            Phase::Keep => (0, 400),
        };
        (from * MILLISECOND, to * MILLISECOND)
    }
}

/// A host that updates boards, and the power of one board, which fails once.
struct Cutter<'a> {
    host_end: &'a mut HostEnd,
    package: &'a Package,
    board: usize,
    /// Where it fails,
    phase: Phase,
    /// how far into the window,
    share: f64,
    /// or into what is written into the flash in the end of this phase,
    in_write: bool,
    /// and when, as soon as that is known.
    at: Option<Time>,
    /// The host goes on with its update. Otherwise it is gone in the same moment.
    goes_on: bool,
    /// How long it has been gone, by its own clock.
    gone_for: Duration,
    /// When phases began, as far as the host knows.
    begun: Vec<(Time, Phase)>,
}

impl Cutter<'_> {
    fn begin(&mut self, phase: Phase) {
        let now = self.host_end.rig.world.now();
        self.begun.push((now, phase));
        let is_trial = self.phase == Phase::Trial;
        let begins_with = if is_trial { Phase::Switch } else { self.phase };
        if self.at.is_none() && phase == begins_with && !self.in_write {
            let (from, to) = self.phase.window();
            self.cut_at(now + from + ((to - from) as f64 * self.share) as Time);
        }
    }

    fn cut_at(&mut self, at: Time) {
        let events = vec![(at, Action::Off(self.board)), (at + AWAY, Action::On(self.board))];
        self.host_end.rig.script(events);
        self.at = Some(at);
    }

    /// Runs until the board writes into its flash again after it has left it alone, and cuts the power in that.
    fn cut_in_write(&mut self) {
        let end = self.host_end.rig.world.now() + WRITES_WITHIN;
        let mut quiet_since = None;
        while self.host_end.rig.world.now() < end {
            let now = self.host_end.rig.world.now();
            let is_busy = self.host_end.rig.world.boards()[self.board].is_flash_busy();
            match quiet_since {
                Some(since) if is_busy && now > since + QUIET => {
                    return self.cut_at(now + (WRITE as f64 * self.share) as Time);
                }
                None if !is_busy => quiet_since = Some(now),
                _ if is_busy => quiet_since = None,
                _ => {}
            }
            self.host_end.rig.run_for(10 * MICROSECOND);
        }
    }

    fn has_cut(&self) -> bool {
        self.at.is_some_and(|at| self.host_end.rig.world.now() >= at)
    }

    fn is_gone(&self) -> bool {
        self.has_cut() && !self.goes_on
    }

    fn begun_by(&self, request: &BoardRequest) -> Option<Phase> {
        let is = |command: Command<'_>| request.query == command.query();
        let to_it = request.dest == self.board as u64;
        if is(Command::SendBlock(&[])) {
            let block = Block::read(&request.more)?;
            let plans = [Slot::First, Slot::Second].map(|slot| self.package.for_slot(slot).plan);
            let plan = plans.iter().find(|plan| plan.id() == block.id)?;
            let is_last = usize::from(block.index) + 1 == plan.blocks();
            return Some(if is_last { Phase::Finish } else { Phase::Blocks });
        }
        match () {
            () if !to_it => None,
            () if is(Command::BeginUpdate(self.package.for_slot(Slot::First).plan, None)) => Some(Phase::Erase),
            () if is(Command::SwitchImage(&[0; 32])) => Some(Phase::Switch),
            () if is(Command::KeepImage) => Some(Phase::Keep),
            () => None,
        }
    }

    /// What the board was at when its power failed, if it did, and whether that tore something in the flash.
    fn outcome(&self, images: &Images, target: Slot) -> Option<(Phase, bool)> {
        let at = self.at.filter(|_| self.has_cut())?;
        let cut = self.host_end.rig.world.boards()[self.board].last_power_cut()?;
        let (_, phase) = *self.begun.iter().rev().find(|(when, _)| *when <= at)?;
        let image = &images.linked[usize::from(target == Slot::Second)];
        let begin = image.address_of("_own_image").expect("a slot");
        let runs_new = (begin..begin + self.package.for_slot(target).plan.length).contains(&cut.pc);
        let is_trial = phase == Phase::Switch && runs_new;
        let phase = if is_trial { Phase::Trial } else { phase };
        Some((phase, cut.tore_flash))
    }
}

impl Talk for Cutter<'_> {
    fn entrances(&self) -> Vec<u64> {
        self.host_end.entrances()
    }

    fn ask(&mut self, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
        let mut replies = Vec::new();
        // The last block goes alone.
        let is_last = |request: &BoardRequest| self.begun_by(request) == Some(Phase::Finish);
        let alone = requests.iter().position(is_last).unwrap_or(requests.len());
        let (before, rest) = requests.split_at(alone);
        for part in [before, rest].into_iter().filter(|part| !part.is_empty()) {
            if self.is_gone() {
                replies.resize(requests.len(), None);
                break;
            }
            let phase = part.iter().find_map(|request| self.begun_by(request));
            // Boards that wait for others are on trial for longer than one alone.
            if let (Phase::Trial, Some(Phase::Keep), Some(at)) = (self.phase, phase, self.at) {
                let now = self.host_end.rig.world.now();
                self.host_end.rig.run_for((at + MILLISECOND).saturating_sub(now));
            }
            if let Some(phase) = phase.filter(|phase| self.begun.last().is_none_or(|(_, last)| last != phase)) {
                self.begin(phase);
            }
            if self.in_write && self.at.is_none() && phase == Some(self.phase) {
                // Nobody waits for the response, which comes when all is written.
                let rig = &mut self.host_end.rig;
                rig.hosts.ask(&mut rig.world, part, MILLISECOND);
                self.cut_in_write();
                replies.extend(part.iter().map(|_| None));
            } else {
                replies.extend(self.host_end.ask(part));
            }
        }
        replies
    }
}

impl Boards for Cutter<'_> {
    fn wait(&mut self, time: Duration) {
        match self.is_gone() {
            true => self.gone_for += time,
            false => self.host_end.wait(time),
        }
    }

    fn elapsed(&self) -> Duration {
        self.host_end.elapsed() + self.gone_for
    }

    fn stream(&mut self, mut blocks: Vec<Vec<u8>>) {
        let last = blocks.pop();
        for (phase, blocks) in [(Phase::Blocks, blocks), (Phase::Finish, Vec::from_iter(last))] {
            if self.is_gone() {
                return;
            }
            self.begin(phase);
            if self.in_write && self.at.is_none() && phase == self.phase {
                // Nobody waits until the board says that it has the block, which is when all is written.
                let rig = &mut self.host_end.rig;
                rig.hosts
                    .stream(&mut rig.world, 0, AppPort::UPDATE, blocks, MILLISECOND);
                self.cut_in_write();
                continue;
            }
            for some in blocks.chunks(SOME) {
                if !self.is_gone() {
                    self.host_end.stream(some.to_vec());
                }
            }
            if phase == Phase::Blocks {
                // All are written before the last one comes.
                self.host_end.rig.run_for(WRITTEN);
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    cuts: u32,
    /// Those that tore what was being erased or written.
    tore: u32,
    /// Those after which the board ran the new image.
    new: u32,
}

/// What came of all cuts, by what the board was at.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<Phase, Count>);

impl Tally {
    pub(crate) fn add(&mut self, other: &Tally) {
        for (phase, other) in &other.0 {
            let count = self.0.entry(*phase).or_default();
            count.cuts += other.cuts;
            count.tore += other.tore;
            count.new += other.new;
        }
    }

    /// Every phase was hit so often, and both images were the one that a board ended with.
    pub(crate) fn assert_all(&self, least: u32) {
        if images().is_none() {
            return;
        }
        for phase in Phase::ALL {
            let count = self.0.get(&phase).copied().unwrap_or_default();
            println!(
                "{phase:?}: {} cuts, {} of which tore the flash; {} times the new image afterwards",
                count.cuts, count.tore, count.new
            );
            assert!(count.cuts >= least, "{phase:?} was hit {} times", count.cuts);
        }
        let all = |of: fn(&Count) -> u32| self.0.values().map(of).sum::<u32>();
        let [cuts, new] = [all(|count| count.cuts), all(|count| count.new)];
        let before = cuts - new;
        println!("{cuts} cuts: {new} times the new image, {before} times the one before");
        // After a cut at the very end a board has kept the image, but not every time.
        assert!(new < cuts && (new > 0 || cuts < 100), "{new} of {cuts}");
    }
}

/// A board that makes room answers nobody meanwhile.
fn wait_for_all(host_end: &mut HostEnd, what: &str) {
    let boards = 0..host_end.rig.world.boards().len();
    let request = |board| BoardRequest::command(board, &Command::Update);
    let requests: Vec<BoardRequest> = boards.map(request).collect();
    for _ in 0..10 {
        if host_end.rig.ask(&requests).iter().all(Option::is_some) {
            return;
        }
    }
    panic!("{what}: a board does not respond");
}

/// Cuts the power of boards so many times, once in each of as many updates; each phase is aimed at in turn. The boards are those of a network, or
/// one of two that is alone.
pub(crate) fn power_cuts(expression: Option<&str>, seed: u64, cuts: u32) -> Tally {
    /// Cuts that come early cost less.
    const AIMS: [Phase; 10] = [
        Phase::Erase,
        Phase::Blocks,
        Phase::Erase,
        Phase::Switch,
        Phase::Erase,
        Phase::Finish,
        Phase::Blocks,
        Phase::Trial,
        Phase::Erase,
        Phase::Keep,
    ];
    let mut tally = Tally::default();
    let Some(images) = images() else { return tally };
    let mut random = Random(seed);
    let mut host_end = match expression {
        None => HostEnd::new_owned(images.single(DEFAULT), owner_key(&SEED)),
        Some(expression) => {
            let mut rig = Rig::new(&images.flashed, expression);
            own(&mut rig, expression, false, owner_key(&SEED));
            HostEnd::linked(rig)
        }
    };
    let boards = host_end.rig.world.boards().len();
    for cut in 0..cuts {
        let board = random.below(boards as u64) as usize;
        let before: Vec<Slot> = (0..boards).map(|board| host_end.state(board).slot).collect();
        let phase = AIMS[cut as usize % AIMS.len()];
        // Each image sets the floor to its own version, so nothing from before it can be installed once it is kept.
        let mut package = images.package.clone();
        package.sign(&SEED, cut + 2, cut + 2);
        let mut cutter = Cutter {
            package: &package,
            board,
            phase,
            in_write: matches!(phase, Phase::Finish | Phase::Keep) && random.number().is_multiple_of(2),
            share: random.below(1_000_000) as f64 / 1e6,
            at: None,
            goes_on: boards > 1 && random.number().is_multiple_of(2),
            gone_for: Duration::ZERO,
            begun: Vec::new(),
            host_end: &mut host_end,
        };
        let what = format!(
            "seed {seed}, cut {cut} of {}: board {board}, {phase:?}, in the write: {}, at {:.4}, the host goes on: {}",
            expression.unwrap_or("one board"),
            cutter.in_write,
            cutter.share,
            cutter.goes_on
        );
        let nodes = (0..boards as u64).rev().collect();
        let result = update(&mut cutter, &package, &[nodes]);
        let target = before[board].other();
        let outcome = cutter.outcome(images, target);
        let goes_on = cutter.goes_on;
        host_end.rig.run_for(AWAY + START);
        wait_for_all(&mut host_end, &what);
        let is_tried = host_end.state(board).on_trial;
        assert!(goes_on || !is_tried, "{what}: a start without power is no trial");
        if (0..boards).any(|board| host_end.state(board).on_trial) {
            host_end.rig.run_for(TRIAL);
        }
        let slot = |board| host_end.assert_whole(board, images, &what);
        let after: Vec<Slot> = (0..boards).map(slot).collect();
        assert!((0..boards).all(|board| !host_end.state(board).on_trial), "{what}");
        let all_new = before.iter().zip(&after).all(|(before, after)| before != after);
        assert!(result.is_err() || all_new, "{what}: {result:?}, {after:?}");
        // Of the floor, either the old one or the new one is there after a cut, and the new one with the image that it came with.
        let mut replayed = images.package.clone();
        replayed.sign(&SEED, cut + 1, cut + 1);
        for board in (0..boards).filter(|board| before[*board] != after[*board]) {
            let node = board as u64;
            let found = update(&mut host_end, &replayed, &[vec![node]]);
            assert_eq!(found, Err(CannotUpdate::Outdated { version: cut + 1, node }), "{what}");
        }
        // An update that was done before the power was to fail is none of them.
        if let Some((phase, tore)) = outcome {
            let count = tally.0.entry(phase).or_default();
            count.cuts += 1;
            count.tore += u32::from(tore);
            count.new += u32::from(after[board] == target);
        }
    }
    let mut package = images.package.clone();
    package.sign(&SEED, cuts + 2, 0);
    let report = host_end.update(&package).expect("nothing is left of all that");
    assert_eq!(report.boards, boards);
    println!("seed {seed}, {}: {:?}", expression.unwrap_or("one board"), tally.0);
    tally
}

#[test]
fn power_fails_during_updates() {
    power_cuts(None, 1, 10).assert_all(1);
}
