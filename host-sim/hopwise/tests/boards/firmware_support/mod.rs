//! The firmware that people flash, built once, on emulated boards with a host at each.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use hopwise_core::Network;
use hopwise_emulate::bench::assert_healthy;
use hopwise_emulate::check::{CheckReport, check};
use hopwise_emulate::cost::Measured;
use hopwise_emulate::demangle;
use hopwise_emulate::firmware::{self, CannotBuildFirmware};
use hopwise_emulate::hosts::Hosts;
use hopwise_emulate::log::take_lines;
use hopwise_emulate::repository::Repository;
use hopwise_emulate::setup::{self, Differences, LINKS};
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Action, Board, BoardOptions, Port, Script, World};
use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::authority::MeshKeys;
use hopwise_node::key::{Key, Secret};
use hopwise_node::wire::{
    AppPort, BoardConfig, CONFIG_BYTES, Command, CommandResult, DEFAULT_BAUD, LinkReport, NodeReport, Query,
    RouterCounters, Status, TrafficReport,
};
use hopwise_rig::board_log::{BoardLine, LogFormat, LogReaders};
use hopwise_testing::not_tested;
use serde::de::DeserializeOwned;

pub(crate) struct Firmware {
    pub(crate) image: Arc<Image>,
    pub(crate) format: LogFormat,
    pub(crate) elf: Vec<u8>,
}

/// The firmware of the default board. If there is no ARM compiler that is said on the terminal, even where tests are quiet.
pub(crate) fn firmware() -> Option<&'static Firmware> {
    static FIRMWARE: OnceLock<Option<Firmware>> = OnceLock::new();
    FIRMWARE.get_or_init(|| load(build(&stock()))).as_ref()
}

/// The image of the default board that people flash.
pub(crate) fn stock() -> firmware::Firmware<'static> {
    firmware::Firmware::new(hopwise_rig::boards::DEFAULT)
}

/// Builds an image from the repository that this crate is in.
pub(crate) fn build(firmware: &firmware::Firmware<'_>) -> Result<PathBuf, CannotBuildFirmware> {
    firmware.build(&Repository::find(None)?, |line| eprintln!("{line}"))
}

/// Reads what was built; `None` if there is no ARM compiler.
pub(crate) fn load(built: Result<PathBuf, CannotBuildFirmware>) -> Option<Firmware> {
    match built {
        Ok(path) => {
            let elf = std::fs::read(path).expect("the ELF file");
            Some(Firmware {
                image: Arc::new(Image::from_elf(&elf).expect("firmware")),
                format: LogFormat::of_elf(&elf).expect("a log format"),
                elf,
            })
        }
        Err(CannotBuildFirmware::NoCompiler) => {
            not_tested("no ARM core library, so the firmware was not built and not run. Run tools/arm-target once.");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Bytes of the program in the flash, and of RAM that is taken before the stack.
pub(crate) fn sizes(image: &Image) -> (usize, u32) {
    let address = |name: &str| image.address_of(name).unwrap_or_else(|| panic!("no symbol {name}"));
    // What .data begins with is the last of it; the boot loader's log may be above.
    let end = address("__sidata") + address("__edata") - address("__sdata");
    let program = (end - address("__vector_table")) as usize;
    (program, address("__euninit") - address("__sdata"))
}

/// Port and pin of the LED, and a step of its rhythm.
const LED: (usize, u32) = (0, 5);
pub(crate) const LED_STEP: Time = 125 * MILLISECOND;

/// By then a packet that a neighbor has taken is acknowledged, and counts as forwarded.
pub(crate) const SIGN_OF_LIFE: Time = 15 * MILLISECOND;

pub(crate) const KEYS: MeshKeys = MeshKeys {
    mesh: Secret::new(Key::new(*b"all boards of it"), false),
    management: Key::new(*b"only the manager"),
};

pub(crate) fn config(expression: &str, address: u64) -> [u8; CONFIG_BYTES] {
    BoardConfig::new(expression, address).expect("a config").write()
}

/// The serial port of a link of a default board.
pub(crate) fn port(board: usize, link: usize) -> Port {
    Port::new(board, LINKS[link])
}

/// A command for a node, through the board that a host is at.
pub(crate) fn told(at: usize, dest: u64, command: &Command<'_>) -> BoardRequest {
    BoardRequest {
        dest,
        ..BoardRequest::command(at, command)
    }
}

pub(crate) struct Rig {
    pub(crate) network: Network,
    pub(crate) world: World,
    pub(crate) hosts: Hosts,
    pub(crate) readers: LogReaders<'static>,
}

impl Rig {
    /// Boards wired and configured as the expression says, just switched on.
    pub(crate) fn new(firmware: &'static Firmware, expression: &str) -> Self {
        let network: Network = expression.parse().expect("a network");
        let world = setup::build(&network, &firmware.image, Differences::new(7, 30.0)).expect("boards");
        Rig::with(firmware, network, world)
    }

    /// The same with the firmware of the default board; `None` if there is no ARM compiler.
    pub(crate) fn of(expression: &str) -> Option<Self> {
        Some(Rig::new(firmware()?, expression))
    }

    /// The same, and the boards and the hosts have keys.
    pub(crate) fn keyed(firmware: &'static Firmware, expression: &str) -> Self {
        Rig::locked(firmware, expression, Some(KEYS.management))
    }

    /// The same, but that the hosts have this key for commands, or none.
    pub(crate) fn locked(firmware: &'static Firmware, expression: &str, management: Option<Key>) -> Self {
        let mut rig = Rig::new(firmware, expression);
        for (node, board) in rig.world.boards_mut().iter_mut().enumerate() {
            let config = config(expression, node as u64);
            let keys = KEYS.of_board(node as u64);
            setup::configure(board, &firmware.image, &config, Some(keys), 1_000 + 7 * node as u32);
        }
        rig.hosts.lock(&KEYS, management);
        rig
    }

    /// The same once all links are up.
    pub(crate) fn up(expression: &str) -> Option<Self> {
        Rig::of(expression).map(Rig::linked)
    }

    /// The same once all links are up, within a second.
    pub(crate) fn linked(mut self) -> Self {
        self.wait_for_links(SECOND);
        self
    }

    /// One board of the two of a path, with the firmware of the default board; `None` if there is no ARM compiler.
    pub(crate) fn configured() -> Option<Self> {
        Rig::stock_single(&config("path(2)", 0))
    }

    pub(crate) fn single(firmware: &'static Firmware, config: &[u8; CONFIG_BYTES]) -> Self {
        Rig::special(firmware, config, |_| ())
    }

    /// The same with the firmware of the default board; `None` if there is no ARM compiler.
    pub(crate) fn stock_single(config: &[u8; CONFIG_BYTES]) -> Option<Self> {
        Some(Rig::single(firmware()?, config))
    }

    /// The same, of a board that is not like others.
    pub(crate) fn special(
        firmware: &'static Firmware,
        config: &[u8; CONFIG_BYTES],
        change: impl FnOnce(&mut BoardOptions),
    ) -> Self {
        let mut options = BoardOptions::default();
        change(&mut options);
        let mut board = Board::new(&firmware.image, options);
        setup::configure(&mut board, &firmware.image, config, None, 1);
        let mut world = World::new(1);
        world.add(board);
        Rig::with(firmware, "path(2)".parse().expect("a network"), world)
    }

    pub(crate) fn with(firmware: &'static Firmware, network: Network, world: World) -> Self {
        let readers = firmware.format.readers(world.boards().len());
        Rig::with_logs(network, world, readers)
    }

    /// Boards of any kinds.
    pub(crate) fn with_logs(network: Network, mut world: World, readers: LogReaders<'static>) -> Self {
        let hosts = Hosts::connect(&mut world, DEFAULT_BAUD).expect("free serial ports");
        Rig {
            network,
            world,
            hosts,
            readers,
        }
    }

    pub(crate) fn check(&mut self) -> CheckReport {
        check(&mut self.world, &mut self.hosts, &self.network, &mut self.readers)
    }

    pub(crate) fn measured(&mut self) -> Measured<'_> {
        Measured {
            world: &mut self.world,
            hosts: &mut self.hosts,
        }
    }

    pub(crate) fn script(&mut self, events: Vec<(Time, Action)>) {
        let script = self.world.set_script(Script::new(events));
        script.expect("boards and ports that there are");
    }

    pub(crate) fn run_for(&mut self, time: Time) {
        let end = self.world.now() + time;
        self.hosts.run_until(&mut self.world, end);
    }

    pub(crate) fn ask(&mut self, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
        self.hosts.ask(&mut self.world, requests, SECOND)
    }

    /// The host at the first board broadcasts blocks of an image.
    pub(crate) fn stream(&mut self, blocks: Vec<Vec<u8>>) {
        self.hosts
            .stream(&mut self.world, 0, AppPort::UPDATE, blocks, 5 * SECOND);
    }

    pub(crate) fn ask_one<T: DeserializeOwned>(&mut self, request: BoardRequest) -> T {
        let what = format!("{request:?}");
        let reply = self.ask(&[request]).remove(0);
        let response: Option<T> = reply.as_ref().and_then(Reply::read);
        response.unwrap_or_else(|| panic!("{what}: {reply:?}"))
    }

    #[track_caller]
    pub(crate) fn have_done(&mut self, command: BoardRequest) {
        assert_eq!(self.ask_one::<CommandResult>(command), CommandResult::Done);
    }

    /// The same, of a board that a host is at.
    #[track_caller]
    pub(crate) fn command(&mut self, board: usize, command: &Command<'_>) {
        self.have_done(BoardRequest::command(board, command));
    }

    pub(crate) fn traffic(&mut self, board: usize) -> TrafficReport {
        self.ask_one(BoardRequest::command(board, &Command::Traffic))
    }

    pub(crate) fn link_report(&mut self, board: usize, link: u8) -> LinkReport {
        let request = BoardRequest::new(board, board as u64, Query::Link).with(vec![link]);
        self.ask_one::<Option<LinkReport>>(request).expect("a link")
    }

    pub(crate) fn status(&mut self, board: usize) -> Status {
        self.ask_one(BoardRequest::command(board, &Command::Status))
    }

    pub(crate) fn identity(&mut self, board: usize) -> NodeReport {
        self.ask_one(BoardRequest::new(board, board as u64, Query::Identity))
    }

    pub(crate) fn counters(&mut self, board: usize) -> RouterCounters {
        self.ask_one(BoardRequest::new(board, board as u64, Query::Counters))
    }

    /// Runs until every board reaches all its neighbors, and returns how long that took.
    pub(crate) fn wait_for_links(&mut self, within: Time) -> Time {
        let begin = self.world.now();
        while self.world.now() < begin + within {
            self.run_for(10 * MILLISECOND);
            let all = |rig: &mut Rig| {
                (0..rig.world.boards().len()).all(|board| {
                    let report = rig.identity(board);
                    report.neighbors == report.neighbors_up
                })
            };
            if self.hosts.all_up() && all(self) {
                return self.world.now() - begin;
            }
        }
        let (network, milliseconds) = (&self.network, within / MILLISECOND);
        panic!("not all links of {network} are up within {milliseconds} ms");
    }

    /// The LED of board 0 in the middle of each of sixteen steps.
    pub(crate) fn rhythm(&mut self) -> String {
        self.run_for(LED_STEP / 2);
        let lit = (0..16).map(|_| {
            self.run_for(LED_STEP);
            self.world.boards()[0].output(LED.0, LED.1).expect("an output")
        });
        lit.map(|lit| if lit { '*' } else { '.' }).collect()
    }

    /// The LED of board 0 has this rhythm, from wherever it is looked at first.
    #[track_caller]
    pub(crate) fn assert_rhythm(&mut self, rhythm: &str) {
        let seen = self.rhythm();
        assert!(seen.len() == rhythm.len() && rhythm.repeat(2).contains(&seen), "{seen}");
    }

    pub(crate) fn resets(&self) -> Vec<u64> {
        self.world.boards().iter().map(Board::resets).collect()
    }

    /// What board 0 has logged, if it is alone.
    pub(crate) fn log_texts(&mut self) -> Vec<String> {
        self.log().into_iter().map(|line| line.text).collect()
    }

    pub(crate) fn log(&mut self) -> Vec<BoardLine> {
        take_lines(&mut self.readers, &mut self.world)
    }

    /// Puts other instructions at the beginning of a function of board 0, and returns those that were there. `path` is part of its
    /// name, which ends in `name`.
    pub(crate) fn patch(&mut self, path: &str, name: &str, instructions: &[u8]) -> Vec<u8> {
        let memory = &mut self.world.boards_mut()[0].cpu.memory;
        let symbols = memory.image().symbols().iter();
        let is_wanted = |whole: &str| whole.contains(path) && whole.ends_with(name);
        let function = symbols.clone().find(|symbol| is_wanted(&demangle(&symbol.name)));
        let place = function.unwrap_or_else(|| panic!("no function {name}")).address & !1;
        let before = memory.bytes(place, instructions.len()).expect("code");
        memory.write_flash(place, instructions).expect("code is in the flash");
        before
    }

    /// No faults, nothing unmodelled, no rule broken, no byte lost by a serial port.
    pub(crate) fn assert_healthy(&self) {
        assert_healthy(&self.world);
    }

    /// Every board's account of packets adds up, with nothing left in it but the request.
    pub(crate) fn assert_accounts(&mut self) {
        for board in 0..self.world.boards().len() {
            self.run_for(SIGN_OF_LIFE);
            let counters = self.counters(board);
            assert_eq!(counters.held(), 1, "board {board}: {counters:?}");
        }
    }
}
