//! New firmware through the mesh, on emulated boards with a boot loader: there and back, on trial, and refused.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hopwise_emulate::firmware;
use hopwise_emulate::package::package;
use hopwise_emulate::repository::Repository;
use hopwise_emulate::rig;
use hopwise_emulator::image::{FLASH, Image};
use hopwise_emulator::time::{MICROSECOND, MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Action, Board, BoardOptions, World};
use hopwise_host::talk::{BoardRequest, Reply, Talk};
use hopwise_node::signature::OwnerKey;
use hopwise_node::store::Slot;
use hopwise_node::wire::{
    BoardConfig, BoardState, Command, CommandResult, Failure, Pattern, Query, Traffic, TrafficReport, UpdatePhase,
    UpdatePlan, UpdateState,
};
use hopwise_rig::boards::DEFAULT;
use hopwise_rig::update::{Boards, CannotChange, CannotUpdate, Package, UpdateReport, Updater, change_configs, update};

use crate::firmware_support::{self, Firmware, Rig, build, config, load};
use crate::signed::own;

/// By then a board that was switched on answers.
pub(crate) const START: Time = 700 * MILLISECOND;

/// What is flashed by a probe, boot loader and all, and the same for either slot.
pub(crate) struct Images {
    pub(crate) flashed: Firmware,
    pub(crate) loader: Image,
    pub(crate) linked: [Arc<Image>; 2],
    pub(crate) package: Package,
}

pub(crate) fn images() -> Option<&'static Images> {
    static IMAGES: OnceLock<Option<&'static Images>> = OnceLock::new();
    *IMAGES.get_or_init(|| images_of(DEFAULT))
}

/// The same for a kind of board.
pub(crate) fn images_of(kind: &str) -> Option<&'static Images> {
    let firmware = || firmware::Firmware::new(kind);
    let mut flashed = load(build(&firmware()))?;
    let second = load(build(&firmware().for_second_slot()))?;
    let loader = firmware().loader_path(&Repository::find(None).expect("a repository"));
    let loader = Image::from_elf(&std::fs::read(loader).expect("the boot loader")).expect("a boot loader");
    let linked = [flashed.image.clone(), second.image];
    flashed.image = Arc::new(flashed.image.with_loader(&loader));
    Some(Box::leak(Box::new(Images {
        package: package(&linked[0], &linked[1]).expect("an update"),
        flashed,
        loader,
        linked,
    })))
}

impl Images {
    /// A board of that kind, as one of two.
    pub(crate) fn single(&'static self, kind: &str) -> Rig {
        let options = BoardOptions::of(rig::board(kind).expect("a board"));
        let mut world = World::new(1);
        world.add(Board::new(&self.flashed.image, options));
        let network = "path(2)".parse().expect("a network");
        Rig::with(&self.flashed, network, world)
    }
}

pub(crate) struct HostEnd {
    pub(crate) rig: Rig,
    /// Nobody hears this command.
    withholds: Option<Query>,
}

impl HostEnd {
    pub(crate) fn new(rig: Rig) -> Self {
        let mut host_end = HostEnd { rig, withholds: None };
        host_end.rig.run_for(START);
        host_end
    }

    /// The same with boards that somebody owns.
    pub(crate) fn new_owned(mut rig: Rig, owner: OwnerKey) -> Self {
        own(&mut rig, "path(2)", false, owner);
        HostEnd::new(rig)
    }

    /// The same once all links are up.
    pub(crate) fn linked(rig: Rig) -> Self {
        let mut host_end = HostEnd::new(rig);
        host_end.rig.wait_for_links(SECOND);
        host_end
    }

    pub(crate) fn mesh(images: &'static Images, expression: &str) -> Self {
        HostEnd::linked(Rig::new(&images.flashed, expression))
    }

    pub(crate) fn single(images: &'static Images) -> Self {
        let config = config("path(2)", 0);
        HostEnd::new(Rig::single(&images.flashed, &config))
    }

    pub(crate) fn update(&mut self, package: &Package) -> Result<UpdateReport, CannotUpdate> {
        let nodes = (0..self.rig.world.boards().len() as u64).rev().collect();
        update(self, package, &[nodes])
    }

    pub(crate) fn state(&mut self, board: usize) -> UpdateState {
        self.rig.ask_one(BoardRequest::command(board, &Command::Update))
    }

    pub(crate) fn tell(&mut self, command: &Command<'_>) -> CommandResult {
        self.rig.ask_one(BoardRequest::command(0, command))
    }

    /// Announces an image to board 0; what it says once it has verified the signature.
    pub(crate) fn announce(&mut self, begin: &Command<'_>) -> CommandResult {
        let mut tell = || {
            self.rig.run_for(300 * MILLISECOND);
            self.tell(begin)
        };
        let results: Vec<CommandResult> = (0..3).map(|_| tell()).collect();
        assert_eq!(results[1], results[2], "it is verified by then");
        results[2]
    }

    /// Brings one board the image, and has it start with that.
    fn bring_on_trial(&mut self, package: &Package) {
        let mut updater = Updater::look(self, package, &[0]).expect("a board");
        updater.make_room(&[0]).expect("room");
        updater.send_all();
        updater.repair().expect("all blocks");
        let hash = package.for_slot(Slot::Second).plan.hash;
        assert_eq!(self.tell(&Command::SwitchImage(&hash)), CommandResult::Done);
        self.rig.run_for(2 * SECOND);
        let state = self.state(0);
        assert_eq!((state.slot, state.on_trial), (Slot::Second, true));
    }

    /// What a board runs is whole, and is the one or the other.
    pub(crate) fn assert_whole(&mut self, board: usize, images: &Images, what: &str) -> Slot {
        let status = self.rig.status(board);
        assert_eq!(status.state, BoardState::Configured, "{what}");
        let slot = self.state(board).slot;
        let linked = &images.linked[usize::from(slot == Slot::Second)];
        let begin = linked.address_of("_own_image").expect("a slot");
        let expected = &linked.bytes()[(begin - FLASH) as usize..];
        let memory = &self.rig.world.boards()[board].cpu.memory;
        let found = memory.bytes(begin, expected.len());
        assert!(found.as_deref() == Some(expected), "{what}: {slot:?}");
        slot
    }
}

impl Talk for HostEnd {
    fn entrances(&self) -> Vec<u64> {
        vec![0]
    }

    fn ask(&mut self, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
        if self.withholds == requests.first().map(|request| request.query) {
            self.rig.run_for(SECOND);
            return vec![None; requests.len()];
        }
        self.rig.ask(requests)
    }
}

impl Boards for HostEnd {
    fn wait(&mut self, time: Duration) {
        self.rig.run_for(time.as_millis() as Time * MILLISECOND);
    }

    fn elapsed(&self) -> Duration {
        Duration::from_micros(self.rig.world.now() / MICROSECOND)
    }

    fn wire_version(&self) -> u8 {
        self.rig.hosts.wire_version(0)
    }

    fn stream(&mut self, blocks: Vec<Vec<u8>>) {
        self.rig.stream(blocks);
    }
}

#[test]
fn an_update_there_and_one_back() {
    let Some(images) = images() else { return };
    let mut host_end = HostEnd::mesh(images, "path(2)");
    for slot in [Slot::Second, Slot::First] {
        let report = host_end.update(&images.package).expect("an update");
        println!("{report:?}");
        assert_eq!((report.boards, report.retries, report.bricked), (2, 0, 0));
        for board in 0..2 {
            let state = host_end.state(board);
            assert_eq!((state.slot, state.on_trial), (slot, false), "board {board}");
        }
        host_end.rig.wait_for_links(SECOND);
        let check = host_end.rig.check();
        // Boards have dropped what was to go to those that restarted.
        let found = (check.links_up, check.pongs, check.broadcast_deliveries);
        assert_eq!(found, (1, check.pings, 2));
    }
    // Nothing was forgotten over it: a restart is one of the image that was kept.
    assert_eq!(host_end.tell(&Command::Restart), CommandResult::Done);
    host_end.rig.run_for(2 * SECOND);
    assert_eq!(host_end.assert_whole(0, images, "restarted"), Slot::First);
    host_end.rig.assert_healthy();
}

/// Its power fails while blocks come. When it is back and has made room again, the host has no block left to send.
#[test]
fn a_board_that_restarted_gets_the_image_from_its_neighbor() {
    let Some(images) = images() else { return };
    let mut host_end = HostEnd::mesh(images, "path(2)");
    let at = host_end.rig.world.now() + 6 * SECOND;
    let events = vec![(at, Action::Off(1)), (at + 50 * MILLISECOND, Action::On(1))];
    host_end.rig.script(events);
    let report = host_end.update(&images.package).expect("an update");
    println!("{report:?}");
    assert_eq!((report.boards, report.retries, report.bricked), (2, 0, 0));
    assert!(report.erase_seconds > 5.0, "it made room twice: {report:?}");
}

/// Boards send to each other all the time, while their processors stand still for seconds and while blocks come.
#[test]
fn no_link_goes_down_and_packets_come_while_an_image_does() {
    let Some(images) = images() else { return };
    let mut host_end = HostEnd::mesh(images, "path(3)");
    host_end.rig.log();
    let traffic = Traffic::new(10, 70, Pattern::Uniform, 32);
    let start = |board| BoardRequest::command(board, &Command::StartTraffic(traffic));
    (0..3).for_each(|board| assert_eq!(host_end.rig.ask_one::<CommandResult>(start(board)), CommandResult::Done));
    let mut updater = Updater::look(&mut host_end, &images.package, &[2, 1, 0]).expect("boards");
    updater.make_room(&[2, 1, 0]).expect("room");
    updater.send_all();
    updater.repair().expect("all blocks");
    host_end.rig.run_for(4 * SECOND);
    let report = |board| BoardRequest::command(board, &Command::Traffic);
    let reports: Vec<TrafficReport> = (0..3).map(|board| host_end.rig.ask_one(report(board))).collect();
    println!("{reports:?}");
    let down = host_end.rig.log().into_iter().map(|line| line.text);
    let down: Vec<String> = down.filter(|text| text.contains("down")).collect();
    assert_eq!(down, [""; 0]);
    let sum = |count: fn(&TrafficReport) -> u32| reports.iter().map(count).sum::<u32>();
    assert_eq!(sum(|report| report.sent), 3 * traffic.count, "{reports:?}");
    // Datagrams that have waited for a board that was away are given up if their path then looks blocked, or come all at once.
    assert!(sum(|report| report.received) * 5 > 3 * traffic.count * 4, "{reports:?}");
    host_end.rig.assert_healthy();
}

#[test]
fn an_image_that_nobody_keeps_or_that_hangs_is_left() {
    let Some(images) = images() else { return };
    let mut host_end = HostEnd::single(images);
    host_end.bring_on_trial(&images.package);
    host_end.rig.run_for(57 * SECOND);
    assert_eq!(host_end.state(0).slot, Slot::Second, "it has a minute");
    host_end.rig.run_for(5 * SECOND);
    assert_eq!(host_end.assert_whole(0, images, "a minute later"), Slot::First);
    assert!(!host_end.state(0).on_trial);
    host_end.bring_on_trial(&images.package);
    assert_eq!(host_end.tell(&Command::Fail(Failure::Hang)), CommandResult::Done);
    host_end.rig.run_for(15 * SECOND);
    assert_eq!(host_end.assert_whole(0, images, "it hung"), Slot::First);
}

#[test]
fn a_wrong_image_is_refused() {
    let Some(images) = images() else { return };
    let mut host_end = HostEnd::single(images);
    let plan = images.package.for_slot(Slot::Second).plan;
    let begun = |host_end: &mut HostEnd, plan| host_end.tell(&Command::BeginUpdate(plan, None));
    let board = UpdatePlan::board_named("nucleo-f411re");
    let found = begun(&mut host_end, UpdatePlan { board, ..plan });
    assert_eq!(found, CommandResult::OtherBoard);
    let slot = Slot::First;
    let found = begun(&mut host_end, UpdatePlan { slot, ..plan });
    assert_eq!(found, CommandResult::OtherSlot);
    let length = 257 * 1024;
    let found = begun(&mut host_end, UpdatePlan { length, ..plan });
    assert_eq!(found, CommandResult::TooLarge);
    let found = host_end.tell(&Command::SwitchImage(&plan.hash));
    assert_eq!(found, CommandResult::NotThere);
    // A file for another board.
    let file = String::from_utf8_lossy(&images.package.write()[..200]).into_owned();
    assert!(file.contains("nucleo-f446re"));
    let mut bytes = images.package.write();
    let place = file.find("nucleo-f446re").expect("a name");
    bytes[place..place + 13].copy_from_slice(b"nucleo-f411re");
    let other = Package::read(&bytes).expect("an update");
    let refused = host_end.update(&other).expect_err("a refusal").to_string();
    assert_eq!(refused, "the image is for nucleo-f411re, and node 0 is a nucleo-f446re");
    // Blocks of one image, announced by the hash of another: the boot loader does not start it.
    let hash = [7; 32];
    assert_eq!(begun(&mut host_end, UpdatePlan { hash, ..plan }), CommandResult::Done);
    host_end.rig.run_for(6 * SECOND);
    let blocks = (0..plan.blocks() as u16).map(|index| images.package.for_slot(Slot::Second).block(index));
    for block in blocks {
        assert_eq!(host_end.tell(&Command::SendBlock(&block)), CommandResult::Done);
    }
    assert_eq!(host_end.tell(&Command::SwitchImage(&hash)), CommandResult::Done);
    host_end.rig.run_for(2 * SECOND);
    assert_eq!(host_end.rig.world.boards()[0].resets(), 1);
    assert_eq!(host_end.assert_whole(0, images, "a wrong hash"), Slot::First);
}

#[test]
fn boards_with_keys_take_an_update_from_the_host_only() {
    let Some(images) = images() else { return };
    let mut host_end = HostEnd::linked(Rig::locked(&images.flashed, "path(2)", None));
    let refused = host_end.update(&images.package);
    assert_eq!(refused, Err(CannotUpdate::NotAllowed(1)));
    let plan = images.package.for_slot(Slot::Second).plan;
    let block = images.package.for_slot(Slot::Second).block(0);
    for command in [
        Command::BeginUpdate(plan, None),
        Command::SendBlock(&block),
        Command::SwitchImage(&plan.hash),
        Command::KeepImage,
    ] {
        assert_eq!(host_end.tell(&command), CommandResult::NotAllowed, "{command:?}");
    }
    assert_eq!(host_end.state(0).phase, UpdatePhase::Idle);
    let mut host_end = HostEnd::linked(Rig::keyed(&images.flashed, "path(2)"));
    let report = host_end.update(&images.package).expect("an update");
    println!("{report:?}");
    assert_eq!((report.boards, report.retries), (2, 0));
    // Blocks need no proof each: 2.4 s on the wire, and as long as the flash takes.
    assert!(report.transfer_seconds < 6.0, "{report:?}");
    assert!((0..2).all(|board| host_end.state(board).slot == Slot::Second));
}

#[test]
fn configs_of_a_mesh_come_from_one_host() {
    let Some(firmware) = firmware_support::firmware() else {
        return;
    };
    let configs = |expression: &str| -> Vec<_> {
        let config = |node: u64| BoardConfig {
            name: format!("board {node}").as_str().try_into().expect("a name"),
            ..BoardConfig::new(expression, node).expect("a config")
        };
        (0..3).rev().map(|node| (node, config(node).write())).collect()
    };
    let mut host_end = HostEnd::linked(Rig::keyed(firmware, "path(3)"));
    let configs = configs("path(3)");
    let report = change_configs(&mut host_end, &configs).expect("pages");
    assert_eq!((report.boards, report.changed), (3, 3));
    for board in 0..3 {
        let status = host_end.rig.status(board);
        let found = (status.card.name.as_str(), status.on_trial);
        assert_eq!(found, (format!("board {board}").as_str(), false));
    }
    let report = change_configs(&mut host_end, &configs).expect("pages");
    assert_eq!((report.boards, report.changed), (3, 0));
    // After a minute those that got theirs from afar are not on trial either, for they have gone back.
    let mut host_end = HostEnd::linked(Rig::keyed(firmware, "path(3)"));
    host_end.withholds = Some(Command::KeepConfig.query());
    let found = change_configs(&mut host_end, &configs);
    assert_eq!(found, Err(CannotChange::NotKept(vec![2, 1])));
    // Without keys nobody knows who says so.
    let mut host_end = HostEnd::linked(Rig::new(firmware, "path(3)"));
    let found = change_configs(&mut host_end, &configs);
    assert_eq!(found, Err(CannotChange::NotAllowed(2)));
}
