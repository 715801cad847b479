//! An emulated board to be examined, with one of the faults that the emulator can make.

use std::str::FromStr;

use hopwise_emulator::boards::BoardKind;
use hopwise_emulator::chip::clocks::Hse;
use hopwise_emulator::hash::mix;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Action, BadWire, Board, BoardOptions, Port, Script, World};
use hopwise_node::authority::MeshKeys;
use hopwise_node::wire::{BoardConfig, CONFIG_BYTES, DEFAULT_BAUD};
use hopwise_rig::boards::Uart;
use hopwise_rig::doctor::Patient;
use hopwise_rig::update::Boards;

use crate::rig::{CannotEmulate, EmulatedMesh};
use crate::script::stops_after;
use crate::setup::{self, Program};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardFault {
    /// Nothing is fed into the HSE pin.
    NoExternalClock,
    /// What is fed there, or the crystal, begins to run only after most of a second.
    LateExternalClock,
    /// What is fed there is two percent too fast.
    WrongClock,
    /// The flash is one bank, on a chip that is delivered with two.
    OneBank,
    /// The jumper of a link joins nothing.
    CutJumper(usize),
    /// The jumper leads from TX of the first link to RX of the second.
    SwappedPort(usize, usize),
    /// Bits are inverted on the jumper of a link.
    NoisyJumper(usize),
    /// Something holds RX of a link low.
    StuckJumper(usize),
    /// A byte of a slot keeps what it has.
    Flash(usize),
    /// The watchdog's clock hardly runs.
    SlowWatchdog,
    /// The cable to another board leads to it, but not back.
    CutCable,
    /// Bits are inverted on the cable to another board.
    NoisyCable,
}

impl BoardFault {
    fn links(&self) -> Vec<usize> {
        match *self {
            BoardFault::CutJumper(link) | BoardFault::NoisyJumper(link) | BoardFault::StuckJumper(link) => vec![link],
            BoardFault::SwappedPort(from, to) => vec![from, to],
            _ => Vec::new(),
        }
    }
}

/// A text that is none of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is none of no-external-clock, late-external-clock, wrong-clock, cut-jumper=LINK, swapped-port=LINK,LINK, noisy-jumper=LINK, \
     stuck-jumper=LINK, flash=SLOT, one-bank, slow-watchdog, cut-cable, noisy-cable"
)]
pub struct NoBoardFault(String);

impl FromStr for BoardFault {
    type Err = NoBoardFault;

    fn from_str(text: &str) -> Result<Self, NoBoardFault> {
        let (word, numbers) = text.split_once('=').unwrap_or((text, ""));
        let numbers = numbers.split(',').filter(|number| !number.is_empty());
        let numbers: Result<Vec<usize>, _> = numbers.map(str::parse).collect();
        let numbers = numbers.map_err(|_| NoBoardFault(text.into()))?;
        Ok(match (word, numbers.as_slice()) {
            ("no-external-clock", []) => BoardFault::NoExternalClock,
            ("late-external-clock", []) => BoardFault::LateExternalClock,
            ("wrong-clock", []) => BoardFault::WrongClock,
            ("one-bank", []) => BoardFault::OneBank,
            ("cut-jumper", &[link]) => BoardFault::CutJumper(link),
            ("swapped-port", &[from, to]) if from != to => BoardFault::SwappedPort(from, to),
            ("noisy-jumper", &[link]) => BoardFault::NoisyJumper(link),
            ("stuck-jumper", &[link]) => BoardFault::StuckJumper(link),
            ("flash", &[slot]) if slot < 2 => BoardFault::Flash(slot),
            ("slow-watchdog", []) => BoardFault::SlowWatchdog,
            ("cut-cable", []) => BoardFault::CutCable,
            ("noisy-cable", []) => BoardFault::NoisyCable,
            _ => return Err(NoBoardFault(text.into())),
        })
    }
}

/// An emulated board with a host at its serial port, or two that a cable is to join. The jumper and the cable are plugged by themselves.
pub struct EmulatedPatient {
    /// The board, alone, or both.
    pub mesh: EmulatedMesh,
    kinds: Vec<&'static BoardKind>,
    faults: Vec<BoardFault>,
    joined: Option<usize>,
    /// How often its supply was cut.
    cuts: u64,
}

impl EmulatedPatient {
    /// A board with this program and config, the keys of a mesh if it has them, and faults.
    pub fn new(
        program: &Program,
        config: &[u8; CONFIG_BYTES],
        keys: Option<MeshKeys>,
        faults: &[BoardFault],
    ) -> Result<Self, CannotEmulate> {
        Self::of(&[program], config, keys, faults)
    }

    /// Boards with the same config, of which the first has the faults.
    pub fn of(
        programs: &[&Program],
        config: &[u8; CONFIG_BYTES],
        keys: Option<MeshKeys>,
        faults: &[BoardFault],
    ) -> Result<Self, CannotEmulate> {
        let kinds: Vec<_> = programs.iter().map(|program| program.kind).collect();
        let mut links = faults.iter().flat_map(BoardFault::links);
        if let Some(link) = links.find(|link| kinds.iter().any(|kind| *link >= kind.links().len())) {
            return Err(CannotEmulate::no_link(link));
        }
        let mut world = World::new(1);
        for (number, program) in programs.iter().enumerate() {
            let faults = if number == 0 { faults } else { &[] };
            world.add(Self::board(program, config, keys, faults));
        }
        let entrances: Vec<u64> = (0..programs.len() as u64).collect();
        let mut mesh = EmulatedMesh::connect(world, DEFAULT_BAUD, keys, &entrances)?;
        mesh.has_any_config = true;
        mesh.run_for(SECOND / 2);
        Ok(EmulatedPatient {
            mesh,
            kinds,
            faults: faults.to_vec(),
            joined: None,
            cuts: 0,
        })
    }

    fn board(program: &Program, config: &[u8; CONFIG_BYTES], keys: Option<MeshKeys>, faults: &[BoardFault]) -> Board {
        let Program { kind, image } = program;
        let mut options = BoardOptions::of(kind);
        for fault in faults {
            match fault {
                BoardFault::NoExternalClock => options.hse = Hse::Absent,
                BoardFault::LateExternalClock => options.hse_start = 900_000,
                BoardFault::WrongClock => options.hse_ppm = 20_000.0,
                BoardFault::OneBank => options.dual_bank = false,
                BoardFault::SlowWatchdog => options.lsi = 2_000,
                _ => {}
            }
        }
        let mut board = Board::new(image, options);
        let address = BoardConfig::read(config).map_or(0, |config| config.address);
        let of_board = keys.map(|keys| keys.of_board(address));
        setup::configure(&mut board, image, config, of_board, 1);
        for fault in faults {
            let slots = setup::configuration_slots(image).zip(image.address_of("_slot_bytes"));
            if let (BoardFault::Flash(slot), Some((first, bytes))) = (fault, slots) {
                board.wear_out_flash(first + *slot as u32 * bytes + 20);
            }
        }
        board
    }

    fn has(&self, fault: BoardFault) -> bool {
        self.faults.contains(&fault)
    }

    fn end(&self, board: usize, link: usize) -> Port {
        let uart = self.kinds[board].links().get(link).map_or(0, |link| link.uart);
        Port { board, uart }
    }

    fn port(&self, link: usize) -> Port {
        self.end(0, link)
    }

    fn lead(&mut self, link: usize, to: Option<usize>) -> Result<(), BadWire> {
        let (from, to) = (self.port(link), to.map(|to| self.port(to)));
        self.mesh.world.join(from, to)
    }

    fn act(&mut self, at: Time, action: Action) -> bool {
        self.mesh.world.set_script(Script::new(vec![(at, action)])).is_ok()
    }
}

impl Patient for EmulatedPatient {
    fn boards(&mut self) -> &mut dyn Boards {
        &mut self.mesh
    }

    /// At some time while it writes, which is another one for each cut; the supply falls within 1 to 100 ms.
    fn unplug(&mut self) -> bool {
        self.cuts += 1;
        let at = self.mesh.world.now() + SECOND + mix(self.cuts) % (4 * SECOND);
        let within = MILLISECOND * (1 + mix(!self.cuts) % 100);
        let events = vec![
            (at, Action::Brownout(0, within)),
            (at + stops_after(within), Action::Off(0)),
        ];
        self.mesh.world.set_script(Script::new(events)).is_ok()
    }

    fn plug(&mut self) -> bool {
        self.act(self.mesh.world.now(), Action::On(0))
    }

    fn join_boards(&mut self, _ends: [&Uart; 2]) -> bool {
        let (from, to) = (self.end(0, 0), self.end(1, 0));
        let back = (!self.has(BoardFault::CutCable)).then_some(from);
        let world = &mut self.mesh.world;
        let joined = world.join(from, Some(to)).is_ok() && world.join(to, back).is_ok();
        joined && (!self.has(BoardFault::NoisyCable) || self.act(self.mesh.world.now(), Action::Noise(from, 0.001)))
    }

    fn join(&mut self, link: usize, _uart: &Uart) -> bool {
        if let Some(before) = self.joined.replace(link) {
            let _ = self.lead(before, None);
        }
        let mut to = Some(link);
        let mut disturbed = None;
        for fault in self.faults.clone() {
            match fault {
                BoardFault::CutJumper(at) if at == link => to = None,
                BoardFault::SwappedPort(from, there) if from == link => to = Some(there),
                BoardFault::NoisyJumper(at) if at == link => disturbed = Some(Action::Noise(self.port(at), 0.001)),
                BoardFault::StuckJumper(at) if at == link => disturbed = Some(Action::Stuck(self.port(at))),
                _ => {}
            }
        }
        let joined = self.lead(link, to).is_ok();
        if let Some(action) = disturbed {
            return self.act(self.mesh.world.now(), action);
        }
        joined
    }
}
