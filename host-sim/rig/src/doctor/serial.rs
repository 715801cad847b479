//! A real board to be examined, at its serial port.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hopwise_node::authority::MeshKeys;

use super::{LOOK, Patient};
use crate::boards::Uart;
use crate::serial_line::{BadPort, SerialMesh};
use crate::update::Boards;

/// An ST-LINK needs a second or two until its port is there again.
const PORT_WITHIN: Duration = Duration::from_secs(30);

/// Someone at the desk, who does as asked or says that it is not done.
pub trait Hands {
    fn join(&mut self, uart: &Uart) -> bool;
    fn join_boards(&mut self, ends: [&Uart; 2]) -> bool;
    fn unplug(&mut self) -> bool;
    fn plug(&mut self) -> bool;
}

/// A board at a serial port, or two that a cable is to join, and someone who plugs wires.
pub struct SerialPatient<H> {
    line: SerialMesh,
    /// To open the port again: its name, rate and keys.
    opened: (Vec<PathBuf>, u32, Option<MeshKeys>),
    hands: H,
    stop: Arc<AtomicBool>,
}

impl<H: Hands> SerialPatient<H> {
    /// Opens the ports of boards, which may have the keys of a mesh. The examination ends early when `stop` is set.
    pub fn open(
        ports: &[PathBuf],
        baud: u32,
        keys: Option<MeshKeys>,
        hands: H,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, BadPort> {
        Ok(SerialPatient {
            line: SerialMesh::open(ports, baud, keys)?,
            opened: (ports.into(), baud, keys),
            hands,
            stop,
        })
    }
}

impl<H: Hands> Patient for SerialPatient<H> {
    /// A port that fails is a board that does not respond.
    fn boards(&mut self) -> &mut dyn Boards {
        &mut self.line
    }

    fn join(&mut self, _link: usize, uart: &Uart) -> bool {
        self.hands.join(uart)
    }

    fn join_boards(&mut self, ends: [&Uart; 2]) -> bool {
        self.hands.join_boards(ends)
    }

    fn unplug(&mut self) -> bool {
        self.hands.unplug()
    }

    /// Its port must be closed meanwhile: it would get another name.
    fn plug(&mut self) -> bool {
        self.line.close();
        let (ports, baud, keys) = &self.opened;
        let is_plugged = self.hands.plug();
        let begin = Instant::now();
        while is_plugged && begin.elapsed() < PORT_WITHIN {
            if let Ok(line) = SerialMesh::open(ports, *baud, *keys) {
                self.line.reopen(line);
                return true;
            }
            std::thread::sleep(LOOK);
        }
        false
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
