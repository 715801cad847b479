//! A real board to be examined, at its serial port.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hopwise_host::talk::{BoardRequest, Reply, Talk};
use hopwise_node::authority::MeshKeys;

use super::Patient;
use crate::boards::Uart;
use crate::serial_line::{BadPort, SerialMesh};

/// A board at a serial port, and someone who plugs the jumper wire.
pub struct SerialPatient<F> {
    line: SerialMesh,
    begin: Instant,
    join: F,
    stop: Arc<AtomicBool>,
}

impl<F: FnMut(&Uart) -> bool> SerialPatient<F> {
    /// Opens the port of a board, which may have the keys of a mesh. `join` has TX and RX of a serial port joined, or says that nobody does; the examination ends early when `stop`
    /// is set.
    pub fn open(
        port: &Path,
        baud: u32,
        keys: Option<MeshKeys>,
        join: F,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, BadPort> {
        Ok(SerialPatient {
            line: SerialMesh::open(&[port.to_path_buf()], baud, keys)?,
            begin: Instant::now(),
            join,
            stop,
        })
    }
}

impl<F: FnMut(&Uart) -> bool> Talk for SerialPatient<F> {
    fn entrances(&self) -> Vec<u64> {
        self.line.entrances()
    }

    fn ask(&mut self, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
        self.line.ask(requests)
    }
}

impl<F: FnMut(&Uart) -> bool> Patient for SerialPatient<F> {
    /// A port that fails is a board that does not respond.
    fn wait(&mut self, time: Duration) {
        let _ = self.line.idle(time);
    }

    fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    fn join(&mut self, _link: usize, uart: &Uart) -> bool {
        (self.join)(uart)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
