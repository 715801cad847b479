//! An emulated board to be examined, with one of the faults that the emulator can make.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use hopwise_core::wire::{DEFAULT_BAUD, PAGE_BYTES};
use hopwise_emulate::computers::{Computers, Question};
use hopwise_emulate::host_port::Reply;
use hopwise_emulate::setup::{self, LINKS};
use hopwise_emulator::chip::clocks::Hse;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MICROSECOND, SECOND, Time};
use hopwise_emulator::world::{Action, BadWire, Board, BoardOptions, Port, Script, World};

use super::Patient;
use crate::boards::Uart;
use crate::emulated::CannotEmulate;
use crate::talk::Talk;

/// What can be wrong with an emulated board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardFault {
    /// Nothing is fed into the HSE pin.
    NoExternalClock,
    /// What is fed there is two percent too fast.
    WrongClock,
    /// The jumper of a link joins nothing.
    CutJumper(usize),
    /// The jumper leads from TX of the first link to RX of the second.
    SwappedPort(usize, usize),
    /// Bits are inverted on the jumper of a link.
    NoisyJumper(usize),
    /// A byte of a slot keeps what it has.
    Flash(usize),
    /// The watchdog's clock hardly runs.
    SlowWatchdog,
}

/// A text that is none of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is none of no-external-clock, wrong-clock, cut-jumper=LINK, swapped-port=LINK,LINK, noisy-jumper=LINK, flash=SLOT, slow-watchdog"
)]
pub struct NoBoardFault(String);

impl FromStr for BoardFault {
    type Err = NoBoardFault;

    fn from_str(text: &str) -> Result<Self, NoBoardFault> {
        let (word, numbers) = text.split_once('=').unwrap_or((text, ""));
        let numbers: Result<Vec<usize>, _> = numbers
            .split(',')
            .filter(|number| !number.is_empty())
            .map(str::parse)
            .collect();
        let numbers = numbers.map_err(|_| NoBoardFault(text.into()))?;
        let is_link = |link: usize| link < LINKS.len();
        Ok(match (word, numbers.as_slice()) {
            ("no-external-clock", []) => BoardFault::NoExternalClock,
            ("wrong-clock", []) => BoardFault::WrongClock,
            ("cut-jumper", &[link]) if is_link(link) => BoardFault::CutJumper(link),
            ("swapped-port", &[from, to]) if is_link(from) && is_link(to) && from != to => {
                BoardFault::SwappedPort(from, to)
            }
            ("noisy-jumper", &[link]) if is_link(link) => BoardFault::NoisyJumper(link),
            ("flash", &[slot]) if slot < 2 => BoardFault::Flash(slot),
            ("slow-watchdog", []) => BoardFault::SlowWatchdog,
            _ => return Err(NoBoardFault(text.into())),
        })
    }
}

/// An emulated board with a computer at its serial port. The jumper is plugged by itself.
pub struct EmulatedPatient {
    /// The board, alone.
    pub world: World,
    computers: Computers,
    faults: Vec<BoardFault>,
    joined: Option<usize>,
}

impl EmulatedPatient {
    /// A board with this image and page, and with faults.
    pub fn new(image: &Arc<Image>, page: &[u8; PAGE_BYTES], faults: &[BoardFault]) -> Result<Self, CannotEmulate> {
        let mut options = BoardOptions::default();
        for fault in faults {
            match fault {
                BoardFault::NoExternalClock => options.hse = Hse::Absent,
                BoardFault::WrongClock => options.hse_ppm = 20_000.0,
                BoardFault::SlowWatchdog => options.lsi = 2_000,
                _ => {}
            }
        }
        let mut board = Board::new(image, options);
        setup::configure(&mut board, image, page, None, 1);
        for fault in faults {
            let slots = setup::configuration_slots(image).zip(image.address_of("_slot_bytes"));
            if let (BoardFault::Flash(slot), Some((first, bytes))) = (fault, slots) {
                board.wear_out_flash(first + *slot as u32 * bytes + 20);
            }
        }
        let mut world = World::new(1);
        world.add(board);
        let computers = Computers::connect(&mut world, DEFAULT_BAUD)?;
        let mut patient = EmulatedPatient {
            world,
            computers,
            faults: faults.to_vec(),
            joined: None,
        };
        patient.wait(Duration::from_millis(500));
        Ok(patient)
    }

    fn lead(&mut self, link: usize, to: Option<usize>) -> Result<(), BadWire> {
        let port = |link: usize| Port {
            board: 0,
            uart: LINKS.get(link).copied().unwrap_or(0),
        };
        self.world.join(port(link), to.map(port))
    }
}

impl Talk for EmulatedPatient {
    fn entrances(&self) -> Vec<u64> {
        vec![self.computers.address(0).unwrap_or(0)]
    }

    fn ask(&mut self, questions: &[Question]) -> Vec<Option<Reply>> {
        self.computers.ask(&mut self.world, questions, SECOND)
    }
}

impl Patient for EmulatedPatient {
    fn wait(&mut self, time: Duration) {
        let end = self.world.now() + time.as_nanos() as Time * (MICROSECOND / 1_000);
        self.computers.run_until(&mut self.world, end);
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.world.now() / (MICROSECOND / 1_000))
    }

    fn join(&mut self, link: usize, _uart: &Uart) -> bool {
        if let Some(before) = self.joined.replace(link) {
            let _ = self.lead(before, None);
        }
        let mut to = Some(link);
        let mut noise = None;
        for fault in self.faults.clone() {
            match fault {
                BoardFault::CutJumper(at) if at == link => to = None,
                BoardFault::SwappedPort(from, there) if from == link => to = Some(there),
                BoardFault::NoisyJumper(at) if at == link => noise = Some(at),
                _ => {}
            }
        }
        let joined = self.lead(link, to).is_ok();
        if let Some(at) = noise {
            let port = Port {
                board: 0,
                uart: LINKS.get(at).copied().unwrap_or(0),
            };
            let events = vec![(self.world.now(), Action::Noise(port, 0.001))];
            return self.world.set_script(Script::new(events)).is_ok();
        }
        joined
    }
}
